"""Order statistics of rows that are streamed: the same answers as sorting everything, whatever is kept and guessed."""

from __future__ import annotations

import itertools
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tukeydp as td
from support import oracle
from tukeydp.hints import planner
from tukeydp.trusted import exponential
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import ParameterError
from tukeydp.trusted.rows import LIMIT
from tukeydp.trusted.sampling.draws import Sampler, foresee
from tukeydp.trusted.streams import streamed_levels, tallies
from tukeydp.trusted.streams.streamed_levels import RankCells, StreamedLevels, edges_by, streamed_level_sets
from tukeydp.trusted.streams.tallies import Question

POINTS = list(itertools.product(range(-3, 4), repeat=2))
rows_of = st.lists(st.sampled_from(POINTS), min_size=1, max_size=14)
direction = st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(any)
directions_of = st.lists(direction, min_size=1, max_size=5)
sizes = st.lists(st.integers(0, 4), max_size=6)


class Blocks:
    """Rows in blocks of the given sizes, some perhaps empty, and the rest in one."""

    def __init__(self, rows, cuts=(), memory=2**20):
        self._rows, self._cuts, self.memory = np.array(rows, dtype=np.int64), cuts, memory
        self.d, self.passes = self._rows.shape[1], 0

    def blocks(self):
        self.passes += 1
        yield from np.split(self._rows, np.minimum(np.cumsum(self._cuts, dtype=int), len(self._rows)))


def streamed(rows, directions, cuts=(), memory=2**20):
    """Never held as a whole, unless there is no row."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed_levels, "_WHOLE_SHARE", 2**60)
        return streamed_level_sets(Blocks(rows, cuts, memory), np.array(directions))


def offsets(rows, directions, level):
    ordered = [sorted(sum(a * b for a, b in zip(v, row, strict=True)) for row in rows) for v in directions]
    return [line[level - 1] for line in ordered], [line[-level] for line in ordered]


@settings(max_examples=20)
@given(rows_of, directions_of, sizes, st.sampled_from([8, 24, 200, 2**20]), st.sampled_from([2, 3, 2048]), st.data())
def test_every_question_gets_the_answer_of_sorted_projections(rows, directions, cuts, memory, cells, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed_levels, "_CELLS", cells)
        levels = streamed(rows, directions, cuts, memory)
    assert isinstance(levels, StreamedLevels)
    order = data.draw(st.permutations(range(1, len(rows) + 1)))
    for level in order:
        assert [side.tolist() for side in levels.offsets(level)] == [*offsets(rows, directions, level)]
    depths = [oracle.depth(rows, y, directions) for y in POINTS]
    least = data.draw(st.integers(1, len(rows)))
    found = levels.depths(np.array(POINTS), least).tolist()
    assert [max(t, least - 1) for t in found] == [max(t, least - 1) for t in depths]
    for level in order:
        assert [levels.contains(y, level) for y in POINTS] == [t >= level for t in depths]


def test_what_is_not_held_is_not_handed_out():
    levels = streamed([(0, 1), (2, 3)], [(1, 0)])
    for ask in (lambda: levels.table, lambda: levels.projections, lambda: levels.with_directions(np.array([[0, 1]]))):
        with pytest.raises(LookupError, match="rows that are streamed"):
            ask()


@given(rows_of, directions_of, st.sampled_from([8, 10**3, 2**20]), st.data())
def test_a_window_has_the_ranks_of_its_levels_and_ascends(rows, directions, memory, data):
    levels = streamed(rows, directions, memory=memory)
    top = levels.highest_unbroken()
    first = data.draw(st.integers(1, top))
    levels.foresee(data.draw(st.lists(st.integers(-2, 16), max_size=3)), first, top)
    window = levels.ensure(first, upto=top)
    assert window.holds(first)
    assert window.holds(top)
    assert window.projections.shape[1] == 2 * (window.highest - window.first) == window.rows - 2 * window.first
    assert (np.diff(window.projections, axis=1) >= 0).all()
    for level in range(window.first + 1, window.highest + 1):
        low, high = offsets(rows, directions, level)
        assert window.projections[:, level - 1 - window.first].tolist() == low
        assert window.projections[:, window.rows - level - window.first].tolist() == high


@given(rows_of, directions_of, st.data())
def test_edges_that_lie_cost_passes_and_nothing_else(rows, directions, data):
    """Edges from anywhere, as if the sample had nothing to do with the rows: the counts tell, and cells are cut."""
    edge = st.one_of(st.integers(-60, 60), st.integers(-LIMIT + 1, LIMIT - 1))
    lies = data.draw(st.lists(edge, min_size=1, max_size=5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed_levels, "edges_by", lambda sample, cells: np.unique(np.array(lies, dtype=np.int64)))
        levels = streamed(rows, directions, memory=16)
    for level in range(1, len(rows) + 1):
        assert [side.tolist() for side in levels.offsets(level)] == [*offsets(rows, directions, level)]


def test_believing_the_sample_instead_of_counting_is_caught(monkeypatch):
    """Control: cells with the counts that a sample promises. What is kept does not have them, and nothing is used."""
    monkeypatch.setattr(streamed_levels, "_CELLS", 3)

    def promised(edges, counts):
        share, rest = divmod(int(counts.sum()), len(counts))
        return RankCells(edges, np.array([share + (i < rest) for i in range(len(counts))]))

    rows = [(i * i,) for i in range(12)]
    lies = lambda sample, cells: np.array([2, 5])  # noqa: E731
    monkeypatch.setattr(streamed_levels, "edges_by", lies)
    assert [side.tolist() for side in streamed(rows, [(1,)]).offsets(4)] == [[9], [64]]
    monkeypatch.setattr(streamed_levels, "RankCells", promised)
    with pytest.raises(ParameterError, match="the same rows in every pass"):
        streamed(rows, [(1,)]).offsets(4)


@given(
    st.lists(st.integers(-LIMIT + 1, LIMIT - 1) | st.integers(-9, 9), min_size=1, max_size=30),
    st.lists(st.integers(-LIMIT, LIMIT) | st.integers(-9, 9), max_size=20),
)
def test_every_projection_is_counted_in_the_one_cell_it_is_in(values, edges):
    edges = np.unique(np.array(edges, dtype=np.int64))
    rooms = np.array(
        [sum(int(np.searchsorted(edges, v, side="right")) == c for v in values) for c in range(len(edges) + 1)]
    )
    work = tallies._Work(np.array([[1]]), [Question(edges, rooms)])
    work.count(np.array(values, dtype=np.int64)[:, np.newaxis], 0, 1)
    (found,) = work.tallies()
    assert found.counts.tolist() == rooms.tolist()
    assert sorted(itertools.chain(*(kept.tolist() for kept in found.kept.values()))) == sorted(values)


def test_frequent_values_have_cells_of_their_own_and_need_not_be_kept():
    rows = np.repeat([[0], [5], [9]], [4000, 5000, 3000], axis=0)
    levels = streamed(rows, [(1,)])
    before = levels.passes
    assert [levels.offsets(level)[0].tolist() for level in (1, 4000, 4001, 9000, 9001, 12000)] == [
        [0],
        [0],
        [5],
        [5],
        [9],
        [9],
    ]
    assert levels.passes == before


def test_what_is_kept_stays_within_the_memory(monkeypatch):
    """Of 60,000 projections in three directions at most the room's are held, however many levels are asked about."""
    rows = np.rint(np.random.default_rng(1).normal(size=(20000, 2)) * 2**30).astype(np.int64)
    directions = np.array([[1, 0], [0, 1], [3, -2]])
    room = 600
    largest = []
    plain = tallies.Passes.run

    def watched(self, questions, *rest):
        largest.append(sum(int(q.rooms.sum()) for q in questions))
        return plain(self, questions, *rest)

    monkeypatch.setattr(tallies.Passes, "run", watched)
    levels = streamed(rows, directions, [3000] * 6, memory=8 * room)
    ordered = np.sort(directions @ rows.T, axis=1)
    for level in (10000, 9990, 9000, 1, 20000, 5000):
        low, high = levels.offsets(level)
        assert (low == ordered[:, level - 1]).all()
        assert (high == ordered[:, -level]).all()
        assert sum(cells.kept for cells in levels._cells) <= room
    assert 0 < max(largest) <= room


