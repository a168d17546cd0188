"""Means and centres of more rows than memory holds: generated Parquet, released by every engine. Prints a table.

Each job runs in a process of its own: its seconds are those of the call, its memory that of the process and all its
workers together. Before, a smaller file is released with the same seed by the engine and from memory: the points must
be equal, or it stops. The file is written a row group at a time into a temporary folder, and removed afterwards.

    python benchmarks/larger_than_memory.py --rows 1000000                  # a try
    python benchmarks/larger_than_memory.py --rows 100000000 --out FILE.csv    # 4 GB of disk, twenty minutes
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from out_of_core.engines import without
from out_of_core.jobs import CENTRE, MEANS, Job, compare, run
from out_of_core.made_up import SHAPES, write
from out_of_core.measured import Line, save, watched

DASK_WORKERS = (1, 2, 4)
ENGINES = ("chunks", "polars", "duckdb", "dask", "spark")
SMALL_PARTITIONS = 1000  # so many that what Dask takes for each of them is seen
MOST_MEMORY = 2048  # MiB: what is to be shown


def jobs(chosen: argparse.Namespace) -> list[Job]:
    """Centres of every shape; means of the first one, by every engine."""
    found = [Job("chunks", 1, CENTRE, shape, chosen.memory) for shape in chosen.shape if "chunks" in chosen.engine]
    for name in (name for name in ENGINES[1:] if name in chosen.engine):
        if why := without(name):
            print(f"left out: {name}: {why}", flush=True)
            continue
        for workers in {"dask": chosen.workers, "spark": [2]}.get(name, [1]):
            found += [Job(name, workers, call, chosen.shape[0], chosen.memory) for call in MEANS]
        if name == "dask":
            found.append(Job(name, 2, "td.cube", chosen.shape[0], chosen.memory, SMALL_PARTITIONS))
    return found


def child(task: str, job: Job, path: Path) -> tuple[dict[str, object], float]:
    said, memory = watched([sys.executable, __file__, f"--{task}", json.dumps(asdict(job)), "--file", str(path)])
    return json.loads(said), memory


def compare_all(asked: list[Job], folder: Path, chosen: argparse.Namespace) -> None:
    for shape in dict.fromkeys(job.shape for job in asked):
        path = folder / f"small-{shape}.parquet"
        write(path, chosen.compare, chosen.columns, shape, group=2**18)
        for job in (job for job in asked if job.shape == shape):
            if job.partitions or (job.engine == "dask" and job.workers != 2):
                continue
            found, _ = child("same", job, path)
            print(
                f"{chosen.compare:,} rows, {_told(job)}: as from memory, seed for seed ({found['mechanism']})",
                flush=True,
            )
        path.unlink()


def _called(job: Job) -> str:
    if job.partitions:
        return f"{job.call}, {job.partitions} small partitions"
    return job.call if job.shape == SHAPES[0] else f"{job.call}, {job.shape}"


def _told(job: Job) -> str:
    return f"{job.engine} x {job.workers}, {_called(job)}"


def measure_all(asked: list[Job], folder: Path, chosen: argparse.Namespace) -> list[Line]:
    lines: list[Line] = []
    since = time.perf_counter()
    for shape in dict.fromkeys(job.shape for job in asked):
        path = folder / f"{shape}-{chosen.rows}-{chosen.columns}.parquet"
        if not path.exists():
            print(f"writing {chosen.rows:,} rows ...", flush=True)
            write(path, chosen.rows, chosen.columns, shape)
        for job in (job for job in asked if job.shape == shape):
            print(f"[{time.perf_counter() - since:5.0f} s, {len(lines)} of {len(asked)}] {_told(job)} ...", flush=True)
            found, memory = child("job", job, path)
            memory = max(memory, float(str(found.pop("memory_mib"))))
            lines.append(Line(job.engine, job.workers, _called(job), **found, memory_mib=round(memory)))  # type: ignore[arg-type]
            if chosen.out:
                save(lines, chosen.out)
        if not chosen.keep:
            path.unlink()
    return lines


def show(lines: list[Line]) -> None:
    print(
        f"{'engine':8} {'workers':>7} {'call':22} {'mechanism':10} {'passes':>6} {'clock s':>8} {'CPU s':>8} "
        f"{'M rows/s':>8} {'M rows/s, CPU and pass':>22} {'MiB':>6}"
    )
    for line in lines:
        by_core = line.rows * line.passes / max(line.cpu_seconds, 0.01) / 1e6
        print(
            f"{line.engine:8} {line.workers:>7} {line.call:22} {line.mechanism:10} {line.passes:>6} "
            f"{line.clock_seconds:>8.1f} {line.cpu_seconds:>8.1f} {line.rows_per_second / 1e6:>8.2f} {by_core:>22.2f} "
            f"{line.memory_mib:>6}"
        )
    most = max(line.memory_mib for line in lines)
    print(f"memory: at most {most} MiB, {'below' if most < MOST_MEMORY else 'NOT below'} {MOST_MEMORY}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--shape", choices=SHAPES, action="append", help="the columns' law, may be repeated; normal")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="may be repeated; all unless given")
    parser.add_argument("--workers", type=int, action="append", help="of Dask, may be repeated; 1, 2 and 4")
    parser.add_argument("--memory", type=int, default=512, help="MiB that td.boxem keeps between passes")
    parser.add_argument("--compare", type=int, default=10**6, help="rows of the smaller file; 0 for none")
    parser.add_argument("--out", type=Path, help="a CSV file, written again after each job")
    parser.add_argument("--folder", type=Path, help="where the files are written; a temporary one unless given")
    parser.add_argument("--keep", action="store_true", help="leave the large file there")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--same", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    chosen.shape = chosen.shape or [SHAPES[0]]
    chosen.engine = chosen.engine or list(ENGINES)
    chosen.workers = chosen.workers or list(DASK_WORKERS)
    return chosen


def main() -> None:
    chosen = parsed()
    for task, work in ((chosen.job, run), (chosen.same, compare)):
        if task:
            print(json.dumps(work(Job(**json.loads(task)), chosen.file)), flush=True)
            return
    asked = jobs(chosen)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        if chosen.compare:
            compare_all(asked, folder, chosen)
        lines = measure_all(asked, folder, chosen)
    show(lines)


if __name__ == "__main__":
    main()
