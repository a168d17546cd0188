(* The sampler. A try proposes a point or nothing; tries go on until one is kept. Whatever boxes, leaves, caps and
   multipliers a search proposes, a kept point has exactly the law of the exponential mechanism, because what the law
   rests on is checked in integers. *)
Require Import Reals List Lra Lia ZArith.
Require Import Laws.
Import ListNotations.

(* 1. Tries until one is kept: the law of what is kept is that of one try, made to sum to 1; with every further try less
   is left undecided, and in the limit nothing is. *)
Section Tries.
Open Scope R_scope.
Context {Y : Type}.
Variables (ys : list Y) (t : Y -> R).
Hypothesis t_nonneg : forall y, In y ys -> 0 <= t y.
Hypothesis t_most : 0 < total t ys <= 1.
Notation A := (total t ys).

(* Kept at y within n tries. *)
Fixpoint within_tries (n : nat) (y : Y) : R :=
  match n with O => 0 | S m => t y + (1 - A) * within_tries m y end.

(* @says Tries until one is kept: what is kept has the law of one try, made to sum to 1.
   @code trusted/exponential.py::Exponential.next_accepted *)
Theorem kept_law n y : within_tries n y = t y / A * (1 - (1 - A) ^ n).
Proof. induction n as [| n IH]; simpl; [ring |]. rewrite IH. field. lra. Qed.

(* @says With every further try less is left undecided, and in the limit nothing.
   @code trusted/exponential.py::Exponential.next_accepted *)
Theorem terminates : forall eps, 0 < eps -> exists N, forall n, (n >= N)%nat -> (1 - A) ^ n < eps.
Proof.
  intros eps He. destruct (pow_lt_1_zero (1 - A) ltac:(rewrite Rabs_right; lra) eps He) as [N H].
  exists N. intros n Hn. specialize (H n Hn). apply Rle_lt_trans with (Rabs ((1 - A) ^ n)); [apply Rle_abs | exact H].
Qed.

(* Where a try keeps y with a weight proportional to w y, what is kept has the law of the weights. *)
(* @says If a try keeps y with a weight proportional to w(y), so is the law of what is kept.
   @code trusted/exponential.py::Exponential.next_accepted *)
Theorem kept_in_proportion c (w : Y -> R) : 0 < c -> (forall y, In y ys -> t y = c * w y) ->
  forall y, In y ys -> t y / A = w y / total w ys.
Proof.
  intros Hc H y Hy.
  assert (E : A = c * total w ys) by (rewrite <- total_scale; apply total_ext; auto).
  rewrite E, (H y Hy). assert (total w ys <> 0) by (intros Z; rewrite E, Z in t_most; lra). field. lra.
Qed.
End Tries.

(* 2. Levels: level l with weight step l times the size of its cover, a uniform point of the cover, kept if it is that
   deep. Covers are any sets of known size that contain their level (boxes, unions of disjoint boxes, slanted boxes). *)
Section Levels.
Open Scope R_scope.
Context {Y : Type}.
Variables (depth : Y -> nat) (cover : nat -> Y -> bool) (lowest extra : nat) (half_eps : R).
Hypothesis covers : forall l y, (l <= depth y)%nat -> cover l y = true.
Notation q := (fun l : nat => exp (half_eps * INR l)).

(* Levels lowest, lowest + 1, ...; the lowest weighs q^lowest, each further one what q^l has more. *)
Definition step (i : nat) : R := match i with O => q lowest | S j => q (lowest + S j)%nat - q (lowest + j)%nat end.
Fixpoint upto (f : nat -> R) (m : nat) : R := match m with O => f O | S k => upto f k + f (S k) end.

Lemma telescopes m : upto step m = q (lowest + m)%nat.
Proof.
  induction m as [| m IH]; [simpl; rewrite Nat.add_0_r; reflexivity |].
  change (upto step m + step (S m) = q (lowest + S m)%nat). rewrite IH. unfold step. lra.
Qed.

Definition kept_at (i : nat) (y : Y) : R :=
  if cover (lowest + i)%nat y then (if Nat.leb (lowest + i) (depth y) then step i else 0) else 0.

(* @says Levels by their steps, points from any covers of the levels, kept if they are that deep: weights e^(eps T / 2), whatever the covers, from the lowest level on.
   @code trusted/laws.py::LevelDraw, trusted/exponential.py::groups_of *)
