"""Check the machine-checked proofs: `python tools/proofs.py [--mutants] [--write]`.

Compiles proofs/*.v with Coq 8.16 or newer, prints the axioms that each theorem rests on, and fails on any beyond those
of the standard library's real numbers. A theorem has a comment above it, `@says` what it states in words;
proofs/map.toml has the functions that it speaks of. proofs/STATEMENTS.md lists all of it; it is compared, or written
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
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROOFS = ROOT / "proofs"
# In the order in which they depend on each other.
FILES = (
    "Laws",
    "Prices",
    "Depth",
    "Records",
    "Concentrated",
    "Sampler",
    "Brackets",
    "Noise",
    "Rem",
    "Accountant",
    "Mechanisms",
    "Table",
    "Infinite",
    "Steps",
    "Bridge",
    "Tight",
)
STATEMENTS, MAP = PROOFS / "STATEMENTS.md", PROOFS / "map.toml"
# The standard library's: classical real numbers, and functions that agree everywhere are equal.
AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
FINAL = re.compile(r"\(\* @says (?P<says>(?:(?!\*\)).)*?) \*\)\n(?:Theorem|Corollary) (?P<name>\w+)", re.S)
THEOREM = re.compile(r"^(?:Theorem|Corollary) (\w+)", re.M)
DEFINED = re.compile(r"^(?:Definition|Fixpoint|Inductive|Record) .*?\.$", re.M | re.S)
REQUIRED = re.compile(r"^Require (?:Import |Export )?([^.]*)\.", re.M)
LEFT_OUT = re.compile(r"(?<![\w.])(?:Admitted|admit|Axiom|Parameter|Conjecture|Unset Guard Checking|bypass_check)\b")


@dataclass(frozen=True)
class Statement:
    """A theorem: where it is, what it states in words, the functions it speaks of, or why there are none."""

    file: str
    name: str
    says: str
    code: tuple[str, ...]
    why_none: str = ""

    @property
    def key(self) -> str:
        return f"{self.file}.{self.name}"


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
    (
        "Rem",
        "e (t - 1) * phi (t - 1 - Z.of_nat k)%Z + (e t - e (t - 1)) * phi (t - Z.of_nat k)%Z",
        "e (t - 1) * phi (t - Z.of_nat k)%Z + (e t - e (t - 1)) * phi (t - Z.of_nat k)%Z",
    ),
    ("Rem", "Theorem rem_replace : eps = 2 * eta + eps_p ->", "Theorem rem_replace : eps = eta + eps_p ->"),
    ("Rem", "largest_fraction t (S k) k.", "largest_fraction t k k."),
    ("Rem", "Definition knee : R := eps / (eps + eps_p).", "Definition knee : R := 2 * eps / (2 * eps + eps_p)."),
    ("Rem", "| O => INR first + ln delta / eps_p", "| O => INR first + 1 + ln (2 * delta) / eps_p"),
    ("Laws", "(length (filter touched gs) <= k)%nat ->", "(length (filter touched gs) <= S k)%nat ->"),
    ("Concentrated", "concentrated (eps ^ 2 / 8) p q ys.", "concentrated (eps ^ 2 / 9) p q ys."),
    ("Concentrated", "Rpower (1 - 1 / a) a.\n", "Rpower (1 - 1 / a) (a + 1).\n"),
    ("Accountant", "private E (Dr + Dc) (P c) (Q c)", "private E (Rmax Dr Dc) (P c) (Q c)"),
    ("Accountant", "conversion a R E <= Dc ->", "conversion a (R / 2) E <= Dc ->"),
    (
        "Accountant",
        "((exists l, le = Some l /\\ 0 <= l) \\/ 0 <= lr)",
        "((exists l, le = Some l /\\ 0 <= l) \\/ 0 <= lr + 1)",
    ),
    (
        "Table",
        "(in_whole (depth Row Half Point inside halves)) (1 / 2) (1 / 2) 1.",
        "(in_whole (depth Row Half Point inside halves)) 1 (1 / 2) 1.",
    ),
    ("Table", "- target))%Z) (1 / 2) (1 / 4) (1 / 2).", "- target))%Z) (1 / 2) (1 / 2) (1 / 2)."),
    ("Table", "y rows)%Z) 1 (1 / 2) 1.", "y rows)%Z) 1 1 1."),
    (
        "Table",
        "(1 / (4 * larger_share)) (1 / (2 * larger_share)).",
        "(1 / (2 * larger_share)) (1 / (2 * larger_share)).",
    ),
    ("Table", "eps / (2 * Rmax 1 (m1 + m2)).", "eps / (2 * Rmax 1 (Rmax m1 m2))."),
    ("Table", "concentrated (eps ^ 2 / 16)", "concentrated (eps ^ 2 / 32)"),
    ("Table", "touched g = true -> private (eps / 2) (delta / 2)", "touched g = true -> private (eps / 2) delta"),
    ("Table", "drawn (eps / (4 * INR r)) (w :: here)", "drawn (eps / (2 * INR r)) (w :: here)"),
    ("Table", "cells_weight (2 / eps) cells (x :: rows) out <=", "cells_weight (1 / eps) cells (x :: rows) out <="),
    ("Table", "laplace_weight (2 / eps) (T (x :: here)) out *", "laplace_weight (1 / eps) (T (x :: here)) out *"),
    (
        "Mechanisms",
        "boxem eps (x :: rows)) (boxem eps rows) grid /\\",
        "boxem (2 * eps) (x :: rows)) (boxem eps rows) grid /\\",
    ),
    ("Mechanisms", "Forall (fun v => (0 <= v <= h)%Z) c.\n", "Forall (fun v => (- h <= v <= h)%Z) c.\n"),
    ("Brackets", "share undecided <= INR (S m) * (6 * tol + 2 / N).", "share undecided <= INR (S m) * (6 * tol)."),
    ("Sampler", "if nth j y 0 <=? at_ then true :: leaf_of one y", "if nth j y 0 <? at_ then true :: leaf_of one y"),
    ("Sampler", "if same_leaf (leaf z) l then if same z y", "if same_leaf l l then if same z y"),
    ("Sampler", "fewer L (fun p => p <? low t) (v t) rows", "fewer (L + 2) (fun p => p <? low t) (v t) rows"),
    (
        "Noise",
        "Definition thrown_away : R := / 2 * ((1 - q) * q ^ 0).",
        "Definition thrown_away : R := 0 * ((1 - q) * q ^ 0).",
    ),
    (
        "Sampler",
        "Hypothesis caps_hold : forall y, In y grid -> depth y <= cap_of (leaf y).",
        "Hypothesis caps_hold : forall y, In y grid -> depth y <= cap_of (leaf y) + 1.",
    ),
    (
        "Sampler",
        "Hypothesis inverse : (forall y, back (turn y) = y) /\\ forall y, turn (back y) = y.",
        "Hypothesis inverse : (forall y, back (turn y) = y) /\\ forall y, back (turn y) = y.",
    ),
    ("Sampler", "0 < w -> total weight children <= w ->", "0 < w -> total weight children <= 2 * w ->"),
    ("Depth", "Theorem windows_declare d : declares 1 2", "Theorem windows_declare d : declares 1 1"),
    ("Depth", "Theorem declared_anywhere a1 r1 u : ignores_order u ->", "Theorem declared_anywhere a1 r1 u : True ->"),
    (
        "Table",
        "- outside_windows d rows windows)%Z) (1 / 2) (1 / 2) 1.",
        "- outside_windows d rows windows)%Z) 1 (1 / 2) 1.",
    ),
    ("Infinite", "None => 1 - total p ys end.", "None => 0 end."),
    ("Infinite", "concentrated_everywhere (eps ^ 2 / 2) p q.", "concentrated_everywhere (eps ^ 2 / 3) p q."),
    (
        "Infinite",
        "concentrated_everywhere (eps ^ 2 / 4) (counted (2 / eps)",
        "concentrated_everywhere (eps ^ 2 / 8) (counted (2 / eps)",
    ),
    (
        "Infinite",
        "private_everywhere eps 0 (counted (2 / eps) (x :: rows))",
        "private_everywhere eps 0 (counted (1 / eps) (x :: rows))",
    ),
    (
        "Infinite",
        "beside (noised (2 * IZR h / eps) all (added (c :: here)))",
        "beside (noised (IZR h / eps) all (added (c :: here)))",
    ),
    ("Infinite", "cube_law 3 (1 / eps) all (counts there", "cube_law 3 (1 / (2 * eps)) all (counts there"),
    (
        "Infinite",
        "(clipped_mean (e1 / 2) (e2 / 2) (2 * IZR h / e3) (x :: rows))",
        "(clipped_mean e1 (e2 / 2) (2 * IZR h / e3) (x :: rows))",
    ),
    ("Records", "Z.max (- h) (Z.min h v)", "Z.max (- h) v"),
    ("Records", "let all := Z.max h (size (clipped c)) in", "let all := h in"),
    ("Records", "size (shortened c) <= h /\\ size", "size (shortened c) <= h - 1 /\\ size"),
    ("Records", "Z.sgn v * (Z.abs v * h / all)", "Z.sgn v * (Z.abs v * h / all + 1)"),
    (
        "Records",
        "match fst r with Some k => Nat.eqb k g | None => false end",
        "match fst r with Some k => true | None => false end",
    ),
    ("Records", "if in_group g r then made (snd r) else repeat 0 d.", "made (snd r)."),
    ("Records", "negb (Z.eqb v 0) &&\n      negb (Z.ltb", "negb (Z.eqb v 0) ||\n      negb (Z.ltb"),
    (
        "Steps",
        "private_everywhere eps 0 (noised_groups (2 * IZR h / eps) (x :: rows))",
        "private_everywhere eps 0 (noised_groups (IZR h / eps) (x :: rows))",
    ),
    (
        "Steps",
        "(private_everywhere eps 0 (noised_groups (IZR h / eps) (x :: rows))",
        "(private_everywhere (eps / 2) 0 (noised_groups (IZR h / eps) (x :: rows))",
    ),
    (
        "Steps",
        "concentrated_everywhere (eps ^ 2 / 2) (noised_norms (2 * IZR h / eps) (x :: rows))",
        "concentrated_everywhere (eps ^ 2 / 8) (noised_norms (2 * IZR h / eps) (x :: rows))",
    ),
    (
        "Steps",
        "private_everywhere eps 0 (noised_norms (2 * IZR h / eps) (x :: rows))",
        "private_everywhere eps 0 (noised_norms (IZR h / eps) (x :: rows))",
    ),
    ("Steps", "if absolute then map Z.abs (shortened h c)", "if absolute then map Z.abs (clipped h c)"),
    ("Steps", "count (beyond Row norm) r rows)%Z) 1 (1 / 2) 1.", "count (beyond Row norm) r rows)%Z) 1 1 1."),
    (
        "Steps",
        "- outside_magnitudes columns rows ws)%Z) (1 / 2) (1 / 2) 1.",
        "- outside_magnitudes columns rows ws)%Z) 1 (1 / 2) 1.",
    ),
    (
        "Laws",
        "private (e1 + e2) (d1 + d2) (joint p k)",
        "private (e1 + e2) d1 (joint p k)",
    ),
    (
        "Laws",
        "(forall y, In y ys -> law (made y) zs) ->\n  private eps delta (fun z",
        "(forall y, In y ys -> True) ->\n  private eps delta (fun z",
    ),
    (
        "Prices",
        "drawn (eps / Rmax r1 a1) u)",
        "drawn (eps / Rmin r1 a1) u)",
    ),
    (
        "Prices",
        "(eps / a1) u) (drawn (eps / a1) v) ys.",
        "(2 * eps / a1) u) (drawn (2 * eps / a1) v) ys.",
    ),
    (
        "Concentrated",
        "concentrated (eps ^ 2 / 2) p q ys.",
        "concentrated (eps ^ 2 / 4) p q ys.",
    ),
    (
        "Noise",
        "= 1 - 2 * q ^ S n / (1 + q).",
        "= 1 - q ^ S n / (1 + q).",
    ),
    (
        "Noise",
        "tail q m n <= q ^ m / (1 - q) < tail",
        "tail q m n <= q ^ m / (1 + q) < tail",
    ),
    (
        "Sampler",
        "(if same z y then (if Nat.leb (lowest + i) (depth z) then 1 else 0) else 0)",
        "(if same z y then (if Nat.leb lowest (depth z) then 1 else 0) else 0)",
    ),
    (
        "Sampler",
        "fewer L (fun p => high t <? p) (v t) rows",
        "fewer (L + 1) (fun p => high t <? p) (v t) rows",
    ),
    (
        "Sampler",
        "boxes two (raised j (at_ + 1) lows) highs)",
        "boxes two (raised j (at_ + 2) lows) highs)",
    ),
    (
        "Sampler",
        "boxes one lows (lowered j at_ highs))",
        "boxes one lows highs)",
    ),
    (
        "Table",
        "laplace_weight (INR r / eps) (",
        "laplace_weight (1 / eps) (",
    ),
    (
        "Table",
        "let told z := (fun y => total (fun s => deal s * drawn (eps / (2 * INR r))",
        "let told z := (fun y => total (fun s => deal s * drawn (eps / INR r)",
    ),
    (
        "Table",
        "let k := eps / (4 * INR r) in",
        "let k := eps / (2 * INR r) in",
    ),
    (
        "Infinite",
        "let before := beside (laplace (2 / eps) (deep (x :: here))) (laplace (2 / eps) (deep there)) in",
        "let before := beside (laplace (1 / eps) (deep (x :: here))) (laplace (1 / eps) (deep there)) in",
    ),
    (
        "Infinite",
        "cube_law d (IZR h / eps) all (sums d (c :: rows))) (cube_law d (IZR h / eps) all (sums d (c' :: rows))) /\\",
        "cube_law d (IZR h / (2 * eps)) all (sums d (c :: rows))) "
        "(cube_law d (IZR h / (2 * eps)) all (sums d (c' :: rows))) /\\",
    ),
    (
        "Steps",
        "Fixpoint over (n : nat) (f : nat -> Z) : Z := match n with O => 0 | S k => f k + over k f end.",
        "Fixpoint over (n : nat) (f : nat -> Z) : Z := match n with O => 0 | S k => over k f end.",
    ),
    (
        "Steps",
        "private_everywhere eps 0 (noised_norms (IZR h / eps) rows)",
        "private_everywhere (eps / 2) 0 (noised_norms (IZR h / eps) rows)",
    ),
    (
        "Accountant",
        "  | Stop => 0 <= left\n  | Ask _ _ ys p q next =>\n      rho c <= left",
        "  | Stop => True\n  | Ask _ _ ys p q next =>\n      rho c <= left",
    ),
    ("Bridge", "Definition depth_score : Z * Z := (1, 2).", "Definition depth_score : Z * Z := (1, 1)."),
    ("Bridge", "Definition most_beyond_score : Z * Z := (1, 2).", "Definition most_beyond_score : Z * Z := (1, 1)."),
    ("Bridge", "Definition count_score : Z * Z := (1, 1).", "Definition count_score : Z * Z := (0, 1)."),
    (
        "Bridge",
        "(2 * Z.of_nat dealings, 2 * Z.of_nat dealings).",
        "(Z.of_nat dealings, 2 * Z.of_nat dealings).",
    ),
    ("Bridge", "Z * Z := (half, 2 * half).", "Z * Z := (half, half)."),
    ("Bridge", "Z * Z := (2 * Z.max num (den - num), 2 * den).", "Z * Z := (Z.max num (den - num), 2 * den)."),
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
    parser.add_argument("--write", action="store_true", help="write proofs/STATEMENTS.md instead of comparing it")
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
        for fault in faults(found):
            say(fault)
            wrong += 1
        if options.write:
            STATEMENTS.write_text(text, encoding="utf-8")
        elif STATEMENTS.read_text(encoding="utf-8") != text:
            say("proofs/STATEMENTS.md is not what the proofs say: make proofs-statements")
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
    """The theorems, in order."""
    found, told = [], tomllib.loads(MAP.read_text(encoding="utf-8"))["theorems"]
    for file in FILES:
        for match in FINAL.finditer((PROOFS / f"{file}.v").read_text(encoding="utf-8")):
            code = told.get(f"{file}.{match['name']}", ())
            says = " ".join(match["says"].split())
            if isinstance(code, str):
                found.append(Statement(file, match["name"], says, (), code))
            else:
                found.append(Statement(file, match["name"], says, tuple(code)))
    return found


def faults(found: list[Statement]) -> Iterator[str]:
    """Proofs left out, theorems without words, and theorems that proofs/map.toml does not know or that do not exist."""
    told = tomllib.loads(MAP.read_text(encoding="utf-8"))["theorems"]
    for file in FILES:
        text = (PROOFS / f"{file}.v").read_text(encoding="utf-8")
        for word in LEFT_OUT.findall(text):
            yield f"proofs/{file}.v: {word}: a proof is left out."
        silent = set(THEOREM.findall(text)) - {one.name for one in found if one.file == file}
        for name in sorted(silent):
            yield f"proofs/{file}.v: say above {name} what it states: (* @says ... *), or make it a Lemma."
    for one in found:
        if not one.code and not one.why_none:
            yield f'proofs/map.toml, [theorems]: add "{one.key}" = ["trusted.module.function"], or the reason why none.'
    for key in sorted(set(told) - {one.key for one in found}):
        yield f'proofs/map.toml, [theorems]: no theorem is named "{key}".'


def described(work: Path, found: list[Statement]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Each theorem with all that it assumes written out, and the axioms that it rests on."""
    parts = os.cpu_count() or 1
    with ThreadPoolExecutor(parts) as pool:
        told = list(pool.map(lambda i: _described(work, f"Described{i}", found[i::parts]), range(parts)))
    closed = {name: text for one, _ in told for name, text in one.items()}
    axioms = {name: names for _, one in told for name, names in one.items()}
    keys = [one.key for one in found]
    return {key: closed[key] for key in keys}, {key: axioms[key] for key in keys}


