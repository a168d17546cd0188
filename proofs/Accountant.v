(* The accountant as a filter: whatever is asked next, chosen from all results so far, it is admitted only if it fits into
   what is left. All results together then cost no more than the budget. *)
Require Import Reals List Lra.
Require Import Laws Prices.
Import ListNotations.
Open Scope R_scope.

Section Filter.
Context {Y : Type}.

(* A course of questions: nothing more, or a draw with its laws on two neighbouring tables, and what follows each result. *)
Inductive course :=
| Stop
| Ask (eps delta : R) (ys : list Y) (p q : Y -> R) (next : Y -> course).

Fixpoint outcomes (c : course) : list (list Y) :=
  match c with
  | Stop => [[]]
  | Ask _ _ ys _ _ next => flat_map (fun y => map (cons y) (outcomes (next y))) ys
  end.

Fixpoint chance (here : bool) (c : course) (out : list Y) : R :=
  match c, out with
  | Stop, [] => 1
  | Ask _ _ _ p q next, y :: rest => (if here then p y else q y) * chance here (next y) rest
  | _, _ => 0
  end.

(* What the filter admits: epsilon and delta fit into what is left, and so does all that follows. *)
Fixpoint admitted (left left_delta : R) (c : course) : Prop :=
  match c with
  | Stop => 0 <= left /\ 0 <= left_delta
  | Ask eps delta ys p q next =>
      eps <= left /\ delta <= left_delta /\ law p ys /\ law q ys /\ private eps delta p q ys /\
      forall y, admitted (left - eps) (left_delta - delta) (next y)
  end.

Lemma total_outcomes eps delta ys p q next (f : list Y -> R) :
  total f (outcomes (Ask eps delta ys p q next)) =
  total (fun y => total (fun rest => f (y :: rest)) (outcomes (next y))) ys.
Proof.
  simpl. induction ys as [| y ys IH]; simpl; auto. rewrite total_app, total_map, IH. reflexivity.
Qed.

Lemma pr_ask here eps delta ys p q next E :
  pr (chance here (Ask eps delta ys p q next)) (outcomes (Ask eps delta ys p q next)) E =
  total (fun y => pr (chance here (next y)) (outcomes (next y)) (fun rest => E (y :: rest)) *
                  (if here then p y else q y)) ys.
Proof.
  unfold pr. rewrite total_outcomes. apply total_ext. intros y _. rewrite Rmult_comm, <- total_scale.
  apply total_ext. intros rest _. simpl. ring.
Qed.

Lemma chance_law here : forall c left left_delta, admitted left left_delta c -> law (chance here c) (outcomes c).
Proof.
  induction c as [| eps delta ys p q next IH]; intros left left_delta H.
  - split; simpl; [intros y [<- | []]; lra | lra].
  - destruct H as (_ & _ & Lp & Lq & _ & Hn). split.
    + intros out Hin. simpl in Hin. apply in_flat_map in Hin. destruct Hin as [y [Hy Hin]].
      apply in_map_iff in Hin. destruct Hin as [rest [<- Hr]]. simpl.
      apply Rmult_le_pos.
      * destruct here; [apply (law_nonneg _ _ Lp) | apply (law_nonneg _ _ Lq)]; auto.
      * apply (law_nonneg _ _ (IH y _ _ (Hn y))); auto.
    + rewrite total_outcomes.
      transitivity (total (fun y => if here then p y else q y) ys).
      * apply total_ext. intros y Hy. simpl. rewrite total_scale, (law_sums_to_one _ _ (IH y _ _ (Hn y))). ring.
      * destruct here; [apply (law_sums_to_one _ _ Lp) | apply (law_sums_to_one _ _ Lq)].
Qed.

Lemma pr_range {Z} (p : Z -> R) zs E : law p zs -> 0 <= pr p zs E <= 1.
Proof.
  intros [N O]. split.
  - apply total_nonneg. intros z Hz. apply Rmult_le_pos; [apply mark_range | auto].
  - rewrite <- O. apply total_le. intros z Hz. specialize (N z Hz). pose proof (mark_range (E z)).
    assert (mark (E z) * p z <= 1 * p z) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* @says Whatever is asked next, chosen from all results so far: if each fits into what is left, all together are (budget, budget delta)-private.
   @code accounts/accountant.py::Accountant *)
Theorem filter_private : forall c budget budget_delta, admitted budget budget_delta c ->
  private budget budget_delta (chance true c) (chance false c) (outcomes c).
