"""Algorithm 3's accounting: against the printed theorem, in its domain, and against all small cases by brute force."""

import math
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from tukeydp.paper import algorithm3 as a3
from tukeydp.paper.algorithm3 import noise_reaches
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.laws import exp_between, log_between

DIGITS = 80
budgets = st.tuples(
    st.fractions(Fraction(1, 1000), 30, max_denominator=1000), st.fractions(Fraction(1, 10**9), Fraction(99, 100))
)


def decimal(number):
    return Decimal(number.numerator) / Decimal(number.denominator)


def printed_theorem(p):
    """The theorem as it stands in the paper, in long decimals: an account of its own."""
    rho = ((1 + decimal(p.eta)) / (1 - decimal(p.eta))).ln()
    eps_p, eps_e = decimal(p.epsilon_test), decimal(p.epsilon_draw)
    first = 8 * eps_p / eps_e * rho + 2 * eps_p
    second = eps_e + 2 * rho
    epsilon = first + second
    draw = rho.exp() * decimal(p.delta_draw) + (1 + second.exp()) * decimal(p.tau)
    failures = 2 * (2 * epsilon.exp() + 1) * (decimal(p.beta) + decimal(p.zeta))
    return epsilon, failures + max(decimal(p.delta_test), first.exp() * draw)


def proven_costs(p):
    """REM's and BoxEM's cost by docs/proofs/algorithm3.md, section 4, in long decimals: what guarantees rest on."""
    rho = ((1 + decimal(p.eta)) / (1 - decimal(p.eta))).ln()
    eps_p, eps_e = decimal(p.epsilon_test), decimal(p.epsilon_draw)
    eps_1 = eps_p * (1 + (4 * rho / eps_e).to_integral_value(ROUND_CEILING))
    eps_2 = eps_e + 2 * rho
    from_points = (1 + eps_2.exp()) * decimal(p.tau)
    bad = 2 * decimal(p.beta) + 2 * decimal(p.zeta)

    def all_runs(epsilon, delta):
        return epsilon, delta + bad * (epsilon.exp() / (1 - bad) + 1)

    rem = all_runs(eps_1 + eps_2, max(decimal(p.delta_test), rho.exp() * decimal(p.delta_draw) + from_points))
    return rem, all_runs(eps_2, from_points)


def some_parameters(**changes):
    plain = {
        "epsilon_draw": "2", "eta": "0.1", "beta": "0.01", "tau": "0.001", "zeta": "0.02",
        "epsilon_test": "1", "delta_test": "0.1", "delta_draw": "0.2",
    }  # fmt: skip
    return a3.RemParameters(**{k: Fraction(v) for k, v in (plain | changes).items()})


@given(st.fractions(-50, 50, max_denominator=10**6))
def test_exponentials_are_enclosed(x):
    low, high = exp_between(x)
    with localcontext() as context:
        context.prec = DIGITS
        true = decimal(x).exp()
        assert decimal(low) <= true * (1 + Decimal(10) ** -70)
        assert decimal(high) >= true * (1 - Decimal(10) ** -70)
    assert high - low <= high * Fraction(1, 2**150)


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_logarithms_are_enclosed(x):
    low, high = log_between(x)
    with localcontext() as context:
        context.prec = DIGITS
        true = decimal(x).ln()
        assert decimal(low) - Decimal(10) ** -75 <= true <= decimal(high) + Decimal(10) ** -75
    assert 0 < high - low < Fraction(1, 2**150)


@given(budgets)
def test_the_papers_choice_spends_no_more_than_its_budget(budget):
    epsilon, delta = budget
    p = a3.rem_parameters(epsilon, delta)
    assert a3.printed_cost(p).within(epsilon, delta)
    assert a3.rem_cost(p).within(epsilon, delta)
    assert a3.boxem_cost(a3.boxem_parameters(epsilon, delta)).within(epsilon, delta)
    # The printed theorem is nearly used up, so the accounting would notice any more.
    assert a3.printed_cost(p).epsilon > epsilon * (1 - Fraction(1, 10**9))
    assert a3.printed_cost(p).delta > delta * Fraction(99, 100)
    for name in ("epsilon_test", "epsilon_draw", "delta_test", "beta"):
        more = replace(p, **{name: getattr(p, name) * Fraction(11, 10)})
        assert not a3.printed_cost(more).within(epsilon, delta)


