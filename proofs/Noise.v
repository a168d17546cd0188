(* Exact noise from fair coins: Bernoulli(e^-x), discrete Laplace, cube noise (trusted/laws.py). *)
Require Import Reals List Lra Lia ZArith.
Require Import Laws.
Import ListNotations.
Open Scope R_scope.

(* 1. A coin with chance e^(-g), 0 <= g <= 1: coins with chances g, g/2, g/3, ... are tossed until one fails; true if the
   first failure comes at an odd place. *)
Section Coin.
Variable g : R.

(* All of the first k succeed; the first failure comes at place k >= 1. *)
Fixpoint all_succeed (k : nat) : R := match k with O => 1 | S j => all_succeed j * (g / INR (S j)) end.
Definition fails_at (k : nat) : R := all_succeed (pred k) * (1 - g / INR k).
Fixpoint odd_up_to (m : nat) : R :=
  match m with O => fails_at 1 | S j => odd_up_to j + fails_at (2 * S j + 1) end.

Lemma all_succeed_value k : all_succeed k = / INR (fact k) * g ^ k.
Proof.
  induction k as [| k IH]; [simpl; field |].
  change (all_succeed (S k)) with (all_succeed k * (g / INR (S k))). rewrite IH.
  replace (fact (S k)) with (S k * fact k)%nat by reflexivity. rewrite mult_INR.
  assert (INR (S k) <> 0) by (apply not_0_INR; lia). assert (INR (fact k) <> 0) by apply INR_fact_neq_0.
  simpl pow. field. auto.
Qed.

Lemma fails_at_value k : fails_at (S k) = / INR (fact k) * g ^ k - / INR (fact (S k)) * g ^ (S k).
Proof.
  unfold fails_at. cbn [pred]. rewrite <- (all_succeed_value (S k)), <- (all_succeed_value k).
  cbn [all_succeed]. ring.
Qed.

Definition series (i : nat) : R := / INR (fact i) * (- g) ^ i.

Lemma sign_even i : (- g) ^ (2 * i) = g ^ (2 * i).
Proof. rewrite !pow_mult. f_equal. ring. Qed.
Lemma sign_odd i : (- g) ^ S (2 * i) = - g ^ S (2 * i).
Proof. cbn [pow]. rewrite sign_even. ring. Qed.

Lemma coin_partial m : odd_up_to m = sum_f_R0 series (S (2 * m)).
Proof.
  induction m as [| m IH].
  - change (fails_at 1 = sum_f_R0 series 1). rewrite fails_at_value. unfold series. simpl. field.
  - change (odd_up_to (S m)) with (odd_up_to m + fails_at (2 * S m + 1)). rewrite IH.
    replace (2 * S m + 1)%nat with (S (2 * S m)) by lia. rewrite fails_at_value.
    rewrite (tech5 series (2 * S m)).
    assert (E : sum_f_R0 series (2 * S m) = sum_f_R0 series (S (2 * m)) + series (2 * S m)).
    { replace (2 * S m)%nat with (S (S (2 * m))) by lia. apply tech5. }
    rewrite E. unfold series at 3 4. rewrite sign_even, sign_odd. ring.
Qed.

(* @says The coin is true with chance e^(-g). *)
Theorem coin_law : forall eps, 0 < eps -> exists N, forall m, (m >= N)%nat -> Rabs (odd_up_to m - exp (- g)) < eps.
Proof.
  intros eps He. unfold exp. destruct (exist_exp (- g)) as [l Hl]. cbn [proj1_sig]. unfold exp_in, infinite_sum in Hl.
  destruct (Hl eps He) as [N HN]. exists N. intros m Hm. rewrite coin_partial.
  specialize (HN (S (2 * m)) ltac:(lia)). exact HN.
Qed.

