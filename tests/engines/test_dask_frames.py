"""Dask: partitions of any size and schema, on threads and on workers of their own, one of which dies."""

from __future__ import annotations

import os
import signal
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tukeydp as td
from engines.lazy_frames import BOUNDS, as_dealt, drawn_once, numbered, survey
from tukeydp.data.engines.dask_frames import _of_partition, _sum, opened
from tukeydp.data.lazy_tables import LazyTable, lazy_table
from tukeydp.trusted.sums import Pass

dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'tukeydp[dask]'")
import dask  # noqa: E402 only where its frames are there


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Unless a test has a cluster of its own."""
    with dask.config.set(scheduler="synchronous"):
        yield


def frame_of(table, partitions=7):
    return dd.from_pandas(table, npartitions=partitions, sort=False)


def people():
    return pd.DataFrame(survey().to_dict(as_series=False))


def test_clipped_means_are_those_of_the_table_in_memory_bit_by_bit():
    for partitions in (1, 7, 40):
        found = td.cube(frame_of(people(), partitions), epsilon=1, bounds=BOUNDS, randomness=td.seeded(3))
        expected = td.cube(people(), epsilon=1, bounds=BOUNDS, check=False, randomness=td.seeded(3))
        assert found.point.tobytes() == expected.point.tobytes()


def test_every_row_is_drawn_once_with_empty_partitions_too():
    table = numbered(300).to_pandas()
    empty = [table.iloc[:0], table.iloc[:100], table.iloc[:0], table.iloc[100:], table.iloc[:0]]
    frame = dd.from_delayed([dask.delayed(part) for part in empty], meta=table.iloc[:0])
    for blocks in (1, 7, 1000):
        assert drawn_once(as_dealt(lazy_table(frame), blocks), 300)


def test_partitions_draw_apart_and_seeded_runs_repeat_themselves():
    frame = frame_of(numbered(4000).to_pandas(), 2)
    first, again, other = (as_dealt(lazy_table(frame), 5, bytes([i]) * 32) for i in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    alone = as_dealt(lazy_table(frame_of(numbered(2000).to_pandas(), 1)), 5, bytes([1]) * 32)
    # Partitions that shared a place would have the same numbers, and each block twice the rows of the first alone.
    assert (first[:, 1] != 2 * alone[:, 1]).any()


@pytest.mark.parametrize("mechanism", ["subset", "two-step"])
def test_means_by_drawn_blocks(mechanism):
    release = td.mean(frame_of(people()), epsilon=4, bounds=BOUNDS, mechanism=mechanism, randomness=td.seeded(5))
    assert 45 < release["age"] < 62
    assert 0.2 < release["smokes"] < 0.4
    assert td.spread(frame_of(people()), epsilon=4, bounds=BOUNDS, randomness=td.seeded(5))["age"] == pytest.approx(
        20, abs=9
    )


@pytest.mark.parametrize(
    "other",
    [
        pd.DataFrame({"b": [4711.0]}),
        pd.DataFrame({"a": [1.0], "b": [4711.0]}),
    ],
    ids=["missing column", "further column"],
)
def test_a_partition_of_another_schema_is_told_without_a_cell(other):
    table = pd.DataFrame({"a": [1.0, 2.0]})
    frame = dd.from_delayed([dask.delayed(part) for part in (table, other)], meta=table.iloc[:0], verify_meta=False)
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match="x must be readable to its end; this run's budget is spent") as caught:
        td.cube(frame, epsilon=1, bounds=(0, 1), accountant=account)
    assert "4711" not in str(caught.value)
    assert account.remaining().epsilon == 0


def test_a_partition_that_fails_is_not_logged_by_its_worker():
    """A worker logs the arguments of a task that raises: the partition."""
    one = Pass((), ("a",))
    assert len(_of_partition(pd.DataFrame({"b": ["Zoe4711"]}), one, 0)) == 0
    good = _of_partition(pd.DataFrame({"a": [1.0]}), one, 0)
    assert _sum([good, good]).tolist() == [2]
    assert len(_sum([good, np.empty(0, dtype=np.int64)])) == 0


@pytest.mark.parametrize("cells", [["Zoe4711", "2.5"], [pd.Timestamp("2024-01-01")] * 2], ids=["text", "times"])
def test_no_type_of_a_partition_raises(cells):
    """pandas reads each partition's types off its cells: text is read cell by cell, times are missing."""
    table = pd.DataFrame({"a": [1.0, 2.0]})
    parts = [dask.delayed(part) for part in (table, pd.DataFrame({"a": cells}))]
    frame = dd.from_delayed(parts, meta=table.iloc[:0], verify_meta=False)
    assert td.cube(frame, epsilon=1, bounds=(0, 3), randomness=td.seeded(1)).n == 4


