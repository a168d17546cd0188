"""Spark on this machine, two threads: needs PySpark and a Java runtime (Debian: default-jre-headless)."""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import sys

import polars as pl
import pytest

import tukeydp as td
from engines.lazy_frames import BOUNDS, as_dealt, drawn_once, numbered, survey
from tukeydp.data.lazy_tables import lazy_table

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # warnings of Spark's own

REQUIRED = "TUKEYDP_SPARK"  # set to "required": what is missing fails instead of skipping. `make test-spark` sets it.


def missing():
    """What these tests need and is not there."""
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed: pip install 'tukeydp[spark]'"
    return None if shutil.which("java") else "no Java runtime; on Debian: apt-get install default-jre-headless"


if reason := missing():
    if os.environ.get(REQUIRED) == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    logging.getLogger("py4j").setLevel(logging.ERROR)
    session = (
        SparkSession.builder.master("local[2, 3]")  # a task is tried three times
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    survey().write_parquet(folder / "survey.parquet", row_group_size=500)
    numbered(300).write_parquet(folder / "rows.parquet")
    return folder


def test_clipped_means_are_those_of_the_table_in_memory_bit_by_bit(spark, folder):
    frame = spark.read.parquet(os.fspath(folder / "survey.parquet"))
    for given in (frame, frame.repartition(5)):
        found = td.cube(given, epsilon=1, bounds=BOUNDS, randomness=td.seeded(3))
        expected = td.cube(survey(), epsilon=1, bounds=BOUNDS, check=False, randomness=td.seeded(3))
        assert found.point.tobytes() == expected.point.tobytes()


@pytest.mark.parametrize("mechanism", ["auto", "subset", "two-step"])
def test_means_by_drawn_blocks(spark, folder, mechanism):
    frame = spark.read.parquet(os.fspath(folder / "survey.parquet"))
    release = td.mean(frame, epsilon=4, bounds=BOUNDS, mechanism=mechanism, randomness=td.seeded(5))
    assert 40 < release["age"] < 65
    assert release.n == 3000


def test_every_row_is_drawn_once_with_empty_partitions_and_after_shuffles(spark, folder):
    frame = spark.read.parquet(os.fspath(folder / "rows.parquet"))
    for given in (
        frame,
        frame.repartition(40),
        frame.orderBy("square"),
        frame.repartition(3, "row").filter("row >= 0"),
    ):
        assert drawn_once(as_dealt(lazy_table(given), 7), 300)
    assert drawn_once(as_dealt(lazy_table(frame.repartition(4)), 1000), 300)


def failing_once(mark):
    """Rows in another order each time; the first try of a partition fails after it has handed over all its rows."""

    def tried(batches):
        import numpy as np
        import pyarrow as pa

        for batch in batches:
            yield batch.take(pa.array(np.random.default_rng().permutation(batch.num_rows)))
        if not os.path.exists(mark):
            with open(mark, "w"):
                pass
            raise RuntimeError("the first try fails")

    return tried


def test_a_task_that_is_tried_again_loses_and_doubles_no_row(spark, folder, tmp_path):
    frame = spark.read.parquet(os.fspath(folder / "rows.parquet")).repartition(4)
    n = frame.count()
    failing = frame.mapInArrow(failing_once(os.fspath(tmp_path / "tried")), frame.schema)
    from tukeydp.data.engines.spark_frames import opened
    from tukeydp.data.lazy_tables import LazyTable

    names = ("one", "row", "square")
    assert drawn_once(as_dealt(LazyTable(n, names, "pyspark", opened(failing, names))), 300)
    assert (tmp_path / "tried").exists()


def test_bad_frames_are_told_without_a_cell(spark, folder, tmp_path):
    account = td.Accountant(1)
    text = spark.createDataFrame([(1.0, "Zoe4711")], "a double, name string")
    assert td.cube(text, epsilon=1, bounds=(0, 1), randomness=td.seeded(1)).d == 2  # text is read cell by cell
    dates = text.selectExpr("a", "date'2024-01-01' as day")
    with pytest.raises(td.ParameterError, match="x column 'day' must hold numbers"):
        td.cube(dates, epsilon=1, bounds=(0, 1), accountant=account)
    with pytest.raises(td.ParameterError, match="at least one row"):
        td.cube(text.select("a").filter("a > 1"), epsilon=1, bounds=(0, 1), accountant=account)
    for names, words in ((("a", "A"), "in more than capital letters"), (("a.b", "c"), "nothing was spent")):
        with pytest.raises(td.ParameterError, match=words):
            td.cube(spark.createDataFrame([(1.0, 2.0)]).toDF(*names), epsilon=1, bounds=(0, 1), accountant=account)
    assert account.remaining().epsilon == 1
    with pytest.raises(td.ParameterError, match="bounds must"):
        td.cube(text.select("a"), epsilon=1, bounds={"b": (0, 1)}, accountant=account)
    assert account.remaining().epsilon == 1


def test_means_of_persons_by_group_of_a_secret_number_of_rows(spark):
    """The engine groups rows; integers add up to the same as in memory, but for the steps that they are counted in."""
    rows = [(float(50 + (7 * i) % 30), "AB"[(i // 2) % 2], f"p{i // 2}") for i in range(600)]
    frame = spark.createDataFrame(rows, "a double, arm string, id string")
    given = {"epsilon": 8, "bounds": {"a": (0, 100)}, "by": "arm", "keys": ["A", "B"], "person": "id"}
    given |= {"confidence": 0.95, "neighbours": "add-remove", "rows": 300, "randomness": td.seeded(3)}
    found = td.mean(frame, **given)
    assert found.guarantee.neighbours == "add-remove-person"
    low, high = found["A"].interval[0]
    assert low < 64.5 < high < low + 5


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-500])


def damage(path):
    """Pages that cannot be read, in a file that says how many rows it has."""
    whole = bytearray(path.read_bytes())
    whole[100:5000] = b"\xff" * 4900
    path.write_bytes(whole)


def other_type(path):
    """Another type than the schema that was read before: numbers cannot be found in a page of text."""
    survey().with_columns(pl.lit("Zoe4711").alias("age")).write_parquet(path)


@pytest.mark.parametrize("harm", [cut_off, damage, other_type])
def test_files_that_cannot_be_read_say_whether_they_have_cost(spark, tmp_path, harm):
    path = tmp_path / "broken.parquet"
    survey().write_parquet(path, compression="zstd")
    frame = spark.read.parquet(os.fspath(path))
    harm(path)
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match=r"nothing was spent|budget is spent") as caught:
        td.cube(frame, epsilon=1, bounds=BOUNDS, accountant=account)
    assert caught.value.__suppress_context__
    assert "4711" not in str(caught.value)
    assert account.remaining().epsilon == ("nothing was spent" in str(caught.value))
