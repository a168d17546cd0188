(* Laws on infinitely many outcomes: noise on whole numbers. A law gives every finite list without repetitions at most 1
   in all, and some of them as nearly 1 as one likes. A finite window with one further outcome for all the rest makes a
   finite law of it, to which everything that is proven of finite laws applies. *)
Require Import Reals List Lra Lia ZArith FinFun.
Require Import Laws Prices Depth Concentrated Noise Accountant Mechanisms Table.
Import ListNotations.
Open Scope R_scope.

Section Everywhere.
Context {Y : Type}.
Implicit Types (p q : Y -> R).

Definition law_everywhere p : Prop :=
  (forall y, 0 <= p y) /\ (forall ys, NoDup ys -> total p ys <= 1) /\
  (forall gap, 0 < gap -> exists ys, NoDup ys /\ 1 - gap < total p ys).
(* Of every event that is a finite set, and so of every event. *)
Definition private_everywhere eps delta p q : Prop := forall ys, NoDup ys -> private eps delta p q ys.
Definition concentrated_everywhere rho p q : Prop := forall ys, NoDup ys -> concentrated rho p q ys.
Definition close_everywhere eps p q : Prop := forall y, p y <= exp eps * q y /\ q y <= exp eps * p y.

Lemma total_incl (f : Y -> R) : (forall y, 0 <= f y) -> forall us vs, NoDup us -> incl us vs -> total f us <= total f vs.
Proof.
  intros Hf us. induction us as [| y us IH]; intros vs N I; simpl; [apply total_nonneg; auto |].
  inversion N as [| ? ? Hy Hn]; subst. destruct (in_split y vs (I y (or_introl eq_refl))) as (l1 & l2 & ->).
  assert (J : incl us (l1 ++ l2)).
  { intros z Hz. assert (In z (l1 ++ y :: l2)) as H by (apply I; right; auto). apply in_app_or in H. apply in_or_app.
    destruct H as [H | [-> | H]]; auto. contradiction. }
  specialize (IH _ Hn J). rewrite total_app in *. simpl. lra.
Qed.

Lemma nodup_app (us vs : list Y) : NoDup us -> NoDup vs -> (forall v, In v vs -> ~ In v us) -> NoDup (us ++ vs).
Proof.
  intros N M D. induction us as [| y us IH]; simpl; auto. inversion N; subst. constructor.
  - intros I. apply in_app_or in I. destruct I as [I | I]; [contradiction | apply (D y I); left; auto].
  - apply IH; auto. intros v Hv I. apply (D v Hv). right. auto.
Qed.

(* A window, and the rest as one outcome. *)
Definition window (ys : list Y) : list (option Y) := None :: map Some ys.
Definition seen (ys : list Y) p (o : option Y) : R := match o with Some y => p y | None => 1 - total p ys end.

Lemma total_window f ys : total f (window ys) = f None + total (fun y => f (Some y)) ys.
Proof. unfold window. cbn [total]. rewrite total_map. reflexivity. Qed.

(* @says A law on infinitely many outcomes, seen through a finite window with one further outcome for the rest, is a finite law. *)
Theorem window_law p ys : law_everywhere p -> NoDup ys -> law (seen ys p) (window ys).
Proof.
  intros (P & U & _) N. split.
  - intros [y |] _; simpl; [apply P | specialize (U ys N); lra].
  - rewrite total_window. change (1 - total p ys + total p ys = 1). ring.
Qed.

Variable same : forall y z : Y, {y = z} + {y <> z}.

Lemma rest_close eps p q ys : law_everywhere p -> law_everywhere q -> (forall y, p y <= exp eps * q y) -> NoDup ys ->
  1 - total p ys <= exp eps * (1 - total q ys).
Proof.
  intros (P & _ & Lp) (Q & Uq & _) H N. pose proof (exp_pos eps) as X.
  assert (A : forall gap, 0 < gap -> 1 - total p ys <= exp eps * (1 - total q ys) + gap).
  { intros gap Hg. destruct (Lp gap Hg) as (zs & Nz & Hz).
    set (ws := filter (fun z => if in_dec same z ys then false else true) zs).
    assert (Nw : NoDup (ys ++ ws)).
    { apply nodup_app; auto; [apply NoDup_filter; auto |]. intros w Hw. apply filter_In in Hw.
      destruct (in_dec same w ys); [destruct Hw; discriminate | auto]. }
    assert (I : incl zs (ys ++ ws)).
    { intros z I. apply in_or_app. destruct (in_dec same z ys) as [J | J]; [auto | right].
      apply filter_In. split; auto. destruct (in_dec same z ys); [contradiction | auto]. }
    pose proof (total_incl p P zs (ys ++ ws) Nz I) as B. rewrite total_app in B.
    pose proof (Uq (ys ++ ws) Nw) as C. rewrite total_app in C.
    assert (D : total p ws <= exp eps * total q ws) by (rewrite <- total_scale; apply total_le; auto).
    assert (exp eps * total q ws <= exp eps * (1 - total q ys)) by (apply Rmult_le_compat_l; lra). lra. }
  destruct (Rle_dec (1 - total p ys) (exp eps * (1 - total q ys))) as [L | L]; [auto | exfalso].
  specialize (A ((1 - total p ys - exp eps * (1 - total q ys)) / 2) ltac:(lra)). lra.
Qed.

Lemma total_filter (f : Y -> R) (b : Y -> bool) ys : (forall y, In y ys -> b y = false -> f y = 0) -> total f (filter b ys) = total f ys.
Proof.
  induction ys as [| y ys IH]; intros H; simpl; auto. destruct (b y) eqn:E; simpl; rewrite IH by (intros; apply H; auto; right; auto); [auto |].
  rewrite (H y (or_introl eq_refl) E). lra.
Qed.
End Everywhere.

(* A pure guarantee is epsilon^2/2-zCDP, also where some outcomes have weight 0. *)
Lemma pure_rho_any {Y} eps (p q : Y -> R) ys : 0 <= eps -> law p ys -> law q ys ->
  (forall y, In y ys -> p y <= exp eps * q y /\ q y <= exp eps * p y) -> concentrated (eps ^ 2 / 2) p q ys.
Proof.
  intros He [Np Op] [Nq Oq] H. set (b := fun y => if Rlt_dec 0 (p y) then true else false).
  assert (Z : forall y, In y ys -> b y = false -> p y = 0 /\ q y = 0).
  { intros y Hy E. unfold b in E. destruct (Rlt_dec 0 (p y)); [discriminate |]. destruct (H y Hy) as [_ B].
    specialize (Np y Hy). specialize (Nq y Hy). assert (p y = 0) by lra. rewrite H0 in B. lra. }
  assert (P : forall y, In y (filter b ys) -> In y ys /\ 0 < p y).
  { intros y Hy. apply filter_In in Hy. destruct Hy as [Hy E]. unfold b in E. destruct (Rlt_dec 0 (p y)); [auto | discriminate]. }
  assert (F : forall f : Y -> R, (forall y, In y ys -> b y = false -> f y = 0) -> total f (filter b ys) = total f ys) by (intros; apply total_filter; auto).
  intros a Ha. unfold moment. rewrite <- (F (fun z => part a (p z) (q z))).
  - apply (pure_rho eps p q (filter b ys) He); auto.
    + split; [intros y Hy; apply Np, (P y Hy) | rewrite F; [auto | intros y Hy E; apply (Z y Hy E)]].
    + split; [intros y Hy; apply Nq, (P y Hy) | rewrite F; [auto | intros y Hy E; apply (Z y Hy E)]].
    + intros y Hy. destruct (P y Hy) as [I X]. split; [auto |]. destruct (H y I) as [A _]. specialize (Nq y I). pose proof (exp_pos eps).
      destruct Nq as [Nq | Nq]; [auto | rewrite <- Nq in A; lra].
    + intros y Hy. apply H, (P y Hy).
  - intros y Hy E. destruct (Z y Hy E) as [E1 _]. unfold part. rewrite E1. destruct (Rlt_dec 0 0); lra.
Qed.

Section Pure.
Context {Y : Type}.
Variable same : forall y z : Y, {y = z} + {y <> z}.
Variables (eps : R) (p q : Y -> R).
Hypothesis eps_nonneg : 0 <= eps.
Hypothesis laws : law_everywhere p /\ law_everywhere q.
Hypothesis close : close_everywhere eps p q.

