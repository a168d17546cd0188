"""`tukeydp app`: a page in the browser for people who do not program. It calls the public API and the planner.

Only this machine can reach it, nothing is loaded from elsewhere, and the table stays in memory. It holds no statistics.
"""
