(* What a record adds, in whole numbers: whatever floats made of its cells, the last step is in integers, and bounds it. A
   record is in one of the groups 0 ... groups - 1, or in none. No axioms. *)
Require Import List Lia ZArith.
Require Import Depth.
Import ListNotations.
Open Scope Z_scope.

Fixpoint vector_add (a b : list Z) : list Z := match a, b with x :: a', y :: b' => (x + y) :: vector_add a' b' | _, _ => [] end.
Fixpoint sums (d : nat) (rows : list (list Z)) : list Z := match rows with [] => repeat 0 d | c :: r => vector_add c (sums d r) end.

(* 1. What one record adds. *)
Section Record.
Variable h : Z.
Hypothesis h_pos : 0 < h.

Definition clipped (c : list Z) : list Z := map (fun v => Z.max (- h) (Z.min h v)) c.
Fixpoint size (c : list Z) : Z := match c with [] => 0 | v :: r => Z.abs v + size r end.
(* Towards 0, by the share of h that its sizes have among them, or of their sum where that is more. *)
Definition shortened (c : list Z) : list Z :=
  let all := Z.max h (size (clipped c)) in map (fun v => Z.sgn v * (Z.abs v * h / all)) (clipped c).

Lemma size_nonneg (c : list Z) : 0 <= size c.
Proof. induction c; cbn [size]; lia. Qed.

(* @says Whatever whole numbers floats made of a record: clipped, every one of them is from -h to h. *)
Theorem clipped_fits (c : list Z) : length (clipped c) = length c /\ Forall (fun v => Z.abs v <= h) (clipped c).
Proof.
  split; [apply map_length |]. apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as (w & <- & _). lia.
Qed.

Lemma size_of_shares all (c : list Z) : h <= all -> size (map (fun v => Z.sgn v * (Z.abs v * h / all)) c) * all <= size c * h.
Proof.
  intros H. induction c as [| v c IH]; cbn [map size]; [lia |].
  assert (A : Z.abs (Z.sgn v * (Z.abs v * h / all)) * all <= Z.abs v * h).
  { assert (0 <= Z.abs v * h / all) by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg |]; lia).
    pose proof (Z.mul_div_le (Z.abs v * h) all ltac:(lia)).
    assert (Z.abs (Z.sgn v) <= 1) by lia. rewrite Z.abs_mul, (Z.abs_eq (Z.abs v * h / all)) by auto. nia. }
  lia.
Qed.

(* @says Shortened in whole numbers, a record's sizes add up to h at most, with their signs and without, as many numbers as before. *)
Theorem shortened_fits (c : list Z) : size (shortened c) <= h /\ size (map Z.abs (shortened c)) <= h /\ length (shortened c) = length c.
Proof.
  assert (A : size (shortened c) <= h).
  { unfold shortened. pose proof (size_of_shares (Z.max h (size (clipped c))) (clipped c) ltac:(lia)) as B.
    pose proof (size_nonneg (clipped c)). nia. }
  assert (E : forall l, size (map Z.abs l) = size l) by (induction l as [| v l IH]; cbn [map size]; lia).
  repeat split; [exact A | rewrite E; exact A |]. unfold shortened, clipped. rewrite !map_length. reflexivity.
Qed.
End Record.

(* 2. Groups. A record: its group, if it is in a listed one, and the whole numbers that floats made of it. *)
Definition record : Type := (option nat * list Z)%type.
Definition in_group (g : nat) (r : record) : bool := match fst r with Some k => Nat.eqb k g | None => false end.
Definition own (d : nat) (made : list Z -> list Z) (g : nat) (r : record) : list Z := if in_group g r then made (snd r) else repeat 0 d.
Definition group_sums (d : nat) (made : list Z -> list Z) (g : nat) (rows : list record) : list Z := sums d (map (own d made g) rows).

(* 3. Magnitudes. A window of magnitudes: sizes above the first number, up to the second, and of positive values alone if so said. *)
Definition magnitudes : Type := (Z * Z * bool)%type.
Definition out_of (w : magnitudes) (value : option Z) : bool :=
  match value with
  | None => false
  | Some v => negb (Z.eqb v 0) &&
      negb (Z.ltb (fst (fst w)) (Z.abs v) && Z.leb (Z.abs v) (snd (fst w)) && (Z.ltb 0 v || negb (snd w)))
  end.
Definition outside_magnitudes (columns : list nat) (rows : list (list (option Z))) (ws : list magnitudes) : Z :=
  most_beyond (list (option Z)) (list magnitudes) (fun j ws r => out_of (nth j ws (0, 0, false)%Z) (nth j r None)) columns rows ws.
