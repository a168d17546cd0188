(* What the theorems speak of, as functions that run: tests/proofs/test_bridge.py compares them with the package's own, on
   random and hostile inputs. *)
Require Import List ZArith QArith Lia.
Require Import Depth Sampler.
Import ListNotations.
Open Scope Z_scope.

(* trusted/certificates.py::upper_bound, as in Sampler.upper_bound_sound. *)
Definition bound (scale : Z) (c : list Z) (ts : list term) (lows highs : list Z) : Z :=
  (upper ts + over_box (residual (map (Z.mul scale) c) ts) lows highs) / scale.

(* trusted/levels.py::LevelSets.depths, as in Depth.depth: closed halfspaces v.r >= v.y and v.r <= v.y; a row with a missing
   cell is None, and lies in none. *)
Definition in_halfspace (h : list Z * bool) (y : list Z) (r : option (list Z)) : bool :=
  match r with
  | None => false
  | Some row => if snd h then dot (fst h) y <=? dot (fst h) row else dot (fst h) row <=? dot (fst h) y
  end.
Definition depth_of (directions : list (list Z)) (rows : list (option (list Z))) (y : list Z) : Z :=
  depth (option (list Z)) (list Z * bool) (list Z) in_halfspace
    (flat_map (fun v => [(v, true); (v, false)]) directions) rows y.

(* mechanisms/quantiles.py::RankLaw.score, as in Depth.off. *)
Definition rank_score (num den : Z) (values : list (option Z)) (y : Z) : Z := off (option Z) (fun v => v) num den values y.

(* mechanisms/clipped_sum.py: the most rows beyond, as in Depth.most_beyond; a row's cell lies beyond the rungs below it. *)
Definition beyond_most (columns : list nat) (rows : list (list (option Z))) (rung : Z) : Z :=
  most_beyond (list (option Z)) Z (fun j y r => match nth j r None with Some k => y <? k | None => false end) columns rows rung.

(* trusted/laws.py::WeightedDraw.draw: the index that a prefix decides, by the two comparisons of
   Brackets.decided_is_right. *)
Fixpoint decided (before : option Z) (lows highs : list Z) (low_all high_all p unit : Z) (i : Z) : option Z :=
  match lows, highs with
  | l :: lows', h :: highs' =>
      let from := match before with None => true | Some b => b * unit <=? p * low_all end in
      let upto := match lows' with [] => true | _ => (p + 1) * high_all <=? l * unit end in
      if andb from upto then Some i else decided (Some h) lows' highs' low_all high_all p unit (i + 1)
  | _, _ => None
  end.

(* accounts/accountant.py: what a filter over a budget admits, one request after another, as in Accountant.admitted. *)
Fixpoint admitted_in_turn (left : Q) (asked : list Q) : list bool :=
  match asked with
  | [] => []
  | e :: r => if Qle_bool e left then true :: admitted_in_turn (left - e) r else false :: admitted_in_turn left r
  end.

(* What was admitted fits into the budget, always. *)
Fixpoint spent (asked : list Q) (yes : list bool) : Q :=
  match asked, yes with e :: a, true :: y => e + spent a y | _ :: a, false :: y => spent a y | _, _ => 0 end.
Theorem never_beyond_the_budget : forall asked left, (0 <= left)%Q -> (spent asked (admitted_in_turn left asked) <= left)%Q.
Proof.
  induction asked as [| e asked IH]; intros left H; simpl; [exact H |].
  destruct (Qle_bool e left) eqn:E; simpl.
  - apply Qle_bool_iff in E. assert (0 <= left - e)%Q.
    { unfold Qminus. apply (Qplus_le_l _ _ e). ring_simplify. exact E. }
    specialize (IH (left - e)%Q H0). apply (Qplus_le_r _ _ e) in IH. ring_simplify in IH. ring_simplify. exact IH.
  - apply IH. exact H.
Qed.
