"""`--out FILE`: a release as a file. The ending says which kind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import tukeydp
from tukeydp.cli.sections import REHEARSED, Account, GroupAccount, group_headline, group_sections, headline, sections
from tukeydp.results.escaping import csv_text, in_html, in_markdown
from tukeydp.results.escaping import csv_text as csv_lines
from tukeydp.results.release import Outcome
from tukeydp.results.views import Shown, facts, lines_of_groups, shown, shown_groups, table_html, warnings
from tukeydp.trusted.account import ApproxDP, epsilon_stated
from tukeydp.trusted.parameters import ParameterError, show

# A report as JSON: the object that --json prints, indented.


def json_report(account: Account) -> str:
    return account.outcome.to_json(verbose=account.verbose, indent=2) + "\n"


# A report as CSV: one line for each column, with all digits, for other programs.


def csv_report(account: Account) -> str:
    """What `to_frame` has, and on every line what it cost and whether it may be published."""
    outcome = account.outcome
    error = outcome.expected_error if account.verbose else outcome.quick_error
    found = {"column": outcome.keys(), **facts(outcome, error)}
    if not outcome.released:
        found["released"] = [""] * outcome.d
    guarantee = outcome.guarantee
    same = {
        "epsilon": "" if guarantee is None else show(guarantee.epsilon),
        "delta": show(guarantee.delta) if isinstance(guarantee, ApproxDP) else "" if guarantee is None else "0",
        "mechanism": outcome.mechanism,
        "rows": outcome.n,
        "private": "yes" if outcome.private else "no",
    }
    if "interval_lower" in found:
        same["nominal_confidence"] = outcome.settings["confidence"]
    rows = ([*row, *same.values()] for row in zip(*found.values(), strict=True))
    return csv_text([[*found, *same], *rows])


# A report as Markdown, for a repository or a wiki.


def markdown_report(account: Account) -> str:
    outcome = account.outcome
    parts = [f"# {in_markdown(headline(account))}", *(f"**{in_markdown(text)}**" for text in warnings(outcome))]
    if outcome.released:
        parts.append(table_text(shown(outcome, outcome.quick_error)))
    parts += [f"**{label}**: {in_markdown(text)}" for label, text in sections(account)]
    return "\n\n".join(parts) + "\n"


def table_text(table: Shown) -> str:
    """A table in pipes."""
    rule = [":---" if name in table.left else "---:" for name in table.header]
    header, *rows = ([in_markdown(cell) for cell in line] for line in (table.header, *table.rows))
    lines = [header, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# A report as one HTML page: no scripts, nothing loaded, dark or light as the reader's system is, fit for paper.

# Colours in pairs for light and dark, with a contrast of at least 4.5 to 1 (WCAG AA). Where a line has no room for a
# row of the table, below 44 em, its cells stand below each other with their headers.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --dim: #59626d; --line: #d5dae0; --page: #fff; --box: #f5f7f9;
  --accent: #1f5f99; --alarm: #a3230f; --alarm-box: #fdeeeb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #a3adb8; --line: #3a424c; --page: #14181d;
  --box: #1d2329; --accent: #7fb6ea; --alarm: #ff9c8a; --alarm-box: #38201c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
.alarm { border: 2px solid var(--alarm); background: var(--alarm-box); color: var(--alarm); padding: .5rem .75rem;
  font-weight: 700; border-radius: .4rem; }
table { border-collapse: collapse; width: 100%; margin: 0 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
.wide { overflow-x: auto; margin: 0 0 1.5rem; }
.wide table { margin: 0; }
td { overflow-wrap: normal; }
thead th { max-width: 12em; }
tbody th, thead th:first-child { position: sticky; left: 0; background: var(--page); min-width: 6em; }
td[style*=right] { white-space: nowrap; }
thead th { color: var(--dim); font-weight: 600; font-size: .875rem; }
tbody th { font-weight: 600; }
td[data-label="released"] { font-weight: 700; color: var(--accent); }
dl { margin: 0; }
dt { font-weight: 600; margin-top: .9rem; }
dd { margin: 0; }
dt.alarmed { color: var(--alarm); }
details { margin-top: 1.5rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--box);
  padding: .6rem .8rem; }
summary { cursor: pointer; font-weight: 600; }
footer { margin-top: 2rem; color: var(--dim); font-size: .875rem; }
@media (max-width: 44em) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, tbody th, tbody td { display: block; }
  tbody tr { border: 1px solid var(--line); border-radius: .4rem; margin-bottom: .75rem; padding: .25rem 0; }
  tbody th, tbody td { white-space: normal !important; text-align: left !important; border: 0; padding: .15rem .75rem; }
  tbody td { display: flex; justify-content: space-between; gap: 1rem; }
  tbody td::before { content: attr(data-label); color: var(--dim); overflow-wrap: anywhere; }
  tbody td:empty { display: none; }
}
@media print {
  :root { --ink: #000; --dim: #444; --line: #999; --page: #fff; --box: #fff; --accent: #000; --alarm: #a3230f;
    --alarm-box: #fff; }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  .wide { overflow: visible; }
  tr, dt, dd { break-inside: avoid; }
  dt { break-after: avoid; }
}
"""


