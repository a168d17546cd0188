"""Before and after a release: budgets and the ledgers they are kept in."""
