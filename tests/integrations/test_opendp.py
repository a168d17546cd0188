"""Our measurements in OpenDP's hands: the same releases, in a Context with OpenDP's own, and no failure by data."""

from __future__ import annotations

import importlib
import inspect
import logging
import sys

import numpy as np
import pytest

import tukeydp as td

dp = pytest.importorskip("opendp.prelude")
from opendp import context as opendp_context  # noqa: E402
from opendp.extras._utilities import to_then  # noqa: E402

from tukeydp.integrations import opendp as ours  # noqa: E402
from tukeydp.integrations.opendp import spaces  # noqa: E402
from tukeydp.integrations.opendp.runs import Run, _Agreed  # noqa: E402

N = 60
X = np.random.default_rng(1).normal(50, 10, size=(N, 2))
SIZED = dp.numpy.array2_domain(num_columns=2, size=N, T=float)
TABLE = dp.numpy.array2_domain(num_columns=2, T=float)
VECTOR = dp.vector_domain(dp.atom_domain(T=float))
CHANGE, SYMMETRIC = dp.change_one_distance(), dp.symmetric_distance()
ZCDP = dp.zero_concentrated_divergence()
BETWEEN = {"bounds": (0, 100)}
MAKERS = (ours.make_boxem, ours.make_rem, ours.make_mean, ours.make_cube)


@pytest.fixture(autouse=True)
def features():
    dp.enable_features("contrib", "honest-but-curious")
    ours.register()


def fixed_bits(monkeypatch, seed=7):
    """In place of the operating system's, so that two runs can be compared."""
    monkeypatch.setattr("tukeydp.trusted.bits.os.urandom", np.random.default_rng(seed).bytes)


def told(outcome):
    """What a release says, but for what it is rehearsed to say of its accuracy."""
    point = None if outcome.point is None else outcome.point.tolist()
    public = (outcome.mechanism, outcome.n, outcome.d, outcome.settings, outcome.bounds, outcome.seeded)
    return type(outcome), point, outcome.guarantee, outcome.guarantee.zcdp, public


