"""Parts of `benchmarks/larger_than_memory.py`."""
