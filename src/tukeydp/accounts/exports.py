"""An account written out: JSON, CSV, and YAML in the shape of OpenDP's registry of deployments."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from tukeydp.accounts.accountant import Accountant
from tukeydp.accounts.entries import FIELDS
from tukeydp.results.escaping import csv_text, escaped, printable
from tukeydp.trusted.account import NEIGHBOURS
from tukeydp.trusted.parameters import checked_choice, show

FORMATS = ("json", "csv", "yaml")
_COSTS = ("epsilon", "delta", "rho", "rho_delta")
_DIGITS = Context(prec=17, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)

_HEADER = """\
# A draft for OpenDP's registry of differential privacy deployments, from a ledger of tukeydp {version}.
# Empty texts are yours to fill in. Left out, because the registry takes only its own words for them:
# data_product_sector, deployment_model.data_source_type (Static, Dynamic), deployment_model.access_type
# (Interactive, Non-interactive).
"""


def exported(account: Accountant, form: str, name: str) -> str:
    """The account as text; `name` becomes the registry's slug."""
    checked_choice("format", form, FORMATS)
    if form == "json":
        return json.dumps(to_dict(account), indent=2) + "\n"
    return _csv(account) if form == "csv" else _yaml_text(account, name)


def to_dict(account: Accountant) -> dict[str, Any]:
    """Budget, sums and every entry; rationals as exact text."""
    budget, totals, left = account.budget, account.totals, account.remaining()
    return {
        "budget": {
            "epsilon": str(budget.epsilon),
            "delta": str(budget.delta),
            "conversion": None if budget.conversion is None else str(budget.conversion),
            "neighbours": NEIGHBOURS[budget.neighbours][1],
        },
        "spent": {
            "releases": totals.count,
            "epsilon": _exact(totals.epsilon),
            "delta": _exact(totals.delta),
            "rho": _exact(totals.rho),
            "rho_delta": _exact(totals.rho_delta),
        },
        "remaining": {"epsilon": str(left.epsilon), "delta": str(left.delta)},
        "history": [entry.to_dict() for entry in account.history],
    }


def _exact(number: Fraction) -> str:
    """As `str`, also of sums with more digits than Python writes of an integer."""
    whole = f"{Decimal(number.numerator):f}"
    return whole if number.denominator == 1 else f"{whole}/{Decimal(number.denominator):f}"


def _csv(account: Accountant) -> str:
    """Costs as decimals, which spreadsheets can add up (and 1/10 would be a date); exactly in columns of their own."""
    rows = [[*FIELDS, *(f"{name}_exact" for name in _COSTS)]]
    for entry in account.history:
        row = dict(zip(FIELDS, entry.row(), strict=True))
        decimals = {name: _decimal_above(Fraction(row[name])) for name in _COSTS}
        rows.append([*(row | decimals).values(), *(row[name] for name in _COSTS)])
    return csv_text(rows, line_end="\n")


def _decimal_above(number: Fraction) -> str:
    """17 digits, rounded up: exact where they suffice, never less than was spent.

    >>> _decimal_above(Fraction(7, 10)), _decimal_above(Fraction(1, 3)), _decimal_above(Fraction(1, 10**7))
    ('0.7', '0.33333333333333334', '1E-7')
    """
    return str(_DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator)))


def _yaml_text(account: Accountant, name: str) -> str:
    history = account.history
    version = history[-1].version if history else "(no release yet)"
    return _HEADER.format(version=printable(version)) + "".join(_yaml(registry_record(account, name)))


def registry_record(account: Accountant, name: str) -> dict[str, Any]:
    """One record of the registry. What is claimed is the budget, which holds whatever was spent of it."""
    budget, history = account.budget, account.history
    pure = not budget.delta
    parameters = {"epsilon": _float_above(budget.epsilon)} | ({} if pure else {"delta": _float_above(budget.delta)})
    neighbours = NEIGHBOURS[budget.neighbours]
    seeded = sum(entry.seeded for entry in history)
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "ledger",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": "",
                "data_curators": [""],
                "description": "",
                "intended_use": "",
                "data_product_type": "Summary statistics",
                "data_product_region": "",
                "publication_date": history[0].time[:10] if history else "",
            },
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Approximate DP",
                "data_domain": "Tables with one row per person and public columns.",
                "unprotected_quantities": "The number of rows, the number and names of columns, and all parameters.",
            },
            "privacy_loss": {
                "privacy_unit": "row",
                "privacy_unit_details": f"Neighbouring tables: {neighbours[1]}.",
                "privacy_parameters": parameters,
                "privacy_parameters_details": (
                    f"Exactly epsilon = {show(budget.epsilon)}, delta = {show(budget.delta)}: a budget fixed "
                    "beforehand for all releases together, refusals and interrupted runs included."
                ),
            },
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": "",
                "actors": "",
                "release_type": "One release" if len(history) == 1 else "Many releases",
                "release_type_details": f"{len(history)} entries in the ledger"
                + (f", {seeded} of them seeded rehearsals that are not for publication." if seeded else "."),
            },
            "accounting": {
                "post_processing": "",
                "composition": "Sequential: the plain sum of epsilons and deltas, or zCDP with one conversion; one of "
                "the two stays within the budget for all releases. Adaptive choices are covered.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "",
                "mechanisms": _mechanisms(account),
                "justification": "",
            },
            "administrative": {"sources": "", "notes": "", "registry_authors": [""]},
        },
    }


def _mechanisms(account: Accountant) -> str:
    lines = (
        f"{entry.number}. {entry.mechanism or 'spent by hand'} with epsilon = {show(entry.guarantee.epsilon)}"
        f"{', a seeded rehearsal' if entry.seeded else ''} (tukeydp {entry.version}, {entry.time})"
        for entry in account.history
    )
    return "\n".join([*lines, "Noise and draws are exact, in integers: floating-point attacks do not apply."])


def _float_above(number: Fraction) -> float:
    """The float whose decimal, as printed, is nearest and not below."""
    near = float(number)
    return near if Fraction(repr(near)) >= number else math.nextafter(near, math.inf)


def _yaml(value: dict[str, Any], indent: str = "") -> Iterator[str]:
    """Mappings, lists of texts, texts and numbers."""
    for key, item in value.items():
        if isinstance(item, dict):
            yield f"{indent}{key}:\n"
            yield from _yaml(item, indent + "  ")
        elif isinstance(item, list):
            yield f"{indent}{key}:\n"
            yield from (f"{indent}  - {_scalar(element)}\n" for element in item)
        else:
            yield f"{indent}{key}: {_scalar(item)}\n"


def _scalar(item: Any) -> str:
    if isinstance(item, float):
        # YAML 1.1 reads 1e-06 as a text: it wants a point.
        mantissa, mark, exponent = repr(item).partition("e")
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}{mark}{exponent}"
    return escaped(item, "yaml") if isinstance(item, str) else json.dumps(item)
