"""Any statistic of a table: computed on blocks of a random partition, released by depth (docs/proofs/aggregate.md)."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import logging
import os
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import Keys, Wanted, checked_keys, require_by, require_one_each, set_apart
from tukeydp.data.lazy_tables import is_lazy, lazy_table
from tukeydp.data.persons import NOBODY, group_of_each, person_numbers
from tukeydp.data.relation import checked_relation, require_columns_without_rows
from tukeydp.data.row_blocks import Rows, gives_floats, rows_of
from tukeydp.data.tables import Source, Table
from tukeydp.depth.notions import Notion
from tukeydp.mechanisms.block_release import BlockRelease, checked_partitions, guarantee_for
from tukeydp.mechanisms.passes import refuse_in_passes, require_sums
from tukeydp.mechanisms.per_person import OfPersons
from tukeydp.mechanisms.readable_check import WARNING, asked, least_cost_with_check, with_check
from tukeydp.padding import padded
from tukeydp.results.grouped_release import GroupedRelease, by_group
from tukeydp.results.release import Refused, Release
from tukeydp.spending import require_room
from tukeydp.trusted.bits import Keystream, source
from tukeydp.trusted.block_steps import BlockSums
from tukeydp.trusted.blocks import dealt_rows, drawn_blocks, secret_order
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, brief, checked_integer
from tukeydp.trusted.release import Run, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns, bounded_columns

# What a caller's function says while it runs on rows is thrown away: prints, warnings, log records.
#
# Whatever it writes would be a second output that nobody accounts for. What one process cannot prevent, such as a
# function that writes to a file or keeps a list of its own, is listed in docs/proofs/aggregate.md, section 5.


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Standard output and error lead nowhere, by Python's streams and by their descriptors; so do warnings and logs.

    NumPy's and Python's global generators are put back afterwards, and so is everything else. For the whole process:
    other threads are silent meanwhile too.
    """
    threshold = logging.root.manager.disable
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    hook = sys.unraisablehook
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
        stack.enter_context(_descriptors_lead_to(nowhere.fileno()))
        stack.enter_context(contextlib.redirect_stdout(nowhere))
        stack.enter_context(contextlib.redirect_stderr(nowhere))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        sys.unraisablehook = lambda _: None
        try:
            yield
        finally:
            sys.unraisablehook = hook
            logging.disable(threshold)
            random.setstate(drawn)
            np.random.set_state(drawn_by_numpy)  # noqa: NPY002


@contextlib.contextmanager
def _descriptors_lead_to(nowhere: int) -> Iterator[None]:
    """Descriptors 1 and 2, for code that does not write through Python; where there are none, nothing is to be done."""
    kept = []
    _flush()
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            kept.append((descriptor, os.dup(descriptor)))
            os.dup2(nowhere, descriptor)
    try:
        yield
    finally:
        _flush()  # what is still held back must not come out later
        for descriptor, copy in kept:
            os.dup2(copy, descriptor)
            os.close(copy)


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            if stream is not None:
                stream.flush()
    with contextlib.suppress(Exception):  # no C library under this name: nothing is held back in it
        ctypes.CDLL(None).fflush(None)


# A caller's statistic made safe: one block in, one row of floats out, and nothing else ever leaves.
#
# Invariant (docs/proofs/aggregate.md, section 2): the row is a function of the block and its number. Whatever goes
# wrong inside, an exception, a wrong shape, a number that is not finite, makes the row a missing one.


@dataclass(frozen=True)
class BlockStatistic:
    """A statistic that has been tried out: how to compute it, how long its vector is, what its entries are called."""

    compute: Callable[[Any], Any]
    length: int
    names: tuple[str, ...] | None
    keys: tuple[str, ...] | None = None

    def table(self, rows: Rows, dealt: Sequence[IntArray]) -> FloatArray:
        """A row for each block, of the rows of the data that were dealt to it; missing where there are none."""
        found = np.full((len(dealt), self.length), np.nan)
        with silence():
            for b, places in enumerate(dealt):
                if len(places):
                    found[b] = self._row(rows, places, b)
        return found

    def _row(self, rows: Rows, places: IntArray, number: int) -> FloatArray:
        try:
            reset_generators(number)
            with np.errstate(all="ignore"):
                return vector_of(copy.deepcopy(self.compute)(rows.take(places)), self.length, self.keys)
        except KeyboardInterrupt:  # the user's, who wants the call to end
            raise
        except BaseException:  # SystemExit too: whether it came depends on the rows
            return np.full(self.length, np.nan)


