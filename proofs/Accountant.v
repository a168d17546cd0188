(* The accountant as a filter: whatever is asked next, chosen from all results so far, it is admitted only if it fits into
   what is left. All results together then cost no more than the budget. *)
Require Import Reals List Lra.
Require Import Laws Prices Concentrated.
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

(* @says Whatever is asked next, chosen from all results so far: if each fits into what is left, all together are (budget, budget delta)-private. *)
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

(* zCDP alone: moments multiply along a course. *)
Section Concentrated.
Variable a : R.
Hypothesis order : 1 < a.

Fixpoint rho_admitted (left : R) (rho : course -> R) (c : course) : Prop :=
  match c with
  | Stop => 0 <= left
  | Ask _ _ ys p q next =>
      rho c <= left /\ (forall y, In y ys -> 0 <= p y /\ 0 <= q y /\ (0 < p y -> 0 < q y)) /\
      moment a p q ys <= exp ((a - 1) * a * rho c) /\ forall y, rho_admitted (left - rho c) rho (next y)
  end.

Lemma chance_supported rho : forall c left, rho_admitted left rho c -> forall out, In out (outcomes c) ->
  0 <= chance true c out /\ 0 <= chance false c out /\ (0 < chance true c out -> 0 < chance false c out).
Proof.
  induction c as [| eps delta ys p q next IH]; intros left H out Hin.
  - simpl in *. destruct Hin as [<- | []]. lra.
  - destruct H as (_ & Hpos & _ & Hn). simpl in Hin. apply in_flat_map in Hin. destruct Hin as [y [Hy Hin]].
    apply in_map_iff in Hin. destruct Hin as [rest [<- Hr]]. simpl.
    destruct (Hpos y Hy) as (A & B & C). destruct (IH y _ (Hn y) rest Hr) as (A' & B' & C').
    repeat split; try (apply Rmult_le_pos; auto). intros P. apply Rmult_lt_0_compat; [apply C | apply C'].
    + destruct A as [A | Z]; [auto | rewrite <- Z in P; lra].
    + destruct A' as [A' | Z]; [auto | rewrite <- Z in P; lra].
Qed.

(* @says The same for zCDP, of every order: if each rho fits into what is left, the moment of all together stays within the budget's. *)
Theorem filter_concentrated rho : forall c budget, rho_admitted budget rho c ->
  moment a (chance true c) (chance false c) (outcomes c) <= exp ((a - 1) * a * budget).
Proof.
  induction c as [| eps delta ys p q next IH]; intros B H.
  - unfold moment, part. simpl. destruct (Rlt_dec 0 1); [| lra]. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. unfold Rpower.
    rewrite ln_1, Rmult_0_r, exp_0. simpl in H.
    assert (0 <= (a - 1) * a * B) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | auto]).
    assert (exp 0 <= exp ((a - 1) * a * B)) by (apply exp_le; auto). rewrite exp_0 in *. lra.
  - pose proof H as Hall. destruct H as (Hr & Hpos & Hm & Hn). set (r := rho (Ask eps delta ys p q next)) in *.
    unfold moment. rewrite total_outcomes.
    apply Rle_trans with (total (fun y => exp ((a - 1) * a * (B - r)) * part a (p y) (q y)) ys).
    + apply total_le. intros y Hy. destruct (Hpos y Hy) as (Pp & Pq & Ppq).
      rewrite (total_ext _ (fun rest => part a (p y) (q y) * part a (chance true (next y) rest) (chance false (next y) rest))).
      * rewrite total_scale, Rmult_comm. apply Rmult_le_compat_r; [apply part_nonneg; auto | apply (IH y); apply Hn].
      * intros rest Hrest. simpl. destruct (chance_supported rho (next y) _ (Hn y) rest Hrest) as (A & _ & C).
        apply part_product; auto.
    + rewrite total_scale. replace ((a - 1) * a * B) with ((a - 1) * a * (B - r) + (a - 1) * a * r) by ring.
      rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos | exact Hm].
Qed.
End Concentrated.
End Filter.

