import pytest
from hypothesis import settings

# Compilation makes the first example slow, and the machines are shared: no deadlines. Fixed examples everywhere.
settings.register_profile("tukeydp", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("tukeydp")


@pytest.fixture
def no_false_alarm(monkeypatch):
    """For runs without a seed: the check before a release would stop one in seventy of those on good files."""
    monkeypatch.setattr("tukeydp.mechanisms.readable_check.noised_whole", lambda counts, charge: list(counts))
