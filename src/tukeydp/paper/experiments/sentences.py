"""The paper, sentence by sentence: each of its claims with ours, or why it cannot be tested. Data, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

# What words of size mean in the claims, decided from the words and before the runs.
READINGS = (
    "Words of size mean the same everywhere: comparable, similarly, similar - within a factor of 2; much - a factor "
    "of 2; close, negligible - within 20 %; insensitive - within a factor of 1.5; roughly x, around x - what rounds "
    "to x; not too large - at most 10; slowly - by less than half at a time; an exponent - that of the law at the "
    "places measured, give or take 0.1 to 0.25."
)


class Sentence(NamedTuple):
    """Where the paper says what; our claims about it, as experiment/claim; and the reason where there is none."""

    place: str
    quote: str
    claims: tuple[str, ...] = ()
    reason: str = ""


# Place, quote, claims, and the reason. The last ones are ours, about what the paper leaves open.
# fmt: off
_TABLE: tuple[tuple[str, ...], ...] = (
    ("Abstract", "more advanced techniques such as the exponential mechanism over quantiles offer robustness and "
     "improved performance, especially for small sample sizes", "univariate/boxem-100 univariate/like-median "
     "outliers-fraction/less-sensitive"),
    ("Abstract", "viable options for modest dimensions; competitive approaches for mean estimation in this regime",
     "times/ten-minutes times/largest error-n/consistently exact-four/comparable-500"),
    ("Abstract", "Our implementations enable the use of these mechanisms for small samples or low-dimensional data; "
     "fast volume approximation paves the way to higher dimensions", "small-samples/below-75 "
     "exact-four/comparable-500 ten-columns/walks", "The second half is an outlook."),
    ("Abstract", "similar strong theoretical guarantees; a theoretically optimal mean estimator for multivariate "
     "Gaussian distributions", "", "A theorem about the mechanism, not a measurement; its shape is in the rows on "
     "REM's theorem."),
    ("Abstract", "trading off accuracy for faster computation", "times/random-faster directions/approaches "
     "dimensions/axes-worse"),
    ("1", "the exponential mechanism over quantiles: stronger guarantees, performs well even at small sample sizes",
     "univariate/like-median univariate/much-better"),
    ("1", "The Mahalanobis norm captures the uncertainty of the empirical mean and is invariant under affine "
     "transformations", "", "Follows from its definition: the sample mean's covariance is Sigma/n."),
    ("1", "The algorithm with the lowest error for this task is REM", "", "A comparison of theorems, not of "
     "programs."),
    ("1, equation (1)", "n >~ d/alpha^2 + d/(alpha eps) + log(1/delta)/eps rows suffice for Mahalanobis error alpha; "
     "modest absolute constants", "rem-theorem/root-n rem-theorem/log-delta rem-theorem/constant-10 "
     "rem-theorem/constant-20"),
    ("1", "The sample complexity is nearly tight, matching known lower bounds", "", "A theorem about the mechanism, "
     "not a measurement: lower bounds speak of all mechanisms, of which a simulation sees a few."),
    ("1", "comparable guarantees elsewhere require exponential or high polynomial running time", "", "About other "
     "people's algorithms, which are not run here."),
    ("1", "REM requires no prior knowledge about the parameters", "error-R/flat rem-theorem/exact-invariant", "It "
     "takes neither a range nor a covariance: a fact about its arguments. That its error depends on neither is "
     "measured."),
    ("1", "the Gaussian mechanism needs R sqrt(d log 1/delta)/(alpha eps) more rows: linear in R", "error-R/linear"),
    ("1", "an extra factor of sqrt(log 1/delta), which may be a high price for small sample sizes",
     "error-n/below-gaussian univariate/gaussian-100"),
    ("1", "Even R of about sqrt(d) requires strong prior knowledge about the location of the distribution",
     "error-R/linear", "Whether such knowledge is there is a judgement; what its absence costs is measured."),
    ("1", "the increase in complexity [of CoinPress and its kin] increases the error by (sometimes large) constant "
     "factors", "error-n/below-coinpress nonspherical/high-error"),
    ("1", "it is robust, optimal up to logarithmic terms in an affine-invariant metric, and needs no prior knowledge",
     "adversary/bounded rem-theorem/exact-invariant error-R/flat", "Optimality is a theorem."),
    ("1, figure 1", "The convex hull is exactly the set of points with nonzero depth; level sets are nested",
     "depth/hull depth/nested"),
    ("1.1", "Depth generalises quantiles; points closer to the centre of the data have higher depth", "depth/nested"),
    ("1.1", "Tukey medians are robust and accurate mean estimators for Gaussian distributions",
     "univariate/like-median univariate/limit adversary/bounded", "Seen through BoxEM, whose output is near the "
     "median once its noise is small: the median's error is sqrt(pi/(2n)) in one column."),
    ("1.1", "Tukey depth has sensitivity one", "", "A theorem about the mechanism, not a measurement: "
     "docs/proofs/boxem.md; by enumeration in tests/depth/test_sensitivity.py."),
    ("1.1", "A bounded output space is required; error bounds for concentrated or pure DP need such assumptions", "",
     "A lower bound, and the integral over the whole space is infinite; td.boxem asks for bounds."),
    ("1.1", "REM's restriction is data-dependent, so that the standard privacy proof no longer applies; hence the "
     "test", "", "Right: docs/proofs/rem.md; a restricted draw without a test tells which points have depth below "
     "t."),
    ("1.1", "Computing T_x(y) is NP-hard; the fastest known algorithms take time n^(d-1)",
     "asymptotic/exact-depth-d2 asymptotic/exact-depth-d3 asymptotic/exact-depth-d4", "NP-hardness is a theorem."),
    ("1.2", "We implement the distance-to-unsafety check and test this algorithm in 2, 3, and 4 dimensions",
     "smallest-n/half-2 smallest-n/half-3 smallest-n/half-5 rem-theorem/constant-20 times/representative",
     "Algorithm 2 as printed runs in two to five columns here, in four for its times. The paper's figures show it in "
     "two."),
    ("1.2", "random depth: an asymptotic running time of n k^d and a significant speed-up in practice",
     "times/random-faster asymptotic/exact-volume-d3 asymptotic/exact-volume-d4"),
    ("1.2", "viable options in modest dimensions; given robustness, affine invariance and accuracy competitive",
     "times/ten-minutes error-n/much-better adversary/bounded rem-theorem/depth-invariant"),
    ("2, strong contamination", "accurate even if an adversary is allowed to arbitrarily change a constant fraction "
     "of the data", "adversary/bounded adversary/worst"),
    ("2", "A level set is an intersection of halfspaces, a polytope; the first is the convex hull", "depth/hull "
     "depth/nested"),
    ("2", "roughly n^(d-1) directions suffice to describe a level set", "", "A theorem about the mechanism, not a "
     "measurement: docs/proofs/exact-depth.md uses it; the number is not counted here."),
    ("3, related work", "the naive Gaussian mechanism has error that scales linearly with R; CoinPress's depends "
     "logarithmically on it", "error-R/linear error-R/grows error-R/steeper"),
    ("3", "[Huang et al., FriendlyCore] have guarantees comparable to CoinPress; [PLAN, Dagan et al.] better ones "
     "for low-rank data", "error-n/perform-similarly", "Guarantees are other people's theorems. FriendlyCore and "
     "Dagan et al. are not implemented here; low-rank data are not in this paper's experiments."),
    ("3", "All algorithms described up to there end by introducing Gaussian noise", "nonspherical/spherical", "A "
     "fact about their text; its shape is seen in CoinPress's outputs."),
    ("3", "[Duchi et al., Brown et al. 2023] significant constants in their privacy guarantees, yielding poor "
     "small-sample performance", "", "About other people's work, which is not run here."),
    ("3", "Huang, Liang, and Yi and [PLAN] also release code but, in the setting of our simulations, perform "
     "similarly", "error-n/perform-similarly"),
    ("3", "The exponential mechanism over quantiles performs very well in practice", "univariate/like-median "
     "univariate/much-better"),
    ("3", "Turning robust statistics into private algorithms: none of these seem amenable to implementation; both "
     "Tukey approaches are computationally inefficient", "", "Judgements about other work; the asymptotic table has "
     "the exponents."),
    ("3", "BoxEM's accuracy depends logarithmically on R, whereas REM is free of any dependence on parameter bounds",
     "scaling/log-range error-R/flat"),
    ("3, properties", "REM needs no range; its accuracy does not depend on it at all", "error-R/flat"),
    ("3, properties", "invariant under invertible affine transformation; this follows from Tukey depth itself being "
     "affine-invariant", "rem-theorem/depth-invariant rem-theorem/exact-invariant scales/even-3 scales/even-4", "What "
     "fails in four columns is the box of BoxEM, two million deviations of one column wide: for 200 rows that is too "
     "much, whatever the depth. REM, which has none, and depth itself are invariant."),
    ("3, properties", "Mahalanobis distance characterises total variation; error alpha implies alpha sqrt(|Sigma|) "
     "in Euclidean norm", "", "Textbook inequalities: the second is |v| <= sqrt(|Sigma|) |Sigma^(-1/2) v|."),
    ("3, theorem on REM", "the Restricted Tukey Depth Mechanism is (eps, delta)-differentially private", "", "A "
     "theorem about the mechanism, not a measurement: docs/proofs/rem.md; tukeydp audit tests the implementation."),
    ("3, theorem on REM", "if n >= C (...) then with probability at least 1 - beta the Mahalanobis error is at most "
     "alpha", "rem-theorem/root-n rem-theorem/releases rem-theorem/same-error rem-theorem/constant-20"),
    ("3", "The dependence on delta in the sample complexity is decoupled from d, so that delta of the order of e^-d "
     "is affordable", "rem-theorem/log-delta rem-theorem/decoupled rem-theorem/same-error"),
    ("3", "the constant C is not too large", "rem-theorem/constant-10 rem-theorem/constant-20 "
     "rem-theorem/constant-10-graded"),
    ("3", "the theorem still holds (up to a change in constant) for an alpha-corruption", "adversary/bounded"),
    ("3, three-panel figure", "When data arise from a nonspherical distribution, the level sets reflect this",
     "rem-theorem/depth-invariant", "Shown in the second panel of the figure; a consequence of affine invariance."),
    ("3, three-panel figure", "the empirical mean and BoxEM-Exact have similar shapes; CoinPress reveals its "
     "spherical noise", "nonspherical/similar nonspherical/spherical"),
    ("3, three-panel figure", "CoinPress has relatively high error (n = 200)", "nonspherical/high-error"),
    ("3, three-panel figure", "BoxEM with axis-aligned depth sits between the two", "nonspherical/between"),
    ("4, Algorithm 2", "epsilon_p = epsilon/4, epsilon_e = epsilon/2: the parameters are scaled to give (epsilon, "
     "delta)", "", "Arithmetic, and right (docs/proofs/rem.md), if the draw's weights have epsilon_e where equation "
     "(5) prints epsilon (errata, 14)."),
    ("4.1, equation (5) and racing", "p_l = C Vol(Y_>=l) e^(eps l/2) (1 - e^(-eps/2)); racing samples from it",
     "small-samples/misprint", "Wrong at the lowest level (errata, 1). The law is tested in "
     "tests/baselines/test_references.py."),
    ("4.1", "The approximate distance is a lower bound on the exact distance to unsafety, and 2-sensitive", "", "A "
     "theorem about the mechanism, not a measurement: docs/proofs/rem.md shows it to be 1-sensitive under swaps "
     "(errata, 2)."),
    ("4.1", "Subsequent work [Dick et al.] gave an improved distance approximation, which we have not included",
     "smallest-n/twice", "Not compared: neither this paper nor the text we have states that distance. The graded "
     "test answers the same need, fewer rows, and is compared with Algorithm 2."),
    ("4.1", "The check needs only the volumes of the level sets, and takes polynomial time in n with them",
     "times/representative", "Its loops are over two levels: at most n^2 / 4 ratios."),
    ("4.2", "rejection sampling was not a significant contributor to running time", "times/dominated", "Said of "
     "exact depth there; measured with random depth, where volumes are cheapest and sampling weighs most."),
    ("4.2", "Axis-aligned regions are rectangles with trivial volumes; heuristics that fail depending on the data do "
     "not suit", "", "The first by definition; the second is a matter of privacy, with which we agree."),
    ("4.2", "A Tukey region takes O(n^d) to construct, an exact computation of its volume n^O(d^2) time",
     "asymptotic/one-exact-polytope-d2 asymptotic/one-exact-polytope-d3 asymptotic/all-exact-polytopes-d2 "
     "asymptotic/all-exact-polytopes-d3"),
    ("4.2", "axis-aligned depth: weaker guarantees for l2 error as dimensionality increases; no longer "
     "affine-invariant", "dimensions/axes-worse dimensions/root-d nonspherical/between"),
    ("4.2", "If k -> n^d, random Tukey depth would behave as exact Tukey depth", "directions/approaches "
     "dimensions/stand-in", "In the limit; no finite number of random directions gives exact depth."),
    ("4.2, random depth", "Directions are chosen independently of the data", "", "Done alike: docs/proofs/boxem.md "
     "needs it."),
    ("4.2, footnote", "[Briend et al.] k = O(d) directions suffice, in some regimes, for points of high depth; the "
     "algorithms usually output such points", "dimensions/k-of-order-d error-R/footnote", "The first is other "
     "people's theorem, for isotropic data."),
    ("4.2", "k = O(d) seem enough directions in practice to maintain good accuracy", "dimensions/k-of-order-d "
     "rem-theorem/thirty-mahalanobis scales/lost-3 scales/lost-4", "In Euclidean norm and on round data; not in "
     "Mahalanobis norm (errata, 9)."),
    ("4.2", "the construction of all upper-level sets takes only n k d time", "asymptotic/all-random-polytopes-n "
     "asymptotic/all-random-polytopes-k asymptotic/all-random-polytopes-d"),
    ("4.2", "the fastest-known algorithms for exact volume take k^d time", "asymptotic/exact-volume-d3 "
     "asymptotic/exact-volume-d4"),
    ("4.2", "No deterministic algorithm for volumes is polynomial in the dimension; packages scale to several "
     "dimensions", "", "Known theory, and other people's packages, which are not run here."),
    ("4.4, privacy guarantees", "the total privacy guarantee is (2 eps_p + eps_e, max{e^(2 eps_p) delta_e, delta_p})",
     "", "A theorem about the mechanism, not a measurement: docs/proofs/rem.md."),
    ("4.4", "The privacy of BoxEM follows directly from the exponential mechanism", "small-samples/misprint", "A "
     "theorem about the mechanism (docs/proofs/boxem.md), true of the right weights: with equation (5)'s factor at "
     "the lowest level the loss exceeds epsilon (errata, 1)."),
    ("5, set-up", "drawing points independently from N(0, I); error |mu - mu~|, or the distance to the sample mean; "
     "95 % bars", "", "Three statements that contradict each other or themselves (errata, 6 and 11); here N(mu, I), "
     "the distance to the sample mean, and correct bars beside the paper's."),
    ("5, set-up", "We omit errors above 3, as returning 0 achieves that; we omit REM where one trial fails",
     "smallest-n/shown-at-500", "Done alike here. REM is shown at n = 500, where Algorithm 2 as printed refuses "
     "(errata, 13)."),
    ("5", "superior accuracy compared to commonly used, Gaussian mechanism based approaches", "error-n/much-better "
     "error-n/consistently univariate/eventually", "In these settings; with rows enough it is the other way round, "
     "as the appendix says."),
    ("5.1, Table I", "Running time in seconds; a dash means longer than ten minutes", "times/ten-minutes "
     "times/largest times/faster times/faster-in-sorts"),
    ("5.1", "These times are dominated by volume computation and thus representative for both REM and BoxEM",
     "times/dominated times/representative"),
    ("5.1", "random Tukey depth provides a significant speed-up over exact Tukey depth in all regimes",
     "times/random-faster", "Table I itself has an exception, n = 100, d = 2 (errata, 10)."),
    ("5.1", "volumes of n random regions take n k^d time, exact regions n^O(d^2); well-suited for offline scenarios",
     "asymptotic/exact-volume-d3 asymptotic/exact-volume-d4 times/ten-minutes"),
    ("5.1, footnote", "the convergence of random depth starts becoming negligible after k = 29 directions",
     "directions/thirty"),
    ("5.2, error against n", "BoxEM performs much better than the Gaussian noise based mechanisms",
     "error-n/below-gaussian error-n/below-coinpress error-n/much-better"),
    ("5.2", "error comparable to the empirical one, \"privacy for free\", even at very small sample sizes",
     "error-n/comparable small-samples/comparable-50 small-samples/comparable-75 small-samples/below-50 "
     "small-samples/below-75", "50 and 75 rows are our reading of very small."),
    ("5.2", "BoxEM consistently outperforms CoinPress in this setting", "error-n/consistently"),
    ("5.2", "it does so under a stronger, pure-DP guarantee; in theory both errors are the same asymptotically", "",
     "A fact about the guarantees, and a comparison of theorems."),
    ("5.2", "This may partially be due to the larger constants involved in Gaussian noise based approaches", "", "A "
     "conjecture about causes."),
    ("5.2, error against R", "BoxEM and REM exhibit essentially no dependence on R", "error-R/flat "
     "scaling/decoupled"),
    ("5.2", "CoinPress's error suffers from a log(R) dependence", "error-R/grows error-R/steeper"),
    ("5.2", "the Gaussian mechanism's error scales linearly with R", "error-R/linear"),
    ("5.2", "BoxEM has no dependence on R, although its analysis has a logarithmic one: with high probability it "
     "samples a point of nonzero depth, and then R plays no part", "error-R/flat error-R/footnote scaling/decoupled "
     "scaling/log-range", "Given nonzero depth, the law has no R in it: by definition."),
    ("5.2", "When the mechanism samples from the space outside, error is roughly Omega(sqrt(d) R)", "", "Arithmetic: "
     "a uniform point of the box is sqrt(d/3) R from its middle in root mean square."),
    ("5.2", "not affected by prior knowledge, more suitable when known bounds are loose", "error-R/steeper "
     "real-tables/tight real-tables/all scaling/log-range"),
    ("5.2, footnote", "at R = 10^10 the set of depth >= n/4, of volume around 1, dominates the space outside the "
     "convex hull", "error-R/footnote error-R/footnote-weight"),
    ("5.3, error against k", "axis-aligned depth has higher error than exact; random depth soon performs better than "
     "axis-aligned, and approaches exact", "directions/exact-better directions/overtakes directions/approaches "
     "directions/spread"),
    ("5.3", "exact depth: tight and affine-invariant but slow; axis-aligned: very fast, larger error in high "
     "dimensions", "rem-theorem/exact-invariant times/random-faster dimensions/axes-worse"),
    ("5.3", "These results had high variability, so they were averaged over 200 trials", "directions/exact-better "
     "directions/approaches", "Up to 700 trials here."),
    ("5.3", "We expect the difference between axis-aligned and random depth to be more stark in higher dimensions; "
     "prohibitively slow", "dimensions/starker dimensions/axes-worse dimensions/root-d dimensions/root-d-noise "
     "dimensions/stand-in"),
    ("5.4, robustness", "Tukey depth mechanisms are much less sensitive to the fraction of corruptions compared to "
     "CoinPress", "outliers-fraction/less-sensitive outliers-fraction/much-less"),
    ("5.4, captions", "The methods based on the exponential mechanism appear less sensitive to the fraction of "
     "outliers", "outliers-fraction/less-sensitive adversary/worst"),
    ("5.4", "BoxEM and REM at n = 500, ten trials", "smallest-n/shown-at-500 smallest-n/code-at-500"),
    ("5.4", "CoinPress truncates to R = 10, which offers some stability when the corrupted data move farther away",
     "outliers-location/coinpress-4-to-10 outliers-location/coinpress-1-to-20"),
    ("5.4", "All three private methods appear insensitive to the location of the corrupted data",
     "outliers-location/boxem-4-to-10 outliers-location/rem-4-to-10 outliers-location/coinpress-4-to-10 "
     "outliers-location/boxem-1-to-20 outliers-location/rem-1-to-20 outliers-location/coinpress-1-to-20"),
    ("6.1", "walks mix quickly in practice, but proofs ask for 10^40 d^2 or 10^10 d^3 steps", "ten-columns/walks",
     "The constants of proofs are arithmetic; that short walks look right is tested in tests/mcmc."),
    ("6.2", "with eta <= epsilon the probability of a depth grows by e^O(epsilon); the failure probability folds "
     "into delta", "", "A sketch, which is right for upper level sets as in the appendix; for the sets of exact "
     "depth, as printed, it is not (errata, 15)."),
    ("6.2 and appendix, Algorithm 3", "any (eta, beta)-PAC volume oracle can be dropped in; the theorem's (eps, "
     "delta)", "algorithm-3/boxem-error algorithm-3/rem-error algorithm-3/slower algorithm-3/more-rows", "The proofs "
     "are checked, and repaired, in docs/proofs/algorithm3.md (errata, 3)."),
    ("Appendix, lemmas on Algorithm 3", "privacy of M' given M; the score's sensitivity 2 (4/eps_e log((1 + eta)/(1 "
     "- eta)) + 1); privacy given a good event", "", "Proofs, gone through line by line: the totals are right, ten "
     "steps are not as printed (docs/proofs/algorithm3.md, section 7)."),
    ("Appendix, Algorithm 3", "Tukey depth mechanisms can work with approximate volumes and points, for any of the "
     "notions of depth", "algorithm-3/boxem-error algorithm-3/rem-error", "Measured with random depth."),
    ("6.3, ten columns", "the error due to privacy is comparable to the sampling error when n >~ 75 d",
     "ten-columns/comparable ten-columns/default ten-columns/not-before fourteen-columns/default"),
    ("6.3", "hit-and-run: O~(k d^5) time; roughly 20 seconds per volume, 10 n seconds overall",
     "asymptotic/volume-by-hit-and-run-k asymptotic/volume-by-hit-and-run-d", "Seconds of another program on another "
     "machine are not compared."),
    ("6.3", "random-directions hit-and-run with Gaussian cooling", "", "What the text says. The released code asks "
     "volesti for coordinate directions and cooling bodies (errata, 5); neither is run here."),
    ("6.3", "In modest dimensions the volumes change slowly: Vol(P_(i+1)) could be approximated from a few samples "
     "of P_i", "algorithm-3/volumes-slowly"),
    ("6.3", "All polytopes share one matrix A and are nested; the computation could easily be parallelised",
     "depth/nested", "The first by construction; the second is plain, and done by nobody here: the proven mechanism "
     "needs no volumes."),
    ("7, selecting an algorithm", "on small datasets without strong prior knowledge Tukey depth mechanisms may be "
     "the only feasible approach", "real-tables/all real-tables/fresh real-data/roomy-useful real-data/too-few",
     "Feasible for whom is a judgement; what is compared is error on real tables with wide bounds."),
    ("7", "REM needs no prior knowledge; BoxEM's error depends weakly on it, and in some regimes not at all",
     "error-R/flat scaling/log-range scaling/decoupled"),
    ("7", "Given more samples or strong prior knowledge, Gaussian-based mechanisms are viable; Tukey depth adds "
     "robustness and invariance", "univariate/eventually univariate/approaches-mean adversary/worst "
     "rem-theorem/exact-invariant"),
    ("7", "accurate even when assumptions about the distribution are slightly wrong", "adversary/bounded "
     "real-data/roomy-useful"),
    ("7", "the theoretically analysed version: not clear that it could be made practical; an exact version practical "
     "in low dimensions", "times/ten-minutes exact-four/comparable-500"),
    ("7", "exact or random depth (as long as k = Omega(d)) provide accuracy in Mahalanobis norm",
     "rem-theorem/exact-invariant rem-theorem/thirty-mahalanobis", "Of order d directions are not enough (errata, "
     "9)."),
    ("7", "axis-aligned Tukey depth incurs sqrt(d) times more error", "dimensions/root-d dimensions/root-d-noise",
     "In the limit: the ideal law is sqrt((d + 2)/3) (errata, 16)."),
    ("Appendix, asymptotic table", "Exact Tukey depth: n^(d-1)", "asymptotic/exact-depth-d2 "
     "asymptotic/exact-depth-d3 asymptotic/exact-depth-d4"),
    ("Appendix, asymptotic table", "Construct one Tukey polytope: n^d", "asymptotic/one-exact-polytope-d2 "
     "asymptotic/one-exact-polytope-d3"),
    ("Appendix, asymptotic table", "Construct all Tukey polytopes: n^d", "asymptotic/all-exact-polytopes-d2 "
     "asymptotic/all-exact-polytopes-d3"),
    ("Appendix, asymptotic table", "Exact volume k^d; all random polytopes n k d", "asymptotic/exact-volume-d3 "
     "asymptotic/exact-volume-d4 asymptotic/all-random-polytopes-n asymptotic/all-random-polytopes-k "
     "asymptotic/all-random-polytopes-d asymptotic/boxem-n"),
    ("Appendix, asymptotic table", "Approximate volume by the ball walk: d^4 R^2", "", "A bound for a walk with a "
     "proven number of steps, which nobody runs: its constants forbid it, and a walk cut short has whatever time it "
     "is given."),
    ("Appendix, asymptotic table", "Approximate volume, best known: k^(4/3) d^(10/3)", "", "A bound for an algorithm "
     "that exists on paper only; there is nothing to time."),
    ("Appendix, asymptotic table", "Approximate volume by hit-and-run: k d^5", "asymptotic/volume-by-hit-and-run-k "
     "asymptotic/volume-by-hit-and-run-d"),
    ("Appendix, one column", "In one dimension BoxEM is the exponential mechanism over quantiles", "", "By "
     "definition: the depth of a value is the smaller of its two ranks."),
    ("Appendix, one column", "with 100 samples BoxEM has roughly 1.5 times the error of the mean, the Gaussian "
     "mechanism roughly three times", "univariate/boxem-100 univariate/gaussian-100 univariate/halved-100"),
    ("Appendix, one column", "BoxEM is much better at small sample sizes; lower than the Gaussian mechanism "
     "(caption)", "univariate/much-better univariate/halved-better"),
    ("Appendix, one column", "A setting favourable to the Gaussian mechanism, since clipping to 5 asks for strong "
     "prior knowledge", "error-R/linear", "A judgement; how its error grows with the range is measured."),
    ("Appendix, one column", "For both mechanisms the error from privacy dies off with 1/n, faster than the sampling "
     "error; log R/(eps n) against R sqrt(log 1/delta)/(eps n)", "scaling/rows error-R/linear scaling/log-range",
     "The Gaussian mechanism's noise is 1/n by its formula."),
    ("Appendix, one column", "the Gaussian mechanism approaches the mean's error, 1/sqrt(n) exactly; eventually it "
     "is below the median's and BoxEM's", "univariate/approaches-mean univariate/eventually"),
    ("Appendix, one column", "the crossover point occurs around n = 1,300 samples", "univariate/crossing "
     "univariate/halved-crossing"),
    ("Appendix, one column", "Even at small sample sizes BoxEM has error comparable to the median's; its RMSE "
     "approaches sqrt(pi/(2n))", "univariate/like-median univariate/limit"),
    ("Appendix, BoxEM's theorem", "n >= C ((d + log 1/beta)/alpha^2 + (d + log 1/(alpha eps beta))/(alpha eps) + d "
     "log(dR/alpha)/eps)", "scaling/rows scaling/columns-wide scaling/columns scaling/epsilon-wide scaling/epsilon "
     "scaling/log-range scaling/decoupled"),
    ("Appendix, BoxEM's theorem", "slightly better than stated by Liu et al.: the log(dR) factor is decoupled from "
     "1/alpha", "scaling/decoupled scaling/log-range"),
    ("Appendix, BoxEM's theorem", "the proof", "", "Gone through line by line: the statement stands, four slips in "
     "the proof (errata, 12)."),
    ("Throughout", "Definitions (indistinguishability, adjacency, contamination, halfspaces, polytopes, oracles, "
     "samplers), citations, history, names of packages", "", "Nothing to test: definitions are used as they are "
     "printed, and other people's packages are not run here."),
    ("Beyond the paper", "How many rows do REM's tests need?", "smallest-n/half-1 smallest-n/half-2 "
     "smallest-n/half-3 smallest-n/half-5 smallest-n/twice smallest-n/code-at-500 rem-theorem/default-scaled"),
    ("Beyond the paper", "Exact depth in four columns beyond n = 50", "exact-four/comparable-500 "
     "exact-four/comparable-1000 exact-four/default"),
    ("Beyond the paper", "The centre of real tables", "real-data/below-gaussian real-data/below-coinpress "
     "real-data/below-plan real-data/useful real-data/roomy-analytic real-data/roomy-coinpress real-data/roomy-plan "
     "real-data/roomy-useful real-data/too-few"),
    ("Beyond the paper", "The mean of real tables", "real-tables/all real-tables/all-pure real-tables/fresh "
     "real-tables/fresh-pure real-tables/each real-tables/tight real-tables/tight-sd"),
)
# fmt: on

SENTENCES = tuple(Sentence(place, quote, tuple(claims.split()), *reason) for place, quote, claims, *reason in _TABLE)
