"""Tables for the engines, and the detector of rows that were drawn twice, lost or handed over twice."""

from __future__ import annotations

import numpy as np
import polars as pl

from tukeydp.data.lazy_tables import LazyTable
from tukeydp.trusted.block_steps import BlockSums
from tukeydp.trusted.clipped_sums import Values
from tukeydp.trusted.rows import bounded_columns

BOUNDS = {"age": (0, 120), "income": (0, 500), "smokes": (0, 1)}
HALF = 2**29  # steps from the middle of the bounds to either end


def survey(n: int = 3000, seed: int = 1) -> pl.DataFrame:
    """Floats, whole numbers and truth values, with missing, infinite and far cells."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, size=n)
    income = rng.exponential(40, size=n)
    income[::97] = np.inf
    income[::89] = np.nan
    frame = pl.DataFrame({"age": age, "income": income, "smokes": rng.random(n) < 0.3})
    missing = pl.Series(rng.random(n) < 0.1)
    return frame.with_columns(pl.when(missing).then(None).otherwise(pl.col("age")).alias("age"))


def numbered(n: int) -> pl.DataFrame:
    """Rows that can be told apart by sums: a one, the row's number, its square. Exact in steps of `NUMBERED`."""
    rows = np.arange(n, dtype=np.float64)
    return pl.DataFrame({"one": np.full(n, float(HALF)), "row": rows, "square": rows**2})


NUMBERED = bounded_columns(3, (-HALF, HALF))


def as_dealt(table: LazyTable, blocks: int = 7, key: bytes = bytes(32)) -> np.ndarray:
    """Of `numbered` rows: integers of shape (dealings, sums or numbers, columns, blocks) as one pass adds them up."""
    kernel = BlockSums(NUMBERED, blocks, 2, key)
    found, whole = table.total(kernel, Values(NUMBERED))
    assert whole == totals(table.n)
    return np.array(found, dtype=object).reshape(2, 2, 3, blocks)


def totals(n: int) -> list[int]:
    rows = range(n)
    return [n * HALF, sum(rows), sum(i * i for i in rows), n, n, n]


def drawn_once(found: np.ndarray, n: int) -> bool:
    """Whether each of n rows is in one block of each dealing, and sums and numbers come from the same draws.

    In every block the ones add up to as many steps as there are rows; over all blocks numbers of rows and their squares
    add up to those of the table.
    """
    dealings = list(found)
    same = all((sums[0] == HALF * counts[0]).all() and (counts == counts[0]).all() for sums, counts in dealings)
    whole = all([*sums.sum(axis=1), *counts.sum(axis=1)] == totals(n) for sums, counts in dealings)
    return bool(same and whole)
