"""Functions as programs of their own: candidates for one, assertions about it, and what running them all shows."""
