"""Before and after a release: plans, budgets and the ledgers they are kept in."""
