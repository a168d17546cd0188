"""Before any data: what accuracy to expect, `td.plan`, simulations on made-up tables."""
