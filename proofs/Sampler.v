(* The sampler. A try proposes a point or nothing; tries go on until one is kept. Whatever boxes, leaves, caps and
   multipliers a search proposes, a kept point has exactly the law of the exponential mechanism, because what the law
   rests on is checked in integers. *)
Require Import Reals List Lra Lia ZArith.
Require Import Laws.
Require Depth.
Import ListNotations.

(* 1. Tries until one is kept: the law of what is kept is that of one try, made to sum to 1; with every further try less
   is left undecided, and in the limit nothing is. *)
Section Tries.
Open Scope R_scope.
Context {Y : Type}.
Variables (ys : list Y) (t : Y -> R).
Hypothesis t_nonneg : forall y, In y ys -> 0 <= t y.
Hypothesis t_most : 0 < total t ys <= 1.
Notation A := (total t ys).

(* Kept at y within n tries. *)
Fixpoint within_tries (n : nat) (y : Y) : R :=
  match n with O => 0 | S m => t y + (1 - A) * within_tries m y end.

(* @says Tries until one is kept: what is kept has the law of one try, made to sum to 1. *)
Theorem kept_law n y : within_tries n y = t y / A * (1 - (1 - A) ^ n).
Proof. induction n as [| n IH]; simpl; [ring |]. rewrite IH. field. lra. Qed.

(* @says With every further try less is left undecided, and in the limit nothing. *)
Theorem terminates : forall eps, 0 < eps -> exists N, forall n, (n >= N)%nat -> (1 - A) ^ n < eps.
Proof.
  intros eps He. destruct (pow_lt_1_zero (1 - A) ltac:(rewrite Rabs_right; lra) eps He) as [N H].
  exists N. intros n Hn. specialize (H n Hn). apply Rle_lt_trans with (Rabs ((1 - A) ^ n)); [apply Rle_abs | exact H].
Qed.

(* Where a try keeps y with a weight proportional to w y, what is kept has the law of the weights. *)
(* @says If a try keeps y with a weight proportional to w(y), so is the law of what is kept. *)
Theorem kept_in_proportion c (w : Y -> R) : 0 < c -> (forall y, In y ys -> t y = c * w y) ->
  forall y, In y ys -> t y / A = w y / total w ys.
Proof.
  intros Hc H y Hy.
  assert (E : A = c * total w ys) by (rewrite <- total_scale; apply total_ext; auto).
  rewrite E, (H y Hy). assert (total w ys <> 0) by (intros Z; rewrite E, Z in t_most; lra). field. lra.
Qed.
End Tries.

(* 2. Levels: level l with weight step l times the size of its cover, a uniform point of the cover, kept if it is that
   deep. Covers are any sets of known size that contain their level (boxes, unions of disjoint boxes, slanted boxes). *)
Section Levels.
Open Scope R_scope.
Context {Y : Type}.
Variables (depth : Y -> nat) (cover : nat -> Y -> bool) (lowest extra : nat) (half_eps : R).
Hypothesis covers : forall l y, (l <= depth y)%nat -> cover l y = true.
Notation q := (fun l : nat => exp (half_eps * INR l)).

(* Levels lowest, lowest + 1, ...; the lowest weighs q^lowest, each further one what q^l has more. *)
Definition step (i : nat) : R := match i with O => q lowest | S j => q (lowest + S j)%nat - q (lowest + j)%nat end.
Fixpoint upto (f : nat -> R) (m : nat) : R := match m with O => f O | S k => upto f k + f (S k) end.

Lemma telescopes m : upto step m = q (lowest + m)%nat.
Proof.
  induction m as [| m IH]; [simpl; rewrite Nat.add_0_r; reflexivity |].
  change (upto step m + step (S m) = q (lowest + S m)%nat). rewrite IH. unfold step. lra.
Qed.

Definition kept_at (i : nat) (y : Y) : R :=
  if cover (lowest + i)%nat y then (if Nat.leb (lowest + i) (depth y) then step i else 0) else 0.

Lemma levels_exact y : (depth y <= lowest + extra)%nat ->
  upto (fun i => kept_at i y) extra =
  (if Nat.leb lowest (depth y) then exp (half_eps * INR (depth y)) else 0).
Proof.
  intros Hd. destruct (Nat.leb_spec lowest (depth y)) as [L | L].
  - set (k := (depth y - lowest)%nat). assert (K : (depth y = lowest + k)%nat) by (unfold k; lia).
    assert (G : forall m, upto (fun i => kept_at i y) m = upto step (Nat.min m k)).
    { induction m as [| m IH].
      - simpl. unfold kept_at. rewrite covers by lia. rewrite Nat.add_0_r.
        destruct (Nat.leb_spec lowest (depth y)); [reflexivity | lia].
      - change (upto (fun i => kept_at i y) m + kept_at (S m) y = upto step (Nat.min (S m) k)). rewrite IH. unfold kept_at.
        destruct (Nat.leb_spec (lowest + S m) (depth y)) as [M | M].
        + rewrite covers by lia. rewrite !Nat.min_l by lia. reflexivity.
        + rewrite !Nat.min_r by lia. destruct (cover (lowest + S m)%nat y); lra. }
    rewrite G, Nat.min_r by lia. rewrite telescopes, <- K. reflexivity.
  - assert (G : forall m, upto (fun i => kept_at i y) m = 0).
    { induction m as [| m IH]; simpl.
      - unfold kept_at. destruct (cover (lowest + 0)%nat y); auto. destruct (Nat.leb_spec (lowest + 0) (depth y)); [lia | auto].
      - rewrite IH. unfold kept_at. destruct (cover (lowest + S m)%nat y); [| lra].
        destruct (Nat.leb_spec (lowest + S m) (depth y)); [lia | lra]. }
    apply G.
Qed.
End Levels.

