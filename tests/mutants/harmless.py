"""Changes that look like privacy bugs and are none. They are not counted among the mutants."""

from __future__ import annotations

from mutants.mutant import Harmless

HARMLESS = (
    Harmless(
        "cells of td.mean not clipped to their bounds",
        "trusted/rows.py",
        "return np.asarray(np.clip((cells - middle) / half, -1.0, 1.0))",
        "return np.asarray((cells - middle) / half)",
        "Every use clips again before anything is summed or ranked: the grid clips a block mean to the bounds, sums of "
        "cube and two-step are cut in whole steps, the radius counts a row by itself. A row still moves one block "
        "mean, one count and one sum by at most as much as before. Releases change where cells lie outside the bounds, "
        "the guarantee does not.",
    ),
    Harmless(
        "the order of directions not kept between lanes",
        "trusted/exponential.py",
        "self._order = orders[-1]",
        "orders.clear()",
        "A proposal is accepted if it lies between the ranks in every direction, and all of them are tried unless one "
        "rejects. So the order decides how soon a point is rejected and never whether: no output changes.",
    ),
    Harmless(
        "cutting planes that refute nothing",
        "trusted/exact/deciding.py",
        "if self._weight_beyond(v, point, bits) < level]",
        "if self._weight_beyond(v, point, bits) <= level]",
        "Any direction may join the envelope: the depth over more directions is still at least the exact one, so level "
        "sets of the envelope still contain the true ones, and every point is put to the exact test all the same. A "
        "plane that cuts nothing off only leaves the next proposals as likely to be refuted as the last.",
    ),
    Harmless(
        "fewer bits of a coin at first",
        "trusted/rem/safety.py",
        "_FIRST_BITS = 96",
        "_FIRST_BITS = 8",
        "The coin is a uniform real of which more bits are taken until both ends of its bracket lie on one side of the "
        "chance. How many are taken at first changes which bits a seeded run reads, and no probability.",
    ),
    Harmless(
        "a shorter guard of the level table",
        "trusted/laws.py",
        "_GUARD = 64",
        "_GUARD = 8",
        "Brackets are rounded outwards whatever their width. With fewer bits more words leave the level open, and are "
        "finished in big integers: the law is the same, draws are slower. The coarse tables of the tests show it.",
    ),
    Harmless(
        "the same shifts in every dealing",
        "trusted/block_steps.py",
        'Keystream(derived_key("shifts", i, secret_key))',
        'Keystream(derived_key("shifts", secret_key))',
        "The guarantee holds for each value of the shifts by itself: they depend on the place in the table and on no "
        "cell, so a row still moves `partitions` rows. Dealings are smoothed alike: releases are less accurate.",
    ),
)
