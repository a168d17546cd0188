"""One-line privacy bugs, put into a copy of the package one at a time: for each a test must fail (`make mutants`)."""
