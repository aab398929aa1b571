"""The GitHub Action: one event of a workflow, from the runner's files to the review, the summary and the outputs."""
