"""Check a certificate against the data: `python verify certificate.json X y`, for this folder or a copy of it.

This folder stands alone: it needs NumPy and python-flint (ball arithmetic), and nothing from the package that made the
certificate. It trusts the data and the formulas below, and uses the point that the certificate names. It derives every
claim again. The proofs are in docs/certificates.md. `checker.py` is where to start reading.

The problem, multiplied by S, the sum of the sample weights s_i:

    minimise over x, b   sum_i s_i loss(u_i, y_i) + S phi(mass(x)) + sum_g R_g norm2(x_g)^2 / 2
    with   u = A x + B b + o,   mass(x) = sum_g price_g norm2(x_g),   R_g = S ridge_g, or 0 if no ridge is stated

A is X, or X times the matrix of an Image or Atoms gauge, or those of an Image of an Image, the outer one first. B holds
a constant column (intercept), the columns passed as `free`, and the columns of A with price 0; o is the offset. If y
has K columns, each of its entries is a separate sample with the weight of its row. Then X, the matrix and the columns
of B stand for their Kronecker products with the K x K identity, and x, a matrix of features and outputs, stands for the
vector of its rows. For the given x let b~ be the exact minimiser over b. At (x, b~) let

    theta_i = s_i loss'(u_i),   z = -A' theta,   score_g = norm2(z_g) / price_g,   sigma = the largest score;

    score_j = z_j / price_j for a coefficient that must not be negative (all of NonNegative, Simplex and Atoms, those of
    L1 and Parts where `positive` is true).

LInf is one block: `mass(x) = price max_j abs(x_j)`, and its score is `sum_j abs(z_j) / price`. Its spread is the sum of
the spreads of its columns, because abs(p_j) <= 1 / price for an atom p. So are OWL, KSupport and KSparse, whose mass
and score are functions of sorted absolute values (`gauges/ordered.py`); their spread is the score of the columns' own.

GAP    `gap = S phi(mass) + S phi*(sigma / S) - x . z` bounds objective minus optimum; let `reach = gap`. For a linear
       phi with slope a and `sigma > S a`, theta is first multiplied by some k < 1 with `k sigma <= S a`, and
       `gap = objective + sum_i s_i (loss*(t_i) - t_i o_i)` with `t_i = k theta_i / s_i`, `reach = 2 gap`. For any phi
       this holds with k = 0. Then the sum is 0, because no loss is negative.
CURVE  Between the point and the optimum loss'(u_i) moves by at most `sqrt(reach M / s_i)`, where M bounds loss''. This
       gives bounds m_i and M_i of loss'' there.
ZERO   Block g is zero in every solution if `score_g + sqrt(reach) spread_g` is below `score_q - sqrt(reach) spread_q`
       for some block q, or below `S phi'(0)`. Here spread_g^2 is the sum over its columns of `sum_i s_i M_i A_ij^2`,
       divided by price_g^2. A coordinate is also zero if `score_g + sqrt(reach) dist < score_q`, where dist is the
       length of the difference of the two atoms in the same metric.
RANGE  Let C hold the columns of blocks that are not proven zero, and those of B. With `G = C' diag(s m) C`:
       `abs(x_j - x*_j) <= sqrt(inv(G)_jj reach)`.
DEPENDENCY  A column k that is a combination of others, `C_k = sum_l t_l C_l + rest`, exactly or nearly, may be left out
       of C. Then `x_l + t_l x_k` takes the place of x_l, no range is claimed for any coefficient involved, and
       `sqrt(reach)` grows by `norm(rest) (abs(x_k) + M / price)`, with the norm of G and M a bound of the mass of the
       optimum: S phi(M) is at most the objective at the point. Free columns are left out only for exact sums.
NOT 0  A coefficient is not zero if its range excludes 0; a block if those with a range are longer than their radii.
FACTS  For LInf, OWL, KSupport and KSparse, one problem without classes: claims are about coefficients. All
       atoms of a solution have the best score, which is at least `slope`, the lower bound in ZERO. With the lengths of
       columns, `Y_j <= abs(z*_j) <= Z_j`. A solution has the signs of z* where `Y_j > 0`, and the order of abs(z*):
       turned signs or entries that change places would raise `x . z*`. An atom of OWL is a set T with signs, and has
       the best score only if the sum of Z over T reaches `slope` times the sum of the first weights: a coefficient in
       no such set is zero, one in all of them is not zero unless all are, and two in the same sets have one absolute
       value. Atoms of KSupport and KSparse hold k of the largest abs(z*), LInf all: a coefficient is zero if `Y_i >
       Z_j` for k others; it is in all sets if `Z_i >= Y_j > 0` for fewer than k others, and then as large as the gauge
       for KSparse and LInf.
RANK   Nuclear is one block as well: its mass is the sum of the singular values of the matrix x, its score the largest
       one of the matrix z, its spread the root of the sum of squares of those of its columns (`gauges/spectral.py`).
       A solution lies where the singular values of z* equal the best score, and no singular value of `k z` is further
       from that of z* than `sqrt(reach) spread`. So the rank is at most the number of singular values of `k z` that,
       with that, reach `slope`. One problem without a ridge or classes. PSDTrace is the same with the trace of a
       symmetric x without negative eigenvalues, which is proven, and eigenvalues of the symmetric part of z.
SUBSPACES  The columns of a solution are spanned by left singular vectors u of z* at the best score a, its rows by their
       partners v. For any bases L, V nearly orthonormal and any C, let `rest = k z - L C V'`, with no singular value
       above `beyond`, and P what is beside the span of L. Then `a |P u| <= |rest v'| + beyond |Q v| + moved`, where v'
       is the part of v in the span of V, and likewise for v: both parts are at most `(leak + moved) / (a - beyond)`.
       For PSDTrace `beyond` is the largest eigenvalue of the symmetric part.
PATTERN  Zeros and clusters that are proven, and that the point has, leave fewer coefficients: the column of a cluster
       is the sum of its columns, with signs, and RANGE holds for these columns. x is not 0 as a whole if one
       coefficient is not, or if `inv(G) reach < 1` for A x beside the columns of B.

With an intercept, theta is orthogonal to the constant at the point and at the optimum. So in spread, dist and z every
column may be replaced by the same column less a number: below, one near its mean, or its mean in the metric.

ATOMS  Gauges over combinatorial atoms: PathsInDAG, Birkhoff, SpanningTrees, Permutahedron, BasePolytope, LovaszNorm.
       The file names atoms and weights. `x = sum of weights times atoms`, and the mass is the sum of the weights; the
       stated x is that up to rounding. Scores are bounded by algorithms of this checker: longest ways, potentials
       `a_i + b_j >= z_ij`, heaviest trees, sorted products, flows from items to elements. With a bound of z* and a
       lower bound t of the slope: x*_j = 0 if no atom with p_j other than 0 reaches t; of atoms of zeros and ones, x*_j
       is the gauge of x* if no atom without j does. Elements that are above all others in z* have a tight sum.

With a RIDGE, R_g > 0 for all g, these become:

GAP    `gap = S phi(mass) + R(x) + S phi*(t / S) + sum_g max(0, norm2(z_g) - t price_g)^2 / (2 R_g) - x . z` for any t,
       where R(x) is what the ridge charges; t = S a for a linear phi. `reach = gap`, let c = 1. With theta multiplied
       by k < 1 the conjugate of the loss joins as above, with k z for z; `reach = 2 gap`, let c = 2. For a gauge
       that is no sum of l2 norms, `S phi*(t / S) + norm2(z - w)^2 / (2 R)` stands for the two terms with t, for any w
       whose dual norm is at most t: `h (z - R x)`, with h = 1 unless a linear phi asks for less. Then k = 1, and SLOPE
       and the last form of RANGE say nothing.
SLOPE  The slope t* of S phi at the optimum is S a for a linear phi. For others it is the best score of `z* - R x*`, and
       at least S phi'(0). The scores of `k z - R x` are within `sqrt(reach (spread_g^2 + 2 R_g / (c price_g^2)))` of
       those. This gives bounds of t*.
ZERO   Block g is zero if `score_g + sqrt(reach) spread_g` is below the lower bound of t*.
RANGE  `G = C' diag(s m) C` plus `c R_g / 2` on the diagonal, for columns of A. No column is left out. Also
       `(x_j - x*_j)^2 <= 2 reach / (c R_g)`. Also `x*_g = max(0, 1 - t* price_g / norm2(z*_g)) z*_g / R_g`, where z*_j
       is within `sqrt(reach sum_i s_i M_i A_ij^2)` of `k z_j`, and the norm of a block within
       `sqrt(reach) spread_g price_g` of that of `k z_g`. A claim holds if it follows from one of the three.
NOT 0  A block is also not zero if the norm of its z* exceeds `t* price_g` for certain.
FACTS  `z - R x` takes the place of z: at the optimum it is what scores the atoms of x*. It is within `sqrt(reach
       (sum_i s_i M_i A_ij^2 + 2 R / c))` of that, entry by entry, and blocks by the dual norm of these. The ridge of
       the column of a cluster is R times the number of its coefficients.

Beside an Image or Atoms the ridge is one of `v = Q x`, with Q the product of the matrices: `R norm2(v)^2 / 2` counts as
one more sample for each row of Q, of weight R and target 0, with the squared loss, in which constant, free columns and
offset are 0 (`joined.py`). All that is said of problems without a ridge holds for these samples. So it is beside
LIMITS, with the identity for Q and one sample for each coefficient that has a price, and beside gauges whose point
names its atoms, with the identity for Q.

With LIMITS `l_j <= x_j <= u_j` of single coefficients (no family), let p be the point within them
that is nearest to 0. So `abs(x_j) = abs(p_j) + abs(x_j - p_j)` within the limits, and these become:

GAP    `gap = S phi(mass) + S phi*(t / S) + sum_j h_j(z_j) - x . z` for any t, where h_j(z_j) is the largest of
       `z_j q - t price_j abs(q)` over q = l_j, q = u_j and, if it lies between them, q = 0. On a side without limit
       that needs `abs(z_j) <= t price_j`. t = S a for a linear phi. `reach = gap`. With theta multiplied by k < 1 the
       conjugate of the loss joins as above, with k z for z; `reach = 2 gap`.
SLOPE  Let `R_j = sqrt(reach sum_i s_i M_i A_ij^2)`: z*_j is within R_j of k z_j. There is a slope t* of S phi at the
       mass of x* for which x*_j is the limit above p_j if `z*_j > t* price_j`, the limit below p_j if `z*_j < -t*
       price_j`, and p_j if `abs(z*_j) < t* price_j` (or if there is no room on the side of z*_j). It is S a for a
       linear phi. For others: if t* were below t, all coefficients with `abs(k z_j) - R_j > t price_j` would be at
       those limits. If S phi' at the mass of these limits, and of p_j for all others, is not below t, then neither is
       t*. If t* were above t, all with `abs(k z_j) + R_j < t price_j` would be p_j. If S phi' at the largest mass
       that is left is not above t, then neither is t*.
ZERO   x*_j = 0 if p_j = 0 and, on each side where there is room, `k z_j` in that direction plus R_j is below the lower
       bound of t* times price_j.
AT LIMIT  So is x*_j = p_j if p_j is not 0. And x*_j is the limit above p_j if `k z_j - R_j` exceeds the upper bound of
       t* times price_j, and that below p_j likewise. Equal limits are values. The point has all these values.
RANGE  C holds the columns of coefficients without a proven value, and those of B. Limits are bounds.
NOT 0  A coefficient is also not zero if it is proven to be at a limit that is not 0, or if p_j is not 0.

Multinomial: K CLASSES, and predictions of K numbers for each sample, with probabilities `p = softmax(u_i)`, the loss
`log(sum_c exp(u_ic)) - u_i,label`, the slopes `t = p - e_label` and the conjugate `sum_c p_c log(p_c)`. A, B and x are
the same Kronecker products as for a y of K columns, and rows are pairs of a sample i and a class c. What differs:

CURVE  Each entry of p_i moves by at most `sqrt(reach M_ic / s_i)`, where M_ic bounds `p_c (1 - p_c)`. This gives bounds
       M_ic, and lower bounds q_ic of the probabilities at the point and at the optimum, and hence between them.
ZERO   For single coefficients as above with M_ic, but without the rule of differences of atoms. A block holds its
       features in all classes; its spread_g^2 is the sum over its features of `sum_i s_i L_i A_ij^2`, divided by
       price_g^2, with `L_i = min(2 max_c M_ic, sum_c M_ic, 1/2)`, a bound of the eigenvalues of the Hessian.
RANGE  The Hessian of a sample is at least `diag(q) - q q' / sum(q)`. So G is as above with q for m, after subtraction
       from each column of its mean over the classes of a sample, weighted by q_i. It does not see a number that is
       added to all classes of a feature. Free coefficients are claimed for the b* whose sums over the classes are 0. A
       feature of a block of l2 norm that is not proven zero has the sum 0, if the lower bound of the slope of S phi is
       positive, or there is a ridge. In both cases its columns are those of the classes less that of the last class,
       and the coefficient of the last class is minus the sum of the others; the mean of the point's K numbers is added
       to their distances. A feature that is left in all classes otherwise (so always for LInf), without a ridge, has no
       ranges, and its last column is left out. A column is an exact sum of others if it differs from that sum by the
       same numbers in all classes.

ARITHMETIC  Every number is a ball, an interval that contains it (python-flint, 128 bits), or has bounds in doubles with
       a bound of their rounding (`doubles.py`). z, scores and spreads of all columns are bounded in doubles; balls
       decide what that leaves open. A lower bound of a curvature, or an upper one, is a double. Inverses are bounded in
       doubles by a residual (`gram.py`), and are balls where the claims do not follow from that. Numbers of all samples
       (u, slopes, losses) are pairs of doubles with a radius (`pairs.py`), and sums of their products with columns are
       exact up to what is cut off (`slices.py`). If a claim does not follow from these, everything is derived once more
       with balls for all samples; so it is at once for several classes and for families.

A FAMILY of problems: every claim is about all members, whose data A~ and y~ obey `abs(A~_ij - A_ij) <= E_ij` and, for
losses of u - y, `abs(y~_i - y_i) <= e_i`, and whose penalty has a strength in a range. B without the columns of A, o
and s are exact. For X, E_ij is what the file states, or that times `abs(X_ij)` if it is relative; without `zeros` it is
0 where X_ij is. For A it is that times the absolute values of the matrices of the gauge. Point, theta and z are those
of the stated data. No LInf, and only free columns may be left out. Let C hold the columns of B and those of
the blocks that are not claimed zero, C~ those of a member, v a subgradient of S phi(mass) at x, p = (b~, x) and p~ the
optimum of the member over these columns, with its slopes theta~. A ridge counts as one more sample for each coefficient
that is left, `sqrt(R_g) x_j` with the squared loss, m = M = 1, and no errors: it joins G, a, r and delta, and the
scores of blocks that are zero do not see it. Then:

ETA    u less y moves by at most `eta_i = sum_j E_ij abs(x_j) + e_i` if only the data move. Let c_i be the secant
       curvatures between u and u~, with `m_i <= c_i <= M_i`; `e^2 = sum_i s_i M_i eta_i^2`, `a^2 = sum_i s_i c_i
       (u~_i - u_i)^2`, both less y, and r the length of `C~ (p~ - p)` in the metric s m.
PULL   `delta = -C~' theta - R x - v` is 0 for B. For columns of A it is z - R x - v, plus or minus `sum_i E_ij
       abs(theta_i)`. Let d bound its length in the metric of `inv(C~' diag(s m) C~)`, which is at most `inv(G) / (1 -
       rho)^2`, with `rho^2 = sum_i s_i m_i sum_kl E_ik abs(inv(G)_kl) E_il`. The length of a box is at most that of its
       middle plus `sqrt(sum_kl r_k abs(inv(G)_kl) r_l)` for its radii r. Where `x_g = 0`, v is z_g, shortened to the
       length that the slope of S phi allows. For Ball any slope serves; then `slack = slope (radius - mass)`, and 0
       otherwise.
FACE   p~ is optimal, phi convex: `(theta~ - theta) . C~ (p~ - p) <= delta . (p~ - p) + slack <= d r + slack`. So `a^2
       <= a e + d (a + e) + slack` bounds a, and `r <= a + e`. Also `r^2 <= r q + slack`, with `q = d + sqrt(sum_i s_i
       M_i^2 eta_i^2 / m_i)`; for samples with m_i = 0, `s_i M_i eta_i` times the length of the row of C~ in the metric
       of the inverse is added instead. Bounds m and M for slopes within w_i of those of the point hold if
       `sqrt(M_i / s_i) a < w_i` for every sample: the best p among those with slopes within w_i obeys all this too, so
       it is not on the border, and is p~.
ZERO   as above; z_j moves by at most `a` times the length of A~_j in the metric s M, plus `sum_i E_ij abs(theta_i)`.
       If all blocks pass that are claimed zero, p~ is optimal among all. With a ridge, the slope is at least the score
       of `z - R x` of any block, less that and less `sqrt(R_g) r / price_g`.
RANGE  as above, with `r / (1 - rho)` for `sqrt(reach)`.
GAP    The member's objective at p is at most that with the worse of both ends `u_i - eta_i` and `u_i + eta_i` for each
       sample. Its optimum is at least the objective at p for the stated data, less `sum_i abs(theta_i) eta_i + d r +
       slack`. They differ by at most `d r + slack`, plus the smaller of `e^2 / 2` and `(q - d) r`.
LINE   For strengths of Linear between two numbers the point moves with the slope: `p + t l`, for the difference t of
       the slope of S phi to the stated one, a line l that is 0 for blocks where x is, and t between -h and h, as long
       as no block reaches 0. u moves by `t g`, g = C l, and theta by `t s D g` for any numbers D, and by what the
       secants c differ from D: at most `h max(M - D, D - m) abs(g_i)` for each slope. Let n be x_g over its norm, and
       q_g the norm of x_g times that of `l_g - n (n . l_g)`. Then v at `p + t l` is `(sigma + t) price_g n + t sigma
       price_g (l_g - n (n . l_g)) / norm2(x_g)`, and by at most `price_g h^2 (sigma norm2(l_g) q_g / k^3 + q_g / k^2)`
       more, with `k = norm2(x_g) - h norm2(l_g)`: 0 for single coefficients. delta without these two differences is
       linear in t, so its length is largest at an end. d is the sum of that, of the latter as a box, and of the length
       of the slopes' differences in the metric s / m (or, where m_i = 0, by the row of C~); in q they are added to M
       eta. These lengths are those of the member's columns, so that only `theta + t s D g` meets E by itself: FACE
       holds with eta for the largest x on the line, and `sum_i E_ij abs(theta_i)` for the largest of these. Slopes may
       move by `M h abs(g_i)` more. Scores differ from those of `theta + t s D g` by at most the length of A~_j, less
       the centre of z_j, times a plus the length of the differences in the metric s / M, plus `sum_i E_ij
       abs(theta_i)`. They are convex in t, the slope is linear: both ends decide. The member's objective at p is above
       its optimum by at most GAP and h times the mass of bounds of how far coefficients can be from x.
SHAPE  Strengths of another phi are a LINE of Linear between two slopes that the file names. A solution for phi solves
       the problem for Linear at the slope `phi'(mass)`, and the mass of solutions for Linear falls with the slope. So
       no slope is beyond the range if `phi'` is not below its lower end at the least mass that solutions can have
       there, and not above its upper end at the largest mass there, for both ends of the strengths: phi and phi' are
       monotone in them. The member's objective at p is above its optimum by at most GAP, and the difference of `S
       phi'(mass(x))` to the stated slope times the same mass.

A FAMILY with CLASSES, for errors of X and strengths. Rows, columns, q, M and L are those of CLASSES, for
probabilities that are within w_ic of those at the point, r_ic the largest of these, and the length of a V is that of
the metric of G, `sum_i s_i min_m sum_c q_ic (V_ic - m)^2`. Of the optima, take one whose sums over the classes are 0
for free columns and in blocks. What differs:

ETA    The classes share the errors of a feature: `u_ic - u_id` moves by at most `D_icd = sum_j E_ij abs(x_jc - x_jd)`.
       `e^2 = sum_i s_i sum_(c<d) r_ic r_id D_icd^2 / sum_c r_ic`, which is how far slopes t~ can meet that move, for
       `s_i (t~ - t) . (u~ - u) >= s_i sum_c (t~_c - t_c)^2 / r_ic` and slopes add up to 0. They move by at most `b_ic =
       p_ic exp(2 max D_i) sum_d p_id D_icd` if the point stays.
PULL   delta adds up to 0 over the classes of a feature, up to what -R x - v does, and its entries are those of C: less
       the last class, and then `sum_i E_ij abs(theta_ic - theta_i,last)` is what the data add; where `x_g = 0`, at most
       sqrt(2) times what the norm of z_g exceeds. For features in blocks, K times the square of the mean of x_j over
       the classes, times `R_g + slope price_g / norm2(x_g)`, is added to slack. A feature left in all classes otherwise
       needs a v that adds up to 0: as for others, but for one class where x is 0, which takes what is missing if that
       is a v. `rho^2 = sum_i s_i sum_c q_ic (sum_j E_ij W_jc)^2`, with W_jc^2 what `inv(G)` says of a coefficient: its
       diagonal, and the sum over all others for the last class.
FACE   `q = d + sqrt(sum_ic s_i b_ic^2 / q_ic)`. Where q_ic = 0, b_ic times the length of the row of class c less that
       of the class with the largest q_i is added instead, and b of that class is at most the sum of all others that
       count.
       Bounds hold if `sqrt(M_ic / s_i) a < w_ic`: all points between p and p~ obey the first line of FACE, so none is
       the first to leave them.
ZERO   z_jc moves by `a` times its length in the metric s M, and that of a block by `a` times its spread with L, and by
       `sum_i E_ij abs(theta_ic)` in each entry.
GAP    The loss of a member at p is at most that with `u_ic + D_ic,label` for all other classes, and its optimum at
       least the objective less `sum_ic abs(theta_ic) D_ic,label` over these classes, `d r` and slack. They differ by at
       most `q r + slack`.
LINE   `p + t l` with sums of l over the classes that are 0 for columns less the last class; none where a feature is
       left in all classes otherwise. Let g = C l, H the largest difference of g_i over two classes, `m_c = sum_d p_d
       abs(g_c - g_d)` and V the sum of `p_c p_d (g_c - g_d)^2` over pairs. No probability grows by more than `exp(h
       H)` along the line, so slopes move by at most `h p_c exp(2 h H) m_c`, and differ from `t_c + t p_c (g_c - p . g)`
       by at most `h^2 / 2 p_c exp(3 h H) max(m_c^2, V)`, which stand for the differences of secants to D above. They
       add up to 0 over the classes. The largest x_c - x_d, theta and p on the line count in D, PULL and b. What the
       turning of blocks adds is sqrt(2) times as much for columns less the last class.
"""

from .command import load, main
from .verdict import Refused, Unknown, Verification
from .verification import verify

__all__ = ["Refused", "Unknown", "Verification", "load", "main", "verify"]
