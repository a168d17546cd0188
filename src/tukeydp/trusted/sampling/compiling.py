"""When the sampler is compiled: not for the first draws of a process, which NumPy makes in less time.

Compiled code is kept in files, and which files there are must not depend on the rows. So it is compiled to be kept by
public numbers alone: how many draws the process has made, of how many directions, columns and grid steps. Where a
search in NumPy turns out to be long, which depends on the rows, code is compiled for this process, and no file is read
or written. The law and seeded draws are the same all ways.
"""

from __future__ import annotations

from collections.abc import Callable

# Speed only, all of them.
_FIRST_DRAWS = 50  # before anything is compiled: NumPy takes up to 80 ms more for each, compiling seconds
_FEW_PRODUCTS = 4096  # directions times columns up to which NumPy is fast enough
_COARSE = 2**12  # grid steps of a column up to which a search may well come to branch and bound, which is compiled
_SHORT_LANES = 32  # lanes of a search in NumPy, about a second; one that is longer is worth compiling for

_draws = 0
_keeping = False


def keep() -> None:
    """From now on, in this process, compiled code is used and kept."""
    global _keeping
    _keeping = True


def keeping() -> bool:
    """Whether that is so."""
    return _keeping


def count_draw() -> None:
    """One draw more of this process."""
    global _draws
    _draws += 1


def due(directions: int, columns: int, widest: int) -> bool:
    """Whether to compile before the next draw; `widest` is the most grid steps of a column in the public box."""
    return _keeping or _draws > _FIRST_DRAWS or widest <= _COARSE or directions * columns > _FEW_PRODUCTS


def proposer(lane: int, pieces: bool) -> Callable[..., tuple[int, int, int]]:
    """The loop over the proposals of a lane, from boxes only or from pieces too."""
    if not _keeping and lane < _SHORT_LANES and not pieces:
        from tukeydp.trusted.sampling import plain_proposals

        return plain_proposals.propose
    if _keeping:
        from tukeydp.trusted.sampling import kept

        return kept.propose
    from tukeydp.trusted.sampling import loops

    return loops.propose


def lister() -> tuple[Callable[..., int], Callable[..., float], Callable[..., tuple[int, int, int]]]:
    """What finds a deep point, what estimates how long a list takes, and the loop that lists deep points."""
    if _keeping:
        from tukeydp.trusted.sampling import kept

        return kept.climbed, kept.about_visits, kept.list_points
    from tukeydp.trusted.sampling import loops

    return loops.climbed, loops.about_visits, loops.list_points