(* @says And it is tossed to the end: the chance that the first k coins all succeed tends to nothing. *)
Theorem coin_ends : forall eps, 0 < eps -> exists N, forall k, (k >= N)%nat -> Rabs (all_succeed k) < eps.
Proof.
  intros eps He. destruct (cv_speed_pow_fact g eps He) as [N H]. exists N. intros k Hk. specialize (H k Hk).
  unfold R_dist in H. rewrite Rminus_0_r in H. rewrite all_succeed_value, Rmult_comm. exact H.
Qed.
End Coin.

(* Independent coins of e^-1 and one of the rest. *)
(* @says Whole and rest: e^(-(whole + rest)). *)
Theorem coin_of_any_size whole rest : exp (-1) ^ whole * exp (- rest) = exp (- (INR whole + rest)).
Proof.
  induction whole as [| w IH]; [simpl; rewrite Rmult_1_l; f_equal; ring |].
  cbn [pow]. rewrite Rmult_assoc, IH, <- exp_plus. f_equal. rewrite S_INR. ring.
Qed.

(* 2. Discrete Laplace of scale t/s (Canonne, Kamath and Steinke 2020, algorithm 2). *)
Section Laplace.
Variables (s t : nat).
Hypothesis t_pos : (0 < t)%nat.
Notation T := (INR t).

(* rest uniform below t and kept with e^(-rest/t), [whole] successes of coins of e^-1: together e^(-x/t), x = rest + t whole. *)
(* @says rest + t whole has weight e^(-x/t). *)
Theorem geometric_weight rest whole :
  exp (- (INR rest / T)) * exp (-1) ^ whole = exp (- (INR (rest + t * whole) / T)).
Proof.
  assert (T <> 0) by (apply not_0_INR; lia).
  rewrite Rmult_comm, coin_of_any_size. f_equal. rewrite plus_INR, mult_INR. field. assumption.
Qed.

(* The quotient by s: all x with x / s = k. *)
(* @says Its quotient by s is geometric with ratio e^(-s/t). *)
Theorem quotient_weight k :
  total (fun r => exp (- (INR (k * s + r) / T))) (seq 0 s) =
  exp (- (INR (k * s) / T)) * total (fun r => exp (- (INR r / T))) (seq 0 s).
Proof.
  assert (T <> 0) by (apply not_0_INR; lia).
  rewrite <- total_scale. apply total_ext. intros r _. rewrite <- exp_plus. f_equal. rewrite plus_INR. field. assumption.
Qed.

(* So the magnitude is k with chance (1 - q) q^k, q = e^(-s/t). A fair sign; minus zero is a rejection. *)
Definition ratio : R := exp (- (INR s / T)).
(* @says The weight of the quotient k is q^k, q = e^(-s/t). *)
Theorem magnitude_weight k : exp (- (INR (k * s) / T)) = ratio ^ k.
Proof.
  assert (T <> 0) by (apply not_0_INR; lia). unfold ratio. induction k as [| k IH].
  - simpl. unfold Rdiv. rewrite Rmult_0_l, Ropp_0. apply exp_0.
  - cbn [pow]. rewrite <- IH, <- exp_plus. f_equal. replace (S k * s)%nat with (s + k * s)%nat by reflexivity. rewrite plus_INR. field. auto.
Qed.
End Laplace.

Section TwoSided.
Variable q : R.
Hypothesis ratio_range : 0 < q < 1.
Definition signed_try (z : Z) : R := / 2 * ((1 - q) * q ^ Z.abs_nat z).
Definition thrown_away : R := / 2 * ((1 - q) * q ^ 0).                              (* minus zero *)
Definition laplace_chance (z : Z) : R := (1 - q) / (1 + q) * q ^ Z.abs_nat z.

(* @says With a fair sign, and minus zero thrown away, z is kept with chance (1-q)/(1+q) q^|z|: the discrete Laplace law. *)
Theorem laplace_law z : signed_try z / (1 - thrown_away) = laplace_chance z.
Proof. unfold signed_try, thrown_away, laplace_chance. cbn [pow]. field. lra. Qed.

Fixpoint laplace_up_to (n : nat) : R :=
  match n with O => laplace_chance 0 | S k => laplace_up_to k + laplace_chance (Z.of_nat (S k)) + laplace_chance (- Z.of_nat (S k)) end.