def reset_generators(number: int) -> None:
    """NumPy's and Python's global generators as they are for this block number, whatever the blocks before drew."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 the generator that statistics use without asking


def vector_of(value: Any, length: int | None = None, keys: Sequence[str] | None = None) -> FloatArray:
    """The value as finite floats; `ValueError` if it is no vector, or not of this length, or not under these names."""
    if keys is not None:
        named = _by_name(value)
        if named is None or sorted(named) != sorted(keys):
            raise ValueError("not the names that made-up rows gave")
        value = [named[key] for key in keys]
    array = np.asarray(value)
    if array.ndim > 1 or array.dtype.kind not in "biufO":
        raise ValueError("not a number or a vector of numbers")
    floats = np.atleast_1d(array.astype(np.float64))
    if not len(floats) or (length is not None and len(floats) != length):
        raise ValueError("not the declared length")
    if not np.isfinite(floats).all():
        raise ValueError("not finite")
    return floats


def _by_name(value: Any) -> dict[str, Any] | None:
    """What a dict, or a series with an index, calls its entries."""
    if isinstance(value, Mapping):
        return {str(name): v for name, v in value.items()}
    if hasattr(value, "index") and hasattr(value, "to_dict"):
        return {str(name): v for name, v in value.to_dict().items()}
    return None


def tried(
    compute: Callable[[Any], Any], rows: Rows, size: int, dummy: Rows | None, names: Sequence[str] | None
) -> BlockStatistic:
    """The statistic once it has worked on made-up rows: public, so that its own error may be told.

    Statistics differ in what they want, labels of two classes for one: it has to work on one kind of made-up rows,
    and to return equally many numbers on most kinds that it works on.
    """
    try:
        copy.deepcopy(compute)
    except Exception as error:
        raise ParameterError(
            "statistic", "must be a function, or an object that can be copied", brief(compute)
        ) from error
    found: list[Found] = []
    first: BaseException | None = None
    for blocks in _public_blocks(rows, size, dummy):
        found, failed = _found(compute, blocks)
        first = first or failed
        if found:
            break
    if not found:
        unsure = "; types= says which columns are text, bool or date" if len(rows.guesses) > 1 else ""
        rule = (
            f"must return finite numbers for made-up rows ({size} of them, nobody's data; dummy= takes rows of your "
            f"own{unsure}). Nothing was spent; the error above is the statistic's own"
        )
        raise ParameterError("statistic", rule, f"{type(first).__name__}: {first}") from first
    return _named(compute, *_agreed(found, names), names)


def fails_at_missing_cells(compute: Callable[[Any], Any], rows: Rows, size: int) -> bool:
    """Whether it has a value for made-up rows, but none once the first of them is missing: public, like these."""
    for guess in rows.guesses:
        if _found(compute, rows.made_up(size + 1, guess))[0]:
            return not _found(compute, rows.made_up(size + 1, guess, missing=True))[0]
    return False


Found = tuple[int, tuple[str, ...] | None]  # how many numbers a statistic returned, and under which names


def _public_blocks(rows: Rows, size: int, dummy: Rows | None) -> Iterator[Iterable[Any]]:
    """What a statistic is tried on: the caller's public rows, or made-up ones, one guess at their types at a time."""
    if dummy is not None:
        yield [dummy.take(np.arange(dummy.n))]
    else:
        for guess in rows.guesses:
            yield rows.made_up(size, guess)


def _found(compute: Callable[[Any], Any], blocks: Iterable[Any]) -> tuple[list[Found], BaseException | None]:
    """What it returns for each block that it works on, and the first error on another."""
    found: list[Found] = []
    first: BaseException | None = None
    for block in blocks:
        try:
            with silence(), np.errstate(all="ignore"):
                reset_generators(0)
                value = copy.deepcopy(compute)(block)
                named = _by_name(value)
                keys = None if named is None else tuple(named)
                found.append((len(vector_of(value, keys=keys)), keys))
        except (Exception, SystemExit) as error:
            first = first or error
    return found, first