Proof.
  induction c as [| eps delta ys p q next IH]; intros B D H E.
  - destruct H as [HB HD]. unfold pr. simpl. assert (1 <= exp B) by (rewrite <- exp_0; apply exp_le; auto).
    pose proof (mark_range (E [])).
    assert (mark (E []) * 1 <= mark (E []) * exp B) by (apply Rmult_le_compat_l; lra). lra.
  - pose proof H as Hall. destruct H as (He & Hd & Lp & Lq & Hpq & Hn). rewrite !pr_ask.
    set (a := fun y => pr (chance true (next y)) (outcomes (next y)) (fun rest => E (y :: rest))).
    set (b := fun y => pr (chance false (next y)) (outcomes (next y)) (fun rest => E (y :: rest))).
    assert (Ra : forall y, 0 <= a y <= 1) by (intros y; eapply pr_range, chance_law, Hn).
    assert (Rb : forall y, 0 <= b y <= 1) by (intros y; eapply pr_range, chance_law, Hn).
    assert (Hab : forall y, a y <= exp (B - eps) * b y + (D - delta)) by (intros y; apply (IH y _ _ (Hn y))).
    set (f := fun y => Rmin 1 (exp (B - eps) * b y)). pose proof (exp_pos (B - eps)) as P.
    assert (Hf : forall y, In y ys -> 0 <= f y <= 1).
    { intros y _. unfold f. specialize (Rb y). split; [apply Rmin_glb; [lra | apply Rmult_le_pos; lra] | apply Rmin_l]. }
    assert (A : total (fun y => a y * p y) ys <= total (fun y => f y * p y) ys + (D - delta)).
    { replace (D - delta) with ((D - delta) * total p ys) by (rewrite (law_sums_to_one _ _ Lp); ring).
      rewrite <- total_scale, <- total_plus. apply total_le. intros y Hy. pose proof (law_nonneg _ _ Lp y Hy).
      specialize (Hab y). specialize (Ra y).
      assert (a y <= f y + (D - delta)) by (unfold f, Rmin; destruct (Rle_dec 1 (exp (B - eps) * b y)); lra).
      assert (a y * p y <= (f y + (D - delta)) * p y) by (apply Rmult_le_compat_r; auto). lra. }
    pose proof (private_expectation eps delta p q f ys Hpq Hf) as Q.
    assert (C : total (fun y => f y * q y) ys <= exp (B - eps) * total (fun y => b y * q y) ys).
    { rewrite <- total_scale. apply total_le. intros y Hy. pose proof (law_nonneg _ _ Lq y Hy).
      assert (f y <= exp (B - eps) * b y) by apply Rmin_r.
      assert (f y * q y <= exp (B - eps) * b y * q y) by (apply Rmult_le_compat_r; auto). lra. }
    pose proof (exp_pos eps) as Pe. replace (exp B) with (exp eps * exp (B - eps)) by (rewrite <- exp_plus; f_equal; ring).
    assert (exp eps * total (fun y => f y * q y) ys <= exp eps * (exp (B - eps) * total (fun y => b y * q y) ys))
      by (apply Rmult_le_compat_l; lra).
    change (total (fun y => a y * p y) ys <= exp eps * exp (B - eps) * total (fun y => b y * q y) ys + D). lra.
Qed.

(* zCDP (Bun and Steinke 2016): the Renyi moment of order a is at most e^((a-1) a rho). Moments multiply along a course. *)
Section Concentrated.
Variable a : R.
Hypothesis order : 1 < a.

Definition moment {Z} (p q : Z -> R) (zs : list Z) : R := total (fun z => q z * Rpower (p z / q z) a) zs.

Fixpoint rho_admitted (left : R) (rho : course -> R) (c : course) : Prop :=
  match c with
  | Stop => 0 <= left
  | Ask _ _ ys p q next =>
      rho c <= left /\ (forall y, In y ys -> 0 < p y /\ 0 < q y) /\
      moment p q ys <= exp ((a - 1) * a * rho c) /\ forall y, rho_admitted (left - rho c) rho (next y)
  end.

Lemma chance_pos here rho : forall c left, rho_admitted left rho c ->
  forall out, In out (outcomes c) -> 0 < chance here c out.
Proof.
  induction c as [| eps delta ys p q next IH]; intros left H out Hin.
  - destruct Hin as [<- | []]. simpl. lra.
  - destruct H as (_ & Hpos & _ & Hn). simpl in Hin. apply in_flat_map in Hin. destruct Hin as [y [Hy Hin]].
    apply in_map_iff in Hin. destruct Hin as [rest [<- Hr]]. simpl. destruct (Hpos y Hy) as [Pp Pq].
    apply Rmult_lt_0_compat; [destruct here; assumption | eapply IH; eauto].
Qed.

(* @says The same for zCDP: Renyi moments of every order stay within the budget's.
   @code accounts/accountant.py::Accountant *)
Theorem filter_concentrated rho : forall c budget, rho_admitted budget rho c ->
  moment (chance true c) (chance false c) (outcomes c) <= exp ((a - 1) * a * budget).
Proof.
  induction c as [| eps delta ys p q next IH]; intros B H.
  - unfold moment. simpl. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. unfold Rpower. rewrite ln_1, Rmult_0_r, exp_0.
    simpl in H. assert (0 <= (a - 1) * a * B) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | auto]).
    assert (exp 0 <= exp ((a - 1) * a * B)) by (apply exp_le; auto). rewrite exp_0 in *. lra.
  - pose proof H as Hall. destruct H as (Hr & Hpos & Hm & Hn). set (r := rho (Ask eps delta ys p q next)) in *.
    unfold moment. rewrite total_outcomes.
    apply Rle_trans with (total (fun y => exp ((a - 1) * a * (B - r)) * (q y * Rpower (p y / q y) a)) ys).
    + apply total_le. intros y Hy. destruct (Hpos y Hy) as [Pp Pq].
      rewrite (total_ext _ (fun rest => (q y * Rpower (p y / q y) a) *
        (chance false (next y) rest * Rpower (chance true (next y) rest / chance false (next y) rest) a))).
      * rewrite total_scale, Rmult_comm. apply Rmult_le_compat_r.
        -- apply Rmult_le_pos; [lra | left; apply exp_pos].
        -- apply (IH y). apply Hn.
      * intros rest Hrest. simpl.
        pose proof (chance_pos true rho (next y) _ (Hn y) rest Hrest) as Ct.
        pose proof (chance_pos false rho (next y) _ (Hn y) rest Hrest) as Cf.
        replace (p y * chance true (next y) rest / (q y * chance false (next y) rest))
          with ((p y / q y) * (chance true (next y) rest / chance false (next y) rest)) by (field; lra).
        rewrite <- Rpower_mult_distr by (apply Rdiv_lt_0_compat; assumption). ring.
    + rewrite total_scale. replace ((a - 1) * a * B) with ((a - 1) * a * (B - r) + (a - 1) * a * r) by ring.
      rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos | exact Hm].
Qed.
End Concentrated.
End Filter.
