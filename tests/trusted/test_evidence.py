"""Sizes of a few levels, and what they say of all others."""

from itertools import pairwise

import numpy as np

from tukeydp.trusted.rem.evidence import KnownSizes, sparse_offsets


def test_brackets_hold_the_sizes_whatever_was_learned_in_which_order():
    rng = np.random.default_rng(0)
    for _ in range(60):
        sizes = np.sort(rng.integers(0, 30, 12))[::-1].tolist()
        known = KnownSizes()
        known.add(0, sizes[0], sizes[0])
        for level in rng.permutation(12).tolist():
            off = rng.integers(0, 4, 2).tolist() if rng.random() < 0.7 else [0, 0]
            before = known.copy()
            known.add(level, max(0, sizes[level] - off[0]), sizes[level] + off[1])
            for other in range(12):
                low, high = known.bracket(other)
                assert low <= sizes[other] <= high
                assert before.bracket(other)[0] <= low
                assert high <= before.bracket(other)[1]
            assert known.settled(level) == (known.values[level][0] == known.values[level][1])
            assert known.below(level) == known.above(level) == level
        assert (known.below(-1), known.above(12)) == (None, None)
        assert known.bracket(12)[0] == 0


def test_what_is_learned_from_a_copy_is_not_known():
    """A hint is given copies."""
    known = KnownSizes()
    known.add(3, 5, 9)
    copied = known.copy()
    copied.add(3, 7, 7)
    copied.add(4, 6, 6)
    assert known.values == {3: (5, 9)}
    assert known.above(4) is None


def test_offsets_are_dense_at_first_and_reach_the_last_level():
    for n in (0, 1, 5, 48, 49, 1000):
        offsets = sparse_offsets(n)
        assert offsets[: min(n, 48) + 1] == tuple(range(min(n, 48) + 1))
        assert offsets[-1] >= n
        assert all(a < b <= max(a + 1, int(1.08 * a)) for a, b in pairwise(offsets))
