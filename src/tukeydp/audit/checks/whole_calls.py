"""Replay: public calls on a table, every secret draw recorded, and on a neighbour with the same keys and forced draws.

What moved is added up, draw by draw, and must stay within the epsilon, delta and rho that the release states and an
accountant was charged. Given what was drawn, everything else must be the same: steps, what is public of each, the
dealing of rows, and every field of the result, the released point included. Keys are fresh, secret, and used once.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import types
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np

from tukeydp.audit import replay as excess
from tukeydp.audit import replay as laws
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.replay import CALLS, Diverged, Draw, Family, Loss, Neighbour, Recorder, Recording, Whole, recording
from tukeydp.mechanisms.readable_check import CHECK as STOPPED
from tukeydp.trusted.account import ApproxDP

_ROUNDING = 1e-9  # of laws in floats
_LEAST = Fraction(1, 10**9)  # an epsilon of which all is spent already


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    for place, (name, whole) in enumerate(CALLS.items()):
        for i, family in enumerate(whole.families(np.random.default_rng(effort.seed + place))):
            if family.quick or not effort.quick:
                examine(name, whole, family, effort.seed + i, tally)
    return tally.result()


def examine(name: str, whole: Whole, family: Family, seed: int, tally: Tally) -> None:
    """One call on one table and its neighbours: what it costs, over what it states, and what else tells them apart."""
    failed = functools.partial(_failed, tally, f"{name}, {family.name}")
    tally.saw(datasets=1 + len(family.neighbours), pairs=len(family.neighbours))
    with recording(seed) as recorder:
        try:
            ours = recorder.run(lambda account: whole.call(family.x, account))
        except Diverged:
            return failed("noise is used for something else than to be added to an exact number, once")
        for words in (*_of_keys(ours), *_of_payment(ours, whole)):
            failed(words)
        worst: list[Loss] = []
        for neighbour in family.neighbours:
            here = functools.partial(_failed, tally, f"{name}, {family.name}, {neighbour.name}")
            losses = _replay(recorder, whole, ours, neighbour, tally, here)
            worst = [a.or_more(b) for a, b in zip_longest(worst, losses, fillvalue=Loss())]
    if family.in_steps:
        _compare(ours, sum(worst, Loss()), tally)
    return None


def _replay(
    recorder: Recorder, whole: Whole, ours: Recording, neighbour: Neighbour, tally: Tally, failed: Any
) -> list[Loss]:
    """What each draw may lose to this neighbour."""
    try:
        theirs = recorder.run(lambda account: whole.call(neighbour.y, account), ours, neighbour.removed)
    except Diverged:
        failed("other draws are made")
        return []
    except Exception as error:
        failed(f"it raises {type(error).__name__}, which the table itself does not")
        return []
    for words in _told_apart(ours, theirs):
        failed(words)
    return _cost(ours, theirs, tally, failed)


def _failed(tally: Tally, where: str, words: str) -> None:
    tally.require(False, f"{where}: {words}")


def _told_apart(ours: Recording, theirs: Recording) -> Iterable[str]:
    """What differs although it was not drawn, or was drawn alike."""
    if len(ours.draws) != len(theirs.draws):
        yield "fewer draws are made"
    for mine, yours in zip(ours.draws, theirs.draws, strict=False):
        if mine.public != yours.public:
            yield f"what is public of a draw ({mine.kind}) depends on the data"
        if mine.key != yours.key:
            yield f"the key of a draw ({mine.kind}) depends on the data"
        if isinstance(mine.law, laws.NoiseLaw) and None in (*mine.law.centres, *yours.law.centres):
            yield "noise is drawn and not used"
    # Sorted: threads may open theirs in any order.
    ours_opened, theirs_opened = (sorted(key for key, public in run.opened if not public) for run in (ours, theirs))
    if ours_opened != theirs_opened:
        yield "secret dealings and coins, or their keys, depend on the data"
    if [charged for charged, _ in ours.charged] != [charged for charged, _ in theirs.charged]:
        yield "what is charged depends on the data"
    for field in _different(told(ours.outcome), told(theirs.outcome)):
        yield f"the result tells two tables apart that all draws came out alike for: {field}"


def _of_keys(run: Recording) -> Iterable[str]:
    """Every secret has a key of its own, from the source, and none that anything public hangs on."""
    secret = [key for key, public in run.opened if not public]
    used = secret + [draw.key for draw in run.draws if draw.kind == "depth" and draw.key is not None]
    if any(draw.key is None for draw in run.draws):
        yield "a draw has a key from nowhere"
    if len(set(used)) < len(used):
        yield "two secrets have one key"
    published = {origin for key, public in run.opened if public for origin in run.origins(key)}
    for key in {*used, *(draw.key for draw in run.draws if draw.key is not None)}:
        if not run.origins(key):
            yield "a secret has a key that is known beforehand"
        elif run.origins(key) <= published:
            yield "a secret has a key that public directions hang on"


def _of_payment(run: Recording, whole: Whole) -> Iterable[str]:
    """One charge, of what is stated, before anything secret is drawn."""
    stated = run.outcome.guarantee
    if (stated.epsilon, stated.neighbours) != (whole.epsilon, whole.neighbours) and run.outcome.mechanism != STOPPED:
        yield "the release states another epsilon than was asked for, or other neighbours"
    if whole.charged and [charged for charged, _ in run.charged] != [stated]:
        yield "what is charged is not what the release states"
    if whole.charged and any(charged.zcdp != stated.zcdp for charged, _ in run.charged):
        yield "what is charged is not what the release states, as concentrated differential privacy"
    if any(drawn for _, drawn in run.charged):
        yield "something secret is drawn before it is paid for"


def _cost(ours: Recording, theirs: Recording, tally: Tally, failed: Any) -> list[Loss]:
    """What each draw may lose, and all of them together over what is stated: for epsilon, rho and delta."""
    stated, losses = ours.outcome.guarantee, []
    pairs = list(zip(_released(ours), _released(theirs), strict=False))
    for mine, yours in pairs:
        if mine.public != yours.public or not _added(mine, yours):
            return []  # told already; two laws of unlike kind have no ratio
        loss, exact = mine.law.loss(yours.law), mine.law.exact(yours.law)
        losses.append(loss if not _after_a_coin(mine) else Loss())
        if exact is not None and exact > float(loss.pure) + _ROUNDING:
            failed(f"a draw ({mine.kind}) tells more than its sensitivity allows")
    total = sum(losses, Loss())
    _compare(ours, total, tally)
    if isinstance(stated, ApproxDP):
        tally.found(_excess(pairs, total, stated, failed) / float(stated.delta))
    elif total.squares or _tests(ours):
        failed("a draw that needs a delta has none")
    return losses


def _compare(run: Recording, total: Loss, tally: Tally) -> None:
    """With what is stated: epsilon, and rho where no test with a law of its own is among the draws."""
    stated = run.outcome.guarantee
    tally.found(float(total.pure / stated.epsilon))
    if not _tests(run):
        tally.found(float(total.rho / stated.zcdp.rho))


def _tests(run: Recording) -> bool:
    return any(draw.kind in ("coin", "estimated depth") for draw in run.draws)


def _released(run: Recording) -> list[Draw]:
    """A stop throws the release away unread: what it shows is the count that stopped it, drawn last."""
    return run.draws[-1:] if run.outcome.mechanism == STOPPED else run.draws


def _added(mine: Draw, yours: Draw) -> bool:
    return not isinstance(mine.law, laws.NoiseLaw) or None not in (*mine.law.centres, *yours.law.centres)


def _after_a_coin(draw: Draw) -> bool:
    return isinstance(draw.law, laws.DepthLaw) and draw.law.lowest > 0


def _excess(pairs: list[tuple[Draw, Draw]], total: Loss, stated: ApproxDP, failed: Any) -> float:
    """delta at what the draws of pure privacy leave of epsilon."""
    rest = stated.epsilon - total.pure
    found = excess.of_gaussian(total.squares, float(rest))
    for i, (mine, yours) in enumerate(pairs):
        if mine.kind == "coin":
            after = pairs[i + 1] if i + 1 < len(pairs) else None
            found += _of_a_test((mine.law, yours.law), after, ApproxDP(max(rest, _LEAST), stated.delta), failed)
        elif mine.kind == "estimated depth" and (not i or pairs[i - 1][0].kind != "coin"):
            found += max(excess.of_listed(mine.law, yours.law, float(rest)))
    if _of_tests(pairs) > rest:
        failed("tests of several groups, and the draws after them, spend more than there is")
    return found


def _of_tests(pairs: list[tuple[Draw, Draw]]) -> Fraction:
    """What all tests whose draws a neighbour changes cost together: each by itself may cost no more than is stated."""
    spent = Fraction(0)
    for (coin, _), (mine, yours) in itertools.pairwise(pairs):
        if coin.kind == "coin" and _after_a_coin(mine):
            spent += _steps(coin.law.plan, mine.law, yours.law) * coin.law.plan.epsilon
    return spent


def _of_a_test(coins: Any, after: tuple[Draw, Draw] | None, rest: ApproxDP, failed: Any) -> float:
    """A coin, and the draw after it where it came up heads."""
    epsilon = float(rest.epsilon)
    if after is None or not (_after_a_coin(after[0]) or after[0].kind == "estimated depth"):
        return max(excess.after_a_coin(coins, (np.ones(1), np.ones(1)), epsilon))
    mine, yours = after[0].law, after[1].law
    if isinstance(mine, laws.ListedLaw):
        return max(excess.after_a_coin(coins, (mine.chances, yours.chances), epsilon))
    for words in _of_a_plan(coins[0].plan, mine, yours, rest):
        failed(words)
    found = excess.of_a_test(coins, (mine, yours), epsilon)
    if found is None:
        failed("the draw after a test has too many points to list: give it a coarser grid")
        return 0.0
    return max(found)


def _steps(plan: Any, mine: Any, yours: Any) -> int:
    """From table to table, each a swap, or a row more or less."""
    gone, come = mine.changed(yours)
    return gone + come if plan.neighbours == "add-remove" else max(gone, come)


def _of_a_plan(plan: Any, mine: Any, yours: Any, rest: ApproxDP) -> Iterable[str]:
    """REM's theorem holds for one step from table to table; several are a group, in which epsilons add up."""
    steps = _steps(plan, mine, yours)
    if mine.loss(yours).pure > steps * plan.release:
        yield "the draw after a test tells more than its part of epsilon"
    if steps * plan.epsilon > rest.epsilon:
        yield "a test and the draw after it spend more than there is"
    if excess.of_a_group(plan.delta, plan.epsilon, steps) > float(rest.delta) * (1 + _ROUNDING):
        yield "a test has a larger delta than is stated"


