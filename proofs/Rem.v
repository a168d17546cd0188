(* The restricted exponential mechanism with the graded test: (eps, delta)-differential privacy under replacement, from
   lower and upper bounds of the sizes of level sets. *)
Require Import Reals List Lra Lia ZArith.
Require Import Laws Prices.
Import ListNotations.
Open Scope R_scope.

Lemma one_plus_le_exp x : 1 + x <= exp x.
Proof. destruct (Req_dec x 0) as [-> | N]; [rewrite exp_0; lra | left; apply exp_ineq1; auto]. Qed.

(* 1. The draw: e^(eta f) on the points with f >= t. *)
Section Restricted.
Context {Y : Type}.
Variables (ys : list Y) (eta : R) (t : Z).
Hypothesis eta_nonneg : 0 <= eta.

Definition above (j : Z) (f : Y -> Z) (y : Y) : R := if (j <=? f y)%Z then exp (eta * IZR (f y)) else 0.
Definition mass (j : Z) (f : Y -> Z) : R := total (above j f) ys.
Definition drawn (f : Y -> Z) (y : Y) : R := above t f y / mass t f.
Definition loss (f : Y -> Z) : R := 1 - mass (t + 1) f / mass (t - 1) f.

Lemma above_nonneg j f y : 0 <= above j f y.
Proof. unfold above. destruct (j <=? f y)%Z; [left; apply exp_pos | lra]. Qed.

Lemma above_falls i j f y : (i <= j)%Z -> above j f y <= above i f y.
Proof.
  intros H. unfold above. destruct (Z.leb_spec j (f y)), (Z.leb_spec i (f y)); try lra; try lia.
  left. apply exp_pos.
Qed.

Lemma mass_falls i j f : (i <= j)%Z -> mass j f <= mass i f.
Proof. intros H. apply total_le. intros. apply above_falls. auto. Qed.

Variables (f g : Y -> Z).
Hypothesis close : forall y, (Z.abs (f y - g y) <= 1)%Z.
Hypothesis filled_f : 0 < mass t f.
Hypothesis filled_g : 0 < mass t g.

Lemma above_shift (a b : Y -> Z) j y : (Z.abs (a y - b y) <= 1)%Z -> above (j + 1) a y <= exp eta * above j b y.
Proof.
  intros H. unfold above. destruct (Z.leb_spec (j + 1) (a y)); destruct (Z.leb_spec j (b y)); try lia.
  - rewrite <- exp_plus. apply exp_le.
    assert (IZR (a y) <= 1 + IZR (b y)).
    { assert (a y <= 1 + b y)%Z as Q by lia. apply IZR_le in Q. rewrite plus_IZR in Q. exact Q. }
    assert (eta * IZR (a y) <= eta * (1 + IZR (b y))) by (apply Rmult_le_compat_l; auto). lra.
  - rewrite Rmult_comm. left. apply Rmult_lt_0_compat; apply exp_pos.
  - rewrite Rmult_0_r. lra.
Qed.

(* Lemma 1 of the proof: what is lost at the edge of the level set. *)
(* @says Replacement: the restricted draws of neighbours differ by e^(2 eta) and by what lies at the edge of the level. *)
Theorem edge E : pr (drawn f) ys E <= exp (2 * eta) * pr (drawn g) ys E + loss f.
Proof.
  set (inner := total (fun y => mark (E y) * above (t + 1) f y) ys).
  assert (mono : forall h, (forall y, In y ys -> 0 <= h y) -> 0 <= total (fun y => mark (E y) * h y) ys <= total h ys).
  { intros h Hh. split.
    - apply total_nonneg. intros. apply Rmult_le_pos; [apply mark_range | auto].
    - apply total_le. intros y Hy. pose proof (mark_range (E y)). specialize (Hh y Hy).
      assert (mark (E y) * h y <= 1 * h y) by (apply Rmult_le_compat_r; lra). lra. }
  assert (I : 0 <= inner <= mass (t + 1) f) by (apply mono; intros; apply above_nonneg).
  assert (Z1 : 0 < mass (t - 1) f) by (apply Rlt_le_trans with (mass t f); [auto | apply mass_falls; lia]).
  assert (Zt : mass t f <= mass (t - 1) f) by (apply mass_falls; lia).
  assert (Zn : mass (t + 1) f <= mass t f) by (apply mass_falls; lia).
  (* the neighbour's draw keeps the inner part *)
  assert (G : inner / mass (t - 1) f <= exp (2 * eta) * pr (drawn g) ys E).
  { assert (N : inner <= exp eta * total (fun y => mark (E y) * above t g y) ys).
    { rewrite <- total_scale. apply total_le. intros y _. pose proof (mark_range (E y)).
      replace (exp eta * (mark (E y) * above t g y)) with (mark (E y) * (exp eta * above t g y)) by ring.
      apply Rmult_le_compat_l; [lra |]. apply above_shift, close. }
    assert (M : mass t g <= exp eta * mass (t - 1) f).
    { unfold mass. rewrite <- total_scale. apply total_le. intros y _.
      replace t with ((t - 1) + 1)%Z at 1 by lia. apply above_shift.
      specialize (close y). lia. }
    assert (P : pr (drawn g) ys E = total (fun y => mark (E y) * above t g y) ys / mass t g).
    { unfold pr, drawn, Rdiv. rewrite Rmult_comm, <- total_scale. apply total_ext. intros. ring. }
    rewrite P. set (a := total (fun y => mark (E y) * above t g y) ys) in *.
    assert (A0 : 0 <= a) by (apply (mono (above t g)); intros; apply above_nonneg).
    replace (2 * eta) with (eta + eta) by ring. rewrite exp_plus. pose proof (exp_pos eta) as Pe.
    apply Rmult_le_reg_r with (mass (t - 1) f); [auto |]. apply Rmult_le_reg_r with (mass t g); [auto |].
    replace (inner / mass (t - 1) f * mass (t - 1) f * mass t g) with (inner * mass t g) by (field; lra).
    replace (exp eta * exp eta * (a / mass t g) * mass (t - 1) f * mass t g)
      with (exp eta * a * (exp eta * mass (t - 1) f)) by (field; lra).
    apply Rmult_le_compat; lra. }
  (* the rest of the draw *)
  assert (P : pr (drawn f) ys E = total (fun y => mark (E y) * above t f y) ys / mass t f).
  { unfold pr, drawn, Rdiv. rewrite Rmult_comm, <- total_scale. apply total_ext. intros. ring. }
  assert (R1 : total (fun y => mark (E y) * above t f y) ys <= inner + (mass t f - mass (t + 1) f)).
  { assert (D : total (fun y => mark (E y) * (above t f y - above (t + 1) f y)) ys <= mass t f - mass (t + 1) f).
    { unfold mass. rewrite <- total_minus. apply (mono (fun y => above t f y - above (t + 1) f y)).
      intros y _. pose proof (above_falls t (t + 1) f y ltac:(lia)). lra. }
    unfold inner. rewrite (total_ext (fun y => mark (E y) * above t f y)
      (fun y => mark (E y) * above (t + 1) f y + mark (E y) * (above t f y - above (t + 1) f y))) by (intros; ring).
    rewrite total_plus. lra. }
  assert (S : pr (drawn f) ys E <= (inner + (mass t f - mass (t + 1) f)) / mass t f).
  { rewrite P. unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto | exact R1]. }
  assert (T : (inner + (mass t f - mass (t + 1) f)) / mass t f <= inner / mass (t - 1) f + loss f).
  { unfold loss. set (i := inner) in *. set (z := mass t f) in *. set (u := mass (t - 1) f) in *.
    set (w := mass (t + 1) f) in *.
    apply Rmult_le_reg_r with z; [auto |]. apply Rmult_le_reg_r with u; [auto |].
    replace ((i + (z - w)) / z * z * u) with ((i + (z - w)) * u) by (field; lra).
    replace ((i / u + (1 - w / u)) * z * u) with ((i + u - w) * z) by (field; lra). nra. }
  lra.
Qed.
End Restricted.