def test_a_source_that_changes_is_noticed_before_its_counts_are_used(monkeypatch):
    monkeypatch.setattr(streamed_levels, "_CELLS", 2)
    rows = [(i, -i) for i in range(50)]
    levels = streamed(rows, [(1, 2)], memory=64)
    levels._passes._rows._rows[7] += 1
    with pytest.raises(ParameterError, match="the same rows in every pass; this run's budget is spent"):
        levels.offsets(25)
    levels._passes._rows._rows = levels._passes._rows._rows[::-1].copy()
    levels._passes._rows._rows[-8] -= 1
    assert [side.tolist() for side in levels.offsets(25)] == [
        *offsets(rows, [(1, 2)], 25)
    ]  # in another order: the same


@pytest.mark.parametrize("failing", [(2,), (1, 3), (1, 2, 3, 4, 5)])
def test_every_row_counts_once_where_threads_cannot_be_started(failing, monkeypatch):
    """A pool that fails to start a thread keeps the work in its queue: done here and there, rows would count twice."""
    starts = itertools.count(1)
    plain = threading.Thread.start

    def start(self):
        if next(starts) in failing:
            raise RuntimeError("can't start new thread")
        plain(self)

    rows = [(i % 7, i % 5) for i in range(400)]
    directions = [(1, 0), (0, 1), (1, 1), (2, -1)]
    monkeypatch.setattr(tallies, "available_cores", lambda: 4)
    monkeypatch.setattr(threading.Thread, "start", start)
    levels = streamed(rows, directions, [9] * 40)
    assert next(starts) > max(failing)
    for level in (1, 57, 200, 400):
        assert [side.tolist() for side in levels.offsets(level)] == [*offsets(rows, directions, level)]