(* Mixed budgets: E, and a delta split beforehand into Dr, for releases' own deltas, and Dc, for converting zCDP. A release
   has a good part of weight 1 - delta (law p' below p): there it costs rho, and epsilon pointwise if it has one (Gaussian
   noise has none). Every history must fit by its epsilons, or by its rhos; its deltas must fit into Dr. Which of the two
   holds may differ from history to history. *)
Section Mixed.
Context {Y : Type}.
Variable a : R.
Hypothesis order : 1 < a.

Record release := { eps : option R; rho : R; delta : R; ys : list Y; p : Y -> R; q : Y -> R; p' : Y -> R; q' : Y -> R }.
Record sound (r : release) : Prop := {
  laws : law (p r) (ys r) /\ law (q r) (ys r);
  good_laws : law (p' r) (ys r) /\ law (q' r) (ys r);
  ranges : 0 <= delta r <= 1 /\ 0 <= rho r /\ (forall e, eps r = Some e -> 0 <= e);
  good_parts : forall y, In y (ys r) -> (1 - delta r) * p' r y <= p r y /\ (1 - delta r) * q' r y <= q r y;
  supported : forall y, In y (ys r) -> 0 < p' r y -> 0 < q' r y;
  pure_there : forall e, eps r = Some e -> forall y, In y (ys r) -> p' r y <= exp e * q' r y;
  rho_there : moment a (p' r) (q' r) (ys r) <= exp ((a - 1) * a * rho r) }.

Inductive history := Done | Then (r : release) (next : Y -> history).

Fixpoint histories (c : history) : list (list Y) :=
  match c with Done => [[]] | Then r next => flat_map (fun y => map (cons y) (histories (next y))) (ys r) end.
Fixpoint product (f : release -> Y -> R) (c : history) (out : list Y) : R :=
  match c, out with
  | Done, [] => 1
  | Then r next, y :: rest => f r y * product f (next y) rest
  | _, _ => 0
  end.

Definition minus (left : option R) (e : option R) : option R :=
  match left, e with Some l, Some x => Some (l - x) | _, _ => None end.
Fixpoint left_eps (l : option R) (c : history) (out : list Y) : option R :=
  match c, out with Then r next, y :: rest => left_eps (minus l (eps r)) (next y) rest | _, _ => l end.
Fixpoint left_rho (l : R) (c : history) (out : list Y) : R :=
  match c, out with Then r next, y :: rest => left_rho (l - rho r) (next y) rest | _, _ => l end.

Fixpoint mixed_admitted (le : option R) (lr ld : R) (c : history) : Prop :=
  match c with
  | Done => 0 <= ld /\ ((exists l, le = Some l /\ 0 <= l) \/ 0 <= lr)
  | Then r next => sound r /\ forall y, In y (ys r) -> mixed_admitted (minus le (eps r)) (lr - rho r) (ld - delta r) (next y)
  end.

Lemma total_histories r next (f : list Y -> R) :
  total f (histories (Then r next)) = total (fun y => total (fun rest => f (y :: rest)) (histories (next y))) (ys r).
Proof.
  simpl. induction (ys r) as [| y l IH]; simpl; auto. rewrite total_app, total_map, IH. reflexivity.
Qed.

Lemma in_histories r next out : In out (histories (Then r next)) ->
  exists y rest, out = y :: rest /\ In y (ys r) /\ In rest (histories (next y)).
Proof.
  simpl. intros H. apply in_flat_map in H. destruct H as [y [Hy H]]. apply in_map_iff in H.
  destruct H as [rest [<- Hr]]. exists y, rest. auto.
Qed.

Lemma product_law (f : release -> Y -> R) : (forall r, sound r -> law (f r) (ys r)) ->
  forall c le lr ld, mixed_admitted le lr ld c -> law (product f c) (histories c).
Proof.
  intros Hf. induction c as [| r next IH]; intros le lr ld H.
  - split; simpl; [intros y [<- | []]; lra | lra].
  - destruct H as [S Hn]. pose proof (Hf r S) as L. split.
    + intros out Hin. apply in_histories in Hin. destruct Hin as (y & rest & -> & Hy & Hr). simpl.
      apply Rmult_le_pos; [apply (law_nonneg _ _ L); auto | apply (law_nonneg _ _ (IH y _ _ _ (Hn y Hy))); auto].
    + rewrite total_histories. transitivity (total (f r) (ys r)); [| apply (law_sums_to_one _ _ L)].
      apply total_ext. intros y Hy. simpl. rewrite total_scale, (law_sums_to_one _ _ (IH y _ _ _ (Hn y Hy))). ring.
