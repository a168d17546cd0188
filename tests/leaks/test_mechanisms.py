"""Nothing but the point tells two neighbouring tables apart, whatever stands in the row that differs.

Each pair of tables differs in one row: missing, infinite, huge, tiny, doubled, unreadable. For every public mechanism
both runs must raise the same error or none; print, log and warn nothing; write no file; and agree in every field of
the outcome but the point.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv
import pytest

import tukeydp as td
from support import leaks
from support.leaks import OBJECTS, ROWS, SECRET, WAYS, holds_cell, neighbour, public_part, watched

DEGENERATE = leaks.degenerate()


@pytest.fixture(autouse=True, scope="module")
def _compiled(tmp_path_factory):
    """Compiled code is kept in a file on first use, before any file is listened to."""
    path = tmp_path_factory.mktemp("read") / "t.csv"
    path.write_text("a,b\n" + "1.5,2\n" * leaks.N)
    WAYS["cube"](td.read(path), td.seeded(0))
    for run in WAYS.values():
        run(leaks.table(), td.seeded(0))


def shown_by(run, x):
    return watched(lambda: run(x, td.seeded(5)))


@lru_cache(maxsize=4)
def plain(way, form):
    """What a run on the plain table shows: the same for all its neighbours."""
    return shown_by(WAYS[way], leaks.table() if form == "array" else leaks.table().tolist())


def same(one, other):
    """Nothing is told apart but by what was paid for."""
    for each in (one, other):
        assert each.silent, (each.log, each.warned, each.written)
    assert one.error == other.error
    if one.error is None:
        assert public_part(one.outcome) == public_part(other.outcome)
        for each in (one, other):
            assert vars(each.outcome).keys() <= set(each.outcome.__dataclass_fields__)


def compared(run, one, other, capfd):
    """Both runs, after everything but the point was found to be the same."""
    capfd.readouterr()
    shown = [shown_by(run, x) for x in (one, other)]
    assert capfd.readouterr() == ("", "")
    same(*shown)
    return shown


def test_every_public_mechanism_is_here():
    """One that is added must be added to `support.leaks.WAYS` too."""
    known = {name.partition(",")[0].partition(" ")[0] for name in WAYS}
    assert {name for name in leaks.public_mechanisms() if name.strip("_") not in known} == set()


# In every run of the tests a few of each; all of them take minutes.
FEW = {"numbers": ("a missing cell", "infinities", "huge"), "objects": ("text", "a dict"), "odd": ("huge and tiny",)}
ALL = {"numbers": tuple(ROWS), "objects": tuple(OBJECTS), "odd": tuple(DEGENERATE)}
EXTENTS = [pytest.param(FEW, id="few"), pytest.param(ALL, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("way", WAYS)
class TestNeighbours:
    def test_rows_of_numbers(self, way, extent, capfd):
        for name in extent["numbers"]:
            one = shown_by(WAYS[way], neighbour(ROWS[name]))
            assert one.error is None
            same(one, plain(way, "array"))
        assert capfd.readouterr() == ("", "")

    def test_rows_of_objects(self, way, extent, capfd):
        for name in extent["objects"]:
            one = shown_by(WAYS[way], leaks.neighbour_of_objects(OBJECTS[name]))
            assert one.error is None
            same(one, plain(way, "list"))
        assert capfd.readouterr() == ("", "")

    def test_odd_tables(self, way, extent, capfd):
        for name in extent["odd"]:
            compared(WAYS[way], *DEGENERATE[name], capfd)


@pytest.mark.parametrize("way", [*list(WAYS)[::8], *(pytest.param(way, marks=pytest.mark.slow) for way in WAYS)])
def test_frames_with_an_unreadable_cell(way, capfd):
    frames = [pd.DataFrame(leaks.table(), columns=["a", "b"], dtype=object) for _ in range(2)]
    frames[0].iloc[0, 0] = "secret-4711"
    compared(WAYS[way], *frames, capfd)


# Libraries that choose the types of columns from their cells, and our own reader, which does not.
READERS = {
    "pandas": lambda path: pd.read_csv(path),
    "pandas, Arrow's types": lambda path: pd.read_csv(path, dtype_backend="pyarrow"),
    "polars": lambda path: pl.read_csv(path),
    "polars, dates": lambda path: pl.read_csv(path, try_parse_dates=True),
    "Arrow": lambda path: pyarrow.csv.read_csv(path),
    "tukeydp": lambda path: td.read(path),
}
# The first row of the file that differs. Each makes some library take another type for the column.
TEXTS = ["131 mmHg,0.5", "2020-01-01,true", ",", "9" * 40 + ",1e400", "secret-4711,NA"]
# Blocks of frames are the caller's own kind; these slice or iterate over rows.
_ROWWISE = {"aggregate", "regression", "approximate_boxem", "approximate_rem"}
_READ = [way for way in WAYS if way not in _ROWWISE]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("way", [*_READ[::9], *(pytest.param(way, marks=pytest.mark.slow) for way in _READ)])
def test_a_file_in_which_one_cell_decides_about_a_type(way, reader, capfd, tmp_path):
    """Neither raised, nor warned about, nor shown: `td.mean(pandas.read_csv(...))` raised for one text."""
    rows = [f"{a!r},{b!r}" for a, b in leaks.table().tolist()]
    path = tmp_path / "t.csv"
    shown = []
    for first in (rows[0], *TEXTS):
        path.write_text("\n".join(["a,b", first, *rows[1:]]) + "\n")
        x = READERS[reader](path)
        capfd.readouterr()
        shown.append(shown_by(WAYS[way], x))
        assert capfd.readouterr() == ("", "")
        assert shown[-1].error is None
        same(shown[0], shown[-1])


# Keys of groups in the row that differs: another group's, nobody's, no text at all.
KEYS = {"another": "B", "not listed": "secret-4711", "missing": None, "a number": SECRET, "a list": [SECRET]}


@pytest.mark.parametrize("key", KEYS)
def test_a_row_of_another_group(key, capfd):
    def run(by, randomness):
        return td.summary(leaks.table(), by=by, keys=["A", "B"], epsilon=1, bounds=(-10, 10), randomness=randomness)

    arms = ["A", "B", "C"] * (leaks.N // 3)
    one, _ = compared(run, [KEYS[key], *arms[1:]], arms, capfd)
    assert one.error is None


def finished(way):
    """A run with everything that is computed when it is asked for: intervals, lines, text, page."""

    def run(x, randomness):
        outcome = WAYS[way](x, randomness)
        for show in (
            repr,
            str,
            lambda found: found._repr_html_(),
            lambda found: found.to_dict(),
            lambda f: f.to_frame(),
        ):
            show(outcome)
        return outcome

    return run


@pytest.mark.parametrize(
    "way",
    [
        *("mean, confidence and known sd", "summary, shares", "summary, groups", "summary, without intervals"),
        *(
            pytest.param(way, marks=pytest.mark.slow)
            for way in ("mean, confidence", "mean without bounds, confidence", "summary")
        ),
    ],
)
def test_intervals_and_lines_are_computed_in_silence(way, capfd):
    """Also where there is no spread, no row, or no end: rehearsals of intervals divide and take logarithms."""
    run = finished(way)
    compared(lambda x, randomness: as_public(run(x, randomness)), neighbour([np.nan, np.inf]), leaks.table(), capfd)
    for name in ("all missing", "all equal", "huge and tiny"):
        for x in DEGENERATE[name]:
            one = shown_by(run, x)
            assert (one.error, one.silent) == (None, True), (name, one.log, one.warned, one.written)
    assert capfd.readouterr() == ("", "")


def as_public(outcome):
    """Without what was computed on the way."""
    for name in ("lines", "overall"):
        vars(outcome).pop(name, None)
    return outcome


WRONG = {
    "bounds the wrong way round": lambda x: td.boxem(x, epsilon=1, bounds=(1, 0)),
    "a resolution below 0": lambda x: td.boxem(x, epsilon=1, bounds=(0, 1), resolution=-1),
    "bounds for three columns": lambda x: td.mean(x, epsilon=1, bounds=([0] * 3, [1] * 3)),
    "more blocks than rows": lambda x: td.mean(x, epsilon=1, bounds=(0, 1), mechanism="subset", blocks=10**6),
    "a column that is not there": lambda x: td.cube(x, epsilon=1, bounds={"age": (0, 1)}),
    "a fill outside": lambda x: td.cube(x, epsilon=1, bounds=(0, 1), fill=7),
    "a threshold above n": lambda x: td.rem(x, epsilon=1, delta="1e-6", threshold=10**6),
    "directions of another length": lambda x: td.boxem(x, epsilon=1, bounds=(0, 1), depth=td.Directions([[1, 0, 0]])),
    "a delta above 1": lambda x: td.baselines.gaussian(x, epsilon="0.5", delta=2, bounds=(0, 1)),
    "an sd of 0": lambda x: td.mean(x, epsilon=1, bounds=(0, 1), sd=0),
    "nothing given": lambda x: td.mean(x, epsilon=1),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_told_alike_and_without_a_cell(mistake, capfd):
    for row in ROWS.values():
        shown = compared(lambda x, _: WRONG[mistake](x), neighbour(row), leaks.table(), capfd)
        assert shown[0].error is not None
        assert shown[0].error[0] == "ParameterError"
        for each in shown:
            assert not any(cell in each.trace for cell in cells_as_text(row))


def cells_as_text(row):
    """Long enough to be nobody else's."""
    return [text for cell in row for text in (str(cell), repr(np.float64(cell))) if len(text) > 4]