(* 3. A partition with caps: leaf l with weight size(l) e^(kappa cap(l)), one of the [size] points of its proposal set,
   rejected if it lies in another leaf, kept with chance e^(-kappa (cap - depth)). *)
Section Caps.
Open Scope R_scope.
Context {Y L : Type}.
Variables (depth : Y -> R) (leaf : Y -> L) (cap size : L -> R) (kappa all : R).
Hypothesis size_pos : forall l, 0 < size l.
Hypothesis all_pos : 0 < all.                     (* the sum of the leaves' weights *)
Hypothesis kappa_nonneg : 0 <= kappa.
Hypothesis caps_hold : forall y, depth y <= cap (leaf y).

Definition keep (y : Y) : R := exp (- (kappa * (cap (leaf y) - depth y))).
Definition one_try (y : Y) : R := size (leaf y) * exp (kappa * cap (leaf y)) / all * / size (leaf y) * keep y.

Lemma keep_is_a_chance y : 0 < keep y <= 1.
Proof.
  split; [apply exp_pos |]. unfold keep. rewrite <- exp_0.
  assert (0 <= kappa * (cap (leaf y) - depth y)) by (apply Rmult_le_pos; [auto | specialize (caps_hold y); lra]).
  destruct (Req_dec (- (kappa * (cap (leaf y) - depth y))) 0) as [-> | N]; [lra | left; apply exp_increasing; lra].
Qed.

(* @says A partition with caps that hold: the chance of keeping is one, and a try has weights e^(kappa T), whatever the partition, caps and proposal sets. *)
Theorem caps_exact y : 0 < keep y <= 1 /\ one_try y = / all * exp (kappa * depth y).
Proof.
  split; [apply keep_is_a_chance |]. unfold one_try, keep. pose proof (size_pos (leaf y)).
  replace (kappa * depth y) with (kappa * cap (leaf y) + - (kappa * (cap (leaf y) - depth y))) by ring.
  rewrite exp_plus. field. lra.
Qed.

(* Splitting a drawn leaf inside a try: child j of weight w_j with chance w_j / w, the rest a rejection, is as if the
   children had been there from the start. *)
(* @says A leaf may be split inside a try: its children, who weigh no more together, come by chances, and as often as if they had been leaves from the start. *)
Theorem splitting {C} w (children : list C) (weight : C -> R) : 0 < w -> total weight children <= w ->
  total (fun c => weight c / w) children <= 1 /\ forall c, (w / all) * (weight c / w) = weight c / all.
Proof.
  intros H Le. split; [| intros; field; lra]. unfold Rdiv. rewrite (total_ext _ (fun c => / w * weight c)) by (intros; ring).
  rewrite total_scale. apply Rmult_le_reg_l with w; auto. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.
End Caps.

(* 3'. The same with its proposals written out: leaves of any shape, each with a finite set of proposals that holds it. A try
   draws a leaf with chance |proposals| e^(kappa cap) / all, one of its proposals, rejects what lies in another leaf, and
   keeps the rest with chance e^(-kappa (cap - depth)), or surely where a cap did not hold and this were more than 1. *)
Section Partition.
Open Scope R_scope.
Context {Y L : Type}.
Variables (same : forall y z : Y, {y = z} + {y <> z}) (same_leaf : forall l k : L, {l = k} + {l <> k}).
Variables (grid : list Y) (leaves : list L) (leaf : Y -> L) (proposals : L -> list Y) (depth : Y -> R) (cap_of : L -> R) (kappa : R).
Hypothesis once : NoDup leaves /\ forall l, NoDup (proposals l).
Hypothesis leaves_cover : forall y, In y grid -> In (leaf y) leaves /\ In y (proposals (leaf y)).
Hypothesis some : grid <> [].
Hypothesis kappa_nonneg : 0 <= kappa.
Hypothesis caps_hold : forall y, In y grid -> depth y <= cap_of (leaf y).

Definition number (l : L) : R := INR (length (proposals l)).
Definition all_leaves : R := total (fun l => number l * exp (kappa * cap_of l)) leaves.
Definition kept_from (l : L) (z y : Y) : R :=          (* the leaf l and its proposal z were drawn: y is released *)
  if same_leaf (leaf z) l then if same z y then Rmin 1 (exp (- (kappa * (cap_of l - depth z)))) else 0 else 0.
Definition try_keeps (y : Y) : R :=
  total (fun l => number l * exp (kappa * cap_of l) / all_leaves * total (fun z => / number l * kept_from l z y) (proposals l)) leaves.

Lemma only {A} (eq : forall a b : A, {a = b} + {a <> b}) (f : A -> R) (b : A) l : NoDup l -> In b l -> (forall a, a <> b -> f a = 0) -> total f l = f b.
Proof.
  intros N H Z. induction l as [| a l IH]; [contradiction |]. inversion N; subst. cbn [total].
  destruct (eq a b) as [-> | Ne].
  - rewrite (total_ext _ (fun _ => 0)), total_zero; [lra |]. intros c Hc. apply Z. intros ->. contradiction.
  - rewrite (Z a Ne), IH; auto; [lra |]. destruct H; [congruence | auto].
Qed.

Lemma number_pos l y : In y (proposals l) -> 0 < number l.
Proof. intros H. unfold number. apply lt_0_INR. destruct (proposals l); [contradiction | simpl; lia]. Qed.

Lemma all_pos : 0 < all_leaves.
Proof.
  destruct grid as [| y g]; [congruence |]. destruct (leaves_cover y (or_introl eq_refl)) as [Hl Hp].
  pose proof (number_pos _ _ Hp) as P. unfold all_leaves. clear - Hl P. induction leaves as [| l ls IH]; [contradiction |]. cbn [total].
  assert (N : forall k, 0 <= number k * exp (kappa * cap_of k)) by (intros; apply Rmult_le_pos; [apply pos_INR | left; apply exp_pos]).
  assert (0 <= total (fun l => number l * exp (kappa * cap_of l)) ls) by (apply total_nonneg; auto).
  destruct Hl as [-> | Hl]; [| specialize (IH Hl); specialize (N l); lra].
  assert (0 < number (leaf y) * exp (kappa * cap_of (leaf y))) by (apply Rmult_lt_0_compat; [auto | apply exp_pos]). lra.
Qed.

Lemma try_weight y : In y grid -> try_keeps y = / all_leaves * exp (kappa * depth y).
Proof.
  intros Hy. destruct (leaves_cover y Hy) as [Hl Hp]. destruct once as [N Np]. pose proof all_pos as A. pose proof (number_pos _ _ Hp) as P.
  unfold try_keeps. rewrite (only same_leaf _ (leaf y) leaves N Hl).
  - rewrite (only same _ y (proposals (leaf y)) (Np _) Hp).
    + unfold kept_from. destruct (same_leaf (leaf y) (leaf y)); [| congruence]. destruct (same y y); [| congruence].
      assert (C : exp (- (kappa * (cap_of (leaf y) - depth y))) <= 1).
      { assert (0 <= kappa * (cap_of (leaf y) - depth y)) by (apply Rmult_le_pos; [auto | specialize (caps_hold y Hy); lra]).
        rewrite <- exp_0. destruct (Req_dec (- (kappa * (cap_of (leaf y) - depth y))) 0) as [-> | Ne]; [lra | left; apply exp_increasing; lra]. }
      rewrite Rmin_right by exact C.
      replace (kappa * depth y) with (kappa * cap_of (leaf y) + - (kappa * (cap_of (leaf y) - depth y))) by ring. rewrite exp_plus. field. lra.
    + intros z Hz. unfold kept_from. destruct (same z y); [congruence |]. destruct (same_leaf _ _); ring.
  - intros l Hne. rewrite (total_ext _ (fun _ => 0)), total_zero; [ring |]. intros z _. unfold kept_from.
    destruct (same_leaf (leaf z) l) as [E |]; [| ring]. destruct (same z y) as [-> |]; [congruence | ring].
Qed.

(* @says A tree of leaves of any shape, with sets of proposals that hold them and caps that hold: what is kept has exactly the law of the exponential mechanism, whatever the tree, the sets and the caps. *)
Theorem partition_exact y : In y grid ->
  try_keeps y / total try_keeps grid = exp (kappa * depth y) / total (fun z => exp (kappa * depth z)) grid.
Proof.
  intros Hy. pose proof all_pos as A.
  assert (E : total try_keeps grid = / all_leaves * total (fun z => exp (kappa * depth z)) grid)
    by (rewrite <- total_scale; apply total_ext; intros; apply try_weight; auto).
  rewrite E, (try_weight y Hy). assert (0 < total (fun z => exp (kappa * depth z)) grid) by (apply total_pos; [auto | intros; apply exp_pos]).
  field. lra.
Qed.

(* Grouped by leaves: every point of the grid is a proposal of its own leaf. *)
Lemma by_leaves (g : L -> R) : (forall l, 0 <= g l) -> NoDup grid -> total (fun y => g (leaf y)) grid <= total (fun l => number l * g l) leaves.
Proof.
  intros G Ng. destruct once as [N Np].
  assert (count : forall l, (length (filter (fun y => if same_leaf (leaf y) l then true else false) grid) <= length (proposals l))%nat).
  { intros l. apply NoDup_incl_length; [apply NoDup_filter; auto |]. intros y Hy. apply filter_In in Hy. destruct Hy as [Hy E].
    destruct (same_leaf (leaf y) l) as [<- |]; [apply (leaves_cover y Hy) | discriminate]. }
  apply Rle_trans with (total (fun l => INR (length (filter (fun y => if same_leaf (leaf y) l then true else false) grid)) * g l) leaves).
  - clear count Ng. assert (C : forall y, In y grid -> In (leaf y) leaves) by (intros; apply leaves_cover; auto). clear - N C G.
    induction grid as [| y r IH]; simpl; [rewrite (total_ext _ (fun _ => 0)) by (intros; ring); rewrite total_zero; lra |].
    specialize (IH (fun z Hz => C z (or_intror Hz))).
    apply Rle_trans with (total (fun l => (if same_leaf (leaf y) l then g l else 0)) leaves +
                          total (fun l => INR (length (filter (fun y => if same_leaf (leaf y) l then true else false) r)) * g l) leaves).
    + rewrite (only same_leaf (fun l => if same_leaf (leaf y) l then g l else 0) (leaf y) leaves N (C y (or_introl eq_refl))).
      * destruct (same_leaf (leaf y) (leaf y)); [lra | congruence].
      * intros l Hl. destruct (same_leaf (leaf y) l); [congruence | auto].
    + rewrite <- total_plus. apply total_le. intros l _. destruct (same_leaf (leaf y) l); cbn [length]; [rewrite S_INR |]; lra.
  - apply total_le. intros l _. apply Rmult_le_compat_r; [auto |]. unfold number. apply le_INR. auto.
Qed.

(* @says A try keeps something with a chance between 0 and 1, so tries end; within n of them y is kept with its chance in the exponential mechanism, up to what is left undecided, which tends to nothing. *)
Theorem partition_ends : NoDup grid -> 0 < total try_keeps grid <= 1 /\
  forall n y, In y grid -> within_tries grid try_keeps n y =
    exp (kappa * depth y) / total (fun z => exp (kappa * depth z)) grid * (1 - (1 - total try_keeps grid) ^ n).
Proof.
  intros Ng. pose proof all_pos as A.
  assert (E : total try_keeps grid = / all_leaves * total (fun z => exp (kappa * depth z)) grid)
    by (rewrite <- total_scale; apply total_ext; intros; apply try_weight; auto).
  assert (P : 0 < total (fun z => exp (kappa * depth z)) grid) by (apply total_pos; [auto | intros; apply exp_pos]).
  assert (U : total (fun z => exp (kappa * depth z)) grid <= all_leaves).
  { eapply Rle_trans; [| apply (by_leaves (fun l => exp (kappa * cap_of l)) (fun l => Rlt_le _ _ (exp_pos _)) Ng)].
    apply total_le. intros y Hy. assert (kappa * depth y <= kappa * cap_of (leaf y)) by (apply Rmult_le_compat_l; auto).
    destruct (Req_dec (kappa * depth y) (kappa * cap_of (leaf y))) as [-> | Ne]; [lra | left; apply exp_increasing; lra]. }
  assert (B : 0 < total try_keeps grid <= 1).
  { rewrite E. split; [apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat; auto | auto] |].
    apply Rmult_le_reg_l with all_leaves; auto. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  split; [exact B |]. intros n y Hy. rewrite (kept_law grid try_keeps B n y), (partition_exact y Hy). reflexivity.
Qed.
End Partition.

(* 2'. Levels, with the covers written out: level i with chance (its step) |cover| / all, a point of its cover, kept if it is
   that deep. *)
Section LevelsLaw.
Open Scope R_scope.
Context {Y : Type}.
Variable same : forall y z : Y, {y = z} + {y <> z}.
Variables (grid : list Y) (depth : Y -> nat) (cover : nat -> list Y) (lowest extra : nat) (half_eps : R).
Hypothesis once : NoDup grid /\ forall l, NoDup (cover l).
Hypothesis covers : forall l y, In y grid -> (l <= depth y)%nat -> In y (cover l).
Hypothesis deepest : forall y, In y grid -> (depth y <= lowest + extra)%nat.
Hypothesis some : exists y, In y grid /\ (lowest <= depth y)%nat.
Hypothesis half_eps_nonneg : 0 <= half_eps.
Notation steps := (step lowest half_eps).

Definition points_of (i : nat) : R := INR (length (cover (lowest + i))).
Definition all_levels : R := upto (fun i => steps i * points_of i) extra.
Definition level_try (y : Y) : R :=
  upto (fun i => steps i * points_of i / all_levels *
    total (fun z => / points_of i * (if same z y then (if Nat.leb (lowest + i) (depth z) then 1 else 0) else 0)) (cover (lowest + i))) extra.

Lemma upto_scale f c m : upto (fun i => c * f i) m = c * upto f m.
Proof. induction m as [| m IH]; simpl; [ring | rewrite IH; ring]. Qed.
Lemma upto_ext f g m : (forall i, f i = g i) -> upto f m = upto g m.
Proof. intros H. induction m as [| m IH]; simpl; rewrite H; [auto | rewrite IH; auto]. Qed.
Lemma upto_first f m : (forall i, 0 <= f i) -> f O <= upto f m.
Proof. intros H. induction m as [| m IH]; simpl; [lra | specialize (H (S m)); lra]. Qed.
Lemma steps_nonneg i : 0 <= steps i.
Proof.
  destruct i as [| i]; simpl; [left; apply exp_pos |].
  assert (INR (lowest + i) <= INR (lowest + S i)) by (apply le_INR; lia).
  assert (half_eps * INR (lowest + i) <= half_eps * INR (lowest + S i)) by (apply Rmult_le_compat_l; auto).
  destruct (Req_dec (half_eps * INR (lowest + i)) (half_eps * INR (lowest + S i))) as [-> | N]; [lra |].
  assert (exp (half_eps * INR (lowest + i)) < exp (half_eps * INR (lowest + S i))) by (apply exp_increasing; lra). lra.
Qed.
Lemma all_levels_pos : 0 < all_levels.
Proof.
  destruct some as (y & Hy & Hl). assert (In y (cover (lowest + 0))) as I by (apply covers; auto; lia).
  assert (P : 0 < points_of 0) by (unfold points_of; apply lt_0_INR; destruct (cover (lowest + 0)); [contradiction | simpl; lia]).
  assert (0 < steps 0 * points_of 0) by (apply Rmult_lt_0_compat; [simpl; apply exp_pos | auto]).
  assert (steps 0 * points_of 0 <= all_levels); [| lra]. unfold all_levels.
  apply (upto_first (fun i => steps i * points_of i)). intros i. apply Rmult_le_pos; [apply steps_nonneg | apply pos_INR].
Qed.

Lemma level_weight y : In y grid ->
  level_try y = / all_levels * (if Nat.leb lowest (depth y) then exp (half_eps * INR (depth y)) else 0).
Proof.
  intros Hy. destruct once as [_ N]. pose proof all_levels_pos as A.
  set (cov := fun l z => if in_dec same z (cover l) then true else false).
  assert (E : forall i, steps i * points_of i / all_levels *
    total (fun z => / points_of i * (if same z y then (if Nat.leb (lowest + i) (depth z) then 1 else 0) else 0)) (cover (lowest + i)) =
    / all_levels * kept_at depth cov lowest half_eps i y).
  { intros i. unfold kept_at, cov. destruct (in_dec same y (cover (lowest + i))) as [I | I].
    - assert (P : 0 < points_of i) by (unfold points_of; apply lt_0_INR; destruct (cover (lowest + i)); [contradiction | simpl; lia]).
      rewrite (only same _ y (cover (lowest + i)) (N _) I); [| intros z Hz; destruct (same z y); [congruence | ring]].
      destruct (same y y); [| congruence]. destruct (Nat.leb (lowest + i) (depth y)); field; lra.
    - rewrite (total_ext _ (fun _ => 0)), total_zero; [ring |]. intros z Hz. destruct (same z y) as [-> |]; [contradiction | ring]. }
  unfold level_try. rewrite (upto_ext _ _ _ E), upto_scale. f_equal.
  assert (C : forall l z, In z grid -> (l <= depth z)%nat -> cov l z = true).
  { intros l z Hz L. unfold cov. destruct (in_dec same z (cover l)) as [| X]; [auto | exfalso; apply X; apply covers; auto]. }
  rewrite <- (levels_exact depth (fun l z => if same z y then cov l z else true) lowest extra half_eps); auto.
  - apply upto_ext. intros i. unfold kept_at. destruct (same y y); [auto | congruence].
  - intros l z L. destruct (same z y) as [-> |]; auto.
Qed.

(* @says Levels by their steps times the sizes of their covers, points of the covers, kept if they are that deep, until one is: exactly the exponential mechanism on the points of the lowest level and deeper, whatever the covers. *)
Theorem levels_law y : In y grid ->
  level_try y / total level_try grid =
  (if Nat.leb lowest (depth y) then exp (half_eps * INR (depth y)) else 0) /
  total (fun z => if Nat.leb lowest (depth z) then exp (half_eps * INR (depth z)) else 0) grid.
Proof.
  intros Hy. pose proof all_levels_pos as A.
  set (w := fun z => if Nat.leb lowest (depth z) then exp (half_eps * INR (depth z)) else 0).
  assert (W : forall z, 0 <= w z) by (intros z; unfold w; destruct (Nat.leb lowest (depth z)); [left; apply exp_pos | lra]).
  assert (P : 0 < total w grid).
  { destruct some as (z & Hz & L). apply Rlt_le_trans with (w z).
    - unfold w. destruct (Nat.leb_spec lowest (depth z)); [apply exp_pos | lia].
    - clear - W Hz. induction grid as [| a g IH]; [contradiction |]. cbn [total]. pose proof (W a).
      assert (0 <= total w g) by (apply total_nonneg; auto). destruct Hz as [-> | Hz]; [lra | specialize (IH Hz); lra]. }
  assert (E : total level_try grid = / all_levels * total w grid) by (rewrite <- total_scale; apply total_ext; intros; apply level_weight; auto).
  rewrite E, (level_weight y Hy). fold (w y). field. lra.
Qed.
End LevelsLaw.

(* 4. The checks, in integers. *)
Section Checks.
Open Scope Z_scope.

Fixpoint dot (v y : list Z) : Z := match v, y with a :: v', b :: y' => a * b + dot v' y' | _, _ => 0 end.
Definition most (u low high : Z) : Z := if 0 <? u then u * high else u * low.

Lemma most_bounds u low high p : low <= p <= high -> u * p <= most u low high.
Proof. intros. unfold most. destruct (Z.ltb_spec 0 u); nia. Qed.

(* A direction, the range of its projections on the level (two order statistics), and its multiplier. *)
Record term := { v : list Z; low : Z; high : Z; u : Z }.

Fixpoint upper (ts : list term) : Z := match ts with [] => 0 | t :: r => most (u t) (low t) (high t) + upper r end.
Fixpoint combined (ts : list term) (y : list Z) : Z := match ts with [] => 0 | t :: r => u t * dot (v t) y + combined r y end.
Definition in_level (ts : list term) (y : list Z) : Prop := forall t, In t ts -> low t <= dot (v t) y <= high t.

Lemma combined_le_upper ts y : in_level ts y -> combined ts y <= upper ts.
Proof.
  induction ts as [| t ts IH]; intros H; simpl; [lia |].
  assert (low t <= dot (v t) y <= high t) as B by (apply H; left; reflexivity).
  pose proof (most_bounds (u t) _ _ _ B).
  assert (combined ts y <= upper ts) by (apply IH; intros s Hs; apply H; right; assumption). lia.
Qed.

Fixpoint in_box (y lows highs : list Z) : Prop :=
  match y, lows, highs with
  | b :: y', l :: ls, h :: hs => l <= b <= h /\ in_box y' ls hs
  | [], [], [] => True | _, _, _ => False end.
Fixpoint over_box (r lows highs : list Z) : Z :=
  match r, lows, highs with a :: r', l :: ls, h :: hs => most a l h + over_box r' ls hs | _, _, _ => 0 end.

Lemma dot_over_box : forall r y lows highs, length r = length y -> in_box y lows highs -> dot r y <= over_box r lows highs.
Proof.
  induction r as [| a r IH]; intros [| b y] [| l ls] [| h hs] Hl Hb; simpl in *; try lia; try contradiction.
  destruct Hb as [B Hb]. pose proof (most_bounds a l h b B). specialize (IH y ls hs ltac:(lia) Hb). lia.
Qed.

(* What the program computes: minus the sum of the multiplied directions, added to [scale] times the objective. *)
Fixpoint add (a b : list Z) : list Z := match a, b with x :: a', y :: b' => (x + y) :: add a' b' | _, _ => [] end.
Fixpoint residual (c : list Z) (ts : list term) : list Z :=
  match ts with [] => c | t :: r => add (map (Z.mul (- u t)) (v t)) (residual c r) end.

Lemma dot_add : forall a b y, length a = length b -> length b = length y -> dot (add a b) y = dot a y + dot b y.
Proof.
  induction a as [| x a IH]; intros [| z b] [| w y] H1 H2; simpl in *; try lia. rewrite IH by lia. lia.
Qed.
Lemma dot_scaled k : forall a y, dot (map (Z.mul k) a) y = k * dot a y.
Proof. induction a as [| x a IH]; intros [| w y]; simpl; try lia. rewrite IH. lia. Qed.
Lemma add_length : forall a b, length a = length b -> length (add a b) = length b.
Proof. induction a as [| x a IH]; intros [| z b] H; simpl in *; try lia. rewrite IH; lia. Qed.

Lemma residual_length c ts : (forall t, In t ts -> length (v t) = length c) -> length (residual c ts) = length c.
Proof.
  induction ts as [| t ts IH]; intros H; simpl; auto.
  assert (E : length (residual c ts) = length c) by (apply IH; intros; apply H; right; auto).
  rewrite add_length; [exact E |]. rewrite map_length, E. apply H. left. reflexivity.
Qed.

Lemma residual_spec c ts y : length y = length c -> (forall t, In t ts -> length (v t) = length c) ->
  dot c y = combined ts y + dot (residual c ts) y.
Proof.
  intros Hy. induction ts as [| t ts IH]; intros H; simpl; [lia |].
  assert (Hr : forall s, In s ts -> length (v s) = length c) by (intros; apply H; right; auto).
  pose proof (residual_length c ts Hr) as E.
  rewrite dot_add; [rewrite dot_scaled, (IH Hr); lia | | lia].
  rewrite map_length, E. apply H. left. reflexivity.
Qed.

(* trusted/certificates.py: an upper bound of an objective on a level inside a known box, multipliers over 2^shift. *)
(* @says The integer bound of an objective on a level holds for any multipliers. *)
Theorem upper_bound_sound c ts lows highs scale : 0 < scale -> (forall t, In t ts -> length (v t) = length c) ->
  forall y, length y = length c -> in_box y lows highs -> in_level ts y ->
  dot c y <= (upper ts + over_box (residual (map (Z.mul scale) c) ts) lows highs) / scale.
Proof.
  intros Hs Hv y Hy Hb Hl. apply Z.div_le_lower_bound; [exact Hs |].
  rewrite <- (dot_scaled scale c y).
  assert (Hv' : forall t, In t ts -> length (v t) = length (map (Z.mul scale) c)) by (intros; rewrite map_length; auto).
  rewrite (residual_spec (map (Z.mul scale) c) ts y) by (rewrite ?map_length; auto).
  pose proof (combined_le_upper ts y Hl).
  pose proof (dot_over_box (residual (map (Z.mul scale) c) ts) y lows highs).
  rewrite (residual_length (map (Z.mul scale) c) ts Hv'), map_length in H0. specialize (H0 ltac:(lia) Hb). lia.
Qed.

(* With the objective 0 and a negative bound the level is empty in the box: a cap holds. *)
(* @says A negative bound of the objective 0 proves that the level has no point in the box. *)
Theorem cap_sound zero ts lows highs scale : 0 < scale -> (forall y, dot zero y = 0) ->
  (forall t, In t ts -> length (v t) = length zero) ->
  (upper ts + over_box (residual (map (Z.mul scale) zero) ts) lows highs) / scale < 0 ->
  forall y, length y = length zero -> in_box y lows highs -> ~ in_level ts y.
Proof.
  intros Hs Hz Hv Hneg y Hy Hb Hl.
  pose proof (upper_bound_sound zero ts lows highs scale Hs Hv y Hy Hb Hl). rewrite Hz in H. lia.
Qed.

(* A tree of cuts: its leaves part the box, by construction. A leaf is named by the way to it. *)
Inductive tree := Whole | Cut (j : nat) (at_ : Z) (one two : tree).
Fixpoint leaf_of (t : tree) (y : list Z) : list bool :=
  match t with
  | Whole => []
  | Cut j at_ one two => if nth j y 0 <=? at_ then true :: leaf_of one y else false :: leaf_of two y
  end.
Fixpoint lowered (j : nat) (at_ : Z) (highs : list Z) : list Z :=
  match j, highs with O, h :: hs => Z.min h at_ :: hs | S i, h :: hs => h :: lowered i at_ hs | _, [] => [] end.
Fixpoint raised (j : nat) (at_ : Z) (lows : list Z) : list Z :=
  match j, lows with O, l :: ls => Z.max l at_ :: ls | S i, l :: ls => l :: raised i at_ ls | _, [] => [] end.
Fixpoint boxes (t : tree) (lows highs : list Z) : list (list bool * (list Z * list Z)) :=
  match t with
  | Whole => [([], (lows, highs))]
  | Cut j at_ one two =>
      map (fun b => (true :: fst b, snd b)) (boxes one lows (lowered j at_ highs)) ++
      map (fun b => (false :: fst b, snd b)) (boxes two (raised j (at_ + 1) lows) highs)
  end.

Lemma in_lowered j at_ : forall y lows highs, (j < length y)%nat ->
  (in_box y lows (lowered j at_ highs) <-> in_box y lows highs /\ nth j y 0 <= at_).
Proof.
  induction j as [| j IH]; intros [| b y] [| l ls] [| h hs] Hj; simpl in *; try lia; try tauto.
  - rewrite Z.min_glb_iff. tauto.
  - rewrite (IH y ls hs) by lia. tauto.
Qed.
Lemma in_raised j at_ : forall y lows highs, (j < length y)%nat ->
  (in_box y (raised j at_ lows) highs <-> in_box y lows highs /\ at_ <= nth j y 0).
Proof.
  induction j as [| j IH]; intros [| b y] [| l ls] [| h hs] Hj; simpl in *; try lia; try tauto.
  - rewrite Z.max_lub_iff. tauto.
  - rewrite (IH y ls hs) by lia. tauto.
Qed.
Fixpoint within (t : tree) (d : nat) : Prop := match t with Whole => True | Cut j _ l r => (j < d)%nat /\ within l d /\ within r d end.

Lemma only_its_own_leaf t y : within t (length y) -> forall lows highs, in_box y lows highs ->
  forall name b, In (name, b) (boxes t lows highs) -> (in_box y (fst b) (snd b) <-> name = leaf_of t y).
Proof.
  induction t as [| j at_ one IHl two IHr]; intros Hw lows highs Hb name b Hin; simpl in *.
  - destruct Hin as [E | []]. inversion E; subst. simpl. tauto.
  - destruct Hw as (Hj & Wl & Wr). apply in_app_or in Hin.
    assert (sub : forall t l h n c, In (n, c) (boxes t l h) -> in_box y (fst c) (snd c) -> within t (length y) -> in_box y l h).
    { clear - y. induction t as [| j at_ one IHl two IHr]; intros l h n c Hin Hc Hw; simpl in *.
      - destruct Hin as [E | []]. inversion E; subst. auto.
      - destruct Hw as (Hj & Wl & Wr). apply in_app_or in Hin. destruct Hin as [Hin | Hin]; apply in_map_iff in Hin; destruct Hin as [[n' c'] [E Hin]];
          inversion E; subst; simpl in *.
        + apply (in_lowered j at_ y l h Hj). eapply IHl; eauto.
        + apply (in_raised j (at_ + 1) y l h Hj). eapply IHr; eauto. }
    destruct Hin as [Hin | Hin]; apply in_map_iff in Hin; destruct Hin as [[n' c'] [E Hin]]; inversion E; subst; simpl;
      destruct (Z.leb_spec (nth j y 0) at_) as [C | C].
    + rewrite (IHl Wl lows (lowered j at_ highs) ltac:(apply in_lowered; auto) n' b Hin). split; [intros ->; auto | intros X; inversion X; auto].
    + split; [| discriminate]. intros X. pose proof (sub _ _ _ _ _ Hin X Wl) as Y. apply in_lowered in Y; [lia | auto].
    + split; [| discriminate]. intros X. pose proof (sub _ _ _ _ _ Hin X Wr) as Y. apply in_raised in Y; [lia | auto].
    + rewrite (IHr Wr (raised j (at_ + 1) lows) highs ltac:(apply in_raised; [auto | split; [auto | lia]]) n' b Hin).
      split; [intros ->; auto | intros X; inversion X; auto].
Qed.
Lemma its_own_leaf t y : forall lows highs, exists b, In (leaf_of t y, b) (boxes t lows highs).
Proof.
  induction t as [| j at_ one IHl two IHr]; intros lows highs; simpl; [exists (lows, highs); auto |].
  destruct (nth j y 0 <=? at_).
  - destruct (IHl lows (lowered j at_ highs)) as [b B]. exists b. apply in_or_app. left. apply in_map_iff. exists (leaf_of one y, b). auto.
  - destruct (IHr (raised j (at_ + 1) lows) highs) as [b B]. exists b. apply in_or_app. right. apply in_map_iff. exists (leaf_of two y, b). auto.
Qed.
Lemma leaves_inside t y : within t (length y) -> forall lows highs name b, In (name, b) (boxes t lows highs) ->
  in_box y (fst b) (snd b) -> in_box y lows highs.
Proof.
  induction t as [| j at_ one IHl two IHr]; intros Hw lows highs name b Hin Hb; simpl in *.
  - destruct Hin as [E | []]. inversion E; subst. auto.
  - destruct Hw as (Hj & Wl & Wr). apply in_app_or in Hin. destruct Hin as [Hin | Hin]; apply in_map_iff in Hin; destruct Hin as [[n' c'] [E Hin]];
      inversion E; subst; simpl in *.
    + apply (in_lowered j at_ y lows highs Hj). eapply IHl; eauto.
    + apply (in_raised j (at_ + 1) y lows highs Hj). eapply IHr; eauto.
Qed.

(* @says The leaves of a tree of cuts partition the box: each point of the box lies in the box of its own leaf, which is one of them, and in no other; no leaf has points beside the box. *)
Theorem tree_partition t y : within t (length y) -> forall lows highs,
  (in_box y lows highs -> exists b, In (leaf_of t y, b) (boxes t lows highs) /\ in_box y (fst b) (snd b)) /\
  (forall name b, In (name, b) (boxes t lows highs) -> in_box y (fst b) (snd b) -> name = leaf_of t y /\ in_box y lows highs).
Proof.
  intros W lows highs. split.
  - intros H. destruct (its_own_leaf t y lows highs) as [b B]. exists b. split; [auto |].
    apply (only_its_own_leaf t y W lows highs H _ _ B). reflexivity.
  - intros name b B I. pose proof (leaves_inside t y W lows highs name b B I) as H. split; [| auto].
    apply (only_its_own_leaf t y W lows highs H _ _ B). exact I.
Qed.

(* Depth along directions, in integers: closed halfspaces v.r >= v.y and v.r <= v.y; a row with a missing cell is None. *)
Definition in_halfspace (h : list Z * bool) (y : list Z) (r : option (list Z)) : bool :=
  match r with
  | None => false
  | Some row => if snd h then dot (fst h) y <=? dot (fst h) row else dot (fst h) row <=? dot (fst h) y
  end.
Definition both_sides (directions : list (list Z)) : list (list Z * bool) := flat_map (fun v => [(v, true); (v, false)]) directions.
Definition depth_of (directions : list (list Z)) (rows : list (option (list Z))) (y : list Z) : Z :=
  Depth.depth (option (list Z)) (list Z * bool) (list Z) in_halfspace (both_sides directions) rows y.

Definition projection (v : list Z) (r : option (list Z)) : option Z := option_map (dot v) r.
Definition fewer (L : Z) (test : Z -> bool) (v : list Z) (rows : list (option (list Z))) : Prop :=
  Z.of_nat (length (filter (fun r => match projection v r with Some p => test p | None => false end) rows)) < L.

(* The ends of a level are order statistics: fewer than L rows lie below low, fewer than L above high. *)
Definition ends_of_level (L : Z) (directions : list (list Z)) (rows : list (option (list Z))) (ts : list term) : Prop :=
  forall t, In t ts -> In (v t) directions /\ fewer L (fun p => p <? low t) (v t) rows /\ fewer L (fun p => high t <? p) (v t) rows.

Lemma fewest_counts {A} (f g : A -> bool) l : (forall a, f a = true -> g a = true) -> (length (filter f l) <= length (filter g l))%nat.
Proof.
  intros H. induction l as [| a l IH]; simpl; [lia |]. specialize (H a). destruct (f a), (g a); simpl; try lia; discriminate (H eq_refl).
Qed.

Lemma depth_below_count directions rows y v side : In v directions ->
  depth_of directions rows y <= Z.of_nat (length (filter (in_halfspace (v, side) y) rows)).
Proof.
  intros H. unfold depth_of, Depth.depth. apply Depth.least_below. apply in_map_iff. exists (v, side). split; [reflexivity |].
  apply in_flat_map. exists v. split; [auto |]. destruct side; simpl; auto.
Qed.

(* @says A point of depth L or more has all its projections between the L-th order statistics of the rows that are there. *)
Theorem between_order_statistics L directions rows ts y : ends_of_level L directions rows ts ->
  L <= depth_of directions rows y -> in_level ts y.
Proof.
  intros H HL t Ht. destruct (H t Ht) as (Hv & Hlow & Hhigh). unfold fewer in *.
  pose proof (depth_below_count directions rows y (v t) true Hv) as A.
  pose proof (depth_below_count directions rows y (v t) false Hv) as B. split.
  - destruct (Z_lt_le_dec (dot (v t) y) (low t)) as [C |]; [| auto]. exfalso.
    pose proof (fewest_counts (in_halfspace (v t, false) y)
      (fun r => match projection (v t) r with Some p => p <? low t | None => false end) rows) as F.
    assert (F' := F ltac:(intros [r |]; simpl; [rewrite Z.leb_le, Z.ltb_lt; lia | discriminate])). lia.
  - destruct (Z_lt_le_dec (high t) (dot (v t) y)) as [C |]; [| auto]. exfalso.
    pose proof (fewest_counts (in_halfspace (v t, true) y)
      (fun r => match projection (v t) r with Some p => high t <? p | None => false end) rows) as F.
    assert (F' := F ltac:(intros [r |]; simpl; [rewrite Z.leb_le, Z.ltb_lt; lia | discriminate])). lia.
Qed.

(* @says The check of a cap: if the integer bound is negative, no point of the box has depth L, whatever multipliers were proposed. *)
Theorem cap_holds L directions rows zero ts lows highs scale : 0 < scale -> (forall y, dot zero y = 0) ->
  (forall t, In t ts -> length (v t) = length zero) -> ends_of_level L directions rows ts ->
  (upper ts + over_box (residual (map (Z.mul scale) zero) ts) lows highs) / scale < 0 ->
  forall y, length y = length zero -> in_box y lows highs -> depth_of directions rows y < L.
Proof.
  intros Hs Hz Hv He Hneg y Hy Hb. destruct (Z_lt_le_dec (depth_of directions rows y) L) as [| C]; [auto |]. exfalso.
  exact (cap_sound zero ts lows highs scale Hs Hz Hv Hneg y Hy Hb (between_order_statistics L directions rows ts y He C)).
Qed.

(* A cap without multipliers: no point is deeper than the rows on either side of all its projections. *)
(* @says No point of a box is deeper than the rows on either side of all its projections. *)
Theorem own_cap (rows : list Z) first last p :
  first <= p <= last ->
  Z.of_nat (length (filter (fun r => p <=? r) rows)) <= Z.of_nat (length (filter (fun r => first <=? r) rows)) /\
  Z.of_nat (length (filter (fun r => r <=? p) rows)) <= Z.of_nat (length (filter (fun r => r <=? last) rows)).
Proof.
  intros H. induction rows as [| r rows [A B]]; cbn [filter length]; [lia |]. split.
  - destruct (Z.leb_spec p r), (Z.leb_spec first r); cbn [length]; lia.
  - destruct (Z.leb_spec r p), (Z.leb_spec r last); cbn [length]; lia.
Qed.

(* @says So a leaf's own cap holds: its points are no deeper than the rows on either side of its range of projections. *)
Theorem own_cap_holds directions rows y v first last : In v directions -> first <= dot v y <= last ->
  depth_of directions rows y <= Z.of_nat (length (filter (fun r => match projection v r with Some p => first <=? p | None => false end) rows)) /\
  depth_of directions rows y <= Z.of_nat (length (filter (fun r => match projection v r with Some p => p <=? last | None => false end) rows)).
Proof.
  intros Hv H. split; (eapply Z.le_trans; [apply (depth_below_count directions rows y v) |]; [exact Hv | apply inj_le, fewest_counts]).
  - instantiate (1 := true). intros [r |]; simpl; [rewrite !Z.leb_le; lia | discriminate].
  - instantiate (1 := false). intros [r |]; simpl; [rewrite !Z.leb_le; lia | discriminate].
Qed.
End Checks.

(* 5. Shapes other than boxes along the axes. A change of coordinates by an integer matrix with an integer inverse maps
   grid points one to one, so a box of the new coordinates has as many points as its widths' product. *)
Section Slanted.
Context {P : Type}.
Variables (turn back : P -> P).
Hypothesis inverse : (forall y, back (turn y) = y) /\ forall y, turn (back y) = y.
(* @says Two maps that undo each other (a matrix of determinant 1 or -1, and its inverse) take grid points one to one: turning the points of a box of the new coordinates back gives each point of the slanted box once, as many as there are in the box. *)
Theorem turned_box (points : list P) : NoDup points ->
  NoDup (map back points) /\ length (map back points) = length points /\ forall y, In y (map back points) <-> In (turn y) points.
Proof.
  destruct inverse as [B T]. intros N. split; [| split; [apply map_length |]].
  - induction N as [| p ps Hp N IH]; simpl; constructor; auto. intros I. apply in_map_iff in I. destruct I as (r & E & I).
    apply Hp. rewrite <- (T p), <- E, T. exact I.
  - intros y. rewrite in_map_iff. split; [intros (p & <- & I); rewrite T; auto | intros I; exists (turn y); auto].
Qed.
End Slanted.
