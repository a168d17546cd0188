(* Scores that the core draws by, as whole numbers, and how far one record moves them. No axioms.

   A table is a list of records; a record with a missing cell satisfies no test. [declares A1 R1 u] says that where a
   record comes or goes the change of u has a range of at most A1 over outcomes, and of at most R1 where it is replaced:
   the two numbers that prices follow from (Prices.v). *)
Require Import List Arith Lia ZArith.
Import ListNotations.
Open Scope Z_scope.

Section Scores.
Variables (Row Outcome : Type).

Definition score := list Row -> Outcome -> Z.
Definition range_of_change (r : Z) (u : score) (s t : list Row) : Prop :=
  forall y z, (u s y - u t y) - (u s z - u t z) <= r.
Definition both_ways (r : Z) (u : score) s t := range_of_change r u s t /\ range_of_change r u t s.
Record declares (a1 r1 : Z) (u : score) : Prop := {
  comes_or_goes : forall x rows, both_ways a1 u (x :: rows) rows;
  replaced : forall x x' rows, range_of_change r1 u (x :: rows) (x' :: rows) }.

(* What grows by a number from [low] to [high] at every outcome, whatever the record, declares high - low. *)
Lemma from_growth low high (u : score) :
  (forall x rows y, low <= u (x :: rows) y - u rows y <= high) ->
  declares (high - low) (2 * (high - low)) u.