Qed.

Notation P := (product p).
Notation Q := (product q).
Notation P' := (product p').
Notation Q' := (product q').
Notation kept := (product (fun r _ => 1 - delta r)).

Lemma delta_left : forall c le lr ld, mixed_admitted le lr ld c -> 0 <= ld.
Proof.
  induction c as [| r next IH]; intros le lr ld H; [apply H |]. destruct H as [S Hn].
  destruct (ys r) as [| y l] eqn:E.
  - destruct (laws _ S) as [[_ O] _]. rewrite E in O. simpl in O. lra.
  - specialize (IH y _ _ _ (Hn y (or_introl eq_refl))). destruct (ranges _ S). lra.
Qed.

Lemma kept_range : forall c le lr ld, mixed_admitted le lr ld c -> forall out, In out (histories c) -> 0 <= kept c out <= 1.
Proof.
  induction c as [| r next IH]; intros le lr ld H out Hin; [destruct Hin as [<- | []]; simpl; lra |].
  destruct H as [S Hn]. apply in_histories in Hin. destruct Hin as (y & rest & -> & Hy & Hr). simpl.
  specialize (IH y _ _ _ (Hn y Hy) rest Hr). destruct (ranges _ S) as [D _]. nra.
Qed.

(* What is lost of a law outside its good parts: at most Dr. *)
Lemma good_below (f g : release -> Y -> R) : (forall r, sound r -> law (f r) (ys r)) -> (forall r, sound r -> law (g r) (ys r)) ->
  (forall r, sound r -> forall y, In y (ys r) -> (1 - delta r) * g r y <= f r y) ->
  forall c le lr ld, mixed_admitted le lr ld c ->
  (forall out, In out (histories c) -> kept c out * product g c out <= product f c out) /\
  1 - ld <= total (fun out => kept c out * product g c out) (histories c).
Proof.
  intros Lf Lg Hfg. induction c as [| r next IH]; intros le lr ld H.
  - split; [intros out [<- | []]; simpl; lra |]. simpl in *. lra.
  - pose proof (delta_left _ _ _ _ H) as D0. destruct H as [S Hn]. destruct (ranges _ S) as [D _]. split.
    + intros out Hin. apply in_histories in Hin. destruct Hin as (y & rest & -> & Hy & Hr). simpl.
      destruct (IH y _ _ _ (Hn y Hy)) as [I _]. specialize (I rest Hr). specialize (Hfg r S y Hy).
      pose proof (kept_range _ _ _ _ (Hn y Hy) rest Hr) as K.
      pose proof (law_nonneg _ _ (Lg r S) y Hy) as G.
      pose proof (law_nonneg _ _ (product_law g Lg _ _ _ _ (Hn y Hy)) rest Hr) as G'.
      replace ((1 - delta r) * kept (next y) rest * (g r y * product g (next y) rest))
        with ((1 - delta r) * g r y * (kept (next y) rest * product g (next y) rest)) by ring.
      apply Rmult_le_compat; auto; apply Rmult_le_pos; lra.
    + rewrite total_histories.
      apply Rle_trans with (total (fun y => (1 - delta r) * (1 - (ld - delta r)) * g r y) (ys r)).
      * rewrite total_scale, (law_sums_to_one _ _ (Lg r S)).
        assert (0 <= delta r * (ld - delta r)).
        { apply Rmult_le_pos; [lra |]. destruct (ys r) as [| y l] eqn:E.
          - destruct (laws _ S) as [[_ O] _]. rewrite E in O. simpl in O. lra.
          - apply (delta_left _ _ _ _ (Hn y (or_introl eq_refl))). }
        lra.
      * apply total_le. intros y Hy. destruct (IH y _ _ _ (Hn y Hy)) as [_ I].
        rewrite (total_ext _ (fun rest => ((1 - delta r) * g r y) * (kept (next y) rest * product g (next y) rest)))
          by (intros; simpl; ring).
        rewrite total_scale. pose proof (law_nonneg _ _ (Lg r S) y Hy) as G.
        replace ((1 - delta r) * (1 - (ld - delta r)) * g r y) with ((1 - delta r) * g r y * (1 - (ld - delta r))) by ring.
        apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact I].