def _agreed(found: list[Found], names: Sequence[str] | None) -> Found:
    """The length and the names that most kinds of made-up rows give; those that were declared come first."""
    declared = [one for one in found if names is not None and one[0] == len(names)]
    (most, times), *others = Counter(declared or found).most_common()
    if others and others[0][1] == times:
        rule = "must return as many numbers, under the same names, for any rows: give dummy= rows like those of x"
        raise ParameterError("statistic", rule, " or ".join(str(length) for length, _ in dict.fromkeys(found)))
    return most


def _named(
    compute: Callable[[Any], Any], length: int, keys: tuple[str, ...] | None, names: Sequence[str] | None
) -> BlockStatistic:
    if names is None:
        called = keys or getattr(compute, "names_of", lambda _: None)(length)
        return BlockStatistic(compute, length, called, keys)
    given = tuple(str(name) for name in names)
    if len(given) != length or len(set(given)) != length:
        rule = f"must be {length} different names: as many as the statistic has numbers"
        raise ParameterError("columns", rule, brief(names))
    return BlockStatistic(compute, length, given, keys)


# Estimators in the way of scikit-learn as statistics of a block: cloned, fitted, one or more attributes read.


@dataclass(frozen=True)
class Fitted:
    """What a fresh clone of an estimator, fitted to a block, has in its attributes, one after the other."""

    estimator: Any
    attributes: tuple[str, ...]
    rows: Rows
    target: Any

    def __deepcopy__(self, memo: Any) -> Fitted:
        return self  # the table is not copied with it; each call clones the estimator

    def __call__(self, block: Any) -> FloatArray:
        fresh = _clone(self.estimator)
        if self.target is None:
            fresh.fit(block)
        else:
            fresh.fit(*self.rows.without(block, self.target))
        return np.concatenate([np.ravel(np.asarray(getattr(fresh, name))) for name in self.attributes])

    def names_of(self, length: int) -> tuple[str, ...] | None:
        """Features by name where an attribute has one number for each; `intercept_` is called intercept."""
        features = [] if self.rows.names is None else [name for name in self.rows.names if name != self.target]
        extra = [name.rstrip("_") for name in self.attributes if name.rstrip("_") != "coef"]
        called = [name for a in self.attributes for name in (features if a == "coef_" else [a.rstrip("_")])]
        right = len(called) == length == len(set(called)) and bool(features or len(extra) == length)
        return tuple(called) if right else None


def is_estimator(statistic: Any) -> bool:
    return callable(getattr(statistic, "fit", None)) and not isinstance(statistic, type)


def fitted_statistic(estimator: Any, attribute: Any, rows: Rows, target: Any) -> Fitted:
    """The estimator as a statistic, once it is clear what to fit it to and what to read."""
    names = (attribute,) if isinstance(attribute, str) else attribute
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        rule = "must be given with an estimator: what to read after fitting, such as 'coef_' or ('intercept_', 'coef_')"
        raise ParameterError("attribute", rule, brief(attribute))
    require_target(rows, target)
    return Fitted(_clone(estimator), tuple(names), rows, target)


def require_target(rows: Rows, target: Any) -> None:
    if target is None:
        return
    block = next(rows.made_up(1))
    known = rows.names if rows.names is not None else tuple(range(block.shape[1] if block.ndim > 1 else 1))
    if isinstance(target, bool) or target not in known:
        shown = ", ".join(map(str, known[:8])) + (", ..." if len(known) > 8 else "")
        raise ParameterError("target", f"must be one of the columns {shown}", brief(target))


def _clone(estimator: Any) -> Any:
    """Unfitted, with the same settings."""
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)


# td.aggregate of a lazy frame: means of drawn blocks from one pass, by depth (docs/proofs/out-of-core.md).

MEANS_NOTE = "What is estimated is the centre of the means of blocks of rows, cells moved between their bounds."


