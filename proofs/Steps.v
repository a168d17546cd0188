(* The steps of a whole table (trusted/steps.py), all groups together: numbers that are clipped, records that are shortened
   (Records.v), with noise for every group; radii and windows of magnitudes. *)
Require Import Reals List Lra Lia ZArith.
Require Import Laws Prices Depth Records Concentrated Noise Accountant Mechanisms Table Infinite.
Import ListNotations.
Open Scope Z_scope.

Lemma largest_between (c : list Z) : forall c' s, length c = length s -> length c' = length s ->
  largest (vector_minus (vector_add c s) (vector_add c' s)) <= largest c + largest c'.
Proof.
  induction c as [| v c IH]; intros [| w c'] [| z s] L L'; cbn [vector_add vector_minus largest length] in *; try lia.
  specialize (IH c' s ltac:(lia) ltac:(lia)). pose proof (largest_nonneg c). pose proof (largest_nonneg c'). lia.
Qed.
Lemma largest_added (c : list Z) : forall s, length c = length s ->
  largest (vector_minus (vector_add c s) s) <= largest c /\ largest (vector_minus s (vector_add c s)) <= largest c.
Proof.
  induction c as [| v c IH]; intros [| z s] L; cbn [vector_add vector_minus largest length] in *; try lia.
  destruct (IH s ltac:(lia)). lia.
Qed.
Lemma size_between (c : list Z) : forall c' s, length c = length s -> length c' = length s ->
  size (vector_minus (vector_add c s) (vector_add c' s)) <= size c + size c'.
Proof.
  induction c as [| v c IH]; intros [| w c'] [| z s] L L'; cbn [vector_add vector_minus size length] in *; try lia.
  specialize (IH c' s ltac:(lia) ltac:(lia)). lia.
Qed.
Lemma size_added (c : list Z) : forall s, length c = length s ->
  size (vector_minus (vector_add c s) s) <= size c /\ size (vector_minus s (vector_add c s)) <= size c.
Proof.
  induction c as [| v c IH]; intros [| z s] L; cbn [vector_add vector_minus size length] in *; try lia.
  destruct (IH s ltac:(lia)). lia.
Qed.
Lemma added_up_length d rows : Forall (fun c : list Z => length c = d) rows -> length (sums d rows) = d.
Proof.
  induction rows as [| c rows IH]; intros H; cbn [sums]; [apply repeat_length |]. inversion H; subst.
  rewrite add_length; rewrite IH; auto.
Qed.

(* 1. Groups. *)
Section Groups.
Variables (d : nat) (h : Z) (made : list Z -> list Z) (norm : list Z -> Z).
Hypothesis h_nonneg : 0 <= h.
Hypothesis norm_zero : norm (repeat 0 d) = 0.
Hypothesis norm_made : forall c, length c = d -> norm (made c) <= h /\ length (made c) = d.
Definition whole (r : record) : Prop := length (snd r) = d.

Lemma own_length g r : whole r -> length (own d made g r) = d.
Proof. intros W. unfold own. destruct (in_group g r); [apply norm_made; auto | apply repeat_length]. Qed.
Lemma sums_whole g rows : Forall whole rows -> length (group_sums d made g rows) = d.
Proof.
  intros F. apply added_up_length. apply Forall_forall. intros c Hc. apply in_map_iff in Hc. destruct Hc as (r & <- & Hr).
  apply own_length. rewrite Forall_forall in F. auto.
Qed.
(* Over all groups a record's norm is h at most, since it is in one of them. *)
Definition touch (g : nat) (r : record) : Z := if in_group g r then h else 0.
Fixpoint over (n : nat) (f : nat -> Z) : Z := match n with O => 0 | S k => f k + over k f end.
Lemma touched_once n r : over n (fun g => touch g r) <= h.
Proof.
  assert (G : (over n (fun g => touch g r) <= match fst r with Some k => if Nat.ltb k n then h else 0 | None => 0 end)%Z).
  { induction n as [| n IH]; cbn [over]; [destruct (fst r); simpl; lia |]. unfold touch at 1, in_group. destruct (fst r) as [k |]; [| lia].
    destruct (Nat.eqb_spec k n) as [-> | N].
    - assert (Nat.ltb n n = false) as L by (apply Nat.ltb_ge; lia). rewrite L in IH.
      assert (Nat.ltb n (S n) = true) as M by (apply Nat.ltb_lt; lia). rewrite M. lia.
    - assert (Nat.ltb k (S n) = Nat.ltb k n) as L by (destruct (Nat.ltb_spec k n); [apply Nat.ltb_lt; lia | apply Nat.ltb_ge; lia]).
      rewrite L. lia. }
  destruct (fst r) as [k |]; [destruct (Nat.ltb k n) |]; lia.
Qed.
Lemma own_norm g r : whole r -> norm (own d made g r) <= touch g r.
Proof. intros W. unfold own, touch. destruct (in_group g r); [apply norm_made; auto | lia]. Qed.
Lemma over_plus n f g : over n (fun k => f k + g k) = over n f + over n g.
Proof. induction n as [| n IH]; cbn [over]; lia. Qed.
End Groups.

(* 2. A law for each group, all together. *)
Open Scope R_scope.
Section Several.
Context {Y : Type}.
Variable same : forall y z : Y, {y = z} + {y <> z}.
Fixpoint several (n : nat) : Type := match n with O => unit | S k => (Y * several k)%type end.
Fixpoint beside_all (n : nat) (laws : nat -> Y -> R) : several n -> R :=
  match n with O => fun _ => 1 | S k => fun o => laws k (fst o) * beside_all k laws (snd o) end.
Definition same_several : forall n (v w : several n), {v = w} + {v <> w}.
Proof.
  induction n as [| n IH]; intros v w; [left; destruct v, w; reflexivity |]. destruct v as [x v], w as [y w].
  destruct (same x y) as [-> | N]; [| right; congruence]. destruct (IH v w) as [-> | M]; [left; auto | right; congruence].
Defined.
Lemma beside_all_law n laws : (forall g, law_everywhere (laws g)) -> law_everywhere (beside_all n laws).
Proof.
  intros H. induction n as [| n IH].
  - split; [intros; simpl; lra | split].
    + intros ys N. destruct ys as [| [] [| [] ys]]; simpl; try lra. inversion N; subst. exfalso. apply H2. left. auto.
    + intros gap Hg. exists [tt]. split; [repeat constructor; auto |]. simpl. lra.
  - exact (beside_law same (same_several n) (laws n) (beside_all n laws) (H n) IH).
Qed.
Lemma beside_all_close n (far : nat -> Z) scale p q : (forall g, law_everywhere (p g)) -> (forall g, law_everywhere (q g)) ->
  (forall g, close_everywhere (IZR (far g) / scale) (p g) (q g)) -> close_everywhere (IZR (over n far) / scale) (beside_all n p) (beside_all n q).
Proof.
  intros P Q C. induction n as [| n IH]; intros o.
  - simpl. unfold Rdiv. rewrite Rmult_0_l, exp_0. lra.
  - cbn [over beside_all]. rewrite plus_IZR. unfold Rdiv. rewrite Rmult_plus_distr_r, exp_plus.
    destruct (C n (fst o)) as [A B]. destruct (IH (snd o)) as [D E]. unfold Rdiv in A, B, D, E.
    destruct (beside_all_law n p P) as (N1 & _), (beside_all_law n q Q) as (N2 & _). destruct (P n) as (N3 & _), (Q n) as (N4 & _).
    split; match goal with |- _ <= ?e * ?f * (?g * ?k) => replace (e * f * (g * k)) with (e * g * (f * k)) by ring end;
      apply Rmult_le_compat; auto.
Qed.
End Several.
Arguments several Y n : clear implicits.

(* 3. Clipped numbers with cube noise in every group (WindowSums, TableCounts). *)
Section TableCounts.
Variables (groups d : nat) (h : Z) (eps all : R).
Hypothesis positive : (0 < d)%nat /\ (0 < h)%Z /\ 0 < eps.
Notation one_constant scale := (0 < all /\ forall centre, length centre = d -> law_everywhere (cube_law d scale all centre)).
Notation numbers g rows := (group_sums d (clipped h) g rows).
Definition noised_groups (scale : R) (rows : list record) : several (vec d) groups -> R :=
  beside_all groups (fun g => cube_law d scale all (numbers g rows)).

Lemma clipped_norm (c : list Z) : length c = d -> (largest (clipped h c) <= h)%Z /\ length (clipped h c) = d.
Proof.
  intros L. destruct positive as (_ & Hh & _). destruct (clipped_fits h Hh c) as [E F]. split; [| congruence].
  clear E L. induction (clipped h c) as [| v l IH]; cbn [largest]; [lia |]. inversion F; subst. specialize (IH H2). lia.
Qed.
Lemma zero_largest n : largest (repeat 0%Z n) = 0%Z.
Proof. induction n; cbn [repeat largest]; lia. Qed.
Lemma cube_law_close scale far s t : 0 < scale -> 0 < all -> length s = d -> length t = d -> (largest (vector_minus s t) <= far)%Z ->
  (largest (vector_minus t s) <= far)%Z -> close_everywhere (IZR far / scale) (cube_law d scale all s) (cube_law d scale all t).
Proof.
  intros Hs Ha Ls Lt F G v. assert (I : 0 < / all) by (apply Rinv_0_lt_compat; auto). unfold cube_law, Rdiv.
  pose proof (cube_private scale far s t Hs F ltac:(congruence) (listed d v) ltac:(rewrite listed_length; auto)).
  pose proof (cube_private scale far t s Hs G ltac:(congruence) (listed d v) ltac:(rewrite listed_length; auto)). unfold Rdiv in *.
  split; rewrite <- Rmult_assoc; apply Rmult_le_compat_r; lra.
Qed.
Lemma groups_close scale (far : nat -> Z) s t : one_constant scale -> 0 < scale -> Forall (whole d) s -> Forall (whole d) t ->
  (forall g, (largest (vector_minus (numbers g s) (numbers g t)) <= far g)%Z /\ (largest (vector_minus (numbers g t) (numbers g s)) <= far g)%Z) ->
  (IZR (over groups far) / scale <= eps) ->
  (private_everywhere eps 0 (noised_groups scale s) (noised_groups scale t) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised_groups scale s) (noised_groups scale t)).
Proof.
  intros [A L] Hs Ws Wt H Le. destruct positive as (Hd & Hh & He).
  assert (len : forall g rows, Forall (whole d) rows -> length (numbers g rows) = d)
    by (intros; apply (sums_whole d h (clipped h) largest); auto; apply clipped_norm).
  assert (E : forall rows, Forall (whole d) rows -> forall g, law_everywhere (cube_law d scale all (numbers g rows))) by (intros; apply L, len; auto).
  apply (pure_everywhere (same_several (same_vec d) groups)); [lra | split; apply (beside_all_law (same_vec d)); auto |].
  intros o. destruct (beside_all_close (same_vec d) groups far scale _ _ (E s Ws) (E t Wt)
    ltac:(intros g; apply cube_law_close; auto; apply H) o) as [B C].
  destruct (beside_all_law (same_vec d) groups _ (E s Ws)) as (N1 & _). destruct (beside_all_law (same_vec d) groups _ (E t Wt)) as (N2 & _).
  pose proof (exp_le _ _ Le) as X. unfold noised_groups.
  split; [eapply Rle_trans; [exact B |] | eapply Rle_trans; [exact C |]]; apply Rmult_le_compat_r; auto.
Qed.

(* @says Numbers of all groups, of each record whatever whole numbers floats made of it, clipped to h: cube noise of scale 2h/epsilon in every group costs epsilon for all groups together, and epsilon^2/2 as zCDP, where a record is replaced, in its group, by one of another group, or by one of none. *)
Theorem table_counts_replaced x x' rows : one_constant (2 * IZR h / eps) -> Forall (whole d) (x :: x' :: rows) ->
  private_everywhere eps 0 (noised_groups (2 * IZR h / eps) (x :: rows)) (noised_groups (2 * IZR h / eps) (x' :: rows)) /\
  concentrated_everywhere (eps ^ 2 / 2) (noised_groups (2 * IZR h / eps) (x :: rows)) (noised_groups (2 * IZR h / eps) (x' :: rows)).
Proof.
  intros K W. inversion W as [| ? ? Wx W1]; subst. inversion W1 as [| ? ? Wx' Wr]; subst.
  destruct positive as (Hd & Hh & He). assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  assert (P : 0 < 2 * IZR h / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (own_len : forall g r, whole d r -> length (own d (clipped h) g r) = d) by (intros; apply (own_length d h (clipped h) largest); auto; apply clipped_norm).
  assert (own_le : forall g r, whole d r -> (largest (own d (clipped h) g r) <= touch h g r)%Z)
    by (intros; apply (own_norm d h (clipped h) largest); auto; [apply zero_largest | apply clipped_norm]).
  assert (L : forall g, length (numbers g rows) = d) by (intros; apply (sums_whole d h (clipped h) largest); auto; apply clipped_norm).
  apply (groups_close _ (fun g => touch h g x + touch h g x')%Z); auto.
  - intros g. unfold group_sums. cbn [map sums]. fold (group_sums d (clipped h) g rows).
    pose proof (largest_between (own d (clipped h) g x) (own d (clipped h) g x') (numbers g rows) ltac:(rewrite own_len, L; auto) ltac:(rewrite own_len, L; auto)).
    pose proof (largest_between (own d (clipped h) g x') (own d (clipped h) g x) (numbers g rows) ltac:(rewrite own_len, L; auto) ltac:(rewrite own_len, L; auto)).
    pose proof (own_le g x Wx). pose proof (own_le g x' Wx'). lia.
  - rewrite over_plus, plus_IZR. pose proof (IZR_le _ _ (touched_once h ltac:(lia) groups x)). pose proof (IZR_le _ _ (touched_once h ltac:(lia) groups x')).
    apply Rmult_le_reg_r with (2 * IZR h / eps); auto. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
    replace (eps * (2 * IZR h / eps)) with (2 * IZR h) by (field; lra). lra.
Qed.

(* @says Of scale h/epsilon: the same where a record comes or goes. *)
Theorem table_counts_added x rows : one_constant (IZR h / eps) -> Forall (whole d) (x :: rows) ->
  (private_everywhere eps 0 (noised_groups (IZR h / eps) (x :: rows)) (noised_groups (IZR h / eps) rows) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised_groups (IZR h / eps) (x :: rows)) (noised_groups (IZR h / eps) rows)) /\
  (private_everywhere eps 0 (noised_groups (IZR h / eps) rows) (noised_groups (IZR h / eps) (x :: rows)) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised_groups (IZR h / eps) rows) (noised_groups (IZR h / eps) (x :: rows))).
Proof.
  intros K W. inversion W as [| ? ? Wx Wr]; subst.
  destruct positive as (Hd & Hh & He). assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  assert (P : 0 < IZR h / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (own_len : forall g r, whole d r -> length (own d (clipped h) g r) = d) by (intros; apply (own_length d h (clipped h) largest); auto; apply clipped_norm).
  assert (own_le : forall g r, whole d r -> (largest (own d (clipped h) g r) <= touch h g r)%Z)
    by (intros; apply (own_norm d h (clipped h) largest); auto; [apply zero_largest | apply clipped_norm]).
  assert (L : forall g, length (numbers g rows) = d) by (intros; apply (sums_whole d h (clipped h) largest); auto; apply clipped_norm).
  assert (F : forall g, (largest (vector_minus (numbers g (x :: rows)) (numbers g rows)) <= touch h g x)%Z /\
    (largest (vector_minus (numbers g rows) (numbers g (x :: rows))) <= touch h g x)%Z).
  { intros g. unfold group_sums. cbn [map sums]. fold (group_sums d (clipped h) g rows).
    destruct (largest_added (own d (clipped h) g x) (numbers g rows) ltac:(rewrite own_len, L; auto)). pose proof (own_le g x Wx). lia. }
  assert (Le : IZR (over groups (fun g => touch h g x)) / (IZR h / eps) <= eps).
  { pose proof (IZR_le _ _ (touched_once h ltac:(lia) groups x)). apply Rmult_le_reg_r with (IZR h / eps); auto. unfold Rdiv at 1.
    rewrite Rmult_assoc, Rinv_l by lra. replace (eps * (IZR h / eps)) with (IZR h) by (field; lra). lra. }
  split; apply (groups_close _ (fun g => touch h g x)); auto; intros g; destruct (F g); auto.
Qed.
End TableCounts.

(* 4. Shortened records with discrete Laplace noise on every number of every group (NormSums). *)
Fixpoint vec_of (d : nat) (c : list Z) : vec d := match d with O => tt | S e => (hd 0%Z c, vec_of e (tl c)) end.
Lemma laplace_vector_close scale d : 0 < scale -> forall s t, length s = d -> length t = d ->
  close_everywhere (IZR (size (vector_minus s t)) / scale) (cells_law scale d (vec_of d s)) (cells_law scale d (vec_of d t)).
Proof.
  intros Hs. induction d as [| d IH]; intros [| a s] [| b t] Ls Lt z; cbn [length] in *; try lia.
  - simpl. unfold Rdiv. rewrite Rmult_0_l, exp_0. lra.
  - cbn [vec_of cells_law vector_minus size hd tl fst snd]. rewrite plus_IZR. unfold Rdiv. rewrite Rmult_plus_distr_r, exp_plus.
    destruct (IH s t ltac:(lia) ltac:(lia) (snd z)) as [A B]. destruct (laplace_close scale (Z.abs (a - b)) a b Hs ltac:(lia) (fst z)) as [C D].
    unfold Rdiv in A, B, C, D. pose proof (cells_law_pos scale Hs d). pose proof (fun c => laplace_pos scale c (fst z) Hs).
    split; match goal with |- _ <= ?e * ?f * (?g * ?k) => replace (e * f * (g * k)) with (e * g * (f * k)) by ring end;
      apply Rmult_le_compat; auto; left; auto.
Qed.

Section NormSums.
Variables (groups d : nat) (h : Z) (eps : R) (absolute : bool).
Hypothesis positive : (0 < h)%Z /\ 0 < eps.
Definition within_norm (c : list Z) : list Z := if absolute then map Z.abs (shortened h c) else shortened h c.
Notation numbers g rows := (group_sums d within_norm g rows).
Definition noised_norms (scale : R) (rows : list record) : several (vec d) groups -> R :=
  beside_all groups (fun g => cells_law scale d (vec_of d (numbers g rows))).

Lemma norm_within (c : list Z) : length c = d -> (size (within_norm c) <= h)%Z /\ length (within_norm c) = d.
Proof.
  intros L. destruct positive as [Hh _]. destruct (shortened_fits h Hh c) as (A & B & C). unfold within_norm.
  destruct absolute; split; auto; try lia. rewrite map_length. lia.
Qed.
Lemma zero_size n : size (repeat 0%Z n) = 0%Z.
Proof. induction n; cbn [repeat size]; lia. Qed.
Lemma vector_minus_size s : forall t, length s = length t -> size (vector_minus s t) = size (vector_minus t s).
Proof. induction s as [| a s IH]; intros [| b t] L; cbn [vector_minus size length] in *; try lia. rewrite (IH t) by lia. lia. Qed.
Lemma norms_close scale (far : nat -> Z) s t : 0 < scale -> Forall (whole d) s -> Forall (whole d) t ->
  (forall g, (size (vector_minus (numbers g s) (numbers g t)) <= far g)%Z) -> (IZR (over groups far) / scale <= eps) ->
  (private_everywhere eps 0 (noised_norms scale s) (noised_norms scale t) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised_norms scale s) (noised_norms scale t)).
Proof.
  intros Hs Ws Wt H Le. destruct positive as (Hh & He).
  assert (len : forall g rows, Forall (whole d) rows -> length (numbers g rows) = d)
    by (intros; apply (sums_whole d h within_norm size); auto; apply norm_within).
  assert (E : forall rows g, law_everywhere (cells_law scale d (vec_of d (numbers g rows)))) by (intros; apply cells_everywhere; auto).
  apply (pure_everywhere (same_several (same_vec d) groups)); [lra | split; apply (beside_all_law (same_vec d)); auto |].
  assert (C1 : forall g, close_everywhere (IZR (far g) / scale) (cells_law scale d (vec_of d (numbers g s))) (cells_law scale d (vec_of d (numbers g t)))).
  { intros g z. destruct (laplace_vector_close scale d Hs (numbers g s) (numbers g t) (len g s Ws) (len g t Wt) z) as [A B].
    assert (X : exp (IZR (size (vector_minus (numbers g s) (numbers g t))) / scale) <= exp (IZR (far g) / scale)).
    { apply exp_le. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto | apply IZR_le; auto]. }
    split; [eapply Rle_trans; [exact A |] | eapply Rle_trans; [exact B |]]; apply Rmult_le_compat_r; auto; left; apply cells_law_pos; auto. }
  intros o. destruct (beside_all_close (same_vec d) groups far scale _ _ (E s) (E t) C1 o) as [B C].
  destruct (beside_all_law (same_vec d) groups _ (E s)) as (N1 & _). destruct (beside_all_law (same_vec d) groups _ (E t)) as (N2 & _).
  pose proof (exp_le _ _ Le) as X. unfold noised_norms.
  split; [eapply Rle_trans; [exact B |] | eapply Rle_trans; [exact C |]]; apply Rmult_le_compat_r; auto.
Qed.

(* @says Sums of records shortened to sizes that add up to h, or of these sizes, of all groups: discrete Laplace noise of scale 2h/epsilon on every number costs epsilon for all groups together, and epsilon^2/2 as zCDP, where a record is replaced, in its group, by one of another group, or by one of none. *)
Theorem norm_sums_replaced x x' rows : Forall (whole d) (x :: x' :: rows) ->
  private_everywhere eps 0 (noised_norms (2 * IZR h / eps) (x :: rows)) (noised_norms (2 * IZR h / eps) (x' :: rows)) /\
  concentrated_everywhere (eps ^ 2 / 2) (noised_norms (2 * IZR h / eps) (x :: rows)) (noised_norms (2 * IZR h / eps) (x' :: rows)).
Proof.
  intros W. inversion W as [| ? ? Wx W1]; subst. inversion W1 as [| ? ? Wx' Wr]; subst.
  destruct positive as (Hh & He). assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  assert (P : 0 < 2 * IZR h / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (own_len : forall g r, whole d r -> length (own d within_norm g r) = d) by (intros; apply (own_length d h within_norm size); auto; apply norm_within).
  assert (own_le : forall g r, whole d r -> (size (own d within_norm g r) <= touch h g r)%Z)
    by (intros; apply (own_norm d h within_norm size); auto; [apply zero_size | apply norm_within]).
  assert (L : forall g, length (numbers g rows) = d) by (intros; apply (sums_whole d h within_norm size); auto; apply norm_within).
  apply (norms_close _ (fun g => touch h g x + touch h g x')%Z); auto.
  - intros g. unfold group_sums. cbn [map sums]. fold (group_sums d within_norm g rows).
    pose proof (size_between (own d within_norm g x) (own d within_norm g x') (numbers g rows) ltac:(rewrite own_len, L; auto) ltac:(rewrite own_len, L; auto)).
    pose proof (own_le g x Wx). pose proof (own_le g x' Wx'). lia.
  - rewrite over_plus, plus_IZR. pose proof (IZR_le _ _ (touched_once h ltac:(lia) groups x)). pose proof (IZR_le _ _ (touched_once h ltac:(lia) groups x')).
    apply Rmult_le_reg_r with (2 * IZR h / eps); auto. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
    replace (eps * (2 * IZR h / eps)) with (2 * IZR h) by (field; lra). lra.
Qed.

(* @says Of scale h/epsilon: the same where a record comes or goes. *)
Theorem norm_sums_added x rows : Forall (whole d) (x :: rows) ->
  (private_everywhere eps 0 (noised_norms (IZR h / eps) (x :: rows)) (noised_norms (IZR h / eps) rows) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised_norms (IZR h / eps) (x :: rows)) (noised_norms (IZR h / eps) rows)) /\
  (private_everywhere eps 0 (noised_norms (IZR h / eps) rows) (noised_norms (IZR h / eps) (x :: rows)) /\
   concentrated_everywhere (eps ^ 2 / 2) (noised_norms (IZR h / eps) rows) (noised_norms (IZR h / eps) (x :: rows))).
Proof.
  intros W. inversion W as [| ? ? Wx Wr]; subst.
  destruct positive as (Hh & He). assert (H0 : 0 < IZR h) by (apply IZR_lt; auto).
  assert (P : 0 < IZR h / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (own_len : forall g r, whole d r -> length (own d within_norm g r) = d) by (intros; apply (own_length d h within_norm size); auto; apply norm_within).
  assert (own_le : forall g r, whole d r -> (size (own d within_norm g r) <= touch h g r)%Z)
    by (intros; apply (own_norm d h within_norm size); auto; [apply zero_size | apply norm_within]).
  assert (L : forall g, length (numbers g rows) = d) by (intros; apply (sums_whole d h within_norm size); auto; apply norm_within).
  assert (F : forall g, (size (vector_minus (numbers g (x :: rows)) (numbers g rows)) <= touch h g x)%Z /\
    (size (vector_minus (numbers g rows) (numbers g (x :: rows))) <= touch h g x)%Z).
  { intros g. unfold group_sums. cbn [map sums]. fold (group_sums d within_norm g rows).
    destruct (size_added (own d within_norm g x) (numbers g rows) ltac:(rewrite own_len, L; auto)). pose proof (own_le g x Wx). lia. }
  assert (Le : IZR (over groups (fun g => touch h g x)) / (IZR h / eps) <= eps).
  { pose proof (IZR_le _ _ (touched_once h ltac:(lia) groups x)). apply Rmult_le_reg_r with (IZR h / eps); auto. unfold Rdiv at 1.
    rewrite Rmult_assoc, Rinv_l by lra. replace (eps * (IZR h / eps)) with (IZR h) by (field; lra). lra. }
  split; apply (norms_close _ (fun g => touch h g x)); auto; intros g; apply F.
Qed.
End NormSums.

(* 5. Records beyond nested radii (NormBeyond), and outside windows of magnitudes (OutsideCounts). *)
(* @says Records whose sizes add up to more than a radius, one radius drawn: epsilon, epsilon/2, epsilon, for any order-preserving whole numbers in the place of sizes. *)
Theorem radius_prices {Row} (norm : Row -> option Z) (radii : list Z) (weight : Z -> R) :
  (forall r, In r radii -> 0 < weight r) -> radii <> [] ->
  prices radii weight (in_whole (fun rows r => - count (beyond Row norm) r rows)%Z) 1 (1 / 2) 1.
Proof. intros W N. apply nested_prices; auto. Qed.

(* @says A window of magnitudes for each column at once, by the most records of a column outside its own: epsilon/2, epsilon/2, epsilon, however many columns; missing cells and zeros are outside none. *)
Theorem magnitudes_prices (candidates : list (list magnitudes)) (weight : list magnitudes -> R) (columns : list nat) :
  (forall w, In w candidates -> 0 < weight w) -> candidates <> [] ->
  prices candidates weight (in_whole (fun rows ws => - outside_magnitudes columns rows ws)%Z) (1 / 2) (1 / 2) 1.
Proof. intros W N. apply most_prices; auto. Qed.

(* @says That cannot be lowered, even in one column: a record goes from one window to another. *)
Theorem magnitudes_tight a1 r1 : declares a1 r1 (fun rows ws => - outside_magnitudes [0%nat] rows ws)%Z -> (1 <= a1 /\ 2 <= r1)%Z.
Proof.
  intros [A B]. specialize (A [Some 1%Z] []). specialize (B [Some 1%Z] [Some 2%Z] []).
  destruct A as [_ A]. specialize (A [(1, 2, true)]%Z [(0, 1, true)]%Z). specialize (B [(0, 1, true)]%Z [(1, 2, true)]%Z).
  split; [exact A | exact B].
Qed.
