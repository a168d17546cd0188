(* A weighted draw by certified brackets: cumulative weights are enclosed between integers, and a uniform real is revealed
   bit by bit until one index is certain (trusted/laws.py, WeightedDraw and LevelDraw). *)
Require Import Reals List Lra Lia.
Require Import Laws.
Import ListNotations.
Open Scope R_scope.

(* 1. What a prefix decides is right for every real that starts with it. C are the true cumulative weights, in any unit;
   below and above enclose the one before index i, the one at i, and the sum of all. *)
Section Decided.
Variables (before at_ all : R) (high_before low_at low_all high_all : R) (p unit : R).
Hypothesis enclosed_before : before <= high_before.
Hypothesis enclosed_at : low_at <= at_.
Hypothesis enclosed_all : low_all <= all <= high_all.
Hypothesis positive : 0 <= p /\ 0 < unit /\ 0 < all.

(* @says Once the brackets part, the index is right for every real that starts with these bits.
   @code trusted/laws.py::WeightedDraw.draw, trusted/laws.py::LevelDraw.finish *)
Theorem decided_is_right : high_before * unit <= p * low_all -> (p + 1) * high_all <= low_at * unit ->
  forall x, p / unit <= x < (p + 1) / unit -> before <= x * all < at_.
Proof.
  intros H1 H2 x [X1 X2]. destruct positive as [Hp [Hu Ha]].
  assert (P1 : p <= x * unit).
  { apply Rmult_le_reg_r with (/ unit); [apply Rinv_0_lt_compat; auto |]. replace (x * unit * / unit) with x by (field; lra).
    exact X1. }
  assert (P2 : x * unit < p + 1).
  { apply Rmult_lt_reg_r with (/ unit); [apply Rinv_0_lt_compat; auto |]. replace (x * unit * / unit) with x by (field; lra).
    exact X2. }
  assert (X0 : 0 <= x).
  { apply Rmult_le_reg_r with unit; [auto |]. lra. }
  split.
  - apply Rmult_le_reg_r with unit; [auto |].
    apply Rle_trans with (high_before * unit); [apply Rmult_le_compat_r; lra |].
    apply Rle_trans with (p * low_all); [auto |]. apply Rle_trans with (p * all); [apply Rmult_le_compat_l; lra |].
    replace (x * all * unit) with (x * unit * all) by ring. apply Rmult_le_compat_r; lra.
  - apply Rmult_lt_reg_r with unit; [auto |].
    apply Rlt_le_trans with ((p + 1) * all).
    + replace (x * all * unit) with (x * unit * all) by ring. apply Rmult_lt_compat_r; lra.
    + apply Rle_trans with ((p + 1) * high_all); [apply Rmult_le_compat_l; lra |].
      apply Rle_trans with (low_at * unit); [auto |]. apply Rmult_le_compat_r; lra.
Qed.
End Decided.

(* 2. So no index is decided more often than it should be: of n prefixes at most as many as fit into its interval. *)
Section Counting.
Variables (a b : R).
Definition fits (p : nat) : bool :=
  if Rle_dec a (INR p) then if Rle_dec (INR p + 1) b then true else false else false.
Fixpoint fitting (n : nat) : R := match n with O => 0 | S m => mark (fits m) + fitting m end.

Lemma fitting_bound n : fitting n <= Rmax 0 (Rmin b (INR n) - a).
Proof.
  induction n as [| n IH]; [simpl; apply Rmax_l |].
  change (fitting (S n)) with (mark (fits n) + fitting n). rewrite S_INR. unfold fits.
  destruct (Rle_dec a (INR n)) as [A | A]; [destruct (Rle_dec (INR n + 1) b) as [B | B] |]; cbn [mark].
  - rewrite Rmin_right in IH by lra. rewrite Rmin_right by lra. rewrite Rmax_right in IH by lra.
    rewrite Rmax_right by lra. lra.
  - apply Rle_trans with (Rmax 0 (Rmin b (INR n) - a)); [lra |]. apply Rle_max_compat_l.
    assert (Rmin b (INR n) <= Rmin b (INR n + 1)) by (apply Rle_min_compat_l; lra). lra.
  - apply Rle_trans with (Rmax 0 (Rmin b (INR n) - a)); [lra |]. apply Rle_max_compat_l.
    assert (Rmin b (INR n) <= Rmin b (INR n + 1)) by (apply Rle_min_compat_l; lra). lra.
