"""`make_boxem`, `make_rem`, `make_mean` and `make_cube`: our mechanisms as OpenDP measurements.

All of them take OpenDP's input domain and metric first, then epsilon; the rest by name. What they have in common:

- `input_domain` is `dp.numpy.array2_domain(num_columns=d, T=float)`, or for one column
  `dp.vector_domain(dp.atom_domain(T=float))`; other types of numbers too. NaN is a missing cell. A `size=` makes the
  number of rows public.
- `input_metric` with a size: change-one, Hamming, symmetric or insert-delete distance, and epsilon is the loss for one
  changed row, which is a change-one distance of 1 and a symmetric distance of 2. Without a size: symmetric or
  insert-delete distance, the number of rows stays secret, and epsilon is the loss for one row more or less. `rows` is
  then about how many there are, **known without the data**, where a mechanism has to plan for it.
- `epsilon` takes what `td.boxem` takes. A float counts as its shortest decimal, but never as more than the float.
- `columns` are names, one for each column, for bounds by name and for the release.
- `output_measure` is max divergence unless given, approximate where there is a delta. As zero-concentrated divergence,
  what is all by depth (boxem, subset means) has epsilon^2 / 8, a quarter of what OpenDP's own conversion charges.
- The measurement's value is a `Release`, or a `Refused`: a refusal is a value too.
- Seeded runs, groups, persons and unproven modes are not offered: the privacy map would not be true of them, or would
  mean something else.

Every parameter is checked when the measurement is made, so that whether it runs does not depend on the data.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from opendp.mod import Domain, Measure, Measurement, Metric

from tukeydp.depth.notions import Notion
from tukeydp.integrations.opendp.losses import exact_number
from tukeydp.integrations.opendp.runs import DEFAULT_STEP, measurement
from tukeydp.mechanisms.boxem import boxem
from tukeydp.mechanisms.cube import cube
from tukeydp.mechanisms.mean import mean
from tukeydp.mechanisms.rem import rem
from tukeydp.mechanisms.rem_choice import require_range
from tukeydp.trusted.account import ApproxDP


def make_boxem(
    input_domain: Domain,
    input_metric: Metric,
    epsilon: Any,
    *,
    bounds: Any,
    depth: Notion | None = None,
    resolution: Any = None,
    certify: Any = None,
    columns: Any = None,
    rows: Any = None,
    pad_to: Any = None,
    output_measure: Measure | None = None,
) -> Measurement:
    """A deep point of the rows between public bounds, as by `td.boxem`; pure epsilon-DP, zCDP with epsilon^2 / 8.

    Parameters: those of this module (above) and of `td.boxem`. `certify` adds a step of noise, which costs more zCDP.
    """
    return measurement(
        boxem, input_domain, input_metric, epsilon, bounds=bounds, depth=depth, resolution=resolution, certify=certify,
        columns=columns, rows=rows, pad_to=pad_to, output_measure=output_measure,
    )  # fmt: skip


def make_rem(
    input_domain: Domain,
    input_metric: Metric,
    epsilon: Any,
    *,
    delta: Any,
    depth: Notion | None = None,
    resolution: Any = DEFAULT_STEP,
    threshold: int | None = None,
    test: str = "graded",
    columns: Any = None,
    rows: Any = None,
    pad_to: Any = None,
    output_measure: Measure | None = None,
) -> Measurement:
    """A deep point of the rows without bounds, or a refusal, as by `td.rem`; (epsilon, delta)-DP.

    Parameters: those of this module (above) and of `td.rem`. A domain without a size needs `rows`.
    """
    share = exact_number("delta", delta)

    def price(budget: Fraction, neighbours: str) -> ApproxDP:
        require_range(budget, share)
        return ApproxDP(budget, share, neighbours=neighbours)

    return measurement(
        rem, input_domain, input_metric, epsilon, delta=share, depth=depth, resolution=resolution, threshold=threshold,
        test=test, columns=columns, rows=rows, pad_to=pad_to, output_measure=output_measure, price=price,
    )  # fmt: skip


def make_mean(
    input_domain: Domain,
    input_metric: Metric,
    epsilon: Any,
    *,
    bounds: Any = None,
    delta: Any = None,
    mechanism: str = "auto",
    blocks: Any = None,
    partitions: Any = None,
    sd: Any = None,
    confidence: Any = None,
    joint: bool = False,
    columns: Any = None,
    rows: Any = None,
    pad_to: Any = None,
    output_measure: Measure | None = None,
) -> Measurement:
    """The arithmetic mean of each column, as by `td.mean`: pure epsilon-DP with bounds, (epsilon, delta)-DP without.

    Parameters: those of this module (above) and of `td.mean`. Which way to the mean is taken follows from the domain's
    size and the parameters, before there are any data, and so does its loss as zCDP: epsilon^2 / 8 for "subset", more
    for the others, step by step (docs/proofs/composition.md, section 1).
    """
    return measurement(
        mean, input_domain, input_metric, epsilon, bounds=bounds,
        delta=None if delta is None else exact_number("delta", delta), mechanism=mechanism, blocks=blocks,
        partitions=partitions, sd=sd, confidence=confidence, joint=joint, columns=columns, rows=rows, pad_to=pad_to,
        output_measure=output_measure,
    )  # fmt: skip


def make_cube(
    input_domain: Domain,
    input_metric: Metric,
    epsilon: Any,
    *,
    bounds: Any,
    fill: Any = None,
    columns: Any = None,
    rows: Any = None,
    pad_to: Any = None,
    output_measure: Measure | None = None,
) -> Measurement:
    """The mean of each column, clipped at public bounds, as by `td.cube`; pure epsilon-DP.

    Parameters: those of this module (above) and of `td.cube`.
    """
    return measurement(
        cube, input_domain, input_metric, epsilon, bounds=bounds, fill=fill,
        columns=columns, rows=rows, pad_to=pad_to, output_measure=output_measure,
    )  # fmt: skip
