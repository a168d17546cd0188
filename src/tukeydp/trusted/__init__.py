"""What must be right for the guarantee, and nothing else: README.md says in which order to read it."""
