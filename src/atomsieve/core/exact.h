/* Sums for proofs: products in twice the precision, and squares in any order.

   The rounding errors of a product and of a sum are floats themselves and are summed apart (Ogita, Rump and Oishi,
   2005). `fma(a, b, 0.0)` is the rounded product; written as `a * b`, a compiler might fuse it with the sum. */
#ifndef ATOMSIEVE_EXACT_H
#define ATOMSIEVE_EXACT_H

#include <math.h>

#include "columns.h"

#define LANES 8 /* sums side by side */

/* A sum, the sum of its rounding errors, and that of their absolute values. */
typedef struct {
    double total, small, size;
} precise;

static inline precise plus(precise s, double term, double lost)
{
    double total = s.total + term, part = total - s.total;
    double dropped = (s.total - (total - part)) + (term - part);
    return (precise){total, s.small + (lost + dropped), s.size + (fabs(lost) + fabs(dropped))};
}

static inline precise plus_product(precise s, double a, double b)
{
    double product = fma(a, b, 0.0);
    return plus(s, product, fma(a, b, -product));
}

/* The product of a column with v, in twice the precision. */
static precise exact_dot(const column *a, const double *restrict v)
{
    double total[LANES] = {0}, small[LANES] = {0}, size[LANES] = {0};
    const double *restrict value = a->value;
    ptrdiff_t i = 0, whole = a->row ? 0 : a->count / LANES * LANES;
    for (; i < whole; i += LANES)
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            precise s = plus_product((precise){total[l], small[l], size[l]}, value[i + l], v[i + l]);
            total[l] = s.total;
            small[l] = s.small;
            size[l] = s.size;
        }
    precise sum = {0, 0, 0};
    for (; i < a->count; i++) sum = plus_product(sum, value[i], v[a->row ? a->row[i] : i]);
    for (int l = 0; l < LANES; l++) {
        sum = plus(sum, total[l], small[l]);
        sum.size += size[l];
    }
    return sum;
}

/* The product of the absolute values of a column, less its centre, with radii. */
static double spread_of(const column *a, double centre, const double *restrict rad)
{
    const double *restrict value = a->value;
    double sum = 0;
    if (a->row) {
        for (ptrdiff_t i = 0; i < a->count; i++) sum += fabs(value[i]) * rad[a->row[i]];
        return sum;
    }
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < a->count; i++) sum += fabs(value[i] - centre) * rad[i];
    return sum;
}

/* Add a multiple of a column to sums in twice the precision, one for each row. */
static void exact_axpy(const column *a, double x, double *restrict total, double *restrict small, double *restrict size)
{
    const double *restrict value = a->value;
    if (!a->row) {
#pragma omp simd
        for (ptrdiff_t i = 0; i < a->count; i++) {
            precise s = plus_product((precise){total[i], small[i], size[i]}, value[i], x);
            total[i] = s.total;
            small[i] = s.small;
            size[i] = s.size;
        }
        return;
    }
    for (ptrdiff_t i = 0; i < a->count; i++) {
        int32_t r = a->row[i];
        precise s = plus_product((precise){total[r], small[r], size[r]}, value[i], x);
        total[r] = s.total;
        small[r] = s.small;
        size[r] = s.size;
    }
}

/* The sum of `w (value - centre)^2` over a column. */
static double weighted_squares(const column *a, const double *restrict w, double centre)
{
    const double *restrict value = a->value;
    double sum = 0;
    if (a->row) {
        for (ptrdiff_t i = 0; i < a->count; i++) sum += w[a->row[i]] * (value[i] * value[i]);
        return sum;
    }
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < a->count; i++) {
        double rest = value[i] - centre;
        sum += w[i] * (rest * rest);
    }
    return sum;
}

/* The same for a matrix that is stored by rows: add what one row has to the sums of all columns. */
static void add_squares(const column *row, double w, const double *restrict centre, double *restrict sums)
{
    const double *restrict value = row->value;
    if (row->row) {
        for (ptrdiff_t i = 0; i < row->count; i++) sums[row->row[i]] += w * (value[i] * value[i]);
        return;
    }
#pragma omp simd
    for (ptrdiff_t i = 0; i < row->count; i++) {
        double rest = value[i] - centre[i];
        sums[i] += w * (rest * rest);
    }
}

#endif
