"""Covers that nobody has proven, and samplers made to plan again: for tests of the parts behind the check."""

from __future__ import annotations

from tukeydp.hints.branches import planted
from tukeydp.trusted import covers as covers_module
from tukeydp.trusted.covers import Cover, Covers
from tukeydp.trusted.laws import Group


def unproven(covers, level, shape, hull=None):
    """A cover of any shape: only for tests."""
    return Cover(covers_module._PROVEN, covers, level, [shape], covers.within if hull is None else hull)


def planted_in(levels, within, base, half_epsilon):
    """A tree for the levels from `base` up, in the whole of a box."""
    covers = Covers(levels, within)
    covers._top = max(base, covers.unbroken())
    return planted(covers, unproven(covers, base, within), half_epsilon)


def tree_groups(tree):
    """What the levels of a tree are drawn from."""
    rungs, top = tree.rungs(), tree._covers.top
    ends = [*(start - 1 for start, _ in rungs[1:]), top]
    return [(Group(start, end, cover.size), cover.parts[0]) for (start, cover), end in zip(rungs, ends, strict=True)]


def replan(sampler):
    """Plan again, as after proposals in vain."""
    draws = sampler._draws
    draws._rungs, draws._budget = draws._planned(failed=False)
    assert not draws.ignored
    draws._search = draws._searching()