def test_bounds_of_a_missing_column_cost_nothing():
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match="bounds must"):
        td.cube(frame_of(people()), epsilon=1, bounds={"height": (0, 3)}, accountant=account)
    assert account.remaining().epsilon == 1


def cut_off(path):
    """Without its end a file does not say how many rows it has: nothing is counted, and nothing spent."""
    path.write_bytes(path.read_bytes()[:-200])


def damage(path):
    """Pages that cannot be read, in a file that says how many rows it has."""
    whole = bytearray(path.read_bytes())
    whole[100 : len(whole) // 2] = b"\xff" * (len(whole) // 2 - 100)
    path.write_bytes(whole)


@pytest.mark.parametrize(("harm", "left"), [(cut_off, 1), (damage, 0)])
def test_a_file_that_cannot_be_read_says_whether_it_has_cost(tmp_path, harm, left):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"a": np.random.default_rng(4711).random(50_000)}).to_parquet(path, compression="zstd")
    frame = dd.read_parquet(path)
    harm(path)
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match="nothing was spent" if left else "budget is spent") as caught:
        td.cube(frame, epsilon=1, bounds=(0, 1), accountant=account)
    assert "0." not in str(caught.value)
    assert account.remaining().epsilon == left


def test_labels_that_are_numbers_and_decimals_are_read_as_in_memory():
    """Declared by the schema, so that a refusal in the middle of a pass would have cost the budget for nothing."""
    decimals = pd.Series([Decimal("1.5"), Decimal(2), None], dtype=pd.ArrowDtype(pa.decimal128(9, 2)))
    table = pd.DataFrame({0: [1.0, 2.0, np.nan], 1: decimals})
    found, expected = (
        td.cube(x, epsilon=1, bounds=(0, 9), randomness=td.seeded(3)) for x in (frame_of(table, 2), table)
    )
    assert found.columns == expected.columns == ("0", "1")
    assert found.point.tobytes() == expected.point.tobytes()


def test_labels_that_read_the_same_cost_nothing():
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match="x must have distinct column names"):
        td.cube(frame_of(pd.DataFrame({1: [1.0], "1": [2.0]}), 1), epsilon=1, bounds=(0, 1), accountant=account)
    assert account.remaining().epsilon == 1


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'tukeydp[dask]'")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as found:
        yield found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own
def test_workers_of_their_own_give_the_same(cluster):
    from distributed import Client

    given = {"epsilon": 1, "bounds": BOUNDS, "mechanism": "subset"}
    expected = td.mean(frame_of(people()), **given, randomness=td.seeded(3))
    with Client(cluster), dask.config.set(scheduler="dask.distributed"):
        found = td.mean(frame_of(people()), **given, randomness=td.seeded(3))
        assert drawn_once(as_dealt(lazy_table(frame_of(numbered(3000).to_pandas(), 9))), 3000)
    assert found.point.tobytes() == expected.point.tobytes()


def slowly(part, folder):
    """A partition whose rows come in another order each time, and whose first worker dies after others have begun."""
    mark = os.path.join(folder, "died")
    if part["row"].iloc[0] >= 500 and not os.path.exists(mark):
        time.sleep(1.0)
        with open(mark, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return part.sample(frac=1.0, random_state=np.random.default_rng())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_loses_and_doubles_no_row(cluster, tmp_path):
    """What it had computed is computed again, by rows in another order, so with other numbers for them."""
    from distributed import Client

    frame = frame_of(numbered(1000).to_pandas(), 10).map_partitions(
        slowly, os.fspath(tmp_path), meta=numbered(0).to_pandas()
    )
    table = lazy_table(frame_of(numbered(1000).to_pandas(), 10))
    with Client(cluster), dask.config.set(scheduler="dask.distributed"):
        dying = LazyTable(table.n, table.columns, "dask", opened(frame, table.columns))
        assert drawn_once(as_dealt(dying), 1000)
    assert (tmp_path / "died").exists()
