"""Tables in chunks: the same release as from the whole table, bit for bit, and sources that fail say no cell."""

from __future__ import annotations

import io
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tukeydp as td
from tukeydp.data.streams import StreamedTable
from tukeydp.trusted.parameters import ParameterError
from tukeydp.trusted.streams import streamed_levels

DEPTH = td.Spread(6, seed=1)
SECRET = 54321.0  # a cell that no message may quote


@pytest.fixture(autouse=True)
def never_whole(monkeypatch):
    """Rows are streamed however few they are."""
    monkeypatch.setattr(streamed_levels, "_WHOLE_SHARE", 2**60)


def released(x, **options):
    settings = {"epsilon": 1, "bounds": (-10, 10), "depth": DEPTH, "randomness": td.seeded(5)} | options
    return td.boxem(x, check=False, **settings)  # streams have no check


def told(release):
    """What a release says, but for its accuracy, which is rehearsed without the data."""
    fields = ("n", "d", "columns", "notion", "grid", "settings", "bounds", "certificate", "guarantee")
    return [release.point.tolist(), release.directions.tolist(), *(getattr(release, name) for name in fields)]


cell = st.one_of(st.integers(-3, 3).map(float), st.floats(-20, 20), st.sampled_from([np.nan, np.inf, -np.inf, 0.0]))
tables = st.integers(1, 3).flatmap(lambda d: arrays(float, st.tuples(st.integers(1, 12), st.just(d)), elements=cell))


@settings(max_examples=25)
@given(
    tables, st.lists(st.integers(0, 5), max_size=8), st.sampled_from([None, 1]), st.sampled_from(["swap", "add-remove"])
)
def test_any_table_in_any_chunks_releases_what_the_table_does(x, cuts, resolution, neighbours):
    """Ties, equal rows, missing cells, rows outside the bounds, empty chunks and chunks of one row."""
    parts = np.split(x, np.minimum(np.cumsum(cuts, dtype=int), len(x)))
    options = {"resolution": resolution, "neighbours": neighbours}
    whole, streamed = released(x, **options), released(td.chunks(parts), **options)
    assert told(streamed) == told(whole)


@pytest.mark.parametrize("shape", ["normal", "exponential", "standard_cauchy"])
@pytest.mark.parametrize("memory", [1, 512])
def test_many_rows_release_what_the_table_does(shape, memory):
    x = getattr(np.random.default_rng(6), shape)(size=(30000, 3))
    x[::97, 1] = np.nan
    streamed = released(td.chunks(lambda: np.array_split(x, 11), memory=memory), certify=0.1)
    whole = released(x, certify=0.1)
    assert told(streamed) == told(whole)


@pytest.mark.parametrize("high", [1, 4, 40])
def test_whole_numbers_release_what_the_table_does(high):
    x = np.random.default_rng(7).integers(0, high + 1, (5000, 3)).astype(float)
    options = {"bounds": (0, high), "resolution": 1}
    assert released(td.chunks([x[:1000], x[1000:]]), **options).point.tolist() == released(x, **options).point.tolist()


FRAME = pd.DataFrame(np.random.default_rng(8).normal(size=(900, 3)), columns=["a", "b", "c"])
FRAME.loc[5, "b"] = np.nan


def written(path, frame=FRAME, **options):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)
    return path


def sources(folder):
    written(folder / "one.parquet", FRAME[:500], row_group_size=130)
    written(folder / "two.parquet", FRAME[500:])
    whole = written(folder.parent / "whole.parquet")
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    return {
        "a file": td.chunks(whole),
        "a folder": td.chunks(str(folder)),
        "a function": td.chunks(lambda: (FRAME[i : i + 100] for i in range(0, 900, 100))),
        "a list of polars frames": td.chunks([pl.from_pandas(FRAME[:10]), pl.from_pandas(FRAME[10:])]),
        "record batches": td.chunks(lambda: table.to_batches(77)),
        "a dataset": td.chunks(pyarrow.dataset.dataset(folder)),
        "a Parquet file's own batches": td.chunks(lambda: pq.ParquetFile(whole).iter_batches(64)),
    }


def test_every_kind_of_source_is_the_table(tmp_path):
    (tmp_path / "parts").mkdir()
    whole = told(released(FRAME))
    for name, source in sources(tmp_path / "parts").items():
        assert told(released(source)) == whole, name


def test_columns_are_chosen_by_name_in_the_order_given(tmp_path):
    path = written(tmp_path / "x.parquet")
    whole = told(released(FRAME[["c", "a"]]))
    for source in (path, lambda: [FRAME[:99], FRAME[99:]], [pl.from_pandas(FRAME)]):
        assert told(released(td.chunks(source, columns=["c", "a"]))) == whole


