"""Calls end at multiples of a public interval, whatever they end with. Under a clock of our own: no test waits."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import tukeydp as td
from tukeydp import padding
from tukeydp.cli import app
from tukeydp.trusted.parameters import ParameterError

X = np.random.default_rng(0).normal(size=(60, 2))
CALLS = {
    "boxem": lambda **o: td.boxem(X, epsilon=1, bounds=(-9, 9), **o),
    "rem": lambda **o: td.rem(X, epsilon=1, delta=1e-6, **o),
    "mean": lambda **o: td.mean(X, epsilon=1, bounds=(-9, 9), **o),
    "cube": lambda **o: td.cube(X, epsilon=1, bounds=(-9, 9), **o),
    "spread": lambda **o: td.spread(X, epsilon=1, bounds=(-9, 9), **o),
    "summary": lambda **o: td.summary(X, epsilon=1, bounds=(-9, 9), confidence=None, **o),
}


class Clock:
    """Time that passes only where someone says so."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(padding, "time", clock)
    return clock


def lasting(clock, seconds, error=None):
    def job():
        clock.now += seconds
        if error is not None:
            raise error
        return "done"

    return job


@pytest.mark.parametrize(("took", "ends"), [(0.0, 2.0), (0.1, 2.0), (1.9, 2.0), (2.5, 4.0), (4.0, 4.0), (61.0, 62.0)])
@pytest.mark.parametrize("error", [None, ParameterError("x", "must be", "that"), MemoryError(), RuntimeError("any")])
def test_a_job_ends_at_a_multiple_however_it_ends(took, ends, error, clock):
    job = lasting(clock, took, error)
    if error is None:
        assert padding.paced(2, job) == "done"
    else:
        with pytest.raises(type(error)):
            padding.paced(2, job)
    assert clock.now == pytest.approx(1000.0 + ends)


def test_sleep_that_ends_early_is_taken_up_again(clock, monkeypatch):
    monkeypatch.setattr(clock, "sleep", lambda seconds: Clock.sleep(clock, seconds / 2 if seconds > 1e-6 else seconds))
    padding.paced(1, lasting(clock, 0.25))
    assert len(clock.slept) > 5
    assert clock.now >= 1001.0


def test_an_interruption_is_passed_on_at_once(clock):
    with pytest.raises(KeyboardInterrupt):
        padding.paced(5, lasting(clock, 1.0, KeyboardInterrupt()))
    assert clock.now == 1001.0


@pytest.mark.parametrize("name", CALLS)
def test_every_mechanism_is_padded_and_releases_the_same(name, clock):
    plain = CALLS[name](randomness=td.seeded(3))
    assert not clock.slept
    padded = CALLS[name](pad_to="0.5", randomness=td.seeded(3))
    assert sum(clock.slept) == 0.5
    assert plain.to_json() == padded.to_json()


@pytest.mark.parametrize("name", CALLS)
def test_what_a_mechanism_raises_is_padded_too(name, clock):
    with pytest.raises(ParameterError):
        CALLS[name](pad_to=3, randomness="dice")
    assert clock.now == 1003.0


@pytest.mark.parametrize("interval", [0, -1, "soon", float("nan"), float("inf"), 1e-9, 1e9, True, [1]])
def test_intervals_are_checked_before_anything_runs(interval):
    with pytest.raises(ParameterError, match="pad_to"):
        padding.paced(interval, lambda: pytest.fail("it ran"))


@pytest.mark.parametrize("command", ["mean", "centre", "summary --confidence=none"])
@pytest.mark.parametrize(("epsilon", "code"), [("1", 0), ("-1", 2)])
def test_the_command_line_pads_reading_and_running(command, epsilon, code, clock, tmp_path):
    file = tmp_path / "x.csv"
    np.savetxt(file, X, delimiter=",", header="a,b", comments="")
    options = ["--columns", "a,b", "--bounds=-9,9", "--seed", "1", "--pad-to", "7", "--epsilon", epsilon]
    assert CliRunner().invoke(app, [*command.split(), str(file), *options]).exit_code == code
    assert clock.now == 1007.0


def test_without_an_interval_nothing_waits(clock, tmp_path):
    assert padding.paced(None, lasting(clock, 0.3)) == "done"
    assert clock.now == 1000.3
    assert not clock.slept
