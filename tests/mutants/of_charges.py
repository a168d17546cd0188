"""Charges, keys of runs, seals, and the one rule for weights and scales."""

from __future__ import annotations

from mutants.mutant import Mutant

CHARGES = "tests/trusted/test_charges.py::"
PRICES = "tests/trusted/test_prices.py::"

MUTANTS = (
    Mutant(
        "a charge used twice",
        "trusted/release.py",
        "if self._spent:",
        "if False:",
        (f"{CHARGES}test_a_charge_is_consumed_once",),
        "Two draws for the price of one.",
    ),
    Mutant(
        "a charge that is consumed by nobody",
        "trusted/release.py",
        "self._spent = True",
        "self._spent = False",
        (f"{CHARGES}test_a_failure_afterwards_has_spent_it",),
        "What failed after its draw is drawn again.",
    ),
    Mutant(
        "a part of the budget handed out again",
        "trusted/release.py",
        "part = self._parts.pop(name, None)",
        "part = self._parts.get(name)",
        (f"{CHARGES}test_a_part_is_handed_out_once_and_no_other_part_at_all",),
        "Two charges for one part.",
    ),
    Mutant(
        "a charge consumed after its key was made",
        "trusted/release.py",
        "self._spent = False",
        "self._spent = False; self._keys.leave(self._key())",
        (f"{CHARGES}test_keys_are_fresh_and_leave_once",),
        "A key is there before anything is consumed.",
    ),
    Mutant(
        "a law that its charge does not cover",
        "trusted/release.py",
        "if rho > self._part.zcdp.rho or delta > self._part.zcdp.delta:",
        "if False:",
        (f"{CHARGES}test_a_charge_covers_its_law_or_raises",),
        "Noise at the rho of a draw: a quarter of what it costs.",
    ),
    Mutant(
        "rho of a draw for any law",
        "trusted/release.py",
        "return self.consume(rho=self.epsilon**2 / 2, delta=delta_of(self._part))",
        "return self.consume(rho=self.epsilon**2 / 8, delta=delta_of(self._part))",
        (f"{CHARGES}test_a_charge_covers_its_law_or_raises",),
        "Noise at the rho of a draw: a quarter of what it costs.",
    ),
    Mutant(
        "parts of a charge with more epsilon than it",
        "trusted/release.py",
        "if needed.epsilon > have.epsilon or delta_of(needed) > delta_of(have):",
        "if False:",
        (f"{CHARGES}test_parts_of_a_charge_are_no_more_than_it",),
        "A plan that is chosen by results spends more than was reserved.",
    ),
    Mutant(
        "parts of a charge under other neighbours",
        "trusted/release.py",
        "if relation_of(needed.neighbours) != seen:",
        "if False:",
        (f"{CHARGES}test_parts_of_a_charge_are_no_more_than_it[others]",),
        "Weights for add/remove under a swap: twice the loss.",
    ),
    Mutant(
        "a key that leaves twice",
        "trusted/release.py",
        "if key in self._left:",
        "if False:",
        (f"{CHARGES}test_keys_are_fresh_and_leave_once",),
        "Two draws from the same bits.",
    ),
    Mutant(
        "a seal without a reservation",
        "trusted/release.py",
        "if made_here is not _MADE_HERE:",
        "if False:",
        (f"{CHARGES}test_nobody_else_makes_a_seal",),
        "Anybody attaches a guarantee to anything.",
    ),
    Mutant(
        "a guarantee without a seal",
        "trusted/release.py",
        'object.__setattr__(outcome, "guarantee", None if seal is None else seal.guarantee)',
        'object.__setattr__(outcome, "guarantee", outcome.guarantee if seal is None else seal.guarantee)',
        (f"{CHARGES}test_a_release_of_ones_own_making_has_no_guarantee",),
        "Anybody attaches a guarantee to anything.",
    ),
    Mutant(
        "a rehearsal that vouches for its parts",
        "trusted/release.py",
        "return Run(parts, _Keys(_Fixed(key)), Seal(None, True, _MADE_HERE))",
        "return Run(parts, _Keys(_Fixed(key)), Seal(cost_of(parts), False, _MADE_HERE))",
        (f"{CHARGES}test_a_rehearsal_follows_from_its_key_and_vouches_for_nothing",),
        "A guarantee for what was drawn with a public key.",
    ),
    Mutant(
        "kappa doubled",
        "trusted/prices.py",
        "return epsilon / max(swap, one)",
        "return 2 * epsilon / max(swap, one)",
        (f"{PRICES}test_prices_are_those_of_the_table",),
        "Every draw and every noise under a swap loses twice its epsilon.",
    ),
    Mutant(
        "all of epsilon for a record that moves",
        "trusted/prices.py",
        "return epsilon / (2 * one)",
        "return epsilon / one",
        (f"{PRICES}test_prices_are_those_of_the_table",),
        "A record that goes to another group moves two scores.",
    ),
    Mutant(
        "depth of blocks as that of rows",
        "trusted/prices.py",
        "return Score(Fraction(2 * dealings), Fraction(2 * dealings))",
        "return Score(Fraction(dealings), Fraction(2 * dealings))",
        (f"{PRICES}test_depth_of_block_values",),
        "A record that comes changes a block's value, which is a swap in the block table.",
    ),
)
