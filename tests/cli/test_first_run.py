"""Who waits for the compiler is told so, once, and nobody else is."""

from pathlib import Path

import pytest

from tukeydp.cli import first_run
from tukeydp.trusted.sampling import kept


@pytest.fixture
def said(monkeypatch, capsys, tmp_path):
    """What `announce` writes on a terminal, with compiled code in the folder or not."""

    def call(command, terminal=True, compiled=False):
        monkeypatch.setattr(first_run.sys.stderr, "isatty", lambda: terminal, raising=False)
        index = tmp_path / Path(kept.propose._cache._cache_file._index_path).name
        monkeypatch.setattr(kept.propose._cache._cache_file, "_index_path", str(index))
        other = tmp_path / "kernels.propose-0123456789abcdef.py311.nbi"  # kept of other sources: compiled again
        (index if compiled else other).write_bytes(b"")
        first_run.announce(command)
        out, err = capsys.readouterr()
        assert out == ""
        return err

    return call


def test_the_first_run_says_so(said):
    assert "compiling" in said("mean")


def test_later_runs_pipes_and_other_commands_say_nothing(said):
    assert said("mean", terminal=False) == ""
    assert said("look") == ""
    assert said(None) == ""
    assert said("mean", compiled=True) == ""
