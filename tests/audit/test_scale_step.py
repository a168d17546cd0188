"""Scale first: the common factor by enumeration, and what scale and mean spend together."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support.charges import charge
from support.fit import FALSE_ALARM, g_test
from support.listening import listen
from tukeydp.mechanisms import mean_ways as scaled_mean
from tukeydp.mechanisms.mean_ways import ScaledMean, mean_plan
from tukeydp.mechanisms.scale_step import released_widths, scale_epsilon
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import log_factors
from tukeydp.trusted.rows import bounded_columns

EPSILON = Fraction(1)
LOW, STEPS, CELLS = -4, 8, 80  # the grid of log2 of the factor
ASSUMED = np.array([100.0, 10.0])


# The oracle: nothing but definitions, in Python's floats for the statistic and in weights for the law.


def log_factor(first, second, assumed):
    """None where nothing can be compared, -inf where all that can is equal."""
    there = [abs(a - b) * w for a, b, w in zip(first, second, assumed, strict=True) if not math.isnan(a - b)]
    differing = [math.log2(v / 2 / math.sqrt(2)) for v in there if v > 0]
    if differing:
        return sum(differing) / len(differing) + math.log2(len(differing) / len(there)) / 2
    return -math.inf if there else None


def places(value):
    """Grid points with their chances."""
    if value is None:
        return {0: 0.5, CELLS: 0.5}
    if value == -math.inf:
        return {0: 2 / 16, CELLS: 14 / 16}
    return {min(CELLS, max(0, round((value - LOW) * STEPS))): 1.0}


def law(rows, epsilon=float(EPSILON)):
    """Over all dealings and coins: the chance of each grid point."""
    total = np.zeros(CELLS + 1)
    orders = list(itertools.permutations(range(len(rows))))
    for order in orders:
        pairs = [places(log_factor(rows[a], rows[b], ASSUMED)) for a, b in zip(order[::2], order[1::2], strict=False)]
        for choice in itertools.product(*(pair.items() for pair in pairs)):
            points = np.array([place for place, _ in choice])
            chance = math.prod(c for _, c in choice)
            grid = np.arange(CELLS + 1)
            depth = np.minimum((points[:, None] <= grid).sum(0), (points[:, None] >= grid).sum(0))
            weights = np.exp(epsilon * depth / 2)
            total += chance * weights / weights.sum()
    return total / len(orders)


NAN = math.nan
ROWS = [(-1.0, -1.0), (0.0, 0.1), (0.5, -1.0), (NAN, 1.0), (NAN, NAN), (0.02, 0.1)]


def test_the_common_factor_is_private():
    """All tables of four such rows and all swaps; the worst log ratio is at most epsilon and not far below."""
    laws = {rows: law(rows) for rows in itertools.combinations_with_replacement(ROWS, 4)}
    worst = 0.0
    for rows, p in laws.items():
        for i, other in itertools.product(range(4), ROWS):
            swapped = tuple(sorted((*rows[:i], *rows[i + 1 :], other), key=ROWS.index))
            worst = max(worst, float(np.abs(np.log(p / laws[swapped])).max()))
    assert 0.3 < worst <= 1.0 + 1e-9


def test_epsilon_undivided_would_show():
    """Control: with the weight e^(epsilon T) the same enumeration sees more than epsilon."""
    rows, swapped = (ROWS[0], ROWS[0], ROWS[1], ROWS[1]), (ROWS[0], ROWS[2], ROWS[1], ROWS[1])
    ratio = np.abs(np.log(law(rows, 2.0) / law(swapped, 2.0))).max()
    assert ratio > np.abs(np.log(law(rows) / law(swapped))).max() * 1.8


@pytest.mark.parametrize("rows", [ROWS[:4], [*ROWS[:3], ROWS[4]], ROWS[:5]])
def test_the_common_factor_has_the_law_of_the_oracle(rows):
    """1200 draws; a false alarm once in 10^6."""
    assert_law(rows, EPSILON)


def test_pairs_of_equal_rows_lie_mostly_at_the_upper_end():
    """The coins alone decide: another chance would be noticed."""
    assert_law([ROWS[1]] * 4, Fraction(12))


def assert_law(rows, epsilon):
    relative = np.array(rows)
    found = Counter()
    for i in range(1200):
        widths = released_widths(relative, charge(epsilon, derived_key("secret", i)), ASSUMED, derived_key("public"))
        factor = 100.0 / widths[0] * math.exp(-0.635 + 0.241 / 2)
        found[round((math.log2(factor) - LOW) * STEPS)] += 1
    expected = law(tuple(rows), float(epsilon))
    # Widths are cut to 2 ... 512 afterwards: neighbouring outcomes beyond count together.
    low, high = min(found), max(found)
    expected[low] += expected[:low].sum()
    expected[high] += expected[high + 1 :].sum()
    counts = np.array([found[i] for i in range(low, high + 1)])
    assert g_test(counts, expected[low : high + 1]) > FALSE_ALARM


def test_the_factor_is_drawn_with_the_epsilon_that_it_is_given():
    """1200 draws at an epsilon so large that depth decides: twice as much, or half, would be noticed."""
    rows, epsilon, found = ROWS[:4], Fraction(6), Counter()
    for i in range(1200):
        widths = released_widths(
            np.array(rows), charge(epsilon, derived_key("secret", i)), ASSUMED, derived_key("public")
        )
        found[round(math.log2(widths[0]) * STEPS)] += 1
    right, half, twice = (widths_law(rows, e) for e in (6.0, 3.0, 12.0))
    assert set(found) <= set(right)
    counts = np.array([found[place] for place in right])
    assert g_test(counts, np.array(list(right.values()))) > FALSE_ALARM
    for wrong in (half, twice):
        assert g_test(counts, np.array([wrong[place] for place in right])) < FALSE_ALARM


def widths_law(rows, epsilon):
    """The chance of each width of the first column, in eighths of octaves, after the cut to 2 ... 512."""
    found = Counter()
    for place, chance in enumerate(law(tuple(rows), epsilon)):
        factor = 2.0 ** (LOW + place / STEPS) / math.exp(-0.635 + 0.241 / 2)
        found[round(math.log2(min(512.0, max(2.0, ASSUMED[0] / factor))) * STEPS)] += float(chance)
    return found


def test_a_pair_is_a_function_of_its_own_rows():
    rng = np.random.default_rng(1)
    cells = np.clip(rng.normal(size=(500, 2, 3)) * 10.0 ** rng.integers(-300, 2, size=(500, 2, 3)), -1, 1)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    cells[::7, 1] = cells[::7, 0]
    together = log_factors(cells, np.array([100.0, 10.0, 3.0]))
    for i in range(0, 500, 13):
        alone = log_factors(cells[i : i + 1], np.array([100.0, 10.0, 3.0]))
        assert together[i].tobytes() == alone[0].tobytes()


@pytest.mark.parametrize(("n", "d"), [(600, 8), (1500, 3), (20000, 4)])
def test_scale_and_mean_spend_epsilon_together(n, d, monkeypatch):
    """What the scale's draw and the mean's plan are given adds up to the guarantee, in rationals."""
    spent = []

    def listened(relative, charge, *rest):
        spent.append(charge.epsilon)
        return released_widths(relative, charge, *rest)

    monkeypatch.setattr(scaled_mean, "released_widths", listened)
    ways = ScaledMean.way
    monkeypatch.setattr(
        ScaledMean, "way", lambda self, *given: spent.append(ways(self, *given).epsilon) or ways(self, *given)
    )
    x = np.random.default_rng(2).exponential(size=(n, d))
    release = td.mean(x, epsilon="0.9", bounds=(0, 60), randomness=td.seeded(3))
    assert len(spent) == 2
    assert sum(spent) == Fraction(9, 10) == release.guarantee.epsilon
    assert release.settings == {"epsilon_scale": spent[0], "epsilon_mean": spent[1]}


def test_scale_and_mean_share_no_bits_and_the_public_key_decides_no_secret_step(monkeypatch):
    x, plan = np.zeros((1500, 1)), mean_plan(1500, bounded_columns(1, (-50, 50)), EPSILON)
    x[::5] = np.nan
    opened, keys = listen(monkeypatch), []
    for public in ("public", "another"):
        opened.clear()
        plan.draw(x, derived_key(public), charge(plan.epsilon, derived_key("secret")))
        assert len(opened) == len(set(opened))
        keys.append({key for key, _ in opened})
    steps = [derived_key("step", i, derived_key("secret")) for i in range(2)]
    of_scale = {derived_key(name, steps[0]) for name in ("dealing", "coins", "draw")}
    assert of_scale < keys[0] & keys[1]
    assert {derived_key("step", i, steps[1]) for i in range(2)} < keys[0] & keys[1]  # the mean has secrets of its own


def test_the_scale_starts_from_public_numbers_and_the_way_follows_from_what_it_found(monkeypatch):
    """Whatever the cells: the widths assumed are those of the bounds, and the way is that of n and the released."""
    n, d, given = 1500, 2, []
    found = np.array([40.0, 70.0])

    def released(relative, charge, assumed, public_key):
        given.append(assumed.tolist())
        return found

    monkeypatch.setattr(scaled_mean, "released_widths", released)
    ways = ScaledMean.way
    monkeypatch.setattr(
        ScaledMean, "way", lambda self, rows, widths: given.append((rows, widths.tolist())) or ways(self, rows, widths)
    )
    rng = np.random.default_rng(6)
    plan = mean_plan(n, bounded_columns(d, (-50, 50)), EPSILON)
    for x in (rng.normal(size=(n, d)), 1e-9 * rng.normal(size=(n, d)), np.full((n, d), np.nan), np.ones((n, d))):
        given.clear()
        plan.draw(np.clip(x / 50, -1, 1), derived_key("public"), charge(plan.epsilon, derived_key("secret")))
        assert given == [[100.0, 100.0], (n, found.tolist())]


def test_what_is_said_of_a_run_does_not_depend_on_the_data():
    n, rng = 2000, np.random.default_rng(4)
    tables = [rng.normal(size=(n, 2)), 1e-9 * rng.normal(size=(n, 2)), np.full((n, 2), np.nan), np.zeros((n, 2))]
    said = []
    for x in tables:
        release = td.mean(x, epsilon=1, bounds=(-50, 50), randomness=td.seeded(5))
        said.append((release.mechanism, dict(release.settings), release.caveats, release.widest))
    assert all(one == said[0] for one in said)


@pytest.mark.parametrize("factor", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("n", "d"), [(600, 6), (3000, 8), (8000, 3)])
def test_released_widths_are_about_right(n, d, factor):
    """Gaussian columns: within a factor of 2 in all of 20 releases (seeded)."""
    epsilon = scale_epsilon(n, EPSILON)
    assert epsilon is not None
    true = 50.0 * factor
    for i in range(20):
        relative = np.clip(np.random.default_rng(i).normal(size=(n, d)) * 2 / true, -1, 1)
        widths = released_widths(relative, charge(epsilon, derived_key("s", i)), np.full(d, 100.0), derived_key("p", i))
        assert 0.5 < math.exp(np.log(widths).mean()) / true < 2.0


def test_too_few_rows_have_no_scale_step():
    columns = bounded_columns(4, (0, 1000))
    assert scale_epsilon(300, EPSILON) is None
    assert not isinstance(mean_plan(300, columns, EPSILON), ScaledMean)
    assert isinstance(mean_plan(3000, columns, EPSILON), ScaledMean)
    assert not isinstance(mean_plan(3000, columns, EPSILON, sd=20), ScaledMean)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("epsilon", ["1e-9", 1, "1e6"])
def test_a_row_or_two_are_released_whatever_epsilon(n, d, epsilon):
    """One row makes no pair: a large epsilon does not lead to the scale."""
    release = td.mean(np.full((n, d), 2.0), epsilon=epsilon, bounds=(0, 10), mechanism="two-step")
    assert release.released
    assert np.isfinite(release.point).all()
    assert ("epsilon_scale" in release.settings) == (n > 1 and epsilon == "1e6")
