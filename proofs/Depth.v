(* Scores that the core draws by, as whole numbers, and how far one record moves them. No axioms.

   A table is a list of records; a record with a missing cell satisfies no test. [declares A1 R1 u] says that where a
   record comes or goes the change of u has a range of at most A1 over outcomes, and of at most R1 where it is replaced:
   the two numbers that prices follow from (Prices.v). *)
Require Import List Arith Lia ZArith Permutation.
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
(* @says Rows in a window, one for each outcome: A1 = 1, R1 = 2. *)
Theorem counts_in_windows : declares 1 2 (fun rows y => count y rows).
Proof.
  apply (from_growth 0 1). intros. rewrite count_one_more. destruct (test y x); lia.
Qed.

(* Distance of a count to a fixed target. *)
(* @says The distance of a count to a fixed target: A1 = R1 = 2. (No mechanism uses it today.) *)
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

(* @says A further record raises every depth by 0 or 1. *)
Theorem depth_one_more x rows y : depth rows y <= depth (x :: rows) y <= depth rows y + 1.
Proof.
  unfold depth. apply least_close; [cbn [length]; lia |].
  induction halves as [| h hs IH]; simpl; constructor; [| assumption].
  unfold in_half. rewrite count_one_more. destruct (inside h y x); lia.
Qed.

