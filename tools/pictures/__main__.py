"""Draw the pictures of the documentation into docs/pictures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import levels
import means
import plans
import rem_test
import rows
import sampler
import scaling

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
PICTURES: dict[str, Callable[[], str]] = {
    "grid": rows.grid,
    "depth": rows.depth,
    "levels": levels.levels,
    "weights": levels.weights,
    "envelope": sampler.envelope,
    "proposals": sampler.proposals,
    "subset-means": means.subset_means,
    "radii": means.radii,
    "graded-law": rem_test.graded_law,
    "graded-test": rem_test.graded,
    "scaling": scaling.scaling,
    **{name: partial(plans.plan, name) for name in plans.SITUATIONS},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools/pictures", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], metavar="name", help="all of them unless named")
    parser.add_argument("--out", type=Path, default=FOLDER, help="another folder")
    parser.add_argument("--list", action="store_true", help="say the names and draw nothing")
    asked = parser.parse_args()
    if asked.list:
        sys.stdout.write("\n".join(PICTURES) + "\n")
        return
    for name in asked.names or PICTURES:
        (asked.out / f"{name}.svg").write_text(PICTURES[name](), encoding="utf-8")


if __name__ == "__main__":
    main()
