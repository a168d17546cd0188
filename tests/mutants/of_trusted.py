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
# account.py: guarantees are added up or told wrongly.
Concentrated.__post_init__: self.rho <= 0: ==> self.rho <= 1:
    data/test_streams.py::test_rows_and_columns_are_no_chunks[numbers]
Concentrated.__add__: self.delta + other.delta ==> self.delta - other.delta
    planning/test_composition.py::test_sums_of_guarantees_add_deltas_and_epsilons
_Composable.__radd__: == 0 ==> == 1
    trusted/test_account.py::test_parts_cost_their_sum_and_a_person_is_a_row_of_what_a_mechanism_sees
PureDP.to_dict: [self.neighbours][1] ==> [self.neighbours][0]
    trusted/test_account.py::test_a_pure_guarantee_says_what_it_is
PureDP.__str__: show(self.epsilon) ==> show(self.epsilon / 2)
    trusted/test_account.py::test_a_pure_guarantee_says_what_it_is
ApproxDP.__post_init__: **2 / 2, self.delta ==> **2, self.delta
    planning/test_composition.py::test_sums_of_guarantees_add_deltas_and_epsilons
ApproxDP.to_dict: float(self.delta) ==> float(self.delta**2)
    trusted/test_account.py::test_an_approximate_guarantee_says_what_it_is
ApproxDP.__str__: show(self.delta) ==> show(self.delta / 2)
    trusted/test_account.py::test_an_approximate_guarantee_says_what_it_is
cost_of: sum(parts.values()) ==> max(parts.values(), key=lambda part: part.epsilon)
    trusted/test_account.py::test_parts_cost_their_sum_and_a_person_is_a_row_of_what_a_mechanism_sees
stated: guarantee is None ==> guarantee == ""
    trusted/test_account.py::test_tables_and_titles_say_where_there_is_none
epsilon_stated: show(guarantee.epsilon) ==> show(guarantee.epsilon / 2)
    trusted/test_account.py::test_tables_and_titles_say_where_there_is_none
about_persons: guarantee is None ==> guarantee is not None
    audit/test_groups_of_everything.py::test_persons_groups_and_secret_sizes_compose[cube]
relation_of: neighbours.removesuffix(_PERSON) ==> neighbours
    trusted/test_account.py::test_parts_cost_their_sum_and_a_person_is_a_row_of_what_a_mechanism_sees
delta_of: isinstance(guarantee, ApproxDP) ==> False
    trusted/test_charges.py::test_a_charge_covers_its_law_or_raises
# bits.py: random bits repeat, are guessed, or are not uniform.
SystemRandomness.__init__: b"" ==> b"?"
    test_randomness.py::test_the_first_key_is_another_one_than_the_one_before_it