Qed.

(* @says Of n prefixes no more mean an index than fit into its interval.
   @code trusted/laws.py::WeightedDraw.draw *)
Theorem never_too_often n : a <= b -> fitting n <= b - a.
Proof.
  intros H. apply Rle_trans with (Rmax 0 (Rmin b (INR n) - a)); [apply fitting_bound |].
  apply Rmax_lub; [lra |]. pose proof (Rmin_l b (INR n)). lra.
Qed.
End Counting.

(* 3. And what is missing to the true law is at most what is still undecided, for every index: as that tends to nothing,
   the law is exact. [decided i] is the share of prefixes that mean index i, [exact i] its true probability. *)
(* @says What an index lacks of its probability is at most what is undecided: the law is exact.
   @code trusted/laws.py::WeightedDraw.draw *)
Theorem exact_in_the_limit {I} (indices : list I) (decided exact : I -> R) (undecided : R) :
  (forall i, In i indices -> decided i <= exact i) -> total exact indices = 1 ->
  total decided indices = 1 - undecided ->
  forall i, In i indices -> exact i - undecided <= decided i <= exact i.
Proof.
  intros H He Hd i Hi. split; [| auto].
  assert (G : total (fun j => exact j - decided j) indices = undecided) by (rewrite total_minus; lra).
  assert (L : exact i - decided i <= total (fun j => exact j - decided j) indices).
  { clear - H Hi. induction indices as [| j js IH]; [contradiction |]. simpl.
    assert (N : 0 <= total (fun j => exact j - decided j) js).
    { apply total_nonneg. intros k Hk. specialize (H k (or_intror Hk)). lra. }
    destruct Hi as [-> | Hi]; [lra |].
    assert (exact i - decided i <= total (fun j => exact j - decided j) js) by (apply IH; auto with datatypes).
    specialize (H j (or_introl eq_refl)). lra. }
  lra.
Qed.

(* 4. A prefix that is undecided lies where some boundary is enclosed: with brackets that close in, ever fewer do. *)
(* @says What is undecided lies where a boundary is enclosed, and brackets close in.
   @code trusted/laws.py::WeightedDraw.draw *)
Theorem undecided_near_a_boundary (high low : nat -> R) (low_all high_all p unit : R) (m : nat) :
  0 <= p -> p * low_all < high m * unit ->
  (forall i, (i <= m)%nat ->
     ~ ((i = O \/ high (pred i) * unit <= p * low_all) /\ (p + 1) * high_all <= low i * unit)) ->
  exists i, (i <= m)%nat /\ p * low_all < high i * unit /\ low i * unit < (p + 1) * high_all.
Proof.
  intros Hp Hm H.
  assert (first : exists i, (i <= m)%nat /\ p * low_all < high i * unit /\ (i = O \/ high (pred i) * unit <= p * low_all)).
  { clear H. induction m as [| m IH]; [exists O; auto |].
    destruct (Rlt_dec (p * low_all) (high m * unit)) as [L | L].
    - destruct (IH L) as [i [A [B C]]]. exists i. auto.
    - exists (S m). repeat split; auto. right. simpl. lra. }
  destruct first as [i [A [B C]]]. exists i. repeat split; auto.
  specialize (H i A). destruct (Rlt_dec (low i * unit) ((p + 1) * high_all)) as [L | L]; [exact L |].
  exfalso. apply H. split; [exact C | lra].
Qed.
