(* The numbers that the program's scores declare (Bridge.v, where tests compare them): they hold, and they cannot be
   lowered. Tables of one or two records reach them, so that a smaller constant is false, not only unproven. *)
Require Import List Arith Lia ZArith.
Require Import Depth Prices Mechanisms Bridge.
Import ListNotations.
Open Scope Z_scope.

Notation declared pair u := (declares (fst pair) (snd pair) u).

(* @says The numbers that the program's scores declare are those that are proven of them. *)
Theorem constants_declared (Row Half Point Record Value : Type) (inside : Half -> Point -> Row -> bool) halves
  (outside : nat -> Point -> Row -> bool) columns (rank value : Row -> option Z) (side : Half -> Point -> Value -> bool)
  (block : list Record -> Value) (blocks : nat) :
  declared depth_score (depth Row Half Point inside halves) /\
  declared most_beyond_score (fun rows y => - most_beyond Row Point outside columns rows y) /\
  declared count_score (fun rows y => - count (beyond Row rank) y rows) /\
  (forall num den, 0 <= num <= den -> 0 < den -> declared (rank_declared num den) (fun rows y => - off Row value num den rows y)) /\
  (forall r, let u := depth_in_dealings Record Value Half Point side halves block blocks r in
     (forall w rows, both_ways _ _ (fst (blocks_score r)) u (w :: rows) rows) /\
     (forall numbers x x' rows, range_of_change _ _ (snd (blocks_score r)) u ((numbers, x) :: rows) ((numbers, x') :: rows))).