(* 1'. Add/remove: one record more raises every depth by 0 or 1. *)
Section OneSided.
Context {Y : Type}.
Variables (ys : list Y) (eta : R) (t : Z).
Hypothesis eta_nonneg : 0 <= eta.
Notation mass := (mass ys eta).
Notation drawn := (drawn ys eta t).
Notation above := (above eta).

Lemma above_raised (a b : Y -> Z) j y : (a y <= b y <= a y + 1)%Z -> above j a y <= above j b y /\ above (j + 1) b y <= exp eta * above j a y.
Proof.
  intros H. split.
  - unfold Rem.above. destruct (Z.leb_spec j (a y)); destruct (Z.leb_spec j (b y)); try lia; try lra.
    + apply exp_le. apply Rmult_le_compat_l; [auto | apply IZR_le; lia].
    + left. apply exp_pos.
  - apply above_shift; [auto | lia].
Qed.

Lemma marked E (h : Y -> R) : (forall y, In y ys -> 0 <= h y) -> 0 <= total (fun y => mark (E y) * h y) ys <= total h ys.
Proof.
  intros Hh. split.
  - apply total_nonneg. intros. apply Rmult_le_pos; [apply mark_range | auto].
  - apply total_le. intros y Hy. pose proof (mark_range (E y)). specialize (Hh y Hy).
    assert (mark (E y) * h y <= 1 * h y) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma pr_drawn f E : pr (drawn f) ys E = total (fun y => mark (E y) * above t f y) ys / mass t f.
Proof. unfold pr, Rem.drawn, Rdiv. rewrite Rmult_comm, <- total_scale. apply total_ext. intros. ring. Qed.

Variables (f g : Y -> Z).
Hypothesis filled_f : 0 < mass t f.
Hypothesis filled_g : 0 < mass t g.

(* The neighbour g has a record more. *)
(* @says A record more: e^eta and the edge below. *)
Theorem edge_added : (forall y, (f y <= g y <= f y + 1)%Z) ->
  forall E, pr (drawn f) ys E <= exp eta * pr (drawn g) ys E + (1 - mass t f / mass (t - 1) f).
Proof.
  intros H E. rewrite !pr_drawn.
  set (a := total (fun y => mark (E y) * above t f y) ys). set (b := total (fun y => mark (E y) * above t g y) ys).
  assert (Ha : 0 <= a <= mass t f) by (apply marked; intros; apply above_nonneg).
  assert (AB : a <= b).
  { apply total_le. intros y _. pose proof (mark_range (E y)). apply Rmult_le_compat_l; [lra |].
    apply (proj1 (above_raised f g t y (H y))). }
  assert (M : mass t g <= exp eta * mass (t - 1) f).
  { unfold Rem.mass. rewrite <- total_scale. apply total_le. intros y _. replace t with (t - 1 + 1)%Z at 1 by lia.
    apply (proj2 (above_raised f g (t - 1) y (H y))). }
  assert (Zt : mass t f <= mass (t - 1) f) by (apply mass_falls; lia). pose proof (exp_pos eta).
  set (z := mass t f) in *. set (u := mass (t - 1) f) in *. set (w := mass t g) in *.
  assert (G : a / u <= exp eta * (b / w)).
  { apply Rmult_le_reg_r with u; [lra |]. apply Rmult_le_reg_r with w; [lra |].
    replace (a / u * u * w) with (a * w) by (field; lra).
    replace (exp eta * (b / w) * u * w) with (b * (exp eta * u)) by (field; lra). apply Rmult_le_compat; lra. }
  assert (T : a / z <= a / u + (1 - z / u)).
  { apply Rmult_le_reg_r with z; [lra |]. apply Rmult_le_reg_r with u; [lra |].
    replace (a / z * z * u) with (a * u) by (field; lra).
    replace ((a / u + (1 - z / u)) * z * u) with ((a + u - z) * z) by (field; lra). nra. }
  lra.
Qed.

(* The neighbour g has a record less. *)
(* @says A record less: e^eta and the edge above. *)
Theorem edge_removed : (forall y, (g y <= f y <= g y + 1)%Z) ->
  forall E, pr (drawn f) ys E <= exp eta * pr (drawn g) ys E + (1 - mass (t + 1) f / mass t f).
Proof.
  intros H E. rewrite !pr_drawn.
  set (a := total (fun y => mark (E y) * above t f y) ys). set (b := total (fun y => mark (E y) * above t g y) ys).
  set (i := total (fun y => mark (E y) * above (t + 1) f y) ys).
  assert (Hi : 0 <= i <= mass (t + 1) f) by (apply marked; intros; apply above_nonneg).
  assert (IB : i <= exp eta * b).
  { unfold b. rewrite <- total_scale. apply total_le. intros y _. pose proof (mark_range (E y)).
    replace (exp eta * (mark (E y) * above t g y)) with (mark (E y) * (exp eta * above t g y)) by ring.
    apply Rmult_le_compat_l; [lra |]. apply (proj2 (above_raised g f t y (H y))). }
  assert (M : mass t g <= mass t f).
  { apply total_le. intros y _. apply (proj1 (above_raised g f t y (H y))). }
  assert (R1 : a <= i + (mass t f - mass (t + 1) f)).
  { assert (D : total (fun y => mark (E y) * (above t f y - above (t + 1) f y)) ys <= mass t f - mass (t + 1) f).
    { unfold Rem.mass. rewrite <- total_minus. apply (marked E (fun y => above t f y - above (t + 1) f y)).
      intros y _. pose proof (above_falls eta t (t + 1) f y ltac:(lia)). lra. }
    unfold a, i. rewrite (total_ext (fun y => mark (E y) * above t f y)
      (fun y => mark (E y) * above (t + 1) f y + mark (E y) * (above t f y - above (t + 1) f y))) by (intros; ring).
    rewrite total_plus. lra. }
  assert (B0 : 0 <= b) by (apply (marked E (above t g)); intros; apply above_nonneg).
  set (z := mass t f) in *. set (w := mass (t + 1) f) in *. set (v := mass t g) in *. pose proof (exp_pos eta).
  assert (G : i / z <= exp eta * (b / v)).
  { apply Rmult_le_reg_r with z; [lra |]. apply Rmult_le_reg_r with v; [lra |].
    replace (i / z * z * v) with (i * v) by (field; lra).
    replace (exp eta * (b / v) * z * v) with (exp eta * b * z) by (field; lra). apply Rmult_le_compat; lra. }
  assert (T : a / z <= i / z + (1 - w / z)).
  { apply Rmult_le_reg_r with z; [lra |]. replace (a / z * z) with a by (field; lra).
    replace ((i / z + (1 - w / z)) * z) with (i + z - w) by (field; lra). lra. }
  lra.
Qed.
End OneSided.

(* 2. The chance of a release, from a score that moves by at most 1. *)
Section Chance.
Variables (eps eps_p : R).
Hypothesis positive : 0 < eps /\ 0 < eps_p.
Definition knee : R := eps / (eps + eps_p).
Definition s_knee : R := ln knee / eps_p.
Definition p (s : R) : R :=
  if Rle_dec s s_knee then exp (eps_p * s) else 1 - (1 - knee) * exp (- (eps * (s - s_knee))).

Lemma knee_range : 0 < knee < 1.
Proof.
  unfold knee. split; [apply Rdiv_lt_0_compat; lra |].
  apply Rmult_lt_reg_r with (eps + eps_p); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma at_knee : exp (eps_p * s_knee) = knee.
Proof.
  unfold s_knee. replace (eps_p * (ln knee / eps_p)) with (ln knee) by (field; lra).
  apply exp_ln, knee_range.
Qed.
Lemma beyond_knee : eps_p * knee = eps * (1 - knee).
Proof. unfold knee. field. lra. Qed.

(* The second piece, v beyond the knee: below the first one, and growing no faster. *)
Definition second (u : R) : R := 1 - (1 - knee) * exp (- (eps * u)).

Lemma second_slope u v : 0 <= u -> 0 <= v -> second (u + v) <= exp (eps_p * v) * second u.
Proof.
  intros Hu Hv. unfold second. pose proof knee_range as K. pose proof beyond_knee as B.
  replace (exp (- (eps * (u + v)))) with (exp (- (eps * u)) * exp (- (eps * v))) by (rewrite <- exp_plus; f_equal; ring).
  set (a := (1 - knee) * exp (- (eps * u))).
  assert (E1 : exp (- (eps * u)) <= 1) by (rewrite <- exp_0; apply exp_le; assert (0 <= eps * u) by (apply Rmult_le_pos; lra); lra).
  pose proof (exp_pos (- (eps * u))) as E0.
  assert (Ha : 0 <= a <= 1 - knee).
  { unfold a. split; [apply Rmult_le_pos; lra |]. assert ((1 - knee) * exp (- (eps * u)) <= (1 - knee) * 1) by (apply Rmult_le_compat_l; lra). lra. }
  pose proof (one_plus_le_exp (- (eps * v))) as X. pose proof (one_plus_le_exp (eps_p * v)) as W.
  replace ((1 - knee) * (exp (- (eps * u)) * exp (- (eps * v)))) with (a * exp (- (eps * v))) by (unfold a; ring).
  assert (L : 1 - a * exp (- (eps * v)) <= 1 - a + a * (eps * v)).
  { assert (a * (1 + - (eps * v)) <= a * exp (- (eps * v))) by (apply Rmult_le_compat_l; lra). lra. }
  assert (G : (1 + eps_p * v) * (1 - a) <= exp (eps_p * v) * (1 - a)) by (apply Rmult_le_compat_r; lra).
  assert (Q : a * eps <= eps_p * (1 - a)) by nra.
  assert (a * (eps * v) <= eps_p * v * (1 - a)) by nra. lra.
Qed.

Lemma p_below s : p s <= exp (eps_p * s).
Proof.
  unfold p. destruct (Rle_dec s s_knee) as [L | L]; [lra |].
  pose proof (second_slope 0 (s - s_knee) ltac:(lra) ltac:(lra)) as H. unfold second in H.
  rewrite Rplus_0_l, Rmult_0_r, Ropp_0, exp_0 in H.
  replace (exp (eps_p * s)) with (exp (eps_p * (s - s_knee)) * knee); [lra |].
  rewrite <- at_knee, <- exp_plus. f_equal. ring.
Qed.

Lemma p_range s : 0 < p s < 1.
Proof.
  unfold p. pose proof knee_range as K. destruct (Rle_dec s s_knee) as [L | L].
  - split; [apply exp_pos |]. apply Rle_lt_trans with knee; [rewrite <- at_knee; apply exp_le; nra | lra].
  - pose proof (exp_pos (- (eps * (s - s_knee)))).
    assert (exp (- (eps * (s - s_knee))) <= 1) by (rewrite <- exp_0; apply exp_le; nra). split; nra.
Qed.

Lemma p_slope s v : 0 <= v -> p (s + v) <= exp (eps_p * v) * p s.
Proof.
  intros Hv. unfold p. destruct (Rle_dec (s + v) s_knee) as [A | A]; destruct (Rle_dec s s_knee) as [B | B]; try lra.
  - rewrite <- exp_plus. apply exp_le. lra.
  - change (second (s + v - s_knee) <= exp (eps_p * v) * exp (eps_p * s)).
    pose proof (second_slope 0 (s + v - s_knee) ltac:(lra) ltac:(lra)) as H. rewrite Rplus_0_l in H.
    unfold second at 2 in H. rewrite Rmult_0_r, Ropp_0, exp_0 in H.
    replace (exp (eps_p * v) * exp (eps_p * s)) with (exp (eps_p * (s + v - s_knee)) * knee); [lra |].
    rewrite <- at_knee, <- !exp_plus. f_equal. ring.
  - pose proof (second_slope (s - s_knee) v ltac:(lra) Hv) as H. unfold second in H.
    replace (s - s_knee + v) with (s + v - s_knee) in H by ring. exact H.
Qed.

Lemma refusal_slope s v : 0 <= v -> 1 - p s <= exp (eps * v) * (1 - p (s + v)).
Proof.
  intros Hv. pose proof knee_range as K. pose proof beyond_knee as B.
  assert (first : forall a w, 0 <= w -> a + w <= s_knee ->
    1 - exp (eps_p * a) <= exp (eps * w) * (1 - exp (eps_p * (a + w)))).
  { intros a w Hw Ha. set (e := exp (eps_p * (a + w))).
    assert (He : 0 < e <= knee) by (split; [apply exp_pos | rewrite <- at_knee; apply exp_le; nra]).
    replace (exp (eps_p * a)) with (e * exp (- (eps_p * w))) by (unfold e; rewrite <- exp_plus; f_equal; ring).
    pose proof (one_plus_le_exp (- (eps_p * w))). pose proof (one_plus_le_exp (eps * w)).
    assert (e * (1 + - (eps_p * w)) <= e * exp (- (eps_p * w))) by (apply Rmult_le_compat_l; lra).
    assert ((1 + eps * w) * (1 - e) <= exp (eps * w) * (1 - e)) by (apply Rmult_le_compat_r; lra).
    assert (e * eps_p <= eps * (1 - e)) by nra. assert (e * (eps_p * w) <= eps * w * (1 - e)) by nra. lra. }
  unfold p. destruct (Rle_dec s s_knee) as [A | A]; destruct (Rle_dec (s + v) s_knee) as [C | C]; try lra.
  - apply first; auto.
  - pose proof (first s (s_knee - s) ltac:(lra) ltac:(lra)) as H. replace (s + (s_knee - s)) with s_knee in H by ring.
    rewrite at_knee in H. replace (1 - (1 - (1 - knee) * exp (- (eps * (s + v - s_knee)))))
      with ((1 - knee) * exp (- (eps * (s + v - s_knee)))) by ring.
    replace (exp (eps * v) * ((1 - knee) * exp (- (eps * (s + v - s_knee)))))
      with (exp (eps * (s_knee - s)) * (1 - knee)); [lra |].
    replace (exp (eps * v) * ((1 - knee) * exp (- (eps * (s + v - s_knee)))))
      with ((1 - knee) * (exp (eps * v) * exp (- (eps * (s + v - s_knee))))) by ring.
    rewrite <- exp_plus, Rmult_comm. f_equal. f_equal. ring.
  - replace (1 - (1 - (1 - knee) * exp (- (eps * (s - s_knee))))) with ((1 - knee) * exp (- (eps * (s - s_knee)))) by ring.
    replace (1 - (1 - (1 - knee) * exp (- (eps * (s + v - s_knee))))) with ((1 - knee) * exp (- (eps * (s + v - s_knee)))) by ring.
    replace (exp (eps * v) * ((1 - knee) * exp (- (eps * (s + v - s_knee)))))
      with ((1 - knee) * (exp (eps * v) * exp (- (eps * (s + v - s_knee))))) by ring.
    rewrite <- exp_plus. right. f_equal. f_equal. ring.
Qed.

Lemma p_grows s v : 0 <= v -> p s <= p (s + v).
Proof.
  intros Hv. pose proof (refusal_slope s v Hv) as H. pose proof knee_range as K. unfold p in *.
  destruct (Rle_dec s s_knee) as [A | A]; destruct (Rle_dec (s + v) s_knee) as [C | C]; try lra.
  - apply exp_le. nra.
  - assert (exp (eps_p * s) <= knee) by (rewrite <- at_knee; apply exp_le; nra).
    assert (exp (- (eps * (s + v - s_knee))) <= 1) by (rewrite <- exp_0; apply exp_le; nra). nra.
  - assert (exp (- (eps * (s + v - s_knee))) <= exp (- (eps * (s - s_knee)))) by (apply exp_le; nra). nra.
Qed.

(* @says Scores that differ by at most 1: the chance of a release moves by e^eps_p, that of a refusal by e^eps. *)
Theorem chances_close s s' : Rabs (s - s') <= 1 -> p s <= exp eps_p * p s' /\ 1 - p s <= exp eps * (1 - p s').
Proof.
  intros H. destruct (Rle_dec s' s) as [L | L].
  - rewrite Rabs_right in H by lra. set (v := s - s'). replace s with (s' + v) by (unfold v; ring). split.
    + apply Rle_trans with (exp (eps_p * v) * p s'); [apply p_slope; unfold v; lra |].
      apply Rmult_le_compat_r; [left; apply p_range | apply exp_le; unfold v; nra].
    + pose proof (p_grows s' v ltac:(unfold v; lra)). pose proof (p_range (s' + v)). pose proof (p_range s').
      assert (1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra). nra.
  - rewrite Rabs_left in H by lra. set (v := s' - s). replace s' with (s + v) by (unfold v; ring). split.
    + pose proof (p_grows s v ltac:(unfold v; lra)). pose proof (p_range (s + v)).
      assert (1 <= exp eps_p) by (rewrite <- exp_0; apply exp_le; lra). nra.
    + apply Rle_trans with (exp (eps * v) * (1 - p (s + v))); [apply refusal_slope; unfold v; lra |].
      apply Rmult_le_compat_r; [pose proof (p_range (s + v)); lra | apply exp_le; unfold v; nra].
Qed.
End Chance.

(* 3. The score: the least of k + ln(delta / D_k) / eps_p for k < K, and K + ln(delta) / eps_p. It moves by at most 1. *)
Section Score.
Variables (eps_p delta : R).
Hypothesis positive : 0 < eps_p /\ 0 < delta.
Fixpoint score (K : nat) (first : nat) (D : nat -> R) : R :=      (* k = first, first + 1, ..., K of them, then the end *)
  match K with
  | O => INR first + ln delta / eps_p
  | S m => Rmin (INR first + ln (delta / D first) / eps_p) (score m (S first) D)
  end.

Lemma ln_le a b : 0 < a -> a <= b -> ln a <= ln b.
Proof. intros Ha H. destruct (Req_dec a b) as [-> | N]; [lra | left; apply ln_increasing; lra]. Qed.

(* D_k grows by one step between neighbours, is positive and at most 1. *)
(* @says The score moves by at most 1 where the fractions D_k shift by one step. *)
Theorem score_moves_by_one K : forall first (D D' : nat -> R),
  (forall k, 0 < D k <= 1) -> (forall k, 0 < D' k <= 1) -> (forall k, D k <= D' (S k)) ->
  score K first D' <= score K first D + 1.
Proof.
  induction K as [| K IH]; intros first D D' H H' Hs; [simpl; lra |].
  cbn [score]. unfold Rmin at 2.
  destruct (Rle_dec (INR first + ln (delta / D first) / eps_p) (score K (S first) D)) as [L | L].
  - apply Rle_trans with (score K (S first) D'); [apply Rmin_r |].
    assert (one : 0 < / eps_p) by (apply Rinv_0_lt_compat; lra).
    assert (next : forall e, 0 < e <= 1 -> D first <= e -> ln (delta / e) / eps_p <= ln (delta / D first) / eps_p).
    { intros e He Hd. unfold Rdiv at 1 3. apply Rmult_le_compat_r; [lra |]. destruct (H first). apply ln_le.
      - apply Rdiv_lt_0_compat; lra.
      - unfold Rdiv. apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; lra. }
    destruct K as [| K]; cbn [score].
    + rewrite S_INR. specialize (next 1 ltac:(lra) ltac:(apply H)). unfold Rdiv at 2 in next. rewrite Rinv_1, Rmult_1_r in next. lra.
    + apply Rle_trans with (INR (S first) + ln (delta / D' (S first)) / eps_p); [apply Rmin_l |].
      rewrite S_INR. specialize (next (D' (S first)) (H' (S first)) (Hs first)). lra.
  - apply Rle_trans with (score K (S first) D'); [apply Rmin_r | apply IH; auto].
Qed.

(* And the chance of a release is at most delta / D_0. *)
(* @says The score is at most that of D_0, so a release has a chance of at most delta / D_0. *)
Theorem score_at_most_first K D : (forall k, 0 < D k <= 1) -> score K 0 D <= ln (delta / D 0%nat) / eps_p.
Proof.
  intros H. assert (one : 0 < / eps_p) by (apply Rinv_0_lt_compat; lra). destruct K as [| K]; cbn [score]; simpl INR.
  - rewrite Rplus_0_l. unfold Rdiv at 1 3. apply Rmult_le_compat_r; [lra |]. destruct (H 0%nat). apply ln_le; [lra |].
    unfold Rdiv. rewrite <- (Rmult_1_r delta) at 1. apply Rmult_le_compat_l; [lra |].
    rewrite <- Rinv_1 at 1. apply Rinv_le_contravar; lra.
  - eapply Rle_trans; [apply Rmin_l | lra].
Qed.
End Score.

(* 4. Together: refuse with chance 1 - p(s), else draw. *)
Section Graded.
Context {Y : Type}.
Variables (ys : list Y) (eps eps_p eps_e delta : R) (m m' : Y -> R) (s s' D0 lost : R).
Hypothesis positive : 0 < eps /\ 0 < eps_p /\ 0 <= eps_e /\ 0 < delta.
Hypothesis budget : eps = eps_e + eps_p.                 (* eps_e: 2 eta under replacement, eta under add/remove *)
Hypothesis close : Rabs (s - s') <= 1.
Hypothesis laws : law m ys /\ law m' ys.
Hypothesis edge_loss : forall E, pr m ys E <= exp eps_e * pr m' ys E + lost.           (* edge, edge_added, edge_removed *)
Hypothesis bound_of_loss : lost <= D0 /\ 0 < D0 <= 1.
Hypothesis below_first : s <= ln (delta / D0) / eps_p.                                 (* score_at_most_first *)

Definition outcome (chance : R) (draw : Y -> R) (o : option Y) : R :=
  match o with None => 1 - chance | Some y => chance * draw y end.
Definition outcomes : list (option Y) := None :: map Some ys.

Lemma pr_outcome c (d : Y -> R) E :
  pr (outcome c d) outcomes E = mark (E None) * (1 - c) + c * pr d ys (fun y => E (Some y)).
Proof.
  unfold pr, outcomes. cbn [total]. rewrite total_map. f_equal. rewrite <- total_scale. apply total_ext.
  intros y _. cbn [outcome]. ring.
Qed.

(* @says The graded test with the restricted draw is (eps, delta)-differentially private. *)
Theorem graded_test_private :
  private eps delta (outcome (p eps eps_p s) m) (outcome (p eps eps_p s') m') outcomes.
Proof.
  intros E. rewrite !pr_outcome. destruct positive as (He & Hp & Ht & Hd).
  destruct (chances_close eps eps_p ltac:(lra) s s' close) as [A B].
  pose proof (p_range eps eps_p ltac:(lra) s) as R1. pose proof (p_range eps eps_p ltac:(lra) s') as R2.
  set (c := p eps eps_p s) in *. set (c' := p eps eps_p s') in *.
  assert (C : c * D0 <= delta).
  { assert (c <= delta / D0).
    { apply Rle_trans with (exp (eps_p * s)); [apply p_below; lra |].
      rewrite <- (exp_ln (delta / D0)) by (apply Rdiv_lt_0_compat; lra). apply exp_le.
      assert (eps_p * s <= eps_p * (ln (delta / D0) / eps_p)) by (apply Rmult_le_compat_l; lra).
      replace (eps_p * (ln (delta / D0) / eps_p)) with (ln (delta / D0)) in H by (field; lra). exact H. }
    assert (c * D0 <= delta / D0 * D0) by (apply Rmult_le_compat_r; lra).
    replace (delta / D0 * D0) with delta in H0 by (field; lra). exact H0. }
  set (F := fun y => E (Some y)). specialize (edge_loss F).
  assert (Q : 0 <= pr m' ys F) by (apply total_nonneg; intros y Hy; apply Rmult_le_pos; [apply mark_range | apply (law_nonneg _ _ (proj2 laws)); auto]).
  assert (X : c * pr m ys F <= exp eps * (c' * pr m' ys F) + delta).
  { apply Rle_trans with (c * (exp (eps_e) * pr m' ys F) + c * D0).
    - assert (c * pr m ys F <= c * (exp (eps_e) * pr m' ys F + D0)) by (apply Rmult_le_compat_l; lra). lra.
    - rewrite budget, exp_plus. pose proof (exp_pos (eps_e)).
      assert (c * (exp (eps_e) * pr m' ys F) <= exp eps_p * c' * (exp (eps_e) * pr m' ys F)).
      { apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | lra]. }
      replace (exp (eps_e) * exp eps_p * (c' * pr m' ys F)) with (exp eps_p * c' * (exp (eps_e) * pr m' ys F)) by ring. lra. }
  pose proof (mark_range (E None)).
  assert (mark (E None) * (1 - c) <= mark (E None) * (exp eps * (1 - c'))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* An empty level is refused for sure; a neighbour that is not empty then has D_0 = 1, so it is released with a chance of
   at most delta. *)
(* @says Refusing where the level is empty is covered by delta. *)
Theorem empty_level c' : 0 <= c' <= delta -> delta <= 1 -> (forall y, In y ys -> 0 <= m' y) -> total m' ys = 1 ->
  private eps delta (outcome 0 m) (outcome c' m') outcomes /\ private eps delta (outcome c' m') (outcome 0 m) outcomes.
Proof.
  intros Hc H1 Hm Ht. destruct positive as (He & Hp & Heta & Hd).
  assert (X : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  assert (W : forall E, 0 <= pr m' ys E <= 1).
  { intros E. split; [apply total_nonneg; intros; apply Rmult_le_pos; [apply mark_range | auto] |].
    rewrite <- Ht. apply total_le. intros y Hy. specialize (Hm y Hy). pose proof (mark_range (E y)).
    assert (mark (E y) * m' y <= 1 * m' y) by (apply Rmult_le_compat_r; lra). lra. }
  split; intros E; rewrite !pr_outcome; specialize (W (fun y => E (Some y))); pose proof (mark_range (E None)).
  - rewrite Rmult_0_l, Rplus_0_r, Rminus_0_r, Rmult_1_r.
    assert (0 <= c' * pr m' ys (fun y => E (Some y))) by (apply Rmult_le_pos; lra).
    assert (mark (E None) <= mark (E None) * (1 - c') + delta) by nra.
    assert (mark (E None) * (1 - c') + c' * pr m' ys (fun y => E (Some y)) <=
            exp eps * (mark (E None) * (1 - c') + c' * pr m' ys (fun y => E (Some y)))) by (apply (fun a b => Rle_trans _ (1 * (mark (E None) * (1 - c') + c' * pr m' ys (fun y => E (Some y)))) _ a b); [lra | apply Rmult_le_compat_r; nra]). lra.
  - rewrite Rmult_0_l, Rplus_0_r, Rminus_0_r, Rmult_1_r.
    assert (mark (E None) <= exp eps * mark (E None)) by nra.
    assert (c' * pr m' ys (fun y => E (Some y)) <= delta) by nra. nra.
Qed.
End Graded.

(* 5. Bounds of sizes: phi >= V >= psi, V the sizes of level sets; between neighbours they shift by one level. Levels above
   are looked at only at public offsets 0 <= o_1 <= o_2 ... *)
Section Bounds.
Variables (eta : R) (t : Z) (offsets : list Z) (cut : R).
Hypothesis eta_nonneg : 0 <= eta.
Hypothesis cut_range : cut = 0 \/ cut = 1.                       (* 1: what lies deeper is taken off (sizes that are exact) *)
Definition e (l : Z) : R := exp (eta * IZR l).

Lemma e_pos l : 0 < e l. Proof. apply exp_pos. Qed.
Lemma e_next l : e (l + 1) = exp eta * e l.
Proof. unfold e. rewrite <- exp_plus. f_equal. rewrite plus_IZR. ring. Qed.
Lemma e_grows l k : (l <= k)%Z -> e l <= e k.
Proof. intros H. apply exp_le. apply Rmult_le_compat_l; [auto | apply IZR_le; auto]. Qed.

Fixpoint increasing (o : Z) (os : list Z) : Prop := match os with [] => True | o' :: r => (o <= o')%Z /\ increasing o' r end.
Hypothesis public_offsets : increasing 0 offsets.

Fixpoint later (psi : Z -> R) (j o : Z) (os : list Z) : R :=
  match os with [] => 0 | o' :: r => (e (j + o') - e (j + o)) * psi (j + o')%Z + later psi j o' r end.
Definition parts (psi : Z -> R) (j : Z) : R := e j * psi j + later psi j 0 offsets.

Lemma later_grows psi psi' j : (forall l, psi l <= psi' l) -> forall os o, increasing o os -> later psi j o os <= later psi' j o os.
Proof.
  intros H. induction os as [| o' r IH]; intros o Hi; cbn [later]; [lra |]. destruct Hi as [Ho Hr]. specialize (IH o' Hr).
  pose proof (e_grows (j + o) (j + o') ltac:(lia)).
  assert ((e (j + o') - e (j + o)) * psi (j + o')%Z <= (e (j + o') - e (j + o)) * psi' (j + o')%Z) by (apply Rmult_le_compat_l; [lra | apply H]). lra.
Qed.
Lemma parts_grow psi psi' j : (forall l, psi l <= psi' l) -> parts psi j <= parts psi' j.
Proof.
  intros H. unfold parts. pose proof (later_grows psi psi' j H offsets 0 public_offsets). pose proof (e_pos j).
  assert (e j * psi j <= e j * psi' j) by (apply Rmult_le_compat_l; [lra | apply H]). lra.
Qed.
Lemma parts_nonneg psi j : (forall l, 0 <= psi l) -> 0 <= parts psi j.
Proof.
  intros H. replace 0 with (parts (fun _ => 0) j); [apply parts_grow; auto |]. unfold parts.
  assert (Z : forall os o, later (fun _ => 0) j o os = 0) by (induction os as [| o' r IH]; intros o; cbn [later]; [auto | rewrite IH; ring]).
  rewrite Z. ring.
Qed.

Lemma later_shifts psi psi' j : (forall l, psi (l + 1)%Z <= psi' l) -> forall os o, increasing o os ->
  later psi (j + 1) o os <= exp eta * later psi' j o os.
Proof.
  intros H. induction os as [| o' r IH]; intros o Hi; cbn [later]; [lra |]. destruct Hi as [Ho Hr]. specialize (IH o' Hr).
  replace (j + 1 + o')%Z with (j + o' + 1)%Z by lia. replace (j + 1 + o)%Z with (j + o + 1)%Z by lia. rewrite !e_next.
  pose proof (e_grows (j + o) (j + o') ltac:(lia)). pose proof (exp_pos eta).
  assert (0 <= exp eta * (e (j + o') - e (j + o))) by (apply Rmult_le_pos; lra).
  assert (exp eta * (e (j + o') - e (j + o)) * psi (j + o' + 1)%Z <= exp eta * (e (j + o') - e (j + o)) * psi' (j + o')%Z)
    by (apply Rmult_le_compat_l; [lra | apply H]). lra.
Qed.
Lemma parts_shift psi psi' j : (forall l, psi (l + 1)%Z <= psi' l) -> parts psi (j + 1) <= exp eta * parts psi' j.
Proof.
  intros H. unfold parts. pose proof (later_shifts psi psi' j H offsets 0 public_offsets). rewrite e_next.
  pose proof (exp_pos eta). pose proof (e_pos j). assert (0 <= exp eta * e j) by (apply Rmult_le_pos; lra).
  assert (exp eta * e j * psi (j + 1)%Z <= exp eta * e j * psi' j) by (apply Rmult_le_compat_l; [lra | apply H]). lra.
Qed.

Lemma fraction a b a' b' : 0 <= a -> a <= a' -> 0 <= b' <= b -> a / (a + b) <= a' / (a' + b').
Proof.
  intros H1 H2 H3. destruct (Req_dec a 0) as [-> | N].
  - unfold Rdiv at 1. rewrite Rmult_0_l. destruct (Req_dec (a' + b') 0) as [Z | Z].
    + replace a' with 0 by lra. unfold Rdiv. lra.
    + apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra].
  - apply Rmult_le_reg_r with (a + b); [lra |]. apply Rmult_le_reg_r with (a' + b'); [lra |].
    replace (a / (a + b) * (a + b) * (a' + b')) with (a * (a' + b')) by (field; lra).
    replace (a' / (a' + b') * (a + b) * (a' + b')) with (a' * (a + b)) by (field; lra). nra.
Qed.

Section Levels.
Context {Y : Type}.
Variables (ys : list Y) (f : Y -> Z).
Definition size (l : Z) : R := total (fun y => mark (l <=? f y)%Z) ys.
Notation there y := (fun l => mark (l <=? f y)%Z).
Notation mass := (mass ys eta).

Lemma size_falls l k : (l <= k)%Z -> size k <= size l.
Proof.
  intros H. apply total_le. intros y _. destruct (Z.leb_spec k (f y)), (Z.leb_spec l (f y)); simpl; try lra; lia.
Qed.

Lemma later_there y j : forall os o, increasing o os -> later (there y) j o os <= if (j + o <=? f y)%Z then e (f y) - e (j + o) else 0.
Proof.
  induction os as [| o' r IH]; intros o Hi; cbn [later].
  - destruct (Z.leb_spec (j + o) (f y)); [| lra]. pose proof (e_grows (j + o) (f y) ltac:(lia)). lra.
  - destruct Hi as [Ho Hr]. specialize (IH o' Hr).
    destruct (Z.leb_spec (j + o') (f y)), (Z.leb_spec (j + o) (f y)); cbn [mark]; try lia; try lra.
    pose proof (e_grows (j + o) (f y) ltac:(lia)). lra.
Qed.
Lemma later_adds j : forall os o, later size j o os = total (fun y => later (there y) j o os) ys.
Proof.
  induction os as [| o' r IH]; intros o; cbn [later]; [symmetry; apply total_zero |].
  rewrite IH, total_plus. f_equal. unfold size. rewrite <- total_scale. reflexivity.
Qed.

(* The mass above a level, from lower bounds of sizes at the offsets. *)
Lemma parts_below psi j : (forall l, psi l <= size l) -> parts psi j <= mass j f.
Proof.
  intros H. apply Rle_trans with (parts size j); [apply parts_grow; auto |]. unfold parts. rewrite later_adds. unfold size, Rem.mass.
  rewrite <- total_scale, <- total_plus. apply total_le. intros y _. pose proof (later_there y j offsets 0 public_offsets) as L.
  rewrite Z.add_0_r in L. unfold above. fold (e (f y)). destruct (j <=? f y)%Z; cbn [mark]; lra.
Qed.

Variables (phi psi : Z -> R).
Hypothesis enclosed : forall l, 0 <= psi l <= size l /\ size l <= phi l.

Lemma taken_off l : - size l <= - (cut * psi l).
Proof. destruct (enclosed l). destruct cut_range as [-> | ->]; lra. Qed.

(* Replacement: a_k and b_k of the program, times e^(eta t). *)
Definition a_k (k : nat) : R :=
  e (t - 1) * phi (t - 1 - Z.of_nat k)%Z + (e t - e (t - 1)) * phi (t - Z.of_nat k)%Z - cut * (e t * psi (t + Z.of_nat k + 1)%Z).
Definition b_k (k : nat) : R := exp (- (eta * INR k)) * parts psi (t + Z.of_nat k + 1).
Definition D_k (k : nat) : R := a_k k / (a_k k + b_k k).

Lemma edge_mass : mass (t - 1) f - mass (t + 1) f <= a_k 0.
Proof.
  assert (E : mass (t - 1) f - mass (t + 1) f = e (t - 1) * size (t - 1) + (e t - e (t - 1)) * size t - e t * size (t + 1)).
  { unfold Rem.mass, size. rewrite <- !total_scale, <- total_minus, <- total_plus, <- total_minus. apply total_ext. intros y _. unfold above.
    fold (e (f y)). destruct (Z.leb_spec (t - 1) (f y)), (Z.leb_spec t (f y)), (Z.leb_spec (t + 1) (f y)); cbn [mark]; try lia; try lra.
    - replace (f y) with t by lia. lra.
    - replace (f y) with (t - 1)%Z by lia. lra. }
  rewrite E. unfold a_k. simpl Z.of_nat. rewrite !Z.sub_0_r, Z.add_0_r.
  pose proof (e_pos (t - 1)). pose proof (e_pos t). pose proof (e_grows (t - 1) t ltac:(lia)).
  destruct (enclosed (t - 1)%Z) as [_ A]. destruct (enclosed t) as [_ B]. pose proof (taken_off (t + 1)).
  assert (e (t - 1) * size (t - 1) <= e (t - 1) * phi (t - 1)%Z) by (apply Rmult_le_compat_l; lra).
  assert ((e t - e (t - 1)) * size t <= (e t - e (t - 1)) * phi t) by (apply Rmult_le_compat_l; lra).
  assert (e t * - size (t + 1) <= e t * - (cut * psi (t + 1)%Z)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma a_k_nonneg k : 0 <= a_k k.
Proof.
  unfold a_k. pose proof (e_pos (t - 1)). pose proof (e_grows (t - 1) t ltac:(lia)).
  destruct (enclosed (t - 1 - Z.of_nat k)%Z) as [_ A]. destruct (enclosed (t - Z.of_nat k)%Z) as [_ B]. destruct (enclosed (t + Z.of_nat k + 1)%Z) as [[C0 C] _].
  pose proof (size_falls (t - 1 - Z.of_nat k) (t + Z.of_nat k + 1) ltac:(lia)). pose proof (size_falls (t - Z.of_nat k) (t + Z.of_nat k + 1) ltac:(lia)).
  set (w := psi (t + Z.of_nat k + 1)%Z) in *.
  assert (e (t - 1) * w <= e (t - 1) * phi (t - 1 - Z.of_nat k)%Z) by (apply Rmult_le_compat_l; lra).
  assert ((e t - e (t - 1)) * w <= (e t - e (t - 1)) * phi (t - Z.of_nat k)%Z) by (apply Rmult_le_compat_l; lra).
  assert (0 <= e t * w) by (apply Rmult_le_pos; lra). destruct cut_range as [-> | ->]; lra.
Qed.
Lemma b_k_nonneg k : 0 <= b_k k.
Proof. apply Rmult_le_pos; [left; apply exp_pos | apply parts_nonneg; intros l; apply enclosed]. Qed.

(* @says From bounds of sizes: D_0 is at least what is lost at the edge. *)
Theorem first_fraction_covers_the_edge : 0 < mass (t - 1) f -> loss ys eta t f <= D_k 0.
Proof.
  intros filled. unfold loss, D_k. set (u := mass (t - 1) f) in *. set (w := mass (t + 1) f).
  assert (B : b_k 0 <= w).
  { unfold b_k, w. simpl INR. rewrite Rmult_0_r, Ropp_0, exp_0, Rmult_1_l. simpl Z.of_nat. rewrite Z.add_0_r. apply parts_below. intros l. apply enclosed. }
  pose proof edge_mass as M. fold u w in M. pose proof (b_k_nonneg 0).
  assert (W : w <= u) by (apply mass_falls; lia).
  replace (1 - w / u) with ((u - w) / (u - w + w)) by (field; lra). apply fraction; lra.
Qed.

(* Add/remove: the fraction of a level j, what lies just below it against what lies above; and the largest of them. *)
Definition fraction_at (j : Z) (k : nat) : R :=
  (phi (j - 1 - Z.of_nat k)%Z - cut * psi j) / (phi (j - 1 - Z.of_nat k)%Z - cut * psi j + parts psi j / e (j - 1)).
Fixpoint largest_fraction (j : Z) (many k : nat) : R :=
  match many with O => fraction_at j k | S m => Rmax (fraction_at j k) (largest_fraction (j + 1) m k) end.
Definition one_sided_D (k : nat) : R := largest_fraction t (S k) k.               (* levels t ... t + k + 1 *)

Lemma below_nonneg j k : 0 <= phi (j - 1 - Z.of_nat k)%Z - cut * psi j.
Proof.
  destruct (enclosed (j - 1 - Z.of_nat k)%Z) as [_ A]. destruct (enclosed j) as [[C0 C] _]. pose proof (size_falls (j - 1 - Z.of_nat k) j ltac:(lia)).
  destruct cut_range as [-> | ->]; [|lra]. destruct (enclosed (j - 1 - Z.of_nat k)%Z) as [[X Y'] _]. lra.
Qed.
Lemma above_nonneg_at j : 0 <= parts psi j / e (j - 1).
Proof. apply Rmult_le_pos; [apply parts_nonneg; intros l; apply enclosed | left; apply Rinv_0_lt_compat, e_pos]. Qed.

Lemma edge_fraction j : 0 < mass (j - 1) f -> 1 - mass j f / mass (j - 1) f <= fraction_at j 0.
Proof.
  intros filled. unfold fraction_at. simpl Z.of_nat. rewrite Z.sub_0_r. set (u := mass (j - 1) f) in *. set (w := mass j f).
  assert (W : w <= u) by (apply mass_falls; lia). pose proof (e_pos (j - 1)) as P.
  assert (E : u - w = e (j - 1) * (size (j - 1) - size j)).
  { unfold u, w, Rem.mass, size. rewrite <- !total_minus, <- total_scale. apply total_ext. intros y _. unfold above. fold (e (f y)).
    destruct (Z.leb_spec (j - 1) (f y)), (Z.leb_spec j (f y)); cbn [mark]; try lia; try lra. replace (f y) with (j - 1)%Z by lia. lra. }
  replace (1 - w / u) with (((u - w) / e (j - 1)) / ((u - w) / e (j - 1) + w / e (j - 1))) by (field; split; lra).
  assert (X : (u - w) / e (j - 1) = size (j - 1) - size j) by (rewrite E; field; lra). rewrite X.
  pose proof (size_falls (j - 1) j ltac:(lia)). destruct (enclosed (j - 1)%Z) as [_ A]. pose proof (taken_off j).
  apply fraction; [lra | lra |]. split; [apply above_nonneg_at |]. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto |].
  apply parts_below. intros l. apply enclosed.
Qed.
End Levels.

(* Between neighbours. *)
Section Neighbours.
Context {Y : Type}.
Variables (ys : list Y) (f g : Y -> Z) (phi psi phi' psi' : Z -> R).
Hypothesis enclosed : forall l, 0 <= psi l <= size ys f l /\ size ys f l <= phi l.
Hypothesis enclosed' : forall l, 0 <= psi' l <= size ys g l /\ size ys g l <= phi' l.

(* @says From bounds of sizes: D_k of a table is at most D_(k+1) of its neighbour. *)
Theorem fractions_shift k : (forall l, phi l <= phi' (l - 1)%Z) -> (forall l, psi' (l + 1)%Z <= psi l) -> D_k phi psi k <= D_k phi' psi' (S k).
Proof.
  intros Hphi Hpsi. unfold D_k. apply fraction; [eapply a_k_nonneg; apply enclosed | |].
  - unfold a_k. replace (t - 1 - Z.of_nat (S k))%Z with (t - 1 - Z.of_nat k - 1)%Z by lia. replace (t - Z.of_nat (S k))%Z with (t - Z.of_nat k - 1)%Z by lia.
    replace (t + Z.of_nat (S k) + 1)%Z with (t + Z.of_nat k + 1 + 1)%Z by lia.
    pose proof (e_pos (t - 1)). pose proof (e_pos t). pose proof (e_grows (t - 1) t ltac:(lia)).
    assert (e (t - 1) * phi (t - 1 - Z.of_nat k)%Z <= e (t - 1) * phi' (t - 1 - Z.of_nat k - 1)%Z) by (apply Rmult_le_compat_l; [lra | apply Hphi]).
    assert ((e t - e (t - 1)) * phi (t - Z.of_nat k)%Z <= (e t - e (t - 1)) * phi' (t - Z.of_nat k - 1)%Z) by (apply Rmult_le_compat_l; [lra | apply Hphi]).
    assert (e t * psi' (t + Z.of_nat k + 1 + 1)%Z <= e t * psi (t + Z.of_nat k + 1)%Z) by (apply Rmult_le_compat_l; [lra | apply Hpsi]).
    destruct cut_range as [-> | ->]; lra.
  - split; [eapply b_k_nonneg; apply enclosed' |]. unfold b_k. rewrite S_INR.
    replace (t + Z.of_nat (S k) + 1)%Z with (t + Z.of_nat k + 1 + 1)%Z by lia.
    replace (exp (- (eta * (INR k + 1)))) with (exp (- (eta * INR k)) * exp (- eta)) by (rewrite <- exp_plus; f_equal; ring).
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [left; apply exp_pos |].
    pose proof (parts_shift psi' psi (t + Z.of_nat k + 1) Hpsi) as S.
    apply Rle_trans with (exp (- eta) * (exp eta * parts psi (t + Z.of_nat k + 1))); [apply Rmult_le_compat_l; [left; apply exp_pos | exact S] |].
    rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_l, exp_0. lra.
Qed.

Lemma largest_at_least many : forall j i k, (j <= i <= j + Z.of_nat many)%Z -> fraction_at phi' psi' i k <= largest_fraction phi' psi' j many k.
Proof.
  induction many as [| m IH]; intros j i k H; cbn [largest_fraction].
  - replace i with j by lia. lra.
  - destruct (Z.eq_dec i j) as [-> | N]; [apply Rmax_l |]. eapply Rle_trans; [apply (IH (j + 1)%Z i k); lia | apply Rmax_r].
Qed.
Lemma largest_at_most many c : forall j k, (forall i, (j <= i <= j + Z.of_nat many)%Z -> fraction_at phi psi i k <= c) -> largest_fraction phi psi j many k <= c.
Proof.
  induction many as [| m IH]; intros j k H; cbn [largest_fraction]; [apply H; lia |].
  apply Rmax_lub; [apply H; lia | apply IH; intros i Hi; apply H; lia].
Qed.

(* @says Add/remove, from bounds of sizes: D_k of a table is at most D_(k+1) of a neighbour that has a row less. *)
Theorem fraction_after_an_addition k : (forall l, phi l <= phi' (l - 1)%Z) -> (forall l, psi' l <= psi l) ->
  one_sided_D phi psi k <= one_sided_D phi' psi' (S k).
Proof.
  intros Hphi Hpsi. apply largest_at_most. intros i Hi.
  eapply Rle_trans; [| apply (largest_at_least (S (S k)) t i); lia]. unfold fraction_at.
  replace (i - 1 - Z.of_nat (S k))%Z with (i - 1 - Z.of_nat k - 1)%Z by lia.
  apply fraction; [eapply below_nonneg; apply enclosed | |].
  - specialize (Hphi (i - 1 - Z.of_nat k)%Z). specialize (Hpsi i). destruct cut_range as [-> | ->]; lra.
  - split; [eapply above_nonneg_at; apply enclosed' |]. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, e_pos | apply parts_grow; auto].
Qed.

(* @says And of a neighbour that has a row more. *)
Theorem fraction_after_a_removal k : (forall l, phi l <= phi' l) -> (forall l, psi' (l + 1)%Z <= psi l) ->
  one_sided_D phi psi k <= one_sided_D phi' psi' (S k).
Proof.
  intros Hphi Hpsi. apply largest_at_most. intros i Hi.
  eapply Rle_trans; [| apply (largest_at_least (S (S k)) t (i + 1)); lia]. unfold fraction_at.
  replace (i + 1 - 1 - Z.of_nat (S k))%Z with (i - 1 - Z.of_nat k)%Z by lia.
  apply fraction; [eapply below_nonneg; apply enclosed | |].
  - specialize (Hphi (i - 1 - Z.of_nat k)%Z). specialize (Hpsi i). destruct cut_range as [-> | ->]; lra.
  - split; [eapply above_nonneg_at; apply enclosed' |]. replace (i + 1 - 1)%Z with (i - 1 + 1)%Z by lia. rewrite e_next.
    pose proof (parts_shift psi' psi i Hpsi) as S. pose proof (e_pos (i - 1)). pose proof (exp_pos eta).
    apply Rmult_le_reg_r with (exp eta * e (i - 1)); [apply Rmult_lt_0_compat; auto |].
    replace (parts psi' (i + 1) / (exp eta * e (i - 1)) * (exp eta * e (i - 1))) with (parts psi' (i + 1)) by (field; lra).
    replace (parts psi i / e (i - 1) * (exp eta * e (i - 1))) with (exp eta * parts psi i) by (field; lra). exact S.
Qed.
End Neighbours.

(* 6. REM, from bounds of sizes. A fraction that is 0 leaves no limit: it may stand for any tiny one. *)
Section Rem.
Context {Y : Type}.
Variables (ys : list Y) (eps eps_p delta tiny : R) (K : nat) (f g : Y -> Z) (phi psi phi' psi' : Z -> R).
Hypothesis positive : 0 < eps /\ 0 < eps_p /\ 0 < delta /\ 0 < tiny <= 1.
Hypothesis filled : 0 < mass ys eta t f /\ 0 < mass ys eta t g.
Hypothesis enclosed : forall l, 0 <= psi l <= size ys f l /\ size ys f l <= phi l.
Hypothesis enclosed' : forall l, 0 <= psi' l <= size ys g l /\ size ys g l <= phi' l.

Definition at_least_tiny (D : nat -> R) (k : nat) : R := Rmax tiny (D k).
Definition release_chance (D : nat -> R) : R := p eps eps_p (score eps_p delta K 0 (at_least_tiny D)).
Notation rem_law D h := (outcome (release_chance D) (drawn ys eta t h)).

Lemma drawn_law h : 0 < mass ys eta t h -> law (drawn ys eta t h) ys.
Proof.
  intros F. split.
  - intros y _. apply Rmult_le_pos; [apply above_nonneg | left; apply Rinv_0_lt_compat; auto].
  - unfold drawn. rewrite (total_ext _ (fun y => / mass ys eta t h * above eta t h y)) by (intros; unfold Rdiv; ring).
    rewrite total_scale. apply Rinv_l. unfold mass in *. lra.
Qed.

Lemma fractions_private eps_e (D D' : nat -> R) lost : 0 <= eps_e -> eps = eps_e + eps_p ->
  (forall k, D k <= 1) -> (forall k, D' k <= 1) -> (forall k, D k <= D' (S k)) -> (forall k, D' k <= D (S k)) -> lost <= D 0%nat ->
  (forall E, pr (drawn ys eta t f) ys E <= exp eps_e * pr (drawn ys eta t g) ys E + lost) ->
  private eps delta (rem_law D f) (rem_law D' g) (outcomes ys).
Proof.
  intros He Hb H1 H1' Hs Hs' Hl Hedge. destruct positive as (Pe & Pp & Pd & Pt). destruct filled as [Ff Fg].
  assert (range : forall B : nat -> R, (forall k, B k <= 1) -> forall k, 0 < at_least_tiny B k <= 1).
  { intros B HB k. unfold at_least_tiny. pose proof (Rmax_l tiny (B k)). split; [lra | apply Rmax_lub; [lra | auto]]. }
  assert (shift : forall A B : nat -> R, (forall k, A k <= B (S k)) -> forall k, at_least_tiny A k <= at_least_tiny B (S k)).
  { intros A B H k. apply Rle_max_compat_l. auto. }
  apply (graded_test_private ys eps eps_p eps_e delta) with (D0 := at_least_tiny D 0) (lost := lost); auto.
  - pose proof (score_moves_by_one eps_p delta ltac:(lra) K 0 _ _ (range D H1) (range D' H1') (shift D D' Hs)).
    pose proof (score_moves_by_one eps_p delta ltac:(lra) K 0 _ _ (range D' H1') (range D H1) (shift D' D Hs')).
    apply Rabs_le. lra.
  - split; apply drawn_law; auto.
  - split; [| apply range; auto]. apply Rle_trans with (D 0%nat); [auto | apply Rmax_r].
  - apply score_at_most_first; [lra | apply range; auto].
Qed.

Lemma at_most_one A B : 0 <= A -> 0 <= B -> A / (A + B) <= 1.
Proof.
  intros HA HB. destruct (Req_dec (A + B) 0) as [Z | Z].
  - replace A with 0 by lra. unfold Rdiv. lra.
  - apply Rmult_le_reg_r with (A + B); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(* @says REM under replacement: the graded test of D_k from lower and upper bounds of the sizes of level sets, and the restricted draw with eta = (eps - eps_p)/2, are (eps, delta)-private. *)
Theorem rem_replace : eps = 2 * eta + eps_p -> (forall y, (Z.abs (f y - g y) <= 1)%Z) ->
  (forall l, phi l <= phi' (l - 1)%Z) -> (forall l, phi' l <= phi (l - 1)%Z) ->
  (forall l, psi' (l + 1)%Z <= psi l) -> (forall l, psi (l + 1)%Z <= psi' l) ->
  private eps delta (rem_law (D_k phi psi) f) (rem_law (D_k phi' psi') g) (outcomes ys).
Proof.
  intros Hb Hc H1 H2 H3 H4. destruct filled as [Ff Fg].
  apply (fractions_private (2 * eta)) with (lost := loss ys eta t f); auto; try lra.
  - intros k. apply at_most_one; [eapply a_k_nonneg | eapply b_k_nonneg]; apply enclosed.
  - intros k. apply at_most_one; [eapply a_k_nonneg | eapply b_k_nonneg]; apply enclosed'.
  - intros k. apply (fractions_shift ys f g); auto.
  - intros k. apply (fractions_shift ys g f); auto.
  - apply (first_fraction_covers_the_edge ys f); auto. apply Rlt_le_trans with (mass ys eta t f); [auto | apply mass_falls; lia].
  - intros E. apply edge; auto.
Qed.

Lemma one_sided_at_most_one h a b k : (forall l, 0 <= b l <= size ys h l /\ size ys h l <= a l) -> one_sided_D a b k <= 1.
Proof.
  intros H. unfold one_sided_D. apply largest_at_most. intros i _. unfold fraction_at.
  apply at_most_one; [eapply below_nonneg | eapply above_nonneg_at]; apply H.
Qed.

(* @says REM under add/remove: the one-sided test from bounds of sizes, and the restricted draw with eta = eps - eps_p, are (eps, delta)-private; g has a record more than f. *)
Theorem rem_add_remove : eps = eta + eps_p -> (forall y, (f y <= g y <= f y + 1)%Z) ->
  (forall l, phi l <= phi' l) -> (forall l, phi' l <= phi (l - 1)%Z) ->
  (forall l, psi l <= psi' l) -> (forall l, psi' (l + 1)%Z <= psi l) ->
  private eps delta (rem_law (one_sided_D phi psi) f) (rem_law (one_sided_D phi' psi') g) (outcomes ys).
Proof.
  intros Hb Hc H1 H2 H3 H4. destruct filled as [Ff Fg].
  apply (fractions_private eta) with (lost := 1 - mass ys eta t f / mass ys eta (t - 1) f); auto.
  - intros k. apply (one_sided_at_most_one f). apply enclosed.
  - intros k. apply (one_sided_at_most_one g). apply enclosed'.
  - intros k. apply (fraction_after_a_removal ys f g); auto.
  - intros k. apply (fraction_after_an_addition ys g f); auto.
  - eapply Rle_trans; [apply (edge_fraction ys f phi psi enclosed t); apply Rlt_le_trans with (mass ys eta t f); [auto | apply mass_falls; lia] |].
    apply Rmax_l.
  - intros E. apply edge_added; auto.
Qed.

(* @says And the other way: g has a record less than f. *)
Theorem rem_add_remove_back : eps = eta + eps_p -> (forall y, (g y <= f y <= g y + 1)%Z) ->
  (forall l, phi' l <= phi l) -> (forall l, phi l <= phi' (l - 1)%Z) ->
  (forall l, psi' l <= psi l) -> (forall l, psi (l + 1)%Z <= psi' l) ->
  private eps delta (rem_law (one_sided_D phi psi) f) (rem_law (one_sided_D phi' psi') g) (outcomes ys).
Proof.
  intros Hb Hc H1 H2 H3 H4. destruct filled as [Ff Fg].
  apply (fractions_private eta) with (lost := 1 - mass ys eta (t + 1) f / mass ys eta t f); auto.
  - intros k. apply (one_sided_at_most_one f). apply enclosed.
  - intros k. apply (one_sided_at_most_one g). apply enclosed'.
  - intros k. apply (fraction_after_an_addition ys f g); auto.
  - intros k. apply (fraction_after_a_removal ys g f); auto.
  - pose proof (edge_fraction ys f phi psi enclosed (t + 1)) as E. replace (t + 1 - 1)%Z with t in E by lia. specialize (E Ff).
    eapply Rle_trans; [exact E | apply Rmax_r].
  - intros E. apply edge_removed; auto.
Qed.
End Rem.
End Bounds.
