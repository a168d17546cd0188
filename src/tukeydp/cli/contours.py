"""`tukeydp contours FILE ...`: a picture of depth regions. NOT PRIVATE."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tukeydp.cli import options
from tukeydp.cli.words import say
from tukeydp.data.files import read_csv
from tukeydp.depth.notions import Exact
from tukeydp.errors import ParameterError

_FORMATS = (".png", ".svg", ".pdf")


def contours(
    file: options.File,
    columns: Annotated[str, typer.Option(help="Two columns, or more for all their pairs, separated by commas.")],
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .svg or .pdf.")],
    depth: Annotated[str, typer.Option(help=f"{options.DEPTHS}.")] = "exact",
    directions: Annotated[int | None, typer.Option(help="Directions besides the axes.")] = None,
    decimal: options.Decimal = ".",
) -> None:
    """Draw nested depth regions over the scatter of the data. NOT PRIVATE: for those who may see the data."""

    def job() -> None:
        from tukeydp.geometry.pictures import contours as draw

        if out.suffix.lower() not in _FORMATS:
            raise ParameterError("out", "must end in .png, .svg or .pdf", str(out))
        notion = options.notion_for(depth, directions, axes=True) or Exact()
        figure = draw(read_csv(file, options.names_in(columns), decimal=decimal), depth=notion)
        try:
            figure.savefig(out, dpi=150)
        except OSError as error:
            raise ParameterError("out", "must be a file that can be written", f"{out} ({error.strerror})") from None

    options.run(job)
    say(f"Wrote {out}. It shows the data itself: not private, not for publication.")