(* @says It sums to one: from -n to n it has 1 - 2 q^(n+1) / (1+q). *)
Theorem laplace_total n : laplace_up_to n = 1 - 2 * q ^ S n / (1 + q).
Proof.
  induction n as [| n IH]; [unfold laplace_up_to, laplace_chance; simpl; field; lra |].
  cbn [laplace_up_to]. rewrite IH. unfold laplace_chance.
  replace (Z.abs_nat (Z.of_nat (S n))) with (S n) by lia. replace (Z.abs_nat (- Z.of_nat (S n))) with (S n) by lia.
  cbn [pow]. field. lra.
Qed.
End TwoSided.

(* 3. Cube noise: the sum s of d + 1 geometric variables of ratio q, kept with chance prod_j (2 s + 1) / (2 (s + j)), then
   a uniform point of {-s ... s}^d. *)
Section Cube.
Fixpoint ways (d s : nat) : R :=                    (* d + 1 whole numbers that add up to s *)
  match d with O => 1 | S e => (fix up_to (j : nat) := match j with O => ways e O | S i => up_to i + ways e (S i) end) s end.

Lemma ways_first d : ways d 0 = 1.
Proof. induction d as [| d IH]; simpl; auto. Qed.
Lemma ways_next d s : ways (S d) (S s) = ways (S d) s + ways d (S s).
Proof. reflexivity. Qed.

Lemma ways_value d : forall s, ways d s * INR (fact d) * INR (fact s) = INR (fact (s + d)).
Proof.
  induction d as [| d IHd]; intros s; [rewrite Nat.add_0_r; simpl; ring |].
  induction s as [| s IHs]; [rewrite ways_first; simpl plus; simpl (fact 0); simpl (INR 1); ring |].
  rewrite ways_next. specialize (IHd (S s)).
  replace (S s + S d)%nat with (S (S s + d)) by lia.
  change (fact (S (S s + d))) with (S (S s + d) * fact (S s + d))%nat.
  change (fact (S s)) with (S s * fact s)%nat in *. change (fact (S d)) with (S d * fact d)%nat in *.
  rewrite !mult_INR in *. replace (s + S d)%nat with (S s + d)%nat in IHs by lia.
  rewrite <- IHd.
  replace ((ways (S d) s + ways d (S s)) * (INR (S d) * INR (fact d)) * (INR (S s) * INR (fact s)))
    with (INR (S s) * (ways (S d) s * (INR (S d) * INR (fact d)) * INR (fact s)) +
          INR (S d) * (ways d (S s) * INR (fact d) * (INR (S s) * INR (fact s)))) by ring.
  rewrite IHs, IHd. replace (S (S s + d)) with (S s + S d)%nat by lia. rewrite plus_INR. ring.
Qed.

Fixpoint accept (d s : nat) : R :=
  match d with O => 1 | S e => accept e s * ((2 * INR s + 1) / (2 * INR (s + S e))) end.

Lemma accept_value d s : accept d s * 2 ^ d * INR (fact (s + d)) = (2 * INR s + 1) ^ d * INR (fact s).
Proof.
  induction d as [| d IH]; [rewrite Nat.add_0_r; simpl; ring |].
  cbn [accept]. replace (fact (s + S d)) with ((s + S d) * fact (s + d))%nat
    by (replace (s + S d)%nat with (S (s + d)) by lia; reflexivity).
  rewrite mult_INR. cbn [pow]. assert (INR (s + S d) <> 0) by (apply not_0_INR; lia).
  replace (accept d s * ((2 * INR s + 1) / (2 * INR (s + S d))) * (2 * 2 ^ d) * (INR (s + S d) * INR (fact (s + d))))
    with ((2 * INR s + 1) * (accept d s * 2 ^ d * INR (fact (s + d)))) by (field; assumption).
  rewrite IH. ring.
Qed.

