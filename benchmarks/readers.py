"""Seconds and peak memory for reading large tables, each in a fresh process. Prints a table.

Memory is what reading adds to the process at its peak, as a multiple of the table of floats.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

COLUMNS = list("abcdefghij")
FILES = ["full.csv", "long.csv", "short.csv", "german.csv", "short.csv.gz", "full.parquet", "gaps.parquet"]
OBJECTS = ["pandas", "pandas gaps", "nullable", "nullable gaps", "polars", "polars gaps", "lazy gaps", "arrow gaps"]
OBJECTS += ["masked", "objects gaps", "list", "list gaps"]


def write(folder: Path, rows: int) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    x = rng.normal(100, 15, size=(rows, len(COLUMNS)))
    full = pd.DataFrame(x, columns=COLUMNS)
    gaps = full.mask(rng.random(x.shape) < 0.1)
    full.to_csv(folder / "full.csv", index=False)
    gaps.to_csv(folder / "long.csv", index=False)
    short = gaps.round(3)
    short.to_csv(folder / "short.csv", index=False)
    short.to_csv(folder / "short.csv.gz", index=False)
    short.to_csv(folder / "german.csv", index=False, sep=";", decimal=",")
    full.to_parquet(folder / "full.parquet")
    gaps.to_parquet(folder / "gaps.parquet")


def made(folder: Path, name: str) -> object:
    import pandas as pd

    frame = pd.read_parquet(folder / ("gaps.parquet" if "gaps" in name or name == "masked" else "full.parquet"))
    kind = name.split()[0]
    if kind == "nullable":
        return frame.convert_dtypes()
    if kind in ("polars", "lazy"):
        import polars as pl

        table = pl.from_pandas(frame)
        return table.lazy() if kind == "lazy" else table
    if kind == "arrow":
        import pyarrow as pa

        return pa.Table.from_pandas(frame)
    if kind == "masked":
        return np.ma.masked_invalid(frame.to_numpy())
    if kind == "objects":
        return frame.astype(object).where(frame.notna(), None)
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist() if kind == "list" else frame


def resident() -> int:
    """Bytes of memory that are this process's own; pages of a file mapped for reading are not."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


class Peak(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.ended = resident(), False

    def run(self) -> None:
        while not self.ended:
            self.most = max(self.most, resident())
            time.sleep(0.002)


def measure(folder: Path, name: str) -> None:
    from tukeydp.data.files import read_file
    from tukeydp.data.readers.options import ReadOptions
    from tukeydp.data.tables import read_table

    german = ReadOptions(separator=";", decimal=",")
    options = german if name == "german.csv" else ReadOptions()
    small = folder / f"small-{name}"
    if name in FILES:
        # Load the libraries and the compiled loops first.
        read_file(small if small.exists() else folder / name, COLUMNS, options)
    x = None if name in FILES else made(folder, name)
    before, peak = resident(), Peak()
    peak.start()
    start, work = time.perf_counter(), time.process_time()
    table = read_file(folder / name, COLUMNS, options) if name in FILES else read_table(x)
    seconds, work = time.perf_counter() - start, time.process_time() - work
    peak.ended = True
    peak.join()
    room = (max(peak.most, resident()) - before) / table.cells.nbytes
    print(f"{name:16s} {seconds:8.2f} s {work:8.2f} s of work {room:8.2f} x the table")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs=2)
    arguments = parser.parse_args()
    if arguments.only:
        measure(Path(arguments.only[0]), arguments.only[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), arguments.rows)
        for file in FILES:
            if "csv" in file and not file.endswith(".gz"):
                with (Path(folder) / file).open() as lines:
                    (Path(folder) / f"small-{file}").write_text("".join(next(lines) for _ in range(20)))
        for name in FILES + OBJECTS:
            subprocess.run([sys.executable, __file__, "--only", folder, name], check=True)


if __name__ == "__main__":
    main()
