"""`tukeydp contours FILE ...`: a picture of depth regions. NOT PRIVATE."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli import options
from tukeydp.cli.reading import Columns, File, Reading, reads_a_file
from tukeydp.cli.words import say
from tukeydp.depth.notions import Exact
from tukeydp.trusted.parameters import ParameterError

_FORMATS = (".png", ".svg", ".pdf")


@reads_a_file
def contours(
    file: File,
    reading: Reading,
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .svg or .pdf.")],
    columns: Columns = None,
    depth: Annotated[str, typer.Option(help=f"{options.DEPTHS}.")] = "exact",
    directions: Annotated[int | None, typer.Option(help="Directions besides the axes.")] = None,
) -> None:
    """Draw nested depth regions over the scatter of the data. NOT PRIVATE: for those who may see the data.

    Two columns, or more for all their pairs.
    """

    def job() -> None:
        from tukeydp.paper.level_sets import contours as draw

        if out.suffix.lower() not in _FORMATS:
            raise ParameterError("out", "must end in .png, .svg or .pdf", str(out))
        notion = options.notion_for(depth, directions, axes=True) or Exact()
        figure = draw(reading.table(file, reading.names(file, columns)), depth=notion)
        try:
            figure.savefig(out, dpi=150)
        except OSError as error:
            raise ParameterError("out", "must be a file that can be written", f"{out} ({error.strerror})") from None

    options.run(job)
    say(f"Wrote {out}. It shows the data itself: not private, not for publication.")
