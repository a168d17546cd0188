"""Check the machine-checked proofs: `python tools/proofs.py [--mutants] [--write]`.

Compiles proofs/*.v with Coq 8.16 or newer, prints the axioms that each final theorem rests on, and fails on any beyond
those of the standard library's real numbers. A final theorem has a comment above it: `@says` what it states in words,
`@code` which functions of the package it speaks of. docs/statements.md lists them; it is compared, or written
with --write. --mutants changes one constant at a time: each change must make a proof fail.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROOFS = ROOT / "proofs"
# In the order in which they depend on each other.
FILES = ("Laws", "Prices", "Depth", "Sampler", "Brackets", "Noise", "Rem", "Accountant", "Mechanisms")
# The standard library's: classical real numbers, and functions that agree everywhere are equal.
AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
FINAL = re.compile(
    r"\(\* @says (?P<says>.*?)\s+@code (?P<code>.*?) \*\)\n(?:Theorem|Lemma|Corollary) (?P<name>\w+)", re.S
)


@dataclass(frozen=True)
class Statement:
    """A final theorem: where it is, what it states in words, and the functions it speaks of."""

    file: str
    name: str
    says: str
    code: tuple[str, ...]


# (file, before, after): a wrong constant, or a check left out.
MUTANTS = (
    (
        "Mechanisms",
        "Theorem boxem_replace x x' rows :\n  private eps 0 (boxem (eps / 2)",
        "Theorem boxem_replace x x' rows :\n  private eps 0 (boxem (eps / 1)",
    ),
    (
        "Mechanisms",
        "subset_means (eps / (2 * INR r)) (map (fun b => snd (fst b)",
        "subset_means (eps / INR r) (map (fun b => snd (fst b)",
    ),
    (
        "Mechanisms",
        "cube_weight (2 * IZR h / eps) (sums (c :: rows)) out <=",
        "cube_weight (IZR h / eps) (sums (c :: rows)) out <=",
    ),
    (
        "Mechanisms",
        "laplace_weight (2 / eps) s out * laplace_weight (2 / eps) t out' <=",
        "laplace_weight (1 / eps) s out * laplace_weight (2 / eps) t out' <=",
    ),
    (
        "Prices",
        "Theorem price_move u v s t : ranges a1 u v -> ranges a1 s t ->",
        "Theorem price_move u v s t : ranges (2 * a1) u v -> ranges a1 s t ->",
    ),
    ("Depth", "Theorem depth_declares : declares 1 2 depth.", "Theorem depth_declares : declares 1 1 depth."),
    ("Depth", "declares 1 2 (fun rows y => count y rows)", "declares 1 1 (fun rows y => count y rows)"),
    ("Depth", "declares (2 * mu) (2 * den)", "declares mu (2 * den)"),
    (
        "Sampler",
        "Hypothesis caps_hold : forall y, depth y <= cap (leaf y).",
        "Hypothesis caps_hold : forall y, depth y <= cap (leaf y) + 1.",
    ),
    ("Sampler", "| S j => q (lowest + S j)%nat - q (lowest + j)%nat end.", "| S j => q (lowest + S j)%nat end."),
    (
        "Sampler",
        "Definition most (u low high : Z) : Z := if 0 <? u then u * high else u * low.",
        "Definition most (u low high : Z) : Z := if 0 <? u then u * low else u * high.",
    ),
    ("Brackets", "(p + 1) * high_all <= low_at * unit ->", "p * high_all <= low_at * unit ->"),
    (
        "Noise",
        "accept e s * ((2 * INR s + 1) / (2 * INR (s + S e)))",
        "accept e s * ((2 * INR s + 1) / (2 * INR (s + e)))",
    ),
    (
        "Noise",
        "Definition fails_at (k : nat) : R := all_succeed (pred k) * (1 - g / INR k).",
        "Definition fails_at (k : nat) : R := all_succeed k * (1 - g / INR k).",
    ),
    (
        "Rem",
        "Definition loss (f : Y -> Z) : R := 1 - mass (t + 1) f / mass (t - 1) f.",
        "Definition loss (f : Y -> Z) : R := 1 - mass t f / mass (t - 1) f.",
    ),
    ("Rem", "Definition knee : R := eps / (eps + eps_p).", "Definition knee : R := 2 * eps / (2 * eps + eps_p)."),
    ("Rem", "| O => INR first + ln delta / eps_p", "| O => INR first + 1 + ln (2 * delta) / eps_p"),
    ("Accountant", "| Stop => 0 <= left /\\ 0 <= left_delta", "| Stop => True"),
    (
        "Accountant",
        "admitted (left - eps) (left_delta - delta) (next y)",
        "admitted left (left_delta - delta) (next y)",
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", action="store_true", help="also change one constant at a time")
    parser.add_argument("--write", action="store_true", help="write docs/statements.md instead of comparing it")
    options = parser.parse_args()
    if not coq():
        sys.stderr.write("Coq is needed: Debian's package coq (apt-get install coq).\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name in FILES:
            shutil.copy(PROOFS / f"{name}.v", work)
            if (error := compiled(work, name)) is not None:
                sys.stderr.write(f"{name}.v: {error}\n")
                return 1
            say(f"{name}.v is checked.")
        found = statements()
        closed, foreign = described(work, found)
        text = page(found, closed)
        wrong = 0
        for statement, axioms in foreign.items():
            say(f"{statement}: {', '.join(sorted(axioms)) if axioms else 'no axioms'}")
            wrong += bool(axioms - AXIOMS)
        if any(
            "Admitted" in (PROOFS / f"{name}.v").read_text() or "Axiom " in (PROOFS / f"{name}.v").read_text()
            for name in FILES
        ):
            say("A proof is left out.")
            wrong += 1
        target = ROOT / "docs" / "statements.md"
        if options.write:
            target.write_text(text, encoding="utf-8")
        elif target.read_text(encoding="utf-8") != text:
            say("docs/statements.md is not what the proofs say: make proofs-statements")
            wrong += 1
        survivors = mutated(work) if options.mutants else []
        say(f"{len(found)} theorems in {len(FILES)} files; {wrong} faults.")
        if options.mutants:
            say(f"{len(MUTANTS) - len(survivors)} of {len(MUTANTS)} wrong constants make a proof fail.")
        for survivor in survivors:
            say(f"  not noticed: {survivor}")
        return 1 if wrong or survivors else 0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def coq() -> bool:
    """Whether Coq is there; installed first where this may be done."""
    if shutil.which("coqc") is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)  # type: ignore[call-overload]
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "coq"]
        subprocess.run(install, check=False, **quiet)  # type: ignore[call-overload]
    return shutil.which("coqc") is not None


def compiled(work: Path, name: str) -> str | None:
    """What Coq says against a file, None if nothing."""
    run = subprocess.run(["coqc", "-q", f"{name}.v"], cwd=work, capture_output=True, text=True, check=False)
    return None if run.returncode == 0 else run.stderr.strip()


def statements() -> list[Statement]:
    """The final theorems, in order."""
    found = []
    for file in FILES:
        for match in FINAL.finditer((PROOFS / f"{file}.v").read_text(encoding="utf-8")):
            code = tuple(part.strip() for part in match["code"].split(",") if part.strip() != "-")
            found.append(Statement(file, match["name"], " ".join(match["says"].split()), code))
    return found


def described(work: Path, found: list[Statement]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Each theorem with all that it assumes written out, and the axioms that it rests on."""
    lines = [
        "Set Printing Width 110.",
        "Require Import Reals List ZArith.",
        *(f"Require Import {file}." for file in FILES),
    ]
    lines.append("Import ListNotations. Open Scope R_scope.")
    for one in found:
        name = f"{one.file}.{one.name}"
        lines += [f"Check @{name}.", f"Print Assumptions {name}."]
    (work / "Described.v").write_text("\n".join(lines), encoding="utf-8")
    run = subprocess.run(["coqc", "-q", "Described.v"], cwd=work, capture_output=True, text=True, check=True)
    closed: dict[str, str] = {}
    axioms: dict[str, set[str]] = {}
    rest = run.stdout
    for one, following in zip(found, [*found[1:], None], strict=True):
        end = len(rest)
        if following is not None:
            start = re.search(rf"^@?(?:{following.file}\.)?{following.name}\n? +:", rest[1:], re.M)
            assert start is not None, following
            end = start.start() + 1
        here, rest = rest[:end], rest[end:]
        name = f"{one.file}.{one.name}"
        cut = re.search(r"^(Axioms:|Closed under the global context)", here, re.M)
        assert cut is not None
        closed[name] = here[: cut.start()].strip()
        axioms[name] = set(re.findall(r"^([\w.]+)(?= ?:|\n  :)", here[cut.end() :], re.M))
    return closed, axioms


