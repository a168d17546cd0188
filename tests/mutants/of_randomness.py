"""Keys, lanes and bits: what is drawn must be uniform, secret, and independent of everything else."""

from __future__ import annotations

from mutants.mutant import Mutant

KEYS = "tests/mechanisms/test_keys.py::"
FAULTS = "tests/faults/test_faults.py::"
RANDOMNESS = "tests/test_randomness.py::"
OWN_BITS = f"{KEYS}test_steps_of_one_release_share_no_bits_and_no_key_is_known_beforehand"

MUTANTS = (
    Mutant(
        "one key for public directions and secret draw",
        "trusted/release.py",
        'return self._keys.leave(self._keys.root(f"public {name}"))',
        'return self._keys.root("secret")',
        (f"{KEYS}test_no_lane_of_a_key_is_read_twice[boxem]",),
        "Directions are published, and are made of the very words that the draw reads: they tell what was drawn.",
    ),
    Mutant(
        "boxem's directions from the secret key",
        "mechanisms/boxem.py",
        'grid, run.public("directions"))',
        'grid, run._keys.root("secret"))',
        (f"{KEYS}test_directions_hang_on_the_public_key_and_the_point_on_the_secret_one[boxem]",),
        "Published directions depend on the key of the draw: a guess at the key can be checked.",
    ),
    Mutant(
        "rem's directions from the secret key",
        "mechanisms/rem.py",
        'public_key, charges = run.public("directions"), run.charge("rem")',
        'public_key, charges = run._keys.root("secret"), run.charge("rem")',
        (f"{KEYS}test_directions_hang_on_the_public_key_and_the_point_on_the_secret_one[rem]",),
        "Published directions depend on the key of the draw: a guess at the key can be checked.",
    ),
    Mutant(
        "the coin drawn from the sampler's key",
        "trusted/rem/safety.py",
        "if not passes(test, evidence_of(sizes, plan), Keystream(coin_key).bits(0)):",
        "if not passes(test, evidence_of(sizes, plan), Keystream(secret_key).bits(0)):",
        (f"{KEYS}test_no_lane_of_a_key_is_read_twice[rem]",),
        "That the test passed says what the first words of the draw were: the point no longer has its law.",
    ),
    Mutant(
        "one key for a whole process",
        "trusted/bits.py",
        "key = os.urandom(_KEY_BYTES)",
        "key = hashlib.sha256(f'{os.getpid()} {vars(self).setdefault(0, []).append(0)} {vars(self)[0]}'.encode())"
        ".digest()",
        (f"{KEYS}test_two_releases_have_no_key_in_common[boxem]",),
        "Two releases with the same bits: their difference has no noise.",
    ),
    Mutant(
        "a dead source of randomness goes unnoticed",
        "trusted/bits.py",
        " or key == self._last:",
        ":",
        (f"{FAULTS}TestEntropy::test_a_source_that_repeats_itself[boxem]",),
        "Every key is the same: noise that anyone can compute, under a guarantee that says otherwise.",
    ),
    Mutant(
        "too few random bytes go unnoticed",
        "trusted/bits.py",
        "if len(key) != _KEY_BYTES or key",
        "if key",
        (f"{FAULTS}TestEntropy::test_a_source_that_gives_too_little[cube-31]",),
        "A key of no bytes, hashed on, is a public number.",
    ),
    Mutant(
        "out of memory makes a cell missing",
        "data/numbers.py",
        "    except MemoryError:  # of the machine",
        "    except ZeroDivisionError:  # of the machine",
        (f"{FAULTS}TestMemory::test_a_cell_is_not_missing_because_memory_was_short",),
        "A release of another table than the caller's, and which rows are left depends on their size.",
    ),
    Mutant(
        "seeded releases that call themselves private",
        "trusted/bits.py",
        "    private = False",
        "    private = True",
        (f"{RANDOMNESS}test_seeded_sources_repeat_and_advance",),
        "Whoever knows the seed can undo the noise, and the release does not say so.",
    ),
    Mutant(
        "a source that does not advance",
        "trusted/bits.py",
        "            self._used += 1",
        "            self._used += 0",
        (f"{RANDOMNESS}test_seeded_sources_repeat_and_advance",),
        "The same key for directions, coin and draw.",
    ),
    Mutant(
        "below() by modulo",
        "trusted/bits.py",
        "while (value := self.take(width)) >= bound:",
        "while (value := self.take(width + 64) % bound) >= bound:",
        (f"{RANDOMNESS}test_below_has_equal_masses_over_all_bit_strings[3]",),
        "Small values are more likely than large ones, by 2^-64: noise whose law is not the proven one.",
    ),
    Mutant(
        "below() short of its bound",
        "trusted/bits.py",
        "while (value := self.take(width)) >= bound:",
        "while (value := self.take(width)) > bound:",
        (f"{RANDOMNESS}test_below_has_equal_masses_over_all_bit_strings[3]",),
        "A value outside of the range, now and then.",
    ),
    Mutant(
        "lanes 2k and 2k+1 with one keystream",
        "trusted/bits.py",
        'modes.CTR(lane.to_bytes(8, "big") + bytes(8))',
        'modes.CTR((lane // 2).to_bytes(8, "big") + bytes(8))',
        (f"{RANDOMNESS}test_every_lane_is_a_stream_of_its_own",),
        "What was meant to be independent is equal.",
    ),
    Mutant(
        "lanes that overlap after 256 blocks",
        "trusted/bits.py",
        'modes.CTR(lane.to_bytes(8, "big") + bytes(8))',
        'modes.CTR(bytes(7) + lane.to_bytes(8, "big") + bytes(1))',
        (f"{RANDOMNESS}test_every_lane_is_a_stream_of_its_own",),
        "Long lanes run into the next ones, and repeat their words.",
    ),
    Mutant(
        "the spare stream equal to the word stream",
        "trusted/exponential.py",
        "spare = stream.bits(2 * lane + 1)",
        "spare = stream.bits(2 * lane)",
        (f"{KEYS}test_lanes_of_one_draw_are_each_read_once[1]",),
        "Levels that words leave open are finished with the same words again.",
    ),
    Mutant(
        "lanes 2k and 2k+1 sharing words",
        "trusted/exponential.py",
        "words = stream.words(2 * lane, self._lane_words(lane))",
        "words = stream.words(2 * (lane // 2), self._lane_words(lane))",
        (f"{KEYS}test_lanes_of_one_draw_are_each_read_once[1]",),
        "Proposals that were rejected come again: acceptance is no longer independent of what came before.",
    ),
    Mutant(
        "a refuted proposal's lane read again",
        "trusted/sampling/draws.py",
        "lane, in_vain = found.lane + 1, 0",
        "lane, in_vain = found.lane, 0",
        (f"{KEYS}test_the_lane_of_a_refuted_proposal_is_never_read_again",),
        "Words that have shown a refuted point are used again, conditioned on that.",
    ),
    Mutant(
        "a certificate's noise from the bits of the draw",
        "mechanisms/boxem.py",
        'charge = run.charge("certificate", "certificate")',
        'charge = run.charge("certificate")',
        (f"{OWN_BITS}[a point and its certificate]",),
        "The noise is made of words that the released point tells of.",
    ),
    Mutant(
        "one key for the quantiles of all columns",
        "mechanisms/quantiles.py",
        'run.charge(name, "column", j)',
        'run.charge(name, "column")',
        (f"{OWN_BITS}[quantiles of two columns]",),
        "Columns are drawn from the same words: their epsilons do not add up.",
    ),
)
