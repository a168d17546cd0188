"""OpenDP's input domains and metrics: which tables there are, which are neighbours, and how far apart two may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from opendp.extras.numpy import NPArray2Domain
from opendp.mod import AtomDomain, Domain, ExtrinsicDomain, Metric, VectorDomain

from tukeydp.data.tables import Table, read_table
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_integer

# What OpenDP calls numbers. Others (text, dates) have no mean.
_NUMBERS = {"f32", "f64", "bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "usize"}
_DOMAINS = "must be dp.vector_domain(dp.atom_domain(T=float)) or dp.numpy.array2_domain(num_columns=..., T=float)"
# Distances that count changed rows, and distances that count a change twice: as a row less and a row more.
_CHANGES, _CONTRIBUTIONS = ("ChangeOneDistance", "HammingDistance"), ("SymmetricDistance", "InsertDeleteDistance")


@dataclass(frozen=True)
class Space:
    """Tables of d columns, and of `size` rows where the domain has a size; None: their number is secret."""

    d: int
    size: int | None
    vector: bool
    metric: str

    @property
    def neighbours(self) -> str:
        return "add-remove" if self.size is None else "swap"

    def steps(self, d_in: Any) -> int:
        """How many neighbours apart two tables of the domain are at most, if their distance is at most `d_in`.

        Tables of one size have an even symmetric distance, two for each swap (docs/proofs/opendp.md, section 1).
        """
        distance = checked_integer("d_in", d_in, least=0)
        return distance // 2 if self.neighbours == "swap" and self.metric in _CONTRIBUTIONS else distance

    def table(self, x: Any, columns: tuple[str, ...] | None) -> Table:
        """The data as they are measured. OpenDP does not check that they belong to the domain.

        What raises is the schema, never a cell, and no text says how many rows there are: that may be secret.
        """
        cells = self._cells(x)
        if self.size is not None and len(cells) != self.size:
            raise ParameterError("x", f"must have {self.size} rows, the size of its domain", "another number of rows")
        return Table(cells, columns)

    def blank(self, columns: tuple[str, ...] | None) -> Table:
        """A table of this shape without data, in no memory: for what is public."""
        return Table(np.broadcast_to(np.nan, (self.size or 0, self.d)), columns)

    def _cells(self, x: Any) -> FloatArray:
        if self.vector:
            return np.array(x, dtype=np.float64).reshape(-1, 1)
        if not isinstance(x, np.ndarray) or x.dtype.kind not in "biuf":
            raise ParameterError("x", "must be a numpy array of numbers", type(x).__name__)
        if x.ndim != 2 or x.shape[1] != self.d:
            found = f"{x.shape[1]} columns" if x.ndim == 2 else f"{x.ndim} dimensions"
            raise ParameterError("x", f"must have two dimensions and {self.d} columns", found)
        return read_table(x, fewest=0).cells


@contextmanager
def nothing_quoted() -> Iterator[None]:
    """Errors as OpenDP may hand them to the analyst: those of the schema, and otherwise that there was one.

    Others might quote what they met; that the memory does not suffice is said by numpy with the number of rows. An
    interruption becomes an error, because OpenDP aborts the process on what is none.
    """
    try:
        yield
    except ParameterError:
        raise
    except KeyboardInterrupt:
        raise RuntimeError("the run was interrupted; nothing was released") from None
    except Exception as error:
        raise RuntimeError(f"the run failed ({type(error).__name__}); nothing was released") from None


def space(input_domain: Any, input_metric: Any) -> Space:
    """Checked: a domain of tables, a metric on them, and a size where the metric needs one."""
    if not isinstance(input_metric, Metric) or str(input_metric.type) not in (*_CHANGES, *_CONTRIBUTIONS):
        rule = "must be dp.change_one_distance(), dp.hamming_distance(), dp.symmetric_distance() or "
        raise ParameterError("input_metric", rule + "dp.insert_delete_distance()", brief(input_metric))
    d, size, vector = _shape(input_domain)
    metric = str(input_metric.type)
    if size is None and metric in _CHANGES:
        rule = f"must have a size for {metric} (size=n): changing rows keeps their number, which is public then"
        raise ParameterError("input_domain", rule, str(input_domain))
    if size is not None:
        checked_integer("size", size, least=1)
    return Space(d, size, vector, metric)


def _shape(domain: Any) -> tuple[int, int | None, bool]:
    """Columns, rows where the domain says so, and whether it is one of vectors."""
    if isinstance(domain, VectorDomain) and isinstance(domain.element_domain, AtomDomain):
        if str(domain.element_domain.carrier_type) in _NUMBERS:
            return 1, domain.size, True
    elif isinstance(domain, ExtrinsicDomain) and isinstance(domain.descriptor, NPArray2Domain):
        told = domain.descriptor
        if str(told.T) in _NUMBERS and told.num_columns is not None:
            return checked_integer("num_columns", told.num_columns, least=1), told.size, False
    raise ParameterError("input_domain", _DOMAINS, str(domain) if isinstance(domain, Domain) else brief(domain))
