"""The depth certificate: noise with the stated tail on a number that a swap moves by 1, and a budget that adds up."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import oracle
from support.charges import charge
from tukeydp.depth.notions import AxisAligned, Directions, Exact
from tukeydp.mechanisms.certificate import depth_certificate, margin
from tukeydp.trusted import points as module
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.rows import Grid

PLANE = list(itertools.product(range(3), repeat=2))
CROSS = [(1, 0), (0, 1), (1, 1), (1, -1)]
Q, P = Fraction(21, 20), Fraction(9, 10)  # e^(epsilon_1 / 2) and e^(-epsilon_2)
FAR = 3  # how far beyond 0 ... n the noised depths are looked at: beyond, ratios no longer change


def joint_law(rows, n, p):
    """Of the point and its noised depth, up to one constant: exponential mechanism times discrete Laplace."""
    depths = [oracle.depth(rows, y, CROSS) for y in PLANE]
    points = oracle.law(depths, Q)
    return [
        probability * p ** abs(noised - depth)
        for probability, depth in zip(points, depths, strict=True)
        for noised in range(-FAR, n + FAR + 1)
    ]


def worst_loss(n, p):
    worst = Fraction(0)
    rows = [*PLANE, None]
    laws = {r: joint_law(r, n, p) for r in itertools.combinations_with_replacement(rows, n)}
    order = {row: i for i, row in enumerate(rows)}
    for rest in itertools.combinations_with_replacement(rows, n - 1):
        around = [laws[tuple(sorted((*rest, row), key=order.__getitem__))] for row in rows]
        for ours, theirs in itertools.permutations(around, 2):
            worst = max(worst, max(a / b for a, b in zip(ours, theirs, strict=True)))
    return worst


def test_point_and_certificate_together_are_private():
    """All tables of two rows on a grid of nine points, all swaps, all outcomes, in rationals."""
    worst = worst_loss(2, P)
    assert worst <= Q**2 / P
    assert worst > Q**2  # the certificate is seen to cost something
    # The control: noise for twice the epsilon.
    assert worst_loss(2, P**2) > Q**2 / P


@pytest.mark.parametrize("notion", [AxisAligned(), Directions(CROSS), Exact()], ids=["axes", "cross", "exact"])
def test_what_is_noised_is_the_depth_by_definition(notion, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "discrete_laplace", lambda scale, bits: asked.append(scale) or 0)
    along = {"AxisAligned": CROSS[:2], "Directions": CROSS}.get(type(notion).__name__)
    if along is None:  # enough for all the halfspaces that points of this grid tell apart
        along = [v for v in itertools.product(range(-6, 7), repeat=2) if math.gcd(*v) == 1]
    grid = Grid((Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), (2, 2))
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 40):
        x = rng.integers(3, size=(n, 2)).astype(float)
        x[rng.random(n) < 0.2, 0] = np.nan
        prepared = notion.prepare(grid.snap(x), grid, derived_key("public"))
        rows = [None if np.isnan(row).any() else (int(row[0]) - 1, int(row[1]) - 1) for row in x]
        for y in itertools.product((-1, 0, 1), repeat=2):
            found = depth_certificate(prepared, y, charge(Fraction(1, 3)), every=False)
            assert found.noised == oracle.depth(rows, y, along)
    assert set(asked) == {Fraction(3)}


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1/3", "1", "3", "40"])
def test_the_margin_is_the_smallest_that_five_percent_of_the_noise_exceed(epsilon):
    q = math.exp(-float(Fraction(epsilon)))
    m = margin(Fraction(epsilon))
    assert q ** (m + 1) / (1 + q) <= 0.05 * (1 + 1e-9)
    assert m == 0 or q**m / (1 + q) > 0.05 * (1 - 1e-6)


def test_the_stated_number_of_rows_is_there_95_times_in_100():
    """Of 400 releases; with six standard errors at most 46 may fail. Without a margin half of them do."""
    x = np.random.default_rng(1).normal(size=(120, 2))
    failed = halved = 0
    for seed in range(400):
        release = td.boxem(
            x, epsilon=1, bounds=(-4, 4), depth=td.AxisAligned(), certify=0.2, randomness=td.seeded(seed)
        )
        depth = int(td.tukey_depth(release.point, x, td.AxisAligned())[0])
        failed += release.certificate.rows > depth
        halved += release.certificate.noised > depth
    assert failed <= 46
    assert halved > 100


def test_the_budget_adds_up_and_the_point_is_drawn_with_the_rest():
    x = np.random.default_rng(2).normal(size=(200, 2))
    release = td.boxem(x, epsilon="0.7", bounds=(-9, 9), certify="1/3", randomness=td.seeded(1))
    assert release.guarantee == td.PureDP(Fraction(7, 10))
    parts = {"epsilon_point": Fraction(7, 15), "epsilon_certificate": Fraction(7, 30)}
    assert dict(release.settings) == parts
    assert release.certificate.epsilon == parts["epsilon_certificate"]
    alone = td.boxem(x, epsilon=Fraction(7, 15), bounds=(-9, 9), randomness=td.seeded(1))
    assert release.point.tolist() == alone.point.tolist()
    assert alone.certificate is None


def test_words_and_numbers_on_the_release():
    x = np.random.default_rng(2).normal(size=(400, 2))
    release = td.boxem(x, epsilon=2, bounds=(-9, 9), certify=0.2, randomness=td.seeded(1))
    rows = release.certificate.rows
    assert 100 < rows < 230
    sentence = f"With 95 % confidence at least {rows} rows lie on every side along the listed directions of the point."
    assert release.certificate.note == sentence
    said = json.loads(json.dumps(release.to_dict()))
    assert said["certificate"]["rows"] == rows
    assert said["certificate"]["epsilon"] == "0.4"
    exact = td.boxem(x, epsilon=2, bounds=(-9, 9), certify=0.2, depth=td.Exact(), randomness=td.seeded(1))
    assert "on every side of the point" in exact.certificate.note


def test_a_certificate_says_at_least_nothing():
    release = td.boxem([[0.0]], epsilon=1, bounds=(-1, 1), certify=0.01, randomness=td.seeded(3))
    assert release.certificate.rows == 0


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 2, "much", True, float("nan")])
def test_the_share_is_checked(wrong):
    with pytest.raises(td.ParameterError, match="certify must be"):
        td.boxem([[0.0]], epsilon=1, bounds=(-1, 1), certify=wrong)


def test_no_certificate_without_a_proof():
    with pytest.raises(td.ParameterError, match="certify must be left out with unproven"):
        td.boxem([[0.0, 1.0]] * 9, epsilon=1, bounds=(-1, 1), certify=0.1, unproven="mcmc")
