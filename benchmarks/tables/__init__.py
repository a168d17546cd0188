"""Parts of the benchmark on real tables (benchmarks/real_tables.py)."""