Theorem levels_exact y : (depth y <= lowest + extra)%nat ->
  upto (fun i => kept_at i y) extra =
  (if Nat.leb lowest (depth y) then exp (half_eps * INR (depth y)) else 0).
Proof.
  intros Hd. destruct (Nat.leb_spec lowest (depth y)) as [L | L].
  - set (k := (depth y - lowest)%nat). assert (K : (depth y = lowest + k)%nat) by (unfold k; lia).
    assert (G : forall m, upto (fun i => kept_at i y) m = upto step (Nat.min m k)).
    { induction m as [| m IH].
      - simpl. unfold kept_at. rewrite covers by lia. rewrite Nat.add_0_r.
        destruct (Nat.leb_spec lowest (depth y)); [reflexivity | lia].
      - change (upto (fun i => kept_at i y) m + kept_at (S m) y = upto step (Nat.min (S m) k)). rewrite IH. unfold kept_at.
        destruct (Nat.leb_spec (lowest + S m) (depth y)) as [M | M].
        + rewrite covers by lia. rewrite !Nat.min_l by lia. reflexivity.
        + rewrite !Nat.min_r by lia. destruct (cover (lowest + S m)%nat y); lra. }
    rewrite G, Nat.min_r by lia. rewrite telescopes, <- K. reflexivity.
  - assert (G : forall m, upto (fun i => kept_at i y) m = 0).
    { induction m as [| m IH]; simpl.
      - unfold kept_at. destruct (cover (lowest + 0)%nat y); auto. destruct (Nat.leb_spec (lowest + 0) (depth y)); [lia | auto].
      - rewrite IH. unfold kept_at. destruct (cover (lowest + S m)%nat y); [| lra].
        destruct (Nat.leb_spec (lowest + S m) (depth y)); [lia | lra]. }
    apply G.
Qed.
End Levels.

(* 3. A partition with caps: leaf l with weight size(l) e^(kappa cap(l)), one of the [size] points of its proposal set,
   rejected if it lies in another leaf, kept with chance e^(-kappa (cap - depth)). *)
