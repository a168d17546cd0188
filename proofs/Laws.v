(* Finite laws as weights over a list of outcomes, and what differential privacy says about two of them.

   A law on the outcomes [ys] is a function p with p y >= 0; [ys] lists every outcome once for each way it can come
   about, so no equality of outcomes is needed. [pr p ys E] is the probability of the event E. *)
Require Import Reals List Lra Lia Arith.
Import ListNotations.
Open Scope R_scope.

Section Totals.
Context {Y : Type}.
Implicit Types (f g : Y -> R) (ys : list Y).

Fixpoint total f ys : R := match ys with [] => 0 | y :: rest => f y + total f rest end.

Lemma total_le f g ys : (forall y, In y ys -> f y <= g y) -> total f ys <= total g ys.
Proof.
  induction ys as [| y ys IH]; simpl; intros H; [lra |].
  assert (f y <= g y) by (apply H; auto). assert (total f ys <= total g ys) by (apply IH; auto). lra.
Qed.

Lemma total_ext f g ys : (forall y, In y ys -> f y = g y) -> total f ys = total g ys.
Proof.
  induction ys as [| y ys IH]; simpl; intros H; auto. rewrite (H y), IH; auto.
Qed.

Lemma total_scale c f ys : total (fun y => c * f y) ys = c * total f ys.
Proof. induction ys as [| y ys IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma total_plus f g ys : total (fun y => f y + g y) ys = total f ys + total g ys.
Proof. induction ys as [| y ys IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma total_minus f g ys : total (fun y => f y - g y) ys = total f ys - total g ys.
Proof. induction ys as [| y ys IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma total_zero ys : total (fun _ => 0) ys = 0.
Proof. induction ys as [| y ys IH]; simpl; lra. Qed.

Lemma total_nonneg f ys : (forall y, In y ys -> 0 <= f y) -> 0 <= total f ys.
Proof. intros H. rewrite <- (total_zero ys). apply total_le. auto. Qed.

Lemma total_pos f ys : ys <> [] -> (forall y, In y ys -> 0 < f y) -> 0 < total f ys.
Proof.
  intros Hne H. destruct ys as [| y ys]; [congruence |]. simpl.
  assert (0 < f y) by (apply H; left; auto).
  assert (0 <= total f ys) by (apply total_nonneg; intros; left; apply H; right; auto). lra.
Qed.

Lemma total_app f ys zs : total f (ys ++ zs) = total f ys + total f zs.
Proof. induction ys as [| y ys IH]; simpl; [lra | rewrite IH; lra]. Qed.
End Totals.

Lemma total_map {Y Z} (f : Z -> R) (h : Y -> Z) ys : total f (map h ys) = total (fun y => f (h y)) ys.
Proof. induction ys as [| y ys IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma total_swap {Y Z} (f : Y -> Z -> R) ys zs :
  total (fun y => total (f y) zs) ys = total (fun z => total (fun y => f y z) ys) zs.
Proof.
  induction ys as [| y ys IH]; simpl; [symmetry; apply total_zero |].
  rewrite IH, <- total_plus. apply total_ext. auto.
Qed.

Definition mark (b : bool) : R := if b then 1 else 0.
Definition pr {Y} (p : Y -> R) (ys : list Y) (E : Y -> bool) : R := total (fun y => mark (E y) * p y) ys.

Record law {Y} (p : Y -> R) (ys : list Y) : Prop :=
  { law_nonneg : forall y, In y ys -> 0 <= p y; law_sums_to_one : total p ys = 1 }.

(* (epsilon, delta)-differential privacy of one law against a neighbour's; pure where delta is 0. *)
Definition private {Y} (eps delta : R) (p q : Y -> R) (ys : list Y) : Prop :=
  forall E : Y -> bool, pr p ys E <= exp eps * pr q ys E + delta.

Lemma mark_range b : 0 <= mark b <= 1.
Proof. destruct b; simpl; lra. Qed.

Lemma private_pointwise {Y} eps (p q : Y -> R) ys :
  (forall y, In y ys -> p y <= exp eps * q y) -> private eps 0 p q ys.
Proof.
  intros H E. unfold pr. rewrite Rplus_0_r, <- total_scale. apply total_le. intros y Hy.
  specialize (H y Hy). pose proof (mark_range (E y)).
  replace (exp eps * (mark (E y) * q y)) with (mark (E y) * (exp eps * q y)) by ring.
  apply Rmult_le_compat_l; lra.
Qed.

(* Post-processing: whatever is made of the outcome. *)
(* @says Whatever a function makes of a result afterwards (rounding, tables) is as private as the result. *)
Theorem post_processing {Y Z} eps delta (p q : Y -> R) ys (made : Y -> Z) :
  private eps delta p q ys ->
  forall E : Z -> bool, pr p ys (fun y => E (made y)) <= exp eps * pr q ys (fun y => E (made y)) + delta.
Proof. intros H E. apply (H (fun y => E (made y))). Qed.

(* More may be promised than was proven. *)
(* @says Who is (e, d)-private is so with any larger numbers. *)
Theorem weaker {Y} e d e' d' (p q : Y -> R) ys :
  e <= e' -> d <= d' -> (forall y, In y ys -> 0 <= q y) -> private e d p q ys -> private e' d' p q ys.
Proof.
  intros He Hd Hq H E. specialize (H E).
  assert (0 <= pr q ys E).
  { apply total_nonneg. intros y Hy. apply Rmult_le_pos; [apply mark_range | auto]. }
  assert (exp e <= exp e') by (destruct (Req_dec e e') as [-> | N]; [lra | left; apply exp_increasing; lra]).
  assert (exp e * pr q ys E <= exp e' * pr q ys E) by (apply Rmult_le_compat_r; auto). lra.
Qed.

(* Mixing over a secret that is drawn independently of the data (a random partition, coins): free. *)
(* @says A secret drawn independently of the data (a random partition, coins, shifts) costs nothing: privacy given the secret is privacy. *)
Theorem mixing {Y S} eps delta (m : S -> R) secrets (p q : S -> Y -> R) ys :
  law m secrets -> (forall s, In s secrets -> private eps delta (p s) (q s) ys) ->
  private eps delta (fun y => total (fun s => m s * p s y) secrets) (fun y => total (fun s => m s * q s y) secrets) ys.
Proof.
  intros [Hm Hone] H E.
  assert (flat : forall r : S -> Y -> R,
    pr (fun y => total (fun s => m s * r s y) secrets) ys E = total (fun s => m s * pr (r s) ys E) secrets).
  { intros r. unfold pr.
    rewrite (total_ext _ (fun y => total (fun s => m s * (mark (E y) * r s y)) secrets)).
    - rewrite total_swap. apply total_ext. intros s _. apply total_scale.
    - intros y _. rewrite <- total_scale. apply total_ext. intros s _. ring. }
  rewrite !flat.
  apply Rle_trans with (total (fun s => exp eps * (m s * pr (q s) ys E) + delta * m s) secrets).
  - apply total_le. intros s Hs. specialize (H s Hs E). specialize (Hm s Hs).
    assert (m s * pr (p s) ys E <= m s * (exp eps * pr (q s) ys E + delta)) by (apply Rmult_le_compat_l; auto). lra.
  - rewrite total_plus, !total_scale, Hone. lra.
Qed.

(* From events to functions with values between 0 and 1. *)
Lemma private_expectation {Y} eps delta (p q f : Y -> R) ys :
  private eps delta p q ys -> (forall y, In y ys -> 0 <= f y <= 1) ->
  total (fun y => f y * p y) ys <= exp eps * total (fun y => f y * q y) ys + delta.
Proof.
  intros H Hf.
  set (E := fun y => if Rlt_dec (exp eps * q y) (p y) then true else false).
  specialize (H E). unfold pr in H. rewrite <- total_scale in H.
  assert (A : total (fun y => f y * p y - exp eps * (f y * q y)) ys <=
              total (fun y => mark (E y) * p y - exp eps * (mark (E y) * q y)) ys).
  { apply total_le. intros y Hy. specialize (Hf y Hy). unfold E.
    destruct (Rlt_dec (exp eps * q y) (p y)) as [L | L]; simpl.
    - assert (f y * (p y - exp eps * q y) <= 1 * (p y - exp eps * q y)) by (apply Rmult_le_compat_r; lra). lra.
    - assert (0 <= f y * (exp eps * q y - p y)) by (apply Rmult_le_pos; lra). lra. }
  rewrite !total_minus in A. rewrite (total_scale (exp eps) (fun y => f y * q y)) in A. lra.
Qed.

(* @says And so is what further chance makes of it (simulations, intervals), if that chance hangs on the result alone. *)
Theorem random_post_processing {Y Z} eps delta (p q : Y -> R) ys (made : Y -> Z -> R) zs :
  private eps delta p q ys -> (forall y, In y ys -> law (made y) zs) ->
  private eps delta (fun z => total (fun y => p y * made y z) ys) (fun z => total (fun y => q y * made y z) ys) zs.
Proof.
  intros H L E.
  assert (flat : forall r : Y -> R, pr (fun z => total (fun y => r y * made y z) ys) zs E = total (fun y => pr (made y) zs E * r y) ys).
  { intros r. unfold pr. rewrite (total_ext _ (fun z => total (fun y => r y * (mark (E z) * made y z)) ys)).
    - rewrite total_swap. apply total_ext. intros y _. rewrite total_scale. ring.
    - intros z _. rewrite <- total_scale. apply total_ext. intros y _. ring. }
  rewrite !flat. apply private_expectation; auto. intros y Hy. destruct (L y Hy) as [N O]. unfold pr. split.
  - apply total_nonneg. intros z Hz. specialize (N z Hz). apply Rmult_le_pos; [unfold mark; destruct (E z); lra | auto].
  - rewrite <- O. apply total_le. intros z Hz. specialize (N z Hz). unfold mark. destruct (E z); lra.
Qed.

(* Adaptive composition: a second draw whose law depends on what the first has released. *)
Section Composition.
Context {Y Z : Type}.
Variables (ys : list Y) (zs : list Z).

Definition joint (p : Y -> R) (k : Y -> Z -> R) (o : Y * Z) : R := p (fst o) * k (fst o) (snd o).
Definition pairs : list (Y * Z) := flat_map (fun y => map (pair y) zs) ys.

Lemma total_pairs (f : Y * Z -> R) : total f pairs = total (fun y => total (fun z => f (y, z)) zs) ys.
Proof.
  unfold pairs. induction ys as [| y r IH]; simpl; auto. rewrite total_app, total_map, IH. reflexivity.
Qed.

Lemma pr_joint p k E :
  pr (joint p k) pairs E = total (fun y => pr (k y) zs (fun z => E (y, z)) * p y) ys.
Proof.
  unfold pr. rewrite total_pairs. apply total_ext. intros y _.
  rewrite Rmult_comm, <- total_scale. apply total_ext. intros z _. unfold joint. simpl. ring.
Qed.

(* @says A second draw, chosen from the result of the first: epsilons and deltas add up. *)
Theorem composition e1 d1 e2 d2 (p q : Y -> R) (k l : Y -> Z -> R) :
  0 <= e2 -> law p ys -> law q ys -> (forall y, In y ys -> law (k y) zs) -> (forall y, In y ys -> law (l y) zs) ->
  private e1 d1 p q ys -> (forall y, In y ys -> private e2 d2 (k y) (l y) zs) -> 0 <= d2 ->
  private (e1 + e2) (d1 + d2) (joint p k) (joint q l) pairs.
Proof.
  intros He2 Lp Lq Lk Ll H1 H2 Hd2 E. rewrite !pr_joint, exp_plus.
  set (a := fun y => pr (k y) zs (fun z => E (y, z))). set (b := fun y => pr (l y) zs (fun z => E (y, z))).
  assert (within : forall (r : Y -> Z -> R) y, law (r y) zs -> 0 <= pr (r y) zs (fun z => E (y, z)) <= 1).
  { intros r y [N O]. split.
    - apply total_nonneg. intros z Hz. apply Rmult_le_pos; [apply mark_range | auto].
    - rewrite <- O. apply total_le. intros z Hz. specialize (N z Hz). pose proof (mark_range (E (y, z))).
      assert (mark (E (y, z)) * r y z <= 1 * r y z) by (apply Rmult_le_compat_r; lra). lra. }
  set (f := fun y => Rmin 1 (exp e2 * b y)).
  assert (Hf : forall y, In y ys -> 0 <= f y <= 1).
  { intros y Hy. unfold f. destruct (within l y (Ll y Hy)) as [B _]. pose proof (exp_pos e2). split.
    - apply Rmin_glb; [lra | apply Rmult_le_pos; unfold b; lra].
    - apply Rmin_l. }
  assert (A : total (fun y => a y * p y) ys <= total (fun y => f y * p y) ys + d2).
  { replace d2 with (d2 * total p ys) by (rewrite (law_sums_to_one _ _ Lp); ring).
    rewrite <- total_scale, <- total_plus. apply total_le. intros y Hy.
    pose proof (law_nonneg _ _ Lp y Hy) as P. destruct (within k y (Lk y Hy)) as [_ A1].
    specialize (H2 y Hy (fun z => E (y, z))). fold (a y) (b y) in H2, A1.
    assert (a y <= f y + d2).
    { unfold f. unfold Rmin. destruct (Rle_dec 1 (exp e2 * b y)); [unfold a in *; lra | lra]. }
    assert (a y * p y <= (f y + d2) * p y) by (apply Rmult_le_compat_r; auto). lra. }
  pose proof (private_expectation e1 d1 p q f ys H1 Hf) as B.
  assert (C : total (fun y => f y * q y) ys <= exp e2 * total (fun y => b y * q y) ys).
  { rewrite <- total_scale. apply total_le. intros y Hy. pose proof (law_nonneg _ _ Lq y Hy) as Q.
    assert (f y <= exp e2 * b y) by apply Rmin_r.
    assert (f y * q y <= (exp e2 * b y) * q y) by (apply Rmult_le_compat_r; auto). lra. }
  pose proof (exp_pos e1) as P1.
  assert (exp e1 * total (fun y => f y * q y) ys <= exp e1 * (exp e2 * total (fun y => b y * q y) ys))
    by (apply Rmult_le_compat_l; lra).
  change (total (fun y => a y * p y) ys <= exp e1 * exp e2 * total (fun y => b y * q y) ys + (d1 + d2)). lra.
Qed.

Lemma joint_law p k : law p ys -> (forall y, In y ys -> law (k y) zs) -> law (joint p k) pairs.
Proof.
  intros Lp Lk. split.
  - intros [y z] Hin. unfold pairs in Hin. apply in_flat_map in Hin. destruct Hin as [y' [Hy Hz]].
    apply in_map_iff in Hz. destruct Hz as [z' [Eq Hz]]. inversion Eq; subst. unfold joint. simpl.
    apply Rmult_le_pos; [apply (law_nonneg _ _ Lp); auto | apply (law_nonneg _ _ (Lk y Hy)); auto].
  - rewrite total_pairs. rewrite <- (law_sums_to_one _ _ Lp). apply total_ext. intros y Hy. unfold joint. simpl.
    rewrite total_scale, (law_sums_to_one _ _ (Lk y Hy)). ring.
Qed.
End Composition.

(* Groups: one draw in each, independently. What a neighbour changes in each adds up: two groups where a record moves
   from one to another, one where it comes or goes (parallel composition). *)
Section Groups.
Context {Y : Type}.
Variable ys : list Y.

Fixpoint tuples (n : nat) : list (list Y) :=
  match n with O => [[]] | S m => flat_map (fun y => map (cons y) (tuples m)) ys end.
Fixpoint together (ps : list (Y -> R)) (out : list Y) : R :=
  match ps, out with
  | [], [] => 1
  | p :: ps', y :: out' => p y * together ps' out'
  | _, _ => 0
  end.

Definition pure_close (e : R) (p q : Y -> R) := forall y, In y ys -> p y <= exp e * q y.

(* @says One independent draw in every group: what a neighbour changes in each group adds up, and nothing else. *)
Theorem groups_add_up (es : list R) ps qs :
  Forall (fun p => forall y, In y ys -> 0 <= p y) ps -> Forall (fun q => forall y, In y ys -> 0 <= q y) qs ->
  Forall2 (fun e pq => pure_close e (fst pq) (snd pq)) es (combine ps qs) -> length ps = length qs ->
  forall out, In out (tuples (length ps)) -> together ps out <= exp (fold_right Rplus 0 es) * together qs out.
Proof.
  revert ps qs. induction es as [| e es IH]; intros ps qs Np Nq H L out Hin.
  - inversion H as [Hn |]. destruct ps as [| p ps], qs as [| q qs]; simpl in *; try discriminate.
    destruct Hin as [<- | []]. simpl. rewrite exp_0. lra.
  - destruct ps as [| p ps], qs as [| q qs]; simpl in *; try discriminate; try (inversion H; fail).
    inversion H as [| ? ? ? ? Hpq Hrest]; subst. inversion Np; subst. inversion Nq; subst.
    apply in_flat_map in Hin. destruct Hin as [y [Hy Hin]]. apply in_map_iff in Hin.
    destruct Hin as [rest [<- Hrest2]]. simpl.
    specialize (IH ps qs ltac:(assumption) ltac:(assumption) Hrest ltac:(congruence) rest Hrest2).
    rewrite exp_plus.
    assert (nonneg : forall (rs : list (Y -> R)) n o, Forall (fun r => forall y, In y ys -> 0 <= r y) rs ->
              In o (tuples n) -> 0 <= together rs o).
    { clear. induction rs as [| r rs IHr]; intros n o N Ho; destruct o as [| x o]; simpl; try lra.
      inversion N; subst. destruct n as [| n]; simpl in Ho; [destruct Ho as [Ho | []]; discriminate |].
      apply in_flat_map in Ho. destruct Ho as [y [Hy Ho]]. apply in_map_iff in Ho. destruct Ho as [o' [Eq Ho]].
      inversion Eq; subst. apply Rmult_le_pos; [auto | apply (IHr n); auto]. }
    specialize (Hpq y Hy). simpl in Hpq.
    assert (0 <= together qs rest) by (eapply nonneg; eauto).
    assert (0 <= p y) by auto. assert (0 <= q y) by auto. pose proof (exp_pos (fold_right Rplus 0 es)).
    apply Rle_trans with (p y * (exp (fold_right Rplus 0 es) * together qs rest)).
    + apply Rmult_le_compat_l; auto.
    + replace (exp e * exp (fold_right Rplus 0 es) * (q y * together qs rest))
        with (exp e * q y * (exp (fold_right Rplus 0 es) * together qs rest)) by ring.
      apply Rmult_le_compat_r; auto. apply Rmult_le_pos; lra.
Qed.
End Groups.

(* The same for (epsilon, delta): all groups' draws together, each independent of the others. *)
Section GroupsTogether.
Context {Y G : Type}.
Variable ys : list Y.

Lemma total_flat_cons (f : list Y -> R) (zs : list (list Y)) :
  total f (flat_map (fun y => map (cons y) zs) ys) = total (fun o => f (fst o :: snd o)) (pairs ys zs).
Proof.
  unfold pairs. clear. induction ys as [| y r IH]; simpl; auto.
  rewrite !total_app, !total_map, IH. reflexivity.
Qed.

Lemma together_law (p : G -> Y -> R) gs : (forall g, In g gs -> law (p g) ys) ->
  law (together (map p gs)) (tuples ys (length gs)).
Proof.
  induction gs as [| g gs IH]; intros H; [split; simpl; [intros y [<- | []]; lra | lra] |].
  specialize (IH (fun h Hh => H h (or_intror Hh))). pose proof (H g (or_introl eq_refl)) as Hg.
  pose proof (joint_law ys (tuples ys (length gs)) (p g) (fun _ => together (map p gs)) Hg (fun _ _ => IH)) as [N O].
  split.
  - intros out Hin. simpl in Hin. apply in_flat_map in Hin. destruct Hin as [y [Hy Hin]].
    apply in_map_iff in Hin. destruct Hin as [rest [<- Hr]]. simpl.
    apply Rmult_le_pos; [apply (law_nonneg _ _ Hg); auto | apply (law_nonneg _ _ IH); auto].
  - simpl length. simpl tuples. rewrite total_flat_cons. exact O.
Qed.

(* @says Independent draws in several groups: epsilons and deltas of the groups add up. *)
Theorem groups_private (gs : list G) (eps delta : G -> R) (p q : G -> Y -> R) :
  (forall g, In g gs -> 0 <= eps g /\ 0 <= delta g /\ law (p g) ys /\ law (q g) ys /\ private (eps g) (delta g) (p g) (q g) ys) ->
  private (total eps gs) (total delta gs) (together (map p gs)) (together (map q gs)) (tuples ys (length gs)).
Proof.
  induction gs as [| g gs IH]; intros H E.
  - unfold pr. simpl. rewrite exp_0. lra.
  - assert (Hr : forall h, In h gs -> 0 <= eps h /\ 0 <= delta h /\ law (p h) ys /\ law (q h) ys /\ private (eps h) (delta h) (p h) (q h) ys)
      by (intros; apply H; right; auto).
    specialize (IH Hr). destruct (H g (or_introl eq_refl)) as (He & Hd & Lp & Lq & Hpq).
    assert (P : forall r : G -> Y -> R, pr (together (map r (g :: gs))) (tuples ys (length (g :: gs))) E =
      pr (joint (r g) (fun _ => together (map r gs))) (pairs ys (tuples ys (length gs))) (fun o => E (fst o :: snd o))).
    { intros r. unfold pr. simpl length. simpl tuples. rewrite total_flat_cons. reflexivity. }
    rewrite !P. simpl total.
    apply (composition ys (tuples ys (length gs)) (eps g) (delta g) (total eps gs) (total delta gs)); auto.
    + apply total_nonneg. intros h Hh. apply Hr; auto.
    + intros. apply together_law. intros h Hh. apply Hr; auto.
    + intros. apply together_law. intros h Hh. apply Hr; auto.
    + apply total_nonneg. intros h Hh. apply Hr; auto.
Qed.

(* @says Parallel composition: if a neighbour changes at most k of the groups (1 where a record comes or goes, 2 where it moves, k where a person lies in k groups), all groups together cost k times what one costs. *)
Theorem parallel_composition (gs : list G) (touched : G -> bool) e d k (p q : G -> Y -> R) :
  0 <= e -> 0 <= d -> (forall g, In g gs -> law (p g) ys /\ law (q g) ys) ->
  (forall g, In g gs -> touched g = true -> private e d (p g) (q g) ys) ->
  (forall g y, In g gs -> touched g = false -> In y ys -> p g y = q g y) ->
  (length (filter touched gs) <= k)%nat ->
  private (INR k * e) (INR k * d) (together (map p gs)) (together (map q gs)) (tuples ys (length gs)).
Proof.
  intros He Hd L Ht Hf Hk.
  assert (S : forall c, total (fun g => if touched g then c else 0) gs = INR (length (filter touched gs)) * c).
  { intros c. clear. induction gs as [| g gs IH]; cbn [total filter length]; [simpl; lra |].
    destruct (touched g); rewrite IH; cbn [length]; [rewrite S_INR; lra | lra]. }
  apply le_INR in Hk.
  apply (weaker (total (fun g => if touched g then e else 0) gs) (total (fun g => if touched g then d else 0) gs)).
  - rewrite S. apply Rmult_le_compat_r; auto.
  - rewrite S. apply Rmult_le_compat_r; auto.
  - apply (law_nonneg _ _ (together_law q gs (fun g Hg => proj2 (L g Hg)))).
  - apply groups_private. intros g Hg. destruct (L g Hg) as [Lp Lq].
    destruct (touched g) eqn:T; repeat split; auto; try lra; try apply (law_nonneg _ _ Lp); try apply (law_nonneg _ _ Lq);
      try apply (law_sums_to_one _ _ Lp); try apply (law_sums_to_one _ _ Lq).
    intros E. rewrite exp_0, Rmult_1_l, Rplus_0_r. right. apply total_ext. intros y Hy. rewrite (Hf g y Hg T Hy). reflexivity.
Qed.
End GroupsTogether.

(* @says Tables k records apart: k epsilon, and delta times 1 + e^epsilon + ... + e^((k-1) epsilon). *)
Theorem records_apart {Y} eps delta (ys : list Y) (p : nat -> Y -> R) k :
  (forall i, (i < k)%nat -> private eps delta (p i) (p (S i)) ys) ->
  private (INR k * eps) (delta * total (fun i => exp (INR i * eps)) (seq 0 k)) (p 0%nat) (p k) ys.
Proof.
  induction k as [| k IH]; intros H E.
  - simpl. rewrite Rmult_0_l, exp_0. lra.
  - specialize (IH (fun i Hi => H i (Nat.lt_lt_succ_r _ _ Hi)) E). specialize (H k (Nat.lt_succ_diag_r k) E).
    rewrite seq_S, total_app. cbn [total]. rewrite Nat.add_0_l, S_INR.
    replace ((INR k + 1) * eps) with (INR k * eps + eps) by ring. rewrite exp_plus.
    pose proof (exp_pos (INR k * eps)) as X.
    assert (exp (INR k * eps) * pr (p k) ys E <= exp (INR k * eps) * (exp eps * pr (p (S k)) ys E + delta))
      by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* Persons: all rows of a person become one record by a function of those rows; a table of persons is a list of lists of
   rows. What holds between tables of records that differ in one record holds between tables of persons. *)
Section Persons.
Context {Row Record Y : Type}.
Variables (one_record : list Row -> Record) (mechanism : list Record -> Y -> R) (ys : list Y) (eps delta : R).
Hypothesis replace_one : forall before r s after,
  private eps delta (mechanism (before ++ r :: after)) (mechanism (before ++ s :: after)) ys.
Hypothesis add_one : forall before r after,
  private eps delta (mechanism (before ++ r :: after)) (mechanism (before ++ after)) ys /\
  private eps delta (mechanism (before ++ after)) (mechanism (before ++ r :: after)) ys.

(* @says Where a person's rows become one record by a function of these rows alone, privacy for a replaced record is privacy for a replaced person. *)
Theorem persons_replaced : forall before p q after,
  private eps delta (mechanism (map one_record (before ++ p :: after)))
                    (mechanism (map one_record (before ++ q :: after))) ys.
Proof. intros. rewrite !map_app. simpl. apply replace_one. Qed.

(* @says The same for a person who comes or goes. *)
Theorem persons_added : forall before p after,
  private eps delta (mechanism (map one_record (before ++ p :: after))) (mechanism (map one_record (before ++ after))) ys /\
  private eps delta (mechanism (map one_record (before ++ after))) (mechanism (map one_record (before ++ p :: after))) ys.
Proof. intros. rewrite !map_app. simpl. apply add_one. Qed.
End Persons.
