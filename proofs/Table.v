(* The table of prices: what each primitive may weigh for an epsilon, one theorem a row. Three columns: a record is replaced
   and there are no groups, or one; a record is replaced and there are two groups or more; a record comes or goes. *)
Require Import Reals List Lra Lia ZArith.
Require Import Laws Prices Depth Concentrated Noise Accountant Mechanisms.
Import ListNotations.
Open Scope R_scope.

(* What a draw of bounded range costs: epsilon, and epsilon^2/8 as zCDP. *)
Definition costs {Y} (eps : R) (p q : Y -> R) (ys : list Y) : Prop :=
  private eps 0 p q ys /\ concentrated (eps ^ 2 / 8) p q ys.
Definition both {Y} (p q : Y -> R) (o : Y * Y) : R := p (fst o) * q (snd o).

Lemma concentrated_more {Y} r s (p q : Y -> R) ys : r <= s -> concentrated r p q ys -> concentrated s p q ys.
Proof.
  intros H C a Ha. eapply Rle_trans; [apply C; auto |]. apply exp_le. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | auto].
Qed.

Lemma concentrated_both {Y} r s (p q p' q' : Y -> R) ys : (forall y, In y ys -> 0 < p y /\ 0 < q y) ->
  (forall y, In y ys -> 0 < p' y /\ 0 < q' y) -> concentrated r p q ys -> concentrated s p' q' ys ->
  concentrated (r + s) (both p p') (both q q') (pairs ys ys).
