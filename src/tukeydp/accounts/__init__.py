"""Budgets: what was spent, where it is kept, and what is left."""
