"""The mechanisms by the names they have on the command line: what each estimates, needs and takes.

A new mechanism is one entry here; the command line's checks and help texts follow from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial, wraps
from typing import Any

from tukeydp import baselines
from tukeydp.mechanisms.boxem import boxem
from tukeydp.mechanisms.cube import cube
from tukeydp.mechanisms.mean import mean
from tukeydp.mechanisms.readable_check import checked
from tukeydp.mechanisms.rem import rem
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.parameters import ParameterError, brief


@dataclass(frozen=True)
class Mechanism:
    """A function, what it estimates ("mean" or "centre"), the options it cannot do without, and those it also takes.

    `about` says in a few words how it works; `without_bounds` is what runs in its place where none are given.
    """

    run: Callable[..., Release | Refused]
    estimand: str
    about: str
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    without_bounds: Mechanism | None = None

    @property
    def checked(self) -> Callable[..., Release | Refused]:
        """The function with the parameter `check`, its own or that of the check around it."""
        return self.run if "check" in inspect.signature(self.run).parameters else checked()(self.run)

    @property
    def options(self) -> tuple[str, ...]:
        """Every option it may be given."""
        return self.needs + self.takes + (self.without_bounds.options if self.without_bounds else ())


@wraps(baselines.coinpress)
def _coinpress(x: Any, *, sd: Any, **options: Any) -> Release:
    return baselines.coinpress(x, deviation=sd, **options)


@wraps(cube)
def _cube(x: Any, *, fill: Any = None, confidence: Any = None, joint: bool = False, **options: Any) -> Release:
    """A public fill value, or an interval: which says that few cells are missing."""
    if confidence is None and not joint:
        return cube(x, fill=fill, **options)
    if fill is not None:
        raise ParameterError("fill", "must be left out with confidence", brief(fill))
    outcome = mean(x, mechanism="cube", confidence=confidence, joint=joint, **options)
    assert isinstance(outcome, Release)
    return outcome


_SIZE = ("neighbours", "rows")
_BY_DEPTH = ("depth", "resolution", "unproven", *_SIZE)
_NOISED = ("bounds", "delta")
_FILLED = ("fill",)
_INTERVAL = ("confidence", "joint")
# What an option looks like, for whoever left it out.
_SHAPES = {
    "bounds": ": what is known of the columns without looking, --bounds age=0,120 or --dictionary FILE",
    "delta": ": much smaller than 1 / rows, --delta 1e-6",
    "sd": ": standard deviations known without the data, --sd age=15",
}

MECHANISMS: dict[str, Mechanism] = {
    "auto": Mechanism(
        mean,
        "mean",
        "subset, two-step or cube, whichever should come closest",
        ("bounds",),
        ("blocks", "partitions", "sd", *_INTERVAL, *_SIZE),
        without_bounds=Mechanism(
            mean, "mean", "rem on means of blocks of rows", ("delta",), ("blocks", "sd", *_INTERVAL, *_SIZE)
        ),
    ),
    "subset": Mechanism(
        partial(mean, mechanism="subset"),
        "mean",
        "depth of subset means",
        ("bounds",),
        ("blocks", "partitions", "sd", *_INTERVAL, *_SIZE),
    ),
    "two-step": Mechanism(
        partial(mean, mechanism="two-step"),
        "mean",
        "how spread the columns are, then a mean taken where they are",
        ("bounds",),
        ("sd", *_INTERVAL),
    ),
    "cube": Mechanism(_cube, "mean", "a mean clipped at the bounds", ("bounds",), (*_FILLED, *_INTERVAL, *_SIZE)),
    "gaussian": Mechanism(baselines.gaussian, "mean", "a clipped mean with classical Gaussian noise", _NOISED, _FILLED),
    "analytic-gaussian": Mechanism(
        baselines.analytic_gaussian, "mean", "a clipped mean with the least Gaussian noise", _NOISED, _FILLED
    ),
    "coinpress": Mechanism(_coinpress, "mean", "clipped means in ever smaller balls", (*_NOISED, "sd"), _FILLED),
    "huang-liang-yi": Mechanism(
        baselines.huang_liang_yi, "mean", "a mean clipped to a privately found ball", _NOISED, _FILLED
    ),
    "plan": Mechanism(
        baselines.plan, "mean", "a clipped mean with noise that fits each column's spread", _NOISED, _FILLED
    ),
    "boxem": Mechanism(
        boxem, "centre", "the exponential mechanism over depth between bounds", ("bounds",), (*_BY_DEPTH, "certify")
    ),
    "rem": Mechanism(
        rem, "centre", "a deep point without bounds, or a refusal", ("delta",), (*_BY_DEPTH, "threshold", "test")
    ),
}


def mechanisms_for(estimand: str) -> dict[str, Mechanism]:
    return {name: mechanism for name, mechanism in MECHANISMS.items() if mechanism.estimand == estimand}


def takers(option: str, estimand: str) -> list[str]:
    """Names of the mechanisms for this estimand that take or need an option."""
    return [name for name, mechanism in mechanisms_for(estimand).items() if option in mechanism.options]


def mechanism_named(name: str, estimand: str) -> Mechanism:
    among = mechanisms_for(estimand)
    if name in among:
        return among[name]
    hint = ""
    if name in MECHANISMS:
        other = MECHANISMS[name].estimand
        hint = f", which is for a {other}: tukeydp {other} --mechanism {name}"
    elif close := get_close_matches(name, among, n=1):
        hint = f" (did you mean {close[0]}?)"
    raise ParameterError("mechanism", f"must be one of {', '.join(among)}", brief(name) + hint)


def chosen(name: str, estimand: str, given: Mapping[str, Any]) -> tuple[Mechanism, dict[str, Any]]:
    """What to run, and the options that were given (not None), once it is clear that it takes them and lacks none."""
    mechanism = mechanism_named(name, estimand)
    present = {option: value for option, value in given.items() if value is not None}
    if mechanism.without_bounds is not None:
        mechanism = _by_bounds(mechanism, mechanism.without_bounds, present)
    for option in mechanism.needs:
        if option not in present:
            others = [other for other, m in mechanisms_for(estimand).items() if option not in m.needs]
            hint = f" ({_listed(others)} can do without)" if others else ""
            rule = f"must be given with --mechanism {name}{_SHAPES.get(option, '')}"
            raise ParameterError(option, rule, "none" + hint)
    for option in present:
        if option not in mechanism.options:
            hint = f" (it is for {_listed(takers(option, estimand))})"
            where = "without bounds" if option in MECHANISMS[name].options else f"with --mechanism {name}"
            raise ParameterError(option, f"must be left out {where}", brief(present[option]) + hint)
    return mechanism, present


def _by_bounds(mechanism: Mechanism, without: Mechanism, present: Mapping[str, Any]) -> Mechanism:
    if "bounds" not in present and "delta" not in present:
        rule = (
            "must be given: what is known of the columns without looking (--bounds age=0,120), --bounds auto to have "
            "them found for a part of epsilon, or --delta instead"
        )
        raise ParameterError("bounds", rule, "neither")
    if "bounds" in present and "delta" in present:
        rule = "must be left out where bounds are given: the result then needs no delta"
        raise ParameterError("delta", rule, brief(present["delta"]))
    return mechanism if "bounds" in present else without


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
