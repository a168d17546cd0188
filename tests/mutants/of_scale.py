"""The scale step, shifted block means, and the radii of the clip range."""

from __future__ import annotations

from mutants.mutant import Mutant

SCALE = "tests/audit/test_scale_step.py::"
SHIFTS = "tests/mechanisms/test_shifts.py::"
SECRETS = "tests/mechanisms/test_mean_secrets.py::"
RADII = "tests/audit/test_clip_radii.py::"
SHARED = f"{SCALE}test_scale_and_mean_share_no_bits_and_the_public_key_decides_no_secret_step"
STARTS = f"{SCALE}test_the_scale_starts_from_public_numbers_and_the_way_follows_from_what_it_found"
OWN_ROWS = f"{SCALE}test_a_pair_is_a_function_of_its_own_rows"
MOVED = f"{SHIFTS}test_one_row_moves_as_many_rows_as_there_are_partitions"
SPENT = f"{SECRETS}test_every_step_spends_its_own_epsilon_and_all_together_the_guarantee"

MUTANTS = (
    Mutant(
        "the scale drawn with twice its epsilon",
        "mechanisms/scale_step.py",
        "epsilon=2 * weight).draw",
        "epsilon=4 * weight).draw",
        (f"{SCALE}test_the_factor_is_drawn_with_the_epsilon_that_it_is_given",),
        "Depth moves by one in both directions: the ratio is e^(2 epsilon).",
    ),
    Mutant(
        "all of epsilon for the mean after the scale",
        "mechanisms/scale_step.py",
        "return self.epsilon - self.scale",
        "return self.epsilon",
        (f"{SCALE}test_scale_and_mean_spend_epsilon_together",),
        "Steps add up to more than the guarantee.",
    ),
    Mutant(
        "pairs that overlap",
        "mechanisms/scale_step.py",
        "first, second = blocks[:, 0], blocks[:, 1]",
        "first, second = blocks[:, 0], np.roll(blocks[:, 0], 1, axis=0)",
        (OWN_ROWS,),
        "A row is in two pairs, and moves the depth by two.",
    ),
    Mutant(
        "differences over the largest one",
        "mechanisms/scale_step.py",
        "logs = np.log2(np.abs(first - second) * (assumed / 2.0 / math.sqrt(2.0)))",
        "logs = np.log2(np.abs(first - second) / np.nanmax(np.abs(first - second), axis=0))",
        (OWN_ROWS,),
        "One row moves the statistic of every pair: sensitivity n / 2 instead of 1.",
    ),
    Mutant(
        "widths assumed from the data",
        "mechanisms/mean_ways.py",
        "released_widths(relative, scale, np.array(self.assumed), scale_key)",
        "released_widths(relative, scale, 2.0 / np.maximum(0.01, np.nan_to_num(relative).std(axis=0)), scale_key)",
        (STARTS,),
        "What the factor is relative to is the standard deviation itself, and nothing was paid for it.",
    ),
    Mutant(
        "the way to the mean by the number of complete rows",
        "mechanisms/mean_ways.py",
        "return self.way(len(relative), widths).draw(",
        "return self.way(1 + int((~np.isnan(relative)).all(axis=1).sum()), widths).draw(",
        (STARTS,),
        "Which mechanism runs, with how much noise, tells how many cells are missing.",
    ),
    Mutant(
        "rows paired by the public key",
        "mechanisms/scale_step.py",
        'Keystream(paid.key("dealing"))',
        "Keystream(public_key)",
        (SHARED,),
        "Who is paired with whom can be read off the release.",
    ),
    Mutant(
        "the coins of equal pairs public",
        "mechanisms/scale_step.py",
        'Keystream(paid.key("coins"))',
        "Keystream(public_key)",
        (SHARED,),
        "What is public must not decide what equal pairs become.",
    ),
    Mutant(
        "one key for scale and mean",
        "mechanisms/mean_ways.py",
        'run.charge("rest", "step", 1)',
        'run.charge("rest", "step", 0)',
        (SHARED,),
        "Two draws from the same bits: their losses do not add up.",
    ),
    Mutant(
        "shifts as large as the blocks are spread",
        "mechanisms/subset_means.py",
        "away = _shifts(means.shape, plan.shifts, Keystream",
        "away = _shifts(means.shape, tuple(np.nan_to_num(means).std(axis=0)), Keystream",
        (MOVED,),
        "One row moves the shifts of all blocks: sensitivity N instead of 1.",
    ),
    Mutant(
        "shifts from the block before",
        "mechanisms/subset_means.py",
        "parts += [np.clip(means + away, -1.0, 1.0), np.clip(means - away, -1.0, 1.0)]",
        "parts += [np.clip(means + away * np.roll(np.nan_to_num(means), 1, axis=0), -1.0, 1.0), means - away]",
        (MOVED,),
        "A row moves the shifted mean of the next block too.",
    ),
    Mutant(
        "shifted copies that are not counted",
        "mechanisms/subset_means.py",
        "dealt = range(plan.partitions // 2 if plan.shifts else plan.partitions)",
        "dealt = range(plan.partitions)",
        (MOVED,),
        "A row moves twice as many rows of the table as epsilon was divided by.",
    ),
    Mutant(
        "shifted copies that are not paid for",
        "mechanisms/subset_means.py",
        "in_sampler = plan.sampler_epsilon(epsilon) / plan.partitions",
        "in_sampler = epsilon / (plan.partitions // 2 if plan.shifts else plan.partitions)",
        (f"{SPENT}[subset, shifted-epsilon0]",),
        "A row moves every dealing and its copy: the ratio is e^(2 epsilon).",
    ),
    Mutant(
        "radii by the sum over columns",
        "mechanisms/clipped_sum.py",
        "return np.array([(away > radius).sum(axis=0) for radius in RADII]",
        "return np.array([np.cumsum((away > radius).sum(axis=0)) for radius in RADII]",
        (f"{RADII}test_rows_beyond_are_those_of_the_oracle",),
        "A row far out in all columns moves the score by their number.",
    ),
    Mutant(
        "weights of radii from the data",
        "mechanisms/clipped_sum.py",
        "groups.append(Group(lowest, most - rows, _weight(_smallest(beyond, rows))))",
        "groups.append(Group(lowest, most - rows, _weight(_smallest(beyond, rows)) + int(beyond.sum())))",
        (f"{RADII}test_levels_weigh_what_their_radii_weigh",),
        "A swap moves the weights besides the score: the ratio exceeds e^epsilon.",
    ),
)