def test_the_accountant_pays_before_the_cells_are_read_and_a_bad_schema_costs_nothing():
    account = td.Accountant(2)
    passes = []

    def reading():
        passes.append(account.remaining().epsilon)
        yield FRAME

    released(td.chunks(reading), accountant=account)
    assert passes[:2] == [2, 2]
    assert set(passes[2:]) == {1}
    with pytest.raises(ParameterError):
        released(td.chunks([FRAME, FRAME[["a"]]]), accountant=account)
    assert account.remaining().epsilon == 1


def failing():
    yield FRAME
    raise RuntimeError(f"row 7 has {SECRET}")


def shrinking():
    passes = iter(range(100))
    return lambda: [FRAME[: 900 - next(passes) // 2]]


def shifting(column="a"):
    passes = iter(range(100))
    return lambda: [FRAME.assign(**{column: FRAME[column] + (next(passes) > 2)})]


def test_columns_that_are_not_there_are_named():
    with pytest.raises(ParameterError, match=r"columns must name columns that occur once.*did you mean 'a'.*got 'aa'"):
        released(td.chunks([FRAME], columns=["aa"]))
    with pytest.raises(ParameterError, match="columns must be left out where chunks are arrays"):
        released(td.chunks([FRAME.to_numpy()], columns=["a"]))
    with pytest.raises(ParameterError, match="columns must be a list of names"):
        td.chunks([FRAME], columns="a")


@pytest.mark.parametrize("word", ["131 mmHg", "", "2020-01-01", "true"])
def test_no_cell_decides_whether_a_chunk_is_read(word, tmp_path):
    """pandas chooses the types of each chunk from its cells: one word raised where its neighbour was released."""
    path = tmp_path / "x.csv"
    rows = [f"{i % 9},{i % 7}" for i in range(300)]
    text = "a,b\n" + "\n".join([*rows[:150], f"{word},1", *rows[150:]]) + "\n"
    path.write_text(text)
    makers = {
        "pandas": lambda: pd.read_csv(io.StringIO(text), chunksize=40),
        "pandas, text": lambda: pd.read_csv(io.StringIO(text), chunksize=40, dtype=str),
        "objects": lambda: [pd.read_csv(path, dtype=object).to_numpy()],
        "polars": lambda: [pl.read_csv(path, infer_schema_length=None)],
    }
    whole = released(td.read(path))
    for name, make in makers.items():
        found = released(td.chunks(make))
        assert (found.point.tolist(), found.n) == (whole.point.tolist(), 301), name


def test_a_stream_says_that_it_was_not_checked():
    asked = {"epsilon": 1, "bounds": (-10, 10), "depth": DEPTH, "randomness": td.seeded(5)}
    assert any("rows were read in passes" in note for note in td.boxem(td.chunks([FRAME]), **asked).notes)
    assert not any("rows were read in passes" in note for note in released(td.chunks([FRAME])).notes)


BAD = {
    "another schema later": (lambda: [FRAME, FRAME.rename(columns={"a": "z"})], "the same columns in every chunk"),
    "fewer columns later": (lambda: [np.zeros((3, 2)), np.zeros((3, 1))], "the same columns in every chunk"),
    "lists": (lambda: [[[1.0, SECRET]]], "chunks that are arrays or tables"),
    "no chunk": (list, "at least one chunk"),
    "no row": (lambda: [np.zeros((0, 2))], "at least one row"),
    "an error on the way": (failing, "can be read to its end; got RuntimeError"),
    "fewer rows each time": (shrinking(), "the same rows in every pass"),
    "other cells each time": (shifting(), "the same rows in every pass"),
    "no chunks at all": (lambda: 5, "can be read to its end; got TypeError"),
}


@pytest.mark.parametrize("name", BAD)
def test_sources_that_fail_say_so_without_a_cell(name):
    source, words = BAD[name]
    with pytest.raises(ParameterError) as caught:
        released(td.chunks(source))
    assert words in str(caught.value)
    assert str(SECRET) not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def damaged(path):
    """A Parquet file whose end says how many rows there are, and some of whose pages cannot be read."""
    written(path, row_group_size=100, compression="zstd")
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3 : len(whole) // 2] = b"\xff" * (len(whole) // 2 - len(whole) // 3)
    path.write_bytes(whole)
    return path


def two_files(folder, second):
    folder.mkdir()
    written(folder / "1.parquet")
    written(folder / "2.parquet", second)
    return folder


# What fails after the first chunk, when the budget is spent: the source, and what the error says besides that.
LATER = {
    "damaged pages": (lambda folder: damaged(folder / "x.parquet"), "damaged or cut off"),
    "a file with a column less": (lambda folder: two_files(folder / "less", FRAME[["a", "b"]]), "columns must name"),
    "a file with text": (lambda folder: two_files(folder / "text", FRAME.assign(b="54321")), "column 'b' must hold"),
    "another schema": (lambda folder: [FRAME, FRAME.rename(columns={"a": "z"})], "the same columns in every chunk"),
    "rows that change": (lambda folder: shifting(), "the same rows in every pass"),
}


@pytest.mark.parametrize("name", LATER)
def test_a_source_that_fails_after_the_budget_was_spent_says_so(name, tmp_path):
    make, words = LATER[name]
    source = make(tmp_path)
    # The number of rows is counted before anything is spent: by files from what they say of themselves.
    counted = td.chunks(source if not isinstance(source, list) else Failing(source))
    account = td.Accountant(1)
    with pytest.raises(ParameterError, match="this run's budget is spent, and nothing was released") as caught:
        released(counted, accountant=account)
    assert words in str(caught.value)
    assert str(SECRET)[:5] not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert account.remaining().epsilon == 0


class Failing(list):
    """Its second chunk comes from the fourth reading on: those before try it, look at the schema, and count."""

    readings = 0

    def __iter__(self):
        self.readings += 1
        return iter(list.__getitem__(self, slice(None if self.readings > 3 else 1)))


@pytest.mark.parametrize("name", ["lists", "no row", "an error on the way", "fewer columns later"])
def test_a_source_that_fails_before_costs_nothing_and_does_not_say_it_has(name):
    account = td.Accountant(1)
    with pytest.raises(ParameterError) as caught:
        released(td.chunks(BAD[name][0]), accountant=account)
    assert "spent" not in str(caught.value)
    assert account.remaining().epsilon == 1


def test_rows_of_a_secret_number_may_be_none():
    nobody = td.chunks([np.zeros((0, 2))])
    assert released(nobody, neighbours="add-remove").point.shape == (2,)


def test_files_and_datasets_without_rows_are_tables_too(tmp_path):
    """Where the number of rows is secret, an error would tell that there are none."""
    nobody = written(tmp_path / "x.parquet", FRAME[:0])
    whole = told(released(FRAME[:0], neighbours="add-remove"))
    dataset = pyarrow.dataset.dataset(nobody)
    for source in (nobody, tmp_path, dataset, dataset.scanner(columns=["a", "b", "c"]), dataset.to_table()):
        assert told(released(td.chunks(source), neighbours="add-remove")) == whole
        with pytest.raises(ParameterError, match="at least one row"):
            released(td.chunks(source))
    written(tmp_path / "y.parquet")
    assert told(released(td.chunks(tmp_path))) == told(released(FRAME))


def test_files_that_are_cut_off_or_no_parquet(tmp_path):
    path = written(tmp_path / "x.parquet", row_group_size=100)
    source = td.chunks(path)
    whole = path.read_bytes()
    page = pq.read_metadata(path).row_group(4).column(0).dictionary_page_offset  # its head: numbers have no checksum
    path.write_bytes(whole[:page] + bytes(100) + whole[page + 100 :])
    with pytest.raises(ParameterError, match="damaged or cut off"):
        released(source)
    path.write_bytes(whole[:2000])
    for bad in (path, tmp_path / "none.parquet", tmp_path):
        with pytest.raises(ParameterError, match="FILE must be"):
            released(td.chunks(bad))
    written(path, FRAME.assign(b="text"))
    with pytest.raises(ParameterError, match="FILE column 'b' must hold numbers"):
        td.chunks(path)
    with pytest.raises(ParameterError, match="columns must name columns that occur once in the file's schema"):
        td.chunks(path, columns=["nothing"])


def test_a_later_file_with_other_columns_is_refused(tmp_path):
    written(tmp_path / "1.parquet")
    written(tmp_path / "2.parquet", FRAME[["a", "b"]])
    with pytest.raises(ParameterError, match="columns must name"):
        released(td.chunks(tmp_path))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": td.Exact()}, "depth must name finitely many directions where rows are streamed"),
        ({"by": "a"}, "by must be left out where rows are streamed"),
        ({"person": "a"}, "person must be left out where rows are streamed"),
        ({"unproven": "mcmc"}, "unproven must be left out where rows are streamed"),
        ({"epsilon": 1e-9}, "MiB: so many levels may be drawn with so small an epsilon"),
    ],
)
def test_what_needs_all_rows_at_once_is_refused_by_name(options, words):
    x = np.zeros((20000, 2)) if "epsilon" in options else FRAME
    with pytest.raises(ParameterError, match=words):
        released(td.chunks([x], memory=1), **options)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ((chunk for chunk in [FRAME]), "source must be readable more than once"),
        (FRAME, "source must be a path to Parquet, a function"),
        (np.zeros((3, 2)), "source must be a path to Parquet, a function"),
        (None, "source must be a path to Parquet, a function"),
    ],
)
def test_what_cannot_be_read_again_is_refused(source, words):
    with pytest.raises(ParameterError, match=words):
        td.chunks(source)


