(* One rule of prices. A draw with weights base(y) e^(kappa u(y)) loses at most kappa times the range of the change of
   its score u; noise with weights e^(-norm(z) / scale) at most the norm of the change over the scale. *)
Require Import Reals List Lra Lia ZArith.
Require Import Laws.
Import ListNotations.
Open Scope R_scope.

Lemma exp_le a b : a <= b -> exp a <= exp b.
Proof. intros H. destruct (Req_dec a b) as [-> | N]; [lra | left; apply exp_increasing; lra]. Qed.

Section Draw.
Context {Y : Type}.
Variables (ys : list Y) (base : Y -> R) (kappa : R).
Hypothesis kappa_nonneg : 0 <= kappa.
Hypothesis base_pos : forall y, In y ys -> 0 < base y.
Hypothesis some : ys <> [].

Definition weight (u : Y -> R) (y : Y) : R := base y * exp (kappa * u y).
Definition draw (u : Y -> R) (y : Y) : R := weight u y / total (weight u) ys.

Lemma weight_pos u y : In y ys -> 0 < weight u y.
Proof. intros H. apply Rmult_lt_0_compat; [auto | apply exp_pos]. Qed.

Lemma all_weights_pos u : 0 < total (weight u) ys.
Proof. apply total_pos; [exact some | intros; apply weight_pos; assumption]. Qed.

Lemma draw_law u : law (draw u) ys.
Proof.
  pose proof (all_weights_pos u) as P. split.
  - intros y Hy. pose proof (weight_pos u y Hy). unfold draw. apply Rlt_le, Rdiv_lt_0_compat; assumption.
  - unfold draw. rewrite (total_ext _ (fun y => / total (weight u) ys * weight u y)).
    + rewrite total_scale. apply Rinv_l. lra.
    + intros y _. unfold Rdiv. ring.
Qed.

(* The range of the change: how much more the score grows at one outcome than at another. *)
Definition range_at_most (r : R) (u v : Y -> R) : Prop :=
  forall y z, In y ys -> In z ys -> (u y - v y) - (u z - v z) <= r.

(* @says A draw with weights base e^(kappa score) loses at most kappa times the range of the score's change. *)
Theorem draw_loses_the_range r u v : range_at_most r u v ->
  forall y, In y ys -> draw u y <= exp (kappa * r) * draw v y.
Proof.
  intros H y Hy. pose proof (all_weights_pos u) as Pu. pose proof (all_weights_pos v) as Pv.
  assert (K : exp (kappa * u y) * total (weight v) ys <= exp (kappa * r) * exp (kappa * v y) * total (weight u) ys).
  { rewrite <- !total_scale. apply total_le. intros z Hz. unfold weight.
    replace (exp (kappa * u y) * (base z * exp (kappa * v z))) with (base z * (exp (kappa * u y) * exp (kappa * v z))) by ring.
    replace (exp (kappa * r) * exp (kappa * v y) * (base z * exp (kappa * u z)))
      with (base z * (exp (kappa * r) * exp (kappa * v y) * exp (kappa * u z))) by ring.
    apply Rmult_le_compat_l; [left; auto |]. rewrite <- !exp_plus. apply exp_le.
    specialize (H y z Hy Hz).
    assert (kappa * (u y - v y - (u z - v z)) <= kappa * r) by (apply Rmult_le_compat_l; auto). lra. }
  unfold draw. revert K Pu Pv. set (S := total (weight u) ys). set (T := total (weight v) ys). intros K Pu Pv.
  apply Rmult_le_reg_r with S; [assumption |]. apply Rmult_le_reg_r with T; [assumption |].
  replace (weight u y / S * S * T) with (base y * (exp (kappa * u y) * T))
    by (change (weight u y) with (base y * exp (kappa * u y)); field; lra).
  replace (exp (kappa * r) * (weight v y / T) * S * T) with (base y * (exp (kappa * r) * exp (kappa * v y) * S))
    by (change (weight v y) with (base y * exp (kappa * v y)); field; lra).
  apply Rmult_le_compat_l; [left; auto | exact K].
Qed.

(* @says So it is (kappa range)-differentially private. *)
Corollary draw_private r u v : range_at_most r u v -> private (kappa * r) 0 (draw u) (draw v) ys.
Proof. intros H. apply private_pointwise. intros y Hy. apply draw_loses_the_range; assumption. Qed.
End Draw.

(* The table of prices: a score declares A1, its range where a record comes or goes, and R1 where one is replaced.
   Under add/remove kappa = eps / A1; under replacement eps / max(R1, A1) without groups or with one key (a record may
   leave for no group), eps / (2 A1) with two keys or more. *)
Section Relations.
Context {Y : Type}.
Variables (ys : list Y) (base : Y -> R) (eps a1 r1 : R).
Hypothesis eps_nonneg : 0 <= eps.
Hypothesis base_pos : forall y, In y ys -> 0 < base y.
Hypothesis some : ys <> [].
Hypothesis a1_pos : 0 < a1.
Notation ranges := (range_at_most ys).
Notation drawn := (fun kappa => draw ys base kappa).

(* @says kappa = epsilon / A1 where a record comes or goes. *)
Theorem price_add_remove u v : ranges a1 u v -> private eps 0 (drawn (eps / a1) u) (drawn (eps / a1) v) ys.
Proof.
  intros H. replace eps with (eps / a1 * a1) at 1 by (field; lra). apply draw_private; auto.
  apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; auto].