Proof.
  intros H. split.
  - intros x rows. split; intros y z; pose proof (H x rows y); pose proof (H x rows z); lia.
  - intros x x' rows y z. pose proof (H x rows y). pose proof (H x rows z). pose proof (H x' rows y).
    pose proof (H x' rows z). lia.
Qed.

Variable test : Outcome -> Row -> bool.
Definition count (y : Outcome) (rows : list Row) : Z := Z.of_nat (length (filter (test y) rows)).

Lemma count_one_more y x rows : count y (x :: rows) = (if test y x then 1 else 0) + count y rows.
Proof. unfold count. cbn [filter]. destruct (test y x); cbn [length]; lia. Qed.

Lemma count_nonneg y rows : 0 <= count y rows.
Proof. unfold count. lia. Qed.

(* Rows in a window, one for each outcome. *)
(* @says Rows in a window, one for each outcome: A1 = 1, R1 = 2.
   @code mechanisms/clipped_sum.py::rows_beyond *)
Theorem counts_in_windows : declares 1 2 (fun rows y => count y rows).
Proof.
  apply (from_growth 0 1). intros. rewrite count_one_more. destruct (test y x); lia.
Qed.

(* Distance of a count to a fixed target. *)
(* @says The distance of a count to a fixed target: A1 = R1 = 2. (No mechanism uses it today.)
   @code - *)
Theorem distance_to_a_target (target : Z) : declares 2 2 (fun rows y => - Z.abs (count y rows - target)).
Proof.
  split.
  - intros x rows. split; intros y z; rewrite !count_one_more; destruct (test y x), (test z x); lia.
  - intros x x' rows y z. rewrite !count_one_more. destruct (test y x), (test z x), (test y x'), (test z x'); lia.
Qed.
End Scores.
Arguments count {Row Outcome}. Arguments declares {Row Outcome}.

(* Depth: the fewest rows in the closed halfspaces of a point, over finitely many directions. [inside y h r]: the row r
   lies in the halfspace of direction h that the point y bounds. *)
Section Depth.
Variables (Row Half Point : Type) (inside : Half -> Point -> Row -> bool) (halves : list Half).

Fixpoint least (a : Z) (xs : list Z) : Z := match xs with [] => a | x :: r => Z.min x (least a r) end.
Definition in_half h y rows := count (inside h) y rows.
Definition depth (rows : list Row) (y : Point) : Z :=
  least (Z.of_nat (length rows)) (map (fun h => in_half h y rows) halves).

Lemma least_close xs ys a b : a <= b <= a + 1 -> Forall2 (fun x y => x <= y <= x + 1) xs ys ->
  least a xs <= least b ys <= least a xs + 1.
Proof. intros Hab H. induction H; simpl; lia. Qed.

(* @says A further record raises every depth by 0 or 1; one with a missing cell by 0.
   @code trusted/levels.py::LevelSets.depths, depth/exact_depth.py *)
Theorem depth_one_more x rows y : depth rows y <= depth (x :: rows) y <= depth rows y + 1.
Proof.
  unfold depth. apply least_close; [cbn [length]; lia |].
  induction halves as [| h hs IH]; simpl; constructor; [| assumption].
  unfold in_half. rewrite count_one_more. destruct (inside h y x); lia.
Qed.

(* @says A replaced record moves every depth by at most 1.
   @code trusted/levels.py::LevelSets.depths *)
Theorem depth_replaced x x' rows y : Z.abs (depth (x :: rows) y - depth (x' :: rows) y) <= 1.
Proof. pose proof (depth_one_more x rows y). pose proof (depth_one_more x' rows y). lia. Qed.

(* @says Depth: A1 = 1, R1 = 2.
   @code trusted/levels.py::LevelSets.depths *)
Theorem depth_declares : declares 1 2 depth.
Proof. apply (from_growth _ _ 0 1). intros x rows y. pose proof (depth_one_more x rows y). lia. Qed.

(* Level sets are nested between neighbours, as REM's test uses. *)
(* @says Level l + 1 of a table lies in level l of its neighbour.
   @code trusted/levels.py::LevelSets.contains *)
Theorem levels_nested x x' rows y l : l + 1 <= depth (x :: rows) y -> l <= depth (x' :: rows) y.
Proof. pose proof (depth_replaced x x' rows y). lia. Qed.
End Depth.

(* Several random partitions: the depths in the tables of block values are added up. A record lies in one block of each,
   so that one row of each table is replaced. *)
Section Partitions.
Variables (Row Half Point : Type) (inside : Half -> Point -> Row -> bool) (halves : list Half).
Notation depth := (depth Row Half Point inside halves).

Fixpoint added (tables : list (list Row)) (y : Point) : Z :=
  match tables with [] => 0 | t :: r => depth t y + added r y end.

(* Tables that agree but for one row each: (common rows, old row, new row). *)
(* @says Depths in r tables of block values, added up, move by at most r.
   @code mechanisms/subset_means.py::subset_point *)
Theorem partitions_replaced (blocks : list (list Row * Row * Row)) y :
  Z.abs (added (map (fun b => snd (fst b) :: fst (fst b)) blocks) y -
         added (map (fun b => snd b :: fst (fst b)) blocks) y) <= Z.of_nat (length blocks).
Proof.
  induction blocks as [| [[rows x] x'] blocks IH]; simpl map; simpl added; simpl length; [lia |].
  simpl fst. simpl snd. pose proof (depth_replaced _ _ _ inside halves x x' rows y). lia.
Qed.

(* @says So their change has a range of at most 2 r.
   @code mechanisms/subset_means.py::subset_point *)
Theorem partitions_range (blocks : list (list Row * Row * Row)) y z :
  let s := map (fun b => snd (fst b) :: fst (fst b)) blocks in
  let t := map (fun b => snd b :: fst (fst b)) blocks in
  (added s y - added t y) - (added s z - added t z) <= 2 * Z.of_nat (length blocks).
Proof.
  intros s t. pose proof (partitions_replaced blocks y). pose proof (partitions_replaced blocks z). subst s t. lia.
Qed.
End Partitions.

(* A ladder in one column: rows beyond nested rungs. Replacing a row moves all counts one way. *)
Section Ladder.
Variables (Row : Type) (rank : Row -> option Z).       (* which rungs the row lies beyond: those below its rank *)

Definition beyond (y : Z) (r : Row) : bool := match rank r with Some k => y <? k | None => false end.

(* @says Rows beyond nested rungs of one column: A1 = R1 = 1. (No mechanism uses it today.)
   @code - *)
Theorem nested_rungs : declares 1 1 (fun rows y => - count beyond y rows).
Proof.
  split.
  - intros x rows. split; intros y z; rewrite !count_one_more; destruct (beyond y x), (beyond z x); lia.
  - intros x x' rows y z. rewrite !count_one_more. unfold beyond.
    destruct (rank x) as [k |], (rank x') as [k' |]; repeat match goal with
    | |- context [?a <? ?b] => destruct (Z.ltb_spec a b) end; lia.
Qed.
End Ladder.

(* The most rows beyond a rung, over columns: radii, windows. *)
Section Most.
Variables (Row Rung : Type) (outside : nat -> Rung -> Row -> bool) (columns : list nat).

Fixpoint most (xs : list Z) : Z := match xs with [] => 0 | x :: r => Z.max x (most r) end.
Definition most_beyond (rows : list Row) (y : Rung) : Z := most (map (fun j => count (outside j) y rows) columns).

Lemma most_close xs ys : Forall2 (fun x y => x <= y <= x + 1) xs ys -> most xs <= most ys <= most xs + 1.
Proof. intros H. induction H; simpl; lia. Qed.

(* @says The most rows beyond a radius, over columns: A1 = 1, R1 = 2, however many columns.
   @code mechanisms/clipped_sum.py::drawn_radii *)
Theorem most_beyond_declares : declares 1 2 (fun rows y => - most_beyond rows y).
Proof.
  apply (from_growth _ _ (-1) 0). intros x rows y. unfold most_beyond.
  assert (most (map (fun j => count (outside j) y rows) columns) <=
          most (map (fun j => count (outside j) y (x :: rows)) columns) <=
          most (map (fun j => count (outside j) y rows) columns) + 1).
  { apply most_close. induction columns as [| j js IH]; simpl; constructor; [| assumption].
    rewrite count_one_more. destruct (outside j y x); lia. }
  lia.
Qed.
End Most.

(* A quantile: the distance of the wanted rank p k, p = num / den, of k values to the ranks of a point, in units of
   1/den. [value r] is None where the value is missing. The point y has from #{s < y} to #{s <= y} values up to it. *)
Section Quantile.
Variables (Row : Type) (value : Row -> option Z) (num den : Z).
Hypothesis share : 0 <= num <= den.

Definition below (y : Z) (r : Row) : bool := match value r with Some v => v <? y | None => false end.
Definition up_to (y : Z) (r : Row) : bool := match value r with Some v => v <=? y | None => false end.
Definition present (_ : Z) (r : Row) : bool := match value r with Some _ => true | None => false end.

Definition off (rows : list Row) (y : Z) : Z :=
  Z.max 0 (Z.max (num * count present y rows - den * count up_to y rows)
                 (den * count below y rows - num * count present y rows)).

Lemma present_same y z rows : count present y rows = count present z rows.
Proof. reflexivity. Qed.

Lemma below_le_up_to y rows : count below y rows <= count up_to y rows.
Proof.
  induction rows as [| r rows IH]; [unfold count; simpl; lia |]. rewrite !count_one_more.
  assert (below y r = true -> up_to y r = true).
  { unfold below, up_to. destruct (value r) as [v |]; [| discriminate]. rewrite Z.ltb_lt, Z.leb_le. lia. }
  destruct (below y r), (up_to y r); try lia; discriminate (H eq_refl).
Qed.

(* A value that comes or goes moves the score by at most max(num, den - num), either way; R1 = 2 den holds besides. *)
Definition mu := Z.max num (den - num).

Lemma off_one_more x rows y : Z.abs (off (x :: rows) y - off rows y) <= mu.
Proof.
  unfold off, mu. rewrite !count_one_more. pose proof (below_le_up_to y rows).
  assert (cases : (below y x = false /\ up_to y x = false /\ present y x = false) \/
                  (present y x = true /\ (below y x = true -> up_to y x = true))).
  { unfold below, up_to, present. destruct (value x) as [v |]; [right | left; auto].
    split; [reflexivity |]. rewrite Z.ltb_lt, Z.leb_le. lia. }
  destruct cases as [(-> & -> & ->) | [-> H0]]; [lia |].
  destruct (below y x), (up_to y x); try (discriminate H0; reflexivity); nia.
Qed.

Theorem quantile_comes_or_goes : forall x rows,
  both_ways _ _ (2 * mu) (fun rows y => - off rows y) (x :: rows) rows.
Proof.
  intros x rows. split; intros y z; pose proof (off_one_more x rows y); pose proof (off_one_more x rows z); lia.
Qed.

Lemma off_replaced x x' rows y : value x <> None -> value x' <> None ->
  Z.abs (off (x :: rows) y - off (x' :: rows) y) <= den.
Proof.
  intros Hx Hx'. unfold off. rewrite !count_one_more.
  assert (P : present y x = true) by (unfold present; destruct (value x); congruence).
  assert (P' : present y x' = true) by (unfold present; destruct (value x'); congruence). rewrite P, P'.
  assert (Q : below y x = true -> up_to y x = true).
  { unfold below, up_to. destruct (value x); [rewrite Z.ltb_lt, Z.leb_le; lia | discriminate]. }
  assert (Q' : below y x' = true -> up_to y x' = true).
  { unfold below, up_to. destruct (value x'); [rewrite Z.ltb_lt, Z.leb_le; lia | discriminate]. }
  destruct (below y x), (up_to y x), (below y x'), (up_to y x');
    try (discriminate Q; reflexivity); try (discriminate Q'; reflexivity); lia.
Qed.

(* @says The distance of the wanted rank p k to a point's ranks, in units of 1/den: A1 = 2 max(p, 1-p), R1 = 2.
   @code mechanisms/quantiles.py::RankLaw.score *)
Theorem quantile_declares : 0 < den -> declares (2 * mu) (2 * den) (fun rows y => - off rows y).
Proof.
  intros Hd. assert (mu <= den) by (unfold mu; lia). split; [exact quantile_comes_or_goes |].
  assert (close : forall x x' rows y, Z.abs (off (x :: rows) y - off (x' :: rows) y) <= den).
  { intros x x' rows y.
    destruct (value x) as [v |] eqn:Ex, (value x') as [v' |] eqn:Ex'.
    - apply off_replaced; congruence.
    - assert (same : off (x' :: rows) y = off rows y).
      { unfold off. rewrite !count_one_more. unfold below at 1, up_to at 1, present at 1 3. rewrite Ex'. reflexivity. }
      rewrite same. pose proof (off_one_more x rows y). lia.
    - assert (same : off (x :: rows) y = off rows y).
      { unfold off. rewrite !count_one_more. unfold below at 1, up_to at 1, present at 1 3. rewrite Ex. reflexivity. }
      rewrite same. pose proof (off_one_more x' rows y). lia.
    - assert (same : forall w, value w = None -> off (w :: rows) y = off rows y).
      { intros w Ew. unfold off. rewrite !count_one_more. unfold below at 1, up_to at 1, present at 1 3.
        rewrite Ew. reflexivity. }
      rewrite !same by assumption. lia. }
  intros x x' rows y z. pose proof (close x x' rows y). pose proof (close x x' rows z). lia.
Qed.
End Quantile.