(* Whatever s: ways x acceptance over the (2 s + 1)^d points is one constant, so a point and a sum come with weight q^s. *)
(* @says A sum s and a point of its cube come with weight q^s, one constant for all. *)
Theorem cube_constant d s : ways d s * accept d s / (2 * INR s + 1) ^ d = / (2 ^ d * INR (fact d)).
Proof.
  pose proof (ways_value d s) as W. pose proof (accept_value d s) as A.
  assert (F1 : INR (fact d) <> 0) by apply INR_fact_neq_0. assert (F2 : INR (fact s) <> 0) by apply INR_fact_neq_0.
  assert (P2 : 2 ^ d <> 0) by (apply pow_nonzero; lra).
  assert (S0 : 2 * INR s + 1 <> 0) by (pose proof (pos_INR s); lra).
  assert (PS : (2 * INR s + 1) ^ d <> 0) by (apply pow_nonzero; auto).
  rewrite <- W in A.
  assert (E : ways d s * accept d s * (2 ^ d * INR (fact d)) = (2 * INR s + 1) ^ d).
  { apply Rmult_eq_reg_r with (INR (fact s)); auto. rewrite <- A. ring. }
  apply Rmult_eq_reg_r with (2 ^ d * INR (fact d)); [| apply Rmult_integral_contrapositive; auto].
  rewrite Rinv_l by (apply Rmult_integral_contrapositive; auto).
  replace (ways d s * accept d s / (2 * INR s + 1) ^ d * (2 ^ d * INR (fact d)))
    with (ways d s * accept d s * (2 ^ d * INR (fact d)) / (2 * INR s + 1) ^ d) by (field; auto).
  rewrite E. field. auto.
Qed.

(* So z comes with weight q^m + q^(m+1) + ..., m its largest coordinate: in proportion to q^m. *)
Fixpoint tail (q : R) (m n : nat) : R := match n with O => 0 | S k => q ^ (m + k) + tail q m k end.
Lemma cube_weight_up_to q m n : q <> 1 -> tail q m n = q ^ m * ((1 - q ^ n) / (1 - q)).
Proof.
  intros H. induction n as [| n IH]; [simpl; field; lra |].
  cbn [tail]. rewrite IH, pow_add. cbn [pow]. field. lra.
Qed.
(* @says So a point whose largest coordinate is m, which comes with all sums from m on, has in the limit a weight of q^m / (1 - q): proportional to q^m. *)
Theorem cube_weight q m : 0 < q < 1 -> forall gap, 0 < gap -> exists N, forall n, (n >= N)%nat ->
  tail q m n <= q ^ m / (1 - q) < tail q m n + gap.
Proof.
  intros H gap Hg. destruct (pow_lt_1_zero q ltac:(rewrite Rabs_right; lra) (gap * (1 - q)) ltac:(apply Rmult_lt_0_compat; lra)) as [N HN].
  exists N. intros n Hn. specialize (HN n Hn). rewrite cube_weight_up_to by lra.
  assert (P : 0 < q ^ n) by (apply pow_lt; lra). rewrite Rabs_right in HN by lra.
  assert (M : 0 < q ^ m <= 1). { split; [apply pow_lt; lra |]. clear - H. induction m as [| m IH]; [simpl; lra |]. cbn [pow]. assert (0 < q ^ m) by (apply pow_lt; lra). nra. }
  assert (I : 0 < / (1 - q)) by (apply Rinv_0_lt_compat; lra).
  replace (q ^ m / (1 - q)) with (q ^ m * ((1 - q ^ n) / (1 - q)) + q ^ m * q ^ n * / (1 - q)) by (field; lra).
  assert (A : 0 < q ^ m * q ^ n * / (1 - q)) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra | auto]).
  assert (B : q ^ n * / (1 - q) < gap). { apply Rmult_lt_reg_r with (1 - q); [lra |]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (0 < q ^ n * / (1 - q)) by (apply Rmult_lt_0_compat; lra).
  assert (q ^ m * q ^ n * / (1 - q) <= q ^ n * / (1 - q)) by nra. lra.
Qed.
End Cube.
