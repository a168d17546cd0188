(* zCDP (Bun and Steinke 2016): what a draw of bounded range and a pure guarantee cost, and what a sum of costs is worth
   as (epsilon, delta). The moment of order a of two laws is the sum of q (p/q)^a where p > 0. *)
Require Import Reals List Lra Lia.
Require Import Laws Prices.
Import ListNotations.
Open Scope R_scope.

Definition part (a p q : R) : R := if Rlt_dec 0 p then q * Rpower (p / q) a else 0.
Definition moment {Z} (a : R) (p q : Z -> R) (zs : list Z) : R := total (fun z => part a (p z) (q z)) zs.
Definition concentrated {Z} (rho : R) (p q : Z -> R) (zs : list Z) : Prop :=
  forall a, 1 < a -> moment a p q zs <= exp ((a - 1) * a * rho).

Lemma part_nonneg a p q : 0 <= q -> 0 <= part a p q.
Proof. intros H. unfold part. destruct (Rlt_dec 0 p); [apply Rmult_le_pos; [auto | left; apply exp_pos] | lra]. Qed.

Lemma part_product a p q p' q' : 0 <= p -> 0 <= p' -> (0 < p -> 0 < q) -> (0 < p' -> 0 < q') ->
  part a (p * p') (q * q') = part a p q * part a p' q'.