def test_the_papers_choice_is_the_printed_one():
    """eps/6, 2 eps/5, delta/2, ... of line 1 to 3 of the algorithm, in long decimals, rounded down by a hair."""
    epsilon, delta = Fraction(3, 2), Fraction(1, 10**6)
    p = a3.rem_parameters(epsilon, delta)
    assert (p.epsilon_test, p.epsilon_draw, p.delta_test) == (epsilon / 6, 2 * epsilon / 5, delta / 2)
    with localcontext() as context:
        context.prec = DIGITS
        e, d = decimal(epsilon), decimal(delta)
        printed = {
            "eta": ((e / 20).exp() - 1) / ((e / 20).exp() + 1),
            "beta": d / (8 * (2 * e.exp() + 1)),
            "zeta": d / (8 * (2 * e.exp() + 1)),
            "tau": d / (4 * (11 * e / 20).exp() * (1 + (e / 2).exp())),
            "delta_draw": d / (4 * (11 * e / 20).exp()),
        }
        for name, value in printed.items():
            assert value * (1 - Decimal(10) ** -15) < decimal(getattr(p, name)) < value


@given(
    st.fractions(Fraction(1, 100), 3, max_denominator=100),
    st.fractions(0, Fraction(9, 10), max_denominator=100),
    st.fractions(0, Fraction(1, 8), max_denominator=1000),
    st.fractions(Fraction(1, 100), 3, max_denominator=100),
)
def test_costs_against_the_printed_theorem_and_our_own(epsilon_draw, eta, beta, epsilon_test):
    p = some_parameters(epsilon_draw=epsilon_draw, eta=eta, beta=beta, epsilon_test=epsilon_test)
    cost = a3.printed_cost(p)
    with localcontext() as context:
        context.prec = DIGITS
        epsilon, delta = printed_theorem(p)
        # Rounded up, and by next to nothing.
        assert epsilon - Decimal(10) ** -60 <= decimal(cost.epsilon) <= epsilon * (1 + Decimal(10) ** -40)
        assert delta * (1 - Decimal(10) ** -60) <= decimal(cost.delta) <= delta * (1 + Decimal(10) ** -40)
        for found, (epsilon, delta) in zip((a3.rem_cost(p), a3.boxem_cost(p)), proven_costs(p), strict=True):
            assert epsilon - Decimal(10) ** -60 <= decimal(found.epsilon) <= epsilon * (1 + Decimal(10) ** -40)
            assert delta * (1 - Decimal(10) ** -60) <= decimal(found.delta) <= delta * (1 + Decimal(10) ** -40)
    ours = a3.rem_cost(p)
    assert ours.epsilon <= cost.epsilon
    assert ours.delta <= cost.delta
    assert a3.score_sensitivity(p) <= a3.printed_sensitivity(p)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon_draw", "0"), ("epsilon_test", "-1"), ("epsilon_test", "601"), ("eta", "1"), ("eta", "-1/10"),
        ("beta", "1"), ("zeta", "-1"), ("tau", "1"), ("delta_test", "0"), ("delta_draw", "1"), ("beta", "0.24"),
    ],
)  # fmt: skip
def test_parameters_outside_the_domain_are_refused(name, value):
    with pytest.raises(td.ParameterError, match=name):
        some_parameters(**{name: value})


def test_budgets_outside_the_domain_are_refused():
    for epsilon, delta in [(0, 0.1), (-1, 0.1), (1, 0), (1, 1), (1, 2), (601, 0.1), ("x", 0.1), (1, math.nan)]:
        for choose in (a3.rem_parameters, a3.boxem_parameters):
            with pytest.raises(td.ParameterError, match=r"epsilon|delta"):
                choose(epsilon, delta)


