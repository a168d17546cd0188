"""A budget for several releases: exact, spent before the data are touched, never exceeded."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from tukeydp.accounts.budget import Budget, Remaining, Totals, checked_budget, offered
from tukeydp.accounts.entries import Entry
from tukeydp.accounts.ledger import Decide, Ledger, open_ledger
from tukeydp.trusted.account import ApproxDP, Concentrated, Guarantee, PureDP, delta_of
from tukeydp.trusted.parameters import (
    BudgetExceeded,
    ParameterError,
    brief,
    checked_integer,
    positive_rational,
    rational,
    show,
)
from tukeydp.trusted.threads import ForkLock

_SECOND_BUDGET = (
    "an accountant in memory cannot be saved or sent to another process: its copy would be a second budget. "
    'Keep it in a file, which processes share: td.Accountant.open("study.db", epsilon=...)'
)


class Store(Protocol):
    """Where entries are kept. `append` decides and writes in one transaction, one thread and process at a time."""

    def append(self, decide: Decide) -> Entry: ...

    def totals(self) -> Totals: ...

    def entries(self) -> tuple[Entry, ...]: ...


class Accountant:
    """Keeps the cost of all releases together within a budget that is fixed beforehand.

    Parameters
    ----------
    epsilon, delta
        The budget for everything. A float means its shortest decimal: 0.1 is 1/10.
    conversion
        Which part of delta pays for the conversion of zCDP, by which many small releases cost less than their sum. The
        rest is for the deltas that releases have themselves (`td.rem`, Gaussian noise). 0: plain sums only. None: 9/10
        of delta if the first release has no delta of its own, nothing if it has. It cannot be left to later
        results (docs/proofs/composition.md, section 6).
    neighbours
        "swap", or "swap-person" for releases with `person=`. Guarantees under other neighbours are refused.

    Privacy
    -------
    All releases that were paid for are together (epsilon, delta)-DP, also when later ones, their epsilons
    included, were chosen by earlier results. How much was spent at a moment that results have chosen is not a guarantee
    by itself: the budget is. What is spent is never given back: a refusal, an error or an interruption has cost as
    much as a release.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(500, 2))
    >>> budget = td.Accountant(epsilon=1)
    >>> release = td.boxem(x, epsilon="0.7", bounds=(-10, 10), accountant=budget)
    >>> str(budget.remaining().epsilon), budget.check("0.3"), budget.check("0.31")
    ('3/10', True, False)
    >>> td.mean(x, epsilon=1, bounds=(-10, 10), accountant=budget)
    Traceback (most recent call last):
        ...
    tukeydp.trusted.parameters.BudgetExceeded: epsilon must be at most 0.3, what the accountant has left; got 1.

    With a delta, many small releases cost less than their sum:

    >>> budget = td.Accountant(epsilon=1, delta="1e-6")
    >>> for _ in range(18):
    ...     release = td.boxem(x, epsilon="0.1", bounds=(-10, 10), accountant=budget)
    """

    def __init__(self, epsilon: Any, delta: Any = 0, *, conversion: Any = None, neighbours: str = "swap") -> None:
        self._begin(checked_budget(epsilon, delta, conversion, neighbours), _Memory())

    def _begin(self, budget: Budget, store: Store) -> None:
        self._budget, self._store = budget, store
        self._closed = False

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        epsilon: Any = None,
        delta: Any = 0,
        *,
        conversion: Any = None,
        neighbours: str = "swap",
    ) -> Accountant:
        """An accountant that is kept in a file: with `epsilon` it is made, without it is opened again.

        Several processes may share it; each release is one transaction. Given a budget for a file that has one
        already, the two must agree.
        """
        wanted = None if epsilon is None else checked_budget(epsilon, delta, conversion, neighbours)
        if wanted is None and (delta, conversion) != (0, None):
            raise ParameterError("epsilon", "must be given with delta or conversion", "none")
        ledger = open_ledger(Path(path), wanted)
        opened = cls.__new__(cls)
        opened._begin(ledger.budget, ledger)
        return opened

    @property
    def epsilon(self) -> Fraction:
        """The budget's epsilon, for all releases together."""
        return self._budget.epsilon

    @property
    def delta(self) -> Fraction:
        """The budget's delta, for all releases together."""
        return self._budget.delta

    @property
    def budget(self) -> Budget:
        return self._budget

    @property
    def totals(self) -> Totals:
        """Exact sums over all that was spent."""
        return self._store.totals()

    @property
    def history(self) -> tuple[Entry, ...]:
        """Everything that was spent, in order; nothing is ever taken back."""
        return self._store.entries()

    def remaining(self) -> Remaining:
        """What one more release may cost: any pure one of this epsilon still fits, and deltas up to this one."""
        return self._budget.remaining(self.totals)

    def check(self, guarantee: Any, delta: Any = 0) -> bool:
        """Whether a guarantee, or an epsilon and delta, would still fit; spends nothing."""
        return self._fits(self.totals, _as_guarantee(guarantee, delta))

    def require(self, guarantee: Any, delta: Any = 0) -> None:
        """Raise `BudgetExceeded` unless it would still fit; spends nothing."""
        self._require(self.totals, _as_guarantee(guarantee, delta))

    def spend(
        self,
        guarantee: Any,
        delta: Any = 0,
        *,
        mechanism: str | None = None,
        seeded: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Spend a guarantee, or an epsilon and delta; `BudgetExceeded`, and nothing spent, if it does not fit.

        Mechanisms call this when given `accountant=`. Call it yourself for releases that something else makes.
        """
        cost = _as_guarantee(guarantee, delta)

        def decide(totals: Totals) -> Entry:
            self._require(totals, cost)
            return Entry(totals.count + 1, cost, mechanism, seeded, dict(parameters or {}))

        return self._store.append(decide)

    def split(self, parts: int) -> list[Accountant]:
        """Divide what the plain sum leaves into equal parts, each an accountant of its own; all is spent here at once.

        For work that is shared out: whatever happens in one part, the others keep theirs. Parts live in memory.
        """
        count = checked_integer("parts", parts, least=1)

        def decide(totals: Totals) -> Entry:
            left = self._budget.plain_left(totals)
            if left.epsilon <= 0:
                raise BudgetExceeded("parts", "must be of something: the plain sum leaves nothing", count)
            # All parts in one entry: a process that dies half way has not spent half of them.
            zcdp = Concentrated(left.epsilon**2 / (2 * count), left.delta)
            shared: dict[str, Any] = {"neighbours": self._budget.neighbours, "zcdp": zcdp}
            whole = ApproxDP(*left, **shared) if left.delta else PureDP(left.epsilon, **shared)
            self._require(totals, whole)
            return Entry(totals.count + 1, whole, "split", parameters={"parts": count})

        whole = self._store.append(decide).guarantee
        each = whole.epsilon / count, delta_of(whole) / count
        return [Accountant(*each, neighbours=self._budget.neighbours) for _ in range(count)]

    def _fits(self, totals: Totals, cost: Guarantee) -> bool:
        if cost.neighbours != self._budget.neighbours:
            rule = f"must be {self._budget.neighbours!r}, as for the accountant: guarantees under others do not add up"
            raise ParameterError("neighbours", rule, repr(cost.neighbours))
        return self._budget.admits(totals.plus(cost))

    def _require(self, totals: Totals, cost: Guarantee) -> None:
        if self._closed:
            raise ParameterError("accountant", "must be open", "one that was closed")
        if self._fits(totals, cost):
            return
        left, after = self._budget.remaining(totals), self._budget.limits(totals.plus(cost))
        if cost.zcdp.delta > left.delta or (delta_of(cost) > left.delta and not after.conversion):
            rule = f"must be at most {show(left.delta)}, what the accountant has left for releases with a delta"
            if after.conversion:
                rule += " (the rest of its delta pays for adding up by zCDP; conversion=0 would leave all to releases)"
            raise BudgetExceeded("delta", rule, show(delta_of(cost)))
        if cost.epsilon <= left.epsilon:  # so it is Gaussian noise, beside releases that are added up by zCDP
            rule = f"must be at most {_shown(offered(after.rho - totals.rho))}, what the accountant has left for zCDP"
            raise BudgetExceeded("rho", rule, _shown(cost.zcdp.rho))
        rule = f"must be at most {_shown(left.epsilon)}, what the accountant has left"
        raise BudgetExceeded("epsilon", rule, show(cost.epsilon))

    def close(self) -> None:
        """Nothing can be spent any more; what was spent can still be read."""
        self._closed = True

    def __enter__(self) -> Accountant:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __copy__(self) -> Accountant:
        # A copy would be a second budget. What copies its parameters (scikit-learn's `clone`) shares this one.
        return self

    def __deepcopy__(self, memo: Any) -> Accountant:
        return copy.copy(self)

    def __reduce__(self) -> Any:
        if isinstance(self._store, Ledger):
            return _opened_again, (type(self), self._store, self._closed)
        raise TypeError(_SECOND_BUDGET)

    def __repr__(self) -> str:
        left = self.remaining()
        budget = f"epsilon={show(self.epsilon)}, delta={show(self.delta)}"
        return f"Accountant({budget}, left: epsilon={_shown(left.epsilon)}, delta={show(left.delta)})"


def _opened_again(kind: type[Accountant], ledger: Ledger, closed: bool) -> Accountant:
    """From a pickle: the same file, not another in its place; one that was closed stays closed."""
    account = kind.__new__(kind)
    account._begin(ledger.budget, open_ledger(ledger.path, None, seen=ledger))
    account._closed = closed
    return account


# Held while an account in memory decides and notes: threads must not find the same room.
_LOCK = ForkLock()


class _Memory:
    """Entries of one process. A forked child has a copy that its parent would not hear of: it may not spend."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._totals = Totals()
        self._process = os.getpid()

    def append(self, decide: Decide) -> Entry:
        if os.getpid() != self._process:
            rule = "must be made by td.Accountant.open to be shared by processes"
            raise ParameterError("accountant", rule, "one in memory, of another process")
        with _LOCK.lock:
            entry = decide(self._totals)
            # An interruption leaves both or neither: an entry counts once the sums have it.
            self._entries[self._totals.count :] = [entry]
            self._totals = self._totals.plus(entry.guarantee)
        return entry

    def totals(self) -> Totals:
        return self._totals

    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries[: self._totals.count])


def _as_guarantee(value: Any, delta: Any = 0) -> Guarantee:
    if isinstance(value, PureDP | ApproxDP):
        if delta != 0:
            raise ParameterError("delta", "must be left out where a guarantee is given", brief(delta))
        return value
    epsilon, chance = positive_rational("epsilon", value), rational("delta", delta)
    return ApproxDP(epsilon, chance) if chance else PureDP(epsilon)


def _shown(number: Fraction) -> str:
    """Nine digits, rounded down, where all of them would be too many: what is left has them in `remaining`."""
    short = show(number)
    if len(short) <= 20:
        return short
    return f"{math.floor(number * 10**9) / 10**9:.9f}".rstrip("0")
