(* A weighted draw by certified brackets: cumulative weights are enclosed between integers, and a uniform real is revealed
   bit by bit until one index is certain (trusted/laws.py, WeightedDraw and LevelDraw). *)
Require Import Reals List Lra Lia Arith Bool.
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

(* @says Once the brackets part, the index is right for every real that starts with these bits. *)
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

(* @says Of n prefixes no more mean an index than fit into its interval. *)
Theorem never_too_often n : a <= b -> fitting n <= b - a.
Proof.
  intros H. apply Rle_trans with (Rmax 0 (Rmin b (INR n) - a)); [apply fitting_bound |].
  apply Rmax_lub; [lra |]. pose proof (Rmin_l b (INR n)). lra.
Qed.
End Counting.

(* 3. And what is missing to the true law is at most what is still undecided, for every index: as that tends to nothing,
   the law is exact. [decided i] is the share of prefixes that mean index i, [exact i] its true probability. *)
(* @says What an index lacks of its probability is at most what is undecided: the law is exact. *)
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
(* @says What is undecided lies where a boundary is enclosed, and brackets close in. *)
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

(* 5. Together. [sum i] are the true cumulative weights of the indices 0 ... m; at some precision they are enclosed, in a
   unit s, by low and high, to within a share tol of the sum of all, and n prefixes of a uniform real are told apart. *)
Section Weighted.
Variables (m n : nat) (sum low high : nat -> R) (s tol : R).
Hypothesis several : (0 < n)%nat.
Hypothesis unit_pos : 0 < s.
Hypothesis sum_pos : 0 < sum m.
Hypothesis sums_grow : forall i, (i <= m)%nat -> 0 <= sum i <= sum m.
Hypothesis steps_grow : forall i, (S i <= m)%nat -> sum i <= sum (S i).
Hypothesis enclosed : forall i, (i <= m)%nat -> low i <= s * sum i <= high i.
Hypothesis low_nonneg : forall i, (i <= m)%nat -> 0 <= low i.
Hypothesis narrow : 0 <= tol <= 1 / 2 /\ forall i, (i <= m)%nat -> high i - low i <= tol * (s * sum m).
Notation N := (INR n).

Definition before (i : nat) : R := match i with O => 0 | S j => sum j end.
Definition probability (i : nat) : R := (sum i - before i) / sum m.