Proof.
  repeat apply conj; [apply depth_declares | apply most_beyond_declares | apply nested_rungs | intros; apply quantile_declares; auto |].
  intros r u. subst u. split.
  - intros w rows. split; intros y z; pose proof (dealt_one_more _ _ _ _ side halves block blocks r w rows y);
      pose proof (dealt_one_more _ _ _ _ side halves block blocks r w rows z); cbn [fst blocks_score]; lia.
  - intros numbers x x' rows y z. pose proof (dealt_replaced _ _ _ _ side halves block blocks r numbers x x' rows y).
    pose proof (dealt_replaced _ _ _ _ side halves block blocks r numbers x x' rows z). cbn [snd blocks_score]. lia.
Qed.

(* @says And so are those of sums, in the norm of cube noise: contributions from -h to h, and from 0 to h. *)
Theorem sums_declared h c c' s : 0 <= h -> length c = length s -> length c' = length s ->
  (Forall (fun v => Z.abs v <= h) c -> largest (vector_minus (vector_add c s) s) <= fst (middle_score h)) /\
  (Forall (fun v => Z.abs v <= h) c -> Forall (fun v => Z.abs v <= h) c' ->
   largest (vector_minus (vector_add c s) (vector_add c' s)) <= snd (middle_score h)) /\
  (Forall (fun v => 0 <= v <= h) c -> largest (vector_minus (vector_add c s) s) <= fst (end_score h)) /\
  (Forall (fun v => 0 <= v <= h) c -> Forall (fun v => 0 <= v <= h) c' ->
   largest (vector_minus (vector_add c s) (vector_add c' s)) <= snd (end_score h)).
Proof.
  intros Hh L L'. assert (W : forall v, Forall (fun x => 0 <= x <= h) v -> Forall (fun x => Z.abs x <= h) v)
    by (intros v F; eapply Forall_impl; [| exact F]; simpl; intros; lia).
  repeat split; intros; [apply moved_by | apply moved_between | apply moved_by |]; auto.
  clear W. cbn [snd end_score]. revert c' s L L' H H0. induction c as [| x c IH]; intros [| x' c'] [| y s] L L' F F'; simpl in *; try lia.
  inversion F; inversion F'; subst. specialize (IH c' s ltac:(lia) ltac:(lia) ltac:(assumption) ltac:(assumption)). lia.
Qed.

(* Depth on a line: rows on either side of a point. *)
Definition on_side (h : bool) (y r : Z) : bool := if h then y <=? r else r <=? y.
Definition line_depth : list Z -> Z -> Z := depth Z bool Z on_side [true; false].

Ltac reached D := let H := fresh in pose proof D as H; match type of H with ?l <= ?r => let v := eval vm_compute in l in change (v <= r) in H end; lia.

(* @says Depth needs A1 = 1 and R1 = 2: rows 0 and 5, or 0 twice. *)
Theorem depth_tight a1 r1 : declares a1 r1 line_depth -> 1 <= a1 /\ 2 <= r1.
Proof.
  intros [C D]. split; [reached (proj1 (C 0 []) 0 5) | reached (D 0 5 [0] 0 5)].
Qed.

(* @says Windows need R1 = 2, even in one column: a record goes from one window to another, so one score falls by 1 and the other rises by 1. *)
Theorem windows_tight a1 r1 : declares a1 r1 (fun rows windows => - outside_windows 1 rows windows) -> 1 <= a1 /\ 2 <= r1.
Proof.
  intros [C D]. split; [reached (proj1 (C [Some 0] []) [(0, 0)] [(5, 5)]) | reached (D [Some 0] [Some 5] [] [(0, 0)] [(5, 5)])].
Qed.

(* @says So do radii of two columns at once, though each column's are nested: a record comes nearer in one and goes farther away in the other. *)
Theorem radii_tight a1 r1 :
  declares a1 r1 (fun rows radii => - most_beyond (Z * Z) (Z * Z) (fun j y r => if Nat.eqb j 0 then fst y <? fst r else snd y <? snd r) [0%nat; 1%nat] rows radii) ->
  1 <= a1 /\ 2 <= r1.
Proof.
  intros [C D]. split; [reached (proj1 (C (5, 5) []) (9, 9) (0, 0)) | reached (D (0, 5) (5, 0) [] (0, 9) (9, 0))].
Qed.

(* @says Rows beyond nested rungs of one column need A1 = R1 = 1. *)
Theorem nested_tight a1 r1 : declares a1 r1 (fun rows y => - count (beyond Z Some) y rows) -> 1 <= a1 /\ 1 <= r1.
Proof. intros [C D]. split; [reached (proj2 (C 5 []) 0 9) | reached (D 0 5 [] 0 9)]. Qed.

(* @says Rows in a window need A1 = 1 and R1 = 2. *)
Theorem counts_tight a1 r1 : declares a1 r1 (fun rows y => count Z.eqb y rows) -> 1 <= a1 /\ 2 <= r1.
Proof. intros [C D]. split; [reached (proj1 (C 0 []) 0 5) | reached (D 0 5 [] 0 5)]. Qed.

(* @says Distances to a target need A1 = R1 = 2. *)
Theorem target_tight a1 r1 : declares a1 r1 (fun rows y => - Z.abs (count Z.leb y rows - 1)) -> 2 <= a1 /\ 2 <= r1.
Proof. intros [C D]. split; [reached (proj1 (C 2 [1]) 2 1) | reached (D 2 0 [1] 2 1)]. Qed.

(* @says The median needs A1 = 1 and R1 = 2 ranks, in halves of which it is counted: 2 and 4. *)
Theorem median_tight a1 r1 : declares a1 r1 (fun rows y => - off Z Some 1 2 rows y) -> 2 <= a1 /\ 4 <= r1.
Proof. intros [C D]. split; [reached (proj1 (C 1 [0]) 1 2) | reached (D 0 2 [1] 0 2)]. Qed.

(* @says Depth of block values needs 2 for each dealing, where a record is replaced and where one comes or goes: a block's value goes from one place to another. *)
Theorem blocks_tight a1 r1 :
  let u := depth_in_dealings Z Z bool Z on_side [true; false] (fun members => fold_right Z.add 0 members) 2 1 in
  (forall w rows, both_ways _ _ a1 u (w :: rows) rows) ->
  (forall numbers x x' rows, range_of_change _ _ r1 u ((numbers, x) :: rows) ((numbers, x') :: rows)) -> 2 <= a1 /\ 2 <= r1.
Proof. intros u C D. subst u. split; [reached (proj1 (C ([0%nat], 5) [([1%nat], 0)]) 5 0) | reached (D [0%nat] 0 5 [([1%nat], 0)] 0 5)]. Qed.