Proof.
  intros H H' C C' a Ha. unfold moment. rewrite total_pairs.
  rewrite (total_ext _ (fun y => moment a p' q' ys * part a (p y) (q y))).
  - rewrite total_scale. replace ((a - 1) * a * (r + s)) with ((a - 1) * a * r + (a - 1) * a * s) by ring. rewrite exp_plus, Rmult_comm.
    apply Rmult_le_compat; [| | apply C | apply C']; auto; apply total_nonneg; intros y Hy; apply part_nonneg;
      [destruct (H y Hy) | destruct (H' y Hy)]; lra.
  - intros y Hy. unfold moment. rewrite Rmult_comm, <- total_scale. apply total_ext. intros z Hz. unfold both. cbn [fst snd].
    destruct (H y Hy), (H' z Hz). apply part_product; lra || auto.
Qed.

Section Draws.
Context {Row Outcome : Type}.
Variables (grid : list Outcome) (base : Outcome -> R).
Hypothesis base_pos : forall y, In y grid -> 0 < base y.
Hypothesis some : grid <> [].
Notation range := (range_at_most grid).
Notation weighing k u rows := (draw grid base k (u rows)).

Definition score := list Row -> Outcome -> R.
(* kappa = k epsilon pays for ... *)
Definition replaced_at (k : R) (u : score) : Prop := forall eps x x' rows, 0 < eps ->
  costs eps (weighing (k * eps) u (x :: rows)) (weighing (k * eps) u (x' :: rows)) grid.
Definition added_at (k : R) (u : score) : Prop := forall eps x rows, 0 < eps ->
  costs eps (weighing (k * eps) u (x :: rows)) (weighing (k * eps) u rows) grid /\
  costs eps (weighing (k * eps) u rows) (weighing (k * eps) u (x :: rows)) grid.
Definition moved_at (k : R) (u : score) : Prop := forall eps x x' here there, 0 < eps ->
  costs eps (both (weighing (k * eps) u (x :: here)) (weighing (k * eps) u there))
            (both (weighing (k * eps) u here) (weighing (k * eps) u (x' :: there))) (pairs grid grid).

(* A row of the table: with one group or none a record may be replaced, or leave the only group; with more groups it may
   also move from one to another. *)
Definition prices (u : score) (alone groups added : R) : Prop :=
  (replaced_at alone u /\ added_at alone u) /\
  (moved_at groups u /\ replaced_at groups u /\ added_at groups u) /\
  added_at added u.

Lemma draw_pos k w y : In y grid -> 0 < draw grid base k w y.
Proof. intros Hy. unfold draw. apply Rdiv_lt_0_compat; [apply (weight_pos grid); auto | apply all_weights_pos; auto]. Qed.

Lemma draw_costs eps k r u v : 0 <= k -> 0 <= r -> k * r <= eps -> range r u v -> costs eps (draw grid base k u) (draw grid base k v) grid.
Proof.
  intros Hk Hr L H. assert (0 <= k * r) by (apply Rmult_le_pos; auto). split.
  - apply (weaker (k * r) 0); try lra; [| apply draw_private; auto]. intros y Hy. left. apply draw_pos; auto.
  - apply (concentrated_more ((k * r) ^ 2 / 8)); [| apply draw_rho; auto].
    assert ((k * r) ^ 2 <= eps ^ 2) by (apply pow_incr; lra). lra.
Qed.

Lemma both_cost eps k r s u v w t : 0 <= k -> 0 <= r -> 0 <= s -> k * r + k * s <= eps -> range r u v -> range s w t ->
  costs eps (both (draw grid base k u) (draw grid base k w)) (both (draw grid base k v) (draw grid base k t)) (pairs grid grid).
Proof.
  intros Hk Hr Hs L Huv Hwt. assert (0 <= k * r) by (apply Rmult_le_pos; auto). assert (0 <= k * s) by (apply Rmult_le_pos; auto). split.
  - apply private_pointwise. intros [y z] Hin. unfold pairs in Hin. apply in_flat_map in Hin. destruct Hin as [y' [Hy Hz]].
    apply in_map_iff in Hz. destruct Hz as [z' [Eq Hz]]. inversion Eq; subst y' z'. unfold both. cbn [fst snd].
    pose proof (draw_loses_the_range grid base k Hk base_pos some r u v Huv y Hy) as A.
    pose proof (draw_loses_the_range grid base k Hk base_pos some s w t Hwt z Hz) as B.
    pose proof (draw_pos k u y Hy). pose proof (draw_pos k w z Hz). pose proof (draw_pos k v y Hy). pose proof (draw_pos k t z Hz).
    apply Rle_trans with (exp (k * r) * draw grid base k v y * (exp (k * s) * draw grid base k t z)).
    + apply Rmult_le_compat; lra.
    + replace (exp (k * r) * draw grid base k v y * (exp (k * s) * draw grid base k t z))
        with (exp (k * r) * exp (k * s) * (draw grid base k v y * draw grid base k t z)) by ring.
      rewrite <- exp_plus. apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | apply exp_le; auto].
  - apply (concentrated_more ((k * r) ^ 2 / 8 + (k * s) ^ 2 / 8)).
    + assert ((k * r + k * s) ^ 2 <= eps ^ 2) by (apply pow_incr; lra).
      assert (0 <= 2 * (k * r) * (k * s)) by (apply Rmult_le_pos; lra). simpl in *. lra.
    + apply concentrated_both; try (intros; split; apply draw_pos; auto); apply draw_rho; auto.
Qed.

(* One rule. *)
(* @says One rule for draws: a score that declares A1 and R1 <= 2 A1 may weigh epsilon / max(R1, A1) under replacement, epsilon / (2 A1) with two groups or more, epsilon / A1 under add/remove; each costs epsilon, and epsilon^2/8 as zCDP. *)
Theorem one_rule u (a1 r1 : R) : 0 < a1 -> r1 <= 2 * a1 ->
  (forall x rows, range a1 (u (x :: rows)) (u rows) /\ range a1 (u rows) (u (x :: rows))) ->
  (forall x x' rows, range r1 (u (x :: rows)) (u (x' :: rows))) ->
  prices u (/ Rmax r1 a1) (/ (2 * a1)) (/ a1).
Proof.
  intros Ha Hr A B. pose proof (Rmax_l r1 a1). pose proof (Rmax_r r1 a1).
  assert (W : forall r s (v w : Outcome -> R), r <= s -> range r v w -> range s v w).
  { intros r s v w L H' y z Hy Hz. specialize (H' y z Hy Hz). lra. }
  assert (one : forall eps k r v w, 0 < eps -> 0 < k -> r <= k -> range r v w ->
    costs eps (draw grid base (/ k * eps) v) (draw grid base (/ k * eps) w) grid).
  { intros eps k r v w He Hk L Hvw. assert (0 < / k) by (apply Rinv_0_lt_compat; auto).
    apply draw_costs with (r := k); try lra; [apply Rmult_le_pos; lra | right; field; lra | eapply W; eauto]. }
  assert (here : forall k, a1 <= k -> added_at (/ k) u).
  { intros k Hk eps x rows He. split; eapply one; eauto; try lra; apply A. }
  assert (swap : forall k, a1 <= k -> r1 <= k -> replaced_at (/ k) u).
  { intros k Hk Hk' eps x x' rows He. eapply one; eauto; lra. }
  split; [split | split; [split; [| split] |]]; try (apply swap; lra); try (apply here; lra).
  intros eps x x' before after He. apply both_cost with (r := a1) (s := a1); try lra; try apply A; [| right; field; lra].
    apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; lra | lra].
Qed.
End Draws.

(* The rows of the table. *)
Section Rows.
Context {Row Outcome : Type}.
Variables (grid : list Outcome) (base : Outcome -> R).
Hypothesis base_pos : forall y, In y grid -> 0 < base y.
Hypothesis some : grid <> [].
Notation priced := (prices grid base).

(* A score in whole numbers, counted in units of 1/unit. *)
Definition in_units (unit : Z) (u : list Row -> Outcome -> Z) (rows : list Row) (y : Outcome) : R := IZR (u rows y) / IZR unit.

Lemma declared_prices unit a1 r1 (u : list Row -> Outcome -> Z) : (0 < unit)%Z -> (0 < a1)%Z -> (r1 <= 2 * a1)%Z -> declares a1 r1 u ->
  priced (in_units unit u) (/ Rmax (IZR r1 / IZR unit) (IZR a1 / IZR unit)) (/ (2 * (IZR a1 / IZR unit))) (/ (IZR a1 / IZR unit)).
Proof.
  intros Hu Ha Hr [C D]. apply IZR_lt in Hu. apply IZR_lt in Ha. apply IZR_le in Hr. rewrite mult_IZR in Hr.
  assert (I : 0 < / IZR unit) by (apply Rinv_0_lt_compat; auto).
  assert (W : forall r s t, (forall y z, (u s y - u t y) - (u s z - u t z) <= r)%Z ->
    range_at_most grid (IZR r / IZR unit) (in_units unit u s) (in_units unit u t)).
  { intros r s t H y z _ _. unfold in_units, Rdiv. specialize (H y z). apply IZR_le in H. rewrite !minus_IZR in H.
    assert (((IZR (u s y) - IZR (u t y)) - (IZR (u s z) - IZR (u t z))) * / IZR unit <= IZR r * / IZR unit)
      by (apply Rmult_le_compat_r; lra). lra. }
  apply one_rule; auto.
  - apply Rdiv_lt_0_compat; auto.
  - unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra.
  - intros x rows. destruct (C x rows). split; apply W; auto.
  - intros x x' rows. apply W. apply D.
Qed.

Lemma whole_prices a1 r1 k kg ka (u : list Row -> Outcome -> Z) : (0 < a1)%Z -> (a1 <= r1 <= 2 * a1)%Z -> declares a1 r1 u ->
  k = / IZR r1 -> kg = / (2 * IZR a1) -> ka = / IZR a1 -> priced (in_units 1 u) k kg ka.
Proof.
  intros Ha Hr D -> -> ->. pose proof (declared_prices 1 a1 r1 u ltac:(lia) Ha ltac:(lia) D) as H.
  destruct Hr as [Hr _]. apply IZR_le in Hr.
  replace (Rmax (IZR r1 / 1) (IZR a1 / 1)) with (IZR r1) in H by (rewrite Rmax_left; unfold Rdiv; rewrite Rinv_1; lra).
  replace (IZR a1 / 1) with (IZR a1) in H by field. exact H.
Qed.
End Rows.

Notation in_whole u := (in_units 1 u).
Ltac by_rule a r D :=
  eapply whole_prices with (a1 := a) (r1 := r); [eassumption | eassumption | lia | lia | apply D | lra | lra | lra].

Section DepthRow.
Context {Row Half Point : Type}.
Variables (inside : Half -> Point -> Row -> bool) (halves : list Half) (grid : list Point) (base : Point -> R).
Hypothesis base_pos : forall y, In y grid -> 0 < base y.
Hypothesis some : grid <> [].

(* @says Depth of records: epsilon/2, epsilon/2, epsilon. *)
Theorem depth_prices : prices grid base (in_whole (depth Row Half Point inside halves)) (1 / 2) (1 / 2) 1.
Proof. by_rule 1%Z 2%Z depth_declares. Qed.
End DepthRow.

Section LadderRows.
Context {Row Rung : Type}.
Variables (rungs : list Rung) (base : Rung -> R).
Hypothesis base_pos : forall y, In y rungs -> 0 < base y.
Hypothesis some : rungs <> [].

(* @says The most rows beyond a rung, over columns (radii, windows): epsilon/2, epsilon/2, epsilon. *)
Theorem most_prices (outside : nat -> Rung -> Row -> bool) columns :
  prices rungs base (in_whole (fun rows y => - most_beyond Row Rung outside columns rows y)%Z) (1 / 2) (1 / 2) 1.
Proof. by_rule 1%Z 2%Z most_beyond_declares. Qed.

(* @says Windows of all columns at once, by the most rows of a column outside its own: epsilon/2, epsilon/2, epsilon. *)
Theorem windows_prices (candidates : list (list (Z * Z))) (weight : list (Z * Z) -> R) d :
  (forall w, In w candidates -> 0 < weight w) -> candidates <> [] ->
  prices candidates weight (in_whole (fun rows windows => - outside_windows d rows windows)%Z) (1 / 2) (1 / 2) 1.
Proof. intros W N. eapply whole_prices with (a1 := 1%Z) (r1 := 2%Z); auto; [lia | lia | apply windows_declare | lra | lra | lra]. Qed.

(* @says Rows in a window (magnitudes, octaves): epsilon/2, epsilon/2, epsilon. *)
Theorem window_prices (inside : Rung -> Row -> bool) :
  prices rungs base (in_whole (fun rows y => count inside y rows)) (1 / 2) (1 / 2) 1.
Proof. by_rule 1%Z 2%Z counts_in_windows. Qed.

(* @says Distance of a count to a fixed or rounded target: epsilon/2, epsilon/4, epsilon/2. *)
Theorem target_prices (inside : Rung -> Row -> bool) target :
  prices rungs base (in_whole (fun rows y => - Z.abs (count inside y rows - target))%Z) (1 / 2) (1 / 4) (1 / 2).
Proof. by_rule 2%Z 2%Z distance_to_a_target. Qed.
End LadderRows.

Section ColumnRows.
Context {Row : Type}.
Variables (points : list Z) (base : Z -> R).
Hypothesis base_pos : forall y, In y points -> 0 < base y.
Hypothesis some : points <> [].

(* @says Rows beyond nested rungs of one column: epsilon, epsilon/2, epsilon. *)
Theorem nested_prices (rank : Row -> option Z) :
  prices points base (in_whole (fun rows y => - count (beyond Row rank) y rows)%Z) 1 (1 / 2) 1.
Proof. by_rule 1%Z 1%Z nested_rungs. Qed.

Variables (value : Row -> option Z) (num den : Z).
Hypothesis share : (0 <= num <= den /\ 0 < den)%Z.
Notation lost := (fun rows y => - off Row value num den rows y)%Z.
Definition larger_share : R := Rmax (IZR num / IZR den) (1 - IZR num / IZR den).

Lemma larger_share_value : IZR (mu num den) / IZR den = larger_share.
Proof.
  destruct share as [_ Hd]. apply IZR_lt in Hd. unfold larger_share, mu.
  assert (I : 0 < / IZR den) by (apply Rinv_0_lt_compat; auto).
  assert (E : 1 - IZR num / IZR den = IZR (den - num) / IZR den) by (rewrite minus_IZR; field; lra). rewrite E.
  destruct (Z.max_spec num (den - num)) as [[L ->] | [L ->]].
  - rewrite Rmax_right; auto. apply Rmult_le_compat_r; [lra | apply IZR_le; lia].
  - rewrite Rmax_left; auto. apply Rmult_le_compat_r; [lra | apply IZR_le; lia].
Qed.

Lemma larger_share_range : / 2 <= larger_share <= 1.
Proof.
  destruct share as [[H0 H1] Hd]. apply IZR_le in H0. apply IZR_le in H1. apply IZR_lt in Hd. unfold larger_share.
  assert (0 <= IZR num / IZR den <= 1).
  { split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto] |].
    apply Rmult_le_reg_r with (IZR den); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  unfold Rmax. destruct (Rle_dec _ _); lra.
Qed.

(* @says A quantile p with the target p k, k the values that are there, m = max(p, 1-p): epsilon/2, epsilon/(4 m), epsilon/(2 m) for each rank. *)
Theorem quantile_prices : prices points base (in_units den lost) (1 / 2) (1 / (4 * larger_share)) (1 / (2 * larger_share)).
Proof.
  pose proof larger_share_range as L. pose proof larger_share_value as V. destruct share as [Hs Hd].
  pose proof (declared_prices points base base_pos some den (2 * mu num den) (2 * den) lost Hd ltac:(unfold mu; lia) ltac:(unfold mu; lia)
    (quantile_declares Row value num den Hs Hd)) as H.
  apply IZR_lt in Hd. rewrite !mult_IZR in H.
  replace (2 * IZR (mu num den) / IZR den) with (2 * larger_share) in H by (rewrite <- V; field; lra).
  replace (2 * IZR den / IZR den) with 2 in H by (field; lra). rewrite Rmax_left in H by lra.
  replace (1 / (4 * larger_share)) with (/ (2 * (2 * larger_share))) by (field; lra).
  replace (1 / (2 * larger_share)) with (/ (2 * larger_share)) by (field; lra).
  replace (1 / 2) with (/ 2) by field. exact H.
Qed.

(* @says The least and the largest value (p = 0 or 1): epsilon, epsilon/2, epsilon. *)
Theorem quantile_ends_prices : (num = 0 \/ num = den)%Z -> prices points base (in_units den lost) 1 (1 / 2) 1.
Proof.
  intros He. destruct share as [Hs Hd].
  pose proof (declared_prices points base base_pos some den den den lost Hd Hd ltac:(lia) (quantile_ends Row value num den Hs Hd He)) as H.
  apply IZR_lt in Hd. replace (IZR den / IZR den) with 1 in H by (field; lra). rewrite Rmax_left in H by lra.
  replace (1 / 2) with (/ (2 * 1)) by field. replace 1 with (/ 1) by field.
  replace (/ (2 * / 1)) with (/ (2 * 1)) by field. exact H.
Qed.
End ColumnRows.

(* Quantiles of the parts of one level: a record is replaced inside a part, or goes from one part to another. *)
Section Parts.
Context {Row : Type}.
Variables (points : list Z) (base : Z -> R).
Hypothesis base_pos : forall y, In y points -> 0 < base y.
Hypothesis some : points <> [].
Variables (value : Row -> option Z) (n1 d1 n2 d2 : Z).
Hypothesis share1 : (0 <= n1 <= d1 /\ 0 < d1)%Z.
Hypothesis share2 : (0 <= n2 <= d2 /\ 0 < d2)%Z.
Notation lost n d := (in_units d (fun rows y => - off Row value n d rows y)%Z).
Notation m1 := (larger_share n1 d1).
Notation m2 := (larger_share n2 d2).
Definition part_weight (eps : R) : R := eps / (2 * Rmax 1 (m1 + m2)).

Lemma off_range n d s t : (0 <= n <= d /\ 0 < d)%Z -> forall r,
  (forall y z, (- off Row value n d s y - - off Row value n d t y) - (- off Row value n d s z - - off Row value n d t z) <= r)%Z ->
  range_at_most points (IZR r / IZR d) (lost n d s) (lost n d t).
Proof.
  intros [_ Hd] r H y z _ _. apply IZR_lt in Hd. unfold in_units, Rdiv. specialize (H y z). apply IZR_le in H.
  rewrite !minus_IZR in H. assert (I : 0 < / IZR d) by (apply Rinv_0_lt_compat; auto).
  match goal with |- ?l <= _ => replace l with (((IZR (- off Row value n d s y) - IZR (- off Row value n d t y)) -
    (IZR (- off Row value n d s z) - IZR (- off Row value n d t z))) * / IZR d) by ring end.
  apply Rmult_le_compat_r; lra.
Qed.

(* @says Quantiles of the parts of one level, epsilon / (2 max(1, m + m')) for each rank, m and m' of the two parts that a replaced record leaves and comes to: epsilon, and epsilon^2/8 as zCDP. *)
Theorem parts_prices eps x x' here there : 0 < eps ->
  costs eps (both (draw points base (part_weight eps) (lost n1 d1 (x :: here))) (draw points base (part_weight eps) (lost n2 d2 there)))
            (both (draw points base (part_weight eps) (lost n1 d1 here)) (draw points base (part_weight eps) (lost n2 d2 (x' :: there))))
            (pairs points points) /\
  costs eps (draw points base (part_weight eps) (lost n1 d1 (x :: here))) (draw points base (part_weight eps) (lost n1 d1 (x' :: here))) points.
Proof.
  intros He. pose proof (larger_share_range n1 d1 share1) as L1. pose proof (larger_share_range n2 d2 share2) as L2.
  pose proof (larger_share_value n1 d1 share1) as V1. pose proof (larger_share_value n2 d2 share2) as V2.
  set (S := Rmax 1 (m1 + m2)). assert (S1 : 1 <= S) by apply Rmax_l. assert (S2 : m1 + m2 <= S) by apply Rmax_r.
  assert (K : 0 < part_weight eps) by (unfold part_weight; fold S; apply Rdiv_lt_0_compat; lra).
  assert (KS : part_weight eps * (2 * S) = eps) by (unfold part_weight; fold S; field; lra).
  assert (D1 : 0 < IZR d1) by (apply IZR_lt; lia). assert (D2 : 0 < IZR d2) by (apply IZR_lt; lia).
  split.
  - apply both_cost with (r := 2 * m1) (s := 2 * m2); auto; try lra.
    + assert (part_weight eps * (2 * (m1 + m2)) <= part_weight eps * (2 * S)) by (apply Rmult_le_compat_l; lra). lra.
    + replace (2 * m1) with (IZR (2 * mu n1 d1) / IZR d1) by (rewrite mult_IZR, <- V1; field; lra).
      apply off_range; auto. intros y z. apply (proj1 (quantile_comes_or_goes Row value n1 d1 ltac:(lia) x here)).
    + replace (2 * m2) with (IZR (2 * mu n2 d2) / IZR d2) by (rewrite mult_IZR, <- V2; field; lra).
      apply off_range; auto. intros y z. apply (proj2 (quantile_comes_or_goes Row value n2 d2 ltac:(lia) x' there)).
  - apply draw_costs with (r := 2); auto; try lra.
    + assert (part_weight eps * 2 <= part_weight eps * (2 * S)) by (apply Rmult_le_compat_l; lra). lra.
    + replace 2 with (IZR (2 * d1) / IZR d1) by (rewrite mult_IZR; field; lra). apply off_range; auto.
      intros y z. apply (replaced _ _ _ _ _ (quantile_declares Row value n1 d1 ltac:(lia) ltac:(lia)) x x' here).
Qed.

(* @says With m the larger share of all parts: epsilon / (2 m) for each rank where a record comes or goes, epsilon / (4 m) where it may go to a part of another group. *)
Theorem parts_prices_elsewhere eps m x x' here there : 0 < eps -> m1 <= m -> m2 <= m ->
  costs eps (draw points base (eps / (2 * m)) (lost n1 d1 (x :: here))) (draw points base (eps / (2 * m)) (lost n1 d1 here)) points /\
  costs eps (draw points base (eps / (2 * m)) (lost n1 d1 here)) (draw points base (eps / (2 * m)) (lost n1 d1 (x :: here))) points /\
  costs eps (both (draw points base (eps / (4 * m)) (lost n1 d1 (x :: here))) (draw points base (eps / (4 * m)) (lost n2 d2 there)))
            (both (draw points base (eps / (4 * m)) (lost n1 d1 here)) (draw points base (eps / (4 * m)) (lost n2 d2 (x' :: there))))
            (pairs points points).
Proof.
  intros He H1 H2. pose proof (larger_share_range n1 d1 share1) as L1. pose proof (larger_share_range n2 d2 share2) as L2.
  pose proof (larger_share_value n1 d1 share1) as V1. pose proof (larger_share_value n2 d2 share2) as V2.
  assert (D1 : 0 < IZR d1) by (apply IZR_lt; lia). assert (D2 : 0 < IZR d2) by (apply IZR_lt; lia).
  assert (A : forall w rows, range_at_most points (2 * m1) (lost n1 d1 (w :: rows)) (lost n1 d1 rows) /\
                             range_at_most points (2 * m1) (lost n1 d1 rows) (lost n1 d1 (w :: rows))).
  { intros w rows. replace (2 * m1) with (IZR (2 * mu n1 d1) / IZR d1) by (rewrite mult_IZR, <- V1; field; lra).
    split; apply off_range; auto; intros y z; apply (quantile_comes_or_goes Row value n1 d1 ltac:(lia) w rows). }
  assert (B : range_at_most points (2 * m2) (lost n2 d2 there) (lost n2 d2 (x' :: there))).
  { replace (2 * m2) with (IZR (2 * mu n2 d2) / IZR d2) by (rewrite mult_IZR, <- V2; field; lra).
    apply off_range; auto. intros y z. apply (quantile_comes_or_goes Row value n2 d2 ltac:(lia) x' there). }
  assert (K : 0 <= eps / (2 * m)) by (left; apply Rdiv_lt_0_compat; lra).
  assert (K' : 0 <= eps / (4 * m)) by (left; apply Rdiv_lt_0_compat; lra).
  assert (E : eps / (2 * m) * (2 * m1) <= eps).
  { apply Rle_trans with (eps / (2 * m) * (2 * m)); [apply Rmult_le_compat_l; lra | right; field; lra]. }
  split; [| split]; [apply draw_costs with (r := 2 * m1) | apply draw_costs with (r := 2 * m1) | apply both_cost with (r := 2 * m1) (s := 2 * m2)];
    auto; try lra; try apply A.
  assert (eps / (4 * m) * (2 * m1 + 2 * m2) <= eps / (4 * m) * (4 * m)) by (apply Rmult_le_compat_l; lra).
  replace (eps / (4 * m) * (4 * m)) with eps in H by (field; lra). lra.
Qed.
End Parts.

(* Depth of block values, given the numbers of the blocks that each record was dealt to, in r dealings. *)
Section BlockRow.
Context {Record Value Half Point : Type}.
Variables (inside : Half -> Point -> Value -> bool) (halves : list Half) (value : list Record -> Value) (blocks r : nat).
Variables (grid : list Point) (base : Point -> R) (eps : R).
Hypothesis base_pos : forall y, In y grid -> 0 < base y.
Hypothesis some : grid <> [].
Hypothesis positive : 0 < eps /\ (0 < r)%nat.
Notation T rows := (fun y => IZR (depth_in_dealings Record Value Half Point inside halves value blocks r rows y)).
Notation drawn k rows := (draw grid base k (T rows)).

Lemma r_real : 0 < INR r. Proof. apply lt_0_INR. lia. Qed.

Lemma two_r (f g : Point -> Z) : (forall y, Z.abs (f y - g y) <= Z.of_nat r)%Z ->
  range_at_most grid (2 * INR r) (fun y => IZR (f y)) (fun y => IZR (g y)).
Proof.
  intros H y z _ _. pose proof (H y). pose proof (H z). rewrite <- !minus_IZR.
  replace (2 * INR r) with (IZR (2 * Z.of_nat r)) by (rewrite mult_IZR, <- INR_IZR_INZ; reflexivity). apply IZR_le. lia.
Qed.

(* @says Depth of block values in r dealings, given the dealings: epsilon/(2r) where a record is replaced, comes or goes. *)
Theorem block_prices numbers x x' w rows :
  costs eps (drawn (eps / (2 * INR r)) ((numbers, x) :: rows)) (drawn (eps / (2 * INR r)) ((numbers, x') :: rows)) grid /\
  costs eps (drawn (eps / (2 * INR r)) (w :: rows)) (drawn (eps / (2 * INR r)) rows) grid /\
  costs eps (drawn (eps / (2 * INR r)) rows) (drawn (eps / (2 * INR r)) (w :: rows)) grid.
Proof.
  pose proof r_real. destruct positive as [He Hr].
  assert (K : 0 <= eps / (2 * INR r)) by (left; apply Rdiv_lt_0_compat; lra).
  assert (L : eps / (2 * INR r) * (2 * INR r) <= eps) by (right; field; lra).
  split; [| split]; apply draw_costs with (r := 2 * INR r); auto; try lra; apply two_r; intros y.
  - apply dealt_replaced.
  - apply dealt_one_more.
  - pose proof (dealt_one_more _ _ _ _ inside halves value blocks r w rows y). lia.
Qed.

(* @says With two groups or more epsilon/(4r): a record leaves a block of one group and comes to a block of another. *)
Theorem block_prices_groups w w' here there :
  costs eps (both (drawn (eps / (4 * INR r)) (w :: here)) (drawn (eps / (4 * INR r)) there))
            (both (drawn (eps / (4 * INR r)) here) (drawn (eps / (4 * INR r)) (w' :: there))) (pairs grid grid).
Proof.
  pose proof r_real. destruct positive as [He Hr].
  apply both_cost with (r := 2 * INR r) (s := 2 * INR r); auto; try lra.
  - left. apply Rdiv_lt_0_compat; lra.
  - right. field. lra.
  - apply two_r. intros y. apply dealt_one_more.
  - apply two_r. intros y. pose proof (dealt_one_more _ _ _ _ inside halves value blocks r w' there y). lia.
Qed.

(* @says As zCDP that costs epsilon^2/16. *)
Theorem block_rho_groups w w' here there :
  concentrated (eps ^ 2 / 16)
    (both (drawn (eps / (4 * INR r)) (w :: here)) (drawn (eps / (4 * INR r)) there))
    (both (drawn (eps / (4 * INR r)) here) (drawn (eps / (4 * INR r)) (w' :: there))) (pairs grid grid).
Proof.
  pose proof r_real. destruct positive as [He Hr]. assert (K : 0 <= eps / (4 * INR r)) by (left; apply Rdiv_lt_0_compat; lra).
  replace (eps ^ 2 / 16) with ((eps / (4 * INR r) * (2 * INR r)) ^ 2 / 8 + (eps / (4 * INR r) * (2 * INR r)) ^ 2 / 8) by (field; lra).
  apply concentrated_both; try (intros; split; apply draw_pos; auto); apply draw_rho; auto; try lra; apply two_r; intros y;
    [apply dealt_one_more | pose proof (dealt_one_more _ _ _ _ inside halves value blocks r w' there y); lia].
Qed.

(* @says And with secret dealings, in which every record draws its own numbers: a record more or less. *)
Theorem block_secret_added {S} (deal : S -> R) (deals : list S) (numbers : S -> list (list nat * Record))
  (own : list nat -> R) (owns : list (list nat)) x :
  law deal deals -> law own owns ->
  let k := eps / (2 * INR r) in
  private eps 0 (fun y => total (fun s => deal s * total (fun b => own b * drawn k ((b, x) :: numbers s) y) owns) deals)
                (fun y => total (fun s => deal s * drawn k (numbers s) y) deals) grid /\
  private eps 0 (fun y => total (fun s => deal s * drawn k (numbers s) y) deals)
                (fun y => total (fun s => deal s * total (fun b => own b * drawn k ((b, x) :: numbers s) y) owns) deals) grid.
Proof.
  intros Hd Ho k.
  assert (same : forall (f : Point -> R) y, f y = total (fun b => own b * f y) owns).
  { intros f y. rewrite (total_ext _ (fun b => f y * own b)) by (intros; ring). rewrite total_scale, (law_sums_to_one _ _ Ho). ring. }
  assert (E : forall p q, private eps 0 p q grid -> forall p' q', (forall y, p y = p' y) -> (forall y, q y = q' y) -> private eps 0 p' q' grid).
  { intros p q H p' q' Hp Hq E. specialize (H E). unfold pr in *.
    rewrite (total_ext (fun y => mark (E y) * p' y) (fun y => mark (E y) * p y)) by (intros; rewrite Hp; reflexivity).
    rewrite (total_ext (fun y => mark (E y) * q' y) (fun y => mark (E y) * q y)) by (intros; rewrite Hq; reflexivity). exact H. }
  split; apply mixing; auto; intros s _.
  - eapply E; [apply (mixing eps 0 own owns (fun b => drawn k ((b, x) :: numbers s)) (fun _ => drawn k (numbers s)) grid Ho) | |].
    + intros b _. apply (block_prices [] x x (b, x) (numbers s)).
    + reflexivity.
    + intros y. symmetry. apply (same (drawn k (numbers s))).
  - eapply E; [apply (mixing eps 0 own owns (fun _ => drawn k (numbers s)) (fun b => drawn k ((b, x) :: numbers s)) grid Ho) | |].
    + intros b _. apply (block_prices [] x x (b, x) (numbers s)).
    + intros y. symmetry. apply (same (drawn k (numbers s))).
    + reflexivity.
Qed.
(* @says A record replaced, with any secret dealing (also a permutation of all records): its blocks stay. *)
Theorem block_secret_replaced {S} (deal : S -> R) (deals : list S) (own : S -> list nat) (others : S -> list (list nat * Record)) x x' :
  law deal deals ->
  let told z := (fun y => total (fun s => deal s * drawn (eps / (2 * INR r)) ((own s, z) :: others s) y) deals) in
  private eps 0 (told x) (told x') grid.
Proof. intros Hd told. apply mixing; auto. intros s _. apply (block_prices (own s) x x' (own s, x) (others s)). Qed.

(* @says With two groups or more, a record that moves: it draws its numbers in either group by itself. *)
Theorem block_secret_moved {S} (deal : S -> R) (deals : list S) (own own' : S -> list nat) (here there : S -> list (list nat * Record)) x x' :
  law deal deals ->
  let k := eps / (4 * INR r) in
  private eps 0 (fun o => total (fun s => deal s * both (drawn k ((own s, x) :: here s)) (drawn k (there s)) o) deals)
                (fun o => total (fun s => deal s * both (drawn k (here s)) (drawn k ((own' s, x') :: there s)) o) deals) (pairs grid grid).
Proof. intros Hd k. apply mixing; auto. intros s _. apply (block_prices_groups (own s, x) (own' s, x') (here s) (there s)). Qed.
End BlockRow.

(* Counts in disjoint cells of all groups and categories, discrete Laplace of scale s on each. *)
Section Cells.
Context {Row : Type}.
Variable cell : Row -> option nat.
Definition in_cell (c : nat) (r : Row) : bool := match cell r with Some k => Nat.eqb k c | None => false end.
Notation number c rows := (count (fun (_ : unit) => in_cell c) tt rows).
Fixpoint cells_weight (scale : R) (cells : list nat) (rows : list Row) (out : nat -> Z) : R :=
  match cells with [] => 1 | c :: cs => laplace_weight scale (number c rows) (out c) * cells_weight scale cs rows out end.

Lemma laplace_pos scale s o : 0 < laplace_weight scale s o. Proof. apply exp_pos. Qed.
Lemma cells_pos scale cells rows out : 0 < cells_weight scale cells rows out.
Proof. induction cells; simpl; [lra | apply Rmult_lt_0_compat; [apply laplace_pos | auto]]. Qed.

Lemma one_cell scale cells x rows out : 0 < scale -> NoDup cells ->
  cells_weight scale cells (x :: rows) out <= exp (1 / scale) * cells_weight scale cells rows out /\
  cells_weight scale cells rows out <= exp (1 / scale) * cells_weight scale cells (x :: rows) out.
Proof.
  intros Hs. assert (G : 1 <= exp (1 / scale)).
  { pose proof (exp_le 0 (1 / scale) ltac:(left; apply Rdiv_lt_0_compat; lra)) as G. rewrite exp_0 in G. exact G. }
  induction cells as [| c cs IH]; intros N; [cbn [cells_weight]; lra |]. inversion N as [| ? ? Hc Hn]; subst. cbn [cells_weight].
  pose proof (cells_pos scale cs rows out) as P. pose proof (cells_pos scale cs (x :: rows) out) as P'.
  assert (more : number c (x :: rows) = ((if in_cell c x then 1 else 0) + number c rows)%Z) by apply count_one_more.
  rewrite more. destruct (in_cell c x) eqn:Ec.
  - assert (Ex : cell x = Some c).
    { unfold in_cell in Ec. destruct (cell x) as [k |]; [apply Nat.eqb_eq in Ec; subst; auto | discriminate]. }
    assert (rest : forall l, ~ In c l -> cells_weight scale l (x :: rows) out = cells_weight scale l rows out).
    { clear - Ex. induction l as [| e l IH]; intros Hl; [reflexivity |]. cbn [cells_weight]. rewrite IH by (intros H; apply Hl; right; auto).
      assert (E : number e (x :: rows) = number e rows).
      { rewrite count_one_more. unfold in_cell at 1. rewrite Ex. destruct (Nat.eqb_spec c e) as [-> | _]; [exfalso; apply Hl; left; auto | reflexivity]. }
      rewrite E. reflexivity. }
    rewrite (rest cs Hc).
    split; (rewrite <- Rmult_assoc; apply Rmult_le_compat_r; [lra |]); apply (laplace_private scale 1); auto; lia.
  - destruct (IH Hn) as [A B]. rewrite Z.add_0_l. pose proof (laplace_pos scale (number c rows) (out c)). split.
    + replace (exp (1 / scale) * (laplace_weight scale (number c rows) (out c) * cells_weight scale cs rows out))
        with (laplace_weight scale (number c rows) (out c) * (exp (1 / scale) * cells_weight scale cs rows out)) by ring.
      apply Rmult_le_compat_l; lra.
    + replace (exp (1 / scale) * (laplace_weight scale (number c rows) (out c) * cells_weight scale cs (x :: rows) out))
        with (laplace_weight scale (number c rows) (out c) * (exp (1 / scale) * cells_weight scale cs (x :: rows) out)) by ring.
      apply Rmult_le_compat_l; lra.
Qed.

Variable eps : R.
Hypothesis eps_pos : 0 < eps.

(* @says Counts in disjoint cells of all groups and categories, discrete Laplace of scale 1/epsilon on each: a record more or less. *)
Theorem cells_add_remove cells x rows out : NoDup cells ->
  cells_weight (1 / eps) cells (x :: rows) out <= exp eps * cells_weight (1 / eps) cells rows out /\
  cells_weight (1 / eps) cells rows out <= exp eps * cells_weight (1 / eps) cells (x :: rows) out.
Proof.
  intros N. pose proof (one_cell (1 / eps) cells x rows out ltac:(apply Rdiv_lt_0_compat; lra) N) as H.
  replace (1 / (1 / eps)) with eps in H by (field; lra). exact H.
Qed.

(* @says Of scale 2/epsilon: a record replaced, which may leave one cell and come to another. *)
Theorem cells_replace cells x x' rows out : NoDup cells ->
  cells_weight (2 / eps) cells (x :: rows) out <= exp eps * cells_weight (2 / eps) cells (x' :: rows) out.
Proof.
  intros N. assert (P : 0 < 2 / eps) by (apply Rdiv_lt_0_compat; lra).
  destruct (one_cell (2 / eps) cells x rows out P N) as [A _]. destruct (one_cell (2 / eps) cells x' rows out P N) as [_ B].
  replace (1 / (2 / eps)) with (eps / 2) in * by (field; lra).
  replace (exp eps) with (exp (eps / 2) * exp (eps / 2)) by (rewrite <- exp_plus; f_equal; field).
  pose proof (exp_pos (eps / 2)). rewrite Rmult_assoc.
  apply Rle_trans with (exp (eps / 2) * cells_weight (2 / eps) cells rows out); [auto | apply Rmult_le_compat_l; lra].
Qed.
End Cells.

(* The depth of a released point y, with discrete Laplace noise. *)
Section Certificate.
Context {Row Half Point : Type}.
Variables (inside : Half -> Point -> Row -> bool) (halves : list Half) (y : Point) (eps : R).
Hypothesis eps_pos : 0 < eps.
Notation T rows := (depth Row Half Point inside halves rows y).

(* @says The depth of a released point, discrete Laplace of scale 1/epsilon: a record replaced, more or less. *)
Theorem certificate_prices x x' rows out :
  laplace_weight (1 / eps) (T (x :: rows)) out <= exp eps * laplace_weight (1 / eps) (T (x' :: rows)) out /\
  laplace_weight (1 / eps) (T (x :: rows)) out <= exp eps * laplace_weight (1 / eps) (T rows) out /\
  laplace_weight (1 / eps) (T rows) out <= exp eps * laplace_weight (1 / eps) (T (x :: rows)) out.
Proof.
  pose proof (depth_one_more _ _ _ inside halves x rows y). pose proof (depth_replaced _ _ _ inside halves x x' rows y).
  repeat apply conj; apply single_count; auto; lia.
Qed.

(* @says One in every group, scale 2/epsilon: a record moves. *)
Theorem certificate_groups x x' here there out out' :
  laplace_weight (2 / eps) (T (x :: here)) out * laplace_weight (2 / eps) (T there) out' <=
  exp eps * (laplace_weight (2 / eps) (T here) out * laplace_weight (2 / eps) (T (x' :: there)) out').
Proof.
  pose proof (depth_one_more _ _ _ inside halves x here y). pose proof (depth_one_more _ _ _ inside halves x' there y).
  apply disjoint_cells_replace; auto; lia.
Qed.

Variables (Record : Type) (value : list Record -> Row) (blocks r : nat).
Hypothesis r_pos : (0 < r)%nat.
Notation Tr rows := (depth_in_dealings Record Row Half Point inside halves value blocks r rows y).

(* @says Depth in r tables of block values: scale r/epsilon. *)
Theorem certificate_of_blocks numbers x x' w rows out :
  laplace_weight (INR r / eps) (Tr ((numbers, x) :: rows)) out <= exp eps * laplace_weight (INR r / eps) (Tr ((numbers, x') :: rows)) out /\
  laplace_weight (INR r / eps) (Tr (w :: rows)) out <= exp eps * laplace_weight (INR r / eps) (Tr rows) out /\
  laplace_weight (INR r / eps) (Tr rows) out <= exp eps * laplace_weight (INR r / eps) (Tr (w :: rows)) out.
Proof.
  assert (P : 0 < INR r) by (apply lt_0_INR; lia).
  assert (E : eps = IZR (Z.of_nat r) / (INR r / eps)) by (rewrite <- INR_IZR_INZ; field; lra).
  pose proof (dealt_replaced _ _ _ _ inside halves value blocks r numbers x x' rows y).
  pose proof (dealt_one_more _ _ _ _ inside halves value blocks r w rows y).
  repeat apply conj; rewrite E at 2; apply laplace_private; try (apply Rdiv_lt_0_compat; lra); lia.
Qed.
End Certificate.

(* REM in every group with half of epsilon and half of delta. *)
(* @says REM, or anything else, with (epsilon/2, delta/2) in every group: all groups together are (epsilon, delta)-private where a record moves, and every other group stays. *)
Theorem rem_groups {Y G} (ys : list Y) (gs : list G) (touched : G -> bool) eps delta (p q : G -> Y -> R) : 0 <= eps -> 0 <= delta ->
  (forall g, In g gs -> law (p g) ys /\ law (q g) ys) ->
  (forall g, In g gs -> touched g = true -> private (eps / 2) (delta / 2) (p g) (q g) ys) ->
  (forall g y, In g gs -> touched g = false -> In y ys -> p g y = q g y) ->
  (length (filter touched gs) <= 2)%nat ->
  private eps delta (together (map p gs)) (together (map q gs)) (tuples ys (length gs)).
Proof.
  intros He Hd L T F K. pose proof (parallel_composition ys gs touched (eps / 2) (delta / 2) 2 p q ltac:(lra) ltac:(lra) L T F K) as H.
  replace (INR 2 * (eps / 2)) with eps in H by (simpl; field). replace (INR 2 * (delta / 2)) with delta in H by (simpl; field). exact H.
Qed.
