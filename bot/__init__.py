"""testforge writes tests for a change, keeps those that prove something, and says what they prove."""

__version__ = "0.1.0"
