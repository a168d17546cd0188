"""Guesses that make draws fast: whatever they answer, the trusted part checks it or does without."""
