"""Before and after a release: planning, budgets, summaries."""