Qed.

(* @says kappa = epsilon / max(R1, A1) where a record is replaced, or leaves for no group. *)
Theorem price_replace u v : ranges r1 u v \/ ranges a1 u v ->
  private eps 0 (drawn (eps / Rmax r1 a1) u) (drawn (eps / Rmax r1 a1) v) ys.
Proof.
  intros H. pose proof (Rmax_l r1 a1). pose proof (Rmax_r r1 a1). assert (P : 0 < Rmax r1 a1) by lra.
  replace eps with (eps / Rmax r1 a1 * Rmax r1 a1) at 1 by (field; lra). apply draw_private; auto.
  - apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; auto].
  - intros y z Hy Hz. destruct H as [H | H]; specialize (H y z Hy Hz); lra.
Qed.

(* A record that goes from one group to another: the two groups' draws together. *)
(* @says kappa = epsilon / (2 A1) where a record may go from one group to another. *)
Theorem price_move u v s t : ranges a1 u v -> ranges a1 s t ->
  forall y z, In y ys -> In z ys ->
  drawn (eps / (2 * a1)) u y * drawn (eps / (2 * a1)) s z <=
  exp eps * (drawn (eps / (2 * a1)) v y * drawn (eps / (2 * a1)) t z).
Proof.
  intros Huv Hst y z Hy Hz. set (k := eps / (2 * a1)).
  assert (K : 0 <= k).
  { apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; lra]. }
  pose proof (draw_loses_the_range ys base k K base_pos some a1 u v Huv y Hy) as A.
  pose proof (draw_loses_the_range ys base k K base_pos some a1 s t Hst z Hz) as B.
  replace (exp eps) with (exp (k * a1) * exp (k * a1)) by (rewrite <- exp_plus; f_equal; unfold k; field; lra).
  pose proof (law_nonneg _ _ (draw_law ys base k base_pos some u) y Hy) as Pu.
  pose proof (law_nonneg _ _ (draw_law ys base k base_pos some s) z Hz) as Ps.
  replace (exp (k * a1) * exp (k * a1) * (draw ys base k v y * draw ys base k t z))
    with (exp (k * a1) * draw ys base k v y * (exp (k * a1) * draw ys base k t z)) by ring.
  apply Rmult_le_compat; assumption.
Qed.

(* Replaced inside its group, where R1 <= 2 A1. *)
(* @says That price pays for a record replaced inside its group, too. *)
Theorem price_replace_in_a_group u v : r1 <= 2 * a1 -> ranges r1 u v ->
  private eps 0 (drawn (eps / (2 * a1)) u) (drawn (eps / (2 * a1)) v) ys.
Proof.
  intros L H. replace eps with (eps / (2 * a1) * (2 * a1)) at 1 by (field; lra). apply draw_private; auto.
  - apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; lra].
  - intros y z Hy Hz. specialize (H y z Hy Hz). lra.
Qed.
End Relations.

(* Additive noise on integers, coordinates together: weights e^(-norm(z)/scale). The constant that makes them a law does
   not depend on the data, so weights are compared. Any subadditive norm will do: the largest coordinate (cube noise),
   one coordinate (discrete Laplace). *)
Section Noise.
Context {V : Type}.
Variables (minus : V -> V -> V) (norm : V -> R) (scale : R).
Hypothesis scale_pos : 0 < scale.
Hypothesis triangle : forall o s t, norm (minus o t) <= norm (minus o s) + norm (minus s t).

Definition noise_weight (centre o : V) : R := exp (- (norm (minus o centre) / scale)).

(* @says Noise with weights e^(-norm / scale) on something that moves by `far` loses far / scale. *)
Theorem noise_private far s t : norm (minus s t) <= far ->
  forall o, noise_weight s o <= exp (far / scale) * noise_weight t o.
Proof.
  intros H o. unfold noise_weight. rewrite <- exp_plus. apply exp_le.
  pose proof (triangle o s t). unfold Rdiv.
  assert (I : 0 < / scale) by (apply Rinv_0_lt_compat; auto).
  assert (norm (minus o t) * / scale <= (norm (minus o s) + far) * / scale)
    by (apply Rmult_le_compat_r; lra). lra.
Qed.
End Noise.

(* The two norms. *)
Section Norms.
Open Scope Z_scope.
Fixpoint vector_minus (a b : list Z) : list Z :=
  match a, b with x :: a', y :: b' => (x - y) :: vector_minus a' b' | _, _ => [] end.
Fixpoint largest (a : list Z) : Z := match a with [] => 0 | x :: r => Z.max (Z.abs x) (largest r) end.

Lemma largest_nonneg a : 0 <= largest a.
Proof. induction a; simpl; lia. Qed.

(* @says The largest coordinate is a norm: the triangle inequality. *)
Theorem cube_triangle : forall o s t, length o = length s -> length s = length t ->
  largest (vector_minus o t) <= largest (vector_minus o s) + largest (vector_minus s t).
Proof.
  induction o as [| x o IH]; intros [| y s] [| z t] H1 H2; simpl in *; try lia.
  specialize (IH s t ltac:(lia) ltac:(lia)). lia.
Qed.
End Norms.