CASES = {
    "boxem": (ours.make_boxem, td.boxem, BETWEEN),
    "boxem, certified": (ours.make_boxem, td.boxem, {**BETWEEN, "certify": 0.1, "depth": td.Random(5, seed=1)}),
    "cube": (ours.make_cube, td.cube, BETWEEN),
    "mean": (ours.make_mean, td.mean, BETWEEN),
    "mean by depth": (ours.make_mean, td.mean, {**BETWEEN, "mechanism": "subset", "blocks": 20}),
    "rem": (ours.make_rem, td.rem, {"delta": "1e-6"}),
    "mean without bounds": (ours.make_mean, td.mean, {"delta": "1e-6"}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("domain", [SIZED, TABLE], ids=["size", "no size"])
def test_a_measurement_is_the_mechanism_bit_by_bit(name, domain, monkeypatch):
    make, mechanism, options = CASES[name]
    rows = {} if domain is SIZED else {"rows": N}
    made = make(domain, SYMMETRIC, 1, **options, **rows)
    fixed_bits(monkeypatch)
    through_opendp = made(X)
    fixed_bits(monkeypatch)
    direct = mechanism(X, epsilon=1, neighbours="add-remove" if rows else "swap", **options, **rows)
    assert told(through_opendp) == told(direct)
    assert through_opendp.private


def test_one_column_as_a_vector(monkeypatch):
    vector = dp.vector_domain(dp.atom_domain(T=int), size=N)
    values = X[:, 0].astype(int)
    made = ours.make_boxem(vector, CHANGE, 1, **BETWEEN, resolution=1, columns=["score"])
    fixed_bits(monkeypatch)
    through_opendp = made(values.tolist())
    fixed_bits(monkeypatch)
    direct = td.boxem(values, epsilon=1, **BETWEEN, resolution=1)
    assert through_opendp["score"] == direct.point[0]


@pytest.mark.parametrize("name", ["boxem", "cube", "rem"])
def test_the_order_of_rows_does_not_matter(name, monkeypatch):
    """What change-one and symmetric distance do not see, the measurement must not see either."""
    make, _, options = CASES[name]
    made, points = make(SIZED, CHANGE, 8, **options), []
    for rows in (X, X[::-1], X[np.random.default_rng(2).permutation(N)]):
        fixed_bits(monkeypatch)
        points.append(told(made(rows)))
    assert points[0] == points[1] == points[2]


# ---- Context ----


def test_a_context_spends_on_ours_and_on_opendps_own_and_then_refuses():
    budget = dp.Context.compositor(
        data=X, domain=TABLE, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=1.0)
    )
    centre = budget.query(epsilon=0.5).td_boxem(**BETWEEN).release()
    assert centre.released
    assert float(centre.guarantee.epsilon) == 0.5
    assert isinstance(budget.query(epsilon=0.25).td_column(0).count().laplace().release(), int)
    assert budget.query().td_cube(0.25, **BETWEEN).release().released  # an explicit epsilon
    assert budget.remaining_privacy_loss() == 0
    with pytest.raises(dp.OpenDPException, match="filter is now exhausted"):
        budget.query().td_cube(1e-6, **BETWEEN).release()
    with pytest.raises(dp.OpenDPException, match="filter is exhausted"):
        budget.query().td_column(0).count().laplace(1e6).release()


def test_opendps_filter_runs_first_and_asks_afterwards(monkeypatch):
    """What the guide says of it. The value is thrown away, a run that raises is free: so no cell may raise."""
    ran, on = [], Run.on
    monkeypatch.setattr(Run, "on", lambda self, *given: ran.append(on(self, *given)) or ran[-1])
    given = {"domain": TABLE, "privacy_unit": dp.unit_of(contributions=1), "privacy_loss": dp.loss_of(epsilon=1.0)}
    with pytest.raises(dp.OpenDPException, match="filter is now exhausted") as caught:
        dp.Context.compositor(data=X, **given).query(epsilon=1.5).td_boxem(**BETWEEN).release()
    (thrown_away,) = ran
    assert not any(str(value)[:6] in str(caught.value) for value in thrown_away.point)
    wrong = dp.Context.compositor(data=X[:, :1], **given)
    for _ in range(3):
        with pytest.raises(dp.OpenDPException, match="2 columns"):
            wrong.query(epsilon=1.0).td_boxem(**BETWEEN).release()
    assert wrong.remaining_privacy_loss() == 1.0
    split = dp.Context.compositor(data=X, **given, split_evenly_over=2)
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        split.query().td_boxem(1.5, **BETWEEN).release()
    assert len(ran) == 1


def test_a_context_that_is_split_beforehand():
    budget = dp.Context.compositor(
        data=X, domain=SIZED, privacy_unit=dp.unit_of(changes=2), privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=2,
    )  # fmt: skip
    query = budget.query().td_mean(**BETWEEN)
    assert query.param() == 0.25  # two changed rows: each release half of 1, each row half of that
    assert query.release().released
    assert budget.query().td_boxem(**BETWEEN).release().released
    with pytest.raises(ValueError, match="exhausted"):
        budget.query()


def test_zcdp_with_opendps_gaussian_noise():
    """A quarter of what OpenDP would charge for the same epsilon, in one account with its discrete Gaussian."""
    budget = dp.Context.compositor(
        data=X, domain=TABLE, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=0.2)
    )
    own = budget.query(rho=0.125).td_boxem(**BETWEEN, output_measure=ZCDP)
    assert own.param() == 1.0
    converted = budget.query(rho=0.125).td_boxem(1.0, **BETWEEN).resolve()
    assert converted.map(1) == 0.5  # rho by OpenDP's conversion
    assert own.release().released
    noised = budget.query(rho=0.05).td_column(1).count().gaussian().release()
    assert isinstance(noised, int)
    assert budget.remaining_privacy_loss() == pytest.approx(0.025)
    with pytest.raises(dp.OpenDPException, match="filter is now exhausted"):
        budget.query().td_boxem(1.0, **BETWEEN, output_measure=ZCDP).release()


def test_adaptive_composition_inside_a_query():
    """A part of an approximate budget, kept as zCDP: ours chosen by what OpenDP's count has told."""
    budget = dp.Context.compositor(
        data=X, domain=TABLE, privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=2.0, delta=1e-6), split_evenly_over=2,
    )  # fmt: skip
    part = budget.query().compositor(split_by_weights=[1, 3], output_measure=ZCDP).release()
    count = part.query().td_column(0).count().gaussian().release()
    rows = {"rows": max(1, count)}
    mean = part.query().td_mean(**BETWEEN, **rows, mechanism="subset", output_measure=ZCDP).release()
    assert mean.settings["rows"] == rows["rows"]
    centre = budget.query().td_rem(delta=5e-7, rows=N).release()
    assert centre.guarantee.delta <= 1e-6