Qed.

Lemma fits_somehow : forall c le lr ld, mixed_admitted le lr ld c -> forall out, In out (histories c) ->
  (exists l, left_eps le c out = Some l /\ 0 <= l) \/ 0 <= left_rho lr c out.
Proof.
  induction c as [| r next IH]; intros le lr ld H out Hin; [destruct Hin as [<- | []]; apply H |].
  destruct H as [S Hn]. apply in_histories in Hin. destruct Hin as (y & rest & -> & Hy & Hr). simpl.
  eapply IH; eauto.
Qed.

(* Where epsilons fit: pointwise. *)
Lemma pure_along : forall c le lr ld, mixed_admitted le lr ld c -> forall out, In out (histories c) ->
  forall b l, le = Some b -> left_eps le c out = Some l -> P' c out <= exp (b - l) * Q' c out.
Proof.
  induction c as [| r next IH]; intros le lr ld H out Hin b l Hb Hl.
  - destruct Hin as [<- | []]. simpl in *. rewrite Hb in Hl. inversion Hl. replace (l - l) with 0 by ring. rewrite exp_0. lra.
  - destruct H as [S Hn]. apply in_histories in Hin. destruct Hin as (y & rest & -> & Hy & Hr). simpl in *. subst le.
    destruct (eps r) as [e |] eqn:Ee.
    + simpl in *. specialize (IH y _ _ _ (Hn y Hy) rest Hr (b - e) l eq_refl Hl).
      pose proof (pure_there _ S e Ee y Hy) as A.
      pose proof (law_nonneg _ _ (proj1 (good_laws _ S)) y Hy).
      pose proof (law_nonneg _ _ (product_law p' (fun r s => proj1 (good_laws r s)) _ _ _ _ (Hn y Hy)) rest Hr).
      replace (b - l) with (e + (b - e - l)) by ring. rewrite exp_plus.
      replace (exp e * exp (b - e - l) * (q' r y * Q' (next y) rest))
        with (exp e * q' r y * (exp (b - e - l) * Q' (next y) rest)) by ring.
      apply Rmult_le_compat; auto.
    + exfalso. simpl in Hl. clear - Hl. revert rest Hl. generalize (next y).
      induction h as [| r' next' IH']; intros rest Hl; simpl in Hl; [discriminate |].
      destruct rest as [| z rest]; [discriminate |]. apply (IH' z rest). exact Hl.
Qed.

Lemma supported_along : forall c le lr ld, mixed_admitted le lr ld c -> forall out, In out (histories c) ->
  0 < P' c out -> 0 < Q' c out.
Proof.
  induction c as [| r next IH]; intros le lr ld H out Hin Hp; [destruct Hin as [<- | []]; simpl; lra |].
  destruct H as [S Hn]. apply in_histories in Hin. destruct Hin as (y & rest & -> & Hy & Hr). simpl in *.
  pose proof (law_nonneg _ _ (proj1 (good_laws _ S)) y Hy) as A.
  pose proof (law_nonneg _ _ (product_law p' (fun r s => proj1 (good_laws r s)) _ _ _ _ (Hn y Hy)) rest Hr) as B.
  apply Rmult_lt_0_compat.
  - apply (supported _ S y Hy). destruct A as [A | Z]; [auto | rewrite <- Z in Hp; lra].
  - apply (IH y _ _ _ (Hn y Hy) rest Hr). destruct B as [B | E]; [auto | rewrite <- E in Hp; lra].
Qed.

(* Where rhos fit: the moment over those histories. *)
Definition there (l : R) (c : history) (out : list Y) : R := if Rle_dec 0 (left_rho l c out) then 1 else 0.
Lemma moment_along : forall c le lr ld, mixed_admitted le lr ld c ->
  forall l, total (fun out => there l c out * part a (P' c out) (Q' c out)) (histories c) <= exp ((a - 1) * a * l).
Proof.
  induction c as [| r next IH]; intros le lr ld H l.
  - simpl. unfold there. simpl. unfold part. destruct (Rlt_dec 0 1); [| lra]. unfold Rdiv. rewrite Rinv_1, Rmult_1_r.
    unfold Rpower. rewrite ln_1, Rmult_0_r, exp_0. pose proof (exp_pos ((a - 1) * a * l)). destruct (Rle_dec 0 l) as [L | L]; [| lra].
    assert (0 <= (a - 1) * a * l) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | auto]).
    assert (exp 0 <= exp ((a - 1) * a * l)) by (apply exp_le; auto). rewrite exp_0 in *. lra.
  - destruct H as [S Hn]. rewrite total_histories.
    apply Rle_trans with (total (fun y => exp ((a - 1) * a * (l - rho r)) * part a (p' r y) (q' r y)) (ys r)).
    + apply total_le. intros y Hy. pose proof (law_nonneg _ _ (proj1 (good_laws _ S)) y Hy) as A.
      pose proof (law_nonneg _ _ (proj2 (good_laws _ S)) y Hy) as A2.
      rewrite (total_ext _ (fun rest => part a (p' r y) (q' r y) *
        (there (l - rho r) (next y) rest * part a (P' (next y) rest) (Q' (next y) rest)))).
      * rewrite total_scale, Rmult_comm. apply Rmult_le_compat_r; [apply part_nonneg; auto | apply (IH y _ _ _ (Hn y Hy))].
      * intros rest Hr. simpl. rewrite part_product; auto.
        -- unfold there. simpl. ring.
        -- apply (law_nonneg _ _ (product_law p' (fun r s => proj1 (good_laws r s)) _ _ _ _ (Hn y Hy)) rest Hr).
        -- intros X. apply (supported _ S y Hy X).
        -- intros X. eapply supported_along; eauto.
    + rewrite total_scale. replace ((a - 1) * a * l) with ((a - 1) * a * (l - rho r) + (a - 1) * a * rho r) by ring.
      rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos | apply (rho_there _ S)].
Qed.

(* @says Mixed budgets: if every history fits by its epsilons or by its rhos, and its deltas into Dr, all releases together are (E, Dr + Dc)-private, Dc being what the conversion of the rhos costs; however they were chosen. *)
Theorem mixed_filter_private E R Dr Dc c : mixed_admitted (Some E) R Dr c -> conversion a R E <= Dc ->
  private E (Dr + Dc) (P c) (Q c) (histories c).
Proof.
  intros H HD S. pose proof (delta_left _ _ _ _ H) as D0.
  set (K := exp (- ((a - 1) * E)) / (a - 1) * Rpower (1 - 1 / a) a).
  assert (K0 : 0 <= K).
  { apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; [apply exp_pos | lra] | left; apply exp_pos]. }
  assert (C : conversion a R E = K * exp ((a - 1) * a * R)).
  { unfold conversion, K. replace ((a - 1) * (a * R - E)) with (- ((a - 1) * E) + (a - 1) * a * R) by ring.
    rewrite exp_plus. field. lra. }
  destruct (good_below p p' (fun r s => proj1 (laws r s)) (fun r s => proj1 (good_laws r s))
    (fun r s y Hy => proj1 (good_parts r s y Hy)) c _ _ _ H) as [Bp Mp].
  destruct (good_below q q' (fun r s => proj2 (laws r s)) (fun r s => proj2 (good_laws r s))
    (fun r s y Hy => proj2 (good_parts r s y Hy)) c _ _ _ H) as [Bq _].
  pose proof (product_law p (fun r s => proj1 (laws r s)) c _ _ _ H) as LP.
  pose proof (product_law p' (fun r s => proj1 (good_laws r s)) c _ _ _ H) as LP'.
  pose proof (product_law q' (fun r s => proj2 (good_laws r s)) c _ _ _ H) as LQ'.
  pose proof (exp_pos E) as XE.
  (* outside the good parts *)
  assert (one : pr (P c) (histories c) S <= total (fun o => mark (S o) * (kept c o * P' c o)) (histories c) + Dr).
  { assert (L : total (fun o => mark (S o) * (P c o - kept c o * P' c o)) (histories c) <=
                total (fun o => P c o - kept c o * P' c o) (histories c)).
    { apply total_le. intros o Ho. specialize (Bp o Ho). pose proof (mark_range (S o)).
      assert (mark (S o) * (P c o - kept c o * P' c o) <= 1 * (P c o - kept c o * P' c o)) by (apply Rmult_le_compat_r; lra). lra. }
    rewrite total_minus, (law_sums_to_one _ _ LP) in L.
    rewrite (total_ext _ (fun o => mark (S o) * P c o - mark (S o) * (kept c o * P' c o))) in L by (intros; ring).
    rewrite total_minus in L. unfold pr. lra. }
  (* in the good parts *)
  assert (two : total (fun o => mark (S o) * (kept c o * P' c o)) (histories c) <=
    exp E * total (fun o => mark (S o) * (kept c o * Q' c o)) (histories c) +
    K * total (fun o => there R c o * part a (P' c o) (Q' c o)) (histories c)).
  { rewrite <- !total_scale, <- total_plus. apply total_le. intros o Ho. pose proof (mark_range (S o)) as Mo.
    pose proof (kept_range _ _ _ _ H o Ho) as Ko. pose proof (law_nonneg _ _ LP' o Ho) as Po. pose proof (law_nonneg _ _ LQ' o Ho) as Qo.
    pose proof (part_nonneg a (P' c o) (Q' c o) Qo) as Nn.
    assert (T : 0 <= there R c o * part a (P' c o) (Q' c o)).
    { unfold there. destruct (Rle_dec 0 (left_rho R c o)); lra. }
    assert (KT : 0 <= K * (there R c o * part a (P' c o) (Q' c o))) by (apply Rmult_le_pos; auto).
    assert (G : P' c o <= exp E * Q' c o + K * (there R c o * part a (P' c o) (Q' c o))).
    { destruct (fits_somehow _ _ _ _ H o Ho) as [(l & Hl & L0) | Hr].
      - pose proof (pure_along _ _ _ _ H o Ho E l eq_refl Hl) as A.
        assert (exp (E - l) <= exp E) by (apply exp_le; lra).
        assert (exp (E - l) * Q' c o <= exp E * Q' c o) by (apply Rmult_le_compat_r; auto). lra.
      - unfold there. destruct (Rle_dec 0 (left_rho R c o)); [| contradiction]. rewrite Rmult_1_l.
        pose proof (one_outcome a E (P' c o) (Q' c o) order Po Qo (supported_along _ _ _ _ H o Ho)) as A. fold K in A. lra. }
    assert (W : 0 <= mark (S o) * kept c o <= 1) by (split; [apply Rmult_le_pos; lra | nra]).
    assert (mark (S o) * kept c o * P' c o <=
            mark (S o) * kept c o * (exp E * Q' c o + K * (there R c o * part a (P' c o) (Q' c o)))) by (apply Rmult_le_compat_l; lra).
    assert (mark (S o) * kept c o * (K * (there R c o * part a (P' c o) (Q' c o))) <=
            1 * (K * (there R c o * part a (P' c o) (Q' c o)))) by (apply Rmult_le_compat_r; lra). lra. }
  pose proof (moment_along c _ _ _ H R) as three.
  assert (K * total (fun o => there R c o * part a (P' c o) (Q' c o)) (histories c) <= K * exp ((a - 1) * a * R))
    by (apply Rmult_le_compat_l; auto).
  assert (four : total (fun o => mark (S o) * (kept c o * Q' c o)) (histories c) <= pr (Q c) (histories c) S).
  { unfold pr. apply total_le. intros o Ho. pose proof (mark_range (S o)). apply Rmult_le_compat_l; [lra | apply Bq; auto]. }
  assert (exp E * total (fun o => mark (S o) * (kept c o * Q' c o)) (histories c) <= exp E * pr (Q c) (histories c) S)
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.
End Mixed.