def told(value: Any, known: frozenset[int] = frozenset()) -> Any:
    """All that a result holds, through fields, plans and functions that are still to be computed, as plain values."""
    if id(value) in known:
        return "..."
    inner = functools.partial(told, known=known | {id(value)})
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: inner(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {**fields, "caveats": list(getattr(value, "caveats", ())), "kind": type(value).__name__}
    if isinstance(value, Mapping):
        return {str(key): inner(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [inner(one) for one in value]
    if isinstance(value, functools.partial):
        return [inner(value.func), inner(value.args), inner(value.keywords)]
    if isinstance(value, types.FunctionType):
        cells = [inner(cell.cell_contents) for cell in value.__closure__ or ()]
        return [value.__module__, value.__qualname__, cells, inner(value.__defaults__ or ())]
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        return {name: inner(one) for name, one in vars(value).items()}
    return repr(value)


def _different(ours: Any, theirs: Any, where: str = "") -> list[str]:
    """Names of the fields that differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [found for name in ours for found in _different(ours[name], theirs[name], f"{where}.{name}".lstrip("."))]
    return [] if ours == theirs else [where or "all of it"]


CHECK = Check(
    name="whole calls: replay",
    claim="Public calls on neighbouring tables, with the same keys and forced draws, take the same steps and give the "
    "same result; what moved in all draws together is at most what the release states, and no key is used twice or "
    "known beforehand.",
    measure="epsilon, delta or rho of all draws together, over what is stated",
    run=run,
)
