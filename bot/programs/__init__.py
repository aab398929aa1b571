"""Untrusted programs and the assertions about them: what candidates for one function give on which inputs."""
