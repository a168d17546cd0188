"""Coins of REM's test whose sizes are known roughly at first: the same answers as from sizes themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rem_cases import chance, plan
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.hinted import OFFERED
from tukeydp.trusted.rem.evidence import Evidence, KnownSizes
from tukeydp.trusted.rem.safety import Graded, Laplace, Paper, passes

TOP = 40


class Smooth:
    """Sizes that fall by a factor from level to level."""

    exact = False
    slack = Fraction(1, 2**20)
    top = TOP

    def __init__(self, fall: float) -> None:
        self._sizes = [Fraction(int(1e18 * np.exp(-fall * level))) for level in range(TOP + 1)]

    def upper(self, level: int) -> Fraction:
        return 3 * self.lower(max(level, 0))

    def lower(self, level: int) -> Fraction:
        return self._sizes[level] if level <= TOP else Fraction(0)


class Rough(Smooth):
    """The same with a closer look each time; `truth` counts how often the size itself was needed."""

    truth = 0

    def lower(self, level: int) -> Fraction:
        self.truth += 1
        return super().lower(level)

    def upper(self, level: int) -> Fraction:
        return 3 * super().lower(max(level, 0))

    def lower_at_most(self, level: int) -> Fraction:
        return 5 * super().lower(level) + 4096

    def lower_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
        size = super().lower(level)
        return size / (1 + apart / 3), size * (1 + apart / 3)


FIXED = plan(100, 12, Fraction(1, 2), Fraction(1, 2), Fraction(1, 1000))


@pytest.mark.parametrize("test", [Graded(), Laplace(), Paper()])
@pytest.mark.parametrize("fall", [0.05, 0.2, 0.28, 0.4])
def test_the_chance_is_that_of_the_sizes_themselves(test, fall):
    assert chance(test, Evidence(Rough(fall), FIXED)) == pytest.approx(
        chance(test, Evidence(Smooth(fall), FIXED)), rel=1e-9
    )


@pytest.mark.parametrize("fall", [0.05, 0.2, 0.28])
def test_every_coin_falls_the_same_way_and_few_need_the_sizes_themselves(fall):
    needed = 0
    for i in range(60):
        rough = Rough(fall)
        coins = [Keystream(derived_key("rough", i)).bits(0) for _ in range(2)]
        answers = [passes(Graded(), Evidence(s, FIXED), c) for s, c in zip((Smooth(fall), rough), coins, strict=True)]
        assert answers[0] == answers[1]
        needed += rough.truth > 0
    assert needed < 15


def test_wrong_bounds_would_be_seen():
    """Must-fail control: bounds that do not hold change the chance."""

    class Wrong(Rough):
        def lower_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
            size = 1000 * Smooth.lower(self, level)
            return size, size

    assert chance(Graded(), Evidence(Wrong(0.2), FIXED)) > 1.5 * chance(Graded(), Evidence(Smooth(0.2), FIXED))


def test_an_empty_threshold_is_found_empty():
    class Empty(Rough):
        def lower_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
            return (Fraction(0), Fraction(0)) if level >= 12 else super().lower_between(level, apart)

    assert Evidence(Empty(0.2), FIXED).empty
    assert not Evidence(Rough(0.2), FIXED).empty


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12),
    st.lists(st.integers(0, 30), min_size=13, max_size=13),
)
def test_bounds_of_some_levels_bracket_all(looks, falls):
    """Whatever is looked at, in whatever order, each bracket holds the size, and no bracket gets wider."""
    sizes = (np.cumsum(falls)[::-1]).tolist()
    known = KnownSizes()
    known.add(0, sizes[0], sizes[0])
    known.add(13, 0, 0)
    before = [known.bracket(level) for level in range(13)]
    for level, less, more in looks:
        known.add(level, max(0, sizes[level] - less), sizes[level] + more)
        after = [known.bracket(x) for x in range(13)]
        for size, (low, high), (least, most) in zip(sizes, after, before, strict=True):
            assert low <= size <= high
            assert least <= low
            assert high <= most
        before = after


def raises(*_):
    raise RuntimeError("no order")


ORDERS = {
    "raises": raises,
    "nothing": lambda *_: None,
    "text": lambda *_: "lower",
    "a level that is known": lambda view, *_: ("lower", next(x for x in view.lower.values if view.lower.settled(x))),
    "a level that says nothing": lambda *_: ("upper", -7),
    "a float": lambda *_: ("lower", float("nan")),
    "the last one": lambda view, outer, levels: ("lower", levels[-1]),
    "another word": lambda *_: ("both", 3),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("test", [Graded(), Laplace(), Paper()], ids=lambda test: test.name)
def test_in_whatever_order_sizes_are_measured_coins_are_the_same(order, test, monkeypatch):
    for fall in (0.3, 0.9):
        coins = [
            passes(test, Evidence(Rough(fall), FIXED), Keystream(derived_key("coin", i)).bits(0)) for i in range(12)
        ]
        probability = chance(test, Evidence(Smooth(fall), FIXED))
        with monkeypatch.context() as patched:
            patched.setitem(OFFERED, "next_size", ORDERS[order])
            assert chance(test, Evidence(Smooth(fall), FIXED)) == pytest.approx(probability, rel=1e-12)
            again = [Evidence(Rough(fall), FIXED) for _ in range(12)]
            assert coins == [passes(test, e, Keystream(derived_key("coin", i)).bits(0)) for i, e in enumerate(again)]


def test_evidence_that_stops_before_all_is_known_would_be_noticed(monkeypatch):
    """Must-fail control: with nobody to look for what is left, brackets stay wide."""
    monkeypatch.setitem(OFFERED, "next_size", lambda *_: None)
    monkeypatch.setattr(Evidence, "_first_open", lambda *_: None)
    with pytest.raises(AssertionError):
        chance(Graded(), Evidence(Smooth(0.3), FIXED))
