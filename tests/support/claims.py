"""Claims of experiments by their names."""

from __future__ import annotations

from tukeydp.paper.experiments.catalogue import named
from tukeydp.paper.experiments.experiment import Claim


def claim(name: str) -> Claim:
    """By experiment/claim, as the map of sentences has it."""
    experiment, _, own = name.partition("/")
    (found,) = [claim for claim in named(experiment).claims if claim.name == own]
    return found