@pytest.mark.parametrize("neighbours", ["swap", "add-remove"])
def test_a_function_that_returns_the_same_iterator_again_is_refused(neighbours):
    """Read to its end by the look at the schema, it would be a table without rows, which may be released from."""
    for used_up in (iter([FRAME]), (chunk for chunk in [FRAME, FRAME])):
        with pytest.raises(ParameterError, match=r"returns a new iterator each time; got (list_iterator|generator)"):
            released(td.chunks(lambda same=used_up: same), neighbours=neighbours)
    for used_up in (iter([FRAME]), iter([FRAME] * 3)):
        with pytest.raises(ParameterError, match="the same rows in every pass"):
            released(td.chunks(lambda same=used_up: map(pd.DataFrame, same)), neighbours=neighbours)


ROWS_OR_COLUMNS = {
    "an array": lambda: FRAME.to_numpy(),
    "an array's rows": lambda: list(FRAME.to_numpy()),
    "a pandas table": lambda: FRAME,
    "a polars table": lambda: pl.from_pandas(FRAME),
    "a polars table's columns": lambda: list(pl.from_pandas(FRAME)),
    "an Arrow table": lambda: pa.Table.from_pandas(FRAME),
    "an Arrow table's columns": lambda: pa.Table.from_pandas(FRAME).columns,
    "a pandas column": lambda: [FRAME["a"]],
    "numbers": lambda: [1.0, 2.0],
}