def test_a_refusal_is_a_value_and_has_spent():
    few = dp.vector_domain(dp.atom_domain(T=float), size=5)
    budget = dp.Context.compositor(
        data=[1.0, 2.0, 3.0, 4.0, 5.0], domain=few, privacy_unit=dp.unit_of(changes=1),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-6),
    )  # fmt: skip
    refused = budget.query(epsilon=1.0, delta=1e-6).td_rem(delta=1e-6).release()
    assert isinstance(refused, td.Refused)
    assert not refused.released
    assert budget.remaining_privacy_loss() == (0.0, 0.0)
    with pytest.raises(dp.OpenDPException, match="exhausted"):
        budget.query().td_rem(1.0, delta=1e-6).release()


def test_names_for_contexts():
    names = {name for name in opendp_context.constructors if name.startswith("td_")}
    assert names == {"td_boxem", "td_rem", "td_mean", "td_cube", "td_column"}
    with pytest.raises(ValueError, match="'mean' is already registered"):  # why ours have a prefix
        dp.register(ours.make_mean)


def test_the_callers_own_names(monkeypatch):
    monkeypatch.setattr(opendp_context, "constructors", dict(opendp_context.constructors))
    dp.register(ours.make_boxem)
    dp.register(ours.make_mean, "private_mean")
    budget = dp.Context.compositor(
        data=X, domain=SIZED, privacy_unit=dp.unit_of(changes=1), privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=2,
    )  # fmt: skip
    assert budget.query().boxem(**BETWEEN).release().mechanism == "boxem"
    assert budget.query().private_mean(**BETWEEN, mechanism="cube").release().mechanism == "cube"
    assert budget.current_privacy_loss() == [0.5, 0.5]


@pytest.mark.parametrize("make", MAKERS)
def test_signatures_are_what_a_context_reads(make):
    parameters = list(inspect.signature(make).parameters.values())
    assert [p.name for p in parameters[:3]] == ["input_domain", "input_metric", "epsilon"]
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[3:])
    assert "randomness" not in {p.name for p in parameters}  # the map would not be true of a seeded run


def test_what_is_wrong_is_said_in_a_contexts_search_too():
    budget = dp.Context.compositor(
        data=X, domain=SIZED, privacy_unit=dp.unit_of(changes=1), privacy_loss=dp.loss_of(epsilon=1.0)
    )
    with pytest.raises(td.ParameterError, match="bounds must have lower < upper"):
        budget.query(epsilon=1.0).td_boxem(bounds=(5, 5)).release()
    assert budget.remaining_privacy_loss() == 1.0


# ---- data that are not as they should be ----


NASTY = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 50.0]


@pytest.mark.parametrize("name", CASES)
def test_no_cell_raises_prints_or_logs(name, capfd, caplog):
    make, _, options = CASES[name]
    made = make(SIZED, CHANGE, 1, **options)
    caplog.set_level(logging.DEBUG)
    rng = np.random.default_rng(3)
    tables = [np.full((N, 2), cell) for cell in NASTY] + [rng.choice(NASTY, size=(N, 2)) for _ in range(3)]
    for x in tables:
        assert made(x).n == N
    assert tuple(capfd.readouterr()) == ("", "")
    assert not [record for record in caplog.records if record.name.startswith(("tukeydp", "opendp"))]


@pytest.mark.parametrize(
    ("x", "found"),
    [
        (X[:, :1], "got 1 columns"),
        (X[0], "got 1 dimensions"),
        (X.astype(str), "got ndarray"),
        (X.tolist(), "got list"),
        (X.astype(complex), "got ndarray"),
    ],
)
def test_only_the_schema_raises_and_the_number_of_rows_is_not_told(x, found):
    for domain, metric in ((SIZED, CHANGE), (TABLE, SYMMETRIC)):
        with pytest.raises(dp.OpenDPException, match=found) as caught:
            ours.make_boxem(domain, metric, 1, **BETWEEN)(x)
        assert str(X[0, 0])[:6] not in str(caught.value)
        assert str(N) not in str(caught.value).rpartition("ParameterError")[2]


def test_a_table_of_another_size_than_its_domain_is_not_measured():
    with pytest.raises(dp.OpenDPException, match="must have 60 rows, the size of its domain; got another number"):
        ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN)(X[:-1])
    secret = ours.make_boxem(TABLE, SYMMETRIC, 1, **BETWEEN)
    assert secret(X[:0]).n is None  # no size: an empty table is one like any other
    assert secret(X).n is None


