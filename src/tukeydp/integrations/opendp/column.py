"""One column of an array as a vector, so that a `Context` over several columns can use what OpenDP has for one."""

from __future__ import annotations

from typing import Any

from opendp.domains import atom_domain, vector_domain
from opendp.mod import Domain, Metric, Transformation
from opendp.transformations import make_user_transformation

from tukeydp.integrations.opendp.spaces import nothing_quoted, space
from tukeydp.trusted.parameters import ParameterError, checked_integer


def make_column(input_domain: Domain, input_metric: Metric, column: int) -> Transformation:
    """Column number `column` (from 0) of a numpy array as a vector of floats, NaN where a cell is missing.

    Row by row, so that every distance between tables stays or shrinks: the stability map is d_in.
    """
    tables = space(input_domain, input_metric)
    if tables.vector:
        raise ParameterError("input_domain", "must be dp.numpy.array2_domain(...): a vector is a column", "a vector")
    place = checked_integer("column", column, least=0, most=tables.d - 1)

    def taken(x: Any) -> list[float]:
        with nothing_quoted():
            cells: list[float] = tables.table(x, None).cells[:, place].tolist()
        return cells

    return make_user_transformation(
        input_domain=input_domain,
        input_metric=input_metric,
        output_domain=vector_domain(atom_domain(T=float, nan=True), size=tables.size),
        output_metric=input_metric,
        function=taken,
        stability_map=lambda d_in: d_in,
    )