def test_an_outcome_leads_to_no_cell():
    """Not by its forecast, its grid, or a closure; so a pickle of it holds none either."""
    for way, run in WAYS.items():
        outcome = run(neighbour([SECRET, SECRET]), td.seeded(5))
        assert not holds_cell(outcome, SECRET), way
        assert all(len(a) < leaks.N for a in leaks.reachable(outcome) if isinstance(a, np.ndarray) and a.ndim), way


def test_what_is_shown_of_an_outcome_is_the_same_but_for_the_point():
    """Text, HTML and frames of two neighbours, with one point put in the place of both."""
    for way in ("boxem", "mean", "mean, scale first", "rem", "spread", "gaussian"):
        shown = []
        for x in (neighbour([np.nan, SECRET]), leaks.table()):
            outcome = WAYS[way](x, td.seeded(5))
            object.__setattr__(outcome, "point", np.zeros(leaks.D))
            shown.append(
                (repr(outcome), str(outcome), outcome._repr_html_(), outcome.to_json(), str(outcome.to_frame()))
            )
        assert shown[0] == shown[1], way


SPENDING = {
    "boxem": lambda x, **given: td.boxem(x, epsilon=1, bounds=(-10, 10), **given),
    "boxem, certificate": lambda x, **given: td.boxem(x, epsilon=1, bounds=(-10, 10), certify="0.1", **given),
    "rem": lambda x, **given: td.rem(x, epsilon=1, delta="1e-6", **given),
    "mean": lambda x, **given: td.mean(x, epsilon=1, bounds=(-10, 10), **given),
    "mean, scale first": lambda x, **given: td.mean(x, epsilon=8, bounds=(-10, 10), **given),
    "mean, confidence": lambda x, **given: td.mean(x, epsilon=8, bounds=(-10, 10), confidence="0.95", **given),
    "cube": lambda x, **given: td.cube(x, epsilon=1, bounds=(-10, 10), **given),
    "spread": lambda x, **given: td.spread(x, epsilon=1, bounds=(-10, 10), **given),
    "summary": lambda x, **given: td.summary(x, epsilon=8, bounds=(-10, 10), **given),
    "summary, groups": lambda x, **given: td.summary(
        x, epsilon=1, bounds=(-10, 10), by=["A", "B"] * (len(x) // 2), keys=["A", "B"], **given
    ),
}


@pytest.mark.parametrize("way", SPENDING)
def test_a_ledger_holds_no_word_that_depends_on_the_data(way, tmp_path, monkeypatch):
    """Entry by entry, and byte by byte of the file, hashes included, where times and random numbers are the same:
    neighbours, and a table of missing rows."""
    moment = datetime(2026, 11, 18, tzinfo=UTC)
    for module in ("entries", "ledger_file"):
        monkeypatch.setattr(f"tukeydp.accounts.{module}.datetime", SimpleNamespace(now=lambda _: moment))
    monkeypatch.setattr("tukeydp.accounts.ledger_file.secrets", SimpleNamespace(token_hex=lambda n: "0" * 2 * n))
    entries, contents = [], []
    for i, x in enumerate((neighbour([np.nan, SECRET]), leaks.table(), np.full((leaks.N, leaks.D), np.nan))):
        path = tmp_path / f"{i}.db"
        account = td.Accountant.open(path, epsilon=10, delta="1e-5")
        SPENDING[way](x, accountant=account, randomness=td.seeded(1))
        (entry,) = account.history
        entries.append((entry.mechanism, entry.guarantee, entry.parameters, entry.seeded))
        assert not holds_cell(account, SECRET)
        contents.append(path.read_bytes())
    assert entries[0] == entries[1] == entries[2]
    assert contents[0] == contents[1] == contents[2]


class TestControls:
    """Each kind of leak is noticed."""

    def leaking(self, how, capfd, one=None):
        def run(x, randomness):
            how(x)
            return td.cube(x, epsilon=1, bounds=(-10, 10), randomness=randomness)

        with pytest.raises(AssertionError):
            compared(run, neighbour(ROWS["a missing cell"]) if one is None else one, leaks.table(), capfd)

    def test_a_print(self, capfd):
        self.leaking(lambda x: print(x[0]), capfd)  # noqa: T201

    def test_a_log_entry(self, capfd):
        import logging

        self.leaking(lambda x: logging.getLogger("tukeydp.any").debug("rows"), capfd)

    def test_a_warning(self, capfd):
        import warnings

        self.leaking(lambda x: warnings.warn("rows", stacklevel=1), capfd)

    def test_an_error_of_one_table(self, capfd):
        def fails(x):
            if np.isnan(x).any():
                raise ValueError

        self.leaking(fails, capfd)

    def test_a_file(self, capfd, tmp_path):
        self.leaking(lambda x: np.save(tmp_path / "kept.npy", x), capfd)

    def test_a_temporary_file(self, capfd):
        import tempfile

        def written(x):
            with tempfile.TemporaryFile() as file:
                file.write(x.tobytes())

        self.leaking(written, capfd)

    def test_a_field(self, capfd):
        from dataclasses import replace

        def run(x, randomness):
            outcome = td.cube(x, epsilon=1, bounds=(-10, 10), randomness=randomness)
            return replace(outcome, settings={"missing": int(np.isnan(x).sum())})

        with pytest.raises(AssertionError):
            compared(run, neighbour(ROWS["a missing cell"]), leaks.table(), capfd)

    def test_a_cell_in_a_closure(self):
        x = neighbour([SECRET, SECRET])
        assert holds_cell(lambda: x, SECRET)
        assert holds_cell({"deep": [lambda y=(SECRET,): y]}, SECRET)
        assert not holds_cell(Fraction(1, 3), SECRET)


def test_outcomes_travel_without_cells():
    outcome = td.cube(neighbour([SECRET, SECRET]), epsilon=1, bounds=(-10, 10), randomness=td.seeded(5))
    assert np.float64(SECRET).tobytes() not in pickle.dumps(outcome)


def test_compiled_code_has_one_form_whatever_the_data():
    """A second form would be compiled, and kept in a file, only for the tables that call for it."""
    from tukeydp.hints import branches
    from tukeydp.trusted.exact import loops
    from tukeydp.trusted.sampling import kept

    for case in DEGENERATE.values():
        for way in ("boxem", "boxem, coarse grid", "boxem, exact depth", "approximate_boxem"):
            for x in case:
                WAYS[way](x, td.seeded(5))
    for compiled in (
        kept.propose,
        kept.count_inside,
        loops.fill_keys,
        loops.scan_keys,
        branches._kept(),
    ):
        assert len(compiled.signatures) == 1, compiled.__name__


FRESH = """
import sys
import numpy as np, tukeydp as td
x = np.full((30, 2), np.nan)
if sys.argv[1] == "plain":
    x[:] = np.random.default_rng(0).normal(size=(30, 2))
td.boxem(x, epsilon=1, bounds=(-10, 10), depth=td.Exact())
"""


@pytest.mark.slow
def test_which_code_is_compiled_and_kept_does_not_depend_on_the_data(tmp_path):
    """In processes that find nothing compiled: exact depth of missing rows needs no sweep, and has it compiled too."""
    kept = []
    for kind in ("plain", "missing"):
        folder = tmp_path / kind
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
        subprocess.run([sys.executable, "-c", FRESH, kind], env=environment, check=True, timeout=600)
        kept.append(sorted(path.name for path in folder.rglob("*.nbc")))
    assert kept[0] == kept[1]
    assert any("scan_keys" in name for name in kept[0])
    assert any("nodes.grow" in name for name in kept[0])


FIRST = """
import sys
import numpy as np, tukeydp as td
from tukeydp.trusted.sampling import compiling
if sys.argv[1] == "long":
    compiling._SHORT_LANES = 0  # as if the search had taken so long
td.boxem(np.random.default_rng(0).normal(size=(30, 2)), epsilon=1, bounds=(-10, 10))
assert ("numba" in sys.modules) == (sys.argv[1] == "long")
"""


@pytest.mark.slow
@pytest.mark.parametrize("search", ["short", "long"])
def test_a_first_call_leaves_no_file_and_no_folder_however_long_its_search(search, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}
    subprocess.run([sys.executable, "-c", FIRST, search], env=environment, check=True, timeout=600)
    assert not (tmp_path / "compiled").exists()
