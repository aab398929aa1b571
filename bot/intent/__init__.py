"""TiCoder: the question to the author that tells a function's candidates apart (METHODS 2)."""