(* The program's two comparisons; the first index needs no lower end, the last no upper one. *)
Definition decides (p i : nat) : bool :=
  andb (match i with O => true | S j => if Rle_dec (high j * N) (INR p * low m) then true else false end)
       (if Nat.eqb i m then true else if Rle_dec ((INR p + 1) * high m) (low i * N) then true else false).
Definition undecided (p : nat) : bool := forallb (fun i => negb (decides p i)) (seq 0 (S m)).
Definition share (event : nat -> bool) : R := total (fun p => mark (event p)) (seq 0 n) / N.

Lemma n_pos : 0 < N. Proof. apply lt_0_INR. auto. Qed.

Lemma low_all_pos : 0 < low m.
Proof.
  destruct narrow as [[T0 T1] Hn]. specialize (Hn m (le_n m)). pose proof (enclosed m (le_n m)).
  assert (0 < s * sum m) by (apply Rmult_lt_0_compat; auto).
  assert (tol * (s * sum m) <= 1 / 2 * (s * sum m)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* How many whole numbers lie in an open interval, and in a closed one with their successors. *)
Lemma in_open (event : nat -> bool) a b k : a <= b + 1 -> (forall p, event p = true -> a < INR p < b) ->
  total (fun p => mark (event p)) (seq 0 k) <= Rmax 0 (Rmin (b + 1) (INR k) - a).
Proof.
  intros Hab H. induction k as [| k IH]; [simpl; apply Rmax_l |].
  rewrite seq_S, total_app. cbn [total plus]. rewrite S_INR, Rplus_0_r.
  assert (mono : Rmin (b + 1) (INR k) <= Rmin (b + 1) (INR k + 1)) by (apply Rle_min_compat_l; lra).
  destruct (event k) eqn:E; cbn [mark].
  - destruct (H k E) as [A B]. rewrite Rmin_right in IH by lra. rewrite Rmax_right in IH by lra.
    rewrite Rmin_right by lra. rewrite Rmax_right by lra. lra.
  - rewrite Rplus_0_r. eapply Rle_trans; [apply IH |]. apply Rle_max_compat_l. lra.
Qed.

Lemma in_closed (event : nat -> bool) a b k : a <= b -> (forall p, event p = true -> a <= INR p /\ INR p + 1 <= b) ->
  total (fun p => mark (event p)) (seq 0 k) <= b - a.
Proof.
  intros Hab H. apply Rle_trans with (fitting a b k); [| apply never_too_often; auto].
  clear Hab. induction k as [| k IH]; [simpl; lra |]. rewrite seq_S, total_app. cbn [total plus fitting].
  assert (mark (event k) <= mark (fits a b k)).
  { destruct (event k) eqn:E; [| simpl; apply mark_range]. destruct (H k E) as [A B]. unfold fits.
    destruct (Rle_dec a (INR k)); [| contradiction]. destruct (Rle_dec (INR k + 1) b); [lra | contradiction]. }
  lra.
Qed.

(* @says An index is decided no more often than its probability. *)
Theorem decided_at_most i : (i <= m)%nat -> share (fun p => if (p <? n)%nat then decides p i else false) <= probability i.
Proof.
  intros Hi. pose proof n_pos as PN. pose proof low_all_pos as PL.
  set (a := before i / sum m * N). set (b := sum i / sum m * N).
  assert (order : before i <= sum i) by (destruct i as [| j]; [apply sums_grow; lia | apply steps_grow; auto]).
  assert (I : 0 < / sum m) by (apply Rinv_0_lt_compat; auto).
  assert (K : total (fun p => mark (if (p <? n)%nat then decides p i else false)) (seq 0 n) <= b - a).
  { apply in_closed.
    - unfold a, b. apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_r; lra.
    - intros p Hp. destruct (Nat.ltb_spec p n) as [Hpn | _]; [| discriminate]. apply andb_prop in Hp. destruct Hp as [F U].
      pose proof (pos_INR p) as P0. pose proof (enclosed m (le_n m)) as Em. split.
      + unfold a. destruct i as [| j]; [simpl; unfold Rdiv; rewrite !Rmult_0_l; auto |]. simpl before.
        destruct (Rle_dec (high j * N) (INR p * low m)) as [L |]; [| discriminate].
        pose proof (enclosed j ltac:(lia)) as Ej.
        assert (s * sum j * N <= INR p * (s * sum m)).
        { apply Rle_trans with (high j * N); [apply Rmult_le_compat_r; lra |]. apply Rle_trans with (INR p * low m); auto.
          apply Rmult_le_compat_l; lra. }
        apply Rmult_le_reg_r with (s * sum m); [apply Rmult_lt_0_compat; auto |].
        replace (sum j / sum m * N * (s * sum m)) with (s * sum j * N) by (field; lra). auto.
      + unfold b. destruct (Nat.eqb_spec i m) as [-> | Ne].
        * replace (sum m / sum m * N) with N by (field; lra). apply lt_INR in Hpn as Hq. rewrite <- S_INR. apply le_INR. lia.
        * destruct (Rle_dec ((INR p + 1) * high m) (low i * N)) as [L |]; [| discriminate].
          pose proof (enclosed i Hi) as Ei.
          assert ((INR p + 1) * (s * sum m) <= s * sum i * N).
          { apply Rle_trans with ((INR p + 1) * high m); [apply Rmult_le_compat_l; lra |].
            apply Rle_trans with (low i * N); auto. apply Rmult_le_compat_r; lra. }
          apply Rmult_le_reg_r with (s * sum m); [apply Rmult_lt_0_compat; auto |].
          replace (sum i / sum m * N * (s * sum m)) with (s * sum i * N) by (field; lra). auto. }
  unfold share, probability. apply Rmult_le_reg_r with N; auto. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. rewrite Rmult_1_r.
  replace ((sum i - before i) / sum m * N) with (b - a) by (unfold a, b; field; lra). auto.
Qed.

(* A prefix that decides nothing lies near a boundary. *)
Definition near (i p : nat) : bool :=
  andb (if Rlt_dec (INR p * low m) (high i * N) then true else false) (if Rlt_dec (low i * N) ((INR p + 1) * high m) then true else false).

Lemma undecided_near p : (p < n)%nat -> undecided p = true -> exists i, (i <= m)%nat /\ near i p = true.
Proof.
  intros Hp H. pose proof low_all_pos as PL. pose proof n_pos. pose proof (enclosed m (le_n m)). pose proof (pos_INR p). apply lt_INR in Hp.
  destruct (undecided_near_a_boundary high low (low m) (high m) (INR p) N m (pos_INR p)) as (i & Hi & A & B).
  - apply Rle_lt_trans with (INR p * high m); [apply Rmult_le_compat_l; lra | rewrite Rmult_comm; apply Rmult_lt_compat_l; lra].
  - intros i Hi [F U]. unfold undecided in H. rewrite forallb_forall in H. specialize (H i ltac:(apply in_seq; lia)).
    assert (D : decides p i = true); [| rewrite D in H; discriminate]. unfold decides. apply andb_true_intro. split.
    + destruct i as [| j]; auto. destruct F as [F | F]; [discriminate |]. simpl in F. destruct (Rle_dec (high j * N) (INR p * low m)); auto.
    + destruct (Nat.eqb i m); auto. destruct (Rle_dec ((INR p + 1) * high m) (low i * N)); auto.
  - exists i. split; auto. unfold near. destruct (Rlt_dec _ _); [| contradiction]. destruct (Rlt_dec _ _); [auto | contradiction].
Qed.

Lemma near_few i : (i <= m)%nat -> total (fun p => mark (near i p)) (seq 0 n) <= 6 * tol * N + 2.
Proof.
  intros Hi. pose proof n_pos as PN. pose proof low_all_pos as PL. pose proof (enclosed m (le_n m)) as Em. pose proof (enclosed i Hi) as Ei.
  destruct narrow as [[T0 T1] Hn]. pose proof (Hn m (le_n m)) as Nm. pose proof (Hn i Hi) as Ni. destruct (sums_grow i Hi) as [S0 S1].
  set (W := s * sum m) in *. assert (W0 : 0 < W) by (apply Rmult_lt_0_compat; auto).
  assert (Si : 0 <= s * sum i <= W) by (unfold W; split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_l; lra]).
  assert (T2 : tol * W <= 1 / 2 * W) by (apply Rmult_le_compat_r; lra).
  assert (HM : 0 < high m) by lra.
  set (a := low i * N / high m - 1). set (b := high i * N / low m).
  assert (upper : b <= N * ((s * sum i + tol * W) / (W - tol * W))).
  { unfold b. replace (high i * N / low m) with (N * (high i / low m)) by (field; lra). apply Rmult_le_compat_l; [lra |].
    unfold Rdiv. apply Rmult_le_compat; try lra; [left; apply Rinv_0_lt_compat; auto | apply Rinv_le_contravar; lra]. }
  assert (lower : N * ((s * sum i - tol * W) / (W + tol * W)) - 1 <= a).
  { unfold a. replace (low i * N / high m) with (N * (low i / high m)) by (field; lra).
    assert ((s * sum i - tol * W) / (W + tol * W) <= low i / high m); [| assert (N * ((s * sum i - tol * W) / (W + tol * W)) <= N * (low i / high m)) by (apply Rmult_le_compat_l; lra); lra].
    assert (Q1 : 0 < W + tol * W) by (assert (0 <= tol * W) by (apply Rmult_le_pos; lra); lra).
    assert (L0 : s * sum i - tol * W <= low i) by lra.
    apply Rmult_le_reg_r with (W + tol * W); auto. apply Rmult_le_reg_r with (high m); auto.
    replace ((s * sum i - tol * W) / (W + tol * W) * (W + tol * W) * high m) with ((s * sum i - tol * W) * high m) by (field; lra).
    replace (low i / high m * (W + tol * W) * high m) with (low i * (W + tol * W)) by (field; lra).
    assert (high m <= W + tol * W) by lra.
    destruct (Rle_dec 0 (s * sum i - tol * W)) as [G | G].
    - apply Rmult_le_compat; lra.
    - destruct (Rle_dec 0 (low i)) as [G' | G'].
      + apply Rle_trans with 0; [assert (0 <= - (s * sum i - tol * W) * high m) by (apply Rmult_le_pos; lra); lra | apply Rmult_le_pos; lra].
      + exfalso. apply G'. apply low_nonneg; auto. }
  assert (gap : (s * sum i + tol * W) / (W - tol * W) - (s * sum i - tol * W) / (W + tol * W) <= 6 * tol).
  { set (x := s * sum i) in *.
    assert (Q1 : 0 < W - tol * W) by lra. assert (Q2 : 0 < W + tol * W) by (assert (0 <= tol * W) by (apply Rmult_le_pos; lra); lra).
    apply Rmult_le_reg_r with ((W - tol * W) * (W + tol * W)); [apply Rmult_lt_0_compat; auto |].
    replace (((x + tol * W) / (W - tol * W) - (x - tol * W) / (W + tol * W)) * ((W - tol * W) * (W + tol * W)))
      with (2 * tol * W * (x + W)) by (field; lra).
    assert (2 * tol * W * (x + W) <= 2 * tol * W * (2 * W)) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | lra]).
    replace (6 * tol * ((W - tol * W) * (W + tol * W))) with (6 * tol * (W * W) * (1 - tol * tol)) by ring.
    assert (tol * tol <= 1 / 4) by nra. assert (0 <= tol * (W * W)) by (apply Rmult_le_pos; [lra | left; apply Rmult_lt_0_compat; auto]).
    assert (tol * (W * W) * (3 / 4) <= tol * (W * W) * (1 - tol * tol)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (size : b - a <= 6 * tol * N + 1).
  { assert (N * ((s * sum i + tol * W) / (W - tol * W) - (s * sum i - tol * W) / (W + tol * W)) <= N * (6 * tol)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (ab : a <= b + 1).
  { unfold a, b. assert (low i * N / high m <= high i * N / low m); [| lra].
    apply Rmult_le_reg_r with (high m); auto. apply Rmult_le_reg_r with (low m); auto.
    replace (low i * N / high m * high m * low m) with (low i * low m * N) by (field; lra).
    replace (high i * N / low m * high m * low m) with (high i * high m * N) by (field; lra).
    apply Rmult_le_compat_r; [lra |]. assert (0 <= high i) by lra. apply Rle_trans with (high i * low m); [apply Rmult_le_compat_r; lra | apply Rmult_le_compat_l; lra]. }
  eapply Rle_trans; [apply (in_open (near i) a b n ab) |].
  - intros p Hp. unfold near in Hp. apply andb_prop in Hp. destruct Hp as [A B].
    destruct (Rlt_dec (INR p * low m) (high i * N)) as [A' |]; [| discriminate].
    destruct (Rlt_dec (low i * N) ((INR p + 1) * high m)) as [B' |]; [| discriminate]. split.
    + unfold a. assert (low i * N / high m < INR p + 1); [| lra]. apply Rmult_lt_reg_r with (high m); auto.
      replace (low i * N / high m * high m) with (low i * N) by (field; lra). auto.
    + unfold b. apply Rmult_lt_reg_r with (low m); auto. replace (high i * N / low m * low m) with (high i * N) by (field; lra). auto.
  - apply Rmax_lub; [assert (0 <= 6 * tol * N) by (apply Rmult_le_pos; lra); lra |].
    pose proof (Rmin_l (b + 1) N). lra.
Qed.

(* @says The share of bit strings that decide nothing is at most (m + 1) (6 tol + 2/n), tol the width of the brackets, n the number of strings: as both grow finer it tends to 0, and the draw ends with probability one. *)
Theorem rarely_undecided : share undecided <= INR (S m) * (6 * tol + 2 / N).
Proof.
  pose proof n_pos as PN. unfold share. apply Rmult_le_reg_r with N; auto. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. rewrite Rmult_1_r.
  replace (INR (S m) * (6 * tol + 2 / N) * N) with (INR (S m) * (6 * tol * N + 2)) by (field; lra).
  apply Rle_trans with (total (fun p => total (fun i => mark (near i p)) (seq 0 (S m))) (seq 0 n)).
  - apply total_le. intros p Hp. apply in_seq in Hp. destruct (undecided p) eqn:U; [| cbn [mark]; apply total_nonneg; intros; apply mark_range].
    destruct (undecided_near p ltac:(lia) U) as (i & Hi & Hn).
    assert (G : forall l, In i l -> 1 <= total (fun i => mark (near i p)) l).
    { induction l as [| j l IH]; [contradiction |]. intros [-> | H]; cbn [total].
      - rewrite Hn. assert (0 <= total (fun i => mark (near i p)) l) by (apply total_nonneg; intros; apply mark_range). simpl. lra.
      - specialize (IH H). pose proof (mark_range (near j p)). lra. }
    cbn [mark]. apply G. apply in_seq. lia.
  - rewrite total_swap.
    apply Rle_trans with (total (fun _ => 6 * tol * N + 2) (seq 0 (S m))).
    + apply total_le. intros i Hi. apply in_seq in Hi. apply near_few. lia.
    + rewrite <- (seq_length (S m) 0) at 2. clear. induction (seq 0 (S m)) as [| x l IH]; [simpl; lra |].
      cbn [total]. cbn [length]. rewrite S_INR. lra.
Qed.

Lemma all_probabilities k : (k <= m)%nat -> total probability (seq 0 (S k)) = sum k / sum m.
Proof.
  intros Hk. induction k as [| k IH].
  - simpl. unfold probability, before. field. lra.
  - rewrite seq_S, total_app, IH by lia. cbn [total plus]. unfold probability, before. field. lra.
Qed.

(* @says So an index comes with its probability, up to the share that is still undecided: the law of the draw is exact. *)
Theorem weighted_draw_exact i : (i <= m)%nat ->
  probability i - INR (S m) * (6 * tol + 2 / N) <= share (fun p => if (p <? n)%nat then decides p i else false) <= probability i.
Proof.
  intros Hi. split; [| apply decided_at_most; auto]. pose proof n_pos as PN. pose proof rarely_undecided as U.
  set (d := fun j => share (fun p => if (p <? n)%nat then decides p j else false)).
  assert (all : 1 <= total d (seq 0 (S m)) + share undecided).
  { unfold d, share, Rdiv. rewrite (total_ext _ (fun j => / N * total (fun p => mark (if (p <? n)%nat then decides p j else false)) (seq 0 n)))
      by (intros; ring).
    rewrite total_scale, total_swap, (Rmult_comm (total _ _) (/ N)), <- Rmult_plus_distr_l, <- total_plus.
    apply Rmult_le_reg_l with N; auto. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra.
    rewrite <- (seq_length n 0) at 1.
    assert (G : forall l, (forall p, In p l -> (p < n)%nat) -> INR (length l) <= total (fun p => total (fun j => mark (if (p <? n)%nat then decides p j else false)) (seq 0 (S m)) + mark (undecided p)) l).
    { induction l as [| p l IH]; intros Hl; [simpl; lra |]. cbn [length total]. rewrite S_INR. specialize (IH (fun q Hq => Hl q (or_intror Hq))).
      assert (1 <= total (fun j => mark (if (p <? n)%nat then decides p j else false)) (seq 0 (S m)) + mark (undecided p)); [| lra].
      destruct (undecided p) eqn:E; [cbn [mark]; assert (0 <= total (fun j => mark (if (p <? n)%nat then decides p j else false)) (seq 0 (S m))) by (apply total_nonneg; intros; apply mark_range); lra |].
      assert (X : exists j, In j (seq 0 (S m)) /\ decides p j = true).
      { unfold undecided in E. clear - E. induction (seq 0 (S m)) as [| j l IH]; [discriminate |]. simpl in E.
        destruct (decides p j) eqn:D; [exists j; split; [left; auto | auto] |]. simpl in E. destruct (IH E) as (k & Hk & Dk). exists k. split; [right; auto | auto]. }
      destruct X as (j & Hj & Dj). assert (Hp : (p <? n)%nat = true) by (apply Nat.ltb_lt; apply Hl; left; auto). rewrite Hp.
      assert (G : forall l, In j l -> 1 <= total (fun j => mark (decides p j)) l).
      { induction l0 as [| k l0 IH0]; [contradiction |]. intros [-> | H]; cbn [total].
        - rewrite Dj. assert (0 <= total (fun i => mark (decides p i)) l0) by (apply total_nonneg; intros; apply mark_range). cbn [mark]. lra.
        - specialize (IH0 H). pose proof (mark_range (decides p k)). lra. }
      specialize (G _ Hj). cbn [mark]. lra. }
    apply G. intros p Hp. apply in_seq in Hp. lia. }
  assert (one : total probability (seq 0 (S m)) = 1) by (rewrite all_probabilities by lia; field; lra).
  assert (Hin : In i (seq 0 (S m))) by (apply in_seq; lia).
  assert (gap : probability i - d i <= total (fun j => probability j - d j) (seq 0 (S m))).
  { assert (nonneg : forall j, In j (seq 0 (S m)) -> 0 <= probability j - d j).
    { intros j Hj. apply in_seq in Hj. pose proof (decided_at_most j ltac:(lia)). unfold d. lra. }
    clear - nonneg Hin. induction (seq 0 (S m)) as [| j l IH]; [contradiction |]. cbn [total].
    assert (0 <= total (fun j => probability j - d j) l) by (apply total_nonneg; intros; apply nonneg; right; auto).
    destruct Hin as [-> | H']; [lra |]. specialize (IH H' (fun k Hk => nonneg k (or_intror Hk))). pose proof (nonneg j (or_introl eq_refl)). lra. }
  rewrite total_minus, one in gap. fold (d i). lra.
Qed.
End Weighted.
