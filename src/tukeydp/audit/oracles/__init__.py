"""Accounts of the mechanisms by definition. Nothing here imports from the package."""