# ---- parameters ----


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: ours.make_boxem(TABLE, CHANGE, 1, **BETWEEN), "input_domain must have a size for ChangeOneDistance"),
        (lambda: ours.make_boxem(VECTOR, dp.hamming_distance(), 1, **BETWEEN), "must have a size for HammingDistance"),
        (lambda: ours.make_boxem(SIZED, dp.discrete_distance(), 1, **BETWEEN), "input_metric must be"),
        (lambda: ours.make_boxem(SIZED, "symmetric", 1, **BETWEEN), "input_metric must be"),
        (lambda: ours.make_boxem("rows", CHANGE, 1, **BETWEEN), "input_domain must be"),
        (lambda: ours.make_boxem(dp.atom_domain(T=float), CHANGE, 1, **BETWEEN), "input_domain must be"),
        (lambda: ours.make_boxem(dp.numpy.array2_domain(T=float), SYMMETRIC, 1, **BETWEEN), "input_domain must be"),
        (
            lambda: ours.make_boxem(dp.vector_domain(dp.atom_domain(T=str)), SYMMETRIC, 1, **BETWEEN),
            "input_domain must be",
        ),
        (
            lambda: ours.make_cube(dp.numpy.array2_domain(num_columns=2, size=0, T=float), CHANGE, 1, **BETWEEN),
            "size must be an integer >= 1",
        ),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, bounds=(float("nan"), 1)), "bounds must be a finite number"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, bounds=None), "bounds must be given"),
        # Iterators would be empty after the check.
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, bounds=iter((0, 100))), "bounds must be a tuple"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, bounds=(0, iter((100, 100)))), "bounds must be a number or one"),
        (lambda: ours.make_mean(SIZED, CHANGE, 1, **BETWEEN, sd=iter((1, 1))), "sd must be"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN, resolution=iter((1, 1))), "resolution must be"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 0, **BETWEEN), "epsilon must be > 0"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1e-10, **BETWEEN), "epsilon must be at least 1e-09"),
        (lambda: ours.make_boxem(SIZED, CHANGE, float("nan"), **BETWEEN), "epsilon must be > 0"),
        (lambda: ours.make_boxem(SIZED, CHANGE, float("inf"), **BETWEEN), "epsilon must be a finite number"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN, rows=50), "rows must be left out for a domain with a"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN, pad_to=-1), "pad_to must be > 0"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN, columns=["a"]), "columns must be 2 different names"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN, columns="ab"), "columns must be 2 different names"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN, depth=td.Directions([[1, 2, 3]])), "vectors must have"),
        (lambda: ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN, resolution=1e-16), "resolution must give fewer than"),
        (lambda: ours.make_rem(SIZED, CHANGE, 1, delta=0), "delta must be > 0"),
        (lambda: ours.make_rem(SIZED, CHANGE, 1, delta=1), "delta must be < 1"),
        (lambda: ours.make_rem(SIZED, CHANGE, 1e-4, delta=1e-6), "epsilon must be from 0.001 to 10000 for rem"),
        (lambda: ours.make_rem(TABLE, SYMMETRIC, 1, delta=1e-6), "rows must be given"),
        (lambda: ours.make_rem(SIZED, CHANGE, 1, delta=1e-6, output_measure=ZCDP), "output_measure must be"),
        (lambda: ours.make_rem(SIZED, CHANGE, 1, delta=1e-6, depth=td.Random(1, axes=False)), "depth must have"),
        (lambda: ours.make_mean(SIZED, CHANGE, 1), "bounds must be given"),
        (lambda: ours.make_mean(SIZED, CHANGE, 1e-4, delta=1e-6), "epsilon must be from 0.001 to 10000 for rem"),
        (lambda: ours.make_mean(TABLE, SYMMETRIC, 1e5, delta=1e-6, rows=60), "epsilon must be from 0.001 to 10000"),
        (lambda: ours.make_mean(TABLE, SYMMETRIC, 1, **BETWEEN, rows=60, mechanism="two-step"), "mechanism must be"),
        (lambda: ours.make_cube(SIZED, CHANGE, 1, **BETWEEN, output_measure="pure"), "output_measure must be"),
        (
            lambda: ours.make_cube(SIZED, CHANGE, 1, **BETWEEN, output_measure=dp.renyi_divergence()),
            "output_measure must be",
        ),
        (lambda: ours.make_column(SIZED, CHANGE, 2), "column must be an integer from 0 to 1"),
        (lambda: ours.make_column(VECTOR, SYMMETRIC, 0), "input_domain must be"),
    ],
)
def test_parameters_are_checked_when_the_measurement_is_made(call, rule):
    with pytest.raises(td.ParameterError, match=rule):
        call()