(* @says Laws on infinitely many outcomes whose weights differ by e^epsilon at most: seen through any window they are epsilon-private, and cost epsilon^2/2 as zCDP. *)
Theorem window_costs ys : NoDup ys ->
  private eps 0 (seen ys p) (seen ys q) (window ys) /\ concentrated (eps ^ 2 / 2) (seen ys p) (seen ys q) (window ys).
Proof.
  intros N. destruct laws as [Lp Lq].
  assert (C : forall o, In o (window ys) -> seen ys p o <= exp eps * seen ys q o /\ seen ys q o <= exp eps * seen ys p o).
  { intros [y |] _; simpl; [apply close |]. split; apply (rest_close same); auto; intros y; apply (close y). }
  split; [apply private_pointwise; intros o Ho; apply (C o Ho) |].
  apply pure_rho_any; auto; apply window_law; auto.
Qed.

(* @says So they are epsilon-private and epsilon^2/2-zCDP: rho of noise on infinitely many values. *)
Theorem pure_everywhere : private_everywhere eps 0 p q /\ concentrated_everywhere (eps ^ 2 / 2) p q.
Proof.
  split; intros ys N.
  - apply private_pointwise. intros y _. apply close.
  - intros a Ha. destruct (window_costs ys N) as [_ C]. specialize (C a Ha). unfold moment in *. rewrite total_window in C.
    change (part a (1 - total p ys) (1 - total q ys) + total (fun y => part a (p y) (q y)) ys <= exp ((a - 1) * a * (eps ^ 2 / 2))) in C. destruct laws as [_ (Q & U & _)]. specialize (U ys N).
    pose proof (part_nonneg a (1 - total p ys) (1 - total q ys) ltac:(lra)). lra.
Qed.
End Pure.

(* Two independent draws. *)
Section Product.
Context {Y Z : Type}.
Variables (same_y : forall y z : Y, {y = z} + {y <> z}) (same_z : forall y z : Z, {y = z} + {y <> z}).
Definition beside (p : Y -> R) (k : Z -> R) (o : Y * Z) : R := p (fst o) * k (snd o).

Lemma in_sides (os : list (Y * Z)) : incl os (pairs (nodup same_y (map fst os)) (nodup same_z (map snd os))).
Proof.
  intros [y z] H. unfold pairs. apply in_flat_map. exists y. split; [apply nodup_In, in_map_iff; exists (y, z); auto |].
  apply in_map_iff. exists z. split; [auto |]. apply nodup_In, in_map_iff. exists (y, z). auto.
Qed.

Lemma total_beside p k ys zs : total (beside p k) (pairs ys zs) = total p ys * total k zs.
Proof.
  rewrite total_pairs. rewrite (total_ext _ (fun y => total k zs * p y)); [rewrite total_scale; ring |].
  intros y _. unfold beside. cbn [fst snd]. rewrite total_scale. ring.
Qed.

Lemma nodup_pairs (ys : list Y) (zs : list Z) : NoDup ys -> NoDup zs -> NoDup (pairs ys zs).
Proof.
  intros Ny Nz. unfold pairs. induction ys as [| y ys IH]; simpl; [constructor |]. inversion Ny; subst. apply nodup_app; auto.
  - apply Injective_map_NoDup; auto. intros u v E. inversion E. auto.
  - intros [u v] I J. apply in_flat_map in I. destruct I as (w & Hw & I). apply in_map_iff in I, J.
    destruct I as (? & E & _), J as (? & F & _). inversion E; inversion F; subst. contradiction.
Qed.

(* @says Independent laws on infinitely many outcomes are one together. *)
Theorem beside_law p k : law_everywhere p -> law_everywhere k -> law_everywhere (beside p k).
Proof.
  intros (P & Up & Lp) (K & Uk & Lk).
  assert (N : forall o, 0 <= beside p k o) by (intros; apply Rmult_le_pos; auto).
  split; [exact N | split].
  - intros os Ho. eapply Rle_trans; [apply (total_incl _ N os _ Ho (in_sides os)) |]. rewrite total_beside.
    pose proof (Up _ (NoDup_nodup same_y (map fst os))). pose proof (Uk _ (NoDup_nodup same_z (map snd os))).
    rewrite <- (Rmult_1_l 1). apply Rmult_le_compat; auto; apply total_nonneg; auto.
  - intros gap Hg. destruct (Lp (gap / 2) ltac:(lra)) as (ys & Ny & A). destruct (Lk (gap / 2) ltac:(lra)) as (zs & Nz & B).
    exists (pairs ys zs). split; [apply nodup_pairs; auto |]. rewrite total_beside.
    specialize (Up ys Ny). specialize (Uk zs Nz).
    assert (0 <= (1 - total p ys) * (1 - total k zs)) by (apply Rmult_le_pos; lra). lra.
Qed.

(* @says And rho adds up. *)
Theorem beside_rho r s p q k l : (forall y, 0 <= p y /\ 0 <= q y /\ (0 < p y -> 0 < q y)) -> (forall z, 0 <= k z /\ 0 <= l z /\ (0 < k z -> 0 < l z)) ->
  concentrated_everywhere r p q -> concentrated_everywhere s k l -> concentrated_everywhere (r + s) (beside p k) (beside q l).
Proof.
  intros P K C D os Ho a Ha. set (ys := nodup same_y (map fst os)). set (zs := nodup same_z (map snd os)).
  assert (E : forall o, part a (beside p k o) (beside q l o) = beside (fun y => part a (p y) (q y)) (fun z => part a (k z) (l z)) o).
  { intros [y z]. unfold beside. cbn [fst snd]. destruct (P y) as (A1 & A2 & A3), (K z) as (B1 & B2 & B3). apply part_product; auto. }
  assert (N : forall o, 0 <= part a (beside p k o) (beside q l o)).
  { intros [y z]. apply part_nonneg. unfold beside. apply Rmult_le_pos; [apply P | apply K]. }
  eapply Rle_trans; [apply (total_incl _ N os (pairs ys zs) Ho (in_sides os)) |].
  rewrite (total_ext _ _ _ (fun o _ => E o)), total_beside.
  replace ((a - 1) * a * (r + s)) with ((a - 1) * a * r + (a - 1) * a * s) by ring. rewrite exp_plus.
  apply Rmult_le_compat; [| | apply C | apply D]; auto; try apply NoDup_nodup; apply total_nonneg; intros; apply part_nonneg; [apply P | apply K].
Qed.
End Product.

Lemma unchanged_rho {Y} (p : Y -> R) : law_everywhere p -> concentrated_everywhere 0 p p.
Proof.
  intros (P & U & _) ys N a Ha. rewrite Rmult_0_r, exp_0. apply Rle_trans with (total p ys); [| auto].
  apply total_le. intros y _. unfold part. destruct (Rlt_dec 0 (p y)) as [X | X]; [| apply P].
  replace (p y / p y) with 1 by (field; lra). unfold Rpower. rewrite ln_1, Rmult_0_r, exp_0. lra.
Qed.

(* Discrete Laplace noise: q = e^(-1/scale), (1 - q)/(1 + q) q^|z - centre|. *)
Section Laplace.
Variable q : R.
Hypothesis ratio_range : 0 < q < 1.
Fixpoint around (n : nat) : list Z :=
  match n with O => [0%Z] | S k => Z.of_nat (S k) :: (- Z.of_nat (S k))%Z :: around k end.

Lemma around_spec n z : In z (around n) <-> (Z.abs z <= Z.of_nat n)%Z.
Proof.
  induction n as [| n IH]; [simpl; lia |]. change (around (S n)) with (Z.of_nat (S n) :: (- Z.of_nat (S n))%Z :: around n).
  simpl In. rewrite IH. lia.
Qed.
Lemma around_nodup n : NoDup (around n).
Proof.
  induction n as [| n IH]; [repeat constructor; auto |].
  change (around (S n)) with (Z.of_nat (S n) :: (- Z.of_nat (S n))%Z :: around n).
  constructor; [| constructor; [| exact IH]].
  - intros [E | I]; [lia | apply around_spec in I; lia].
  - intros I. apply around_spec in I. lia.
Qed.
Lemma around_total n : total (laplace_chance q) (around n) = laplace_up_to q n.
Proof.
  induction n as [| n IH]; [simpl; lra |]. change (around (S n)) with (Z.of_nat (S n) :: (- Z.of_nat (S n))%Z :: around n).
  cbn [total laplace_up_to]. rewrite IH. lra.
