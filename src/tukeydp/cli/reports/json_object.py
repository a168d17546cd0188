"""A report as JSON: the object that --json prints, indented."""

from __future__ import annotations

from tukeydp.cli.sections import Account


def json_report(account: Account) -> str:
    return account.outcome.to_json(verbose=account.verbose, indent=2) + "\n"
