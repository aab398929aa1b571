"""Shipping quotes for a small web shop."""