def test_what_the_caller_changes_later_changes_nothing():
    lower, upper = np.array([0.0, 0.0]), np.array([100.0, 100.0])
    first = ours.make_boxem(SIZED, CHANGE, 1, bounds=(lower, upper))
    lower[:], upper[:] = -5.0, 5.0
    second = ours.make_boxem(SIZED, CHANGE, 2, bounds=(lower, upper), resolution=np.array([0.5, 0.25]))
    assert [float(high) for high in first(X).bounds[1]] == [100.0, 100.0]
    assert [float(high) for high in second(X).bounds[1]] == [5.0, 5.0]
    assert (first.map(1), second.map(1)) == (1.0, 2.0)


def test_a_run_that_would_cost_something_else_does_not_run():
    agreed = _Agreed(td.PureDP(1))
    agreed.spend(td.PureDP(1))
    for other in (td.PureDP("1.1"), td.ApproxDP(1, 1e-6), ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN)(X).guarantee):
        with pytest.raises(RuntimeError, match="cost something else"):
            agreed.spend(other)


class Telling(np.ndarray):
    """What some subclasses do when they are asked."""

    @property
    def shape(self):
        raise ValueError("secret-4711")


@pytest.mark.parametrize(
    "make", [lambda: ours.make_cube(TABLE, SYMMETRIC, 1, **BETWEEN), lambda: ours.make_column(TABLE, SYMMETRIC, 0)]
)
def test_an_error_that_is_not_the_schemas_is_not_quoted(make, monkeypatch):
    """numpy says the number of rows, which is secret here, where the memory does not suffice for them."""
    made = make()
    with pytest.raises(dp.OpenDPException, match=r"the run failed \(ValueError\)") as caught:
        made(X.view(Telling))
    assert "4711" not in str(caught.value)

    def too_large(*_, **__):
        np.empty((4711, 2**45))

    monkeypatch.setattr(spaces, "read_table", too_large)
    with pytest.raises(MemoryError, match="4711"):
        too_large()
    with pytest.raises(dp.OpenDPException, match="the run failed") as caught:
        made(X)
    assert "4711" not in str(caught.value)


def test_an_interruption_becomes_an_error_that_opendp_can_hand_on(monkeypatch):
    """Raised through OpenDP's callback, it would abort the whole process."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    made = ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN)
    monkeypatch.setattr("tukeydp.trusted.bits.os.urandom", interrupted)
    with pytest.raises(dp.OpenDPException, match="the run was interrupted; nothing was released"):
        made(X)
    monkeypatch.setattr(spaces, "read_table", interrupted)
    with pytest.raises(dp.OpenDPException, match="the run was interrupted; nothing was released"):
        ours.make_column(TABLE, SYMMETRIC, 0)(X)


def test_without_opendp_the_import_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("tukeydp.integrations.opendp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opendp.extras.numpy", None)
    with pytest.raises(ImportError, match=r'needs OpenDP 0.16: pip install "tukeydp\[opendp\]"'):
        importlib.import_module("tukeydp.integrations.opendp")


def test_after_opendps_own_transformations():
    """A column, imputed and brought to a public size by OpenDP, then a centre: sizes and metrics go together."""
    space = TABLE, SYMMETRIC
    column = space >> to_then(ours.make_column)(0) >> dp.t.then_impute_constant(50.0)
    sized = column >> dp.t.then_resize(size=N, constant=50.0)
    made = sized >> to_then(ours.make_boxem)(1, **BETWEEN)
    assert made.map(1) == 1.0  # a resize doubles symmetric distances, two of which are one swap
    assert made(X).n == N


def test_opendp_says_which_features_it_needs_and_none_is_enabled_for_the_caller():
    dp.disable_features("contrib", "honest-but-curious")
    with pytest.raises(dp.OpenDPException, match="honest-but-curious"):
        ours.make_boxem(SIZED, CHANGE, 1, **BETWEEN)
    assert not {"contrib", "honest-but-curious"} & dp.GLOBAL_FEATURES


def test_names_and_values_of_columns():
    made = ours.make_boxem(SIZED, CHANGE, 1, bounds={"a": (0, 100), "b": (0, 90)}, columns=["a", "b"])
    assert dict(made(X)).keys() == {"a", "b"}
    taken = ours.make_column(SIZED, CHANGE, 1)
    assert taken(X) == X[:, 1].tolist()
    assert taken.map(3) == 3
    assert taken.output_domain == dp.vector_domain(dp.atom_domain(T=float, nan=True), size=N)
