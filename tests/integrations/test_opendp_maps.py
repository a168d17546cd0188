"""Privacy maps of our OpenDP measurements: rounded up, of groups, true of laws that are enumerated."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from support.oracle import depth

dp = pytest.importorskip("opendp.prelude")
from tukeydp.integrations.opendp import make_boxem, make_cube, make_mean, make_rem  # noqa: E402
from tukeydp.integrations.opendp.losses import group_delta, rounded_up  # noqa: E402
from tukeydp.integrations.opendp.spaces import space  # noqa: E402

VECTOR, SIZED = dp.vector_domain(dp.atom_domain(T=float)), dp.vector_domain(dp.atom_domain(T=float), size=3)
TABLE = dp.numpy.array2_domain(num_columns=2, size=500, T=float)
CHANGE, SYMMETRIC = dp.change_one_distance(), dp.symmetric_distance()
ZCDP = dp.zero_concentrated_divergence()
DISTANCES = (0, 1, 2, 3, 7, 10**6, 2**32 - 1)
LARGEST_FLOAT = Fraction(math.nextafter(math.inf, 0))


@pytest.fixture(autouse=True)
def features():
    dp.enable_features("contrib", "honest-but-curious")


def too_small(loss, exact):
    """Whether a loss lies below what it stands for."""
    return not math.isinf(loss) and Fraction(loss) < exact


def too_large(loss, exact):
    """Whether a smaller float would have done."""
    below = math.nextafter(loss, 0.0)
    return loss > 0 and (exact <= LARGEST_FLOAT if math.isinf(loss) else Fraction(below) >= exact)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), "0.1", "0.3", Fraction(1, 10**9), 7, "1e300"])
def test_maps_are_rounded_up_and_no_further(epsilon):
    exact = Fraction(epsilon)
    pure = make_boxem(SIZED, CHANGE, epsilon, bounds=(0, 1))
    rho = make_boxem(SIZED, CHANGE, epsilon, bounds=(0, 1), output_measure=ZCDP)
    for k in DISTANCES:
        for loss, true in ((pure.map(k), k * exact), (rho.map(k), k**2 * exact**2 / 8)):
            assert not too_small(loss, true)
            assert not too_large(loss, true)


def test_a_map_rounded_to_the_nearest_float_would_be_noticed():
    losses = [(float(k * Fraction(e)), k * Fraction(e)) for k in DISTANCES for e in (Fraction(1, 3), "0.1", "0.3")]
    assert any(too_small(loss, true) for loss, true in losses)
    assert too_large(math.nextafter(0.5, 1.0), Fraction(1, 2))


@settings(max_examples=60, deadline=None)
@given(st.floats(min_value=2e-9, max_value=1e308))
def test_a_float_costs_itself(epsilon):
    """So that a budget of 0.3 pays for an epsilon of 0.3."""
    assert make_boxem(SIZED, CHANGE, epsilon, bounds=(0, 1)).map(1) == epsilon


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.1])
def test_a_float_is_neither_more_than_itself_nor_than_its_decimal(epsilon):
    release = make_boxem(SIZED, CHANGE, epsilon, bounds=(0, 1))([0.1, 0.2, 0.3])
    assert release.guarantee.epsilon == min(Fraction(epsilon), Fraction(repr(epsilon)))


def test_numbers_beyond_floats_are_infinite_and_tiny_ones_positive():
    assert rounded_up(Fraction(10) ** 400) == math.inf
    assert rounded_up(LARGEST_FLOAT + 1) == math.inf
    assert rounded_up(Fraction(1, 10**400)) == 5e-324


@pytest.mark.parametrize(
    ("metric", "size", "expected"),
    [
        ("change_one_distance", 500, [0, 1, 2, 3]),
        ("hamming_distance", 500, [0, 1, 2, 3]),
        ("symmetric_distance", 500, [0, 0, 1, 1]),
        ("insert_delete_distance", 500, [0, 0, 1, 1]),
        ("symmetric_distance", None, [0, 1, 2, 3]),
        ("insert_delete_distance", None, [0, 1, 2, 3]),
    ],
)
def test_neighbours_between_tables_at_a_distance(metric, size, expected):
    domain = dp.numpy.array2_domain(num_columns=2, size=size, T=float)
    tables = space(domain, getattr(dp, metric)())
    assert [tables.steps(d) for d in range(4)] == expected
    assert tables.neighbours == ("add-remove" if size is None else "swap")
    assert make_cube(domain, getattr(dp, metric)(), 1, bounds=(0, 1)).map(3) == expected[3]


@pytest.mark.parametrize("d_in", [1.9999, 1.0, -1, 2**32, True, np.int64(1), "1", None, float("nan")])
def test_distances_that_are_none_are_refused(d_in):
    with pytest.raises((TypeError, ValueError, dp.UnknownTypeException)):
        make_boxem(SIZED, CHANGE, 1, bounds=(0, 1)).map(d_in)


def test_every_law_has_the_rho_of_its_own_proof():
    """Of bounded range are boxem and subset means; noise and several steps are not, and cost more."""
    eighth = Fraction(1, 8)
    for made, rho in (
        (make_boxem(TABLE, CHANGE, 1, bounds=(0, 1), output_measure=ZCDP), eighth),
        (make_boxem(TABLE, CHANGE, 1, bounds=(0, 1), certify="0.1", output_measure=ZCDP), "0.10625"),
        (make_mean(TABLE, CHANGE, 1, bounds=(0, 1), mechanism="subset", output_measure=ZCDP), eighth),
        (make_cube(TABLE, CHANGE, 1, bounds=(0, 1), output_measure=ZCDP), Fraction(82, 200)),
        (make_cube(TABLE, CHANGE, 1, bounds=(0, 1), fill=0, output_measure=ZCDP), Fraction(1, 2)),
    ):
        assert made.map(1) == rounded_up(Fraction(rho))
        assert made.map(3) == rounded_up(9 * Fraction(rho))


@pytest.mark.parametrize("way", [{"mechanism": "two-step"}, {"mechanism": "cube"}, {}, {"confidence": "0.95"}])
def test_the_rho_of_a_mean_is_that_of_the_run(way):
    made = make_mean(TABLE, CHANGE, 1, bounds=(0, 1000), output_measure=ZCDP, **way)
    x = np.random.default_rng(1).normal(500, 100, size=(500, 2))
    release = made(x)
    direct = td.mean(x, epsilon=1, bounds=(0, 1000), **way)
    assert release.guarantee.zcdp == direct.guarantee.zcdp
    assert made.map(1) == rounded_up(direct.guarantee.zcdp.rho)
    if direct.mechanism != "subset" and not way.get("confidence"):  # many small steps cost less rho
        assert made.map(1) > 1 / 8


# ---- delta ----


def exact_sum(epsilon, delta, k):
    """delta (1 + e^epsilon + ... + e^((k-1) epsilon)) to fifty digits, without anything of ours."""
    with localcontext() as context:
        context.prec = 60
        e = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        return Fraction(Decimal(delta.numerator) / delta.denominator * sum(e**i for i in range(k)))


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1, 10**40), Fraction(2), Fraction(1, 10**80)])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_delta_of_a_group_is_the_sum_and_hardly_more(epsilon, k):
    delta = Fraction(1, 10**12)
    true, found = exact_sum(epsilon, delta, k), group_delta(td.ApproxDP(epsilon, delta), k)
    assert true * (1 - Fraction(1, 10**50)) <= found <= true * (1 + Fraction(1, 10**14))


def test_delta_of_a_group_is_at_most_one_however_large_the_group():
    made = make_rem(TABLE, CHANGE, 1, delta=1e-6)
    assert made.map(0) == (0.0, 0.0)
    assert made.map(1) == (1.0, 1e-6)
    assert made.map(15) == (15.0, 1.0)
    assert made.map(2**32 - 1) == (2.0**32 - 1, 1.0)
    deltas = [made.map(k)[1] for k in range(16)]
    assert deltas == sorted(deltas)


def closeness(p, q, epsilon):
    """The least delta for which two laws on two points are (epsilon, delta)-close, both ways."""
    pairs = [(p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)]
    return max(a - math.exp(epsilon) * b for a, b in pairs)


def test_a_delta_that_forgets_groups_would_be_noticed():
    """A chain of laws, each (epsilon, delta)-close to the next, whose ends need all of the sum."""
    epsilon, delta, k = 0.5, 1e-3, 4
    chain = [0.0]
    for _ in range(k):
        chain.insert(0, math.exp(epsilon) * chain[0] + delta)
    assert max(closeness(p, q, epsilon) for p, q in pairwise(chain)) <= delta * (1 + 1e-12)
    needed = closeness(chain[0], chain[-1], k * epsilon)
    told = make_rem(TABLE, CHANGE, epsilon, delta=delta).map(k)
    assert told[0] == k * epsilon
    assert needed * (1 - 1e-12) <= told[1] <= needed * (1 + 1e-12)
    assert needed > 1.5 * k * delta  # what would be told without the powers of e


def test_concentrated_with_a_delta():
    made = make_rem(TABLE, CHANGE, 1, delta=1e-6, output_measure=dp.approximate(ZCDP))
    plain = make_rem(TABLE, CHANGE, 1, delta=1e-6)
    assert made.map(1) == (0.5, 1e-6)
    assert made.map(2) == (2.0, plain.map(2)[1])


# ---- laws, enumerated ----

POINTS, EPSILON = (0, 1, 2, 3), 0.8


def law_of(rows, weight, epsilon=EPSILON):
    """The exponential mechanism over depth on a line of four points; weight 1/2 under swap, 1 under add/remove."""
    weights = [math.exp(epsilon * weight * depth([(r,) for r in rows], (y,), [(1,)])) for y in POINTS]
    return [w / sum(weights) for w in weights]


def log_ratio(p, q):
    return max(math.log(a / b) for a, b in zip(p, q, strict=True))


def renyi(p, q, order):
    return math.log(sum(b * (a / b) ** order for a, b in zip(p, q, strict=True))) / (order - 1)


def pairs(sizes, distance):
    """All pairs of laws of tables on the line, with the distance between them."""
    weight = 0.5 if len(sizes) == 1 else 1.0
    tables = [rows for n in sizes for rows in combinations_with_replacement(POINTS, n)]
    laws = {rows: law_of(rows, weight) if rows else [0.25] * 4 for rows in tables}
    for x, y in product(tables, repeat=2):
        yield distance(Counter(x), Counter(y)), laws[x], laws[y]


SPACES = {
    "change-one": (SIZED, CHANGE, (3,), lambda x, y: (x - y).total()),
    "symmetric, with a size": (SIZED, SYMMETRIC, (3,), lambda x, y: (x - y).total() + (y - x).total()),
    "symmetric": (VECTOR, SYMMETRIC, (0, 1, 2, 3), lambda x, y: (x - y).total() + (y - x).total()),
}


@pytest.mark.parametrize("name", SPACES)
def test_maps_hold_for_all_pairs_of_small_tables_and_are_needed(name):
    domain, metric, sizes, distance = SPACES[name]
    pure = make_boxem(domain, metric, EPSILON, bounds=(0, 3), resolution=1)
    rho = make_boxem(domain, metric, EPSILON, bounds=(0, 3), resolution=1, output_measure=ZCDP)
    found = list(pairs(sizes, distance))
    for d, p, q in found:
        assert log_ratio(p, q) <= pure.map(d) + 1e-12
        for order in (1.001, 2.0, 8.0, 64.0):
            assert renyi(p, q, order) <= order * rho.map(d) + 1e-9
    # A map that forgets how far apart tables are, or forgets to square, is caught here.
    step = 2 if name == "symmetric, with a size" else 1
    assert any(log_ratio(p, q) > pure.map(step) * 1.05 for d, p, q in found if d == 2 * step)
    assert any(renyi(p, q, 1.001) > 2 * rho.map(step) for d, p, q in found if d >= 2 * step)
    # And one that halves what a swap costs.
    assert any(log_ratio(p, q) > pure.map(step) / 2 * 1.05 for d, p, q in found if d == step)


@pytest.mark.parametrize(("domain", "weight"), [(SIZED, 0.5), (VECTOR, 1.0)], ids=["size", "no size"])
def test_draws_have_the_enumerated_law(domain, weight, monkeypatch):
    """False alarm: FALSE_ALARM for each case, were the system's bits not replaced by fixed ones."""
    monkeypatch.setattr("tukeydp.trusted.bits.os.urandom", np.random.default_rng(7).bytes)
    made = make_boxem(domain, SYMMETRIC, 3, bounds=(0, 3), resolution=1)
    drawn = Counter(int(made([0.0, 2.0, 2.0]).point[0]) for _ in range(500))
    counts = np.array([drawn[y] for y in POINTS])
    assert g_test(counts, np.array(law_of([0, 2, 2], weight, 3.0))) > FALSE_ALARM
    assert g_test(counts, np.array(law_of([0, 2, 2], 1.5 - weight, 3.0))) < FALSE_ALARM  # the test can fail