def test_what_the_accounting_is_given_is_checked():
    p = some_parameters()
    for call, named in [
        (lambda: a3.with_failures(a3.Cost(Fraction(1), Fraction(0)), Fraction(1)), "failure"),
        (lambda: a3.with_failures(a3.Cost(Fraction(1), Fraction(0)), Fraction(-1)), "failure"),
        (lambda: a3.Cost(Fraction(-1), Fraction(0)), "epsilon"),
        (lambda: a3.Cost(Fraction(1), Fraction(-1)), "delta"),
        (lambda: a3.draw_cost(p, Fraction(1)), "delta_draw"),
        (lambda: a3.distortion(Fraction(1)), "eta"),
        (lambda: a3.score([Fraction(1)], 0, p), "lowest"),
        # The score moves by 10^33: e^epsilon would not fit any memory.
        (lambda: a3.rem_cost(some_parameters(epsilon_draw="1e-33")), "epsilon in all"),
        (lambda: a3.printed_cost(some_parameters(epsilon_draw="1e-33")), "epsilon in all"),
    ]:
        with pytest.raises(td.ParameterError, match=named):
            call()


@pytest.mark.parametrize("choose", [a3.rem_parameters, a3.boxem_parameters])
def test_budgets_at_the_ends_of_the_domain(choose):
    """Where parameters exist they cost no more than the budget; where not, the budget is named, not what follows."""
    cost = a3.rem_cost if choose is a3.rem_parameters else a3.boxem_cost
    for epsilon, delta in [("1e-30", "1e-250"), (600, "1e-10"), (600, "0.99"), ("0.001", "1e-280"), (1, "1e-287")]:
        assert cost(choose(epsilon, delta)).within(Fraction(epsilon), Fraction(delta))
    many_digits = Fraction(2**999 + 1, 2**1000), Fraction(2**990 + 1, 2**1000)
    assert cost(choose(*many_digits)).within(*many_digits)
    for epsilon, delta, named in [("1e-31", "0.1", "epsilon"), ("1e-300", "0.1", "epsilon"), (600, "1e-300", "delta")]:
        with pytest.raises(td.ParameterError, match=f"^{named} must be at least"):
            choose(epsilon, delta)


def test_a_bad_dataset_passes_with_probability_delta_at_most():
    """Score -1 and discrete Laplace noise; one lower as a threshold may be too much."""
    for epsilon, delta in [("1", "1e-6"), ("0.1", "0.01"), ("7", "0.3"), ("2", "0.49")]:
        p = some_parameters(epsilon_test=epsilon, delta_test=delta)
        least = a3.release_threshold(p) + 1

        def passes(m, rate=float(p.epsilon_test)):
            return math.exp(-rate * m) / (1 + math.exp(-rate)) if m >= 1 else 1 - passes(1 - m)

        assert passes(least) <= float(p.delta_test)
    p = some_parameters(epsilon_test="1", delta_test="1e-6")
    least = a3.release_threshold(p) - 1
    assert math.exp(-least) / (1 + math.exp(-1)) > 1e-6


def brute_score(volumes, t, p, factor):
    """The definition, in long decimals."""
    with localcontext() as context:
        context.prec = 60
        eps = decimal(p.epsilon_draw)
        limit = decimal(factor) * decimal(p.delta_draw) / (4 * eps.exp())
        best = -1
        for k in range(t):
            for g in range(1, len(volumes) - t - k - 1):
                above = decimal(volumes[t + k + g + 1])
                if above and decimal(volumes[t - k - 1]) / above * (-g * eps / 2).exp() <= limit:
                    best = k
        return best


volume_lists = st.lists(st.fractions(0, 1, max_denominator=50), min_size=2, max_size=24).map(
    lambda shrink: [Fraction(10**6) * math.prod(shrink[:i], start=Fraction(1)) for i in range(len(shrink))]
)


@given(volume_lists, st.integers(1, 30), st.sampled_from(["1", "3", "10"]), st.sampled_from(["0", "0.1", "0.5"]))
def test_score_by_definition(volumes, t, epsilon, eta):
    p = some_parameters(epsilon_draw=epsilon, eta=eta, delta_draw="0.9")
    factor = (1 - p.eta) / (1 + p.eta)
    assert a3.score(volumes, t, p) == brute_score(volumes, t, p, factor)


