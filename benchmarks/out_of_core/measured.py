"""What a job takes: clock and CPU seconds, and memory of a process with all that it has started."""

from __future__ import annotations

import csv
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import psutil

_EVERY = 0.2  # seconds between two looks at the memory


@dataclass(frozen=True)
class Line:
    """One job. Seconds are those of the call, without the start of engine and workers."""

    engine: str
    workers: int
    call: str
    mechanism: str
    rows: int
    columns: int
    passes: int
    clock_seconds: float
    cpu_seconds: float
    rows_per_second: int  # of all passes together, by the clock
    memory_mib: int  # at most, all processes of the job together


def family(pid: int) -> list[psutil.Process]:
    """A process and what it has started, directly or not."""
    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_seconds(pid: int) -> float:
    """Of all of them, with those that have ended."""
    total = 0.0
    for process in family(pid):
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


def memory_mib(pid: int) -> float:
    """Resident now. Pages that several of them share count for each: never too little."""
    total = 0
    for process in family(pid):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def watched(command: list[str]) -> tuple[str, float]:
    """The job's last line of output, and the most memory that it had. What engines log is shown where it fails."""
    with (
        tempfile.TemporaryFile("w+") as logged,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=logged, text=True) as job,
    ):
        most = 0.0
        while job.poll() is None:
            most = max(most, memory_mib(job.pid))
            time.sleep(_EVERY)
        said = job.stdout.read().strip() if job.stdout else ""
        if job.returncode:
            logged.seek(0)
            raise SystemExit(f"{logged.read()}\na job failed: {' '.join(command[2:])}")
    return said.splitlines()[-1] if said else "", most


def highest_memory_mib() -> float:
    """Of this process alone, ever: `ru_maxrss` would count what its parent had."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def save(lines: list[Line], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Line)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(line) for line in lines)
