"""The end of a command that releases by groups: print, write the reports, leave with the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from tukeydp.cli.group_sections import GroupAccount, group_headline, group_sections
from tukeydp.cli.options import UNEXPECTED
from tukeydp.cli.reports import write_texts
from tukeydp.cli.reports.grouped import GROUP_REPORTS
from tukeydp.cli.words import complain, print_section, print_table, say
from tukeydp.views.grouped import shown_groups


def finish_groups(account: GroupAccount, *, as_json: bool, targets: Sequence[Path] = ()) -> None:
    """The release has cost its budget: whatever fails, the rest is still done."""
    try:
        if as_json:
            sys.stdout.write(account.found.to_json(verbose=account.verbose) + "\n")
        else:
            _explain(account)
    finally:
        failed = write_texts(targets, lambda ending: GROUP_REPORTS[ending](account))
    written = [str(target) for target in targets if target not in failed]
    if written and not as_json:
        say(f"Wrote {', '.join(written)}.")
    for target, reason in failed.items():
        complain(f"{target} could not be written ({reason}). The result above is complete, and its budget is spent.")
    if failed:
        raise typer.Exit(UNEXPECTED)


def _explain(account: GroupAccount) -> None:
    if account.found.seeded:
        say("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result. ***\n")
    say(f"{group_headline(account)}\n")
    print_table(shown_groups(account.found))
    say()
    for section in group_sections(account):
        print_section(section)
