"""Before and after a release: plans, budgets, the ledgers they are kept in, and summaries."""