def test_score_at_a_tie():
    """g = 2 leaves no power of e: equality holds exactly, and a millionth less does not."""
    p = some_parameters(epsilon_draw="1", eta="1/3", delta_draw="1/2")
    # t = 1, k = 0: V_0 <= V_(2 + g) (1-eta)/(1+eta) delta_e/4 e^(eps (g - 2)/2).
    limit = Fraction(1, 2) * Fraction(1, 2) / 4
    volumes = [limit, Fraction(1), Fraction(1), Fraction(0), Fraction(1)]
    assert a3.score(volumes, 1, p) == 0
    assert a3.score([limit + Fraction(1, 10**30), *volumes[1:]], 1, p) == -1


shrinking = st.lists(st.sampled_from([0.05, 0.3, 0.5, 0.8, 0.95, 1.0]), min_size=12, max_size=40)
noises = st.lists(st.integers(-100, 100), min_size=40, max_size=40)


@given(shrinking, st.lists(st.booleans(), min_size=40, max_size=40), noises, noises, st.sampled_from([2, 3, 5, 8]))
def test_the_score_moves_by_no_more_than_its_sensitivity(factors, choices, up, down, t):
    """Volumes of two neighbours interlace, V_(l+1)(x) <= V_l(y) <= V_(l-1)(x); each is off by up to eta."""
    p = some_parameters(epsilon_draw="3", eta="0.3", delta_draw="0.9")
    x = [Fraction(math.prod(factors[:i])) for i in range(len(factors))]
    y = [x[0]] + [
        min(max(x[min(i + 1, len(x) - 1)], x[i + 1 if choices[i] else i - 1]), x[i - 1]) for i in range(1, len(x) - 1)
    ]
    y = [Fraction(v) for v in np.minimum.accumulate([float(v) for v in y])] + [Fraction(0)]

    def estimated(volumes, noise):
        return [v * (1 + p.eta * Fraction(e, 100)) for v, e in zip(volumes, noise, strict=False)]

    first, second = a3.score(estimated(x, up), t, p), a3.score(estimated(y, down), t, p)
    assert abs(first - second) <= a3.score_sensitivity(p)
    # With the factor in eta the estimated score never exceeds the exact one.
    assert first <= brute_score(x, t, p, Fraction(1))


def test_without_the_factor_an_unsafe_dataset_may_score():
    """The paper's pseudocode leaves out (1-eta)/(1+eta): estimates within eta then pass where exact volumes do not."""
    p = some_parameters(epsilon_draw="1", eta="1/3", delta_draw="1/2")
    limit = Fraction(1, 8)
    exact = [limit * Fraction(149, 100), Fraction(1), Fraction(1), Fraction(0), Fraction(1)]
    estimated = [exact[0] * (1 - p.eta), *exact[1:]]
    assert brute_score(exact, 1, p, Fraction(1)) == -1
    assert brute_score(estimated, 1, p, Fraction(1)) == 0
    assert a3.score(estimated, 1, p) == -1


def test_an_integer_score_moves_by_a_whole_number():
    """The lemma's unrounded step, 1 + 4/eps_e log((1+eta)/(1-eta)) < 1.5, is exceeded by volumes that interlace."""
    p = some_parameters(epsilon_draw="4", eta=a3.rem_parameters(10, "0.5").eta, delta_draw="0.9")
    assert 1 + 4 * a3.distortion(p.eta) / p.epsilon_draw < Fraction(3, 2)
    t, steps = 8, "ABBBABABABBBBAABBBACBAABB"
    shrink = [{"A": Fraction(9, 10), "B": Fraction(211, 1000), "C": Fraction(1)}[c] for c in steps]
    x = [math.prod(shrink[:i], start=Fraction(1)) for i in range(len(steps) + 1)]
    y = [x[0]] + [x[i + 1] if i < t else x[i - 1] for i in range(1, len(x) - 1)]
    y = [min(y[: i + 1]) for i in range(len(y))]
    assert all(x[i + 1] <= y[i] <= x[i - 1] for i in range(1, len(y)))
    scores = [
        a3.score([v * (1 + sign * p.eta * (1 if i < t else -1)) for i, v in enumerate(volumes)], t, p)
        for volumes, sign in ((x, 1), (y, -1))
    ]
    assert scores == [2, 4]
    assert a3.score_sensitivity(p) == 2