def mean_in_passes(
    x: Any,
    statistic: Any,
    *,
    blocks: Any,
    epsilon: Any,
    bounds: Any,
    delta: Any,
    partitions: Any,
    columns: Any,
    clip: Any,
    depth: Notion | None,
    resolution: Any,
    neighbours: str,
    rows: Any,
    accountant: Spends | None,
    randomness: Any,
) -> Release | Refused:
    """Every row draws a block for each dealing; the blocks' means are released by boxem or REM."""
    if not isinstance(statistic, str) or statistic != "mean":
        rule = "must be 'mean' for a lazy frame, whose rows are added up where they are; collect it for any other"
        raise ParameterError("statistic", rule, brief(statistic) if isinstance(statistic, str) else "a function")
    if clip is None and bounds is None:
        rule = "must be given for a lazy frame without bounds: (lower, upper) of its cells, which are added up"
        raise ParameterError("clip", rule, "none")
    relation = checked_relation(neighbours, rows)
    guarantee = guarantee_for(epsilon, bounds, delta, neighbours)
    dealings = checked_partitions(partitions, guarantee)
    require_room(accountant, guarantee)
    bits = source(randomness)
    table = lazy_table(x, secret=relation.secret)
    count = checked_integer("blocks", blocks, least=1, most=relation.size(table))
    require_sums(count, dealings, table.d)
    names = _names(columns, table.columns)
    cells = (
        bounded_columns(table.d, clip, table.columns) if clip is not None else bounded_columns(table.d, bounds, names)
    )
    drawn = BlockRelease(guarantee, count, dealings, table.d, names, bounds, depth, resolution)
    settings = {**drawn.settings, **relation.settings}
    shown = relation.public(table)
    told = {**shown, "columns": names, "bounds": drawn.ends, "settings": settings}
    parts = {"draw": guarantee}
    run = reserve(parts, mechanism="aggregate", source=bits, accountant=accountant, parameters=told)
    sums = BlockSums(cells, count, dealings, run.secret("dealings"))
    (found,) = table.total(sums)
    means = np.concatenate([_in_units(cells, part) for part, _ in sums.tables(found)])
    (outcome,) = drawn.releases(means, shown["n"], bits, run, "aggregate", (MEANS_NOTE,))
    return replace(outcome, settings={**outcome.settings, **relation.settings})


def _names(columns: Any, own: tuple[str, ...]) -> tuple[str, ...]:
    if columns is None:
        return own
    given = tuple(str(name) for name in columns)
    if len(given) != len(own) or len(set(given)) != len(own):
        raise ParameterError("columns", f"must be {len(own)} different names: as many as the frame has", brief(columns))
    return given


def _in_units(columns: BoundedColumns, relative: FloatArray) -> FloatArray:
    """Block means in data units: elementwise, so that each is a function of its own block."""
    ends = [(float(a), float(b)) for a, b in zip(columns.lower, columns.upper, strict=True)]
    middle = np.array([a / 2 + b / 2 for a, b in ends])
    half = np.array([b / 2 - a / 2 for a, b in ends])
    return np.asarray(middle + half * relative)


# Any statistic of a table: computed on secretly dealt blocks, released by depth (docs/proofs/aggregate.md).

AGGREGATE_NOTES = (
    "What is estimated is the centre of the statistic over blocks of rows: its value on all rows together, up to the "
    "bias that it has on blocks of that size.",
    "No expected_error: how far a statistic of a block lies from that of all rows depends on the statistic. "
    "Rehearse on made-up rows.",
)
MISSING_NOTE = (
    f"{WARNING}the statistic has no value for made-up rows of which one is missing. So a block with a missing cell "
    "counts as missing as a whole; where most blocks do, the release is noise. Let the statistic leave missing cells "
    "out (np.nanmean in place of np.mean) if there may be any."
)


