"""What a plan holds: public numbers, a record for each mechanism, and sentences."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tukeydp.data.bounded import BoundedColumns
from tukeydp.parameters import show
from tukeydp.planning.question import Question
from tukeydp.planning.records import Option


@dataclass(frozen=True)
class PlanFacts:
    """What to expect of each mechanism, for public numbers: `Plan` without the ways to show it.

    Attributes
    ----------
    n, epsilon
        The rows and the budget that are planned for. `solved` names the one that was asked for, "epsilon" or "rows";
        None if both were given. `usual` if no epsilon was given, and 1 is planned with.
    recommendation
        In a sentence, for the mean; it names the centre beside it.
    meaning
        What epsilon means, in words.
    recommended
        The option that `td.mean` takes.
    options
        One record for each mechanism.
    sampling
        For comparison: typical distance, in standard deviations, between a table's own mean (of one group) and the
        truth behind it, privacy or not.
    question
        The other public inputs.
    """

    n: int
    epsilon: Fraction
    recommendation: str
    meaning: str
    recommended: Option
    options: list[Option] = field(repr=False)
    sampling: float
    solved: str | None
    usual: bool
    question: Question = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; errors in standard deviations unless a name says units."""
        asked_for = self.question
        columns = asked_for.columns
        wishes = zip(asked_for.labels, asked_for.wishes, strict=True)
        return {
            "n": self.n,
            "d": asked_for.d,
            "columns": list(asked_for.labels),
            "bounds": None if columns is None else _ends(columns),
            "sd": [None if s is None else float(s) for s in asked_for.sd],
            "widths": None if columns is None else asked_for.widths.tolist(),
            "epsilon": show(self.epsilon),
            "delta": None if asked_for.delta is None else show(asked_for.delta),
            "error": {name: wish.size for name, wish in wishes if wish is not None} or None,
            "error_in_units": any(wish is not None and wish.in_units for wish in asked_for.wishes),
            "solved": self.solved,
            "groups": asked_for.groups,
            "missing": asked_for.missing,
            "recommendation": self.recommendation,
            "recommended": self.recommended.mechanism,
            "meaning": self.meaning,
            "sampling": self.sampling,
            "options": [option.to_dict() for option in self.options],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict())


def _ends(columns: BoundedColumns) -> list[list[float]]:
    return [[float(a), float(b)] for a, b in zip(columns.lower, columns.upper, strict=True)]