Qed.
Lemma chance_pos z : 0 < laplace_chance q z.
Proof. unfold laplace_chance. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | apply pow_lt; lra]. Qed.

Lemma far_enough (zs : list Z) : exists n, incl zs (around n).
Proof.
  induction zs as [| z zs [n IH]]; [exists O; intros z [] |]. exists (Nat.max n (Z.abs_nat z)). intros y [<- | H]; apply around_spec; [lia |].
  specialize (IH y H). apply around_spec in IH. lia.
Qed.

Lemma laplace_around : law_everywhere (laplace_chance q).
Proof.
  split; [intros; left; apply chance_pos | split].
  - intros zs N. destruct (far_enough zs) as [n I].
    eapply Rle_trans; [apply (total_incl _ (fun z => Rlt_le _ _ (chance_pos z)) zs _ N I) |].
    rewrite around_total, laplace_total by auto.
    assert (0 <= 2 * q ^ S n / (1 + q)) by (apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply pow_le; lra] | left; apply Rinv_0_lt_compat; lra]). lra.
  - intros gap Hg. destruct (pow_lt_1_zero q ltac:(rewrite Rabs_right; lra) (gap / 2) ltac:(lra)) as [n Hn].
    exists (around n). split; [apply around_nodup |]. rewrite around_total, laplace_total by auto.
    specialize (Hn (S n) ltac:(lia)). rewrite Rabs_right in Hn by (apply Rle_ge, pow_le; lra).
    assert (0 <= q ^ S n) by (apply pow_le; lra).
    assert (2 * q ^ S n / (1 + q) <= 2 * q ^ S n).
    { unfold Rdiv. rewrite <- (Rmult_1_r (2 * q ^ S n)) at 2. apply Rmult_le_compat_l; [lra |]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
    lra.
Qed.
End Laplace.

(* A law moved by something that can be undone. *)
Lemma moved_law {Y} (p : Y -> R) (move back : Y -> Y) : (forall y, move (back y) = y) -> (forall y, back (move y) = y) ->
  law_everywhere p -> law_everywhere (fun y => p (move y)).
Proof.
  intros A B (P & U & L). split; [auto | split].
  - intros ys N. rewrite <- (total_map p move). apply U. apply Injective_map_NoDup; auto.
    intros u v E. rewrite <- (B u), <- (B v), E. auto.
  - intros gap Hg. destruct (L gap Hg) as (ys & N & H). exists (map back ys). split.
    + apply Injective_map_NoDup; auto. intros u v E. rewrite <- (A u), <- (A v), E. auto.
    + rewrite total_map. rewrite (total_ext _ p); auto. intros y _. rewrite A. auto.
Qed.

Definition laplace (scale : R) (centre z : Z) : R := laplace_chance (exp (- (1 / scale))) (z - centre).

Lemma ratio_of scale : 0 < scale -> 0 < exp (- (1 / scale)) < 1.
Proof.
  intros H. split; [apply exp_pos |]. assert (0 < 1 / scale) by (apply Rdiv_lt_0_compat; lra).
  pose proof (exp_increasing (- (1 / scale)) 0 ltac:(lra)) as E. rewrite exp_0 in E. exact E.
Qed.

Lemma laplace_value scale centre z : 0 < scale ->
  laplace scale centre z = (1 - exp (- (1 / scale))) / (1 + exp (- (1 / scale))) * laplace_weight scale centre z.
Proof.
  intros H. unfold laplace, laplace_chance, laplace_weight. f_equal.
  rewrite <- (Z2Nat.id (Z.abs (z - centre))) by lia. rewrite <- INR_IZR_INZ.
  replace (Z.abs_nat (z - centre)) with (Z.to_nat (Z.abs (z - centre))) by lia. generalize (Z.to_nat (Z.abs (z - centre))). intros n.
  induction n as [| n IH]; [simpl; unfold Rdiv; rewrite Rmult_0_l, Ropp_0, exp_0; auto |].
  cbn [pow]. rewrite IH, <- exp_plus. f_equal. rewrite S_INR. field. lra.
Qed.

(* @says Discrete Laplace noise around any centre is a law on all whole numbers, with weights e^(-|z - centre| / scale) and one constant for all centres. *)
Theorem laplace_everywhere scale centre : 0 < scale ->
  law_everywhere (laplace scale centre) /\
  forall z, laplace scale centre z = (1 - exp (- (1 / scale))) / (1 + exp (- (1 / scale))) * laplace_weight scale centre z.
Proof.
  intros H. split; [| intros; apply laplace_value; auto].
  apply (moved_law (laplace_chance (exp (- (1 / scale)))) (fun z => (z - centre)%Z) (fun z => (z + centre)%Z)); try (intros; lia).
  apply laplace_around, ratio_of, H.
Qed.

Lemma laplace_pos scale centre z : 0 < scale -> 0 < laplace scale centre z.
Proof. intros H. apply chance_pos, ratio_of, H. Qed.

Lemma laplace_close scale far s t : 0 < scale -> (Z.abs (s - t) <= far)%Z -> close_everywhere (IZR far / scale) (laplace scale s) (laplace scale t).
Proof.
  intros H F z. rewrite !laplace_value by auto. destruct (ratio_of scale H).
  assert (C : 0 <= (1 - exp (- (1 / scale))) / (1 + exp (- (1 / scale)))) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
  pose proof (laplace_private scale far s t z H F). pose proof (laplace_private scale far t s z H ltac:(lia)).
  split; rewrite (Rmult_comm (exp _)), Rmult_assoc, (Rmult_comm (laplace_weight _ _ _) (exp _)); apply Rmult_le_compat_l; auto.
Qed.

(* @says A number that one record moves by at most 1, discrete Laplace noise of scale 1/epsilon: epsilon, and epsilon^2/2 as zCDP. *)
Theorem single_count_costs eps s t : 0 < eps -> (Z.abs (s - t) <= 1)%Z ->
  private_everywhere eps 0 (laplace (1 / eps) s) (laplace (1 / eps) t) /\
  concentrated_everywhere (eps ^ 2 / 2) (laplace (1 / eps) s) (laplace (1 / eps) t).
Proof.
  intros He H. assert (P : 0 < 1 / eps) by (apply Rdiv_lt_0_compat; lra).
  apply (pure_everywhere Z.eq_dec); [lra | split; apply laplace_everywhere; auto |].
  replace eps with (1 / (1 / eps)) at 1 by (field; lra). apply (laplace_close (1 / eps) 1); auto.
Qed.

(* Several whole numbers. *)
Fixpoint vec (d : nat) : Type := match d with O => unit | S e => (Z * vec e)%type end.
Definition same_vec : forall d (v w : vec d), {v = w} + {v <> w}.
Proof.
  induction d as [| d IH]; intros v w; [left; destruct v, w; reflexivity |]. destruct v as [x v], w as [y w].
  destruct (Z.eq_dec x y) as [-> | N]; [| right; congruence]. destruct (IH v w) as [-> | M]; [left; auto | right; congruence].
Defined.

(* 1. Counts in disjoint cells, each with its own discrete Laplace noise. *)
Section Cells.
Variable scale : R.
Hypothesis scale_pos : 0 < scale.

Fixpoint cells_law (d : nat) : vec d -> vec d -> R :=
  match d with O => fun _ _ => 1 | S e => fun c z => laplace scale (fst c) (fst z) * cells_law e (snd c) (snd z) end.
(* How many cells' counts differ, and that each differs by at most 1. *)
Fixpoint apart (d : nat) : vec d -> vec d -> nat :=
  match d with O => fun _ _ => O | S e => fun b c => ((if Z.eq_dec (fst b) (fst c) then 0 else 1) + apart e (snd b) (snd c))%nat end.
Fixpoint by_one (d : nat) : vec d -> vec d -> Prop :=
  match d with O => fun _ _ => True | S e => fun b c => (Z.abs (fst b - fst c) <= 1)%Z /\ by_one e (snd b) (snd c) end.

Lemma cells_law_pos d : forall c z, 0 < cells_law d c z.
Proof. induction d as [| d IH]; intros c z; simpl; [lra | apply Rmult_lt_0_compat; [apply laplace_pos; auto | auto]]. Qed.

(* @says Discrete Laplace noise on every cell: a law on all tuples of whole numbers. *)
Theorem cells_everywhere d c : law_everywhere (cells_law d c).
Proof.
  induction d as [| d IH].
  - split; [intros; simpl; lra | split].
    + intros ys N. destruct ys as [| [] [| [] ys]]; simpl; try lra. inversion N; subst. exfalso. apply H1. left. auto.
    + intros gap Hg. exists [tt]. split; [repeat constructor; auto |]. simpl. lra.
  - destruct c as [c cs]. exact (beside_law Z.eq_dec (same_vec d) (laplace scale c) (cells_law d cs) (proj1 (laplace_everywhere scale c scale_pos)) (IH cs)).
Qed.

Lemma cells_close d : forall b c, by_one d b c -> forall z, cells_law d b z <= exp (INR (apart d b c) / scale) * cells_law d c z.
Proof.
  induction d as [| d IH]; intros b c H z; simpl; [unfold Rdiv; rewrite Rmult_0_l, exp_0; lra |].
  destruct H as [H1 H2]. specialize (IH _ _ H2 (snd z)). rewrite plus_INR.
  replace ((INR (if Z.eq_dec (fst b) (fst c) then 0 else 1) + INR (apart d (snd b) (snd c))) / scale)
    with (INR (if Z.eq_dec (fst b) (fst c) then 0 else 1) / scale + INR (apart d (snd b) (snd c)) / scale) by (field; lra).
  rewrite exp_plus.
  assert (A : laplace scale (fst b) (fst z) <= exp (INR (if Z.eq_dec (fst b) (fst c) then 0 else 1) / scale) * laplace scale (fst c) (fst z)).
  { destruct (Z.eq_dec (fst b) (fst c)) as [-> | N]; [simpl; unfold Rdiv; rewrite Rmult_0_l, exp_0; lra |]. apply (laplace_close scale 1 _ _ scale_pos H1). }
  pose proof (laplace_pos scale (fst b) (fst z) scale_pos). pose proof (cells_law_pos d (snd b) (snd z)).
  match goal with |- _ <= ?e * ?f * (?g * ?h) => replace (e * f * (g * h)) with (e * g * (f * h)) by ring end.
  apply Rmult_le_compat; lra.
Qed.

Lemma cells_rho d : forall b c, by_one d b c -> concentrated_everywhere (INR (apart d b c) * ((1 / scale) ^ 2 / 2)) (cells_law d b) (cells_law d c).
Proof.
  induction d as [| d IH]; intros b c H.
  - simpl. rewrite Rmult_0_l. destruct b, c. apply (unchanged_rho (cells_law 0 tt)), (cells_everywhere 0 tt).
  - destruct H as [H1 H2]. destruct b as [b bs], c as [c cs]. cbn [fst snd] in *.
    assert (P : forall s z, 0 <= laplace scale s z) by (intros; left; apply laplace_pos; auto).
    assert (Q : forall s z, 0 <= cells_law d s z) by (intros; left; apply cells_law_pos).
    assert (one : concentrated_everywhere (INR (if Z.eq_dec b c then 0 else 1) * ((1 / scale) ^ 2 / 2)) (laplace scale b) (laplace scale c)).
    { destruct (Z.eq_dec b c) as [-> | N].
      - replace (INR 0 * ((1 / scale) ^ 2 / 2)) with 0 by (simpl; ring). apply unchanged_rho, laplace_everywhere; auto.
      - replace (INR 1 * ((1 / scale) ^ 2 / 2)) with ((1 / scale) ^ 2 / 2) by (simpl; ring).
        apply (pure_everywhere Z.eq_dec); [left; apply Rdiv_lt_0_compat; lra | split; apply laplace_everywhere; auto |].
        apply (laplace_close scale 1); auto. }
    pose proof (beside_rho Z.eq_dec (same_vec d) _ _ (laplace scale b) (laplace scale c) (cells_law d bs) (cells_law d cs)
      ltac:(intros y; repeat split; auto; intros; apply laplace_pos; auto) ltac:(intros z; repeat split; auto; intros; apply cells_law_pos)
      one (IH bs cs H2)) as R.
    replace (INR (apart (S d) (b, bs) (c, cs)) * ((1 / scale) ^ 2 / 2))
      with (INR (if Z.eq_dec b c then 0 else 1) * ((1 / scale) ^ 2 / 2) + INR (apart d bs cs) * ((1 / scale) ^ 2 / 2)); [exact R |].
    cbn [apart fst snd]. rewrite plus_INR. ring.
Qed.
End Cells.

(* The counts of a table: a record lies in one of the cells 0 ... d-1 of all groups and categories, or in none. *)
Section Tally.
Context {Row : Type}.
Variable cell : Row -> option nat.
Notation number c rows := (count (fun (_ : unit) => in_cell cell c) tt rows).
Fixpoint tally (d : nat) (rows : list Row) : vec d :=
  match d with O => tt | S e => (number e rows, tally e rows) end.

Lemma one_apart d x rows : by_one d (tally d (x :: rows)) (tally d rows) /\ by_one d (tally d rows) (tally d (x :: rows)) /\
  (apart d (tally d (x :: rows)) (tally d rows) <= match cell x with Some k => if Nat.ltb k d then 1 else 0 | None => 0 end)%nat /\
  apart d (tally d rows) (tally d (x :: rows)) = apart d (tally d (x :: rows)) (tally d rows).
Proof.
  induction d as [| d (A & B & C & D)]; [simpl; repeat split; auto; destruct (cell x); lia |].
  cbn [tally by_one apart fst snd]. rewrite D.
  assert (E : number d (x :: rows) = ((if in_cell cell d x then 1 else 0) + number d rows)%Z) by apply count_one_more. rewrite E.
  repeat split; auto; try (destruct (in_cell cell d x); lia).
  - unfold in_cell. destruct (cell x) as [k |]; [| destruct (Z.eq_dec _ _); lia].
    destruct (Nat.eqb_spec k d) as [-> | N].
    + assert (Nat.ltb d d = false) as L by (apply Nat.ltb_ge; lia). rewrite L in C.
      assert (Nat.ltb d (S d) = true) as M by (apply Nat.ltb_lt; lia). rewrite M. destruct (Z.eq_dec _ _); lia.
    + assert (Nat.ltb k (S d) = Nat.ltb k d) as L by (destruct (Nat.ltb_spec k d); [apply Nat.ltb_lt; lia | apply Nat.ltb_ge; lia]).
      rewrite L. destruct (Z.eq_dec _ _); lia.
  - destruct (Z.eq_dec (number d rows) _), (Z.eq_dec _ (number d rows)); lia.
Qed.

Lemma two_apart d x x' rows : by_one d (tally d (x :: rows)) (tally d (x' :: rows)) /\ (apart d (tally d (x :: rows)) (tally d (x' :: rows)) <= 2)%nat.
Proof.
  assert (G : by_one d (tally d (x :: rows)) (tally d (x' :: rows)) /\
    (apart d (tally d (x :: rows)) (tally d (x' :: rows)) <=
     apart d (tally d (x :: rows)) (tally d rows) + apart d (tally d (x' :: rows)) (tally d rows))%nat).
  { induction d as [| d [A B]]; [simpl; auto |]. cbn [tally by_one apart fst snd].
    assert (E : forall r, number d (r :: rows) = ((if in_cell cell d r then 1 else 0) + number d rows)%Z) by (intros; apply count_one_more).
    rewrite !E. split; [split; [destruct (in_cell cell d x), (in_cell cell d x'); lia | auto] |].
    destruct (in_cell cell d x), (in_cell cell d x'); repeat destruct (Z.eq_dec _ _); lia. }
  destruct G as [G H]. split; [auto |]. destruct (one_apart d x rows) as (_ & _ & A & _), (one_apart d x' rows) as (_ & _ & B & _).
  destruct (cell x) as [k |], (cell x') as [l |]; repeat match goal with |- context [Nat.ltb ?a ?b] => destruct (Nat.ltb a b) end;
    repeat match goal with H : context [Nat.ltb ?a ?b] |- _ => destruct (Nat.ltb a b) end; lia.
Qed.

Variables (eps : R) (d : nat).
Hypothesis eps_pos : 0 < eps.
Notation counted scale rows := (cells_law scale d (tally d rows)).

Lemma cells_cost scale k b c : 0 < scale -> by_one d b c -> (apart d b c <= k)%nat ->
  private_everywhere (INR k / scale) 0 (cells_law scale d b) (cells_law scale d c) /\
  concentrated_everywhere (INR k * ((1 / scale) ^ 2 / 2)) (cells_law scale d b) (cells_law scale d c).
Proof.
  intros P B K. apply le_INR in K. assert (I : 0 < / scale) by (apply Rinv_0_lt_compat; auto). split.
  - intros ys N. apply private_pointwise. intros z _. eapply Rle_trans; [apply (cells_close scale P d b c B) |].
    apply Rmult_le_compat_r; [left; apply cells_law_pos; auto |]. apply exp_le. apply Rmult_le_compat_r; lra.
  - intros ys N. eapply concentrated_more; [| apply (cells_rho scale P d b c B ys N)]. apply Rmult_le_compat_r; [| auto].
    assert (0 <= (1 / scale) ^ 2) by apply pow2_ge_0. lra.
Qed.

(* @says Counts in disjoint cells, discrete Laplace noise of scale 1/epsilon on each, a record more or less: epsilon, and epsilon^2/2 as zCDP. *)
Theorem cells_cost_added x rows :
  (private_everywhere eps 0 (counted (1 / eps) (x :: rows)) (counted (1 / eps) rows) /\
   concentrated_everywhere (eps ^ 2 / 2) (counted (1 / eps) (x :: rows)) (counted (1 / eps) rows)) /\
  (private_everywhere eps 0 (counted (1 / eps) rows) (counted (1 / eps) (x :: rows)) /\
   concentrated_everywhere (eps ^ 2 / 2) (counted (1 / eps) rows) (counted (1 / eps) (x :: rows))).
Proof.
  assert (P : 0 < 1 / eps) by (apply Rdiv_lt_0_compat; lra). destruct (one_apart d x rows) as (A & B & C & D).
  assert (K : (apart d (tally d (x :: rows)) (tally d rows) <= 1)%nat).
  { destruct (cell x) as [k |]; [destruct (Nat.ltb k d) |]; lia. }
  pose proof (cells_cost (1 / eps) 1 _ _ P A K) as U. pose proof (cells_cost (1 / eps) 1 _ _ P B ltac:(rewrite D; exact K)) as V.
  replace (INR 1 / (1 / eps)) with eps in * by (simpl; field; lra).
  replace (INR 1 * ((1 / (1 / eps)) ^ 2 / 2)) with (eps ^ 2 / 2) in * by (simpl; field; lra). auto.
Qed.

(* @says Of scale 2/epsilon, a record replaced, which may leave one cell for another: epsilon, and epsilon^2/4 as zCDP. *)
Theorem cells_cost_replaced x x' rows :
  private_everywhere eps 0 (counted (2 / eps) (x :: rows)) (counted (2 / eps) (x' :: rows)) /\
  concentrated_everywhere (eps ^ 2 / 4) (counted (2 / eps) (x :: rows)) (counted (2 / eps) (x' :: rows)).
Proof.
  assert (P : 0 < 2 / eps) by (apply Rdiv_lt_0_compat; lra). destruct (two_apart d x x' rows) as [A K].
  pose proof (cells_cost (2 / eps) 2 _ _ P A K) as U.
  replace (INR 2 / (2 / eps)) with eps in U by (simpl; field; lra).
  replace (INR 2 * ((1 / (2 / eps)) ^ 2 / 2)) with (eps ^ 2 / 4) in U by (simpl; field; lra). exact U.
Qed.
End Tally.

(* 2. Cube noise. Weights that add up to a bounded number make a law, and one that is moved has the same constant. *)
Section Weights.
Context {Y : Type}.
Variables (w : Y -> R) (most : R) (first : Y).
Hypothesis weights : (forall y, 0 <= w y) /\ 0 < w first.
Hypothesis bounded : forall ys, NoDup ys -> total w ys <= most.

Lemma weights_law : exists all, 0 < all /\ law_everywhere (fun y => w y / all).
Proof.
  destruct weights as [W F].
  destruct (completeness (fun r => exists ys, NoDup ys /\ r = total w ys)) as [all [U L]].
  - exists most. intros r (ys & N & ->). auto.
  - exists (total w []). exists []. split; [constructor | auto].
  - assert (A : 0 < all).
    { assert (total w [first] <= all) by (apply U; exists [first]; split; [repeat constructor; auto | auto]). simpl in H. lra. }
    assert (I : 0 < / all) by (apply Rinv_0_lt_compat; auto).
    assert (E : forall ys, total (fun y => w y / all) ys = total w ys / all).
    { intros ys. unfold Rdiv. rewrite (total_ext _ (fun y => / all * w y)) by (intros; ring). rewrite total_scale. ring. }
    exists all. split; [auto |]. split; [intros; apply Rmult_le_pos; [auto | lra] | split].
    + intros ys N. rewrite E. apply Rmult_le_reg_r with all; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      assert (total w ys <= all) by (apply U; exists ys; auto). lra.
    + intros gap Hg. assert (G : 0 < gap * all) by (apply Rmult_lt_0_compat; auto).
      assert (X : exists ys, NoDup ys /\ all - gap * all < total w ys).
      { destruct (Classical_Prop.classic (exists ys, NoDup ys /\ all - gap * all < total w ys)) as [X | X]; [auto | exfalso].
        assert (all <= all - gap * all); [| lra]. apply L. intros r (ys & N & ->).
        destruct (Rle_dec (total w ys) (all - gap * all)) as [Le | Le]; [auto |]. exfalso. apply X. exists ys. split; [auto | lra]. }
      destruct X as (ys & N & X). exists ys. split; [auto |]. rewrite E. apply Rmult_lt_reg_r with all; auto.
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
End Weights.

Fixpoint listed (d : nat) : vec d -> list Z := match d with O => fun _ => [] | S e => fun v => fst v :: listed e (snd v) end.
Fixpoint shifted (d : nat) : list Z -> vec d -> vec d :=
  match d with O => fun _ v => v | S e => fun c v => ((fst v - hd 0 c)%Z, shifted e (tl c) (snd v)) end.
Fixpoint shifted_back (d : nat) : list Z -> vec d -> vec d :=
  match d with O => fun _ v => v | S e => fun c v => ((fst v + hd 0 c)%Z, shifted_back e (tl c) (snd v)) end.
Fixpoint middle (d : nat) : vec d := match d with O => tt | S e => (0%Z, middle e) end.

Lemma shifted_undone d : forall c v, shifted d c (shifted_back d c v) = v /\ shifted_back d c (shifted d c v) = v.
Proof.
  induction d as [| d IH]; intros c v; [auto |]. destruct v as [x v]. cbn [shifted shifted_back fst snd].
  destruct (IH (tl c) v) as [-> ->]. split; f_equal; lia.
Qed.
Lemma shifted_listed d : forall c v, length c = d -> listed d (shifted d c v) = vector_minus (listed d v) c.
Proof.
  induction d as [| d IH]; intros [| x c] v L; cbn [length] in L; try lia; [auto |].
  cbn [listed shifted vector_minus fst snd hd tl]. rewrite IH by lia. auto.
Qed.
Lemma listed_length d v : length (listed d v) = d.
Proof. induction d as [| d IH]; cbn [listed length]; auto. Qed.

(* The largest coordinate is no less than the mean of their sizes, so weights are at most products. *)
Fixpoint sizes (d : nat) : vec d -> nat := match d with O => fun _ => O | S e => fun v => (Z.abs_nat (fst v) + sizes e (snd v))%nat end.
Lemma sizes_largest d v : (Z.of_nat (sizes d v) <= Z.of_nat d * largest (listed d v))%Z.
Proof.
  induction d as [| d IH]; [simpl; lia |]. destruct v as [x v]. cbn [sizes listed largest fst snd]. specialize (IH v).
  pose proof (largest_nonneg (listed d v)). nia.
Qed.

Lemma products_bounded r : 0 < r < 1 -> forall d (vs : list (vec d)), NoDup vs -> total (fun v => r ^ sizes d v) vs <= ((1 + r) / (1 - r)) ^ d.
Proof.
  intros Hr. assert (C : 0 < (1 + r) / (1 - r)) by (apply Rdiv_lt_0_compat; lra).
  induction d as [| d IH]; intros vs N.
  - destruct vs as [| [] [| [] vs]]; simpl; try lra. inversion N; subst. exfalso. apply H1. left. auto.
  - set (heads := nodup Z.eq_dec (map fst vs)). set (tails := nodup (same_vec d) (map snd vs)).
    apply Rle_trans with (total (beside (fun x => r ^ Z.abs_nat x) (fun v => r ^ sizes d v)) (pairs heads tails)).
    + rewrite (total_ext _ (beside (fun x => r ^ Z.abs_nat x) (fun v : vec d => r ^ sizes d v))) by (intros [x v] _; cbn [sizes]; rewrite pow_add; auto).
      apply total_incl; auto; [| apply in_sides]. intros [x v]. apply Rmult_le_pos; apply pow_le; lra.
    + rewrite total_beside. cbn [pow].
      assert (H : total (fun x => r ^ Z.abs_nat x) heads <= (1 + r) / (1 - r)).
      { destruct (laplace_around r Hr) as (_ & U & _). specialize (U heads (NoDup_nodup _ _)). unfold laplace_chance in U. rewrite total_scale in U.
        apply Rmult_le_reg_l with ((1 - r) / (1 + r)); [apply Rdiv_lt_0_compat; lra |].
        replace ((1 - r) / (1 + r) * ((1 + r) / (1 - r))) with 1 by (field; lra). exact U. }
      specialize (IH tails (NoDup_nodup _ _)).
      apply Rmult_le_compat; auto; apply total_nonneg; intros; apply pow_le; lra.
Qed.

Section CubeNoise.
Variables (d : nat) (scale : R).
Hypothesis positive : (0 < d)%nat /\ 0 < scale.

Lemma cube_bounded (vs : list (vec d)) : NoDup vs ->
  total (fun v => exp (- (IZR (largest (listed d v)) / scale))) vs <= ((1 + exp (- (1 / (INR d * scale)))) / (1 - exp (- (1 / (INR d * scale))))) ^ d.
Proof.
  intros N. destruct positive as [Hd Hs]. assert (D : 0 < INR d) by (apply lt_0_INR; auto).
  assert (DS : 0 < INR d * scale) by (apply Rmult_lt_0_compat; auto). set (r := exp (- (1 / (INR d * scale)))).
  eapply Rle_trans; [| apply (products_bounded r (ratio_of _ DS) d vs N)]. apply total_le. intros v _.
  assert (E : forall n, r ^ n = exp (- (INR n / (INR d * scale)))).
  { induction n as [| n IH]; [simpl; unfold Rdiv; rewrite Rmult_0_l, Ropp_0, exp_0; auto |].
    cbn [pow]. rewrite IH. unfold r. rewrite <- exp_plus. f_equal. rewrite S_INR. field. lra. }
  rewrite E. apply exp_le. pose proof (sizes_largest d v) as S. apply IZR_le in S. rewrite mult_IZR, <- !INR_IZR_INZ in S.
  apply Ropp_le_contravar. apply Rmult_le_reg_r with (INR d * scale); auto.
  replace (INR (sizes d v) / (INR d * scale) * (INR d * scale)) with (INR (sizes d v)) by (field; lra).
  replace (IZR (largest (listed d v)) / scale * (INR d * scale)) with (INR d * IZR (largest (listed d v))) by (field; lra). exact S.
Qed.

Definition cube_law (all : R) (centre : list Z) (v : vec d) : R := cube_weight scale centre (listed d v) / all.

(* @says Cube noise around any centre is a law on all tuples of whole numbers, and one constant makes it one whatever the centre is. *)
Theorem cube_everywhere : exists all, 0 < all /\ forall centre, length centre = d -> law_everywhere (cube_law all centre).
Proof.
  set (w := fun v => exp (- (IZR (largest (listed d v)) / scale))).
  destruct (weights_law w _ (middle d) (conj (fun v => Rlt_le _ _ (exp_pos _)) (exp_pos _)) cube_bounded) as (all & A & L).
  exists all. split; [auto |]. intros centre Hc.
  pose proof (moved_law _ (shifted d centre) (shifted_back d centre) (fun v => proj1 (shifted_undone d centre v)) (fun v => proj2 (shifted_undone d centre v)) L) as M.
  assert (E : forall v, cube_law all centre v = w (shifted d centre v) / all).
  { intros v. unfold cube_law, cube_weight, noise_weight, norm, w. rewrite (shifted_listed d centre v Hc). auto. }
  destruct M as (M1 & M2 & M3). split; [intros v; rewrite E; auto | split].
  - intros vs N. rewrite (total_ext _ _ _ (fun v _ => E v)). auto.
  - intros gap Hg. destruct (M3 gap Hg) as (vs & N & H). exists vs. split; [auto |]. rewrite (total_ext _ _ _ (fun v _ => E v)). auto.
Qed.

Variables (all : R) (eps : R).
Hypothesis constant : 0 < all /\ forall centre, length centre = d -> law_everywhere (cube_law all centre).
Hypothesis eps_nonneg : 0 <= eps.

(* @says Cube noise on sums whose noised values weigh at most e^epsilon times as much on a neighbour, both ways: epsilon, and epsilon^2/2 as zCDP. *)
Theorem cube_costs s t : length s = d -> length t = d ->
  (forall out, length out = d -> cube_weight scale s out <= exp eps * cube_weight scale t out) ->
  (forall out, length out = d -> cube_weight scale t out <= exp eps * cube_weight scale s out) ->
  private_everywhere eps 0 (cube_law all s) (cube_law all t) /\ concentrated_everywhere (eps ^ 2 / 2) (cube_law all s) (cube_law all t).
Proof.
  intros Hs Ht A B. destruct constant as [P L]. apply (pure_everywhere (same_vec d)); auto. intros v.
  specialize (A (listed d v) (listed_length d v)). specialize (B (listed d v) (listed_length d v)). unfold cube_law, Rdiv.
  assert (I : 0 < / all) by (apply Rinv_0_lt_compat; auto).
  split; rewrite <- Rmult_assoc; apply Rmult_le_compat_r; lra.
Qed.
End CubeNoise.

(* Sums of contributions from -h to h, as the program prices them. *)
Section SumsCost.
Variables (d : nat) (h : Z) (eps : R).
Hypothesis positive : (0 < d)%nat /\ (0 < h)%Z /\ 0 < eps.
Notation noised scale all s := (cube_law d scale all s).
Notation constant scale all := (0 < all /\ forall centre, length centre = d -> law_everywhere (cube_law d scale all centre)).
Notation fit := (fits d h).
Notation added := (sums d).

Lemma sums_of_length rows : Forall fit rows -> length (added rows) = d.
Proof. apply sums_length. Qed.

(* @says Sums of contributions of size at most h, cube noise of scale 2h/epsilon, a record replaced: epsilon, and epsilon^2/2 as zCDP. *)
Theorem sums_cost_replaced all c c' rows : constant (2 * IZR h / eps) all -> Forall fit rows -> fit c -> fit c' ->
  private_everywhere eps 0 (noised (2 * IZR h / eps) all (added (c :: rows))) (noised (2 * IZR h / eps) all (added (c' :: rows))) /\
  concentrated_everywhere (eps ^ 2 / 2) (noised (2 * IZR h / eps) all (added (c :: rows))) (noised (2 * IZR h / eps) all (added (c' :: rows))).
Proof.
  intros K R C C'. destruct positive as (Hd & Hh & He). assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  apply cube_costs; auto; try lra; try (apply sums_of_length; constructor; auto);
    intros out Ho; apply (sums_replace d h eps (conj He Hh)); auto.
Qed.

(* @says Of scale h/epsilon, a record more or less: epsilon, and epsilon^2/2 as zCDP. *)
Theorem sums_cost_added all c rows : constant (IZR h / eps) all -> Forall fit rows -> fit c ->
  (private_everywhere eps 0 (noised (IZR h / eps) all (added (c :: rows))) (noised (IZR h / eps) all (added rows)) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised (IZR h / eps) all (added (c :: rows))) (noised (IZR h / eps) all (added rows))) /\
  (private_everywhere eps 0 (noised (IZR h / eps) all (added rows)) (noised (IZR h / eps) all (added (c :: rows))) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised (IZR h / eps) all (added rows)) (noised (IZR h / eps) all (added (c :: rows)))).
Proof.
  intros K R C. destruct positive as (Hd & Hh & He). assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  split; apply cube_costs; auto; try lra; try (apply sums_of_length; auto; constructor; auto);
    intros out Ho; apply (sums_add_remove d h eps (conj He Hh)); auto.
Qed.
(* @says Of scale 2h/epsilon in every group, a record that moves from one group to another: both groups together cost epsilon, and epsilon^2/2 as zCDP. *)
Theorem sums_cost_moved all c c' here there : constant (2 * IZR h / eps) all -> Forall fit here -> Forall fit there -> fit c -> fit c' ->
  let before := beside (noised (2 * IZR h / eps) all (added (c :: here))) (noised (2 * IZR h / eps) all (added there)) in
  let after := beside (noised (2 * IZR h / eps) all (added here)) (noised (2 * IZR h / eps) all (added (c' :: there))) in
  private_everywhere eps 0 before after /\ concentrated_everywhere (eps ^ 2 / 2) before after.
Proof.
  intros [A L] H T C C' before after. destruct positive as (Hd & Hh & He). assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  assert (same : forall o o' : vec d * vec d, {o = o'} + {o <> o'}).
  { intros [u v] [u' v']. destruct (same_vec d u u') as [-> | N]; [| right; congruence]. destruct (same_vec d v v') as [-> | N]; [left; auto | right; congruence]. }
  assert (len : forall rows, Forall fit rows -> length (added rows) = d) by (intros; apply sums_of_length; auto).
  assert (I : 0 < / all) by (apply Rinv_0_lt_compat; auto).
  apply (pure_everywhere same); [lra | |].
  - subst before after. split; apply (beside_law (same_vec d) (same_vec d)); apply L; apply len; auto.
  - intros [u v]. subst before after. unfold beside, cube_law, Rdiv. cbn [fst snd].
    pose proof (sums_groups_move d h eps (conj He Hh) c c' here there H T C C' (listed d u) (listed d v) (listed_length d u) (listed_length d v)) as F.
    pose proof (sums_groups_move d h eps (conj He Hh) c' c there here T H C' C (listed d v) (listed d u) (listed_length d v) (listed_length d u)) as G.
    assert (P : 0 < / all * / all) by (apply Rmult_lt_0_compat; auto).
    apply (Rmult_le_compat_l (/ all * / all)) in F; [| lra]. apply (Rmult_le_compat_l (/ all * / all)) in G; [| lra].
    unfold Rdiv in F, G. split; lra.
Qed.
End SumsCost.

(* @says The three counts of the check before a release, cube noise of scale 1/epsilon: epsilon, and epsilon^2/2 as zCDP, a record replaced. *)
Theorem check_costs {Row : Type} (there odd : nat -> Row -> bool) (unlisted : Row -> bool) columns eps all x x' rows : 0 < eps ->
  (0 < all /\ forall centre, length centre = 3%nat -> law_everywhere (cube_law 3 (1 / eps) all centre)) ->
  let told rows := cube_law 3 (1 / eps) all (counts there odd unlisted columns rows) in
  private_everywhere eps 0 (told (x :: rows)) (told (x' :: rows)) /\ concentrated_everywhere (eps ^ 2 / 2) (told (x :: rows)) (told (x' :: rows)).
Proof.
  intros He K told. apply cube_costs; auto; try lra; intros out Ho; apply check_private; auto.
Qed.

(* @says And where a record comes or goes. *)
Theorem check_costs_added {Row : Type} (there odd : nat -> Row -> bool) (unlisted : Row -> bool) columns eps all x rows : 0 < eps ->
  (0 < all /\ forall centre, length centre = 3%nat -> law_everywhere (cube_law 3 (1 / eps) all centre)) ->
  let told rows := cube_law 3 (1 / eps) all (counts there odd unlisted columns rows) in
  (private_everywhere eps 0 (told (x :: rows)) (told rows) /\ concentrated_everywhere (eps ^ 2 / 2) (told (x :: rows)) (told rows)) /\
  (private_everywhere eps 0 (told rows) (told (x :: rows)) /\ concentrated_everywhere (eps ^ 2 / 2) (told rows) (told (x :: rows))).
Proof.
  intros He K told. assert (L : 0 <= eps) by lra.
  split; (apply cube_costs; [exact K | exact L | reflexivity | reflexivity | |]); intros out Ho; apply (check_add_remove there odd unlisted columns eps x rows He out Ho).
Qed.

(* @says Sums of contributions from 0 to h (numbers of missing cells), cube noise of scale h/epsilon, a record replaced: epsilon, and epsilon^2/2 as zCDP. *)
Theorem sums_from_an_end_cost d h eps all c c' rows : (0 < d)%nat /\ (0 < h)%Z /\ 0 < eps ->
  (0 < all /\ forall centre, length centre = d -> law_everywhere (cube_law d (IZR h / eps) all centre)) ->
  Forall (fits_from_an_end d h) rows -> fits_from_an_end d h c -> fits_from_an_end d h c' ->
  private_everywhere eps 0 (cube_law d (IZR h / eps) all (sums d (c :: rows))) (cube_law d (IZR h / eps) all (sums d (c' :: rows))) /\
  concentrated_everywhere (eps ^ 2 / 2) (cube_law d (IZR h / eps) all (sums d (c :: rows))) (cube_law d (IZR h / eps) all (sums d (c' :: rows))).
Proof.
  intros (Hd & Hh & He) K F C C'. assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  assert (W : forall v, fits_from_an_end d h v -> fits d h v).
  { intros v [L B]. split; [auto |]. eapply Forall_impl; [| exact B]. intros z Hz. cbv beta in Hz. lia. }
  assert (len : forall rows, Forall (fits_from_an_end d h) rows -> length (sums d rows) = d).
  { intros rs H. apply (sums_length d h). eapply Forall_impl; [| exact H]. auto. }
  apply cube_costs; auto; try lra; try (apply len; constructor; auto);
    intros out Ho; apply (sums_from_an_end_replace d h eps (conj He Hh)); auto.
Qed.

(* Depth of released points. *)
Section Certificate.
Context {Row Half Point : Type}.
Variables (inside : Half -> Point -> Row -> bool) (halves : list Half) (y : Point) (eps : R).
Hypothesis eps_pos : 0 < eps.
Notation deep rows := (depth Row Half Point inside halves rows y).

(* @says The depth of a released point, discrete Laplace noise of scale 1/epsilon, a record replaced, more or less: epsilon, and epsilon^2/2 as zCDP. *)
Theorem certificate_costs x x' rows :
  (private_everywhere eps 0 (laplace (1 / eps) (deep (x :: rows))) (laplace (1 / eps) (deep (x' :: rows))) /\
   concentrated_everywhere (eps ^ 2 / 2) (laplace (1 / eps) (deep (x :: rows))) (laplace (1 / eps) (deep (x' :: rows)))) /\
  (private_everywhere eps 0 (laplace (1 / eps) (deep (x :: rows))) (laplace (1 / eps) (deep rows)) /\
   concentrated_everywhere (eps ^ 2 / 2) (laplace (1 / eps) (deep (x :: rows))) (laplace (1 / eps) (deep rows))) /\
  (private_everywhere eps 0 (laplace (1 / eps) (deep rows)) (laplace (1 / eps) (deep (x :: rows))) /\
   concentrated_everywhere (eps ^ 2 / 2) (laplace (1 / eps) (deep rows)) (laplace (1 / eps) (deep (x :: rows)))).
Proof.
  pose proof (depth_one_more Row Half Point inside halves x rows y). pose proof (depth_replaced Row Half Point inside halves x x' rows y).
  split; [| split]; apply single_count_costs; auto; lia.
Qed.

(* @says One in every group, scale 2/epsilon, a record that moves: both groups' together cost epsilon, and epsilon^2/2 as zCDP. *)
Theorem certificate_cost_moved x x' here there :
  let before := beside (laplace (2 / eps) (deep (x :: here))) (laplace (2 / eps) (deep there)) in
  let after := beside (laplace (2 / eps) (deep here)) (laplace (2 / eps) (deep (x' :: there))) in
  private_everywhere eps 0 before after /\ concentrated_everywhere (eps ^ 2 / 2) before after.
Proof.
  intros before after. assert (P : 0 < 2 / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (same : forall o o' : Z * Z, {o = o'} + {o <> o'}).
  { intros [u v] [u' v']. destruct (Z.eq_dec u u') as [-> | N]; [| right; congruence]. destruct (Z.eq_dec v v') as [-> | N]; [left; auto | right; congruence]. }
  pose proof (depth_one_more Row Half Point inside halves x here y). pose proof (depth_one_more Row Half Point inside halves x' there y).
  apply (pure_everywhere same); [lra | split; apply (beside_law Z.eq_dec Z.eq_dec); apply laplace_everywhere; auto |].
  intros [u v]. subst before after. unfold beside. cbn [fst snd].
  destruct (laplace_close (2 / eps) 1 (deep (x :: here)) (deep here) P ltac:(lia) u) as [A B].
  destruct (laplace_close (2 / eps) 1 (deep there) (deep (x' :: there)) P ltac:(lia) v) as [C D].
  replace (IZR 1 / (2 / eps)) with (eps / 2) in * by (simpl; field; lra).
  replace (exp eps) with (exp (eps / 2) * exp (eps / 2)) by (rewrite <- exp_plus; f_equal; field).
  pose proof (fun c z => Rlt_le _ _ (laplace_pos (2 / eps) c z P)) as N.
  split; match goal with |- _ <= ?e * ?f * (?g * ?k) => replace (e * f * (g * k)) with (e * g * (f * k)) by ring end;
    apply Rmult_le_compat; auto.
Qed.
End Certificate.

(* 3. A clipped mean, step by step: cells around the centre by the most records on one side of a column's, radii by the most
   records farther away, and the sums of what is left between, with cube noise. Each step is chosen by the ones before. *)
Section ClippedMean.
Context {Row Cell Rung : Type}.
Variables (cells : list Cell) (rungs : list Rung) (weight : Rung -> R).
Variables (aside : nat -> Cell -> Row -> bool) (farther : Cell -> nat -> Rung -> Row -> bool) (columns : list nat).
Variables (d : nat) (h : Z) (clipped : Cell -> Rung -> Row -> list Z) (all : R) (ys : list (vec d)).
Hypothesis some : cells <> [] /\ rungs <> [] /\ (forall r, In r rungs -> 0 < weight r) /\ NoDup ys.
Hypothesis clips : forall c r x, fits d h (clipped c r x).
Variables (e1 e2 e3 : R).
Hypothesis positive : (0 < d)%nat /\ (0 < h)%Z /\ 0 < e1 /\ 0 < e2 /\ 0 < e3.
Notation one_constant scale := (0 < all /\ forall centre, length centre = d -> law_everywhere (cube_law d scale all centre)).

Definition centre_drawn (kappa : R) (rows : list Row) : Cell -> R :=
  draw cells (fun _ => 1) kappa (real (fun rows y => - most_beyond Row Cell aside columns rows y)%Z rows).
Definition radii_drawn (kappa : R) (c : Cell) (rows : list Row) : Rung -> R :=
  draw rungs weight kappa (real (fun rows y => - most_beyond Row Rung (farther c) columns rows y)%Z rows).
Definition sums_noised (scale : R) (c : Cell) (r : Rung) (rows : list Row) : option (vec d) -> R :=
  seen ys (cube_law d scale all (sums d (map (clipped c r) rows))).
Definition clipped_mean (k1 k2 scale : R) (rows : list Row) : Cell * (Rung * option (vec d)) -> R :=
  joint (centre_drawn k1 rows) (fun c => joint (radii_drawn k2 c rows) (fun r => sums_noised scale c r rows)).

Lemma all_fit c r rows : Forall (fits d h) (map (clipped c r) rows).
Proof. apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as (x & <- & _). apply clips. Qed.

Lemma three_steps k1 k2 scale s t : one_constant scale ->
  private e1 0 (centre_drawn k1 s) (centre_drawn k1 t) cells ->
  (forall c, private e2 0 (radii_drawn k2 c s) (radii_drawn k2 c t) rungs) ->
  (forall c r, close_everywhere e3 (cube_law d scale all (sums d (map (clipped c r) s))) (cube_law d scale all (sums d (map (clipped c r) t)))) ->
  private (e1 + e2 + e3) 0 (clipped_mean k1 k2 scale s) (clipped_mean k1 k2 scale t) (pairs cells (pairs rungs (window ys))).
Proof.
  intros [A L] P1 P2 P3. destruct some as (Hc & Hr & W & N). destruct positive as (Hd & Hh & E1 & E2 & E3).
  assert (L1 : forall rows, law (centre_drawn k1 rows) cells) by (intros; apply draw_law; auto; intros; lra).
  assert (L2 : forall c rows, law (radii_drawn k2 c rows) rungs) by (intros; apply draw_law; auto).
  assert (E : forall c r rows, law_everywhere (cube_law d scale all (sums d (map (clipped c r) rows))))
    by (intros; apply L; apply (sums_length d h); apply all_fit).
  assert (L3 : forall c r rows, law (sums_noised scale c r rows) (window ys)) by (intros; apply window_law; auto).
  pose proof (composition cells (pairs rungs (window ys)) e1 0 (e2 + e3) (0 + 0) (centre_drawn k1 s) (centre_drawn k1 t)
    (fun c => joint (radii_drawn k2 c s) (fun r => sums_noised scale c r s)) (fun c => joint (radii_drawn k2 c t) (fun r => sums_noised scale c r t))
    ltac:(lra) (L1 s) (L1 t)) as C.
  replace (e1 + e2 + e3) with (e1 + (e2 + e3)) by ring. replace 0 with (0 + (0 + 0)) by ring. apply C; auto; try lra.
  - intros c _. apply joint_law; auto.
  - intros c _. apply joint_law; auto.
  - intros c _. apply composition; auto; try lra. intros r _.
    apply (window_costs (same_vec d)); auto; lra.
Qed.

Lemma sums_close scale s t : (forall out, length out = d -> cube_weight scale s out <= exp e3 * cube_weight scale t out) ->
  (forall out, length out = d -> cube_weight scale t out <= exp e3 * cube_weight scale s out) -> 0 < all ->
  close_everywhere e3 (cube_law d scale all s) (cube_law d scale all t).
Proof.
  intros A B P v. specialize (A (listed d v) (listed_length d v)). specialize (B (listed d v) (listed_length d v)). unfold cube_law, Rdiv.
  assert (I : 0 < / all) by (apply Rinv_0_lt_compat; auto). split; rewrite <- Rmult_assoc; apply Rmult_le_compat_r; lra.
Qed.

(* @says A clipped mean (two-step): cells with e1/2, radii with e2/2, sums with cube noise of scale 2h/e3: pure (e1 + e2 + e3)-DP, one record replaced. *)
Theorem clipped_mean_replaced x x' rows : one_constant (2 * IZR h / e3) ->
  private (e1 + e2 + e3) 0 (clipped_mean (e1 / 2) (e2 / 2) (2 * IZR h / e3) (x :: rows))
    (clipped_mean (e1 / 2) (e2 / 2) (2 * IZR h / e3) (x' :: rows)) (pairs cells (pairs rungs (window ys))).
Proof.
  intros K. destruct some as (Hc & Hr & W & N). destruct positive as (Hd & Hh & E1 & E2 & E3). apply three_steps; auto.
  - apply radii_replace; auto. intros; lra.
  - intros c. apply radii_replace; auto.
  - intros c r. cbn [map]. apply sums_close; [| | apply K]; intros out Ho; apply (sums_replace d h e3 (conj E3 Hh)); auto; apply all_fit.
Qed.

(* @says Cells with e1, radii with e2, noise of scale h/e3: one record more or less. *)
Theorem clipped_mean_added x rows : one_constant (IZR h / e3) ->
  private (e1 + e2 + e3) 0 (clipped_mean e1 e2 (IZR h / e3) (x :: rows)) (clipped_mean e1 e2 (IZR h / e3) rows) (pairs cells (pairs rungs (window ys))) /\
  private (e1 + e2 + e3) 0 (clipped_mean e1 e2 (IZR h / e3) rows) (clipped_mean e1 e2 (IZR h / e3) (x :: rows)) (pairs cells (pairs rungs (window ys))).
Proof.
  intros K. destruct some as (Hc & Hr & W & N). destruct positive as (Hd & Hh & E1 & E2 & E3).
  assert (one : forall c, In c cells -> 0 < 1) by (intros; lra).
  split; (apply three_steps; [exact K | apply (radii_add_remove aside columns cells (fun _ => 1) e1 E1 one Hc)
    | intros c; apply (radii_add_remove (farther c) columns rungs weight e2 E2 W Hr) |]); intros c r; cbn [map]; (apply sums_close; [| | apply K]); intros out Ho;
    apply (sums_add_remove d h e3 (conj E3 Hh)); auto; apply all_fit.
Qed.
End ClippedMean.