def html_report(account: Account) -> str:
    return page(headline(account), "\n".join(_body(account)))


def page(headline: str, body: str) -> str:
    """A whole page around a body that is HTML; the headline is text."""
    title = in_html(headline)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        + body
        + "\n</main>\n</body>\n</html>\n"
    )


def wide(table: Shown) -> str:
    """A table that scrolls by itself where it is wider than the page; the names of its rows stay in sight."""
    return f'<div class="wide" role="group" aria-label="Released values" tabindex="0">{table_html(table)}</div>'


def _body(account: Account) -> Iterator[str]:
    outcome = account.outcome
    yield from (f'<p class="alarm" role="alert">{in_html(text)}</p>' for text in warnings(outcome))
    if outcome.released:
        yield wide(shown(outcome, outcome.quick_error))
    yield "<dl>"
    details = {}
    for label, text in sections(account._replace(verbose=True)):
        if label == REHEARSED:
            details["How the accuracy was forecast"] = text
            continue
        alarmed = ' class="alarmed"' if label == "Warning" else ""
        yield f"<dt{alarmed}>{in_html(label)}</dt><dd>{in_html(text)}</dd>"
    yield "</dl>"
    yield f"<details open><summary>Details</summary><dl>{''.join(_pairs(_facts(outcome) | details))}</dl></details>"
    yield footer(_released(outcome))


def footer(released: str) -> str:
    today = datetime.now(UTC).date().isoformat()
    written = f"Written by tukeydp {in_html(tukeydp.__version__)} on {today}."
    return f"<footer>{written} All but {released} is public beforehand.</footer>"


def _released(outcome: Outcome) -> str:
    """What the run has told of the data, all of it paid for."""
    paid = {
        "the released values": True,
        "what their intervals rest on": "confidence" in outcome.settings,
        "the depth of the point": "epsilon_certificate" in outcome.settings,
        "the noisy counts of the check": "epsilon_check" in outcome.settings,
    }
    told = [name for name, there in paid.items() if there]
    return f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0]


def _facts(outcome: Outcome) -> dict[str, str]:
    """What was fixed beforehand."""
    rows = "secret" if outcome.n is None else outcome.n
    facts = {"Mechanism": outcome.mechanism, "Rows and columns": f"{rows} and {outcome.d}"}
    if outcome.notion is not None:
        facts["Notion of depth"] = outcome.notion
    if outcome.noise_sd is not None:
        facts["Standard deviation of the noise, column by column"] = "; ".join(f"{v:.4g}" for v in outcome.noise_sd)
    settings = [f"{name} {value}" for name, value in outcome.to_dict(verbose=False)["settings"].items()]
    return facts | ({"Settings": "; ".join(settings)} if settings else {})


def _pairs(facts: dict[str, str]) -> Iterator[str]:
    return (f"<dt>{in_html(name)}</dt><dd>{in_html(text)}</dd>" for name, text in facts.items())


# Reports of a run by groups, one function for each kind of file.

_SEEDED = "SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result."


def html_text(account: GroupAccount) -> str:
    found = account.found
    parts = [f'<p class="alarm" role="alert">{_SEEDED}</p>'] if found.seeded else []
    parts += [wide(shown_groups(found)), "<dl>"]
    for label, text in group_sections(account):
        alarmed = ' class="alarmed"' if label == "Warning" else ""
        parts.append(f"<dt{alarmed}>{in_html(label)}</dt><dd>{in_html(text)}</dd>")
    counted = "" if found.counts is None else " and the noised numbers of rows"
    parts += ["</dl>", footer(f"the released values{counted}")]
    return page(group_headline(account), "\n".join(parts))