@padded
@on_one_thread
def aggregate(
    x: Any,
    statistic: Any,
    *,
    blocks: int,
    epsilon: Any,
    bounds: Any = None,
    delta: Any = None,
    partitions: int | None = None,
    columns: Any = None,
    attribute: Any = None,
    target: Any = None,
    dummy: Any = None,
    types: Any = None,
    clip: Any = None,
    depth: Notion | None = None,
    resolution: Any = None,
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release | Refused:
    """Release any statistic of a table: a median, a correlation, the coefficients of a model.

    Rows are dealt to blocks in secret; the statistic of each block is one row of a table, whose centre is released.

    Parameters
    ----------
    x
        Array-like of shape (n, d) or (n,), or a frame (pandas, polars, Arrow) with a number, a text, a truth value or a
        date in each cell; one row per person. Never modified.
    statistic
        A function of a block of rows that returns a number, a vector, or a dict of numbers: always of the same length.
        It gets an array of floats (NaN: missing) of as many dimensions as `x`, or a frame of the caller's library with
        numbers and texts (`types`). Or an estimator as in scikit-learn, cloned and fitted to each block. For a lazy
        frame the word "mean": the mean of each column, its cells clipped to `clip`, or else to `bounds`.
    blocks
        How many blocks rows are dealt to. Without bounds about (250 + 27 d) / epsilon for d numbers at delta = 1e-6.
    epsilon
        Privacy budget, > 0. A float means its shortest decimal: 0.1 is 1/10.
    bounds
        (lower, upper) of the *statistic*, scalars or one for each of its numbers, or a dict by name: what is known
        without looking. The draw is then by `td.boxem`, otherwise by `td.rem`, which needs a delta and may refuse.
    delta
        For runs without bounds: much smaller than 1/n, say 1e-6.
    partitions
        With bounds: how many times rows are dealt, each time anew; epsilon is divided among them.
    columns
        Names of the statistic's numbers; those of the dict, or of the features, unless given.
    attribute, target
        For an estimator: what to read once it is fitted, such as "coef_" or ("intercept_", "coef_"), and which column
        it is fitted to, a name or a number; without a target it is fitted to all columns.
    dummy
        Public rows like those of `x` that the statistic is tried on. None: made-up ones, of numbers of three kinds
        where no type is declared; if it fails on these, of texts.
    types
        For frames: a dict of column names to "number" (floats), "text", "bool" or "date" (UTC); what cannot be read so
        is missing. The types that a frame has are not looked at: they depend on all of its cells. A column without a
        declared type holds floats in each block whose cells are numbers, otherwise texts; there truth values are 0 and
        1, a text that is a number is one ("007" is 7), a date is a text.
    clip
        (lower, upper) for the cells of an array, as `bounds`; None clips nothing.
    depth, resolution
        As for `td.boxem` and `td.rem`.
    by, keys
        As for `td.mean`: the statistic of each group, all of them for one epsilon, half of which (and of delta) counts
        in each: a row that goes to another changes a block in both. The column is not handed to the statistic.
    person
        A column with each row's person, or an id for each row: all rows of a person are dealt to one block, as they
        are, and the guarantee is about persons. The column is not handed to the statistic; there is no `per_person`,
        since the statistic sees the rows.
    neighbours, rows
        As for `td.mean`. With "add-remove" `rows`, of persons with `person`, is needed for the size of made-up blocks.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    check
        As for `td.mean`, of the cells that the statistic gets: by default those of a file, a list or a series, which
        it gets as floats. A frame may hold texts that are meant to be there: it is checked if asked for, and then all
        of its columns have to be numbers.
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which.
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release or Refused
        `release.columns` names the numbers.

    Privacy
    -------
    Pure epsilon-DP with bounds, (epsilon, delta)-DP without, for `neighbours`, *if the statistic is a function
    of its block*. What goes wrong on a block makes it a missing one: exceptions, wrong lengths, numbers that are not
    finite; where most blocks are missing, the release is a random point between the bounds, and only a warning
    that public rows with a missing one give (`notes`) tells of it.
    Prints, warnings and log records are thrown away; the global generators of NumPy and Python start afresh
    with each block. What one process cannot prevent: a statistic that remembers earlier blocks in a global or a
    closure, reads `x` from outside, or writes to a file (docs/proofs/aggregate.md, section 5). How long it takes
    depends on the data.

    Cost
    ----
    The statistic once for each block of each dealing, and one call of `td.boxem` or `td.rem`.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> rng = np.random.default_rng(1)
    >>> x = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=4000)
    >>> correlation = lambda rows: np.corrcoef(rows.T)[0, 1]
    >>> release = td.aggregate(x, correlation, blocks=200, epsilon=1, bounds=(-1, 1), randomness=td.seeded(7))
    >>> bool(abs(release.point[0] - 0.6) < 0.1)
    True
    """
    asked_for: dict[str, Any] = {
        "blocks": blocks, "bounds": bounds, "delta": delta, "partitions": partitions, "columns": columns, "clip": clip,
        "depth": depth, "resolution": resolution,
    }  # fmt: skip
    paying: dict[str, Any] = {"epsilon": epsilon, "accountant": accountant, "randomness": randomness}
    allowed, declined = asked(check)
    relation = checked_relation(neighbours, rows)
    require_by(by, keys)
    if relation.secret:
        relation.require_rows("for the size of made-up blocks")
    asked_for |= {"neighbours": neighbours, "rows": rows}
    if is_lazy(x):
        told = {"attribute": attribute, "target": target, "dummy": dummy, "types": types, "check": allowed}
        refuse_in_passes(**told, by=by, person=person)
        return mean_in_passes(x, statistic, **asked_for, **paying)
    if relation.secret:
        require_columns_without_rows(x)
    if person is not None and accountant is not None:
        paying["accountant"] = OfPersons(accountant)
    wanted = {
        name: (given, what) for name, given, what in (("by", by, "key"), ("person", person, "id")) if given is not None
    }
    x, cells, names = set_apart(x, wanted)
    asked_for |= {"attribute": attribute, "target": target, "dummy": dummy, "types": types}
    asked_for["apart"] = Apart(wanted, cells, None if by is None else checked_keys(keys), names.get("by"))
    unchecked = allowed is None and (person is not None or isinstance(x, np.ndarray) or not gives_floats(x))
    if declined or unchecked:
        return _told(_of_rows(x, statistic, **asked_for, **paying), person)
    require_room(paying["accountant"], least_cost_with_check(epsilon, neighbours=neighbours))
    table = relation.table(x)
    if allowed is None and table.unreadable is None:  # a file that declares the types of its columns
        return _of_rows(x, statistic, **asked_for, **paying)
    if person is not None:
        raise ParameterError("check", "must be left out with person", "a check")

    def on_rows(_: Table, **rest: Any) -> Release | Refused:
        return _of_rows(x, statistic, **rest)

    in_memory = not isinstance(x, Table | Source)
    return with_check(on_rows, table, check=allowed, in_memory=in_memory, **asked_for, **paying)


PERSONS_NOTE = (
    "All rows of a person are in one block. What is called the number of rows is that of persons; how many rows "
    "anybody has is secret. Rows without an id are left out."
)


def _told(outcome: Any, person: Any) -> Any:
    if person is None or outcome.seal is None:
        return outcome
    seal = outcome.seal.about_persons()
    if isinstance(outcome, GroupedRelease):
        return outcome.charged(seal, {}, PERSONS_NOTE)
    return replace(outcome, seal=seal, notes=(*outcome.notes, PERSONS_NOTE))


@dataclass(frozen=True)
class Apart:
    """Columns that the statistic does not get: which group and which person a row belongs to."""

    wanted: Wanted
    cells: Mapping[str, list[Any]]
    keys: Keys | None
    by: str | None

    def dealt(self, n: int) -> Dealt:
        """What is dealt to blocks: rows, or persons with all their rows."""
        require_one_each(self.wanted, self.cells, n)
        groups = None if self.keys is None else self.keys.places(self.cells["by"])
        if "person" not in self.cells:
            return Dealt(n, groups, None)
        numbers = person_numbers(self.cells["person"])
        count = int(numbers.max(initial=NOBODY)) + 1
        if groups is not None:
            groups = group_of_each(groups, numbers, count)
        rows = np.argsort(numbers, kind="stable")[int((numbers == NOBODY).sum()) :]
        ends = np.cumsum(np.bincount(numbers[rows], minlength=count))
        return Dealt(count, groups, np.split(rows, ends[:-1]))


@dataclass(frozen=True, eq=False)
class Dealt:
    """n records, the group of each, None without groups, and the rows of each, None where a record is a row."""

    n: int
    groups: IntArray | None
    rows: Sequence[IntArray] | None

    def places(self, records: IntArray) -> IntArray:
        """The rows of these records, in their order."""
        if self.rows is None or not len(records):
            return records
        return np.concatenate([self.rows[i] for i in records.tolist()])


def _of_rows(
    x: Any,
    statistic: Any,
    *,
    blocks: Any,
    epsilon: Any,
    bounds: Any,
    delta: Any,
    partitions: Any,
    columns: Any,
    attribute: Any,
    target: Any,
    dummy: Any,
    types: Any,
    clip: Any,
    depth: Notion | None,
    resolution: Any,
    neighbours: str,
    rows: Any,
    apart: Apart,
    randomness: Any,
    accountant: Spends | None = None,
) -> Release | Refused:
    """The statistic of every block, and a draw among them, in every group."""
    relation = checked_relation(neighbours, rows)
    guarantee = guarantee_for(epsilon, bounds, delta, neighbours)
    dealings = checked_partitions(partitions, guarantee)
    require_room(accountant, guarantee)
    bits = source(randomness)
    fewest = 0 if relation.secret else 1
    found = rows_of(x, clip, types, fewest=fewest)
    dealt = apart.dealt(found.n)
    if dealt.n < fewest:
        raise ParameterError("person", "must have an id in at least one row", "none")
    n, keys = relation.rows if relation.secret else dealt.n, None if apart.keys is None else len(apart.keys)
    assert n is not None
    each = max(1, n // (keys or 1))
    count = checked_integer("blocks", blocks, least=1, most=each)
    if is_estimator(statistic):
        compute = fitted_statistic(statistic, attribute, found, target)
    else:
        compute = _checked_function(statistic, attribute=attribute, target=target)
    public_rows = None if dummy is None else rows_of(dummy, clip, types, "dummy")
    size = max(1, each // count)
    known = tried(compute, found, size, public_rows, columns)
    missing = (MISSING_NOTE,) if fails_at_missing_cells(known.compute, found, size) else ()
    drawn = BlockRelease(guarantee, count, dealings, known.length, known.names, bounds, depth, resolution, keys)
    settings = {**drawn.settings, **relation.settings, **({} if keys is None else {"groups": keys})}
    told = None if relation.secret else n
    public: dict[str, Any] = {
        "n": told,
        "d": known.length,
        "columns": known.names,
        "bounds": drawn.ends,
        "settings": settings,
    }
    if apart.keys is not None:
        public |= {"by": apart.by, "keys": apart.keys.names}
    parts = {"draw": guarantee}
    run = reserve(parts, mechanism="aggregate", source=bits, accountant=accountant, parameters=public)
    by_draws = relation.secret or keys is not None
    table = np.concatenate([known.table(found, _blocks(dealt, count, run, i, by_draws, keys)) for i in range(dealings)])
    outcomes = drawn.releases(table, told, bits, run, "aggregate", (*AGGREGATE_NOTES, *missing))
    more = {**relation.settings, **({} if keys is None else {"groups": keys})}
    done = [replace(one, settings={**one.settings, **more}) for one in outcomes]
    return by_group(done, apart, settings)


def _blocks(dealt: Dealt, count: int, run: Run, i: int, by_draws: bool, keys: int | None) -> list[IntArray]:
    """The rows of each block of one dealing, all groups in turn."""
    order = secret_order(dealt.n, Keystream(run.secret(f"dealing {i}")))
    numbers = drawn_blocks(dealt.n, count, Keystream(run.secret(f"blocks {i}"))) if by_draws else None
    return [dealt.places(records) for records in dealt_rows(order, count, numbers, dealt.groups, keys or 1)]


def _checked_function(statistic: Any, **for_estimators: Any) -> Any:
    if not callable(statistic) or isinstance(statistic, type):
        rule = "must be a function of a block of rows, or an estimator with a method fit"
        raise ParameterError("statistic", rule, brief(statistic))
    for name, value in for_estimators.items():
        if value is not None:
            raise ParameterError(name, "must be left out unless the statistic is an estimator", brief(value))
    return statistic