Proof.
  intros Hp Hp' Hq Hq'. unfold part.
  destruct (Rlt_dec 0 p) as [P | P]; [destruct (Rlt_dec 0 p') as [P' | P'] |].
  - specialize (Hq P). specialize (Hq' P'). assert (0 < p * p') by (apply Rmult_lt_0_compat; auto).
    destruct (Rlt_dec 0 (p * p')); [| contradiction].
    replace (p * p' / (q * q')) with (p / q * (p' / q')) by (field; lra).
    rewrite <- Rpower_mult_distr by (apply Rdiv_lt_0_compat; auto). ring.
  - replace p' with 0 by lra. rewrite Rmult_0_r. destruct (Rlt_dec 0 0); lra.
  - replace p with 0 by lra. rewrite Rmult_0_l. destruct (Rlt_dec 0 0); lra.
Qed.

(* 1. Bounded range. Z = ln (p/q) lies in an interval of length eps; K(a) = ln E_q e^(a Z) has K(0) = K(1) = 0, and
   K'' is a variance on that interval, at most eps^2 / 4. *)
Section Range.
Context {Y : Type}.
Variables (ys : list Y) (q z : Y -> R) (lo eps : R).
Hypothesis law_q : law q ys.
Hypothesis within : forall y, In y ys -> lo <= z y <= lo + eps.
Hypothesis tilted_law : total (fun y => q y * exp (z y)) ys = 1.
Hypothesis eps_nonneg : 0 <= eps.

Definition M (k : nat) (a : R) : R := total (fun y => q y * (z y ^ k * exp (a * z y))) ys.

Lemma M_derives k a : derivable_pt_lim (M k) a (M (S k) a).
Proof.
  unfold M. clear. induction ys as [| y r IH].
  - apply derivable_pt_lim_const.
  - cbn [total]. apply (derivable_pt_lim_plus (fun a => q y * (z y ^ k * exp (a * z y)))
      (fun a => total (fun y => q y * (z y ^ k * exp (a * z y))) r)); [| exact IH].
    replace (q y * (z y ^ S k * exp (a * z y))) with (q y * (z y ^ k * (exp (a * z y) * z y))) by (simpl; ring).
    apply (derivable_pt_lim_scal (fun a => z y ^ k * exp (a * z y))).
    apply (derivable_pt_lim_scal (fun a => exp (a * z y))).
    apply (derivable_pt_lim_comp (fun a => a * z y) exp).
    + assert (D : derivable_pt_lim (fun a => a * z y) a (1 * z y + a * 0))
        by (apply (derivable_pt_lim_mult (fun a => a) (fun _ => z y)); [apply derivable_pt_lim_id | apply derivable_pt_lim_const]).
      replace (1 * z y + a * 0) with (z y) in D by ring. exact D.
    + apply derivable_pt_lim_exp.
Qed.

Lemma M_pos a : 0 < M 0 a.
Proof.
  destruct law_q as [N O].
  set (m := Rmin (exp (a * lo)) (exp (a * (lo + eps)))).
  assert (m_pos : 0 < m) by (unfold m, Rmin; destruct (Rle_dec _ _); apply exp_pos).
  apply Rlt_le_trans with (m * total q ys); [rewrite O; lra |].
  rewrite <- total_scale. apply total_le. intros y Hy. specialize (N y Hy). specialize (within y Hy). simpl.
  rewrite Rmult_1_l, (Rmult_comm m). apply Rmult_le_compat_l; auto. unfold m.
  destruct (Rle_dec 0 a) as [A | A].
  - eapply Rle_trans; [apply Rmin_l |]. apply exp_le. apply Rmult_le_compat_l; lra.
  - eapply Rle_trans; [apply Rmin_r |]. apply exp_le. apply Rmult_le_compat_neg_l; lra.
Qed.

(* The variance under the tilted law. *)
Lemma spread a : M 2 a * M 0 a - M 1 a * M 1 a <= eps * eps / 4 * (M 0 a * M 0 a).
Proof.
  set (m := lo + eps / 2).
  assert (V : M 2 a <= eps * eps / 4 * M 0 a + 2 * m * M 1 a - m * m * M 0 a).
  { unfold M. rewrite <- !total_scale, <- total_plus, <- total_minus. apply total_le. intros y Hy.
    pose proof (law_nonneg _ _ law_q y Hy). specialize (within y Hy). pose proof (exp_pos (a * z y)). simpl.
    assert (0 <= q y * exp (a * z y)) by (apply Rmult_le_pos; lra).
    assert (D : (z y - m) * (z y - m) <= eps * eps / 4).
    { assert (- (eps / 2) <= z y - m <= eps / 2) by (unfold m; lra). nra. }
    assert (q y * exp (a * z y) * ((z y - m) * (z y - m)) <= q y * exp (a * z y) * (eps * eps / 4))
      by (apply Rmult_le_compat_l; auto). lra. }
  pose proof (M_pos a). assert (M 2 a * M 0 a <= (eps * eps / 4 * M 0 a + 2 * m * M 1 a - m * m * M 0 a) * M 0 a)
    by (apply Rmult_le_compat_r; lra).
  assert (0 <= (M 1 a - m * M 0 a) * (M 1 a - m * M 0 a)) by apply Rle_0_sqr. lra.
Qed.

Definition c := eps * eps / 8.
Definition F (a : R) : R := ln (M 0 a) - c * (a * (a - 1)).
Definition F' (a : R) : R := M 1 a / M 0 a - c * (2 * a - 1).
Definition F'' (a : R) : R := (M 2 a * M 0 a - M 1 a * M 1 a) / Rsqr (M 0 a) - c * 2.

Lemma F_derives a : derivable_pt_lim F a (F' a).
Proof.
  apply (derivable_pt_lim_minus (fun a => ln (M 0 a)) (fun a => c * (a * (a - 1)))).
  - unfold Rdiv. rewrite Rmult_comm. apply (derivable_pt_lim_comp (M 0) ln); [apply M_derives |].
    apply derivable_pt_lim_ln, M_pos.
  - apply (derivable_pt_lim_scal (fun a => a * (a - 1))). replace (2 * a - 1) with (1 * (a - 1) + a * (1 - 0)) by ring.
    apply (derivable_pt_lim_mult (fun a => a) (fun a => a - 1)); [apply derivable_pt_lim_id |].
    apply (derivable_pt_lim_minus (fun a => a) (fun _ => 1)); [apply derivable_pt_lim_id | apply derivable_pt_lim_const].
Qed.

Lemma F'_derives a : derivable_pt_lim F' a (F'' a).
Proof.
  apply (derivable_pt_lim_minus (fun a => M 1 a / M 0 a) (fun a => c * (2 * a - 1))).
  - apply (derivable_pt_lim_div (M 1) (M 0)); [apply M_derives | apply M_derives | pose proof (M_pos a); lra].
  - apply (derivable_pt_lim_scal (fun a => 2 * a - 1)).
    assert (D : derivable_pt_lim (fun a => 2 * a - 1) a (2 * 1 - 0)).
    { apply (derivable_pt_lim_minus (fun a => 2 * a) (fun _ => 1)); [| apply derivable_pt_lim_const].
      apply (derivable_pt_lim_scal (fun a => a)). apply derivable_pt_lim_id. }
    replace (2 * 1 - 0) with 2 in D by ring. exact D.
Qed.

Lemma F''_nonpos a : F'' a <= 0.
Proof.
  unfold F'', c. pose proof (spread a) as S. pose proof (M_pos a) as P. unfold Rsqr.
  assert (P2 : 0 < M 0 a * M 0 a) by (apply Rmult_lt_0_compat; auto).
  assert ((M 2 a * M 0 a - M 1 a * M 1 a) / (M 0 a * M 0 a) <= eps * eps / 4).
  { apply Rmult_le_reg_r with (M 0 a * M 0 a); [auto |]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  lra.
Qed.

Lemma F'_falls s t : s < t -> F' t <= F' s.
Proof.
  intros H. destruct (MVT_cor2 F' F'' s t H (fun x _ => F'_derives x)) as [x [E _]].
  pose proof (F''_nonpos x). assert (F'' x * (t - s) <= 0) by nra. lra.
Qed.

Lemma M_at_0 : M 0 0 = 1.
Proof.
  transitivity (total q ys); [| exact (law_sums_to_one _ _ law_q)]. apply total_ext. intros y _. simpl. rewrite Rmult_0_l, exp_0. ring.
Qed.
Lemma M_at_1 : M 0 1 = 1.
Proof. transitivity (total (fun y => q y * exp (z y)) ys); [| exact tilted_law]. apply total_ext. intros y _. simpl. rewrite !Rmult_1_l. reflexivity. Qed.

Lemma tilted_moment a : 1 < a -> M 0 a <= exp ((a - 1) * a * (eps ^ 2 / 8)).
Proof.
  intros H.
  assert (F0 : F 0 = 0) by (unfold F; rewrite M_at_0, ln_1; ring).
  assert (F1 : F 1 = 0) by (unfold F; rewrite M_at_1, ln_1; ring).
  destruct (MVT_cor2 F F' 0 1 ltac:(lra) (fun x _ => F_derives x)) as [s [Es [S1 S2]]].
  destruct (MVT_cor2 F F' 1 a H (fun x _ => F_derives x)) as [t [Et [T1 T2]]].
  pose proof (F'_falls s t ltac:(lra)) as L. assert (F' t * (a - 1) <= 0) by nra.
  assert (Fa : F a <= 0) by lra. unfold F in Fa.
  rewrite <- (exp_ln (M 0 a)) by apply M_pos. apply exp_le. unfold c in Fa. simpl. lra.
Qed.
End Range.

Definition bounded_range {Y} (eps : R) (p q : Y -> R) (ys : list Y) : Prop :=
  exists lo, forall y, In y ys -> lo <= ln (p y / q y) <= lo + eps.

(* @says Laws whose log ratio lies in an interval of length epsilon are epsilon^2/8-zCDP. *)
Theorem bounded_range_rho {Y} eps (p q : Y -> R) ys : 0 <= eps -> law p ys -> law q ys ->
  (forall y, In y ys -> 0 < p y /\ 0 < q y) -> bounded_range eps p q ys -> concentrated (eps ^ 2 / 8) p q ys.
Proof.
  intros He Lp Lq Pos [lo Hr] a Ha.
  assert (X : forall y, In y ys -> p y = q y * exp (ln (p y / q y))).
  { intros y Hy. destruct (Pos y Hy) as [A B]. rewrite exp_ln by (apply Rdiv_lt_0_compat; auto). field. lra. }
  apply Rle_trans with (M ys q (fun y => ln (p y / q y)) 0 a).
  - right. apply total_ext. intros y Hy. destruct (Pos y Hy) as [A B]. unfold part.
    destruct (Rlt_dec 0 (p y)); [| contradiction]. unfold Rpower. simpl. ring.
  - apply tilted_moment with (lo := lo); auto.
    rewrite <- (law_sums_to_one _ _ Lp). apply total_ext. intros y Hy. symmetry. apply X, Hy.
Qed.

(* @says Any pure guarantee of epsilon is epsilon^2/2-zCDP. *)
Theorem pure_rho {Y} eps (p q : Y -> R) ys : 0 <= eps -> law p ys -> law q ys ->
  (forall y, In y ys -> 0 < p y /\ 0 < q y) ->
  (forall y, In y ys -> p y <= exp eps * q y /\ q y <= exp eps * p y) -> concentrated (eps ^ 2 / 2) p q ys.
Proof.
  intros He Lp Lq Pos H. replace (eps ^ 2 / 2) with ((2 * eps) ^ 2 / 8) by field.
  apply bounded_range_rho; auto; [lra |]. exists (- eps). intros y Hy. destruct (Pos y Hy) as [A B].
  destruct (H y Hy) as [U V].
  assert (ratio : forall s t, 0 < s -> 0 < t -> s <= exp eps * t -> ln (s / t) <= eps).
  { intros s t Hs Ht L. rewrite <- (ln_exp eps). 
    assert (s / t <= exp eps) by (apply Rmult_le_reg_r with t; auto; replace (s / t * t) with s by (field; lra); lra).
    destruct (Req_dec (s / t) (exp eps)) as [-> | N]; [lra |]. left. apply ln_increasing; [apply Rdiv_lt_0_compat; auto | lra]. }
  pose proof (ratio (p y) (q y) A B U). pose proof (ratio (q y) (p y) B A V).
  assert (ln (q y / p y) = - ln (p y / q y)).
  { replace (q y / p y) with (/ (p y / q y)) by (field; lra). apply ln_Rinv, Rdiv_lt_0_compat; auto. }
  lra.
Qed.

(* @says A draw with weights base e^(kappa score) is (kappa range)^2/8-zCDP: its log ratio has a bounded range. *)
Theorem draw_rho {Y} (ys : list Y) base kappa r u v : 0 <= kappa -> 0 <= r -> (forall y, In y ys -> 0 < base y) -> ys <> [] ->
  range_at_most ys r u v -> concentrated ((kappa * r) ^ 2 / 8) (draw ys base kappa u) (draw ys base kappa v) ys.
Proof.
  intros Hk Hr Hb Hs H.
  pose proof (draw_law ys base kappa Hb Hs) as L.
  assert (Pos : forall w y, In y ys -> 0 < draw ys base kappa w y).
  { intros w y Hy. unfold draw. apply Rdiv_lt_0_compat; [apply (weight_pos ys); auto | apply all_weights_pos; auto]. }
  assert (ln_draw : forall y, In y ys -> ln (draw ys base kappa u y / draw ys base kappa v y) =
    kappa * (u y - v y) + ln (total (weight base kappa v) ys / total (weight base kappa u) ys)).
  { intros y Hy. pose proof (all_weights_pos ys base kappa Hb Hs u). pose proof (all_weights_pos ys base kappa Hb Hs v).
    pose proof (Hb y Hy). pose proof (exp_pos (kappa * u y)). pose proof (exp_pos (kappa * v y)).
    rewrite <- (ln_exp (kappa * (u y - v y))), <- ln_mult; [| apply exp_pos | apply Rdiv_lt_0_compat; auto].
    f_equal. unfold draw, weight at 1 3. replace (kappa * (u y - v y)) with (kappa * u y + - (kappa * v y)) by ring.
    rewrite exp_plus, exp_Ropp. field. repeat split; lra. }
  apply bounded_range_rho; auto; [apply Rmult_le_pos; auto |].
  assert (least : exists z, In z ys /\ forall y, In y ys -> u z - v z <= u y - v y).
  { clear - Hs. induction ys as [| y r IH]; [congruence |]. destruct r as [| y' r].
    - exists y. split; [left; auto |]. intros z [<- | []]. lra.
    - destruct (IH ltac:(discriminate)) as [z [Hz Hl]].
      destruct (Rle_dec (u y - v y) (u z - v z)) as [A | A].
      + exists y. split; [left; auto |]. intros w [<- | Hw]; [lra |]. specialize (Hl w Hw). lra.
      + exists z. split; [right; auto |]. intros w [<- | Hw]; [lra |]. apply Hl; auto. }
  destruct least as [z [Hz Hl]].
  exists (ln (draw ys base kappa u z / draw ys base kappa v z)). intros y Hy. rewrite !ln_draw by auto.
  specialize (H y z Hy Hz). specialize (Hl y Hy).
  assert (kappa * (u z - v z) <= kappa * (u y - v y)) by (apply Rmult_le_compat_l; auto).
  assert (kappa * (u y - v y - (u z - v z)) <= kappa * r) by (apply Rmult_le_compat_l; auto). lra.
Qed.

(* Averages over a secret keep rho: q (p/q)^a is jointly convex. *)
Lemma ln_below x : 0 < x -> ln x <= x - 1.
Proof.
  intros H. assert (1 + ln x <= exp (ln x)).
  { destruct (Req_dec (ln x) 0) as [-> | N]; [rewrite exp_0; lra | left; apply exp_ineq1; auto]. }
  rewrite exp_ln in *; lra.
Qed.

Lemma bernoulli a y : 1 < a -> 0 < y -> 1 + a * (y - 1) <= Rpower y a.
Proof.
  intros Ha Hy. set (s := 1 + a * (y - 1)).
  destruct (Rle_dec s 0) as [L | L]; [apply Rle_trans with 0; [auto | left; apply exp_pos] |].
  assert (S0 : 0 < s) by lra.
  pose proof (ln_below (s / y) ltac:(apply Rdiv_lt_0_compat; auto)) as A1.
  pose proof (ln_below (/ y) ltac:(apply Rinv_0_lt_compat; auto)) as A2.
  unfold Rdiv in A1. rewrite ln_mult in A1 by (auto; apply Rinv_0_lt_compat; auto). rewrite ln_Rinv in A1, A2 by auto.
  assert (ln s <= a * ln y).
  { assert ((a - 1) * (- ln y) <= (a - 1) * (/ y - 1)) by (apply Rmult_le_compat_l; lra).
    assert (s * / y - 1 + (a - 1) * (/ y - 1) = 0) by (unfold s; field; lra). lra. }
  rewrite <- (exp_ln s) by auto. apply exp_le. auto.
Qed.

Lemma tangent a p q r : 1 < a -> 0 < p -> 0 < q -> 0 < r ->
  q * Rpower r a + a * (Rpower r a / r) * (p - q * r) <= part a p q.
Proof.
  intros Ha Hp Hq Hr. unfold part. destruct (Rlt_dec 0 p); [| contradiction].
  pose proof (bernoulli a (p / q / r) Ha ltac:(repeat apply Rdiv_lt_0_compat; auto)) as B.
  assert (E : Rpower (p / q) a = Rpower r a * Rpower (p / q / r) a).
  { rewrite Rpower_mult_distr by (auto; repeat apply Rdiv_lt_0_compat; auto). f_equal. field. lra. }
  rewrite E. assert (P : 0 < Rpower r a) by apply exp_pos.
  assert (q * (Rpower r a * (1 + a * (p / q / r - 1))) <= q * (Rpower r a * Rpower (p / q / r) a))
    by (apply Rmult_le_compat_l; [lra |]; apply Rmult_le_compat_l; lra).
  replace (q * Rpower r a + a * (Rpower r a / r) * (p - q * r)) with (q * (Rpower r a * (1 + a * (p / q / r - 1)))) by (field; lra).
  auto.
Qed.

(* @says A secret drawn independently of the data keeps rho (the range of log ratios does not stay). *)
Theorem mixing_rho {Y S} rho (m : S -> R) secrets (p q : S -> Y -> R) ys :
  law m secrets -> (forall s, In s secrets -> 0 < m s) ->
  (forall s y, In s secrets -> In y ys -> 0 < p s y /\ 0 < q s y) ->
  (forall s, In s secrets -> concentrated rho (p s) (q s) ys) ->
  concentrated rho (fun y => total (fun s => m s * p s y) secrets) (fun y => total (fun s => m s * q s y) secrets) ys.
Proof.
  intros [Nm Om] Pm Pos H a Ha.
  assert (some : secrets <> []) by (intros ->; simpl in Om; lra).
  apply Rle_trans with (total (fun s => m s * moment a (p s) (q s) ys) secrets).
  - unfold moment at 2. rewrite (total_ext _ (fun s => total (fun y => m s * part a (p s y) (q s y)) ys))
      by (intros; symmetry; apply total_scale).
    rewrite total_swap. apply total_le. intros y Hy.
    assert (mixed_pos : forall f : S -> Y -> R, (forall s, In s secrets -> 0 < f s y) -> 0 < total (fun s => m s * f s y) secrets).
    { intros f Hf. apply total_pos; auto. intros s Hs. apply Rmult_lt_0_compat; auto. }
    set (P := total (fun s => m s * p s y) secrets). set (Q := total (fun s => m s * q s y) secrets).
    assert (PP : 0 < P) by (apply mixed_pos; intros s Hs; apply (Pos s y); auto).
    assert (QQ : 0 < Q) by (apply mixed_pos; intros s Hs; apply (Pos s y); auto).
    set (r := P / Q). assert (R0 : 0 < r) by (apply Rdiv_lt_0_compat; auto).
    apply Rle_trans with (total (fun s => m s * (q s y * Rpower r a + a * (Rpower r a / r) * (p s y - q s y * r))) secrets).
    + rewrite (total_ext _ (fun s => (Rpower r a - a * (Rpower r a / r) * r) * (m s * q s y) + a * (Rpower r a / r) * (m s * p s y)))
        by (intros; ring).
      rewrite total_plus, !total_scale. fold P Q. right. unfold part. destruct (Rlt_dec 0 P); [| contradiction].
      fold r. replace P with (r * Q) by (unfold r; field; lra). field. lra.
    + apply total_le. intros s Hs. apply Rmult_le_compat_l; [left; auto |]. destruct (Pos s y Hs Hy). apply tangent; auto.
  - apply Rle_trans with (total (fun s => exp ((a - 1) * a * rho) * m s) secrets).
    + apply total_le. intros s Hs. rewrite (Rmult_comm _ (m s)). apply Rmult_le_compat_l; [left; auto | apply H; auto].
    + rewrite total_scale, Om. lra.
Qed.

(* 2. Conversion (Canonne, Kamath and Steinke 2020, proposition 12). *)
Definition conversion (a rho eps : R) : R := exp ((a - 1) * (a * rho - eps)) / (a - 1) * Rpower (1 - 1 / a) a.

(* One outcome: p - e^eps q is at most this share of the moment. *)
Lemma one_outcome a eps p q : 1 < a -> 0 <= p -> 0 <= q -> (0 < p -> 0 < q) ->
  p - exp eps * q <= exp (- ((a - 1) * eps)) / (a - 1) * Rpower (1 - 1 / a) a * part a p q.
Proof.
  intros Ha Hp Hq Hpq. pose proof (exp_pos eps) as Xe.
  assert (K0 : 0 <= exp (- ((a - 1) * eps)) / (a - 1) * Rpower (1 - 1 / a) a).
  { apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; [apply exp_pos | lra] | left; apply exp_pos]. }
  destruct (Rle_dec (p - exp eps * q) 0) as [L | L].
  { apply Rle_trans with 0; auto. apply Rmult_le_pos; [auto | apply part_nonneg; auto]. }
  assert (p_pos : 0 < p) by (assert (0 <= exp eps * q) by (apply Rmult_le_pos; lra); lra). specialize (Hpq p_pos).
  unfold part. destruct (Rlt_dec 0 p); [| contradiction].
  set (t := exp eps * q / p).
  assert (T0 : 0 < t) by (unfold t; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; auto | auto]).
  assert (T1 : t < 1).
  { unfold t. apply Rmult_lt_reg_r with p; auto. replace (exp eps * q / p * p) with (exp eps * q) by (field; lra). lra. }
  assert (Y : p - exp eps * q = p * (1 - t)) by (unfold t; field; lra). rewrite Y.
  (* (1 - t) a (t a / (a - 1))^(a - 1) <= 1 *)
  assert (G : ln (1 - t) + ln a + (a - 1) * (ln t + ln a - ln (a - 1)) <= 0).
  { pose proof (ln_below ((1 - t) * a) ltac:(apply Rmult_lt_0_compat; lra)) as A1.
    pose proof (ln_below (t * a / (a - 1)) ltac:(apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra])) as A2.
    rewrite ln_mult in A1 by lra. unfold Rdiv in A2. rewrite !ln_mult in A2; try lra;
      try (apply Rmult_lt_0_compat; lra); try (apply Rinv_0_lt_compat; lra).
    rewrite ln_Rinv in A2 by lra.
    assert ((a - 1) * (ln t + ln a + - ln (a - 1)) <= (a - 1) * (t * a * / (a - 1) - 1)) by (apply Rmult_le_compat_l; lra).
    replace ((a - 1) * (t * a * / (a - 1) - 1)) with (t * a - (a - 1)) in H by (field; lra). lra. }
  assert (La : 1 - 1 / a = (a - 1) / a) by (field; lra). rewrite La.
  assert (Lt : ln t = eps + ln q - ln p).
  { unfold t, Rdiv. rewrite !ln_mult, ln_exp, ln_Rinv; auto; try apply Rinv_0_lt_compat; auto; try (apply Rmult_lt_0_compat; auto). }
  assert (R : exp (- ((a - 1) * eps)) / (a - 1) * Rpower ((a - 1) / a) a * (q * Rpower (p / q) a) =
              exp (- ((a - 1) * eps) - ln (a - 1) + a * (ln (a - 1) - ln a) + ln q + a * (ln p - ln q))).
  { rewrite !exp_plus. replace (- ((a - 1) * eps) - ln (a - 1)) with (- ((a - 1) * eps) + - ln (a - 1)) by ring.
    rewrite exp_plus, (exp_Ropp (ln (a - 1))), exp_ln, (exp_ln q) by lra. unfold Rpower, Rdiv.
    rewrite !ln_mult, !ln_Rinv by (auto; try (apply Rinv_0_lt_compat); lra). unfold Rminus. ring. }
  rewrite R. apply Rle_trans with (exp (ln p + ln (1 - t))).
  { rewrite exp_plus, !exp_ln by lra. lra. }
  apply exp_le. rewrite Lt in G. lra.
Qed.

(* @says rho-zCDP is (epsilon, delta)-DP with the delta of Canonne, Kamath and Steinke's conversion, for every order a > 1. *)
Theorem conversion_private {Y} a rho eps (p q : Y -> R) ys : 1 < a ->
  (forall y, In y ys -> 0 <= p y /\ 0 <= q y /\ (0 < p y -> 0 < q y)) ->
  moment a p q ys <= exp ((a - 1) * a * rho) -> private eps (conversion a rho eps) p q ys.
Proof.
  intros Ha Pos H E. set (K := exp (- ((a - 1) * eps)) / (a - 1) * Rpower (1 - 1 / a) a).
  assert (K0 : 0 <= K).
  { apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; [apply exp_pos | lra] | left; apply exp_pos]. }
  assert (C : conversion a rho eps = K * exp ((a - 1) * a * rho)).
  { unfold conversion, K. replace ((a - 1) * (a * rho - eps)) with (- ((a - 1) * eps) + (a - 1) * a * rho) by ring.
    rewrite exp_plus. field. lra. }
  apply Rle_trans with (exp eps * pr q ys E + K * moment a p q ys).
  - unfold pr, moment. rewrite <- !total_scale, <- total_plus. apply total_le. intros y Hy. destruct (Pos y Hy) as (P & Q & PQ).
    pose proof (one_outcome a eps (p y) (q y) Ha P Q PQ) as O. fold K in O. pose proof (mark_range (E y)).
    pose proof (part_nonneg a (p y) (q y) Q) as N. assert (0 <= K * part a (p y) (q y)) by (apply Rmult_le_pos; auto).
    assert (mark (E y) * (p y - exp eps * q y) <= mark (E y) * (K * part a (p y) (q y))) by (apply Rmult_le_compat_l; lra).
    assert (mark (E y) * (K * part a (p y) (q y)) <= 1 * (K * part a (p y) (q y))) by (apply Rmult_le_compat_r; lra). lra.
  - rewrite C. assert (K * moment a p q ys <= K * exp ((a - 1) * a * rho)) by (apply Rmult_le_compat_l; auto). lra.
Qed.