def markdown_text(account: GroupAccount) -> str:
    parts = [f"# {in_markdown(group_headline(account))}", *([f"**{_SEEDED}**"] if account.found.seeded else [])]
    parts.append(table_text(shown_groups(account.found)))
    parts += [f"**{label}**: {in_markdown(text)}" for label, text in group_sections(account)]
    return "\n\n".join(parts) + "\n"


def grouped_csv(account: GroupAccount) -> str:
    """A line for each group with all digits, what all of them cost, and whether they may be published."""
    found = account.found
    names = list(found.first.columns or [f"column {j}" for j in range(found.first.d)])
    label = ["quantile"] if hasattr(found.first, "shares") else []
    counted = [] if found.counts is None else ["rows (noised)"]
    lines: list[list[object]] = [[found.by, *label, *counted, *names, "epsilon", "mechanism", "private"]]
    same = [epsilon_stated(found.guarantee), found.mechanism, "yes" if found.private else "no"]
    for key, quantile, values, _ in lines_of_groups(found):
        count = [] if found.counts is None else [found.counts[key]]
        lines.append([key, *quantile, *count, *values, *same])
    return csv_lines(lines)


def json_text(account: GroupAccount) -> str:
    return account.found.to_json(verbose=account.verbose, indent=2) + "\n"


GROUP_REPORTS: dict[str, Callable[[GroupAccount], str]] = {
    ".html": html_text,
    ".md": markdown_text,
    ".csv": grouped_csv,
    ".json": json_text,
}


# `--out FILE`: a release as a file. The ending says which kind; each kind is one module.
#
# A wrong name is refused before the data are read, since a release that cannot be kept has cost its budget all the
# same.

Report = Callable[[Account], str]

# A new kind: a file beside this one and a line here.
REPORTS: dict[str, Report] = {
    ".html": html_report,
    ".md": markdown_report,
    ".csv": csv_report,
    ".json": json_report,
}


def checked_targets(out: Sequence[Path] | None, file: Path, kinds: Collection[str] = REPORTS) -> list[Path]:
    """The files to write, once it is clear that each can be written and that none is the table itself."""
    targets, endings = list(out or ()), list(kinds)
    for number, target in enumerate(targets):
        if target.suffix.lower() not in kinds:
            raise ParameterError("out", f"must end in {', '.join(endings[:-1])} or {endings[-1]}", str(target))
        if target in targets[:number]:
            raise ParameterError("out", "must name different files", str(target))
        if target.exists() and file.exists() and target.samefile(file):
            raise ParameterError("out", "must not be the file that is read", str(target))
        _require_writable(target)
    return targets


def _require_writable(target: Path) -> None:
    rule = "must be a file that can be written"
    if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
        reason = "it is there and is no file" if not target.is_file() else "it is there and write-protected"
        raise ParameterError("out", rule, f"{target} ({reason})")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise ParameterError("out", rule, f"{target} ({error.strerror})") from None


def write_reports(targets: Sequence[Path], account: Account) -> dict[Path, str]:
    """A file for each target; what went wrong, by file."""
    return write_texts(targets, lambda ending: REPORTS[ending](account))


def write_texts(targets: Sequence[Path], text: Callable[[str], str]) -> dict[Path, str]:
    """The same text for every file but for its ending; what went wrong, by file."""
    return write_files({target: partial(_encoded, text, target) for target in targets})


def _encoded(text: Callable[[str], str], target: Path) -> bytes:
    return text(target.suffix.lower()).encode()


def write_files(contents: Mapping[Path, Callable[[], bytes]], *, private: bool = False) -> dict[Path, str]:
    """Write every file; what went wrong, by file. Nothing is raised: the release has cost its budget and is printed.

    `private` files can be read by their owner alone.
    """
    failed = {}
    for target, content in contents.items():
        try:
            _replace(target, content(), 0o600 if private else _mode(target))
        except OSError as error:
            failed[target] = error.strerror or type(error).__name__
        except Exception as error:  # its message might quote anything
            failed[target] = type(error).__name__
    return failed


def _replace(target: Path, content: bytes, mode: int) -> None:
    """All of the file or nothing of it: a temporary file in the same folder, then renamed. It outlives a power cut."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
        _settle(target.parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _settle(folder: Path) -> None:
    """A new name is in the folder, which has to be written too; not every system lets one open it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode(target: Path) -> int:
    """As any new file would have, or as the one that is replaced: temporary files can be read by their owner only."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
