"""Renews docs/results/: what the last audit and the last reproduction found, as data and as tables on the pages.

The comparison's table comes from docs/results/real-tables.csv, which `benchmarks/real_tables.py` measured.

    python tools/docs_results.py --audit build/audit.json            # from `tukeydp audit --json`
    python tools/docs_results.py --reproduction build/11/results/claims.json build/12/results/claims.json
                                                # from `tukeydp reproduce all --seed 11` and 12
    python tools/docs_results.py                                     # the tables again, from the data that are there
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "results"
BEGIN, END = "<!-- begin: made by tools/docs_results.py -->", "<!-- end -->"
AUDIT_FACTS = ("version", "python", "platform", "quick", "seed")
AUDIT_FIELDS = ("name", "claim", "datasets", "pairs", "draws", "bound", "worst", "passed", "cpu_seconds")
NO_POWER = "no power"
RUN_FACTS = ("quick", "tukeydp", "python", "numpy", "scipy", "numba")
CLAIM_FIELDS = ("id", "claim", "whose", "chosen_afterwards")
DIFFERENT = "different"  # a verdict of one seed that is not that of another
MEAN, PURE, APPROXIMATE = "td.mean", ("Laplace", "OpenDP"), ("CoinPress", "Huang-Liang-Yi", "PLAN")
WIDE = "10"  # bounds, in ranges of the column
Data = dict[str, Any]


def audit_data(found: Data) -> Data:
    """What the page shows of `tukeydp audit --json`."""
    checks = [
        {field: check[field] for field in AUDIT_FIELDS}
        | ({"verdict": NO_POWER} if check.get("verdict") == NO_POWER else {})
        for check in found["checks"]
    ]
    return {fact: found[fact] for fact in AUDIT_FACTS} | {"checks": checks}


def reproduction_data(runs: Sequence[Data]) -> Data:
    """What the page shows of `results/claims.json` of several seeds: all verdicts, and the number that tells most."""
    known = [{claim["id"]: claim for claim in run["claims"]} for run in runs]
    made = [{fact: run["facts"][fact] for fact in RUN_FACTS} for run in runs]
    if any(facts != made[0] for facts in made):
        raise ValueError("the runs differ in more than their seed")
    if any(run["facts"].get("unfinished") for run in runs) or any(claims.keys() != known[0].keys() for claims in known):
        raise ValueError("a run is unfinished, or has other claims")
    facts = made[0] | {"seeds": [run["facts"]["seed"] for run in runs]}
    return {
        "facts": facts,
        "claims": [
            {field: claim[field] for field in CLAIM_FIELDS}
            | {
                "verdicts": [claims[claim["id"]]["verdict"] for claims in known],
                "remark": next((c["remark"] for c in (claims[claim["id"]] for claims in known) if c["remark"]), ""),
                "number": telling_number([claims[claim["id"]] for claims in known]),
            }
            for claim in runs[0]["claims"]
        ],
        "sentences": runs[0]["sentences"],
    }


def telling_number(claims: Sequence[Data]) -> str:
    """The number nearest to the end of its range, or farthest beyond it, in any of the runs; as each of them has it."""
    if not all(claim["numbers"] for claim in claims):
        return next(claim["words"][0] for claim in claims if not claim["numbers"])
    count = min(len(claim["numbers"]) for claim in claims)
    i = min(range(count), key=lambda i: min(_slack(claim["numbers"][i]) for claim in claims))
    label, _, first = claims[0]["words"][i].rpartition(": ")
    _, comma, needed = first.rpartition(", needed ")
    values = [claim["words"][i].rpartition(": ")[2].rpartition(", needed ")[0] for claim in claims]
    rest = f" ({count} numbers; this one is nearest to its range's end, or farthest beyond)" if count > 1 else ""
    return f"{label}: {' and '.join(dict.fromkeys(values))}{comma}{needed}{rest}"


def _slack(number: Data) -> float:
    """How far the interval keeps from the ends of the range, in parts of them; negative where it goes beyond."""
    low, high = (math.inf * sign if number[k] is None else number[k] for k, sign in (("low", -1), ("high", 1)))
    ends = ((number["at_least"], lambda end: low - end), (number["at_most"], lambda end: end - high))
    return min((gap(end) / max(abs(end), 1e-9) for end, gap in ends if end is not None), default=math.inf)


def audit_table(data: Data) -> str:
    checks = data["checks"]
    passed = sum(check["passed"] for check in checks)
    datasets, pairs, draws, seconds = (
        sum(check[field] for check in checks) for field in ("datasets", "pairs", "draws", "cpu_seconds")
    )
    kind = "quick" if data["quick"] else "full"
    lines = [
        f"**{passed} of {len(checks)} checks passed**, on {datasets:,} datasets, {pairs:,} pairs of neighbours and "
        f"{draws:,} draws, in {seconds / 60:.0f} minutes of CPU time. The {kind} run with seed {data['seed']}; "
        f"tukeydp {data['version']}, Python {data['python']}, {data['platform']}.",
        "",
        "| check | datasets | pairs | draws | bound | worst | result |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for check in checks:
        counts = " | ".join(f"{check[field]:,}" for field in ("datasets", "pairs", "draws"))
        worst = "none" if check["worst"] is None else f"{check['worst']:.4g}"
        result = check.get("verdict") or ("passed" if check["passed"] else "**failed**")
        lines.append(f"| {check['name']} | {counts} | {check['bound']:g} | {worst} | {result} |")
    lines += ["", "What each of them claims:", ""]
    return "\n".join(lines + [f"- **{check['name']}.** {_cell(check['claim'])}" for check in checks])


def reproduction_table(data: Data) -> str:
    facts, claims = data["facts"], data["claims"]
    kind = "`--quick`: few trials, so that some stay undecided" if facts["quick"] == "yes" else "the full run"
    seeds = " and ".join(map(str, facts["seeds"]))
    several = len(facts["seeds"]) > 1
    lines = [f"From {kind}, with seed{'s' * several} {seeds}; tukeydp {facts['tukeydp']}, numpy {facts['numpy']}.", ""]
    for whose in sorted({claim["whose"] for claim in claims}, reverse=True):  # the paper's before ours
        theirs = [claim["verdicts"] for claim in claims if claim["whose"] == whose]
        counts = Counter(found[0] if len(set(found)) == 1 else DIFFERENT for found in theirs)
        words = ("borne out", "not borne out", "undecided", *([DIFFERENT] if several else []))
        with_all = ", with both seeds" if several else ""
        tally = ", ".join(f"{counts[verdict]} {verdict}" for verdict in words)
        lines.append(f"- **{counts.total()} claims, {whose}{with_all}: {tally}.**")
    if several:
        against = [c["id"] for c in claims if {"borne out", "not borne out"} <= set(c["verdicts"])]
        named = ", ".join(f"`{name}`" for name in against) or "none"
        lines.append(f"- Borne out with one seed and not with the other: {named}.")
    lines += ["", "## The paper, sentence by sentence", "", "| where | what it says | here |", "|---|---|---|"]
    verdicts = {claim["id"]: claim["verdicts"] for claim in claims}
    for sentence in data["sentences"]:
        found = [f"{_verdicts(verdicts.get(name, ['not run']), facts)} `{name}`" for name in sentence["claims"]]
        said = "<br>".join([*found, *([_cell(sentence["reason"])] if sentence["reason"] else [])])
        lines.append(f"| {_cell(sentence['place'])} | {_cell(sentence['quote'])} | {said} |")
    heads = "the number that tells most, with 99 % intervals"
    lines += ["", "## The claims", "", f"| claim | in words | whose | verdict | {heads} |", "|---|---|---|---|---|"]
    for claim in claims:
        note = f" *({_cell(claim['remark'])})*" if claim["remark"] else ""
        verdict = _verdicts(claim["verdicts"], facts)
        words = f"{_cell(claim['claim'])}{note}"
        lines.append(f"| `{claim['id']}` | {words} | {claim['whose']} | {verdict} | {_cell(claim['number'])} |")
    return "\n".join(lines)


def _verdicts(words: Sequence[str], facts: Data) -> str:
    """One word where all runs agree; otherwise that of each, with its seed."""
    if len(set(words)) == 1:
        return _verdict(words[0])
    return ", ".join(f"{_verdict(word)} ({seed})" for word, seed in zip(words, facts["seeds"], strict=True))


def _verdict(word: str) -> str:
    return word if word == "borne out" else f"**{word}**"


def _cell(text: str) -> str:
    """Text that means itself in a cell of a Markdown table, outside of formulas and of emphasis."""
    for mark in "\\|$*_<":
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return text


def comparison_table(lines: Iterable[dict[str, str]]) -> str:
    """td.mean beside the best of the others on every table, and geometric means of the ratios for all bounds."""
    errors: dict[str, dict[tuple[str, int, int], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        table = line["table"], int(line["rows"]), int(line["columns"])
        errors[line["bounds over range"]][table][line["method"]] = float(line["error"])
    rows = [
        "| table | rows | columns | td.mean, epsilon | best other, epsilon | best other, epsilon and delta |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for table in sorted(errors[WIDE], key=lambda table: table[1]):
        found = errors[WIDE][table]
        numbers = (found[MEAN], _best(found, PURE), _best(found, APPROXIMATE))
        shown = " | ".join(f"**{value:.2g}**" if value == min(numbers) else f"{value:.2g}" for value in numbers)
        rows.append(f"| {table[0]} | {table[1]:,} | {table[2]} | {shown} |")
    rows += [
        "",
        "Bounds are ten times the range there. The error of td.mean over the best other's, geometric mean over tables:",
        "",
    ]
    rows += ["| bounds over range | best other with epsilon | best other at all | at worst |", "|--:|--:|--:|--:|"]
    for width in sorted(errors, key=float):
        pure = [found[MEAN] / _best(found, PURE) for found in errors[width].values()]
        every = [found[MEAN] / _best(found, PURE + APPROXIMATE) for found in errors[width].values()]
        rows.append(f"| {width} | {_geometric(pure):.2f} | {_geometric(every):.2f} | {max(every):.1f} |")
    return "\n".join(rows)


def _best(found: dict[str, float], methods: tuple[str, ...]) -> float:
    return min(found[method] for method in methods)


def _geometric(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def tables() -> dict[Path, str]:
    """Every page with the table that belongs into it."""
    made: dict[str, Callable[[Data], str]] = {"audit": audit_table, "reproduction": reproduction_table}
    found = {
        FOLDER / f"{name}.md": table(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))
        for name, table in made.items()
    }
    with (FOLDER / "real-tables.csv").open(encoding="utf-8", newline="") as file:
        return found | {FOLDER.parent / "comparison.md": comparison_table(csv.DictReader(file))}


def with_table(page: str, table: str, mark: str = BEGIN) -> str:
    """The page with another table between the marks."""
    before, begin, rest = page.partition(mark)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no marks for its table")
    return f"{before}{mark}\n{table}\n{END}{after}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audit", type=Path, metavar="FILE")
    parser.add_argument("--reproduction", type=Path, metavar="FILE", nargs="+", help="one of each seed")
    given = parser.parse_args(arguments)
    new: dict[str, Data] = {}
    if given.audit:
        new["audit"] = audit_data(json.loads(given.audit.read_text(encoding="utf-8")))
    if given.reproduction:
        runs = [json.loads(path.read_text(encoding="utf-8")) for path in given.reproduction]
        new["reproduction"] = reproduction_data(runs)
    for name, data in new.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, table in tables().items():
        path.write_text(with_table(path.read_text(encoding="utf-8"), table), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
