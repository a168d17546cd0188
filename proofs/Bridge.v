(* What the theorems speak of, as functions that run: tests/proofs/test_bridge.py compares them with the package's own, on
   random and hostile inputs. *)
Require Import List ZArith QArith Qminmax Bool Lia.
Require Import Depth Sampler.
Import ListNotations.
Open Scope Z_scope.

(* trusted/certificates.py::upper_bound, as in Sampler.upper_bound_sound. *)
Definition bound (scale : Z) (c : list Z) (ts : list term) (lows highs : list Z) : Z :=
  (upper ts + over_box (residual (map (Z.mul scale) c) ts) lows highs) / scale.

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


Fixpoint spent (asked : list Q) (yes : list bool) : Q :=
  match asked, yes with e :: a, true :: y => e + spent a y | _ :: a, false :: y => spent a y | _, _ => 0 end.
(* @says What a filter admits, one request after another, fits into its budget. *)
Theorem never_beyond_the_budget : forall asked left, (0 <= left)%Q -> (spent asked (admitted_in_turn left asked) <= left)%Q.
Proof.
  induction asked as [| e asked IH]; intros left H; simpl; [exact H |].
  destruct (Qle_bool e left) eqn:E; simpl.
  - apply Qle_bool_iff in E. assert (0 <= left - e)%Q.
    { unfold Qminus. apply (Qplus_le_l _ _ e). ring_simplify. exact E. }
    specialize (IH (left - e)%Q H0). apply (Qplus_le_r _ _ e) in IH. ring_simplify in IH. ring_simplify. exact IH.
  - apply IH. exact H.
Qed.

(* trusted/prices.py: the numbers of Table.one_rule and Table.parts_prices. *)
Definition kappa (epsilon one swap : Q) (add_remove : bool) (keys : Z) : Q :=
  Qred (if add_remove then epsilon / one else if 2 <=? keys then epsilon / (2 * one) else epsilon / Qmax swap one).
Fixpoint two_largest (first second : Q) (parts : list Q) : Q * Q :=
  match parts with
  | [] => (first, second)
  | p :: r => if Qle_bool first p then two_largest p first r else two_largest first (Qmax second p) r
  end.
Definition kappa_of_parts (epsilon : Q) (parts : list (Q * Q)) (add_remove : bool) (keys : Z) : Q :=
  let two := two_largest 0 0 (map fst parts) in
  if add_remove || (2 <=? keys) then kappa epsilon (fst two) (2 * fst two) add_remove keys
  else Qred (epsilon / fold_right Qmax (fst two + snd two)%Q (map snd parts)).

(* What scores and sums declare, (A1, R1), ranks in units of 1/den: Tight.v proves it. *)
Definition depth_score : Z * Z := (1, 2).
Definition most_beyond_score : Z * Z := (1, 2).
Definition count_score : Z * Z := (1, 1).
Definition blocks_score (dealings : nat) : Z * Z := (2 * Z.of_nat dealings, 2 * Z.of_nat dealings).
Definition middle_score (half : Z) : Z * Z := (half, 2 * half).
Definition end_score (most : Z) : Z * Z := (most, most).
Definition rank_declared (num den : Z) : Z * Z := (2 * Z.max num (den - num), 2 * den).

(* trusted/prices.py::share_of_group and trusted/account.py::rho_of_cells. *)
Definition touched (add_remove : bool) (keys : Z) : Z := if add_remove then 1 else if 2 <=? keys then 2 else 1.
Definition share_of_group (add_remove : bool) (keys : Z) : Q := Qred (1 / inject_Z (touched add_remove keys)).
Definition rho_of_cells (epsilon : Q) (add_remove : bool) (cells : Z) : Q :=
  Qred (epsilon * epsilon / (2 * inject_Z (touched add_remove cells))).

(* accounts/budget.py::Limits.admit, as in Accountant.mixed_admitted: epsilons and deltas, or rhos and their deltas. *)
Record sums := { s_eps : Q; s_delta : Q; s_rho : Q; s_rho_delta : Q }.
Definition plus (a b : sums) : sums :=
  {| s_eps := (s_eps a + s_eps b)%Q; s_delta := (s_delta a + s_delta b)%Q; s_rho := (s_rho a + s_rho b)%Q; s_rho_delta := (s_rho_delta a + s_rho_delta b)%Q |}.
Definition fits_plainly (epsilon own conversion : Q) (t : sums) : bool :=
  Qle_bool (s_eps t) epsilon && Qle_bool (s_delta t) own && (Qeq_bool conversion 0 || Qeq_bool (s_delta t) (s_rho_delta t)).
Definition fits_by_rho (own conversion rho : Q) (t : sums) : bool :=
  negb (Qle_bool conversion 0) && Qle_bool (s_rho t) rho && Qle_bool (s_rho_delta t) own.
Definition fits (epsilon own conversion rho : Q) (t : sums) : bool :=
  fits_plainly epsilon own conversion t || fits_by_rho own conversion rho t.
Fixpoint mixed_in_turn (epsilon own conversion rho : Q) (t : sums) (asked : list sums) : list bool * sums :=
  match asked with
  | [] => ([], t)
  | e :: r =>
      if fits epsilon own conversion rho (plus t e)
      then let (rest, last) := mixed_in_turn epsilon own conversion rho (plus t e) r in (true :: rest, last)
      else let (rest, last) := mixed_in_turn epsilon own conversion rho t r in (false :: rest, last)
  end.

(* @says What a mixed budget has admitted fits by its epsilons or by its rhos, as the theorem of mixed budgets asks of every history. *)
Theorem mixed_never_beyond epsilon own conversion rho : forall asked t, fits epsilon own conversion rho t = true ->
  fits epsilon own conversion rho (snd (mixed_in_turn epsilon own conversion rho t asked)) = true.
Proof.
  induction asked as [| e asked IH]; intros t H; cbn [mixed_in_turn snd]; [exact H |].
  destruct (fits epsilon own conversion rho (plus t e)) eqn:E.
  - specialize (IH (plus t e) E). destruct (mixed_in_turn epsilon own conversion rho (plus t e) asked). exact IH.
  - specialize (IH t H). destruct (mixed_in_turn epsilon own conversion rho t asked). exact IH.
Qed.

(* The finite law of the exponential mechanism on a tiny grid, e^kappa taken to be the rational q. *)
Definition law_of (q : Q) (directions : list (list Z)) (rows : list (option (list Z))) (grid : list (list Z)) : list Q :=
  let weights := map (fun y => Qpower q (depth_of directions rows y)%Z) grid in
  let all := fold_right (fun a b => Qred (a + b)%Q) 0%Q weights in
  map (fun w => Qred (w / all)) weights.
