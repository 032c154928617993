/* An approximate inverse R of a scaled matrix `G = C' diag(w) C + diag(ridge)`, with proven bounds of its error.

   With `E = I - R G` and a proven `norm(E) <= alpha < 1` we have `inv(G) - R = inv(I - E) E R`, and so
   `abs(inv(G) - R)_ij <= alpha / (1 - alpha) * max over l of abs(R_lj)`: R may be anything. Scales are powers of two near
   the lengths of the columns, so that products with them are exact but for underflow. */
#ifndef ATOMSIEVE_INVERSE_H
#define ATOMSIEVE_INVERSE_H

#include <string.h>

#include "direct.h"
#include "enclosed.h"

#define SHORTEST 1e-140 /* lengths of columns below which squares lose digits */

/* What is inverted, and what comes out; the matrix is symmetric and stays as it is. */
typedef struct {
    ptrdiff_t k, rows;                         /* columns; and the terms of each product of columns */
    const double *gram, *blur, *ridge;         /* products of middles, squares of the lengths of radii, what is added */
    double *approximate, *error, *scale;       /* R; a bound of its error for each column; the scales */
    double *matrix, *factor, *strip, *sum, *residual; /* k x k, k x k, k x PIECE, k and k numbers */
    double largest; /* entry of the scaled matrix */
    pulse *beat;
} inversion;

static double root_above(double square) { return upward(sqrt(square)); }

/* Write the scales, the scaled matrix, and how far each of its entries may be off; infinite where lengths are no
   numbers or too small. A column is at most as long as its middle and its radius together. */
static double scale_gram(inversion *v)
{
    ptrdiff_t k = v->k;
    double n = (double)v->rows, lost = 1 + relative_error(n + 10), least = 4 * n * LEAST_DOUBLE;
    double largest = 0, unit = 1, wide = 0;
    for (ptrdiff_t j = 0; j < k; j++) {
        if (!(v->blur[j] >= 0 && v->ridge[j] >= 0)) return INFINITY;
        double radius = v->blur[j] > 0 ? root_above(upward(v->blur[j] * lost + least)) : 0.0;
        double middle = root_above(upward(v->gram[j * (k + 1)] * lost + least));
        double both = upward(middle + radius), length = root_above(upward(both * both + v->ridge[j]));
        if (!(length > SHORTEST) || isinf(length)) return INFINITY;
        v->scale[j] = ldexp(1.0, -(int)lrint(log2(length)));
        largest = fmax(largest, upward(length * v->scale[j]));
        wide = fmax(wide, radius > 0 ? upward(radius * v->scale[j]) : 0.0);
        unit = fmax(unit, v->scale[j]);
    }
    double biggest = 0;
    int known = 1;
    for (ptrdiff_t j = 0; j < k; j++) {
        double *restrict to = v->matrix + j * k;
        for (ptrdiff_t i = 0; i < k; i++) to[i] = v->gram[j * k + i] * v->scale[j] * v->scale[i];
        to[j] += v->ridge[j] * v->scale[j] * v->scale[j];
        for (ptrdiff_t i = 0; i < k; i++) {
            biggest = fabs(to[i]) > biggest ? fabs(to[i]) : biggest;
            known &= fabs(to[i]) < INFINITY;
        }
    }
    if (!known) return INFINITY;
    v->largest = biggest;
    double rounding = largest * largest * relative_error(n + 12) + 8 * (n + 1) * LEAST_DOUBLE * unit * unit;
    return upward(upward(rounding) + 2 * largest * wide + wide * wide);
}

/* What may be off in a row of `I - R G` beside its residual, as a part of the sum of a row of R: what its entries may be,
   and rounding. */
static double blur_of(const inversion *v, double error)
{
    double terms = (double)v->k;
    return terms * (relative_error(terms + 2) * v->largest + error);
}

/* Write R, made symmetric; 0 on success. No proof relies on it. None is made where none could be proven: the inverse has
   an entry of at least `1 / pivot^2`. */
