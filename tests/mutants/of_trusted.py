"""One bug for each function of `tukeydp.trusted` that has none elsewhere: function, what becomes what, and the test.

A comment names the file and what its bugs break. The test is the fastest one that was found to notice the bug.
"""

from __future__ import annotations

from collections.abc import Iterator

from mutants.mutant import Mutant


def read(table: str) -> Iterator[Mutant]:
    """Two lines each: `function: old ==> new`, and the test, below tests/."""
    lines = iter(table.strip().splitlines())
    file = why = ""
    for line in lines:
        if line.startswith("# "):
            file, why = line[2:].split(": ", 1)
            continue
        function, change = line.split(": ", 1)
        old, new = change.split(" ==>", 1)
        yield Mutant(
            f"{function} of {file}", f"trusted/{file}", old, new[1:], (f"tests/{next(lines).strip()}",), why, function
        )


TABLE = r"""
# bits.py: random bits repeat, are guessed, or are not uniform.
SeededRandomness.__reduce__: (self._seed, self._used) ==> (self._seed, 0)
    test_randomness.py::test_a_copy_of_a_seeded_source_goes_on_by_itself
_seeded_at: source._used = used ==> source._used = 0
    test_randomness.py::test_a_copy_of_a_seeded_source_goes_on_by_itself
# compiled_code.py: a kernel of other sources runs, or files tell about rows.
compiled: dispatcher._cache = _SourcesCache(function) ==> dispatcher.enable_caching()
    test_compiled_code.py::test_nothing_is_kept_in_another_way
compiled_in_memory: function.plain = plain ==> function.plain = None
    trusted/test_kernels.py::test_forms_that_differ_would_be_seen
version_of_numba: if numba is not None ==> if numba is None
    test_compiled_code.py::test_files_are_named_by_the_hash
may_be_called: numba.extending.register_jitable(function) ==> pass
    test_compiled_code.py::test_what_may_be_called_is_compiled_into_others
_run_as_python: all="ignore" ==> all="warn"
    test_plain_forms.py::test_numba_is_not_needed[TUKEYDP_NUMBA]
is_kept: _index_path).exists() ==> _index_path).parent.exists()
    test_compiled_code.py::test_nothing_is_kept_once_a_source_has_changed_under_the_process
_announce:  and part not in announced ==>
    test_compiled_code.py::test_who_waits_at_a_terminal_is_told_once[True]
_SourcesCache.__init__: {stamp[:_DIGITS]} ==> {stamp[:0]}
    test_compiled_code.py::test_files_are_named_by_the_hash
_SourcesCache.load_overload: found is None ==> found is not None
    test_compiled_code.py::test_who_waits_is_told_where_nothing_is_kept[code]
_SourcesCache._save_overload: if hash_of_sources(self._source) == _imported(self._source): ==> if True:
    test_compiled_code.py::test_nothing_is_kept_once_a_source_has_changed_under_the_process
_imported: hash_of_sources(source) ==> source
    test_compiled_code.py::test_files_are_named_by_the_hash
hash_of_sources: *sorted(made_from(source)) ==> source
    test_compiled_code.py::test_the_hash_is_that_of_all_that_a_file_is_made_from
made_from: .union(*map(made_from, USES[source])) ==> .union(USES[source])
    test_compiled_code.py::test_the_hash_is_that_of_all_that_a_file_is_made_from
_remove_stale: != _imported ==> == _imported
    test_compiled_code.py::test_stale_files_are_removed_and_those_of_others_are_not
# exact/deciding.py: points count as deeper or less deep than they are.
Refutation.longest_facet: facet = self.facet() ==> facet = [1, 0, 0]
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
# release.py: something is spent twice, not at all, or vouched for without having been paid.
Seal.__eq__: self._told == other._told ==> self.guarantee == other.guarantee
    trusted/test_charges.py::test_seals_are_equal_where_they_vouch_for_the_same
Seal.__hash__: hash(self._told) ==> id(self)
    trusted/test_charges.py::test_seals_are_equal_where_they_vouch_for_the_same
Seal._told: None if self.guarantee is None else self.guarantee.zcdp ==> None
    trusted/test_charges.py::test_seals_are_equal_where_they_vouch_for_the_same
# streams/streamed_levels.py: streamed level sets are not those of the definition.
StreamedLevels.table: raise LookupError ==> return LookupError
    depth/test_streamed_levels.py::test_what_is_not_held_is_not_handed_out
StreamedLevels.projections: raise LookupError ==> return LookupError
    depth/test_streamed_levels.py::test_what_is_not_held_is_not_handed_out
StreamedLevels.with_directions: raise LookupError ==> return LookupError
    depth/test_streamed_levels.py::test_what_is_not_held_is_not_handed_out
# threads.py: an item is lost, or a failure: what comes first depends on timing.
ForkLock.__init__: after_in_child=self._renew ==> after_in_child=lambda: None
    test_threads.py::test_a_child_of_a_fork_has_a_lock_that_nobody_holds
ForkLock._renew: self.lock = threading.RLock() ==> self.lock = getattr(self, "lock", threading.RLock())
    test_threads.py::test_a_child_of_a_fork_has_a_lock_that_nobody_holds
"""

MUTANTS = tuple(read(TABLE))
