"""All mutants, and the changes that were shown to be harmless."""

from __future__ import annotations

from mutants import (
    of_accounts,
    of_add_remove,
    of_charges,
    of_counts,
    of_depth,
    of_exports,
    of_groups,
    of_means,
    of_noise,
    of_opendp,
    of_passes,
    of_randomness,
    of_rem,
    of_sampling,
    of_scale,
    of_steps,
    of_streams,
    of_summaries,
    of_tables,
    of_trusted,
)
from mutants.harmless import HARMLESS

__all__ = ["HARMLESS", "MUTANTS"]

MUTANTS = (
    *of_randomness.MUTANTS,
    *of_sampling.MUTANTS,
    *of_depth.MUTANTS,
    *of_streams.MUTANTS,
    *of_rem.MUTANTS,
    *of_noise.MUTANTS,
    *of_means.MUTANTS,
    *of_scale.MUTANTS,
    *of_steps.MUTANTS,
    *of_groups.MUTANTS,
    *of_counts.MUTANTS,
    *of_summaries.MUTANTS,
    *of_tables.MUTANTS,
    *of_accounts.MUTANTS,
    *of_charges.MUTANTS,
    *of_add_remove.MUTANTS,
    *of_opendp.MUTANTS,
    *of_passes.MUTANTS,
    *of_exports.MUTANTS,
    *of_trusted.MUTANTS,
)