Section Caps.
Open Scope R_scope.
Context {Y L : Type}.
Variables (depth : Y -> R) (leaf : Y -> L) (cap size : L -> R) (kappa all : R).
Hypothesis size_pos : forall l, 0 < size l.
Hypothesis all_pos : 0 < all.                     (* the sum of the leaves' weights *)
Hypothesis kappa_nonneg : 0 <= kappa.
Hypothesis caps_hold : forall y, depth y <= cap (leaf y).

Definition keep (y : Y) : R := exp (- (kappa * (cap (leaf y) - depth y))).
Definition one_try (y : Y) : R := size (leaf y) * exp (kappa * cap (leaf y)) / all * / size (leaf y) * keep y.

(* @says Where caps hold, the chance of keeping is one.
   @code trusted/covers.py::Covers.branched *)
Theorem keep_is_a_chance y : 0 < keep y <= 1.
Proof.
  split; [apply exp_pos |]. unfold keep. rewrite <- exp_0.
  assert (0 <= kappa * (cap (leaf y) - depth y)) by (apply Rmult_le_pos; [auto | specialize (caps_hold y); lra]).
  destruct (Req_dec (- (kappa * (cap (leaf y) - depth y))) 0) as [-> | N]; [lra | left; apply exp_increasing; lra].
Qed.

(* @says A partition with caps: weights e^(kappa T), whatever the partition, caps and proposal sets.
   @code trusted/covers.py::Covers.branched *)
Theorem caps_exact y : one_try y = / all * exp (kappa * depth y).
Proof.
  unfold one_try, keep. pose proof (size_pos (leaf y)).
  replace (kappa * depth y) with (kappa * cap (leaf y) + - (kappa * (cap (leaf y) - depth y))) by ring.
  rewrite exp_plus. field. lra.
Qed.

(* Splitting a drawn leaf inside a try: child j of weight w_j with chance w_j / w, the rest a rejection, is as if the
   children had been there from the start. *)
(* @says A leaf may be split inside a try. (The design of the core; not used today.)
   @code - *)
Theorem splitting w child : 0 < w -> (w / all) * (child / w) = child / all.
Proof. intros H. field. lra. Qed.
End Caps.

(* 4. The checks, in integers. *)
Section Checks.
Open Scope Z_scope.

Fixpoint dot (v y : list Z) : Z := match v, y with a :: v', b :: y' => a * b + dot v' y' | _, _ => 0 end.
Definition most (u low high : Z) : Z := if 0 <? u then u * high else u * low.

Lemma most_bounds u low high p : low <= p <= high -> u * p <= most u low high.
Proof. intros. unfold most. destruct (Z.ltb_spec 0 u); nia. Qed.

(* A direction, the range of its projections on the level (two order statistics), and its multiplier. *)
Record term := { v : list Z; low : Z; high : Z; u : Z }.

Fixpoint upper (ts : list term) : Z := match ts with [] => 0 | t :: r => most (u t) (low t) (high t) + upper r end.
Fixpoint combined (ts : list term) (y : list Z) : Z := match ts with [] => 0 | t :: r => u t * dot (v t) y + combined r y end.
Definition in_level (ts : list term) (y : list Z) : Prop := forall t, In t ts -> low t <= dot (v t) y <= high t.

Lemma combined_le_upper ts y : in_level ts y -> combined ts y <= upper ts.
Proof.
  induction ts as [| t ts IH]; intros H; simpl; [lia |].
  assert (low t <= dot (v t) y <= high t) as B by (apply H; left; reflexivity).
  pose proof (most_bounds (u t) _ _ _ B).
  assert (combined ts y <= upper ts) by (apply IH; intros s Hs; apply H; right; assumption). lia.
Qed.

Fixpoint in_box (y lows highs : list Z) : Prop :=
  match y, lows, highs with
  | b :: y', l :: ls, h :: hs => l <= b <= h /\ in_box y' ls hs
  | [], [], [] => True | _, _, _ => False end.
Fixpoint over_box (r lows highs : list Z) : Z :=
  match r, lows, highs with a :: r', l :: ls, h :: hs => most a l h + over_box r' ls hs | _, _, _ => 0 end.

Lemma dot_over_box : forall r y lows highs, length r = length y -> in_box y lows highs -> dot r y <= over_box r lows highs.
Proof.
  induction r as [| a r IH]; intros [| b y] [| l ls] [| h hs] Hl Hb; simpl in *; try lia; try contradiction.
  destruct Hb as [B Hb]. pose proof (most_bounds a l h b B). specialize (IH y ls hs ltac:(lia) Hb). lia.
Qed.

(* What the program computes: minus the sum of the multiplied directions, added to [scale] times the objective. *)
Fixpoint add (a b : list Z) : list Z := match a, b with x :: a', y :: b' => (x + y) :: add a' b' | _, _ => [] end.
Fixpoint residual (c : list Z) (ts : list term) : list Z :=
  match ts with [] => c | t :: r => add (map (Z.mul (- u t)) (v t)) (residual c r) end.

Lemma dot_add : forall a b y, length a = length b -> length b = length y -> dot (add a b) y = dot a y + dot b y.
Proof.
  induction a as [| x a IH]; intros [| z b] [| w y] H1 H2; simpl in *; try lia. rewrite IH by lia. lia.
Qed.
Lemma dot_scaled k : forall a y, dot (map (Z.mul k) a) y = k * dot a y.
Proof. induction a as [| x a IH]; intros [| w y]; simpl; try lia. rewrite IH. lia. Qed.
Lemma add_length : forall a b, length a = length b -> length (add a b) = length b.
Proof. induction a as [| x a IH]; intros [| z b] H; simpl in *; try lia. rewrite IH; lia. Qed.

Lemma residual_length c ts : (forall t, In t ts -> length (v t) = length c) -> length (residual c ts) = length c.
Proof.
  induction ts as [| t ts IH]; intros H; simpl; auto.
  assert (E : length (residual c ts) = length c) by (apply IH; intros; apply H; right; auto).
  rewrite add_length; [exact E |]. rewrite map_length, E. apply H. left. reflexivity.
Qed.

Lemma residual_spec c ts y : length y = length c -> (forall t, In t ts -> length (v t) = length c) ->
  dot c y = combined ts y + dot (residual c ts) y.
Proof.
  intros Hy. induction ts as [| t ts IH]; intros H; simpl; [lia |].
  assert (Hr : forall s, In s ts -> length (v s) = length c) by (intros; apply H; right; auto).
  pose proof (residual_length c ts Hr) as E.
  rewrite dot_add; [rewrite dot_scaled, (IH Hr); lia | | lia].
  rewrite map_length, E. apply H. left. reflexivity.
Qed.

(* trusted/certificates.py: an upper bound of an objective on a level inside a known box, multipliers over 2^shift. *)
(* @says The integer bound of an objective on a level holds for any multipliers.
   @code trusted/certificates.py::upper_bound *)
Theorem upper_bound_sound c ts lows highs scale : 0 < scale -> (forall t, In t ts -> length (v t) = length c) ->
  forall y, length y = length c -> in_box y lows highs -> in_level ts y ->
  dot c y <= (upper ts + over_box (residual (map (Z.mul scale) c) ts) lows highs) / scale.
Proof.
  intros Hs Hv y Hy Hb Hl. apply Z.div_le_lower_bound; [exact Hs |].
  rewrite <- (dot_scaled scale c y).
  assert (Hv' : forall t, In t ts -> length (v t) = length (map (Z.mul scale) c)) by (intros; rewrite map_length; auto).
  rewrite (residual_spec (map (Z.mul scale) c) ts y) by (rewrite ?map_length; auto).
  pose proof (combined_le_upper ts y Hl).
  pose proof (dot_over_box (residual (map (Z.mul scale) c) ts) y lows highs).
  rewrite (residual_length (map (Z.mul scale) c) ts Hv'), map_length in H0. specialize (H0 ltac:(lia) Hb). lia.
Qed.

(* With the objective 0 and a negative bound the level is empty in the box: a cap holds. *)
(* @says A negative bound of the objective 0 proves that the level has no point in the box.
   @code trusted/certificates.py::proves_empty *)
Theorem cap_sound zero ts lows highs scale : 0 < scale -> (forall y, dot zero y = 0) ->
  (forall t, In t ts -> length (v t) = length zero) ->
  (upper ts + over_box (residual (map (Z.mul scale) zero) ts) lows highs) / scale < 0 ->
  forall y, length y = length zero -> in_box y lows highs -> ~ in_level ts y.
Proof.
  intros Hs Hz Hv Hneg y Hy Hb Hl.
  pose proof (upper_bound_sound zero ts lows highs scale Hs Hv y Hy Hb Hl). rewrite Hz in H. lia.
Qed.

(* A cut parts a box in two, and every point lies in one of them: leaves partition the box. *)
Theorem cut_covers (lows highs : list Z) j at_ y : in_box y lows highs ->
  nth j y 0 <= at_ \/ at_ + 1 <= nth j y 0.
Proof. lia. Qed.
Theorem cut_parts at_ (c : Z) : ~ (c <= at_ /\ at_ + 1 <= c).
Proof. lia. Qed.

(* A cap without multipliers: no point is deeper than the rows on either side of all its projections. *)
(* @says No point of a box is deeper than the rows on either side of all its projections. (The design of the core.)
   @code - *)
Theorem own_cap (rows : list Z) first last p :
  first <= p <= last ->
  Z.of_nat (length (filter (fun r => p <=? r) rows)) <= Z.of_nat (length (filter (fun r => first <=? r) rows)) /\
  Z.of_nat (length (filter (fun r => r <=? p) rows)) <= Z.of_nat (length (filter (fun r => r <=? last) rows)).
Proof.
  intros H. induction rows as [| r rows [A B]]; cbn [filter length]; [lia |]. split.
  - destruct (Z.leb_spec p r), (Z.leb_spec first r); cbn [length]; lia.
  - destruct (Z.leb_spec r p), (Z.leb_spec r last); cbn [length]; lia.
Qed.
End Checks.

(* 5. Shapes other than boxes along the axes. A change of coordinates by an integer matrix with an integer inverse maps
   grid points one to one, so a box of the new coordinates has as many points as its widths' product. *)
Section Slanted.
Context {P : Type}.
Variables (turn back : P -> P).
Hypothesis inverse : forall y, back (turn y) = y.
(* @says A matrix with an integer inverse maps grid points one to one: a slanted box has as many points as its widths' product.
   @code trusted/matrices.py::Basis *)
Theorem turned_once : forall y z, turn y = turn z -> y = z.
Proof. intros y z H. rewrite <- (inverse y), <- (inverse z), H. reflexivity. Qed.
End Slanted.
