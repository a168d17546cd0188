"""polars, DuckDB and Ibis: what is in memory and what is read in passes give the same, and nothing is told or lost."""

from __future__ import annotations

import os
import warnings
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import tukeydp as td
from engines.lazy_frames import BOUNDS, as_dealt, drawn_once, numbered, survey
from tukeydp.data.engines import duckdb_relations, polars_frames
from tukeydp.data.lazy_tables import LazyTable, is_lazy, lazy_table
from tukeydp.data.tables import read_table
from tukeydp.mechanisms.passes import pass_plan
from tukeydp.trusted import sums as batches
from tukeydp.trusted.rows import bounded_columns

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'tukeydp[duckdb]'")

ENGINES = ("polars", "duckdb")
MECHANISMS = ("auto", "cube", "subset", "two-step")


def opened(engine, path, sql="select * from read_parquet('{}')"):
    return pl.scan_parquet(path) if engine == "polars" else duckdb.sql(sql.format(path))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "survey.parquet"
    survey().write_parquet(path, row_group_size=500)
    return path


def in_memory_passes(frame):
    """The same mechanism on rows that come in one batch from memory."""
    table = read_table(frame)
    return LazyTable(table.n, table.columns, "memory", lambda one: one.of([table.cells]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fill", [None, 0.5])
def test_clipped_means_are_those_of_the_table_in_memory_bit_by_bit(stored, engine, fill):
    given = {"epsilon": 1, "bounds": BOUNDS, "fill": fill}
    found = td.cube(opened(engine, stored), **given, randomness=td.seeded(3))
    expected = td.cube(survey(), check=False, **given, randomness=td.seeded(3))  # lazy frames have no check
    assert found.point.tobytes() == expected.point.tobytes()
    told, wanted = found.to_dict(), expected.to_dict()
    assert [note for note in told.pop("caveats") if not note.startswith("Not checked")] == wanted.pop("caveats")
    assert told == wanted


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("chunk", [17, 2**18])
def test_clipped_means_are_the_same_in_small_chunks(stored, engine, chunk, monkeypatch):
    monkeypatch.setattr(batches, "PIECE", 5)
    for module in (polars_frames, duckdb_relations):
        monkeypatch.setattr(module, "BATCH", chunk)
    given = {"epsilon": 1, "bounds": BOUNDS, "mechanism": "cube"}
    found = td.mean(opened(engine, stored), **given, randomness=td.seeded(3))
    assert found.point.tobytes() == td.mean(survey(), check=False, **given, randomness=td.seeded(3)).point.tobytes()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_releases_by_drawn_blocks_are_the_same_in_every_engine(stored, mechanism, monkeypatch):
    """With one batch, so that rows have the same numbers everywhere."""
    monkeypatch.setattr("tukeydp.mechanisms.cube.lazy_table", _from_memory_or(lazy_table))
    monkeypatch.setattr("tukeydp.mechanisms.cube.is_lazy", lambda x: isinstance(x, LazyTable) or is_lazy(x))
    monkeypatch.setattr("tukeydp.mechanisms.mean.is_lazy", lambda x: isinstance(x, LazyTable) or is_lazy(x))
    frames = [in_memory_passes(survey()), *(opened(engine, stored) for engine in ENGINES)]
    given = {"epsilon": 2, "bounds": BOUNDS, "mechanism": mechanism, "sd": {"age": 15, "income": 40, "smokes": 0.5}}
    found = [td.mean(frame, check=False, **given, randomness=td.seeded(5)) for frame in frames]
    assert len({(r.point.tobytes(), r.mechanism, str(r.guarantee), str(dict(r.settings))) for r in found}) == 1
    truth = survey().select(pl.all().cast(pl.Float64)).fill_nan(None).mean().row(0)
    assert np.abs(found[0].point - truth)[[0, 2]] == pytest.approx(0, abs=2)
    assert found[0].guarantee.neighbours == "swap"


def _from_memory_or(opens):
    return lambda x: x if isinstance(x, LazyTable) else opens(x)


@pytest.mark.parametrize("engine", ENGINES)
def test_spreads_and_aggregates(stored, engine):
    frame = opened(engine, stored)
    spread = td.spread(frame, epsilon=4, bounds=BOUNDS, randomness=td.seeded(5))
    assert 10 < spread["age"] < 40
    assert spread.n == 3000
    means = td.aggregate(frame, "mean", blocks=100, epsilon=4, bounds=BOUNDS, randomness=td.seeded(5))
    assert 45 < means["age"] < 60
    assert means.settings["blocks"] == 100
    several = td.aggregate(frame, "mean", blocks=60, partitions=3, epsilon=4, bounds=BOUNDS, randomness=td.seeded(5))
    assert 45 < several["age"] < 60
    named = td.aggregate(
        frame, "mean", blocks=400, epsilon=4, delta=1e-6, clip=BOUNDS, columns=["A", "I", "S"], randomness=td.seeded(5)
    )
    assert named.columns == ("A", "I", "S")
    assert 45 < named["A"] < 60


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("chunk", [1, 64, 2**18])
def test_every_row_is_drawn_once(tmp_path, engine, chunk, monkeypatch):
    for module in (polars_frames, duckdb_relations):
        monkeypatch.setattr(module, "BATCH", chunk)
    numbered(300).write_parquet(tmp_path / "rows.parquet", row_group_size=100)
    for blocks in (1, 7, 1000):
        assert drawn_once(as_dealt(lazy_table(opened(engine, tmp_path / "rows.parquet")), blocks), 300)


def test_a_column_that_is_drawn_twice_would_be_noticed():
    """The route not taken: numbers as a lazy column, whose sums and whose counts are two queries."""
    rng = np.random.default_rng(1)
    frame = numbered(300).lazy()
    drawn = frame.with_columns(
        pl.col("one")
        .map_batches(lambda s: pl.Series(rng.integers(0, 7, size=len(s))), return_dtype=pl.Int64)
        .alias("b")
    )

    def by_block(query, expression):
        table = query.group_by("b").agg(expression).sort("b").collect().drop("b")
        return table.cast(pl.Int64).to_numpy().T.astype(object)

    columns = pl.col("one", "row", "square")
    twice = np.array([[by_block(drawn, columns.sum()), by_block(drawn, columns.count())]] * 2)
    assert not drawn_once(twice, 300)
    once = drawn.collect().lazy()
    assert drawn_once(np.array([[by_block(once, columns.sum()), by_block(once, columns.count())]] * 2), 300)


def test_a_partition_of_which_parts_are_used_twice_would_be_noticed():
    """A recomputed partition with other numbers, of which one block is taken from the first try, the rest not."""
    frame = in_memory_passes(numbered(300))
    first, second = (as_dealt(frame, key=bytes([i]) * 32) for i in (1, 2))
    mixed = second.copy()
    mixed[..., 0] = first[..., 0]
    assert drawn_once(first, 300)
    assert not drawn_once(mixed, 300)


def test_the_table_is_never_collected(stored, monkeypatch):
    seen = []
    plain = pl.LazyFrame.collect

    def collect(self, *args, **given):
        found = plain(self, *args, **given)
        seen.append(found.height)
        return found

    monkeypatch.setattr(pl.LazyFrame, "collect", collect)
    for mechanism in MECHANISMS:
        td.mean(opened("polars", stored), epsilon=1, bounds=BOUNDS, mechanism=mechanism)
    assert set(seen) == {1}  # how many rows there are


def test_plans_follow_from_public_numbers(stored):
    """Another table of the same shape and names: all but the point is the same."""
    other = survey(seed=2).with_columns(pl.col("income") * 50, pl.lit(None, dtype=pl.Float64).alias("smokes")).lazy()
    for mechanism in MECHANISMS:
        given = {"epsilon": 1, "bounds": BOUNDS, "mechanism": mechanism}
        a, b = (td.mean(frame, **given) for frame in (opened("polars", stored), other))
        for part in ("n", "d", "columns", "guarantee", "mechanism", "settings", "bounds", "noise_sd", "caveats"):
            assert getattr(a, part) == getattr(b, part)


def test_large_tables_are_planned_in_two_steps_and_small_ones_get_noise():
    columns = bounded_columns(3, (0, 100))
    chosen = [pass_plan(n, columns, Fraction(1)).mechanism for n in (10, 10**5, 10**10)]
    assert chosen == ["cube", "two-step", "two-step"]


@pytest.mark.parametrize("engine", ENGINES)
def test_more_blocks_than_values_and_a_single_row(tmp_path, engine):
    pl.DataFrame({"a": [1.0]}).write_parquet(tmp_path / "one.parquet")
    for mechanism in MECHANISMS:
        release = td.mean(opened(engine, tmp_path / "one.parquet"), epsilon=1, bounds=(0, 2), mechanism=mechanism)
        assert 0 <= release.point[0] <= 2
        assert release.n == 1
    assert td.spread(opened(engine, tmp_path / "one.parquet"), epsilon=1, bounds=(0, 2)).n == 1
    pl.DataFrame({"a": [None, None, 1.0]}, schema={"a": pl.Float64}).write_parquet(tmp_path / "few.parquet")
    release = td.mean(opened(engine, tmp_path / "few.parquet"), epsilon=1, bounds=(0, 2), blocks=3, partitions=2)
    assert release.settings == {"blocks": 3, "partitions": 2}


def test_ibis_over_duckdb(stored):
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed: pip install ibis-framework")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis calls DuckDB by older names
        frame = ibis.duckdb.connect().read_parquet(os.fspath(stored))
        found = td.cube(frame, epsilon=1, bounds=BOUNDS, randomness=td.seeded(3))
        several = td.mean(frame, epsilon=2, bounds=BOUNDS, mechanism="subset", randomness=td.seeded(3))
        joined = frame.select("age").cross_join(frame.select("income").limit(1))
        assert is_lazy(joined), "a class of its own, which would be collected"
    assert found.point.tobytes() == td.cube(survey(), epsilon=1, bounds=BOUNDS, randomness=td.seeded(3)).point.tobytes()
    assert 40 < several["age"] < 70


def test_bad_tables_of_ibis_are_told_without_a_cell(tmp_path):
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed: pip install ibis-framework")
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": np.random.default_rng(1).random(50_000), "name": ["Zoe4711"] * 50_000}).write_parquet(path)
    account = td.Accountant(1)

    def refused(frame, words, **given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(td.ParameterError, match=words) as caught:
                td.cube(frame, **{"epsilon": 1, "bounds": (0, 1), "accountant": account, **given})
        assert "4711" not in str(caught.value)
        return account.remaining().epsilon

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = ibis.duckdb.connect().read_parquet(os.fspath(path))
    assert refused(frame, "x column 'name' must hold numbers") == 1
    assert refused(frame.select("a"), "bounds must", bounds={"a": (0, 1), "b": (0, 1)}) == 1
    assert refused(frame.select("a").filter(frame.a > 2), "at least one row") == 1
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * 99_900 + whole[100_000:])
    assert refused(frame.select("a"), "budget is spent") == 0
    account = td.Accountant(1)
    path.write_bytes(whole[:-200])
    assert refused(frame.select("a"), "nothing was spent") == 1


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_one_word_in_a_file_that_an_engine_scans_changes_nobody_else_s_number(tmp_path, engine):
    """A scan infers a column's type from its cells: text is read cell by cell, as it is in memory."""
    rows = [f"{v / 10},{v % 3}" for v in range(400)]
    releases = []
    for first in ("131 mmHg", ""):
        path = tmp_path / "x.csv"
        path.write_text("\n".join(["a,b", f"{first},1", *rows]) + "\n")
        frame = pl.scan_csv(path) if engine == "polars" else duckdb.connect().read_csv(str(path), all_varchar=True)
        bounds = {"a": (0, 100), "b": (0, 5)}
        releases.append(td.cube(frame, epsilon=1, bounds=bounds, randomness=td.seeded(3)).point.tolist())
    assert releases[0] == releases[1]
