"""Exact arithmetic that never sees the data: matrices, enclosures, noise, level draws, linear programs, lattices."""
