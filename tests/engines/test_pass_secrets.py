"""What a mean in passes spends and which keys it uses, read off the run itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import tukeydp as td
from support.charges import charge
from support.listening import listen, listen_to_draws
from tukeydp.data.engines import polars_frames
from tukeydp.data.lazy_tables import LazyTable
from tukeydp.mechanisms import passes as pass_draws
from tukeydp.mechanisms.passes import drawn_in_passes, pass_plan
from tukeydp.trusted import block_steps
from tukeydp.trusted import sums as batches
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SpreadPass, SpreadPlan
from tukeydp.trusted.rows import bounded_columns

WAYS = {
    "subset": {"mechanism": "subset", "blocks": 20, "partitions": 3},
    "two-step": {"mechanism": "two-step"},
    "two-step, known sd": {"mechanism": "two-step", "sd": 1},
    "cube": {"mechanism": "cube"},
}
COLUMNS = bounded_columns(1, (-10, 10))


def rows(n=300):
    x = np.random.default_rng(0).normal(size=(n, 1))
    x[::5] = np.nan
    return x


@pytest.fixture
def opened(monkeypatch):
    """Every (key, lane) that is read from, in turn. Pieces of 100 rows, so that there are three."""
    monkeypatch.setattr(batches, "PIECE", 100)
    return listen(monkeypatch)


def drawn_with(way, opened, public="public", secret="secret"):
    opened.clear()
    x = rows()
    table = LazyTable(len(x), ("a",), "memory", lambda one: one.of([x]))
    keys = derived_key(public), derived_key(secret)
    if way == "spread":
        plan = SpreadPlan(40, drawn=True)
        halves = SpreadPass(plan, COLUMNS, charge(1, keys[1]))
        halves.draw(table.total(halves.sums)[0], keys[0])
    else:
        plan = pass_plan(len(x), COLUMNS, Fraction(1), **WAYS[way])
        drawn_in_passes(plan, table, COLUMNS, keys[0], charge(1, keys[1]))
    return list(opened)


@pytest.mark.parametrize("way", [*WAYS, "spread"])
def test_no_lane_of_a_key_is_read_twice(way, opened):
    """Pieces, dealings, coins or steps that share bits would not be independent."""
    lanes = drawn_with(way, opened)
    assert len(lanes) == len(set(lanes))
    assert lanes


# Secret keys: three pieces of each dealing, coins and draw; for two steps radii, shares and noise. Then public ones.
SECRET_STEPS = {
    "subset": (3 * 3 + 2, 1),
    "two-step": (3 + 2 + 3 + 2 + 3, 2),
    "two-step, known sd": (3 + 2 + 3, 1),
    "cube": (2, 0),
    "spread": (3 + 2, 1),
}


@pytest.mark.parametrize("way", SECRET_STEPS)
def test_every_step_has_its_own_key_and_none_from_the_public_one(way, opened):
    keys, other_public, other_secret = (
        {key for key, _ in drawn_with(way, opened, *names)}
        for names in (("public", "secret"), ("another", "secret"), ("public", "another"))
    )
    secret, public = keys & other_public, keys & other_secret
    assert (len(secret), len(public)) == SECRET_STEPS[way]
    assert keys == secret | public


@pytest.mark.parametrize("way", [*WAYS, "spread", "aggregate"])
def test_two_releases_have_no_key_in_common(way, opened):
    frame, releases = pl.LazyFrame({"a": rows()[:, 0]}), []
    for _ in range(2):
        opened.clear()
        if way == "spread":
            td.spread(frame, epsilon=1, bounds=(-10, 10))
        elif way == "aggregate":
            td.aggregate(frame, "mean", blocks=20, partitions=2, epsilon=1, bounds=(-10, 10))
        else:
            td.mean(frame, epsilon=1, bounds=(-10, 10), **WAYS[way])
        releases.append({key for key, _ in opened})
    assert releases[0]
    assert not releases[0] & releases[1]


@pytest.fixture
def spent(monkeypatch):
    return listen_to_draws(monkeypatch, pass_draws, "radii_of_counts")


@pytest.mark.parametrize("way", WAYS)
def test_every_step_has_its_own_key_and_epsilon(way, spent, opened):
    """Keys: no lane is read twice. Epsilons: those of the plan, and all together the guarantee."""
    release = td.mean(pl.LazyFrame({"a": rows()[:, 0]}), epsilon=1, bounds=(-10, 10), **WAYS[way])
    assert len(opened) == len(set(opened))
    dealings = release.settings["partitions"] if way == "subset" else 1
    assert sum(epsilon * (dealings if what == "means" else 1) for what, epsilon in spent) == 1
    assert len(spent) == {"subset": 1, "two-step": 5, "two-step, known sd": 4, "cube": 2}[way]
    names = ("epsilon_centre", "epsilon_spread", "epsilon_radii", "epsilon_missing", "epsilon_mean")
    if way.startswith("two-step"):
        assert sorted(epsilon for _, epsilon in spent) == sorted(
            release.settings[name] for name in names if name in release.settings
        )


def test_halves_of_a_block_are_drawn_together():
    """A swapped row changes one block's difference: numbers 2b and 2b + 1 are the halves of block b."""
    plan = SpreadPlan(16, drawn=True)
    tables = []

    def kept(dealt, *rest):
        tables.append(dealt)
        return lambda key: np.zeros(1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_steps, "octave_draws", kept)
        for value in (0.0, 9.0):
            x = rows()
            x[17] = value
            halves = SpreadPass(plan, COLUMNS, charge(1, derived_key("halves")))
            table = LazyTable(len(x), ("a",), "memory", lambda one, x=x: one.of([x]))
            halves.draw(table.total(halves.sums)[0], b"")
    changed = [a.tobytes() != b.tobytes() for a, b in zip(*tables, strict=True)]
    assert len(changed) == 16
    assert changed.count(True) == 1


def test_seeded_releases_do_not_depend_on_how_an_engine_cuts_its_batches(monkeypatch):
    frame = pl.LazyFrame({"a": rows()[:, 0]})
    points = []
    for batch in (7, 2**18):
        monkeypatch.setattr(polars_frames, "BATCH", batch)
        points.append(td.mean(frame, epsilon=1, bounds=(-10, 10), blocks=20, randomness=td.seeded(1)).point.tobytes())
    assert points[0] == points[1]
