"""The command line, one file for each command, under the command's name (those of a budget: ledger).

Exit codes: 0 released, 3 refused or stopped by the check of readable rows, 2 bad parameters, 1 anything else. Nothing
about the data is printed but the release.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from tukeydp.version import __version__


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"tukeydp {__version__}\n")  # at once: the commands take a while to load
        return
    # Where colorama is installed, numba would have it end our output on a terminal with an escape sequence.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    from tukeydp.cli.commands import app

    app(prog_name="tukeydp")


def __getattr__(name: str) -> Any:
    if name == "app":
        from tukeydp.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    main()