def _described(work: Path, file: str, found: list[Statement]) -> tuple[dict[str, str], dict[str, set[str]]]:
    lines = [
        "Set Printing Width 110.",
        "Require Import Reals List ZArith.",
        *(f"Require Import {name}." for name in FILES),
    ]
    lines.append("Import ListNotations. Open Scope R_scope.")
    for one in found:
        lines += [f"Check @{one.key}.", f"Print Assumptions {one.key}."]
    (work / f"{file}.v").write_text("\n".join(lines), encoding="utf-8")
    run = subprocess.run(["coqc", "-q", f"{file}.v"], cwd=work, capture_output=True, text=True, check=True)
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
        cut = re.search(r"^(Axioms:|Closed under the global context)", here, re.M)
        assert cut is not None
        closed[one.key] = here[: cut.start()].strip()
        axioms[one.key] = set(re.findall(r"^([\w.]+)(?= ?:|\n  :)", here[cut.end() :], re.M))
    return closed, axioms


def page(found: list[Statement], closed: dict[str, str]) -> str:
    lines = [
        "# What the proofs state",
        "",
        "Written by `make proofs-statements` from `proofs/*.v` and `proofs/map.toml`; `make proofs` checks with Coq.",
        "Every statement is shown in words and as Coq prints it, with all that it assumes. Each file's definitions",
        "stand after its statements, as they are written there.",
        "`private eps delta p q ys`: the law p on ys is (eps, delta)-private against its neighbour's, q.",
        "",
    ]
    for file in FILES:
        lines += [f"## {file}.v", ""]
        for one in found:
            if one.file == file:
                code = ", ".join(f"`{part}`" for part in one.code) or f"none ({one.why_none})"
                lines += [
                    f"**{one.name}.** {one.says} Code: {code}.",
                    "",
                    "```coq",
                    closed[one.key],
                    "```",
                    "",
                ]
        defined = DEFINED.findall((PROOFS / f"{file}.v").read_text(encoding="utf-8"))
        if defined:
            lines += [f"Definitions of {file}.v:", "", "```coq", *defined, "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def mutated(work: Path) -> list[str]:
    """The wrong constants that no proof notices, in their file or in one that builds on it."""
    survivors = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for (file, _, after), seen in zip(MUTANTS, pool.map(lambda one: noticed(work, *one), MUTANTS), strict=True):
            say(f"{'noticed' if seen else 'SURVIVES':9} {file}: {after.splitlines()[-1].strip()[:80]}")
            if not seen:
                survivors.append(f"{file}: {after}")
    return survivors


def noticed(work: Path, file: str, before: str, after: str) -> bool:
    text = (PROOFS / f"{file}.v").read_text(encoding="utf-8")
    assert text.count(before) >= 1, (file, before)
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        for name in FILES:
            shutil.copy(PROOFS / f"{name}.v", there)
        (there / f"{file}.v").write_text(text.replace(before, after, 1), encoding="utf-8")
        anew = built_on(file)
        for name in FILES:
            for kind in (".vo", ".vos", ".vok", ".glob"):
                if name not in anew and (work / f"{name}{kind}").exists():
                    shutil.copy(work / f"{name}{kind}", there)
        return any(compiled(there, name) is not None for name in anew)


def built_on(file: str) -> list[str]:
    """The file and those that require it, or one of these, in their order."""
    found = [file]
    for name in FILES[FILES.index(file) + 1 :]:
        text = (PROOFS / f"{name}.v").read_text(encoding="utf-8")
        required = {word for words in REQUIRED.findall(text) for word in words.split()}
        if required & set(found):
            found.append(name)
    return found


if __name__ == "__main__":
    sys.exit(main())
