"""CodeRM: how many tests to buy, for which function, and how far to trust them (METHODS 3)."""
