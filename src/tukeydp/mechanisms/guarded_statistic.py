"""A caller's statistic made safe: one block in, one row of floats out, and nothing else ever leaves.

Invariant (docs/proofs/aggregate.md, section 2): the row is a function of the block and its number. Whatever goes wrong
inside, an exception, a wrong shape, a number that is not finite, makes the row a missing one.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.row_blocks import Rows
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.silence import silence
from tukeydp.parameters import brief


@dataclass(frozen=True)
class BlockStatistic:
    """A statistic that has been tried out: how to compute it, how long its vector is, what its entries are called."""

    compute: Callable[[Any], Any]
    length: int
    names: tuple[str, ...] | None
    keys: tuple[str, ...] | None = None

    def table(self, rows: Rows, blocks: int, order: IntArray) -> FloatArray:
        """A row for each block; the first n mod `blocks` of them have a row of the data more."""
        size, larger = divmod(rows.n, blocks)
        found = np.full((blocks, self.length), np.nan)
        with silence():
            end = 0
            for b in range(blocks):
                start, end = end, end + size + (b < larger)
                if end > start:
                    found[b] = self._row(rows, order[start:end], b)
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