SeededRandomness.__init__: ("seed", ==> ("x",
    test_randomness.py::test_only_our_sources_are_taken
SeededRandomness.__reduce__: (self._seed, self._used) ==> (self._seed, 0)
    test_randomness.py::test_a_copy_of_a_seeded_source_goes_on_by_itself
_seeded_at: source._used = used ==> source._used = 0
    test_randomness.py::test_a_copy_of_a_seeded_source_goes_on_by_itself
seeded: SeededRandomness(seed) ==> None
    trusted/test_charges.py::test_a_part_is_handed_out_once_and_no_other_part_at_all
source: not isinstance(randomness, SystemRandomness | SeededRandomness) ==> False
    test_randomness.py::test_only_our_sources_are_taken
derived_key: "tukeydp", *parts ==> *parts, "tukeydp"
    depth/test_levels.py::test_directions_that_reject_are_tested_first_from_then_on
Keystream.__init__: AES256(key) ==> AES256(bytes(len(key)))
    sampling/test_coarse.py::test_draws_follow_the_exponential_mechanism[plain]
Keystream.words: self._lane(lane).update_into(bytes(8 * count), out) ==> pass
    test_randomness.py::test_lanes_differ_and_repeat
Keystream.bits: Bits(self._lane(lane)) ==> None
    exact/test_weighted_draw.py::test_enormous_exponents_and_sizes
Bits.__init__: self._have = 0, 0 ==> self._have = 1, 0
    test_randomness.py::test_a_lane_is_the_aes_keystream_whether_read_in_words_or_in_bits
Bits.take: bytes(8 * ==> bytes(7 *
    test_randomness.py::test_a_lane_is_the_aes_keystream_whether_read_in_words_or_in_bits
# blocks.py: a row moves more than one block, or the dealing is known.
block_table: parts.append(statistic(dealt[: larger * (size + 1)].reshape(larger, size + 1, d))) ==> pass
    mechanisms/test_regression.py::test_with_bounds_on_the_coefficients_it_is_pure
dealt_rows: ends[:-1] ==> ends[:1]
    audit/test_groups_of_everything.py::test_persons_groups_and_secret_sizes_compose[aggregate]
drawn_block_table: np.concatenate([[0], np.cumsum ==> np.concatenate([[1], np.cumsum
    audit/test_groups_of_everything.py::test_rows_of_no_group_are_in_no_block
one_by_one: np.concatenate([statistic(block[np.newaxis]) for block in blocks]) ==> None
    audit/test_groups_of_everything.py::test_persons_groups_and_secret_sizes_compose[spread]
filled_at_the_ends: ), 1.0, - ==> ), 2.0, -
    audit/test_grouped_means.py::test_rows_without_a_value_stay_missing_and_others_are_filled_by_place
# boxes.py: sets are not as large as the sampler takes them to be, or not drawn from evenly.
Box.size: math.prod(max( ==> math.prod(min(
    exact/test_lattice.py::test_a_slanted_box_holds_as_many_grid_points_as_its_size
Box.point: self.basis is None ==> self.basis is not None
    exact/test_lattice.py::test_a_slanted_box_holds_as_many_grid_points_as_its_size
Box.uniform: - a + 1) for ==> - a) for
    sampling/test_tilted.py::test_draws_follow_the_exponential_mechanism[upright]
Box.holds: all(a <= c < ==> all(a < c <
    sampling/test_envelope.py::test_slices_at_astronomical_epsilons[inf]
Box.meet: map(max, ==> map(min,
    sampling/test_words.py::test_no_slanted_box_is_kept_whose_points_overflow[29]
Union.first: self.start - 1 ==> self.start
    sampling/test_listing.py::test_a_union_may_begin_behind_other_pieces
Union.size: ) - self.first ==> ) + self.first
    sampling/test_listing.py::test_a_union_may_begin_behind_other_pieces
Union.uniform: self.first + bits.below ==> self.first - bits.below
    sampling/test_listing.py::test_a_union_may_begin_behind_other_pieces
Union.point: ="right" ==> ="left"
    sampling/test_listing.py::test_a_union_may_begin_behind_other_pieces
Union.holds: 1).any() ==> 1).all()
    sampling/test_listing.py::test_a_union_may_begin_behind_other_pieces
whole_grid: grid.low ==> grid.high
    test_randomness.py::test_other_users_of_the_solver_are_not_disturbed
# certificates.py: a hint is believed: covers miss points of their level.
in_integers: multipliers.rows, multipliers.values ==> multipliers.values, multipliers.rows
    sampling/test_tilted.py::test_tilting_makes_a_box_of_a_corner_small
_integer: number, SHIFT ==> SHIFT, number
    sampling/test_tilted.py::test_tilting_makes_a_box_of_a_corner_small
upper_bound: return weighted_bound( ==> return -weighted_bound(
    sampling/test_envelope.py::test_multipliers_of_either_sign_give_valid_and_sometimes_tight_bounds[0]
proves_empty: known) < 0 ==> known) <= 0
    sampling/test_envelope.py::test_any_multipliers_give_a_valid_bound
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
    test_compiled_code.py::test_words_wrap_around_in_python_too
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
# covers.py: covers miss points of their level, or have them twice: the law is wrong.
Cover.__init__: proof is not _PROVEN ==> False
    sampling/test_hostile_hints.py::test_nobody_else_makes_a_cover
Cover.__setattr__: raise AttributeError("covers are never changed") ==> return None
    sampling/test_hostile_hints.py::test_nobody_else_makes_a_cover
Cover.__init_subclass__: raise TypeError("covers are made by Covers only") ==> return None
    sampling/test_hostile_hints.py::test_nobody_else_makes_a_cover
Cover.size: sum(part.size for part in self.parts) ==> None
    sampling/test_words.py::test_no_slanted_box_is_kept_whose_points_overflow[8]
Listed.__init__: proof is not _PROVEN ==> proof is _PROVEN
    sampling/test_listing.py::test_deep_answers_to_eleven_questions_are_those_that_brute_force_finds
View.__init__: levels.d, levels.rows ==> levels.rows, levels.d
    sampling/test_tilted.py::test_a_basis_that_is_singular_to_floats_is_no_error
View.held: self._levels.held ==> self._levels.held - 1
    depth/test_levels.py::test_memory_stays_below_the_projections
View.rough: return self._levels.rough ==> return self._levels
    trusted/test_covers.py::test_small_parts
View.offsets: (smallest ==> (largest
    sampling/test_parallelepipeds.py::test_nobody_is_warned_of_a_level_that_is_far_thinner_one_way_than_another
View.depths: points, least ==> least, points
    sampling/test_listing.py::test_lists_of_skewed_scores_take_little_and_leave_few_tries[12]
View.ranks: self._levels, lowest ==> lowest, self._levels
    sampling/test_branches.py::test_numbers_that_do_not_fit_in_words_plant_no_tree
Covers.__init__: (i == j) ==> (i != j)
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers.top: self._top ==> self._top + 1
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers.levels: self._levels ==> None
    depth/test_exact_depth.py::test_degenerate_data_gives_a_draw[x1]
Covers.axes: sorted({j for _, j, _ in self._axes}) ==> None
    sampling/test_hostile_hints.py::test_what_would_be_wrong_is_noticed[multipliers not checked]
Covers.along_axes_only: ) == len ==> ) != len
    sampling/test_words.py::test_no_slanted_box_is_kept_whose_points_overflow[8]
Covers.unbroken: found + 1 ==> found
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers.whole: 0, [self.within] ==> [self.within], 0
    sampling/test_hostile_hints.py::test_what_would_be_wrong_is_noticed[a wrong size]
Covers.boxed: if not 0 < level ==> if not 1 < level
    sampling/test_words.py::test_no_slanted_box_is_kept_whose_points_overflow[8]
Covers.proves_empty: ] * self._levels.d ==> ]
    sampling/test_words.py::test_no_slanted_box_is_kept_whose_points_overflow[8]
Covers.own: maximum(region, self._units[j]) ==> region
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers.own_top: ) is not None ==> ) is None
    trusted/test_covers.py::test_the_top_without_hints_is_that_of_the_region
Covers.framed: = tuple(map(max, low, map ==> = tuple(map(min, low, map
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers.listed: not (1 < ==> not (2 <
    sampling/test_listing.py::test_deep_answers_to_eleven_questions_are_those_that_brute_force_finds
Covers._unions: start, self._made(start, [union], hull) ==> self._made(start, [union], hull), start
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers._parts_of: coordinate + 1 ==> coordinate
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers._caps: = min(count ==> = max(count
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Covers.in_its_hull: self._made(cover.level ==> self._made(cover.level - 1
    trusted/test_covers.py::test_levels_and_covers_that_are_none_are_the_whole
Covers._ours:  and cover.of is self ==>
    trusted/test_covers.py::test_levels_and_covers_that_are_none_are_the_whole
Covers._hull: known.level <= level ==> known.level >= level
    trusted/test_covers.py::test_levels_and_covers_that_are_none_are_the_whole
Covers._checked: max(operator.index(level), 0) ==> operator.index(level)
    trusted/test_covers.py::test_levels_and_covers_that_are_none_are_the_whole
Covers._pairs:  or len(supports) != count ==>
    trusted/test_covers.py::test_pairs_bases_and_frames_are_checked
Covers._tightened: pairs and box.size ==> not pairs and box.size
    trusted/test_covers.py::test_ranges_hold_every_point_and_multipliers_make_them_tight
Covers._ranges: [-c for c in objective] ==> list(objective)
    trusted/test_covers.py::test_ranges_hold_every_point_and_multipliers_make_them_tight
Covers._basis: inverted[1] == 1 ==> inverted[1] >= 1
    trusted/test_covers.py::test_pairs_bases_and_frames_are_checked
Covers._frame: 0 <= row < len ==> row < len
    trusted/test_covers.py::test_pairs_bases_and_frames_are_checked
region_of: *(-low).tolist() ==> *low.tolist()
    trusted/test_covers.py::test_members_of_a_level_and_its_region
fits_in_words: sum(abs(a) * z ==> max(abs(a) * z
    trusted/test_covers.py::test_slanted_points_fit_in_words_or_not
tilt: // 2 + 1 ==> // 2
    trusted/test_covers.py::test_a_tilt_is_a_slope_for_each_column_and_what_bounds_it
coordinates_of: box.basis.matrix ==> box.basis.inverse
    trusted/test_covers.py::test_small_parts
walk_of: -reach[moving] ==> reach[moving]
    trusted/test_covers.py::test_a_walk_goes_through_columns_of_more_than_a_point
_ranks: min(lowest - 1, levels.rows - highest) ==> lowest - 1
    trusted/test_covers.py::test_caps_and_claims_hold_for_every_point_of_a_box
_largest_projections: max(abs(a), abs(b)) ==> min(abs(a), abs(b))
    trusted/test_covers.py::test_caps_and_claims_hold_for_every_point_of_a_box
_claims_hold: total < 0 ==> total <= 0
    trusted/test_covers.py::test_caps_and_claims_hold_for_every_point_of_a_box
_own_caps: np.minimum(below, above) ==> np.maximum(below, above)
    trusted/test_covers.py::test_caps_and_claims_hold_for_every_point_of_a_box
_members: projected <= largest[some] ==> projected < largest[some]
    trusted/test_covers.py::test_members_of_a_level_and_its_region
_points_in: a + place ==> place
    trusted/test_covers.py::test_small_parts
_axis_rows: axis=1) == 1) ==> axis=1) >= 1)
    trusted/test_covers.py::test_small_parts
_rough: return math.inf ==> return 0.0
    trusted/test_covers.py::test_small_parts
_with: ends[column + 1 :] ==> ends[column:]
    trusted/test_covers.py::test_small_parts
_read_only: writeable = False ==> writeable = True
    trusted/test_covers.py::test_small_parts
_plain: not in (list, tuple, range, np.ndarray) ==> in (str, dict)
    trusted/test_covers.py::test_plain_data_is_taken_and_nothing_else
_integer_array: found.dtype.kind == "i" and ==> found.dtype.kind != "f" and
    trusted/test_covers.py::test_plain_data_is_taken_and_nothing_else
_integer_rows: abs(entry) < LIMIT ==> abs(entry) <= LIMIT
    trusted/test_covers.py::test_plain_data_is_taken_and_nothing_else
_rates: np.clip(found, -_STEEPEST, _STEEPEST) if ==> found if
    trusted/test_covers.py::test_plain_data_is_taken_and_nothing_else
# directions.py: projections overflow, or directions are not those that were proven.
unit_vectors: 2.0**-53 ==> 2.0**53
    depth/test_ray_facets.py::test_rays_leave_where_the_nearest_facet_is[20-3-4]
integers_along: - 1 - sum( ==> - 1 + sum(
    depth/test_notions.py::test_vectors_are_in_data_units
require_spanning: rank < d ==> False
    depth/test_flats.py::test_rem_refuses_directions_that_do_not_span_whatever_the_data[0-depth2]
as_fractions: [[Fraction(c) for c in row] for row in vectors.tolist()] ==> None
    depth/test_notions.py::test_there_are_as_many_as_announced_on_the_grid_and_off_it[None-True-1-Spread]
# exact/deciding.py: points count as deeper or less deep than they are.
NearRows.point: ) + self._origin ==> ) - self._origin
    sizes/test_thin_level_sets.py::test_coordinates_of_the_rows_lead_back_to_the_grid
near_rows: moved.min ==> moved.max
    sizes/test_thin_level_sets.py::test_coordinates_of_the_rows_lead_back_to_the_grid
_basis: (axis=0) ==> (axis=1)
    sizes/test_thin_level_sets.py::test_coordinates_of_the_rows_lead_back_to_the_grid
Surroundings.depth: self.here + least_weight ==> self.here - least_weight
    depth/test_exact_depth.py::test_depth_is_brute_force_under_ties_and_collinear_points[1-8]
Refutation.exact_normal: [int(c) for c in ==> [-int(c) for c in
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
Refutation.longest: self.exact_normal() ==> [-c for c in self.exact_normal()]
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
Refutation.longest_facet: facet = self.facet() ==> facet = [1, 0, 0]
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
Refutation._with_room: np.array([normal] ==> -np.array([normal]
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
GridDepth.__init__: counts.astype(np.int64) ==> np.ones_like(counts)
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
GridDepth.refute: answer is None ==> answer is not None
    depth/test_ray_facets.py::test_a_facet_parts_a_point_between_grid_points_too[0]
GridDepth.parted: ).max(axis ==> ).min(axis
    depth/test_ray_facets.py::test_normals_part_points_of_the_grid_from_what_is_deep[5]
GridDepth.cuts: ] or [refutation.exact_normal()] ==> ]
    depth/test_hints.py::test_whatever_hints_answer_decisions_are_those_of_the_definition[nothing]
GridDepth._ranked: level + 1 ==> level
    sizes/test_thin_level_sets.py::test_the_count_is_that_of_the_definition[two columns-0]
GridDepth.depth: , 0).depth ==> , 1).depth
    depth/test_cones.py::test_the_decision_with_and_without_cones_is_the_same_near_planes_and_ties[4-18]
GridDepth._around: ) - where.astype ==> ) + where.astype
    depth/test_ray_facets.py::test_normals_part_points_of_the_grid_from_what_is_deep[5]
GridDepth.fits: sum(abs(c) * ==> sum(c *
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
GridDepth.lighter: [v for v in rounded ==> [-v for v in rounded
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
GridDepth.parting_facet: ) * (1 << bits ==> ) * (0 << bits
    depth/test_ray_facets.py::test_a_facet_parts_a_point_between_grid_points_too[0]
GridDepth.exact_weight_beyond: bits >= int ==> bits > int
    depth/test_hints.py::test_whatever_hints_answer_decisions_are_those_of_the_definition[a list]
GridDepth._weight_beyond: normal >= at ==> normal <= at
    depth/test_exact_depth.py::test_halfspaces_that_refute_have_fewer_rows_by_definition
_shadow: vectors.dtype == np.int64 ==> vectors.dtype != np.int64
    depth/test_ray_facets.py::test_normals_part_points_of_the_grid_from_what_is_deep[5]
rounded_normals: keepdims=True) ==> keepdims=False)
    depth/test_ray_facets.py::test_normals_part_points_of_the_grid_from_what_is_deep[5]
starting_directions: , _STARTING_BEYOND ==>
    depth/test_flats.py::test_exact_depth_in_thousands_of_columns_needs_a_coarser_grid
require_exact_differences: max(grid.cells) >= 2**52 ==> False
    depth/test_exact_depth.py::test_too_fine_a_grid_for_exact_depth_is_refused
first_envelope: rows.shape[1] ==> rows.shape[2]
    sizes/test_half_cells.py::test_the_cells_around_a_copys_corners_are_looked_at[5]
_whitening: rows.shape[1] ==> rows.shape[2]
    sizes/test_half_cells.py::test_the_cells_around_a_copys_corners_are_looked_at[5]
# exact/depth.py: points count as deeper or less deep than they are.
round_frame: (-np.rint ==> (np.rint
    depth/test_cones.py::test_vectors_a_step_off_a_plane_are_round_in_their_frame
_axes: ).max(axis ==> ).min(axis
    depth/test_cones.py::test_vectors_a_step_off_a_plane_are_round_in_their_frame
spread_evenly: ).max(initial ==> ).min(initial
    depth/test_hints.py::test_a_matrix_that_cannot_be_inverted_is_no_other_coordinates
_work: return min( ==> return max(
    depth/test_cones.py::test_a_search_that_takes_too_long_or_too_much_room_is_left_to_the_sweeps
least_weight: = min(plus ==> = max(plus
    depth/test_exact_depth.py::test_depth_is_brute_force_under_ties_and_collinear_points[1-8]
_decided: 4 or m ** (d - 1) > _FEW_KEYS ==> 4
    depth/test_cones.py::test_large_tables_are_refuted_by_descent_with_a_normal_of_integers
_in_plane: ) if not any(sum(map(mul, normal, v)) for normal in normals) ==> )
    depth/test_cones.py::test_rows_in_a_plane_through_the_point_are_counted_together
_closed_weight: ) if sum(map(mul, normal, vectors.exactly(j))) >= 0 ==> )
    depth/test_cones.py::test_large_tables_are_refuted_by_descent_with_a_normal_of_integers
_by_recursion: min(same, opposite) ==> same
    depth/test_exact_depth.py::test_five_columns
# exact/loops.py: points count as deeper or less deep than they are.
_filled: index_bits - 1 ==> index_bits
    trusted/test_kernels.py::test_hostile_arguments
angle_keys: np.abs(a) ==> a
    trusted/test_kernels.py::test_hostile_arguments
fill_keys: index_bits - 1 ==> index_bits
    trusted/test_kernels.py::test_hostile_arguments
_scanned: index_bits - 1 ==> index_bits
    trusted/test_kernels.py::test_hostile_arguments
sweep: index_bits + 1 ==> index_bits
    trusted/test_kernels.py::test_hostile_arguments
doubled: max(largest) < _EXACT ==> max(largest) < _EXACT**9
    trusted/test_kernels.py::test_twice_the_digits_are_close_to_fractions[150]
_two: (numerator * bottom - top * denominator) / (denominator * bottom) ==> 0.0
    trusted/test_kernels.py::test_twice_the_digits_are_close_to_fractions[150]
minor: -z, -w ==> -z, w
    trusted/test_kernels.py::test_twice_the_digits_are_close_to_fractions
sum_of_products: c = columns[i] ==> c = columns[0]
    trusted/test_kernels.py::test_twice_the_digits_are_close_to_fractions
_half: large - (large - a) ==> a
    trusted/test_kernels.py::test_twice_the_digits_are_close_to_fractions
_tidy: low - (total - high) ==> low
    trusted/test_kernels.py::test_twice_the_digits_are_close_to_fractions
_filled_ties: index_bits - 1 ==> index_bits
    trusted/test_kernels.py::test_hostile_arguments
fill_chosen: index_bits - 1 ==> index_bits
    trusted/test_kernels.py::test_hostile_arguments
_project: abs(minor(u, v, a, b)[0]) ==> minor(u, v, a, b)[0]
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition[3-8]
_scanned_ties: here).min() ==> here).max()
    trusted/test_kernels.py::test_hostile_arguments
_all_coincide: % p - s[1 ==> % p + s[1
    trusted/test_kernels.py::test_hostile_arguments
_minors: range(a + 1, 4 ==> range(a, 4
    trusted/test_kernels.py::test_hostile_arguments
_all_inside: vectors.residues[q, k] ==> vectors.residues[k, q]
    trusted/test_kernels.py::test_hostile_arguments
_coincide: % p - s[1 ==> % p + s[1
    trusted/test_kernels.py::test_hostile_arguments
_searched: , np.newaxis]).all(axis=1), ==> , np.newaxis]).any(axis=1),
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition[2-9]
_edge: range(a + 1, d ==> range(a, d
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition[2-9]
_choose_edge: range(a + 1, d ==> range(a, d
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition[2-9]
# exact/sweeps.py: points count as deeper or less deep than they are.
swept: threads or available_cores() ==> threads
    depth/test_exact_depth.py::test_huge_and_tiny_coordinates[1e-160]
Search.__init__: vectors.shadow.shape[1] ==> vectors.shadow.shape[2]
    depth/test_exact_depth.py::test_huge_and_tiny_coordinates[1e-160]
Search.rows: (axis=1) ==> (axis=2)
    depth/test_exact_depth.py::test_huge_and_tiny_coordinates[1e-160]
Search.pairs: self._vectors.shadow, self._vectors.weights ==> self._vectors.weights, self._vectors.shadow
    depth/test_exact_depth.py::test_depth_does_not_change_under_affine_maps[14-4]
Search.doubts: len(self._doubtful()) ==> len(self._doubtful()) + 1
    depth/test_hints.py::test_more_vectors_than_keys_have_room_for_are_done_in_integers[2]
Search.settle_ties: lightest.best, lightest.place ==> lightest.place, lightest.best
    depth/test_exact_depth.py::test_opposite_vectors_of_unlike_length_are_on_two_sides[3-0]
Search._below: self._enough ==> True
    depth/test_hints.py::test_more_vectors_than_keys_have_room_for_are_done_in_integers[2]
Search._doubtful: sorted(doubt for block in blocks for doubt in ==> (doubt for block in blocks for doubt in
    depth/test_exact_depth.py::test_huge_and_tiny_coordinates[1e-160]
Search._until_refuted: block.best < self._at_least ==> block.best > self._at_least
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition
Search.answer: best, place = lightest.best, ==> best, place = lightest.best + 1,
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition
Search._normal: place) < 2: ==> place) < 1:
    depth/test_exact_depth.py::test_outside_inside_and_at_a_corner
Search._refuted: self._best < self._at_least ==> True
    depth/test_exact_depth.py::test_huge_and_tiny_coordinates[1e-160]
Search._sweep: bits = max(1, ==> bits = min(1,
    depth/test_exact_depth.py::test_depth_does_not_change_under_affine_maps[60-2]
Search._collect: np.argmin(bounds[:, 1]) ==> np.argmax(bounds[:, 1])
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition
_projected: shadow - np.outer ==> shadow + np.outer
    depth/test_exact_depth.py::test_depth_does_not_change_under_affine_maps[14-4]
exact_row: [exact[j] for j in order] ==> [exact[j - 1] for j in order]
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition[3-8]
tied_rows: , (low, high)) ==> , (high, low))
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
_primitive: integers([[int(c) // math.gcd(*v) for c in v] for v in exact]) ==> None
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
_exactly: ((m + 1, 4 ==> ((m, 4
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
_coprime: **31 - 1 ==> **31
    depth/test_tied_rows.py::test_moduli_are_coprime_and_exceed_every_determinant
_swept: bits = max(1, ==> bits = min(1,
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
_least_within: np.minimum(same, opposite) ==> np.maximum(same, opposite)
    trusted/test_kernels.py::test_sweeps_and_cones_are_right_by_definition[4-7]
_telling: ]).any() ==> ]).all()
    depth/test_exact_depth.py::test_opposite_vectors_of_unlike_length_are_on_two_sides[4-0]
# exact/vectors.py: points count as deeper or less deep than they are.
exact_space: if v[0] > 0 ==> if v[0] < 0
    depth/test_exact_depth.py::test_the_recursion_in_integers_is_right_by_definition[1]
least_along: if any(projected): ==> if all(projected):
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
_lifted_exactly: most * c + towards * e ==> most * c - towards * e
    depth/test_exact_depth.py::test_the_recursion_in_integers_is_right_by_definition
largest: return max( ==> return min(
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
project: * u[k] - u[c] * v[k] ==> * u[k] + u[c] * v[k]
    depth/test_exact_depth.py::test_the_recursion_in_integers_is_right_by_definition
exact_plane: normal = min((best ==> normal = max((best
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
_lighter_side: = whole - left else ==> = whole + left else
    depth/test_tied_rows.py::test_near_ties_are_not_taken_for_ties[1099511627776]
_by_angle: [1] - p[ ==> [1] + p[
    depth/test_hints.py::test_more_vectors_than_keys_have_room_for_are_done_in_integers[2]
Vectors.total: int(self.weights.sum()) ==> int(self.weights.sum()) + 1
    depth/test_exact_depth.py::test_depth_is_brute_force_under_ties_and_collinear_points[1-8]
from_integers: , 0) + w ==> , 0) - w
    depth/test_hints.py::test_a_halfspace_that_nobody_counted_would_be_noticed
from_floats: if len(rows) and not ==> if not
    depth/test_exact_depth.py::test_depth_is_brute_force_under_ties_and_collinear_points[1-8]
look_flat: ] or not values[-1] > _FLAT * values[0] ==> ]
    depth/test_flats.py::test_normals_of_the_hull_hold_all_rows_and_there_are_as_many_as_there_should_be
spanning_rows: if all(vector ==> if any(vector
    depth/test_flats.py::test_a_span_is_found_exactly_where_floats_would_not
_combination: ] * common ==> ]
    depth/test_flats.py::test_a_span_is_found_exactly_where_floats_would_not
pivot_columns: row) if c) ==> row))
    depth/test_flats.py::test_normals_of_the_hull_hold_all_rows_and_there_are_as_many_as_there_should_be
orthogonal_integers: ) if j not in pivots ==> )
    depth/test_flats.py::test_normals_of_the_hull_hold_all_rows_and_there_are_as_many_as_there_should_be
normals_of_hull: ).any(axis ==> ).all(axis
    depth/test_flats.py::test_normals_of_the_hull_hold_all_rows_and_there_are_as_many_as_there_should_be
in_span: vectors.weights, exact ==> vectors.weights + 1, exact
    depth/test_exact_depth.py::test_a_copied_column_of_long_entries_is_decided_exactly[0]
spread_out: len(normals), d ==> d, len(normals)
    depth/test_exact_depth.py::test_a_copied_column_of_long_entries_is_decided_exactly[0]
# exponential.py: the law is not that of the exponential mechanism.
Exponential.__init__: = covers, epsilon ==> = covers, 2 * epsilon
    sampling/test_coarse.py::test_draws_follow_the_exponential_mechanism[plain]
Exponential.draw: Keystream(key), 0 ==> Keystream(bytes(32)), 0
    sampling/test_coarse.py::test_draws_follow_the_exponential_mechanism[plain]
Exponential.next_accepted: if accepted is not None ==> if True
    sampling/test_law.py::test_boxes_refined_in_the_middle_of_a_draw_leave_the_law_alone
Exponential.accepted_soon: self._covers.top < self._lowest ==> self._covers.top <= self._lowest
    trusted/test_covers.py::test_a_level_without_points_is_not_drawn_and_patience_is_at_least_one_proposal
Exponential._planned: except Exception as raised ==> except ValueError as raised
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
Exponential._searching: self._epsilon, self._word_bits ==> 2 * self._epsilon, self._word_bits
    sampling/test_coarse.py::test_draws_follow_the_exponential_mechanism[plain]
checked: start <= covers.top and cover.level <= start ==> start <= covers.top
    trusted/test_covers.py::test_a_ladder_is_made_of_covers_of_their_levels_alone
groups_of: start - 1 for start ==> start for start
    sampling/test_hostile_hints.py::test_hostile_hints_make_covers_all_the_same
_drawable:  and (i or len(cover.parts) == 1) ==>
    trusted/test_covers.py::test_groups_are_consecutive_and_the_lowest_level_has_one_part
own_rungs: step = max(1, ==> step = min(1,
    sampling/test_hostile_hints.py::test_the_ladder_is_ours_where_a_plan_draws_in_vain
lighter: operator.itemgetter(0)) - 1] ==> operator.itemgetter(0)) - 2]
    trusted/test_covers.py::test_of_two_ladders_each_level_has_the_smaller_cover
_patience: max(1.0, number) ==> number
    trusted/test_covers.py::test_a_level_without_points_is_not_drawn_and_patience_is_at_least_one_proposal
Search.__init__: for group, _ in groups], epsilon) ==> for group, _ in groups], 2 * epsilon)
    sampling/test_coarse.py::test_draws_follow_the_exponential_mechanism[plain]
Search.run: (stream, lane, count, threads), lane ==> (stream, lane + 1, count, threads), lane
    trusted/test_covers.py::test_of_numbered_lanes_the_first_that_accepts_is_taken
Search._lane_words: 4 * (self._levels.d + 32) ==> 4 * self._levels.d
    trusted/test_covers.py::test_of_numbered_lanes_the_first_that_accepts_is_taken
# hinted.py: a hint writes, raises or is believed.
offer: OFFERED.update(hints) ==> pass
    trusted/test_hinted.py::test_a_hint_answers_or_there_is_none
asked: except Exception: ==> except LookupError:
    trusted/test_hinted.py::test_a_hint_answers_or_there_is_none
_copied: value.copy() ==> value
    trusted/test_hinted.py::test_a_hint_warns_nobody_and_writes_into_nothing
finite_rows: rows[np.isfinite(rows).all(axis=1)] if ==> rows if
    trusted/test_hinted.py::test_rows_that_are_not_finite_are_left_out
integer_vector:  and any(answer) ==>
    trusted/test_hinted.py::test_a_vector_of_whole_numbers_is_a_list_of_them_and_not_all_zero
# lanes.py: words of one lane serve two proposals, or mean other levels.
in_lane: IN_LANES[min( ==> IN_LANES[max(
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
level_and_box: int(proposals.level[row]), int(proposals.box[row ==> int(proposals.box[row]), int(proposals.level[row
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
# laws.py: noise and draws have another law than the one that is paid for.
Bracket.trimmed: excess, -(- ==> excess, (-
    exact/test_weighted_draw.py::test_a_word_at_an_edge_is_decided_by_those_that_follow[1]
Bracket.times: self.exponent + other.exponent ==> self.exponent - other.exponent
    exact/test_level_draw.py::test_powers_are_enclosed_however_few_bits[7/3-6]
Bracket.fixed: shift = min(-shift ==> shift = max(-shift
    exact/test_level_draw.py::test_coarse_tables_enclose_the_law_too[groups1-1-4-0]
exp_bracket: term_high = -(-term_high ==> term_high = (-term_high
    exact/test_level_draw.py::test_powers_are_enclosed_however_few_bits[7/3-6]
rounded_down: ) - bits ==> ) + bits
    sizes/test_level_sizes.py::test_a_correlated_set_is_measured_by_its_ellipsoid
exp_between: (1 / high, 1 / low) ==> (1 / low, 1 / high)
    exact/test_brackets.py::test_exp_between_encloses_to_about_so_many_bits
log_between: ((m - 1) / ==> ((m) /
    planning/test_composition.py::test_leaving_the_choice_of_accounting_to_results_would_break_the_budget
_twice_artanh: power_high = -((- ==> power_high = ((-
    planning/test_composition.py::test_no_adaptive_adversary_exceeds_the_budget[conversion2]
discrete_laplace: raise ParameterError("scale", "must be > 0", scale) ==> return None
    exact/test_noise.py::test_a_scale_that_is_not_positive_is_refused[scale2]
_laplace: scale.numerator, scale.denominator ==> scale.denominator, scale.numerator
    exact/test_noise.py::test_discrete_laplace_samples_have_the_law
geometric: scale.numerator, scale.denominator ==> scale.denominator, scale.numerator
    exact/test_noise.py::test_geometric_samples_have_the_law
_geometric: whole = 0 ==> whole = 1
    exact/test_noise.py::test_the_geometric_draw_has_its_law_by_enumeration[1]
bernoulli_exp: return all( ==> return any(
    exact/test_noise.py::test_the_coin_has_its_probability[0-1]
WeightedDraw.__init__: or min(sizes ==> or max(sizes
    exact/test_weighted_draw.py::test_wrong_sizes_are_refused[sizes1]
WeightedDraw.draw: while True: ==> while False:
    exact/test_weighted_draw.py::test_a_word_at_an_edge_is_decided_by_those_that_follow[1]
WeightedDraw._cumulative: bits + _GUARD_BITS ==> bits - _GUARD_BITS
    exact/test_weighted_draw.py::test_draws_have_the_law[1]
LevelDraw.__init__: self.epsilon = epsilon ==> self.epsilon = 2 * epsilon
    exact/test_level_draw.py::test_words_decide_a_level_only_where_it_is_certain
LevelDraw.word_table: rows.ceiling[i - 1] if ==> rows.ceiling[i] if
    exact/test_level_draw.py::test_words_decide_a_level_only_where_it_is_certain[groups1-1-64]
LevelDraw._rows: bits not in self._tables ==> bits in self._tables
    exact/test_level_draw.py::test_words_decide_a_level_only_where_it_is_certain[groups1-1-64]
# levels.py: level sets are not those of the definition: a swap may move depth by more than one.
_number_kinds: _SHORT / 2 else np.int64 ==> _SHORT / 2 else np.int32
    depth/test_selection.py::test_numbers_are_computed_in_floats_only_where_floats_are_exact
_enclosing: :: max(1 ==> :: min(1
    depth/test_selection.py::test_a_sample_that_says_nothing_about_the_rows_costs_time_only[short]
_counted: some.shape[1] - np.count_nonzero ==> some.shape[1] - 1 - np.count_nonzero
    trusted/test_levels.py::test_middle_ranks_are_those_of_sorting
Window.holds: self.first < level ==> self.first <= level
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.__init__: directions, sample ==> sample, directions
    sampling/test_breaks.py::test_estimates_see_a_break
LevelSets.d: shape[1] ==> shape[0]
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.rows: len(self._table) ==> len(self._table) - 1
    sampling/test_breaks.py::test_estimates_see_a_break
LevelSets.table: return self._table ==> return self._table[1:]
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.window: return self._window ==> return self.ensure(1)
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.held: first + 1 ==> first
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.projections: self.ensure(1) ==> self.ensure(self.held)
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.rough: return None ==> return self
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.ensure: if not self._window.holds(level) ==> if not self._window.holds(self.held)
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets._wider: out = min(middle ==> out = max(middle
    depth/test_levels.py::test_equal_projections_that_run_past_the_window_count[3]
LevelSets.with_directions: [window.projections, more.projections] ==> [more.projections, window.projections]
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.offsets: if window.holds(level) ==> if level
    trusted/test_levels.py::test_ranks_and_depths_are_those_of_the_definition
LevelSets.contains: projected).all() ==> projected).any()
    sizes/test_half_cells.py::test_a_strip_between_grid_lines_has_no_size_from_below[3-Polyhedra-0]
LevelSets.depths: >= self.rows - window.first).any() ==> > self.rows).any()
    depth/test_levels.py::test_equal_projections_that_run_past_the_window_count
LevelSets.highest_unbroken: if self._unbroken(middle): ==> if not self._unbroken(middle):
    trusted/test_levels.py::test_no_level_beyond_the_highest_unbroken_one_has_points
LevelSets._unbroken: smallest <= largest ==> smallest < largest
    depth/test_levels.py::test_equal_projections_that_run_past_the_window_count[1]
level_sets: , min(lowest ==> , max(lowest
    sampling/test_hostile_hints.py::test_nobody_else_makes_a_cover
sampled: -before % stride ==> before % stride
    trusted/test_levels.py::test_every_row_is_in_the_sample_once_whatever_came_before
_lowest_expected: ordered) // 2] ==> ordered) // 1]
    sampling/test_ladder.py::test_extreme_epsilons_neither_warn_nor_raise[0-0.0-100000-5e-324]
find_ranks: len(directions), len(rows) ==> len(rows), len(directions)
    depth/test_selection.py::test_a_sample_that_says_nothing_about_the_rows_costs_time_only[short]
# matrices.py: integers that prove something are wrong.
integers: int, 1, 1 ==> int, 0, 1
    exact/test_matrices.py::test_no_integer_becomes_a_float
determinant: sign * pivot ==> sign
    exact/test_matrices.py::test_zero_pivots_are_swapped_and_the_sign_follows[rows1]
inverse: above=True) ==> above=False)
    exact/test_matrices.py::test_zero_pivots_are_swapped_and_the_sign_follows[rows1]
_bareiss: sign = -sign ==> sign = sign
    exact/test_matrices.py::test_zero_pivots_are_swapped_and_the_sign_follows[rows2]
rational_determinant: entry * common ==> entry
    exact/test_matrices.py::test_determinants_of_rationals_are_those_of_flint
reduced_echelon: a - factor ==> a + factor
    exact/test_matrices.py::test_columns_to_the_right_are_carried_along
Basis.point: (a * z for ==> (a for
    exact/test_lattice.py::test_a_slanted_box_holds_as_many_grid_points_as_its_size
reduced_basis: ) or largest < 1 ==> )
    exact/test_lattice.py::test_useless_shapes_give_no_basis[shape1]
short_rows: rows is None ==> rows is not None
    exact/test_grid_planes.py::test_all_grid_points_of_a_plane_are_found_once[2]
log_gain: (np.maximum( ==> (np.minimum(
    sizes/test_thin_level_sets.py::test_coordinates_of_the_rows_lead_back_to_the_grid
_lll: (k + 1): ==> (k):
    exact/test_lattice.py::test_stretched_ellipsoids_become_round[2-1.1]
# parameters.py: a parameter is taken for another, or a message tells more than it may.
printable: "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text) ==> None
    test_wide_tables.py::test_on_a_terminal_of_any_width[200]
lines_of_text: return "\n".join ==> return "x".join
    test_wide_tables.py::test_on_a_terminal_of_any_width[200]
ParameterError.__init__: lines_of_text(f ==> str(f
    trusted/test_account.py::test_an_error_has_no_codes_that_a_terminal_obeys
ParameterError.__reduce__: return type(self) ==> return ValueError
    test_privacy.py::test_guarantees_and_errors_print_and_pickle
rational: isinstance(value, bool) or not isinstance(value, Real | Decimal | str) ==> False
    test_parameters.py::test_what_is_no_finite_number_is_refused[True]
brief: len(text) <= 60 ==> False
    test_parameters.py::test_a_choice_is_one_of_the_names
_modest: ("e")[2] ==> ("e")[1]
    test_parameters.py::test_a_number_means_its_shortest_decimal[ 1e-6 -number3]
positive_rational: number <= 0: ==> number <= 1:
    test_parameters.py::test_a_number_means_its_shortest_decimal[0.1-number0]
checked_integer: (least is not None and whole < least) or (most is not None and whole > most) ==> False
    depth/test_notions.py::test_bad_directions_are_refused[<lambda>0]
_range: least is None ==> least is not None
    test_parameters.py::test_an_integer_of_any_size_is_taken_and_a_long_one_is_not_printed
checked_choice: not isinstance(value, str) or value not in names ==> False
    test_parameters.py::test_a_choice_is_one_of_the_names
in_order: if not isinstance ==> if isinstance
    depth/test_levels.py::test_rows_are_mapped_to_the_grid_in_blocks_of_any_size[1]
show: ) == number ==> ) != number
    test_parameters.py::test_a_number_is_shown_as_a_decimal_only_where_that_is_exact
# prepared.py: depth is not that of the definition, or files tell about rows.
in_parts: != [0] + [columns.stop ==> == [1] + [columns.stop
    trusted/test_prepared.py::test_directions_whose_products_leave_62_bits_are_refused
PreparedDepth.depth: self.decide.depth(point) ==> self.decide.depth(point) + 1
    trusted/test_prepared.py::test_depth_is_that_of_the_definition
along: level_sets(rows, directions, lowest) ==> level_sets(rows, directions[:1], lowest)
    trusted/test_prepared.py::test_depth_is_that_of_the_definition
along_all: level_sets(rows, fitting(outer(), grid)) ==> level_sets(rows, first_envelope(rows, grid))
    trusted/test_prepared.py::test_sizes_are_measured_along_public_directions_alone
_compile_sweep: from_integers([[1, 0 ==> from_integers([[0, 0
    faults/test_faults.py::TestEntropy::test_a_source_that_raises[boxem, exact depth-error0]
_compile_searches: from_integers([[1, 0 ==> from_integers([[0, 0
    mechanisms/test_keys.py::test_the_lane_of_a_refuted_proposal_is_never_read_again
# prices.py: less is paid than is spent.
sums_from_the_middle: Fraction(2 * ==> Fraction(1 *
    trusted/test_prices.py::test_sums_and_counts
sums_from_an_end: , Fraction(most) ==>
    trusted/test_prices.py::test_sums_and_counts
rank: * max(share ==> * min(share
    trusted/test_prices.py::test_parts_of_a_level[shares1]
# records.py: the law is not that of the exponential mechanism.
uniform_draw: (np.uint64(0) - width) % width ==> np.uint64(0) * width
    trusted/test_kernels.py::test_records_are_what_their_words_say
slabs: (directions, smallest, largest) ==> (directions, largest, smallest)
    trusted/test_kernels.py::test_records_are_what_their_words_say
proposals: box.basis.inverse ==> box.basis.matrix
    trusted/test_kernels.py::test_records_are_what_their_words_say
ranks: window.first, window.highest ==> window.highest, window.first
    trusted/test_kernels.py::test_records_are_what_their_words_say
# release.py: something is spent twice, not at all, or vouched for without having been paid.
rehearsed_charge: {"": part}, key ==> key, {"": part}
    trusted/test_charges.py::test_parts_of_a_charge_are_no_more_than_it[more]
Seal.__setattr__: raise Misuse("a seal stays as it is") ==> return None
    trusted/test_charges.py::test_nobody_else_makes_a_seal
Seal.__add__: self.guarantee + other.guarantee ==> self.guarantee - other.guarantee
    test_release.py::test_the_size_of_the_noise_is_recorded_where_it_is_public[cube]
Seal.__eq__: self._told == other._told ==> self.guarantee == other.guarantee
    trusted/test_charges.py::test_seals_are_equal_where_they_vouch_for_the_same
Seal.__hash__: hash(self._told) ==> id(self)
    trusted/test_charges.py::test_seals_are_equal_where_they_vouch_for_the_same
Seal._told: None if self.guarantee is None else self.guarantee.zcdp ==> None
    trusted/test_charges.py::test_seals_are_equal_where_they_vouch_for_the_same
Seal.about_persons: , _MADE_HERE ==>
    mechanisms/test_counts.py::test_an_accountant_pays_before_and_for_persons
Seal.__copy__: return self ==> return None
    trusted/test_charges.py::test_nobody_else_makes_a_seal
Seal.__deepcopy__: return self ==> return None
    trusted/test_charges.py::test_nobody_else_makes_a_seal
Seal.__reduce__: self.guarantee, self.seeded ==> self.seeded, self.guarantee
    trusted/test_charges.py::test_a_genuine_release_keeps_its_guarantee_through_copies
_read_back: guarantee, seeded ==> seeded, guarantee
    trusted/test_charges.py::test_a_genuine_release_keeps_its_guarantee_through_copies
_Once._refuse: raise Misuse(f"a {type(self).__name__} is used once, and has no copies") ==> return None
    trusted/test_charges.py::test_nothing_of_a_run_is_doubled[deepcopy]
_Fixed.__init__: key, 0 ==> key, 1
    trusted/test_charges.py::test_a_rehearsal_has_as_many_keys_as_it_asks_for
_Fixed.key: self._given == 1 ==> self._given >= 1
    trusted/test_charges.py::test_a_rehearsal_has_as_many_keys_as_it_asks_for
_Keys.__init__: source, threading.Lock() ==> threading.Lock(), source
    trusted/test_charges.py::test_parts_of_a_charge_are_no_more_than_it[more]
_Keys.root: name not in self._roots ==> name in self._roots
    trusted/test_charges.py::test_a_failure_afterwards_has_spent_it
Run.__init__: dict(parts), keys ==> keys, dict(parts)
    trusted/test_charges.py::test_parts_of_a_charge_are_no_more_than_it[more]
Run.guarantee: self.seal.guarantee ==> None
    trusted/test_charges.py::test_all_parts_are_spent_in_one_entry_before_anything_is_handed_out
Run.secret: self._keys.leave(self._keys.root(f"secret {name}")) ==> None
    planning/test_accountant.py::test_interrupted_runs_have_spent[mean without bounds]
Charge.epsilon: self._part.epsilon ==> 2 * self._part.epsilon
    trusted/test_charges.py::test_a_failure_afterwards_has_spent_it
Charge.for_bounded_range: self.epsilon**2 / ==> self.epsilon**1 /
    trusted/test_charges.py::test_keys_are_fresh_and_leave_once
Charge.split: self._cover(cost_of(parts)) ==> pass
    trusted/test_charges.py::test_parts_of_a_charge_are_no_more_than_it[more]
Charge.cover: self._cover(guarantee, on_blocks) ==> pass
    trusted/test_charges.py::test_a_charge_is_consumed_once[for_bounded_range]
Charge._key: if self._labels else ==> if False else
    trusted/test_charges.py::test_keys_are_fresh_and_leave_once
PartOf.spend: self.charge.cover(guarantee, on_blocks=self.on_blocks) ==> pass
    trusted/test_charges.py::test_a_charge_is_consumed_once[for_bounded_range]
Paid.__init__: keys, key ==> key, keys
    trusted/test_charges.py::test_a_rehearsal_follows_from_its_key_and_vouches_for_nothing
Paid.under: self.relation != relation ==> self.relation == relation
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean]
Paid.weight: kappa(self.epsilon ==> kappa(2 * self.epsilon
    trusted/test_charges.py::test_a_charge_covers_its_law_or_raises
Paid.scale: return 1 / ==> return 2 /
    trusted/test_charges.py::test_a_charge_covers_its_law_or_raises
Paid.key: if labels else ==> if False else
    engines/test_pass_secrets.py::test_halves_of_a_block_are_drawn_together
Paid.bits: Keystream(self.key(*labels)).bits(0) ==> None
    test_release.py::test_without_bounds_none_are_recorded
plain: isinstance(value, Fraction) ==> True
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[analytic_gaussian]
# rem/evidence.py: data count as safer for REM than they are.
KnownSizes.__init__: list[int] = [] ==> list[int] = [9]
    trusted/test_evidence.py::test_what_is_learned_from_a_copy_is_not_known
KnownSizes.add: low = max(low, ==> low = min(low,
    mechanisms/test_rough_sizes.py::test_bounds_of_some_levels_bracket_all
KnownSizes.copy: dict(self.values) ==> self.values
    trusted/test_evidence.py::test_what_is_learned_from_a_copy_is_not_known
KnownSizes.settled: low == high ==> low != high
    mechanisms/test_rough_sizes.py::test_wrong_bounds_would_be_seen
KnownSizes.below: bisect_right ==> bisect_left
    trusted/test_evidence.py::test_brackets_hold_the_sizes_whatever_was_learned_in_which_order
KnownSizes.above: bisect_left ==> bisect_right
    trusted/test_evidence.py::test_brackets_hold_the_sizes_whatever_was_learned_in_which_order
closeness: looks, _APART[looks - 1] if 0 < looks <= len(_APART) else None ==> _APART[looks - 1] if 0 < looks <= len(_APART) else None, looks
    depth/test_notions.py::test_without_bounds_scales_are_unknown
Plan.eta: self.release / 2 ==> self.release / 1
    mechanisms/test_rough_sizes.py::test_wrong_bounds_would_be_seen
Plan.epsilon: self.release + self.test ==> None
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
sparse_offsets: min(_DENSE, n) + 1 ==> min(_DENSE, n)
    trusted/test_evidence.py::test_offsets_are_dense_at_first_and_reach_the_last_level
Evidence.__init__: plan, sizes ==> sizes, plan
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
Evidence.strength: (-b_high ==> (b_high
    mechanisms/test_rough_sizes.py::test_evidence_that_stops_before_all_is_known_would_be_noticed
Evidence.peak: - 1 - k) ==> - 1 + k)
    mechanisms/test_rough_sizes.py::test_the_chance_is_that_of_the_sizes_themselves[0.05-test2]
Evidence.refine: (t - 1 - k, t - k), self._levels(k) ==> self._levels(k), (t - 1 - k, t - k)
    mechanisms/test_rough_sizes.py::test_the_chance_is_that_of_the_sizes_themselves[0.05-test1]
Evidence._tells: if not ( ==> if (
    mechanisms/test_rough_sizes.py::test_evidence_that_stops_before_all_is_known_would_be_noticed
Evidence._first_open: level)[1] and ==> level)[2] and
    mechanisms/test_rough_sizes.py::test_wrong_bounds_would_be_seen
Evidence._measure: known.add(level, value, value) ==> pass
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
Evidence._look: looks + 1 ==> looks - 1
    mechanisms/test_rough_sizes.py::test_an_empty_threshold_is_found_empty
Evidence._none_at: self._lower, level ==> level, self._lower
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
Evidence._exp: .fixed(-bits ==> .fixed(bits
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
Evidence._c: bits not in self._weights ==> bits in self._weights
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
OneSided.__init__: sizes, plan ==> plan, sizes
    audit/test_add_remove.py::test_its_chances_are_those_of_the_definition[d1n6t1]
OneSided.strength: return min( ==> return max(
    audit/test_add_remove.py::test_rem_is_private_between_tables_of_different_sizes[d1n7t2-counted0]
OneSided.refine: return any( ==> return all(
    audit/test_add_remove.py::test_rem_is_private_between_tables_of_different_sizes[d1n7t2-counted0]
OneSided._sum: self._lower.bracket(j + o) ==> self._lower.bracket(j - o)
    audit/test_add_remove.py::test_rem_is_private_between_tables_of_different_sizes[d1n7t2-counted0]
OneSided._measure: self._sums.clear() ==> pass
    audit/test_add_remove.py::test_rem_is_private_between_tables_of_different_sizes[d1n7t2-counted0]
evidence_of: Evidence(sizes, plan) ==> Evidence(plan, sizes)
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
# rem/safety.py: REM releases more often than its proof allows.
Graded.epsilon: plan.release + plan.test ==> plan.release
    mechanisms/test_rem.py::test_a_charge_that_is_smaller_than_test_and_draw_is_refused
Graded.chance: bits)[1], ==> bits)[2],
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
_power: v * bits ==> v
    mechanisms/test_rem.py::test_one_swap_moves_the_chance_by_no_more_than_it_may[graded-1-True]
_integer_root: (degree - 1)) ==> (degree))
    mechanisms/test_rem.py::test_one_swap_moves_the_chance_by_no_more_than_it_may[graded-1-True]
Laplace.chance: 1 / plan.delta, ==> 1,
    mechanisms/test_rough_sizes.py::test_the_chance_is_that_of_the_sizes_themselves[0.05-test1]
paper_cut: ] * 2 * delta ==> ] * 1 * delta
    mechanisms/test_rem.py::test_cuts_are_the_least_that_hold
_least: (m - 1): ==> (m):
    mechanisms/test_rem.py::test_cuts_are_the_least_that_hold
_last: low + high ==> low - high
    mechanisms/test_rough_sizes.py::test_the_chance_is_that_of_the_sizes_themselves[0.05-test2]
tail: if j <= 0: ==> if j <= 1:
    mechanisms/test_rem.py::test_cuts_are_the_least_that_hold
# rows.py: cells become integers in another way than was proven, or depend on each other.
Grid.of: self.cells[columns]) ==> self.cells)
    depth/test_in_blocks.py::test_a_point_is_drawn_by_the_mean_of_its_columns_depths
Grid.d: len(self.cells) ==> len(self.cells) - 1
    trusted/test_rows.py::test_coordinates_are_counted_from_the_middle
Grid.low: [-(c // 2) ==> [-c // 2
    trusted/test_rows.py::test_coordinates_are_counted_from_the_middle
Grid.high: c - c // 2 ==> c // 2
    trusted/test_rows.py::test_coordinates_are_counted_from_the_middle
Grid.extent: c - c // 2 ==> c // 2
    trusted/test_rows.py::test_coordinates_are_counted_from_the_middle
Grid.snap: np.rint(index, out=index) ==> np.floor(index, out=index)
    trusted/test_rows.py::test_every_cell_is_clipped_and_rounded_by_itself
Grid.point: [float(v) for v in ==> [2 * float(v) for v in
    trusted/test_rows.py::test_coordinates_are_counted_from_the_middle
Grid.rational_point: int(c) + cells // 2 ==> int(c) - cells // 2
    trusted/test_rows.py::test_coordinates_are_counted_from_the_middle
Grid.to_dict: a + c * s ==> a + s
    trusted/test_rows.py::test_coordinates_are_counted_from_the_middle
bounded_grid: 0 < s <= w ==> 0 <= s
    trusted/test_rows.py::test_grids_between_bounds_and_around_zero
require_bounds: bounds is None ==> False
    test_parameters.py::test_bounds_that_were_left_out_are_explained[cube]
checked_bounds: if a >= b: ==> if a > b:
    trusted/test_rows.py::test_bounds_are_two_ends_for_each_column
_of_frame: if listed is None or not ==> if not
    depth/test_notions.py::test_bad_directions_are_refused[<lambda>19]
_is_list_of_pairs: d == len(bounds) == 2 ==> d < 0
    trusted/test_rows.py::test_bounds_are_two_ends_for_each_column
_ends_by_name: [pair[0] for pair in pairs], [pair[1] ==> [pair[1] for pair in pairs], [pair[0]
    trusted/test_rows.py::test_bounds_are_two_ends_for_each_column
unbounded_grid: -s * 2 ** (bits - 1) ==> -s * 2**bits
    trusted/test_rows.py::test_grids_between_bounds_and_around_zero
per_column: if len(values) != d: ==> if len(values) < d:
    trusted/test_rows.py::test_bounds_are_two_ends_for_each_column
BoundedColumns.d: len(self.lower) ==> len(self.lower) - 1
    trusted/test_rows.py::test_columns_are_moved_between_their_bounds_and_back
BoundedColumns.ends: self.lower, self.upper ==> self.upper, self.lower
    trusted/test_rows.py::test_columns_are_moved_between_their_bounds_and_back
BoundedColumns.widths: float(b - a) ==> float(b + a)
    trusted/test_rows.py::test_columns_are_moved_between_their_bounds_and_back
BoundedColumns.between_0_and_1: == 0 and ==> == 0 or
    trusted/test_rows.py::test_columns_are_moved_between_their_bounds_and_back
BoundedColumns.relative: np.clip((cells - middle) / half, -1.0, 1.0) ==> (cells - middle) / half
    engines/test_passes.py::test_sums_beyond_64_bits_are_exact
BoundedColumns.grid: (b - a) / s ==> (b + a) / s
    trusted/test_rows.py::test_columns_are_moved_between_their_bounds_and_back
BoundedColumns.in_units: (1 + v) / 2 ==> (1 - v) / 2
    trusted/test_rows.py::test_columns_are_moved_between_their_bounds_and_back
bounded_columns: float(b) / 2 - float(a) / 2 ==> float(b) - float(a)
    trusted/test_rows.py::test_bounds_are_two_ends_for_each_column
relative_grid: Fraction(2, s) ==> Fraction(1, s)
    trusted/test_rows.py::test_grids_between_bounds_and_around_zero
# sampling/compiling.py: what is compiled depends on rows, or on nothing.
keep: _keeping = True ==> _keeping = False
    sampling/test_plain_proposals.py::test_what_is_compiled_is_decided_by_public_numbers
keeping: return _keeping ==> return True
    trusted/test_kernels.py::test_code_is_kept_from_then_on
count_draw: _draws += 1 ==> _draws += 2
    sampling/test_plain_proposals.py::test_what_is_compiled_is_decided_by_public_numbers
due: _keeping or _draws > _FIRST_DRAWS ==> _keeping
    sampling/test_plain_proposals.py::test_what_is_compiled_is_decided_by_public_numbers
proposer: _keeping and lane < _SHORT_LANES ==> _keeping
    depth/test_levels.py::test_directions_that_reject_are_tested_first_from_then_on
lister: kept.climbed, kept.about_visits, kept.list_points ==> None
    sampling/test_listing.py::test_where_a_list_would_take_long_there_is_none
# sampling/draws.py: the law is not that of the exponential mechanism.
Sampler.__init__: Covers(levels, within, highest) ==> Covers(levels, within, lowest)
    sampling/test_coarse.py::test_draws_follow_the_exponential_mechanism[plain]
Sampler.top: return self._covers.top ==> return None
    depth/test_streamed_levels.py::test_what_is_foreseen_is_not_asked_for_again
Sampler.draw: self._draws.draw(key) ==> self._draws.draw(bytes(32))
    sampling/test_coarse.py::test_draws_follow_the_exponential_mechanism[plain]
Sampler.accepted_soon: (stream, lane ==> (lane, stream
    depth/test_exact_depth.py::test_degenerate_data_gives_a_draw[x1]
DepthSampler.__init__: None and near.thin ==> None
    sizes/test_thin_level_sets.py::test_the_law_of_a_thin_table[True]
DepthSampler._compiled: self._decide is not None ==> self._decide is None
    sampling/test_plain_proposals.py::test_first_calls_compile_nothing
DepthSampler._move: near, whole_grid(near.grid) ==> whole_grid(near.grid), near
    sizes/test_thin_level_sets.py::test_proposals_in_vain_start_again_below_the_levels_without_a_grid_point
DepthSampler._start_again: self._decide is None ==> self._decide is not None
    sizes/test_thin_level_sets.py::test_proposals_in_vain_start_again_below_the_levels_without_a_grid_point
DepthSampler._sharpened: lowest=self._lowest ==> lowest=0
    depth/test_exact_depth.py::test_the_law_of_boxem_over_exact_depth[2]
levels_with_weight: ) + _BEYOND ==> ) - _BEYOND
    depth/test_streamed_levels.py::test_what_is_foreseen_is_not_asked_for_again
foresee: levels.passes, levels.rough ==> levels.rough, levels.passes
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon0-fine grid]
deepest: held, empty = (middle, empty) if found ==> held, empty = (middle, empty) if not found
    sizes/test_thin_level_sets.py::test_the_deepest_level_is_that_of_the_definition
_holds: return levels, bool(found) ==> return levels, not found
    sizes/test_thin_level_sets.py::test_the_deepest_level_is_that_of_the_definition
# sampling/loops.py: the law is not that of the exponential mechanism.
_place: piece - 1] if piece ==> piece - 2] if piece
    trusted/test_kernels.py::test_proposals_from_pieces
words_of: "right") - 1, ==> "right"),
    trusted/test_kernels.py::test_first_bytes[None-5]
room: (proposals, d) ==> (d, proposals)
    trusted/test_kernels.py::test_first_bytes[None-5]
_candidates: row], -1) ==> row], 1)
    trusted/test_kernels.py::test_first_bytes[None-5]
rows_of: np.maximum ==> np.minimum
    trusted/test_kernels.py::test_first_bytes[None-5]
_write: , first_bytes is not None ==> , first_bytes is None
    trusted/test_kernels.py::test_first_bytes[None-5]
_project: coefficients[j], first_bytes[j] ==> first_bytes[j], coefficients[j]
    trusted/test_kernels.py::test_first_bytes[None-5]
_all_far_out:  | (at > slots.rough.most[slot]) ==>
    trusted/test_kernels.py::test_tilted_boxes[rounded-64]
_far_out:  or at > most[direction] ==>
    trusted/test_kernels.py::test_tilted_boxes[rounded-64]
climbed: (-1, 1) ==> (-1,)
    trusted/test_kernels.py::test_depths_climbs_and_estimates
about_visits: deep + 1 ==> deep
    trusted/test_kernels.py::test_depths_climbs_and_estimates
list_points: max(level, cap - margin) ==> level
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[99]
_all_go_on: )).any() ==> )).all()
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[3]
_goes_on: return False ==> return True
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[3]
_all_bounds: level - 1 ==> level
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[3]
_cap_of: return min( ==> return max(
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[99]
_thinned: above + 1 ==> above
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[3]
_all_kept: ] >= level ==> ] > level
    trusted/test_kernels.py::test_hostile_arguments
_kept: kept = 0 ==> kept = 1
    trusted/test_kernels.py::test_hostile_arguments
_depth: = np.minimum(ranks.highest ==> = np.maximum(ranks.highest
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[3]
_all_smaller: np.minimum ==> np.maximum
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[3]
_smaller: equal_too and value == at ==> equal_too
    trusted/test_kernels.py::test_lists_have_all_points_from_their_level_up[3]
# sampling/many_columns.py: the law is not that of the exponential mechanism.
suits: return False ==> return True
    sampling/test_coarse.py::test_boxes_are_taken_unless_many_proposals_come_from_some_that_bytes_tell_little_of
filter_of: ), 0.0)) ==> ), 1.0))
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
_shares: proposals.last - proposals.first ==> proposals.last + proposals.first
    sampling/test_coarse.py::test_boxes_are_taken_unless_many_proposals_come_from_some_that_bytes_tell_little_of
_frequent: kept] > 0]) ==> kept] > 1])
    sampling/test_coarse.py::test_where_boxes_are_wide_nearly_all_that_is_left_is_accepted
_testable: all(b == ==> any(b ==
    sampling/test_coarse.py::test_boxes_are_taken_unless_many_proposals_come_from_some_that_bytes_tell_little_of
_exact: ([max(abs ==> ([min(abs
    sampling/test_coarse.py::test_boxes_are_taken_unless_many_proposals_come_from_some_that_bytes_tell_little_of
_test_of: _BoxTest(moving * widths ==> _BoxTest(-moving * widths
    sampling/test_coarse.py::test_no_proposal_is_dropped_that_some_further_bits_would_put_into_its_level
_BoxTest.thresholds: = -self._scaled ==> = self._scaled
    sampling/test_coarse.py::test_what_is_dropped_is_out_of_reach_along_some_direction
_BoxTest._scaled: > np.maximum(self._shift ==> > np.minimum(self._shift
    sampling/test_coarse.py::test_what_is_dropped_is_out_of_reach_along_some_direction
TriedOrder.__init__: arrays, found ==> found, arrays
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
TriedOrder.copy: type(self.arrays)(*(array.copy() for array in self.arrays)), room(*self.found.first_bytes.shape ==> room(*self.found.first_bytes.shape), type(self.arrays)(*(array.copy() for array in self.arrays)
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
TriedOrder.renew: np.maximum ==> np.minimum
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
CoarseProposals.__init__: proposals.first ==> proposals.last
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
CoarseProposals.order: ((2, k), ==> ((k, 2),
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
CoarseProposals.lane_words: 1 + self._levels.d ==> 1 - self._levels.d
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
CoarseProposals._row: assert not isinstance ==> assert isinstance
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
_finished: [0] * len(box.low), 0 ==> 0, [0] * len(box.low)
    sampling/test_parallelepipeds.py::test_a_filter_that_forgets_the_rounding_would_be_noticed
TiltedProposals.__init__: within.low, within.high ==> within.high, within.low
    sampling/test_tilted.py::test_leftover_words_decide_nothing[4-1-compiled]
TiltedProposals.order: np.arange(len(self._levels.directions)) ==> None
    sampling/test_tilted.py::test_keeping_every_point_would_be_noticed
TiltedProposals.lane_words: 1 + self._levels.d ==> 1 - self._levels.d
    sampling/test_tilted.py::test_keeping_every_point_would_be_noticed
TiltedProposals._row: level, box ==> box, level
    sampling/test_tilted.py::test_keeping_every_point_would_be_noticed
_drawn: box.uniform(spare), () ==> (), box.uniform(spare)
    sampling/test_tilted.py::test_keeping_every_point_would_be_noticed
_tilts_of: "right") - 1 for ==> "right") for
    sampling/test_tilted.py::test_every_cell_has_its_share_to_the_last_one[compiled]
_kind: box, Parallelepiped ==> Parallelepiped, box
    sampling/test_tilted.py::test_leftover_words_decide_nothing[3-2-compiled]
_inverse: ) or box.basis is None ==> )
    sampling/test_tilted.py::test_leftover_words_decide_nothing[3-2-compiled]
_slots_of: (proposals.last - ==> (proposals.first -
    sampling/test_tilted.py::test_leftover_words_decide_nothing[3-2-compiled]
_word_limits: steps) - 1 for ==> steps) - 2**20 for
    trusted/test_kernels.py::test_words_that_may_keep_a_point_are_powers_of_two_rounded_up
fast_proposals: shapes if not isinstance(shape, TiltedBox) ==> shapes
    sampling/test_tilted.py::test_leftover_words_decide_nothing[3-2-compiled]
# sampling/plain_proposals.py: the law is not that of the exponential mechanism.
_propose_one_by_one: if word < first[i] or word > last[i]: ==> if word < first[i]:
    trusted/test_kernels.py::test_proposals_from_pieces[5]
_placed: piece - 1]) if piece ==> piece - 2]) if piece
    trusted/test_kernels.py::test_proposals_from_pieces
_within: projected >= slabs.smallest ==> projected > slabs.smallest
    sampling/test_words.py::test_points_that_are_counted_are_those_of_big_integers[3-plain]
_intervals: np.maximum ==> np.minimum
    sampling/test_plain_proposals.py::test_levels_whose_ranks_are_not_held_are_asked_for_as_in_compiled_code
high_words: low = (a & _LOWER) * ( ==> low = (a) * (
    sampling/test_words.py::test_points_that_are_counted_are_those_of_big_integers[3-plain]
_of_box: low[box, :columns] ==> low[:columns, box]
    sampling/test_plain_proposals.py::test_coordinates_are_redrawn_as_in_compiled_code[4611686018427387905]
_drawn_alone: j] + (product ==> j] - (product
    sampling/test_words.py::test_points_that_are_counted_are_those_of_big_integers[3458764513820540928-plain]
# shapes.py: sets are not as large as the sampler takes them to be, or not drawn from evenly.
Frame.turned: integers(directions) @ ==> -integers(directions) @
    trusted/test_shapes.py::test_a_frame_is_a_matrix_and_its_inverse
Frame.unit: 2.0**-_INVERSE_BITS ==> 2.0 ** (1 - _INVERSE_BITS)
    trusted/test_shapes.py::test_a_frame_is_a_matrix_and_its_inverse
frame_of: inverted[0].tolist(), inverted[1] ==> inverted[0].tolist(), -inverted[1]
    trusted/test_shapes.py::test_a_parallelepiped_knows_its_size_and_its_corner
Parallelepiped.size: -(-math.prod(self.widths) // self.frame.denominator) ==> math.prod(self.widths) // self.frame.denominator
    trusted/test_shapes.py::test_a_parallelepiped_knows_its_size_and_its_corner
Parallelepiped.point: (a << have) + w * bits ==> (a << have) - w * bits
    trusted/test_shapes.py::test_a_point_is_the_real_point_of_its_bits_rounded
Parallelepiped.corner: Fraction(top, self.frame.denominator) ==> Fraction(top, 1)
    trusted/test_shapes.py::test_a_parallelepiped_knows_its_size_and_its_corner
Parallelepiped.at_corner: -(-value // self.frame.denominator) ==> value // self.frame.denominator
    trusted/test_shapes.py::test_a_parallelepiped_knows_its_size_and_its_corner
Parallelepiped._corner: zip(row, self.low ==> zip(row, self.widths
    trusted/test_shapes.py::test_a_parallelepiped_knows_its_size_and_its_corner
Parallelepiped.keeps: < math.prod(self.widths) ==> <= math.prod(self.widths)
    trusted/test_shapes.py::test_a_wanted_point_is_kept_as_often_as_the_size_says[108]
Parallelepiped._between: (2 * first + one) // ==> (2 * first) //
    trusted/test_shapes.py::test_a_point_is_the_real_point_of_its_bits_rounded
around: -(-sum(map(abs, row)) // 2) ==> sum(map(abs, row)) // 2
    trusted/test_shapes.py::test_wanted_points_have_their_unit_cubes_inside
Cells.drawn: side="right" ==> side="left"
    trusted/test_shapes.py::test_cells_part_the_box_and_their_heights_say_how_rare_their_points_are
Cells.uniform: int(starts[c + 1]) ==> int(starts[-1])
    trusted/test_shapes.py::test_cells_part_the_box_and_their_heights_say_how_rare_their_points_are
TiltedBox.volume: self.box.frame.denominator if ==> 1 if
    trusted/test_shapes.py::test_a_point_of_a_tilted_box_is_kept_as_often_as_makes_all_alike_likely
TiltedBox.size: power(self.highest) ==> power(self.highest + 256)
    trusted/test_shapes.py::test_a_point_of_a_tilted_box_is_kept_as_often_as_makes_all_alike_likely
TiltedBox.point: tuple(a for a, _ in first) ==> tuple(a + 3 for a, _ in first)
    trusted/test_shapes.py::test_points_of_a_tilted_box_lie_in_their_cells
TiltedBox.keeps: share * self.size * self.volume ==> share * self.size
    trusted/test_shapes.py::test_a_point_of_a_tilted_box_is_kept_as_often_as_makes_all_alike_likely
cut: SHARES * width ==> SHARES
    trusted/test_shapes.py::test_cells_part_the_box_and_their_heights_say_how_rare_their_points_are
widths_of: _points, box.low, box.high ==> _points, box.high, box.low
    trusted/test_shapes.py::test_widths_and_upright_boxes
_points: high - low + 1 ==> high - low
    trusted/test_shapes.py::test_widths_and_upright_boxes
upright: max(axis=1) ==> min(axis=1)
    trusted/test_shapes.py::test_widths_and_upright_boxes
least_ends: first if slope >= 0 else last ==> last if slope >= 0 else first
    trusted/test_shapes.py::test_the_least_end_is_that_of_all_points
power: -(-(_powers()[part] << whole) >> _FINE) ==> (_powers()[part] << whole) >> _FINE
    trusted/test_shapes.py::test_powers_and_logarithms_are_those_of_rationals
log_ceiling: value**STEPS - 1 ==> value**STEPS
    trusted/test_shapes.py::test_powers_and_logarithms_are_those_of_rationals
_log_floors: side="right" ==> side="left"
    trusted/test_shapes.py::test_powers_and_logarithms_are_those_of_rationals
_ceilings: power(i) ==> power(i + 1)
    trusted/test_shapes.py::test_powers_and_logarithms_are_those_of_rationals
_powers: + i) ==> - i)
    trusted/test_shapes.py::test_powers_and_logarithms_are_those_of_rationals
_shares: -rate * places ==> rate * places
    trusted/test_shapes.py::test_cells_part_the_box_and_their_heights_say_how_rare_their_points_are
# sizes/boxed.py: sizes are no bounds: data count as safer for REM than they are.
Regions.__init__: , -levels.directions ==> , levels.directions
    sizes/test_half_cells.py::test_a_strip_between_grid_lines_has_no_size_from_below[3-Polyhedra-0]
Regions.at: , -integers ==> , integers
    sizes/test_half_cells.py::test_random_slivers_are_bracketed[1-Polyhedra]
Boxed.__init__: np.abs(self._regions.normals) ==> self._regions.normals
    sizes/test_half_cells.py::test_a_strip_between_grid_lines_has_no_size_from_below[3-Polyhedra-0]
Boxed.place: self._regions.centre, self._regions.scale ==> self._regions.scale, self._regions.centre
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
Boxed.upper: box is None ==> box is not None
    sizes/test_half_cells.py::test_random_slivers_are_bracketed[1-Polyhedra]
Boxed.lower: return max( ==> return min(
    sizes/test_level_sizes.py::test_sizes_bracket_the_number_of_grid_points_and_fall_with_the_level[4096-3-Polyhedra]
Boxed._box: level not in self._boxes ==> level in self._boxes
    sizes/test_half_cells.py::test_a_strip_between_grid_lines_has_no_size_from_below[3-BoxesAndEllipsoids-0]
Boxed._tight_box: ends is None ==> ends is not None
    sizes/test_half_cells.py::test_random_slivers_are_bracketed[1-Polyhedra]
Boxed._half_cells: region.offsets + sign ==> region.offsets - sign
    sizes/test_half_cells.py::test_a_strip_between_grid_lines_has_no_size_from_below[3-Polyhedra-0]
# sizes/copies.py: sizes are no bounds: data count as safer for REM than they are.
template: Fraction(74) ==> Fraction(75)
    sizes/test_exact_depth_sizes.py::test_templates[2]
_all_signs: (1, -1), ==> (1, 1),
    sizes/test_exact_depth_sizes.py::test_templates[2]
Copy.diagonal: product = 1 ==> product = 2
    sizes/test_exact_depth_sizes.py::TestCopies::test_cube
largest_copy: weights, low, high ==> weights, high, high
    sizes/test_exact_depth_sizes.py::TestCopies::test_weights_that_make_no_sense_raise_and_warn_nothing[1e-320]
_solved: np.abs(away) ==> away
    sizes/test_exact_depth_sizes.py::TestCopies::test_a_step_too_far_ends_at_the_centre_if_nothing_else_is_inside
_usable: pairs) and triangular ==> pairs)
    sizes/test_size_hints.py::test_a_matrix_that_is_not_triangular_is_no_copy
_slant: shape), -1) ==> shape), 1)
    sizes/test_exact_depth_sizes.py::TestCopies::test_upright_or_not_the_bound_is_one_of_the_same_copies[4]
_seen_upright: region.offsets[-2 ==> region.offsets[2
    sizes/test_exact_depth_sizes.py::TestCopies::test_upright_or_not_the_bound_is_one_of_the_same_copies[4]
DeepEnvelope.__init__: levels, within ==> within, levels
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
DeepEnvelope.d: self._levels.d ==> None
    sizes/test_half_cells.py::test_the_cells_around_a_copys_corners_are_looked_at[1]
DeepEnvelope.extended: } - self.known ==> } + self.known
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
DeepEnvelope._fits: sum(map(abs, normal)) ==> max(map(abs, normal))
    trusted/test_covers.py::test_normals_that_fit_are_told_from_longer_ones
DeepEnvelope.halfspaces: directions, -directions]), np.concatenate([high, -low]).astype(np.float64 ==> high, -low]).astype(np.float64), np.concatenate([directions, -directions]
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
DeepEnvelope.region: , -directions ==> , directions
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
# sizes/ellipsoids.py: sizes are no bounds: data count as safer for REM than they are.
Shape.of: integers([[in_units(v, _BITS) for v in row] for row in values.tolist()]), _BITS ==> _BITS, integers([[in_units(v, _BITS) for v in row] for row in values.tolist()])
    sizes/test_level_sizes.py::TestEllipsoids::test_cross_polytope
slack_of: region.offsets * (1 << bits ==> region.offsets * (2 << bits
    sizes/test_level_sizes.py::TestEllipsoids::test_cross_polytope
_balanced: / max(lengths.max ==> / min(lengths.max
    sizes/test_level_sizes.py::TestEllipsoids::test_weights_on_one_side_are_paid_for_by_the_box
_roots: integers([math.isqrt(int(s)) for s in squares]) ==> None
    sizes/test_level_sizes.py::TestEllipsoids::test_cross_polytope
in_floats: , -bits) ==> , bits)
    sizes/test_level_sizes.py::TestEllipsoids::test_it_asks_again_until_the_gap_is_small
_start: shape or Shape.of(np.diag(region.scale)) ==> shape
    sizes/test_level_sizes.py::TestEllipsoids::test_cross_polytope
_seen: :, np.newaxis ==> np.newaxis, :
    sizes/test_level_sizes.py::TestEllipsoids::test_cross_polytope
BoxesAndEllipsoids.__init__: levels, within ==> within, levels
    sizes/test_half_cells.py::test_a_strip_between_grid_lines_has_no_size_from_below[3-BoxesAndEllipsoids-0]
BoxesAndEllipsoids._grown: self._half_cells(level, +1) ==> self._half_cells(level, -1)
    sizes/test_level_sizes.py::test_a_correlated_set_is_measured_by_its_ellipsoid
BoxesAndEllipsoids._nearest: if not self._ellipsoids ==> if self._ellipsoids
    sizes/test_half_cells.py::test_a_strip_between_grid_lines_has_no_size_from_below[3-BoxesAndEllipsoids-0]
_ball: = d // 2 ==> = d // 1
    sizes/test_half_cells.py::test_random_slivers_are_bracketed[1-BoxesAndEllipsoids]
# sizes/exact_depth_sizes.py: sizes are no bounds: data count as safer for REM than they are.
ExactSizes.__init__: = max(_FINE ==> = min(_FINE
    sizes/test_exact_depth_sizes.py::test_small_slacks_end_too[2-slack0]
ExactSizes.upper: self._along.upper(level) ==> None
    sizes/test_exact_depth_sizes.py::test_sizes_bracket_the_number_of_deep_grid_points[4096]
ExactSizes.lower_at_most: else max( ==> else min(
    sizes/test_exact_depth_sizes.py::test_rough_bounds_hold_the_lower_size[3-levels1]
ExactSizes._parted: points, level ==> level, points
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
ExactSizes._enveloped: self._volume * copy.most ==> self._volume
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
ExactSizes._shallow: found := self._refuting(points[i], bits, level) ==> False
    sizes/test_half_cells.py::test_a_copy_with_shallow_corners_is_not_taken
ExactSizes._largest: (axis=1) ==> (axis=2)
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
ExactSizes._refuting: refutation is None ==> refutation is not None
    sizes/test_half_cells.py::test_the_cells_around_a_copys_corners_are_looked_at[6]
ExactSizes._counted_between: math.ceil ==> math.floor
    sizes/test_thin_level_sets.py::test_a_count_that_stops_early_is_a_bound_and_goes_on[two columns]
ExactSizes._counted: cuts is None ==> cuts is not None
    sizes/test_thin_level_sets.py::test_the_count_is_that_of_the_definition[a line of two-0]
_shrunk: copy.bits + halvings ==> copy.bits - halvings
    sizes/test_exact_depth_sizes.py::test_a_copy_whose_corners_nobody_looks_at_would_be_too_large
# sizes/grid_points.py: sizes are no bounds: data count as safer for REM than they are.
has_few_values: np.abs(region.normals) ==> region.normals
    sizes/test_level_sizes.py::test_long_normals_do_not_overflow
count_up_to: 0 and has_few_values(region, box) ==> 0
    sizes/test_level_sizes.py::test_long_normals_do_not_overflow
tight_ends: math.floor ==> math.ceil
    sizes/test_level_sizes.py::test_polygons_are_counted_exactly[4]
units: in (1, - ==> in (2, -
    sizes/test_level_sizes.py::test_polygons_are_counted_exactly[4]
_small_boxes: = [b - a for ==> = [b + a for
    sizes/test_level_sizes.py::test_counting[1]
_replaced: column + 1 ==> column
    sizes/test_level_sizes.py::test_counting[1]
_points: box.low, ==> box.high,
    sizes/test_level_sizes.py::test_products_beyond_64_bits_are_counted_otherwise
_inside: = np.maximum(*ends ==> = np.minimum(*ends
    sizes/test_level_sizes.py::test_products_beyond_64_bits_are_counted_otherwise
# sizes/inner_points.py: sizes are no bounds: data count as safer for REM than they are.
inner_point: np.eye(d + 1, dtype ==> np.eye(d, dtype
    sizes/test_exact_depth_sizes.py::TestCopies::test_no_inner_point
# sizes/level_sizes.py: sizes are no bounds: data count as safer for REM than they are.
Intervals.__init__: levels, within ==> within, levels
    audit/test_add_remove.py::test_its_chances_are_those_of_the_definition[d1n6t1]
Intervals.upper: = max(low ==> = min(low
    audit/test_add_remove.py::test_rem_is_private_between_tables_of_different_sizes[d1n7t2-counted0]
sizes_of: levels.d == 1: ==> levels.d == 2:
    mechanisms/test_rem.py::test_one_swap_moves_the_chance_by_no_more_than_it_may[paper-1-True]
bounds_of: BoxesAndEllipsoids(levels, within, ==> BoxesAndEllipsoids(within, levels,
    sizes/test_half_cells.py::test_the_cells_around_a_copys_corners_are_looked_at[5]
# sizes/linear_programs.py: optima that prove something are wrong.
Region.d: self.normals.shape[1] ==> self.normals.shape[2]
    sizes/test_exact_depth_sizes.py::TestCopies::test_a_step_too_far_ends_at_the_centre_if_nothing_else_is_inside
Region.in_floats: , axis=1) ==> , axis=2)
    sizes/test_size_hints.py::test_an_objective_beyond_floats_has_an_optimum
_rough: np.clip(values, -_HUGE, _HUGE) ==> values
    sizes/test_size_hints.py::test_an_objective_beyond_floats_has_an_optimum
in_units: ) // denominator ==> ) * denominator
    sizes/test_exact_depth_sizes.py::TestCopies::test_weights_that_make_no_sense_raise_and_warn_nothing[1e-320]
maximum: region.normals) - 2 ==> region.normals) + 2
    sizes/test_size_hints.py::test_an_objective_beyond_floats_has_an_optimum
_Vertex.excess: region.normals @ self.point ==> region.normals * self.point
    sizes/test_size_hints.py::test_an_objective_beyond_floats_has_an_optimum
_Vertex.violated: if not len ==> if len
    sizes/test_size_hints.py::test_an_objective_beyond_floats_has_an_optimum
_vertex: adjugate @ region.offsets ==> adjugate * region.offsets
    sizes/test_level_sizes.py::TestLinearPrograms::test_a_vertex_whose_basis_lost_a_row_is_the_one_computed_anew[1]
_exchanged: = -adjugate ==> = adjugate
    sizes/test_level_sizes.py::TestLinearPrograms::test_a_vertex_whose_basis_lost_a_row_is_the_one_computed_anew[1]
_pivoted: while True: ==> while False:
    sizes/test_size_hints.py::test_an_objective_beyond_floats_has_an_optimum
_blocking: > 0).tolist ==> > 1).tolist
    exact/test_slices.py::test_thin_sets_of_astronomical_boxes_take_few_looks[normals1-offsets1-4096]
_proposed_basis: if not ( ==> if (
    sizes/test_size_hints.py::test_whatever_floats_propose_an_optimum_is_one[raises]
centre_and_scale: (np.maximum( ==> (np.minimum(
    sampling/test_tilted.py::test_tilting_makes_a_box_of_a_corner_small
# sizes/of_depth.py: sizes are no bounds: data count as safer for REM than they are.
sizes_of: depth.decide is None ==> depth.decide is not None
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
# sizes/polygons.py: sizes are no bounds: data count as safer for REM than they are.
Polygons.__init__: levels, within ==> within, levels
    planning/test_accountant.py::test_refusals_spend_and_seeded_runs_are_marked
Polygons.upper: level > self.top ==> level >= self.top
    mechanisms/test_rem.py::test_one_swap_moves_the_chance_by_no_more_than_it_may[paper-2-True]
grid_points_in_polygon: first + 1 ==> first
    sizes/test_level_sizes.py::test_polygons_are_counted_exactly[0]
_floors: start + 1 ==> start
    sizes/test_level_sizes.py::test_polygons_are_counted_exactly[0]
_lowest: = max(first ==> = min(first
    sizes/test_level_sizes.py::test_polygons_are_counted_exactly[0]
floor_sum: * (n - 1) / ==> * (n) /
    sizes/test_level_sizes.py::test_sums_of_floors
# sizes/polyhedra.py: sizes are no bounds: data count as safer for REM than they are.
volume: _Polyhedron(region).volume() ==> None
    sizes/test_polyhedra.py::test_closed_forms
_Corner.third: self.planes if r not in (p, q) ==> self.planes
    sizes/test_polyhedra.py::test_closed_forms
_Polyhedron.__init__: self._excess.max ==> self._excess.min
    sizes/test_polyhedra.py::test_closed_forms
_Polyhedron.volume: return Fraction(max(0, ==> return Fraction(min(0,
    sizes/test_polyhedra.py::test_closed_forms
_Polyhedron._box: < -self._planes ==> < self._planes
    sizes/test_polyhedra.py::test_empty_and_flat_sets_have_no_volume
_Polyhedron._cut: corner.planes if face != p ==> corner.planes
    sizes/test_polyhedra.py::test_closed_forms
_Polyhedron._number: room = max(8, ==> room = min(8,
    sizes/test_polyhedra.py::test_closed_forms
_Polyhedron._add: ] = max(-1.0 ==> ] = min(-1.0
    sizes/test_polyhedra.py::test_floats_alone_would_not_do
_Polyhedron._meet: > 0 else ==> > 1 else
    sizes/test_polyhedra.py::test_closed_forms
_six_volumes: abs(a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) ==> a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g
    sizes/test_polyhedra.py::test_closed_forms
# sizes/slices.py: sizes are no bounds: data count as safer for REM than they are.
Slice.k: self.frame.shape[1] ==> self.frame.shape[1] - 1
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
Slice.along: np.minimum ==> np.maximum
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch2-False]
Slice.bounded: sign * int(j == column) ==> sign
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch2-False]
Slice.on_plane: np.minimum ==> np.maximum
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
Slice.at: self.origin + self.frame ==> self.origin - self.frame
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
points_of_plane: products) if c) ==> products))
    exact/test_grid_planes.py::test_all_grid_points_of_a_plane_are_found_once[2]
_nearest: 2 * (adjugate @ (basis.T @ point)) ==> 2
    exact/test_grid_planes.py::test_all_grid_points_of_a_plane_are_found_once[2]
pinned: = min(offset ==> = max(offset
    exact/test_grid_planes.py::test_pairs_that_leave_one_value_pin_a_plane
count_in_slices: limit, region ==> region, limit
    exact/test_slices.py::test_regions_are_counted[1]
_Measured.place: matrix @ self.centre, np.maximum(np.ptp(corners, axis=0), 1.0) ==> np.maximum(np.ptp(corners, axis=0), 1.0), matrix @ self.centre
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch2-False]
SliceCount.__init__: = -region.offsets ==> = region.offsets
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
SliceCount.upto: return min( ==> return max(
    exact/test_slices.py::test_regions_are_counted[1]
SliceCount._in_simplex: None or inverted is None ==> None
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch2-True]
SliceCount._in_planes: value - int ==> value + int
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
SliceCount._thinnest: measured.part, int(np.argmin(measured.part.high - measured.part.low)) ==> int(np.argmin(measured.part.high - measured.part.low)), measured.part
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
SliceCount._measured: integers([-b for ==> integers([b for
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
SliceCount._region: box, -box] ==> box, box]
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch2-False]
SliceCount._in_coordinates: self._offsets - self._normals ==> self._offsets + self._normals
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
SliceCount._farthest: = min(refuted ==> = max(refuted
    exact/test_slices.py::test_hidden_sets_are_counted[4-1]
SliceCount._ends: 0).any() ==> 0).all()
    exact/test_slices.py::test_regions_are_counted[1]
SliceCount._holds: self._decide is not None ==> self._decide is None
    exact/test_slices.py::test_hidden_sets_are_counted[4-1]
_units: (1, -1)] ==> (1, 1)]
    exact/test_grid_planes.py::test_a_triangle_as_far_as_the_grid_goes_is_counted[stretch0-False]
_far_apart: whole.shape[1] ==> whole.shape[2]
    exact/test_slices.py::test_hidden_sets_are_counted[1-1]
# steps.py: a record adds more than it is taken to, or noise is not what is paid for.
_by_group: .reshape(-1 ==> .reshape(1
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[cube, interval and spread]
clipped: , -HALF, ==> , HALF,
    test_release.py::test_an_interval_is_shown_with_its_confidence_and_its_note
shortened: np.maximum ==> np.minimum
    mechanisms/test_regression_by_sums.py::test_products_are_those_of_the_definition
_sizes: np.abs(vectors) ==> vectors
    mechanisms/test_table.py::test_sizes_that_a_record_adds_are_a_half_together_and_another_in_its_place_moves_two[False-1]
ByGroup.length: self.groups * self.width ==> self.groups
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[cube, interval and spread]
CellCounts.length: ) * self.cells ==> )
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
CellCounts.__call__: np.floor ==> np.ceil
    mechanisms/test_clipped_mean.py::test_values_outside_windows_are_counted_and_a_record_moves_each_count_by_nothing_or_one
CellCounts.most_beyond: np.maximum ==> np.minimum
    mechanisms/test_clipped_mean.py::test_a_record_moves_the_most_on_one_side_of_a_cell_by_one
CellCounts._up_to: .reshape(-1 ==> .reshape(1
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
BeyondCounts.length: ) + self.columns.d ==> ) - self.columns.d
    planning/test_accountant.py::test_interrupted_runs_have_spent[mean, interval by sd]
BeyondCounts.__call__: beyond.reshape(-1 ==> beyond.reshape(1
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[cube, interval and spread]
BeyondCounts.counts: list(beyond), list(total[end:]) ==> list(total[end:]), list(beyond)
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
Window.within: 2.0 * np.clip(filled, low, high) ==> 2.0
    test_release.py::test_an_interval_is_shown_with_its_confidence_and_its_note
WindowSums.width: self.squared is None ==> self.squared is not None
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[cube, interval and spread]
deepest_cells: ] * len(counts) ==> ]
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
rung: paid.bits())[0] ==> paid.bits())[1]
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
drawn_places: sorted({rows for ladder in ladders for rows in ladder.rows if rows >= fewest}, reverse=True) ==> {rows for ladder in ladders for rows in ladder.rows if rows >= fewest}
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
_Ladder.of: "stable" ==> "x"
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
_Ladder.weight_up_to: rows) - 1] ==> rows)]
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
_Ladder.drawn: bits.below ==> bits.above
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval and spread]
CategoryCounts.width: math.prod(self.sizes) + self.rest ==> math.prod(self.sizes) + self.rest + 1
    mechanisms/test_counts.py::test_a_record_is_in_one_cell_of_a_cross_table
_between: ="right" ==> ="left"
    mechanisms/test_counts.py::test_intervals_have_their_lower_ends_and_the_last_one_both
TableCounts.width: self.records + len ==> self.records - len
    mechanisms/test_clipped_mean.py::test_persons_and_groups_are_told_of_together
TableCounts._there: inside[:, j], self.sizes[j] ==> self.sizes[j], inside[:, j]
    mechanisms/test_table.py::test_every_number_of_a_record_is_a_half_at_most_and_moves_by_two[1]
NormSums.width: len(self.places) ==> len(self.places) + 1
    mechanisms/test_regression_by_sums.py::test_fits_are_the_same_for_any_unit
NormSums.away: relative - np.array ==> relative + np.array
    mechanisms/test_table.py::test_sizes_that_a_record_adds_are_a_half_together_and_another_in_its_place_moves_two[False-1]
ProductSums.width: * (m + 1) / ==> * (m) /
    mechanisms/test_regression_by_sums.py::test_fits_are_the_same_for_any_unit
ProductSums.away: numbers[:, -1] ==> numbers[:, 1]
    mechanisms/test_regression_by_sums.py::test_products_are_those_of_the_definition
NormBeyond.length: len(self.radii) ==> len(self.radii) + 1
    mechanisms/test_regression_by_sums.py::test_fits_are_the_same_for_any_unit
NormBeyond.__call__: (axis=0) ==> (axis=1)
    mechanisms/test_regression_by_sums.py::test_a_record_is_beyond_a_size_and_all_smaller_ones_or_not
OutsideCounts.length: ) * len(self.windows) ==> )
    mechanisms/test_found_bounds.py::test_whatever_the_cells_are_there_is_a_release[cells1]
_rows: ), width ==> )
    planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[cube, interval and spread]
# streams/rows.py: a table that changes is not noticed, or is told about.
StreamedRows.__init__: table, grid ==> grid, table
    audit/test_replay.py::test_a_neighbour_is_told_apart_by_no_more_than_is_stated[boxem in chunks that are not kept]
StreamedRows.d: self._columns]) ==> self._columns]) + 1
    audit/test_replay.py::test_a_neighbour_is_told_apart_by_no_more_than_is_stated[boxem in chunks that are not kept]
StreamedRows.blocks: read = 0 ==> read = 1
    audit/test_replay.py::test_a_neighbour_is_told_apart_by_no_more_than_is_stated[boxem in chunks that are not kept]
changed: _paid(used_up()) ==> None
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
used_up: "must give the same rows in every pass" ==> "x"
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
_paid: , error.value ==>
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
# streams/streamed_levels.py: streamed level sets are not those of the definition.
RankCells.__init__: edges, np.concatenate([[0], np.cumsum(counts)]) ==> np.concatenate([[0], np.cumsum(counts)]), edges
    depth/test_streamed_levels.py::test_rough_ranks_are_in_their_cells_and_ascend
RankCells.rows: self.below[-1 ==> self.below[1
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon1-coarse grid]
RankCells.kept: sum(len(values) for values in self._kept.values()) ==> None
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
RankCells.keep: self.below ==> self.above
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
RankCells.cell_of: rank) - 1 ==> rank) - 2
    depth/test_streamed_levels.py::test_rough_ranks_are_in_their_cells_and_ascend
RankCells.ends: cell - 1]) if ==> cell - 2]) if
    depth/test_streamed_levels.py::test_rough_ranks_are_in_their_cells_and_ascend
RankCells.missing: last) + 1) ==> last))
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
RankCells.count: cell + 1 ==> cell
    depth/test_streamed_levels.py::test_rough_ranks_are_in_their_cells_and_ascend
RankCells.found_around: self.count(first - 1) ==> self.count(first + 1)
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon1-coarse grid]
RankCells.divide: [cell + 1] ==> [cell]
    depth/test_streamed_levels.py::test_a_source_that_changes_is_noticed_before_its_counts_are_used
RankCells.splits: sorted(inside) ==> inside
    depth/test_streamed_levels.py::test_a_source_that_changes_is_noticed_before_its_counts_are_used
RankCells.rough: return high - 1 ==> return high
    depth/test_streamed_levels.py::test_rough_ranks_are_in_their_cells_and_ascend
RankCells.bounds_at: ="right" ==> ="left"
    depth/test_streamed_levels.py::test_branches_grow_from_a_window_as_from_sorted_projections
RankCells.rough_at: [1:-1].astype ==> [1:1].astype
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon1-coarse grid]
RankCells._known: return self._single(cell) or int ==> return int
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
RankCells._single: high - low ==> high + low
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
edges_by: > 1] + 1) ==> > 1])
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
RoughLevels.__init__: np.empty((len(directions), 0), dtype=np.int64), m ==> m, np.empty((len(directions), 0), dtype=np.int64)
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon0-fine grid]
RoughLevels.rows: self._cells[0].rows ==> self._cells[0].rows + 1
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon1-coarse grid]
RoughLevels.offsets: level - 1 ==> level + 1
    depth/test_streamed_levels.py::test_what_is_foreseen_is_not_asked_for_again
RoughLevels.depths: points @ v ==> points * v
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon1-coarse grid]
streamed_level_sets: rows.memory // (_WHOLE_SHARE * _BYTES * (rows.d + len(directions))) ==> rows.memory
    depth/test_streamed_levels.py::test_a_count_that_misses_rows_or_has_them_twice_is_not_believed
_survey: np.empty((0, rows.d ==> np.empty((1, rows.d
    depth/test_streamed_levels.py::test_rows_that_fit_are_held_and_nothing_is_read_twice
StreamedLevels.__init__: (e) + 1, dtype ==> (e), dtype
    depth/test_streamed_levels.py::test_every_row_counts_once_where_threads_cannot_be_started[failing2]
StreamedLevels.rows: self._count ==> self._count - 1
    depth/test_streamed_levels.py::test_every_row_counts_once_where_threads_cannot_be_started[failing2]
StreamedLevels.table: raise LookupError ==> return LookupError
    depth/test_streamed_levels.py::test_what_is_not_held_is_not_handed_out
StreamedLevels.projections: raise LookupError ==> return LookupError
    depth/test_streamed_levels.py::test_what_is_not_held_is_not_handed_out
StreamedLevels.rough: = RoughLevels(self._cells, self.directions, ==> = RoughLevels(self.directions, self._cells,
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon0-fine grid]
StreamedLevels.passes: self._passes.taken ==> self._passes.taken + 1
    depth/test_streamed_levels.py::test_what_is_foreseen_is_not_asked_for_again
StreamedLevels.with_directions: raise LookupError ==> return LookupError
    depth/test_streamed_levels.py::test_what_is_not_held_is_not_handed_out
StreamedLevels.foresee: max(first, last - self._most_levels), last ==> last, max(first, last - self._most_levels)
    depth/test_streamed_levels.py::test_what_is_foreseen_is_not_asked_for_again
StreamedLevels.offsets: (level - 1), self._found(self.rows - level ==> (self.rows - level), self._found(level - 1
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
StreamedLevels.ensure: upto is None ==> upto is not None
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon0-fine grid]
StreamedLevels.depths: start + at_once ==> start - at_once
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon1-coarse grid]
StreamedLevels._most_levels: return max( ==> return min(
    depth/test_streamed_levels.py::test_what_is_foreseen_is_not_asked_for_again
StreamedLevels._wider_window: = max(first ==> = min(first
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon0-fine grid]
StreamedLevels._found: rank)[0] for ==> rank)[1] for
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
StreamedLevels._ranks: 1, min(a ==> 1, max(a
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
StreamedLevels._missing: cells.missing(a, b)} ==> cells.missing(a)}
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
StreamedLevels._amount: self._cells, missing ==> missing, self._cells
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
StreamedLevels._keep: (cells, here ==> (here, cells
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
StreamedLevels._cut: (e) + 1, dtype ==> (e), dtype
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[24000-epsilon1-fine grid]
_question: low)) + 1 ==> low))
    depth/test_streamed_levels.py::test_believing_the_sample_instead_of_counting_is_caught
_sorted: , axis=0) ==> , axis=1)
    depth/test_streamed_levels.py::test_a_seeded_draw_is_the_one_from_sorted_projections[1048576-epsilon0-fine grid]
# streams/tallies.py: streamed level sets are not those of the definition.
compile_once: (rows, 0 ==> (0, rows
    audit/test_replay.py::test_a_neighbour_is_told_apart_by_no_more_than_is_stated[boxem in chunks]
Seen.then: self.rows + len ==> self.rows - len
    depth/test_streamed_levels.py::test_a_count_that_misses_rows_or_has_them_twice_is_not_believed
Passes.__init__: self.taken = 0  # how ==> self.taken = 1  # how
    depth/test_streamed_levels.py::test_what_is_foreseen_is_not_asked_for_again
_Work.__init__: directions, tally ==> tally, directions
    depth/test_streamed_levels.py::test_a_count_that_misses_rows_or_has_them_twice_is_not_believed
_Work.count: range(0, ==> range(1,
    depth/test_streamed_levels.py::test_frequent_values_have_cells_of_their_own_and_need_not_be_kept
_guide: shift = max(0, ==> shift = min(0,
    depth/test_streamed_levels.py::test_a_count_that_misses_rows_or_has_them_twice_is_not_believed
# streams/tally_loops.py: streamed level sets are not those of the definition.
_tallied: ="right" ==> ="left"
    trusted/test_kernels.py::test_hostile_arguments
_mixed: 0x9E3779B97F4A7C15 ==> 11400714819323198484
    trusted/test_kernels.py::test_hostile_arguments
checksum: np.uint64(0) ==> np.uint64(1)
    trusted/test_kernels.py::test_hostile_arguments
# threads.py: an item is lost, or a failure: what comes first depends on timing.
for_each: for_each_with(lambda: None, items, lambda item, _: work(item), threads, until=until) ==> pass
    test_threads.py::test_every_item_is_worked_on_once[1]
for_each_with: work(item, own) ==> pass
    test_threads.py::test_every_item_is_worked_on_once[1]
in_threads: work(stopped) ==> pass
    test_threads.py::test_one_failure_stops_the_others[main]
ForkLock.__init__: after_in_child=self._renew ==> after_in_child=lambda: None
    test_threads.py::test_a_child_of_a_fork_has_a_lock_that_nobody_holds
ForkLock._renew: self.lock = threading.RLock() ==> self.lock = getattr(self, "lock", threading.RLock())
    test_threads.py::test_a_child_of_a_fork_has_a_lock_that_nobody_holds
"""

MUTANTS = tuple(read(TABLE))