(* @says A replaced record moves every depth by at most 1. *)
Theorem depth_replaced x x' rows y : Z.abs (depth (x :: rows) y - depth (x' :: rows) y) <= 1.
Proof. pose proof (depth_one_more x rows y). pose proof (depth_one_more x' rows y). lia. Qed.

(* @says Depth: A1 = 1, R1 = 2. *)
Theorem depth_declares : declares 1 2 depth.
Proof. apply (from_growth _ _ 0 1). intros x rows y. pose proof (depth_one_more x rows y). lia. Qed.

(* A record with a missing cell lies in no halfspace. *)
Lemma least_of_both xs a b : a <= b -> least a xs = Z.min a (least b xs).
Proof. intros H. induction xs as [| x xs IH]; simpl; lia. Qed.

Lemma least_below xs a x : In x xs -> least a xs <= x.
Proof. induction xs as [| w xs IH]; simpl; [tauto | intros [-> | H]; [lia | specialize (IH H); lia]]. Qed.

(* @says A record with a missing cell changes no depth. *)
Theorem depth_missing x rows y : halves <> [] -> (forall h, inside h y x = false) -> depth (x :: rows) y = depth rows y.
Proof.
  intros Hne Hx. unfold depth. cbn [length].
  assert (E : map (fun h => in_half h y (x :: rows)) halves = map (fun h => in_half h y rows) halves).
  { apply map_ext. intros h. unfold in_half. rewrite count_one_more, Hx. reflexivity. }
  rewrite E. rewrite (least_of_both _ (Z.of_nat (length rows)) (Z.of_nat (S (length rows)))) by lia.
  destruct halves as [| h hs]; [congruence |].
  assert (A : least (Z.of_nat (S (length rows))) (map (fun h => in_half h y rows) (h :: hs)) <= in_half h y rows)
    by (apply least_below; left; reflexivity).
  assert (B : in_half h y rows <= Z.of_nat (length rows)).
  { unfold in_half, count. apply inj_le. clear. induction rows as [| r rows IH]; simpl; [lia |]. destruct (inside h y r); simpl; lia. }
  lia.
Qed.

(* The order of rows does not matter, and a row may be replaced anywhere. *)
Lemma count_middle h y before x after : in_half h y (before ++ x :: after) = in_half h y (x :: before ++ after).
Proof.
  unfold in_half. induction before as [| b before IH]; [reflexivity |].
  cbn [app]. rewrite (count_one_more _ _ _ y b), IH, !count_one_more. lia.
Qed.

Lemma depth_middle before x after y : depth (before ++ x :: after) y = depth (x :: before ++ after) y.
Proof.
  unfold depth. f_equal; [cbn [length]; rewrite !app_length; cbn [length]; lia |].
  apply map_ext. intros h. apply count_middle.
Qed.

Lemma depth_replaced_anywhere before x x' after y :
  Z.abs (depth (before ++ x :: after) y - depth (before ++ x' :: after) y) <= 1.
Proof. rewrite !depth_middle. apply depth_replaced. Qed.

(* Level sets are nested between neighbours, as REM's test uses. *)
(* @says Level l + 1 of a table lies in level l of its neighbour. *)
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
(* @says Depths in r tables of block values, added up, move by at most r. *)
Theorem partitions_replaced (blocks : list (list Row * Row * Row)) y :
  Z.abs (added (map (fun b => snd (fst b) :: fst (fst b)) blocks) y -
         added (map (fun b => snd b :: fst (fst b)) blocks) y) <= Z.of_nat (length blocks).
Proof.
  induction blocks as [| [[rows x] x'] blocks IH]; simpl map; simpl added; simpl length; [lia |].
  simpl fst. simpl snd. pose proof (depth_replaced _ _ _ inside halves x x' rows y). lia.
Qed.

(* @says So their change has a range of at most 2 r. *)
Theorem partitions_range (blocks : list (list Row * Row * Row)) y z :
  let s := map (fun b => snd (fst b) :: fst (fst b)) blocks in
  let t := map (fun b => snd b :: fst (fst b)) blocks in
  (added s y - added t y) - (added s z - added t z) <= 2 * Z.of_nat (length blocks).
Proof.
  intros s t. pose proof (partitions_replaced blocks y). pose proof (partitions_replaced blocks z). subst s t. lia.
Qed.
End Partitions.

(* Block tables as the program makes them: every record carries its block's number in each of r dealings, and a row of a
   table is a function of the records of one block alone. *)
Section Dealt.
Variables (Record Value Half Point : Type) (inside : Half -> Point -> Value -> bool) (halves : list Half).
Variables (value : list Record -> Value) (blocks : nat).
Notation depth := (depth Value Half Point inside halves).
Notation dealt := (list nat * Record)%type.

Definition members (i b : nat) (rows : list dealt) : list Record :=
  map snd (filter (fun r => Nat.eqb (nth i (fst r) 0%nat) b) rows).
Definition block_table (i : nat) (rows : list dealt) : list Value :=
  map (fun b => value (members i b rows)) (seq 0 blocks).
Fixpoint depth_in_dealings (r : nat) (rows : list dealt) (y : Point) : Z :=
  match r with O => 0 | S i => depth (block_table i rows) y + depth_in_dealings i rows y end.

Lemma one_place {A} (f g : nat -> A) b m k : (forall c, c <> b -> f c = g c) ->
  map f (seq k m) = map g (seq k m) \/
  exists before after, map f (seq k m) = before ++ f b :: after /\ map g (seq k m) = before ++ g b :: after.
Proof.
  intros H. revert k. induction m as [| m IH]; intros k; [left; reflexivity |]. simpl.
  destruct (Nat.eq_dec k b) as [-> | N].
  - right. exists [], (map g (seq (S b) m)). simpl. split; [| reflexivity]. f_equal.
    apply map_ext_in. intros c Hc. apply in_seq in Hc. apply H. lia.
  - destruct (IH (S k)) as [E | (before & after & E1 & E2)].
    + left. rewrite E, (H k N). reflexivity.
    + right. exists (g k :: before), after. rewrite E1, E2, (H k N). split; reflexivity.
Qed.

Lemma table_moved i b s t y : (forall c, c <> b -> members i c s = members i c t) ->
  Z.abs (depth (block_table i s) y - depth (block_table i t) y) <= 1.
Proof.
  intros H. unfold block_table.
  destruct (one_place (fun c => value (members i c s)) (fun c => value (members i c t)) b blocks 0
    ltac:(intros c Hc; simpl; rewrite (H c Hc); reflexivity)) as [-> | (before & after & -> & ->)]; [lia |].
  apply depth_replaced_anywhere.
Qed.

Lemma members_elsewhere i c x rows : c <> nth i (fst x) 0%nat -> members i c (x :: rows) = members i c rows.
Proof. intros H. unfold members. cbn [filter]. destruct (Nat.eqb_spec (nth i (fst x) 0%nat) c); [congruence | reflexivity]. Qed.

(* @says Depths in r tables of block values, added up, move by at most r where a record with its own block numbers comes or goes. *)
Theorem dealt_one_more r x rows y : Z.abs (depth_in_dealings r (x :: rows) y - depth_in_dealings r rows y) <= Z.of_nat r.
Proof.
  induction r as [| i IH]; [simpl; lia |]. cbn [depth_in_dealings].
  pose proof (table_moved i (nth i (fst x) 0%nat) (x :: rows) rows y (fun c Hc => members_elsewhere i c x rows Hc)). lia.
Qed.

(* @says And by at most r where a record is replaced by one in the same blocks. *)
Theorem dealt_replaced r numbers x x' rows y :
  Z.abs (depth_in_dealings r ((numbers, x) :: rows) y - depth_in_dealings r ((numbers, x') :: rows) y) <= Z.of_nat r.
Proof.
  induction r as [| i IH]; [simpl; lia |]. cbn [depth_in_dealings].
  pose proof (table_moved i (nth i numbers 0%nat) ((numbers, x) :: rows) ((numbers, x') :: rows) y
    (fun c Hc => eq_trans (members_elsewhere i c (numbers, x) rows Hc) (eq_sym (members_elsewhere i c (numbers, x') rows Hc)))). lia.
Qed.
End Dealt.

(* A ladder in one column: rows beyond nested rungs. Replacing a row moves all counts one way. *)
Section Ladder.
Variables (Row : Type) (rank : Row -> option Z).       (* which rungs the row lies beyond: those below its rank *)

Definition beyond (y : Z) (r : Row) : bool := match rank r with Some k => y <? k | None => false end.

(* @says Rows beyond nested rungs of one column: A1 = R1 = 1. *)
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

(* @says The most rows beyond a radius, over columns: A1 = 1, R1 = 2, however many columns. *)
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

(* One window for each column, drawn for all columns at once: the most rows of a column outside its window. *)
Section Windows.
Definition outside_window (j : nat) (windows : list (Z * Z)) (r : list (option Z)) : bool :=
  match nth j r None with Some v => negb ((fst (nth j windows (0, 0)) <=? v) && (v <=? snd (nth j windows (0, 0)))) | None => false end.
Definition outside_windows (d : nat) : list (list (option Z)) -> list (Z * Z) -> Z :=
  most_beyond (list (option Z)) (list (Z * Z)) outside_window (seq 0 d).

(* @says Minus the most rows of a column outside its window, one window for each of d columns at once: A1 = 1, R1 = 2, whatever d is. *)
Theorem windows_declare d : declares 1 2 (fun rows windows => - outside_windows d rows windows).
Proof. apply most_beyond_declares. Qed.
End Windows.

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

Lemma quantile_comes_or_goes : forall x rows,
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

(* @says The distance of the wanted rank p k to a point's ranks, in units of 1/den: A1 = 2 max(p, 1-p), R1 = 2. *)
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

(* p = 0 or 1: the score is a count of values on one side, which moves one way. *)
Lemma up_to_le_present y rows : count up_to y rows <= count present y rows.
Proof.
  induction rows as [| r rows IH]; [unfold count; simpl; lia |]. rewrite !count_one_more.
  unfold up_to at 1, present at 1. destruct (value r) as [v |]; [destruct (v <=? y) |]; lia.
Qed.

(* @says The smallest and the largest value (p = 0 or 1): A1 = R1 = 1. *)
Theorem quantile_ends : 0 < den -> num = 0 \/ num = den -> declares den den (fun rows y => - off rows y).
Proof.
  intros Hd H.
  assert (E : (forall rows y, off rows y = den * count below y rows) \/
              (forall rows y, off rows y = den * (count present y rows - count up_to y rows))).
  { destruct H as [-> | ->]; [left | right]; intros rows y; unfold off; pose proof (below_le_up_to y rows);
      pose proof (up_to_le_present y rows); pose proof (count_nonneg _ _ below y rows); nia. }
  split.
  - intros x rows. split; intros y z; destruct E as [E | E]; rewrite !E, !count_one_more;
      unfold below, up_to, present; destruct (value x) as [v |];
      repeat match goal with |- context [?a <? ?b] => destruct (Z.ltb_spec a b) | |- context [?a <=? ?b] => destruct (Z.leb_spec a b) end; nia.
  - intros x x' rows y z; destruct E as [E | E]; rewrite !E, !count_one_more;
      unfold below, up_to, present; destruct (value x) as [v |], (value x') as [v' |];
      repeat match goal with |- context [?a <? ?b] => destruct (Z.ltb_spec a b) | |- context [?a <=? ?b] => destruct (Z.leb_spec a b) end; nia.
Qed.
End Quantile.

(* The order of records says nothing: what holds where the first is replaced holds where any is. *)
Section Anywhere.
Variables (Row Outcome : Type).
Definition ignores_order (u : score Row Outcome) : Prop := forall s t, Permutation s t -> forall y, u s y = u t y.

Lemma count_ignores_order (test : Outcome -> Row -> bool) : ignores_order (fun rows y => count test y rows).
Proof.
  intros s t P y. induction P as [| x s t P IH | x x' s | s t v P IH1 Q IH2]; rewrite ?count_one_more; lia.
Qed.

(* @says A score that ignores the order of records declares for a record anywhere what it declares for the first. *)
Theorem declared_anywhere a1 r1 u : ignores_order u -> declares a1 r1 u -> forall before x x' after,
  both_ways Row Outcome a1 u (before ++ x :: after) (before ++ after) /\
  range_of_change Row Outcome r1 u (before ++ x :: after) (before ++ x' :: after).
Proof.
  intros I [C D] before x x' after.
  assert (E : forall r y, u (before ++ r :: after) y = u (r :: before ++ after) y)
    by (intros; apply I, Permutation_sym, Permutation_middle).
  destruct (C x (before ++ after)) as [A B]. repeat split; intros y z; rewrite !E; auto. apply D.
Qed.
End Anywhere.

(* @says Depth, the most rows beyond, counts and ranks ignore the order of records. *)
Theorem scores_ignore_order (Row Half Point : Type) (inside : Half -> Point -> Row -> bool) halves
  (outside : nat -> Point -> Row -> bool) columns (value : Row -> option Z) num den :
  ignores_order Row Point (depth Row Half Point inside halves) /\
  ignores_order Row Point (most_beyond Row Point outside columns) /\
  ignores_order Row Z (off Row value num den).
Proof.
  repeat split; intros s t P y.
  - unfold depth. rewrite (Permutation_length P). f_equal. apply map_ext. intros h. apply (count_ignores_order Row Point (inside h) s t P y).
  - unfold most_beyond. f_equal. apply map_ext. intros j. apply (count_ignores_order Row Point (outside j) s t P y).
  - unfold off. rewrite (count_ignores_order Row Z (present Row value) s t P y), (count_ignores_order Row Z (up_to Row value) s t P y),
      (count_ignores_order Row Z (below Row value) s t P y). reflexivity.
Qed.
