"""Exact arithmetic that never sees the data: brackets, draws of a level, linear programs, lattices."""
