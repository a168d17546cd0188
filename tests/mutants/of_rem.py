"""REM's test and draw: (epsilon, delta) whatever the data."""

from __future__ import annotations

from mutants.mutant import Mutant

REM = "tests/mechanisms/test_rem.py::"
SLACK = "tests/mechanisms/test_rem_slack.py::test_errors_that_go_opposite_ways_are_within_the_guarantee"
ORDERS = "tests/mechanisms/test_rough_sizes.py::test_in_whatever_order_sizes_are_measured_coins_are_the_same"
DEFINITION = f"{REM}test_pass_probabilities_are_those_of_the_definition"
DRAW = f"{REM}test_after_passing_points_follow_the_restricted_law"

MUTANTS = (
    Mutant(
        "no 2 tau discount in the graded test",
        "trusted/rem/evidence.py",
        "exp_between((self.plan.test - 2 * self.slack) * k, bits)",
        "exp_between(self.plan.test * k, bits)",
        (f"{SLACK}[graded]",),
        "A solver's error moves the chance of a release beyond e^epsilon_test.",
    ),
    Mutant(
        "no 2 tau discount in the noisy test",
        "trusted/rem/safety.py",
        "return low is None or Fraction(low, 1 << bits) >= needed[1] * exp_between(2 * evidence.slack * k, bits)[1]",
        "return low is None or Fraction(low, 1 << bits) >= needed[1]",
        (f"{SLACK}[laplace]", f"{SLACK}[paper]"),
        "A solver's error moves the score by many, and the noise hides one.",
    ),
    Mutant(
        "the factor e^(2 epsilon_p) of the paper's test dropped",
        "trusted/rem/safety.py",
        "low, high = exp_between(2 * plan.test + plan.release, bits)",
        "low, high = exp_between(plan.release, bits)",
        ("tests/mechanisms/test_rem_slack.py::test_the_papers_test_is_that_of_its_definition",),
        "The paper's proof needs delta_e e^(2 epsilon_p) <= delta; with less asked for, it does not hold.",
    ),
    Mutant(
        "no last term: any number of swaps taken to be harmless",
        "trusted/rem/safety.py",
        "least, high = scaled(plan.swaps, 1 << bits)",
        "least, high = scaled(plan.swaps, 1 << 2 * bits)",
        (DEFINITION,),
        "A table that K swaps could turn into anything passes too often.",
    ),
    Mutant(
        "the graded test without its turn",
        "trusted/rem/safety.py",
        "turn = rho / (1 + rho)",
        "turn = Fraction(1)",
        (DEFINITION,),
        "The chance of a refusal falls by more than e^epsilon from one table to its neighbour.",
    ),
    Mutant(
        "a cut two too small",
        "trusted/rem/safety.py",
        "return _least(lambda m: tail(epsilon, m + 1, _CUT_BITS)[1] <= delta,",
        "return _least(lambda m: tail(epsilon, m + 3, _CUT_BITS)[1] <= delta,",
        (f"{REM}test_cuts_are_the_least_that_hold",),
        "An unsafe table passes with more than delta.",
    ),
    Mutant(
        "a coin that trusts the upper end of its chance",
        "trusted/rem/safety.py",
        "if Fraction(drawn + 1, 1 << bits) <= chance.low:",
        "if Fraction(drawn + 1, 1 << bits) <= chance.high:",
        (f"{REM}test_a_coin_waits_until_its_chance_is_known",),
        "Before anything is measured every table might pass, and so it does.",
    ),
    Mutant(
        "the outer level taken one too deep",
        "trusted/rem/evidence.py",
        "outer_low, outer_high = self._upper.bracket(t - 1 - k)",
        "outer_low, outer_high = self._upper.bracket(t - k)",
        (DEFINITION,),
        "Points of depth t - 1 - k are left out, which k + 1 swaps can bring in.",
    ),
    Mutant(
        "the inner level taken one too shallow",
        "trusted/rem/evidence.py",
        "return [self.plan.threshold + k + 1 + o for o in self._offsets]",
        "return [self.plan.threshold + k + o for o in self._offsets]",
        (DEFINITION,),
        "Points count as safe that k + 1 swaps can take out.",
    ),
    Mutant(
        "all of epsilon in the draw",
        "trusted/rem/safety.py",
        "epsilon=2 * plan.eta, lowest=plan.threshold).draw(secret_key)",
        "epsilon=plan.epsilon, lowest=plan.threshold).draw(secret_key)",
        (DRAW,),
        "Draw and test together spend more than epsilon.",
    ),
    Mutant(
        "points one level below the threshold",
        "trusted/rem/safety.py",
        "epsilon=2 * plan.eta, lowest=plan.threshold).draw(secret_key)",
        "epsilon=2 * plan.eta, lowest=plan.threshold - 1).draw(secret_key)",
        (DRAW,),
        "The test was about another set of points than the one drawn from.",
    ),
    Mutant(
        "Algorithm 3's score without its factor in eta",
        "paper/algorithm3.py",
        "limit = (1 - p.eta) / (1 + p.eta) * p.delta_draw / 4",
        "limit = p.delta_draw / 4",
        ("tests/algorithm3/test_accounting.py::test_without_the_factor_an_unsafe_dataset_may_score",),
        "Errors of the volumes let unsafe tables score: the misprint of the paper's pseudocode.",
    ),
    Mutant(
        "Algorithm 3's score taken to move by one step less",
        "paper/algorithm3.py",
        "return 1 + ceil(4 * distortion(p.eta) / p.epsilon_draw)",
        "return ceil(4 * distortion(p.eta) / p.epsilon_draw)",
        ("tests/algorithm3/test_accounting.py::test_an_integer_score_moves_by_a_whole_number",),
        "Too little noise on the score.",
    ),
    Mutant(
        "Algorithm 3's failures counted once",
        "paper/algorithm3.py",
        "more = failure * (_factor(given_success.epsilon) / (1 - failure) + 1)",
        "more = failure",
        ("tests/algorithm3/test_accounting.py::test_costs_against_the_printed_theorem_and_our_own",),
        "The delta that is stated is smaller than the true one.",
    ),
    Mutant(
        "a size from above taken for one of a deeper level",
        "trusted/rem/evidence.py",
        "return 0 if above is None else self.values[above][0], self.values[below][1]",
        "return 0 if above is None else self.values[above][0], self.values[below if above is None else above][1]",
        (f"{ORDERS}[graded-the last one]",),
        "Brackets that do not hold the size: a coin is settled by a level that was not measured.",
    ),
    Mutant(
        "evidence that stops where nobody proposes a size",
        "trusted/rem/evidence.py",
        "step = proposed if self._tells(proposed, outer, levels) else self._first_open(outer, levels)",
        "step = proposed if self._tells(proposed, outer, levels) else None",
        (f"{ORDERS}[graded-nothing]",),
        "Coins wait for sizes that are never measured: whether a call ends depends on the data.",
    ),
)