def page(found: list[Statement], closed: dict[str, str]) -> str:
    lines = [
        "# What the proofs state",
        "",
        "Written by `make proofs-statements` from `proofs/*.v`; `make proofs` checks them with Coq.",
        "Every statement is shown in words and as Coq prints it, with all that it assumes.",
        "`private eps delta p q ys`: the law p on ys is (eps, delta)-private against its neighbour's, q.",
        "",
    ]
    for file in FILES:
        lines += [f"## {file}.v", ""]
        for one in found:
            if one.file == file:
                code = ", ".join(f"`{part}`" for part in one.code) or "none"
                lines += [
                    f"**{one.name}.** {one.says} Code: {code}.",
                    "",
                    "```coq",
                    closed[f"{file}.{one.name}"],
                    "```",
                    "",
                ]
    return "\n".join(lines).rstrip() + "\n"


def mutated(work: Path) -> list[str]:
    """The wrong constants that no proof notices, in their file or in one that builds on it."""
    survivors = []
    for file, before, after in MUTANTS:
        text = (PROOFS / f"{file}.v").read_text(encoding="utf-8")
        assert text.count(before) >= 1, (file, before)
        with tempfile.TemporaryDirectory() as folder:
            there = Path(folder)
            for name in FILES:
                shutil.copy(PROOFS / f"{name}.v", there)
            (there / f"{file}.v").write_text(text.replace(before, after, 1), encoding="utf-8")
            first = FILES.index(file)
            for name in FILES[:first]:
                for kind in (".vo", ".vos", ".vok", ".glob"):
                    if (work / f"{name}{kind}").exists():
                        shutil.copy(work / f"{name}{kind}", there)
            noticed = any(compiled(there, name) is not None for name in FILES[first:])
        say(f"{'noticed' if noticed else 'SURVIVES':9} {file}: {after.splitlines()[-1].strip()[:80]}")
        if not noticed:
            survivors.append(f"{file}: {after}")
    return survivors


if __name__ == "__main__":
    sys.exit(main())