def test_a_count_that_misses_rows_or_has_them_twice_is_not_believed(monkeypatch):
    plain = tallies._Work.count
    for times in (0, 2):
        monkeypatch.setattr(tallies._Work, "count", lambda *given, times=times: [plain(*given) for _ in range(times)])
        with pytest.raises(ArithmeticError, match="every row must count once"):
            streamed([(i, -i) for i in range(50)], [(1, 2)])


def test_rows_that_fit_are_held_and_nothing_is_read_twice():
    source = Blocks([(i, i % 3) for i in range(40)], [7, 7])
    levels = streamed_level_sets(source, np.array([[1, 0], [0, 1]]))
    assert not isinstance(levels, StreamedLevels)
    assert source.passes == 1
    nobody = streamed(np.empty((0, 2), dtype=np.int64), [(1, 0)])
    assert nobody.rows == 0
    assert not isinstance(nobody, StreamedLevels)


def test_rough_ranks_are_in_their_cells_and_ascend():
    values = np.sort(np.random.default_rng(2).normal(size=3000) * 2**20).astype(np.int64)
    edges = edges_by(values[::7], 16)
    cells = RankCells(edges, np.histogram(values, [-LIMIT, *edges, LIMIT])[0])
    rough = [cells.rough(rank) for rank in range(3000)]
    assert rough == sorted(rough)
    assert np.array_equal(np.searchsorted(edges, rough, side="right"), np.searchsorted(edges, values, side="right"))
    with pytest.raises(LookupError):
        cells.found(0, 10)
    assert streamed_levels.RankCells(edges, np.zeros(len(edges) + 1, dtype=np.int64)).rows == 0


CLOUD = np.rint(np.random.default_rng(4).normal(size=(400, 2)) ** 3 * 2**30).astype(np.int64)
SQUARE = Box((-(2**36),) * 2, (2**36,) * 2)
AROUND = td.Random(6, seed=3)._integers(2, 2**16, b"")


@pytest.mark.parametrize(
    ("rows", "within"), [(CLOUD, SQUARE), (CLOUD // 2**30, Box((-9, -9), (9, 9)))], ids=["fine grid", "coarse grid"]
)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10)])
@pytest.mark.parametrize("memory", [8 * 100, 8 * 3000, 2**20])
def test_a_seeded_draw_is_the_one_from_sorted_projections(rows, within, epsilon, memory, monkeypatch):
    """With little memory a window holds one level or few, and the kernel is handed another one again and again."""
    monkeypatch.setattr(streamed_levels, "_CELLS", 16)
    monkeypatch.setattr(exponential, "_LANE_WORDS", (64,))
    keys = [derived_key("streamed", i) for i in range(4)]
    whole = Sampler(level_sets(rows, AROUND), within=within, epsilon=epsilon)
    levels = streamed(rows, AROUND, [100, 0, 77], memory)
    foresee(levels, within, epsilon, 0)
    sampler = Sampler(levels, within=within, epsilon=epsilon)
    assert sampler.top == whole.top
    assert [sampler.draw(key) for key in keys] == [whole.draw(key) for key in keys]


def test_branches_grow_from_a_window_as_from_sorted_projections(monkeypatch):
    """Scores in ten columns, half of the rows equal: levels above the middle, and a tree for the deep ones."""
    rng = np.random.default_rng(6)
    rows = np.where(rng.random((400, 1)) < 0.52, 2, rng.integers(0, 5, (400, 10)))
    within = Box((0,) * 10, (4,) * 10)
    directions = td.Random(20, seed=3)._integers(10, 2**16, b"")
    monkeypatch.setattr(exponential, "_LANE_WORDS", (64,))
    monkeypatch.setattr(planner, "_PATIENCE", 0.01)
    drawn = []
    for levels in (level_sets(rows, directions), streamed(rows, directions)):
        sampler = Sampler(levels, within=within, epsilon=Fraction(1, 20))
        drawn.append([sampler.draw(derived_key("branches", i)) for i in range(6)])
        tree = sampler._planner._envelope.tree
        assert tree is not None
        assert sampler.top > len(rows) // 2
        drawn[-1].append((tree.base, tree.steps, tree.top, tree.log_weight, tree._deepest))
    assert drawn[0] == drawn[1]


def test_what_is_foreseen_is_not_asked_for_again():
    rows = np.rint(np.random.default_rng(5).exponential(size=(30000, 3)) * 2**30).astype(np.int64)
    directions = td.Random(12, seed=3)._integers(3, 2**16, b"")
    cube = Box((-(2**34),) * 3, (2**34,) * 3)
    levels = streamed(rows, directions)
    foresee(levels, cube, Fraction(1), 0)
    assert levels.passes == 2  # one that counts, one that keeps
    Sampler(levels, within=cube, epsilon=Fraction(1)).draw(derived_key("foreseen"))
    assert levels.passes == 2
