"""Charges, runs and seals: what a mechanism cannot do by mistake."""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tukeydp as td
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.quantile_release import QuantileRelease
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.account import ApproxDP, Concentrated, PureDP, bounded_range
from tukeydp.trusted.bits import SystemRandomness
from tukeydp.trusted.prices import COUNT
from tukeydp.trusted.release import Misuse, PartOf, Seal, rehearsed, rehearsed_charge, reserve

SOURCE = Path(td.__file__).parent
HALF = Fraction(1, 2)


def run(parts=None, source=None, accountant=None):
    parts = {"first": PureDP(HALF), "second": bounded_range(HALF)} if parts is None else parts
    source = td.seeded(1) if source is None else source
    return reserve(parts, mechanism="test", source=source, accountant=accountant, parameters={"n": 3})


def release(**more):
    public = {"mechanism": "mine", "seeded": False, "n": 3, "d": 1, "columns": None}
    return Release(point=np.zeros(1), **{**public, **more})


def test_one_place_spends_and_one_makes_seals():
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    spending = [name for name, text in texts.items() if re.search(r"(?<![\w.])accountant\.spend\(", text)]
    sealing = [name for name, text in texts.items() if re.search(r"\bSeal\(", text) and "class Seal" not in text]
    assert spending == ["trusted/release.py"]
    assert sealing == []


def test_all_parts_are_spent_in_one_entry_before_anything_is_handed_out():
    account = td.Accountant(epsilon=1)
    found = run(accountant=account)
    assert account.remaining().epsilon == 0
    assert found.seal.guarantee == found.guarantee == PureDP(1)
    assert found.seal.guarantee.zcdp.rho == HALF**2 / 2 + HALF**2 / 8
    with pytest.raises(td.BudgetExceeded):
        run(accountant=account)
    with pytest.raises(Misuse):
        run(parts={})


def test_a_part_is_handed_out_once_and_no_other_part_at_all():
    found = run()
    found.charge("first")
    for name in ("first", "third"):
        with pytest.raises(Misuse, match="no part"):
            found.charge(name)


@pytest.mark.parametrize("use", ["for_any_law", "for_bounded_range"])
def test_a_charge_is_consumed_once(use):
    charge = rehearsed_charge(PureDP(1), bytes(32))
    getattr(charge, use)()
    for again in (charge.for_any_law, charge.for_bounded_range, lambda: charge.split({"all": PureDP(1)})):
        with pytest.raises(Misuse, match="consumed once"):
            again()
    with pytest.raises(Misuse, match="consumed once"):
        PartOf(charge).spend(PureDP(1), mechanism="inner", seeded=False, parameters={})


