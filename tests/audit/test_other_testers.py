"""Testers after DP-Auditorium and DP-Sniper: each catches a loss of 1.5 epsilon, and none cries wolf.

False alarms have a chance of at most one in a million each.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import audit_others as others  # noqa: E402

DRAWS = 20_000


def counts(epsilon, *, delta=0.0):
    """A count of 0 or 1 with two-sided geometric noise; with chance delta it is told as it is."""
    rng = np.random.default_rng(8)
    sides = []
    for count in (0, 1):
        noise = rng.geometric(1 - math.exp(-epsilon), DRAWS) - rng.geometric(1 - math.exp(-epsilon), DRAWS)
        told = rng.random(DRAWS) < delta
        sides.append(np.where(told, 1000.0 + count, count + noise).astype(float))
    return others.parted(sides[0], sides[1], 1.0, delta)


@pytest.mark.parametrize("name", others.TESTERS)
def test_a_loss_of_one_and_a_half_epsilon_is_caught(name):
    assert others.bounds_of(counts(others.EXCESS))[name] > 1


@pytest.mark.parametrize("name", others.TESTERS)
def test_noise_at_its_own_epsilon_is_no_alarm(name):
    assert 0.5 < others.bounds_of(counts(1.0))[name] <= 1


def test_delta_is_allowed_for():
    bounds = others.bounds_of(counts(1.0, delta=0.05))
    assert bounds["Renyi"] is None
    assert all(bound <= 1 for bound in bounds.values() if bound is not None)
    sample = counts(1.0, delta=0.05)
    unsaid = others.Sample(sample.pilot, sample.fresh, 0.0, sample.epsilon)
    assert others.bounds_of(unsaid)["histogram"] > 1


def test_what_tells_nothing_has_no_power():
    same = np.zeros(DRAWS)
    bounds = others.bounds_of(others.parted(same, same.copy(), 1.0, 0.0))
    assert others.verdict(bounds) == "no power"
    assert {others.shown(bound) for bound in bounds.values()} == {"no power"}


def test_the_page_has_every_mechanism_with_power_and_no_violation():
    page = (ROOT / "docs" / "results" / "other-testers.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and line.count("|") == 8]
    assert {line.split("|")[1].strip() for line in rows} >= set(others.PAIRS)
    assert "FAILED" not in page
    weak = [line for line in rows if others.CAUGHT not in line and line.split("|")[1].strip() in others.PAIRS]
    assert not weak, "a mechanism whose bound stays below 2/3 would not be caught at 1.5 epsilon"


def test_the_page_is_one_whole_run_with_the_settings_of_the_tool():
    found = json.loads(others.DATA.read_text(encoding="utf-8"))
    assert found["seed"] == others.SEED
    wanted = {name: others.MORE.get(name, others.DRAWS) for name in others.PAIRS}
    assert {name: one["draws"] for name, one in found["mechanisms"].items()} == wanted
    assert others.table(found) in (ROOT / "docs" / "results" / "other-testers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("part", [("--only", "boxem"), ("--times", "2")])
def test_a_part_of_the_mechanisms_is_not_written(part, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["audit_others.py", "--write", *part])
    with pytest.raises(SystemExit):
        others.main()
    assert "one whole run" in capsys.readouterr().err


def test_a_bound_below_two_thirds_is_too_weak():
    assert others.verdict({"classifier": 0.66, "Renyi": None}) == "too weak to catch 1.5 epsilon"
    assert others.verdict({"classifier": 0.67, "Renyi": None}) == others.CAUGHT
    assert others.verdict({"classifier": 1.01, "Renyi": None}) == "FAILED"