static int approximate_inverse(const inversion *v, double blur)
{
    ptrdiff_t k = v->k;
    double one = 1, *r = v->approximate;
    int side = (int)k;
    memcpy(v->factor, v->matrix, (size_t)(k * k) * sizeof *r);
    memset(r, 0, (size_t)(k * k) * sizeof *r);
    if (factor_by_pieces(v->factor, k, v->beat)) return 1;
    for (ptrdiff_t j = 0; j < k; j++) {
        double pivot = v->factor[j * (k + 1)];
        if (!(2 * blur < pivot * pivot)) return 1;
        r[j * (k + 1)] = 1;
    }
    for (ptrdiff_t first = 0; first < k; first += PIECE) {
        if (ended(v->beat)) return 1;
        int width = (int)(k - first < PIECE ? k - first : PIECE), below = (int)(k - first);
        double *columns = r + first * k;
        blas.dtrsm("L", "L", "N", "N", &below, &width, &one, v->factor + first * (k + 1), &side, columns + first, &side);
        blas.dtrsm("L", "L", "T", "N", &side, &width, &one, v->factor, &side, columns, &side);
    }
    for (ptrdiff_t j = 0; j < k; j++)
        for (ptrdiff_t i = 0; i < j; i++) r[i * k + j] = r[j * k + i] = (r[i * k + j] + r[j * k + i]) / 2;
    return 0;
}

/* An upper bound of `norm(I - R G)`, over all G whose entries are off by no more than `error`. Of a sum of k products
   rounding takes the part relative_error(k + 2) of the sum of their sizes, which is at most the sum of a row of R times
   the largest entry of G. */
static double residual_bound(const inversion *v, double error)
{
    ptrdiff_t k = v->k;
    double one = 1, none = 0, alpha = 0, terms = (double)k;
    int side = (int)k;
    memset(v->sum, 0, 2 * (size_t)k * sizeof *v->sum); /* and the residual */
    for (ptrdiff_t first = 0; first < k; first += PIECE) {
        if (ended(v->beat)) return INFINITY;
        int width = (int)(k - first < PIECE ? k - first : PIECE);
        blas.dgemm("N", "N", &side, &width, &side, &one, v->approximate, &side, v->matrix + first * k, &side, &none,
                   v->strip, &side);
        for (ptrdiff_t j = 0; j < width; j++) {
            const double *restrict r = v->approximate + (first + j) * k;
            double *restrict rest = v->strip + j * k, *restrict sum = v->sum, *restrict residual = v->residual;
            rest[first + j] -= 1;
            for (ptrdiff_t i = 0; i < k; i++) {
                sum[i] += fabs(r[i]);
                residual[i] += fabs(rest[i]);
            }
        }
    }
    double blur = blur_of(v, error);
    for (ptrdiff_t i = 0; i < k; i++) {
        double row = v->residual[i] * (1 + relative_error(terms + 4));
        double size = v->sum[i] * (1 + relative_error(terms + 2));
        double bound = row + size * blur;
        if (isnan(bound)) return INFINITY;
        alpha = fmax(alpha, bound);
    }
    return upward(upward(alpha) + terms * terms * LEAST_DOUBLE);
}

/* Whether the inverse is proven; if time is up or a user has interrupted, it is not. */
static int prove_inverse(inversion *v)
{
    ptrdiff_t k = v->k;
    double error = scale_gram(v);
    if (!(error < INFINITY) || approximate_inverse(v, blur_of(v, error))) return 0;
    double alpha = residual_bound(v, error);
    if (!(alpha < 0.5)) return 0;
    for (ptrdiff_t j = 0; j < k; j++) {
        double most = 0;
        for (ptrdiff_t i = 0; i < k; i++) most = fmax(most, fabs(v->approximate[j * k + i]));
        v->error[j] = upward(alpha / (1 - alpha) * (1 + 0x1p-50) * most);
    }
    return 1;
}

#endif
