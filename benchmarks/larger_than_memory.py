"""A centre of more rows than memory holds: generated Parquet, read in passes. Prints a table.

First a smaller file, released from memory and streamed with the same seed: the points must be equal, or it stops. Then
the large one, in a process of its own, so that its peak of memory is the call's. The file is written a row group at
a time and removed afterwards unless `--keep`. `--shape` is the law of the columns.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

GROUP = 2**20  # rows of a row group
SHAPES = ("normal", "exponential", "integers")


def group(shape: str, number: int, rows: int, d: int) -> Any:
    rng = np.random.default_rng([number, d])
    if shape == "integers":
        return rng.integers(0, 100, (rows, d)).astype(float)
    return getattr(rng, shape)(size=(rows, d))


def write(path: Path, rows: int, d: int, shape: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(d)])
    # Random digits do not compress: trying would only take time.
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=shape == "integers") as file:
        for number in range(-(-rows // GROUP)):
            cells = group(shape, number, min(GROUP, rows - number * GROUP), d)
            file.write_table(pa.Table.from_arrays([pa.array(cells[:, j]) for j in range(d)], schema=schema))


def settings(shape: str) -> dict[str, Any]:
    return {"bounds": (0, 100), "resolution": 1} if shape == "integers" else {"bounds": (-50, 50)}


def peak_memory() -> float:
    """MiB, of this process alone: `ru_maxrss` would count what its parent had."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def streamed(path: Path, shape: str, memory: int) -> None:
    """The child's job: one call, after a small one that compiles, and what it took."""
    import tukeydp as td
    from tukeydp.depth.tallies import Passes

    passes = [0]
    plain = Passes.run

    def counted(self: Any, *given: Any) -> Any:
        passes[0] += 1
        return plain(self, *given)

    Passes.run = counted  # type: ignore[method-assign, assignment]
    before = peak_memory()
    since, began = time.perf_counter(), time.process_time()
    release = td.boxem(td.chunks(path, memory=memory), epsilon=1, randomness=td.seeded(1), **settings(shape))
    clock, cpu = time.perf_counter() - since, time.process_time() - began
    peak = peak_memory()
    n, d, k = release.n or 0, release.d, len(release.to_dict()["directions"])
    print(
        f"{shape:12} {n:>11,} x {d} {k:>5} {1 + passes[0]:>6} {clock:>8.1f} {cpu:>8.1f} "
        f"{n * (1 + passes[0]) / clock / 1e6:>14.2f} {n / clock / 1e6:>12.2f} {before:>8.0f} {peak:>8.0f}",
        flush=True,
    )


def compare(folder: Path, rows: int, d: int, shape: str) -> None:
    """The same seed, from memory and streamed with so little memory that nothing is held whole."""
    import pyarrow.parquet as pq

    import tukeydp as td

    path = folder / "small.parquet"
    write(path, rows, d, shape)
    given = {"epsilon": 1, **settings(shape)}
    whole = td.boxem(pq.read_table(path), randomness=td.seeded(1), **given)
    parts = td.boxem(td.chunks(path, memory=16), randomness=td.seeded(1), **given)
    if whole.point.tolist() != parts.point.tolist():
        sys.exit("the streamed point is not the one from memory")
    print(f"{shape}, {rows:,} x {d}: streamed and from memory the same point, seed for seed", flush=True)
    path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--shape", choices=SHAPES, action="append", help="may be repeated; all unless given")
    parser.add_argument("--memory", type=int, default=512, help="MiB for projections")
    parser.add_argument("--compare", type=int, default=300_000, help="rows of the smaller file; 0 for none")
    parser.add_argument("--folder", type=Path, help="where the files are written; a temporary one unless given")
    parser.add_argument("--keep", action="store_true", help="leave the large file there")
    parser.add_argument("--job", nargs=2, metavar=("FILE", "SHAPE"), help="run this one here")
    chosen = parser.parse_args()
    if chosen.job:
        streamed(Path(chosen.job[0]), chosen.job[1], chosen.memory)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        for shape in chosen.shape or SHAPES:
            if chosen.compare:
                compare(folder, chosen.compare, chosen.columns, shape)
        print(
            f"{'shape':12} {'rows x columns':>15} {'dirs':>5} {'passes':>6} {'clock s':>8} {'CPU s':>8} "
            f"{'M rows/s, pass':>14} {'M rows/s':>12} {'MiB before':>8} {'MiB peak':>8}"
        )
        for shape in chosen.shape or SHAPES:
            path = folder / f"{shape}-{chosen.rows}-{chosen.columns}.parquet"
            if not path.exists():
                write(path, chosen.rows, chosen.columns, shape)
            arguments = ["--job", str(path), shape, "--memory", str(chosen.memory)]
            subprocess.run([sys.executable, __file__, *arguments], check=True, env=os.environ)
            if not chosen.keep:
                path.unlink()


if __name__ == "__main__":
    main()
