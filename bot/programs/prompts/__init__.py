"""What a model is asked for a function: text files, a system message and a user message with `---` between them."""