@pytest.mark.parametrize("name", ROWS_OR_COLUMNS)
def test_rows_and_columns_are_no_chunks(name):
    """A table in place of chunks is iterated by rows or columns: each cell would be a row, a person many of them."""
    with pytest.raises(ParameterError, match=r"iterator or a list of chunks|chunks with rows and columns"):
        released(td.chunks(ROWS_OR_COLUMNS[name]))


def test_what_writers_hide_in_a_folder_is_not_read_twice(tmp_path):
    written(tmp_path / "part-0.parquet")
    for hidden in ("_temporary/0", ".checkpoints"):
        (tmp_path / hidden).mkdir(parents=True)
        written(tmp_path / hidden / "part-0.parquet")
    written(tmp_path / "._part-0.parquet")
    assert released(td.chunks(tmp_path)).n == len(FRAME)


def test_other_mechanisms_refuse_chunks():
    for run in (td.rem, td.mean, td.cube, td.spread):
        with pytest.raises(ParameterError, match="got Chunks"):
            run(td.chunks([FRAME]), epsilon=1, **({"delta": 1e-6} if run is td.rem else {"bounds": (-10, 10)}))


def test_the_memory_is_a_number_of_mebibytes():
    for bad in (0, -1, 1.5, "much"):
        with pytest.raises(ParameterError, match="memory must be"):
            td.chunks([FRAME], memory=bad)


def test_a_long_chunk_is_mapped_a_piece_at_a_time_and_no_chunk_is_changed():
    x = np.random.default_rng(9).normal(size=(70000, 1))
    before = x.copy()
    assert released(td.chunks([x]), depth=None).point.tolist() == released(x, depth=None).point.tolist()
    assert (x == before).all()


def most_held(rows):
    """Bytes that a call holds at most, beside what it is given a chunk at a time."""

    def parts():
        for seed in range(rows // 10000):
            yield np.random.default_rng(seed).normal(size=(10000, 3))

    source = td.chunks(parts, memory=1)
    tracemalloc.start()
    try:
        released(source)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    """From 200,000 rows to 600,000, which are 9.6 MB more: less than a tenth of that."""
    monkeypatch.setattr(streamed_levels, "_PILOT", 2**12)
    released(td.chunks([np.zeros((100, 3))]))
    assert most_held(600_000) - most_held(200_000) < 0.96e6


def test_the_number_of_rows_of_files_is_read_from_their_metadata(tmp_path, monkeypatch):
    source = td.chunks(written(tmp_path / "x.parquet"))
    monkeypatch.setattr(StreamedTable, "passes", lambda self: pytest.fail("read for its number of rows"))
    assert StreamedTable(source).n == 900
