(* The mechanisms, with the constants that the program uses. [grid] is the public list of points that may be released; a
   table is a list of records; R: one record is replaced, A: one record comes or goes. *)
Require Import Reals List Lra Lia ZArith.
Require Export Records.
Require Import Laws Prices Depth Accountant.
Import ListNotations.
Open Scope R_scope.

Definition real {Row Outcome} (u : list Row -> Outcome -> Z) (rows : list Row) (y : Outcome) : R := IZR (u rows y).

Lemma real_range {Row Outcome} (u : list Row -> Outcome -> Z) ys r s t :
  (forall y z, (u s y - u t y) - (u s z - u t z) <= r)%Z -> range_at_most ys (IZR r) (real u s) (real u t).
Proof.
  intros H y z _ _. unfold real. rewrite <- !minus_IZR. apply IZR_le. apply H.
Qed.

Section OneTable.
Context {Row Outcome : Type}.
Variables (grid : list Outcome) (base : Outcome -> R) (eps : R).
Hypothesis eps_pos : 0 < eps.
Hypothesis base_pos : forall y, In y grid -> 0 < base y.
Hypothesis some : grid <> [].

(* Any score that declares A1 and R1 (Depth.v). *)
(* @says A score that declares A1 and R1, drawn with epsilon / R1, is epsilon-private under replacement. *)
Theorem declared_replace (u : list Row -> Outcome -> Z) a1 r1 : (0 < a1 <= r1)%Z -> declares a1 r1 u ->
  forall x x' rows,
  private eps 0 (draw grid base (eps / IZR r1) (real u (x :: rows))) (draw grid base (eps / IZR r1) (real u (x' :: rows))) grid.
Proof.
  intros Hr H x x' rows. assert (0 < IZR r1) by (apply IZR_lt; lia).
  replace eps with (eps / IZR r1 * IZR r1) at 1 by (field; lra). apply draw_private; auto.
  - left. apply Rdiv_lt_0_compat; lra.
  - apply real_range. intros y z. apply (replaced _ _ _ _ _ H).
Qed.

(* @says Drawn with epsilon / A1 it is so where a record comes or goes. *)
Theorem declared_add_remove (u : list Row -> Outcome -> Z) a1 r1 : (0 < a1)%Z -> declares a1 r1 u ->
  forall x rows,
  private eps 0 (draw grid base (eps / IZR a1) (real u (x :: rows))) (draw grid base (eps / IZR a1) (real u rows)) grid /\
  private eps 0 (draw grid base (eps / IZR a1) (real u rows)) (draw grid base (eps / IZR a1) (real u (x :: rows))) grid.
Proof.
  intros Ha H x rows. assert (0 < IZR a1) by (apply IZR_lt; lia). assert (K : 0 <= eps / IZR a1) by (left; apply Rdiv_lt_0_compat; lra).
  destruct (comes_or_goes _ _ _ _ _ H x rows) as [A B].
  split; replace eps with (eps / IZR a1 * IZR a1) at 1 by (field; lra); apply draw_private; auto; apply real_range; auto.
Qed.

(* Groups: a record that goes from one group to another leaves in one and arrives in the other. *)
(* @says Drawn in every group with epsilon / (2 A1) it is so where a record moves. *)
Theorem declared_move (u : list Row -> Outcome -> Z) a1 r1 : (0 < a1)%Z -> declares a1 r1 u ->
  forall x x' here there y z, In y grid -> In z grid ->
  draw grid base (eps / (2 * IZR a1)) (real u (x :: here)) y * draw grid base (eps / (2 * IZR a1)) (real u there) z <=
  exp eps * (draw grid base (eps / (2 * IZR a1)) (real u here) y * draw grid base (eps / (2 * IZR a1)) (real u (x' :: there)) z).
Proof.
  intros Ha H x x' here there y z Hy Hz. assert (0 < IZR a1) by (apply IZR_lt; lia).
  apply (price_move grid base eps (IZR a1)); auto; try lra; apply real_range.
  - apply (proj1 (comes_or_goes _ _ _ _ _ H x here)).
  - apply (proj2 (comes_or_goes _ _ _ _ _ H x' there)).
Qed.
End OneTable.

(* boxem: weights e^(eps T / 2) under R, e^(eps T) under A, e^(eps T / 2) in every group under R. *)
Section Boxem.
Context {Row Half Point : Type}.
Variables (inside : Half -> Point -> Row -> bool) (halves : list Half) (grid : list Point) (eps : R).
Hypothesis eps_pos : 0 < eps.
Hypothesis some : grid <> [].
Notation T := (depth Row Half Point inside halves).
Definition boxem (kappa : R) (rows : list Row) : Point -> R := draw grid (fun _ => 1) kappa (real T rows).

(* @says boxem with e^(eps T / 2): pure eps-DP, one record replaced. *)
Theorem boxem_replace x x' rows :
  private eps 0 (boxem (eps / 2) (x :: rows)) (boxem (eps / 2) (x' :: rows)) grid.
Proof. apply (declared_replace grid (fun _ => 1) eps eps_pos ltac:(intros; lra) some T 1 2); [lia | apply depth_declares]. Qed.

(* @says boxem with e^(eps T): pure eps-DP, one record more or less. *)
Theorem boxem_add_remove x rows :
  private eps 0 (boxem eps (x :: rows)) (boxem eps rows) grid /\ private eps 0 (boxem eps rows) (boxem eps (x :: rows)) grid.
Proof.
  pose proof (declared_add_remove grid (fun _ => 1) eps eps_pos ltac:(intros; lra) some T 1 2 ltac:(lia)
    (depth_declares _ _ _ inside halves) x rows) as H.
  unfold boxem. replace (eps / IZR 1) with eps in H by (simpl; field). exact H.
Qed.

(* @says boxem in every group with e^(eps T / 2): eps for the two groups together that a record leaves and comes to, and the others stay. *)
Theorem boxem_groups_move x x' here there y z : In y grid -> In z grid ->
  boxem (eps / 2) (x :: here) y * boxem (eps / 2) there z <=
  exp eps * (boxem (eps / 2) here y * boxem (eps / 2) (x' :: there) z).
Proof.
  intros Hy Hz. pose proof (declared_move grid (fun _ => 1) eps eps_pos ltac:(intros; lra) some T 1 2 ltac:(lia)
    (depth_declares _ _ _ inside halves) x x' here there y z Hy Hz) as H.
  unfold boxem. replace (eps / (2 * IZR 1)) with (eps / 2) in H by (simpl; field). exact H.
Qed.

(* Depth of block values: r random partitions, their depths added up, weights e^(eps / (2 r) x sum). For every dealing of
   records to blocks a replaced record changes one row in each of the r tables; the dealing is secret and independent. *)
Notation added := (added Row Half Point inside halves).
Definition subset_means (kappa : R) (tables : list (list Row)) : Point -> R :=
  draw grid (fun _ => 1) kappa (fun y => IZR (added tables y)).

(* @says Depth of subset means, r partitions, e^(eps/(2r) x sum of depths), given the partitions: pure eps-DP. *)
Theorem subset_means_given_a_dealing (blocks : list (list Row * Row * Row)) : blocks <> [] ->
  private eps 0
    (subset_means (eps / (2 * INR (length blocks))) (map (fun b => snd (fst b) :: fst (fst b)) blocks))
    (subset_means (eps / (2 * INR (length blocks))) (map (fun b => snd b :: fst (fst b)) blocks)) grid.
Proof.
  intros Hb. set (r := length blocks). assert (R0 : 0 < INR r) by (apply lt_0_INR; unfold r; destruct blocks; [congruence | cbn [length]; lia]).
  replace eps with (eps / (2 * INR r) * (2 * INR r)) at 1 by (field; lra).
  apply draw_private; auto; [left; apply Rdiv_lt_0_compat; lra | intros; lra |].
  intros y z _ _. pose proof (partitions_range _ _ _ inside halves blocks y z) as H. cbv zeta in H.
  apply IZR_le in H. rewrite !minus_IZR in H.
  replace (IZR (2 * Z.of_nat (length blocks))) with (2 * INR r) in H by (rewrite mult_IZR, <- INR_IZR_INZ; reflexivity). exact H.
Qed.

(* @says And with secret partitions. *)
Theorem subset_means_private {S : Type} (m : S -> R) (secrets : list S) (dealt : S -> list (list Row * Row * Row)) r :
  law m secrets -> (0 < r)%nat -> (forall s, In s secrets -> length (dealt s) = r) ->
  private eps 0
    (fun y => total (fun s => m s * subset_means (eps / (2 * INR r)) (map (fun b => snd (fst b) :: fst (fst b)) (dealt s)) y) secrets)
    (fun y => total (fun s => m s * subset_means (eps / (2 * INR r)) (map (fun b => snd b :: fst (fst b)) (dealt s)) y) secrets)
    grid.
Proof.
  intros Hm Hr Hl. apply mixing; [exact Hm |]. intros s Hs. rewrite <- (Hl s Hs).
  apply subset_means_given_a_dealing. intros E. specialize (Hl s Hs). rewrite E in Hl. simpl in Hl. lia.
Qed.
End Boxem.

(* Clip radii and windows: the most rows beyond, over columns; weights base e^(-eps most / 2). *)
Section Radii.
Context {Row Rung : Type}.
Variables (outside : nat -> Rung -> Row -> bool) (columns : list nat) (rungs : list Rung) (base : Rung -> R) (eps : R).
Hypothesis eps_pos : 0 < eps.
Hypothesis base_pos : forall y, In y rungs -> 0 < base y.
Hypothesis some : rungs <> [].
Notation lost := (fun rows y => - most_beyond Row Rung outside columns rows y)%Z.

(* @says Clip radii with e^(-eps most/2): pure eps-DP. *)
Theorem radii_replace x x' rows :
  private eps 0 (draw rungs base (eps / 2) (real lost (x :: rows))) (draw rungs base (eps / 2) (real lost (x' :: rows))) rungs.
Proof. apply (declared_replace rungs base eps eps_pos base_pos some lost 1 2); [lia | apply most_beyond_declares]. Qed.

(* @says With e^(-eps most): one record more or less. *)
Theorem radii_add_remove x rows :
  private eps 0 (draw rungs base eps (real lost (x :: rows))) (draw rungs base eps (real lost rows)) rungs /\
  private eps 0 (draw rungs base eps (real lost rows)) (draw rungs base eps (real lost (x :: rows))) rungs.
Proof.
  pose proof (declared_add_remove rungs base eps eps_pos base_pos some lost 1 2 ltac:(lia) (most_beyond_declares _ _ outside columns) x rows) as H.
  replace (eps / IZR 1) with eps in H by (simpl; field). exact H.
Qed.
End Radii.

(* A quantile p = num / den: the score is in units of 1/den, so kappa = (eps / 2) / den under R, and eps / (2 mu) under A
   with mu = max(p, 1 - p). *)
Section Quantiles.
Context {Row : Type}.
Variables (value : Row -> option Z) (num den : Z) (points : list Z) (base : Z -> R) (eps : R).
Hypothesis share : (0 <= num <= den /\ 0 < den)%Z.
Hypothesis eps_pos : 0 < eps.
Hypothesis base_pos : forall y, In y points -> 0 < base y.
Hypothesis some : points <> [].
Notation lost := (fun rows y => - off Row value num den rows y)%Z.

(* @says A quantile with public weights times e^(-eps/2 x distance in ranks): pure eps-DP, one record replaced, missing values included. *)
Theorem quantile_replace x x' rows :
  private eps 0 (draw points base (eps / IZR (2 * den)) (real lost (x :: rows)))
                (draw points base (eps / IZR (2 * den)) (real lost (x' :: rows))) points.
Proof.
  apply (declared_replace points base eps eps_pos base_pos some lost (2 * mu num den) (2 * den)).
  - unfold mu. lia.
  - apply quantile_declares; lia.
Qed.

(* @says With public weights times e^(-eps/(2 mu) x distance): one record more or less. *)
Theorem quantile_add_remove x rows :
  private eps 0 (draw points base (eps / IZR (2 * mu num den)) (real lost (x :: rows)))
                (draw points base (eps / IZR (2 * mu num den)) (real lost rows)) points /\
  private eps 0 (draw points base (eps / IZR (2 * mu num den)) (real lost rows))
                (draw points base (eps / IZR (2 * mu num den)) (real lost (x :: rows))) points.
Proof.
  apply ((declared_add_remove points base eps eps_pos base_pos some lost (2 * mu num den) (2 * den)
    ltac:(unfold mu; lia) (quantile_declares _ value num den ltac:(lia) ltac:(lia)) x rows)).
Qed.
End Quantiles.

(* Noised sums. Every record contributes a vector of whole numbers, none beyond h in size, from the middle of the bounds;
   a missing cell contributes 0. Cube noise: weights e^(-largest |z_j| / scale). *)
Section Sums.
Open Scope Z_scope.
Variables (d : nat) (h : Z).
Definition contribution := list Z.
Definition fits (c : contribution) : Prop := length c = d /\ Forall (fun v => Z.abs v <= h) c.
Notation sums := (sums d).

Lemma add_length a : forall b, length a = length b -> length (vector_add a b) = length b.
Proof. induction a as [| x a IH]; intros [| y b] H; simpl in *; try lia. rewrite IH; lia. Qed.
Lemma sums_length rows : Forall fits rows -> length (sums rows) = d.
Proof.
  induction rows as [| c rows IH]; intros H; simpl; [apply repeat_length |].
  inversion H as [| ? ? [L _] Hr]; subst. rewrite add_length; rewrite IH; auto.
Qed.

Lemma moved_by (c : contribution) : forall s, length c = length s -> Forall (fun v => Z.abs v <= h) c -> 0 <= h ->
  largest (vector_minus (vector_add c s) s) <= h.
Proof.
  induction c as [| x c IH]; intros [| y s] L F Hh; simpl in *; try lia. inversion F; subst.
  specialize (IH s ltac:(lia) ltac:(assumption) Hh). lia.
Qed.
Lemma moved_between (c c' : contribution) : forall s, length c = length s -> length c' = length s ->
  Forall (fun v => Z.abs v <= h) c -> Forall (fun v => Z.abs v <= h) c' -> 0 <= h ->
  largest (vector_minus (vector_add c s) (vector_add c' s)) <= 2 * h.
Proof.
  revert c'. induction c as [| x c IH]; intros [| x' c'] [| y s] L L' F F' Hh; cbn [vector_add vector_minus largest length] in *; try lia.
  inversion F; subst. inversion F'; subst. specialize (IH c' s ltac:(lia) ltac:(lia) ltac:(assumption) ltac:(assumption) Hh). lia.
Qed.

Open Scope R_scope.
Definition norm (z : list Z) : R := IZR (largest z).
Definition cube_weight (scale : R) (centre out : list Z) : R := noise_weight vector_minus norm scale centre out.

Lemma cube_private scale far s t : (0 < scale) -> (largest (vector_minus s t) <= far)%Z -> length s = length t ->
  forall out, length out = length s -> cube_weight scale s out <= exp (IZR far / scale) * cube_weight scale t out.
Proof.
  intros Hs Hf Hl out Ho. unfold cube_weight, noise_weight. rewrite <- exp_plus. apply exp_le.
  pose proof (cube_triangle out s t Ho Hl) as T.
  assert (I : 0 < / scale) by (apply Rinv_0_lt_compat; auto). unfold Rdiv, norm.
  assert (IZR (largest (vector_minus out t)) <= IZR (largest (vector_minus out s)) + IZR far) by (rewrite <- plus_IZR; apply IZR_le; lia).
  assert (IZR (largest (vector_minus out t)) * / scale <= (IZR (largest (vector_minus out s)) + IZR far) * / scale)
    by (apply Rmult_le_compat_r; lra). lra.
Qed.

Variable eps : R.
Hypothesis positive : 0 < eps /\ (0 < h)%Z.
Lemma h_real : 0 < IZR h. Proof. apply IZR_lt. lia. Qed.

(* R: scale 2 h / eps; A: h / eps. *)
(* @says Sums of contributions of size at most h, cube noise of scale 2h/eps: weights within e^eps, one record replaced. (As laws: Infinite.sums_cost_replaced.) *)
Theorem sums_replace c c' rows : Forall fits rows -> fits c -> fits c' -> forall out, length out = d ->
  cube_weight (2 * IZR h / eps) (sums (c :: rows)) out <= exp eps * cube_weight (2 * IZR h / eps) (sums (c' :: rows)) out.
Proof.
  intros Hr [L F] [L' F'] out Ho. pose proof h_real. pose proof (sums_length rows Hr) as S.
  assert (Sc : length (sums (c :: rows)) = d) by (simpl; rewrite add_length; lia).
  assert (Sc' : length (sums (c' :: rows)) = d) by (simpl; rewrite add_length; lia).
  replace eps with (IZR (2 * h) / (2 * IZR h / eps)) at 2 by (rewrite mult_IZR; field; lra).
  apply cube_private; [apply Rdiv_lt_0_compat; lra | | congruence | congruence].
  simpl. apply moved_between; lia || auto.
Qed.

(* Counted from an end: contributions from 0 to h. Then h is all that a replaced record can do. *)
Definition fits_from_an_end (c : contribution) : Prop := length c = d /\ Forall (fun v => (0 <= v <= h)%Z) c.
Lemma from_an_end_moves (c c' : contribution) : forall s, length c = length s -> length c' = length s ->
  Forall (fun v => (0 <= v <= h)%Z) c -> Forall (fun v => (0 <= v <= h)%Z) c' -> (0 <= h)%Z ->
  (largest (vector_minus (vector_add c s) (vector_add c' s)) <= h)%Z.
Proof.
  revert c'. induction c as [| x c IH]; intros [| x' c'] [| y s] L L' F F' Hh; cbn [vector_add vector_minus largest length] in *; try lia.
  inversion F; subst. inversion F'; subst. specialize (IH c' s ltac:(lia) ltac:(lia) ltac:(assumption) ltac:(assumption) Hh). lia.
Qed.
Lemma from_an_end_fits c : fits_from_an_end c -> fits c.
Proof. intros [L F]. split; [auto |]. eapply Forall_impl; [| exact F]. simpl. intros. lia. Qed.

(* @says Sums of contributions from 0 to h, cube noise of scale h/eps: weights within e^eps, one record replaced. (As laws: Infinite.sums_from_an_end_cost.) *)
Theorem sums_from_an_end_replace c c' rows : Forall fits_from_an_end rows -> fits_from_an_end c -> fits_from_an_end c' ->
  forall out, length out = d ->
  cube_weight (IZR h / eps) (sums (c :: rows)) out <= exp eps * cube_weight (IZR h / eps) (sums (c' :: rows)) out.
Proof.
  intros Hr [L F] [L' F'] out Ho. pose proof h_real.
  pose proof (sums_length rows ltac:(eapply Forall_impl; [apply from_an_end_fits | exact Hr])) as S.
  assert (Sc : length (sums (c :: rows)) = d) by (simpl; rewrite add_length; lia).
  assert (Sc' : length (sums (c' :: rows)) = d) by (simpl; rewrite add_length; lia).
  replace eps with (IZR h / (IZR h / eps)) at 2 by (field; lra).
  apply cube_private; [apply Rdiv_lt_0_compat; lra | | congruence | congruence].
  simpl. apply from_an_end_moves; lia || auto.
Qed.

(* @says Scale h/eps: one record more or less. *)
Theorem sums_add_remove c rows : Forall fits rows -> fits c -> forall out, length out = d ->
  cube_weight (IZR h / eps) (sums (c :: rows)) out <= exp eps * cube_weight (IZR h / eps) (sums rows) out /\
  cube_weight (IZR h / eps) (sums rows) out <= exp eps * cube_weight (IZR h / eps) (sums (c :: rows)) out.
Proof.
  intros Hr [L F] out Ho. pose proof h_real. pose proof (sums_length rows Hr) as S.
  assert (Sc : length (sums (c :: rows)) = d) by (simpl; rewrite add_length; lia).
  assert (sym : forall a b : list Z, length a = length b -> largest (vector_minus a b) = largest (vector_minus b a)).
  { induction a as [| x a IH]; intros [| y b] Hl; simpl in *; try lia. rewrite (IH b) by lia. lia. }
  assert (M : (largest (vector_minus (sums (c :: rows)) (sums rows)) <= h)%Z) by (simpl; apply moved_by; lia || auto).
  split; replace eps with (IZR h / (IZR h / eps)) at 2 by (field; lra);
    (apply cube_private; [apply Rdiv_lt_0_compat; lra | | congruence | congruence]); [exact M |].
  rewrite sym by congruence. exact M.
Qed.

(* Groups under R: a record leaves one group's sums and joins another's, h in each: scale 2 h / eps in both. *)
(* @says Scale 2h/eps in every group: eps for the two groups together that a record leaves and comes to. (All groups at once: Steps.v.) *)
Theorem sums_groups_move c c' here there : Forall fits here -> Forall fits there -> fits c -> fits c' ->
  forall out out', length out = d -> length out' = d ->
  cube_weight (2 * IZR h / eps) (sums (c :: here)) out * cube_weight (2 * IZR h / eps) (sums there) out' <=
  exp eps * (cube_weight (2 * IZR h / eps) (sums here) out * cube_weight (2 * IZR h / eps) (sums (c' :: there)) out').
Proof.
  intros Hh Ht [L F] [L' F'] out out' Ho Ho'. pose proof h_real.
  pose proof (sums_length here Hh). pose proof (sums_length there Ht).
  assert (Sc : length (sums (c :: here)) = d) by (simpl; rewrite add_length; lia).
  assert (Sc' : length (sums (c' :: there)) = d) by (simpl; rewrite add_length; lia).
  assert (sym : forall a b : list Z, length a = length b -> largest (vector_minus a b) = largest (vector_minus b a)).
  { induction a as [| x a IH]; intros [| y b] Hl; simpl in *; try lia. rewrite (IH b) by lia. lia. }
  assert (P : 0 < 2 * IZR h / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (A : cube_weight (2 * IZR h / eps) (sums (c :: here)) out <= exp (eps / 2) * cube_weight (2 * IZR h / eps) (sums here) out).
  { replace (eps / 2) with (IZR h / (2 * IZR h / eps)) by (field; lra).
    apply cube_private; [exact P | simpl; apply moved_by; lia || auto | congruence | congruence]. }
  assert (B : cube_weight (2 * IZR h / eps) (sums there) out' <= exp (eps / 2) * cube_weight (2 * IZR h / eps) (sums (c' :: there)) out').
  { replace (eps / 2) with (IZR h / (2 * IZR h / eps)) by (field; lra).
    apply cube_private; [exact P | | congruence | congruence].
    rewrite sym by congruence. simpl. apply moved_by; lia || auto. }
  replace (exp eps) with (exp (eps / 2) * exp (eps / 2)) by (rewrite <- exp_plus; f_equal; field).
  assert (forall s o, 0 <= cube_weight (2 * IZR h / eps) s o) by (intros; left; apply exp_pos).
  replace (exp (eps / 2) * exp (eps / 2) * (cube_weight (2 * IZR h / eps) (sums here) out * cube_weight (2 * IZR h / eps) (sums (c' :: there)) out'))
    with (exp (eps / 2) * cube_weight (2 * IZR h / eps) (sums here) out * (exp (eps / 2) * cube_weight (2 * IZR h / eps) (sums (c' :: there)) out')) by ring.
  apply Rmult_le_compat; auto.
Qed.
End Sums.

(* Noised counts: discrete Laplace of scale s on every cell. *)
Section Counts.
Definition laplace_weight (scale : R) (centre out : Z) : R := exp (- (IZR (Z.abs (out - centre)) / scale)).

Lemma laplace_private scale far s t out : 0 < scale -> (Z.abs (s - t) <= far)%Z ->
  laplace_weight scale s out <= exp (IZR far / scale) * laplace_weight scale t out.
Proof.
  intros Hs Hf. unfold laplace_weight. rewrite <- exp_plus. apply exp_le. unfold Rdiv.
  assert (I : 0 < / scale) by (apply Rinv_0_lt_compat; auto).
  assert (IZR (Z.abs (out - t)) <= IZR (Z.abs (out - s)) + IZR far) by (rewrite <- plus_IZR; apply IZR_le; lia).
  assert (IZR (Z.abs (out - t)) * / scale <= (IZR (Z.abs (out - s)) + IZR far) * / scale) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Variable eps : R.
Hypothesis eps_pos : 0 < eps.

(* One number that a record moves by at most 1 (a count, a depth, the fewest over columns): scale 1 / eps. *)
(* @says A number that one record moves by at most 1, discrete Laplace of scale 1/eps. *)
Theorem single_count s t out : (Z.abs (s - t) <= 1)%Z -> laplace_weight (1 / eps) s out <= exp eps * laplace_weight (1 / eps) t out.
Proof.
  intros H. replace eps with (IZR 1 / (1 / eps)) at 2 by (simpl; field; lra).
  apply laplace_private; [apply Rdiv_lt_0_compat; lra | exact H].
Qed.

(* Disjoint cells under R: a replaced record leaves one and joins another: scale 2 / eps. *)
(* @says Counts in disjoint cells, scale 2/eps each: one record replaced. *)
Theorem disjoint_cells_replace s s' t t' out out' : (Z.abs (s - s') <= 1)%Z -> (Z.abs (t - t') <= 1)%Z ->
  laplace_weight (2 / eps) s out * laplace_weight (2 / eps) t out' <=
  exp eps * (laplace_weight (2 / eps) s' out * laplace_weight (2 / eps) t' out').
Proof.
  intros Hs Ht. assert (P : 0 < 2 / eps) by (apply Rdiv_lt_0_compat; lra).
  pose proof (laplace_private (2 / eps) 1 s s' out P Hs) as A. pose proof (laplace_private (2 / eps) 1 t t' out' P Ht) as B.
  replace (IZR 1 / (2 / eps)) with (eps / 2) in * by (simpl; field; lra).
  replace (exp eps) with (exp (eps / 2) * exp (eps / 2)) by (rewrite <- exp_plus; f_equal; field).
  assert (N : forall c o, 0 <= laplace_weight (2 / eps) c o) by (intros; left; apply exp_pos).
  replace (exp (eps / 2) * exp (eps / 2) * (laplace_weight (2 / eps) s' out * laplace_weight (2 / eps) t' out'))
    with (exp (eps / 2) * laplace_weight (2 / eps) s' out * (exp (eps / 2) * laplace_weight (2 / eps) t' out')) by ring.
  apply Rmult_le_compat; auto.
Qed.
End Counts.

(* The check before a release: unreadable cells in the column with the most, values in the column with the fewest, rows in
   no listed group. One replaced record moves each by at most 1; cube noise of scale 1 / eps pays for all of them. *)
Section Check.
Open Scope Z_scope.
Context {Row : Type}.
Variables (there odd : nat -> Row -> bool) (unlisted : Row -> bool) (columns : list nat).
Notation counted test rows := (count (fun (_ : unit) => test) tt rows).
Definition fewest (rows : list Row) : Z := least (Z.of_nat (length rows)) (map (fun j => counted (there j) rows) columns).
Definition largest_number (rows : list Row) : Z := Depth.most (map (fun j => counted (odd j) rows) columns).

Lemma fewest_replaced x x' rows : Z.abs (fewest (x :: rows) - fewest (x' :: rows)) <= 1.
Proof.
  pose proof (depth_replaced Row nat unit (fun j _ => there j) columns x x' rows tt) as H.
  unfold depth, in_half in H. unfold fewest. exact H.
Qed.

Lemma largest_replaced x x' rows : Z.abs (largest_number (x :: rows) - largest_number (x' :: rows)) <= 1.
Proof.
  assert (more : forall r, largest_number rows <= largest_number (r :: rows) <= largest_number rows + 1).
  { intros r. unfold largest_number. apply most_close. induction columns as [| j js IH]; simpl; constructor; [| assumption].
    rewrite count_one_more. destruct (odd j r); lia. }
  pose proof (more x). pose proof (more x'). lia.
Qed.

Lemma unlisted_replaced x x' rows :
  Z.abs (counted unlisted (x :: rows) - counted unlisted (x' :: rows)) <= 1.
Proof. rewrite !count_one_more. destruct (unlisted x), (unlisted x'); lia. Qed.

Definition counts (rows : list Row) : list Z := [largest_number rows; fewest rows; counted unlisted rows].

(* @says The three counts of the check before a release, with cube noise of scale 1/eps: weights within e^eps, one record replaced. (As laws: Infinite.check_costs.) *)
Theorem check_private eps x x' rows : (0 < eps)%R -> forall out, length out = 3%nat ->
  (cube_weight (1 / eps) (counts (x :: rows)) out <= exp eps * cube_weight (1 / eps) (counts (x' :: rows)) out)%R.
Proof.
  intros He out Ho. pose proof (fewest_replaced x x' rows). pose proof (largest_replaced x x' rows).
  pose proof (unlisted_replaced x x' rows).
  replace eps with (IZR 1 / (1 / eps))%R at 2 by (simpl; field; lra).
  apply cube_private; [apply Rdiv_lt_0_compat; lra | | reflexivity | exact Ho].
  unfold counts. cbn [vector_minus Prices.largest]. lia.
Qed.

Lemma least_up x rows : fewest rows <= fewest (x :: rows) <= fewest rows + 1.
Proof. exact (depth_one_more Row nat unit (fun j _ => there j) columns x rows tt). Qed.

Lemma largest_up r rows : largest_number rows <= largest_number (r :: rows) <= largest_number rows + 1.
Proof.
  unfold largest_number. apply most_close. induction columns as [| j js IH]; simpl; constructor; [| assumption].
  rewrite count_one_more. destruct (odd j r); lia.
Qed.

(* @says And one record more or less. *)
Theorem check_add_remove eps x rows : (0 < eps)%R -> forall out, length out = 3%nat ->
  (cube_weight (1 / eps) (counts (x :: rows)) out <= exp eps * cube_weight (1 / eps) (counts rows) out /\
   cube_weight (1 / eps) (counts rows) out <= exp eps * cube_weight (1 / eps) (counts (x :: rows)) out)%R.
Proof.
  intros He out Ho. pose proof (least_up x rows). pose proof (largest_up x rows).
  assert (U : counted unlisted rows <= counted unlisted (x :: rows) <= counted unlisted rows + 1)
    by (rewrite !count_one_more; destruct (unlisted x); lia).
  split; replace eps with (IZR 1 / (1 / eps))%R at 2 by (simpl; field; lra);
    (apply cube_private; [apply Rdiv_lt_0_compat; lra | | reflexivity | exact Ho]); unfold counts; cbn [vector_minus Prices.largest]; lia.
Qed.
End Check.

(* Mechanisms of several steps (two-step means, quantiles of several columns and levels, a certificate beside a point, the
   check before a release) are courses of draws, each chosen from the results before: Accountant.filter_private. *)
(* @says Several steps, each chosen from the results before, cost the sum of their epsilons along every path. *)
Theorem steps_private {Y} (c : @course Y) budget budget_delta : admitted budget budget_delta c ->
  private budget budget_delta (chance true c) (chance false c) (outcomes c).
Proof. apply filter_private. Qed.