def test_the_noise_has_its_law():
    """Frequencies of Z >= m; another scale is rejected. Deep tails are decided too."""
    epsilon = Fraction(1, 2)
    draws = 2000
    for least in (-3, 0, 1, 4):
        bits = Keystream(derived_key("noise", least)).bits(0)
        hits = sum(noise_reaches(least, epsilon, bits) for _ in range(draws))

        def chance(m, rate=0.5):
            return math.exp(-rate * m) / (1 + math.exp(-rate)) if m >= 1 else 1 - chance(1 - m, rate)

        def p_value(share, hits=hits):
            return g_test(np.array([hits, draws - hits]), np.array([share, 1 - share]))

        assert p_value(chance(least)) > FALSE_ALARM
        if least not in (0, 1):
            assert p_value(chance(least, 1.0)) < FALSE_ALARM
    bits = Keystream(derived_key("tails")).bits(0)
    assert not noise_reaches(10_000, epsilon, bits)
    assert noise_reaches(-10_000, epsilon, bits)


def release_law(weights, sizes, exact, t, p, always=False):
    """Probabilities of every point and of a refusal when levels are drawn by the given sizes; `exact` are depths."""
    short = a3.release_threshold(p) - a3.score(sizes, t, p)
    rate = float(p.epsilon_test)
    m = short if short >= 1 else 1 - short
    tail = math.exp(-rate * m) / (1 + math.exp(-rate))
    chance = 1.0 if always else (tail if short >= 1 else 1 - tail)
    q = math.exp(float(p.epsilon_draw) / 2)
    levels = range(t, len(sizes))
    mass = {lv: float(sizes[lv]) * (q**lv if lv == t else q**lv - q ** (lv - 1)) for lv in levels}
    total = sum(mass.values())
    law = np.zeros(len(exact) + 1)
    law[-1] = 1.0
    if total:
        law[-1] = 1 - chance
        for lv, w in mass.items():
            inside = exact >= lv
            if w:
                law[:-1] += chance * w / total * np.where(inside, weights / weights[inside].sum(), 0.0)
    return law


def test_hockey_stick_over_random_swaps():
    """Exact laws of small runs with adversarial estimates: the conditional theorem holds; without the test it fails."""
    p = some_parameters(epsilon_draw="3", eta="0.2", delta_draw="0.2", tau="0", epsilon_test="2", delta_test="0.05")
    draw = a3.draw_cost(p, p.delta_draw)
    epsilon = float(p.epsilon_test * a3.score_sensitivity(p) + draw.epsilon)
    delta = float(max(p.delta_test, draw.delta))
    rng = np.random.default_rng(1)
    points, weights, t = np.arange(60), np.ones(60), 2
    worst, worst_without, passed = 0.0, 0.0, 0
    for _ in range(300):
        n = int(rng.choice([6, 10, 60]))
        x = np.clip(np.rint(rng.normal(30, rng.choice([1, 5, 20]), size=n)), 0, 59)
        if rng.random() < 0.5:  # t rows far from the others: moving one back empties all the levels in between
            x = np.where(np.arange(n) < n - t, np.clip(x, 0, 1), 59)
        y = x.copy()
        y[-1] = rng.choice([0, 59, rng.integers(60)])
        laws, free = [], []
        for rows in (x, y):
            depth = np.minimum((rows[:, None] <= points).sum(0), (rows[:, None] >= points).sum(0))
            depth = np.minimum(depth, n // 2)
            sizes = [Fraction(int((depth >= lv).sum())) for lv in range(n // 2 + 1)]
            noisy = [v * (1 + p.eta * Fraction(int(rng.choice([-1, 1])))) for v in sizes]
            noisy[0] = sizes[0]
            passed += a3.score(noisy, t, p) >= 0
            laws.append(release_law(weights, noisy, depth, t, p))
            free.append(release_law(weights, noisy, depth, t, p, always=True))
        for a, b in (laws, laws[::-1]):
            worst = max(worst, np.maximum(a - math.exp(epsilon) * b, 0).sum())
        for a, b in (free, free[::-1]):
            worst_without = max(worst_without, np.maximum(a - math.exp(epsilon) * b, 0).sum())
    assert passed > 50
    assert worst <= delta
    assert worst_without > 2 * delta  # must fail: without the test the draw alone is not private
