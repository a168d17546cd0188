"""Who waits for the compiler is told so, once, and nobody else is."""

import pytest

from tukeydp.cli import first_run
from tukeydp.sampling import kept


@pytest.fixture
def said(monkeypatch, capsys, tmp_path):
    """What `announce` writes on a terminal, with compiled code in the folder or not."""

    def call(command, terminal=True, compiled=False):
        monkeypatch.setattr(first_run.sys.stderr, "isatty", lambda: terminal, raising=False)
        monkeypatch.setattr(kept.propose._cache, "_cache_path", str(tmp_path))
        if compiled:
            (tmp_path / "kernels.propose-161.py311.nbi").write_bytes(b"")
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
