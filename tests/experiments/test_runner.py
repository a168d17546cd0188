"""The runner: the same rows whatever the jobs, whatever was interrupted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tukeydp.paper.experiments import runner
from tukeydp.paper.experiments.catalogue import EXPERIMENTS, named
from tukeydp.paper.experiments.experiment import Seeds, cell
from tukeydp.paper.experiments.runner import reproduce, tasks_of
from tukeydp.trusted.parameters import ParameterError

SMALL = replace(
    named("directions"),
    cells=lambda quick: [cell(3, k=0, n=40, d=2), cell(3, k=3, n=40, d=2)],
    chunk=2,
)


class Stop(Exception):
    pass


def stop_after(count):
    seen = []

    def advance(name):
        seen.append(name)
        if len(seen) == count:
            raise Stop

    return advance


def test_an_interrupted_run_resumes_to_the_same_file(tmp_path):
    whole = reproduce([SMALL], tmp_path / "whole", jobs=1, seed=5)
    with pytest.raises(Stop):
        reproduce([SMALL], tmp_path / "broken", jobs=1, seed=5, advance=stop_after(2))
    parts = tmp_path / "broken" / "parts"
    before = {path.name: path.stat().st_mtime_ns for path in parts.iterdir()}
    assert len(before) == 2
    (parts / tasks_of(SMALL, False, 5)[3].file).write_text('[{"half')  # a part that was damaged is run again
    reproduce([SMALL], tmp_path / "broken", jobs=1, seed=5)
    after = {path.name: path.stat().st_mtime_ns for path in parts.iterdir()}
    assert all(after[name] == time for name, time in before.items())  # what was there was not run again
    first, second = (tmp_path / run / "results" / "directions.csv" for run in ("whole", "broken"))
    assert first.read_bytes() == second.read_bytes()
    assert len(whole["directions"]) == 3 * 3 + 3 * 3


def test_parts_of_other_versions_are_not_mixed_in(tmp_path, monkeypatch):
    task = tasks_of(SMALL, False, 5)[0]
    before = task.file
    monkeypatch.setattr(runner, "versions", lambda: {"tukeydp": "0.1.0", "numpy": "1.0"})
    assert task.file != before


@pytest.mark.parametrize("damage", ["", "null", "{}", '[{"half'])
def test_a_damaged_part_is_run_again(damage, tmp_path):
    reproduce([SMALL], tmp_path, jobs=1, seed=5)
    whole = (tmp_path / "results" / "directions.csv").read_bytes()
    part = tmp_path / "parts" / tasks_of(SMALL, False, 5)[1].file
    part.write_text(damage)
    reproduce([SMALL], tmp_path, jobs=1, seed=5)
    assert (tmp_path / "results" / "directions.csv").read_bytes() == whole


def test_a_part_that_vanishes_meanwhile_is_not_passed_over(tmp_path):
    def lose(name):
        for path in (tmp_path / "parts").glob("*.json"):
            path.unlink()

    with pytest.raises(FileNotFoundError):
        reproduce([SMALL], tmp_path, jobs=1, seed=5, advance=lose)


def test_rows_do_not_depend_on_jobs_but_on_the_seed(tmp_path):
    files = []
    for jobs, seed in ((1, 5), (2, 5), (1, 6)):
        reproduce([SMALL], tmp_path / f"{jobs}-{seed}", jobs=jobs, seed=seed)
        files.append((tmp_path / f"{jobs}-{seed}" / "results" / "directions.csv").read_bytes())
    assert files[0] == files[1]
    assert files[0] != files[2]


def test_results_say_how_they_were_made(tmp_path):
    results = reproduce([SMALL], tmp_path, jobs=1, seed=5)["directions"]
    assert all(row["seed"] == 5 and row["tukeydp"] and row["n"] == 40 for row in results)
    made = json.loads((tmp_path / "results" / "directions.json").read_text())
    assert made["seed"] == 5
    assert made["numpy"]
    assert made["cells"][1] == {"k": 3, "n": 40, "d": 2, "trials": 3}


def test_streams_of_a_trial_are_told_apart_by_their_labels():
    seeds, other = Seeds((0, "a", (), 0)), Seeds((0, "a", (), 1))
    numbers = {seeds.number("data"), seeds.number("draw"), other.number("data"), seeds.number()}
    assert len(numbers) == 4
    assert seeds.rng("data").random() == Seeds((0, "a", (), 0)).rng("data").random()


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
@pytest.mark.parametrize("quick", [True, False])
def test_every_experiment_has_cells_and_claims(experiment, quick):
    tasks = tasks_of(experiment, quick, 0)
    assert tasks
    assert len({task.file for task in tasks}) == len(tasks)
    assert experiment.claims


def test_an_unknown_name_is_a_wrong_parameter():
    with pytest.raises(ParameterError, match="name must be all or one of "):
        named("figure 7")
