from hypothesis import settings

# Compilation makes the first example slow, and the machines are shared: no deadlines. Fixed examples everywhere.
settings.register_profile("tukeydp", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("tukeydp")