def test_of_many_threads_one_consumes():
    charge, won = rehearsed_charge(PureDP(1), bytes(32)), []
    start = threading.Barrier(8)

    def use():
        start.wait()
        with contextlib.suppress(Misuse):
            won.append(charge.for_any_law())

    threads = [threading.Thread(target=use) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(won) == 1


def test_a_failure_afterwards_has_spent_it():
    charge = rehearsed_charge(PureDP(1), bytes(32))

    def primitive():
        charge.for_any_law()
        raise ValueError

    with pytest.raises(ValueError):
        primitive()
    with pytest.raises(Misuse, match="consumed once"):
        primitive()


@pytest.mark.parametrize("double", [copy.copy, copy.deepcopy, pickle.dumps, lambda x: x.__reduce__()])
def test_nothing_of_a_run_is_doubled(double):
    found = run()
    charge = found.charge("first")
    for one in (found, charge, charge.for_any_law()):
        with pytest.raises(Misuse, match="no copies"):
            double(one)


def test_a_charge_covers_its_law_or_raises():
    with pytest.raises(Misuse, match="does not cover"):
        rehearsed_charge(bounded_range(1), bytes(32)).for_any_law()
    with pytest.raises(Misuse, match="does not cover"):
        rehearsed_charge(PureDP(1), bytes(32)).consume(rho=Fraction(1, 2), delta=Fraction(1, 100))
    with pytest.raises(Misuse, match="does not cover"):
        rehearsed_charge(PureDP(1, zcdp=Concentrated(Fraction(1, 9))), bytes(32)).for_bounded_range()
    paid = rehearsed_charge(ApproxDP(1, "1e-6"), bytes(32)).for_any_law()
    assert (paid.epsilon, paid.delta, paid.scale(COUNT)) == (1, Fraction(1, 10**6), 1)


@pytest.mark.parametrize(
    "parts",
    [
        {"more": PureDP("1.01")},
        {"a": PureDP("0.6"), "b": PureDP("0.5")},
        {"delta": ApproxDP("0.5", "1e-9")},
        {"others": PureDP("0.5", neighbours="add-remove")},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_parts_of_a_charge_are_no_more_than_it(parts):
    charge = rehearsed_charge(PureDP(1), bytes(32))
    with pytest.raises(Misuse):
        charge.split(parts)


def test_noise_is_no_part_of_a_charge_for_a_draw():
    with pytest.raises(Misuse, match="rho"):
        rehearsed_charge(bounded_range(1), bytes(32)).split({"noise": PureDP(1)})


def test_keys_are_fresh_and_leave_once():
    found = run()
    first = found.charge("first").for_any_law()
    second = found.charge("second", "label").for_bounded_range()
    keys = {found.public("directions"), found.secret("coin"), first.key(), first.key("a"), second.key(), second.key(1)}
    assert len(keys) == 6
    for again in (first.key, second.key, lambda: found.public("directions"), lambda: found.secret("coin")):
        with pytest.raises(Misuse, match="handed out once"):
            again()


def test_a_rehearsal_follows_from_its_key_and_vouches_for_nothing():
    def keys():
        found = rehearsed({"a": PureDP(1)}, b"k" * 32)
        assert release(seal=found.seal).guarantee is None
        assert not release(seal=found.seal).private
        return found.charge("a", "step", 0).for_any_law().key()

    assert keys() == keys()


def test_a_rehearsal_has_as_many_keys_as_it_asks_for():
    key = bytes(range(32))
    first, again = (rehearsed({"": PureDP(1)}, key) for _ in range(2))
    keys = [first.secret("a"), first.secret("b"), first.public("c")]
    assert keys[0] == key
    assert len(set(keys)) == 3
    assert keys == [again.secret("a"), again.secret("b"), again.public("c")]


def test_nobody_else_makes_a_seal():
    with pytest.raises(Misuse, match="reserve"):
        Seal(PureDP(1), False)
    seal = run().seal
    with pytest.raises(Misuse):
        seal.guarantee = PureDP(Fraction(1, 100))
    assert copy.copy(seal) is copy.deepcopy(seal) is seal


def test_seals_are_equal_where_they_vouch_for_the_same():
    """What is known of zCDP counts, which guarantees themselves leave out where they are compared."""
    ours, again, other = run().seal, run().seal, run(parts={"whole": PureDP(1)}).seal
    assert ours == again
    assert hash(ours) == hash(again)
    assert ours.guarantee == other.guarantee
    assert ours != other
    assert ours != run(source=SystemRandomness()).seal
    assert ours != ours.guarantee


def test_a_release_of_ones_own_making_has_no_guarantee():
    mine = release(guarantee=PureDP(1))
    assert mine.guarantee is None
    assert not mine.private
    assert any("No guarantee" in caveat for caveat in mine.caveats)
    assert "guarantee=None, private=False" in repr(mine)
    assert "NO GUARANTEE" in str(mine)
    refused = Refused(guarantee=PureDP(1), mechanism="mine", seeded=False, n=3, d=1, columns=None)
    assert (refused.guarantee, refused.private) == (None, False)
    grouped = GroupedRelease(releases={"a": mine}, guarantee=PureDP(1), mechanism="mine", seeded=False, n=3, by="g")
    share = (Fraction(1, 2),)
    quantiles = QuantileRelease(
        values_by_share=np.zeros((1, 1)), shares=share, guarantee=PureDP(1), seeded=False, n=3, columns=None,
        units=None, bounds=((Fraction(0),), (Fraction(1),)),
    )  # fmt: skip
    for one in (grouped, quantiles):
        assert (one.guarantee, one.private, one.to_dict()["guarantee"]) == (None, False, None)
        assert "NO GUARANTEE" in str(one)
        assert one._repr_html_()
    summary = td.summary(np.ones((9, 1)), epsilon=1, bounds=(0, 1), randomness=td.seeded(1))
    made_up = replace(summary, seal=None, seeded=False)
    assert (made_up.guarantee, made_up.private) == (None, False)
    assert "NO GUARANTEE" in made_up.footnote


@pytest.fixture(scope="module")
def genuine():
    return td.cube(np.arange(50.0).reshape(25, 2), epsilon=1, bounds=(0, 50))


def test_a_genuine_release_keeps_its_guarantee_through_copies(genuine):
    assert genuine.private
    copies = [copy.copy(genuine), copy.deepcopy(genuine), pickle.loads(pickle.dumps(genuine)), replace(genuine, n=7)]
    for one in copies:
        assert one.guarantee == PureDP(1)
        assert one.guarantee.zcdp == genuine.guarantee.zcdp
        assert one.private


def test_no_copy_has_another_guarantee_than_was_reserved(genuine):
    assert replace(genuine, guarantee=PureDP(Fraction(1, 100))).guarantee == PureDP(1)
    assert replace(genuine, seal=None).guarantee is None
    state = {**genuine.__dict__, "seal": None}
    forged = Release.__new__(Release)
    forged.__setstate__(state)
    assert (forged.guarantee, forged.private) == (None, False)
    seeded = td.cube(np.zeros((9, 1)), epsilon=1, bounds=(0, 1), randomness=td.seeded(1))
    assert not replace(seeded, seeded=False).private


def test_a_run_inside_a_run_is_paid_out_of_its_charge():
    outer = run({"inner": bounded_range(1)})
    paying = PartOf(outer.charge("inner"))
    found = td.boxem(np.zeros((9, 1)), epsilon=1, bounds=(0, 1), accountant=paying, randomness=td.seeded(1))
    assert found.guarantee == PureDP(1)
    for epsilon in (1, "1/100"):
        with pytest.raises(Misuse):
            td.boxem(np.zeros((9, 1)), epsilon=epsilon, bounds=(0, 1), accountant=paying)
    with pytest.raises(Misuse):
        td.boxem(np.zeros((9, 1)), epsilon=2, bounds=(0, 1), accountant=PartOf(run({"a": PureDP(1)}).charge("a")))


def test_words_of_misuse_hold_no_number():
    for wrong in (
        lambda: rehearsed_charge(bounded_range("0.125"), bytes(32)).for_any_law(),
        lambda: rehearsed_charge(PureDP("0.125"), bytes(32)).split({"a": PureDP("0.25")}),
    ):
        with pytest.raises(Misuse) as told:
            wrong()
        assert not re.search(r"\d", str(told.value))
