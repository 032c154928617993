/* Arithmetic with error bounds: every number lies within `rad` of `mid`, and every operation preserves this.

   Results are rounded to nearest, and products may be fused with sums. The error of a rounded result is at most EPSILON
   times the result, or the least double where it underflows. A radius is a sum of a few products of non-negative
   numbers; `upward` covers its own rounding. A radius of inf or NaN carries no information and stays inf or NaN. */
#ifndef ATOMSIEVE_ENCLOSED_H
#define ATOMSIEVE_ENCLOSED_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exact.h"

#define EPSILON 0x1p-53
#define LEAST_DOUBLE 0x1p-1074

typedef struct {
    double mid, rad;
} enclosed;

/* An upper bound of a radius that was computed in a few operations on non-negative numbers. Sums and products with
   numbers below the least normal one are slow, and 2^-48 of that is more than a few roundings below it can lose. */
static inline double upward(double radius)
{
    double bound = radius * (1 + 0x1p-48);
    return bound < DBL_MIN ? DBL_MIN : bound; /* NaN stays NaN */
}

static inline enclosed enclosed_sum(enclosed a, enclosed b)
{
    double mid = a.mid + b.mid;
    return (enclosed){mid, upward(a.rad + b.rad + EPSILON * fabs(mid))};
}

static inline enclosed enclosed_difference(enclosed a, enclosed b) { return enclosed_sum(a, (enclosed){-b.mid, b.rad}); }

/* Whether products with a number are exact: it is 1 or -1. */
static inline int is_sign(enclosed a) { return fabs(a.mid) == 1 && a.rad == 0; }

static inline enclosed enclosed_product(enclosed a, enclosed b)
{
    double mid = fma(a.mid, b.mid, 0.0); /* rounded, and not fused with what follows */
    double cross = fabs(a.mid) * b.rad + fabs(b.mid) * a.rad + a.rad * b.rad;
    double rad = upward(cross + EPSILON * fabs(mid));
    return (enclosed){mid, is_sign(a) | is_sign(b) ? a.rad + b.rad : rad};
}

static inline enclosed enclosed_quotient(enclosed a, enclosed b)
{
    double mid = a.mid / b.mid, least = fabs(b.mid) - b.rad;
    least = (least > 0 ? least : 0.0) * (1 - 2 * EPSILON);
    double spread = a.rad / least + (fabs(mid) + LEAST_DOUBLE) * (b.rad / least);
    double rad = upward((least > 0 ? spread : INFINITY) * (1 + 4 * EPSILON) + EPSILON * fabs(mid));
    return (enclosed){mid, rad};
}

/* The next double above; inf and NaN as they are. */
static inline double next_above(double t)
{
    uint64_t bits;
    memcpy(&bits, &t, sizeof t);
    bits += t > 0 ? 1 : UINT64_MAX; /* one less */
    double next;
    memcpy(&next, &bits, sizeof next);
    next = t == 0 ? LEAST_DOUBLE : next;
    return t < INFINITY ? next : t;
}

static inline double next_below(double t) { return -next_above(-t); }

/* Bounds of a number; an exact one is its own bound. */
static inline double lower_end(enclosed a) { return a.rad == 0 ? a.mid : next_below(a.mid - a.rad); }
static inline double upper_end(enclosed a) { return a.rad == 0 ? a.mid : next_above(a.mid + a.rad); }
static inline double largest_size(enclosed a) { return a.rad == 0 ? fabs(a.mid) : next_above(fabs(a.mid) + a.rad); }

/* The enclosure of all numbers from one end to another; without a bound where an end is not finite. */
static inline enclosed hull_of(double low, double high)
{
    double mid = low == high ? low : low / 2 + high / 2;
    double up = high - mid, down = mid - low;
    double rad = low == high ? 0.0 : upward(up > down ? up : down);
    int known = isfinite(low) && isfinite(high);
    return (enclosed){known ? mid : INFINITY, known ? rad : INFINITY};
}

/* The larger of two numbers: one of them where that is certain, and else no further from the larger middle than they. */
static inline enclosed enclosed_maximum(enclosed a, enclosed b)
{
    int first = lower_end(a) >= upper_end(b), second = lower_end(b) >= upper_end(a);
    double mid = a.mid > b.mid ? a.mid : b.mid, rad = a.rad > b.rad ? a.rad : b.rad;
    mid = isnan(a.mid) ? a.mid : isnan(b.mid) ? b.mid : mid;
    rad = isnan(a.rad) ? a.rad : isnan(b.rad) ? b.rad : rad;
    return (enclosed){first ? a.mid : second ? b.mid : mid, first ? a.rad : second ? b.rad : rad};
}

/* Vectors of enclosures, or one for all places (step 0). */
typedef struct {
    const double *mid, *rad;
    ptrdiff_t step;
} operand;

typedef enum { PLUS, MINUS, TIMES, OVER, LARGER, OPERATIONS } operation;

static inline enclosed combined(operation what, enclosed a, enclosed b)
{
    switch (what) {
    case PLUS: return enclosed_sum(a, b);
    case MINUS: return enclosed_difference(a, b);
    case TIMES: return enclosed_product(a, b);
    case OVER: return enclosed_quotient(a, b);
    default: return enclosed_maximum(a, b);
    }
}

static inline void combine_steps(operation what, operand a, ptrdiff_t a_step, operand b, ptrdiff_t b_step,
                                 ptrdiff_t count, double *restrict mid, double *restrict rad)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        enclosed left = {a.mid[i * a_step], a.rad[i * a_step]}, right = {b.mid[i * b_step], b.rad[i * b_step]};
        enclosed found = combined(what, left, right);
        mid[i] = found.mid;
        rad[i] = found.rad;
    }
}

/* Constant steps in each call, so that compilers make a loop of vectors of each. */
static inline void combine_as(operation what, operand a, operand b, ptrdiff_t count, double *mid, double *rad)
{
    if (a.step && b.step) combine_steps(what, a, 1, b, 1, count, mid, rad);
    else if (a.step) combine_steps(what, a, 1, b, 0, count, mid, rad);
    else combine_steps(what, a, 0, b, b.step, count, mid, rad);
}

static void combine_all(operation what, operand a, operand b, ptrdiff_t count, double *mid, double *rad)
{
    switch (what) {
    case PLUS: combine_as(PLUS, a, b, count, mid, rad); break;
    case MINUS: combine_as(MINUS, a, b, count, mid, rad); break;
    case TIMES: combine_as(TIMES, a, b, count, mid, rad); break;
    case OVER: combine_as(OVER, a, b, count, mid, rad); break;
    default: combine_as(LARGER, a, b, count, mid, rad); break;
    }
}

typedef enum { LOWER, UPPER, SIZE, BOUNDS } bound;

static inline double bound_of(bound which, enclosed a)
{
    return which == LOWER ? lower_end(a) : which == UPPER ? upper_end(a) : largest_size(a);
}

static void bound_all(bound which, const double *mid, const double *rad, ptrdiff_t count, double *restrict out)
{
    switch (which) {
    case LOWER:
        for (ptrdiff_t i = 0; i < count; i++) out[i] = lower_end((enclosed){mid[i], rad[i]});
        break;
    case UPPER:
        for (ptrdiff_t i = 0; i < count; i++) out[i] = upper_end((enclosed){mid[i], rad[i]});
        break;
    default:
        for (ptrdiff_t i = 0; i < count; i++) out[i] = largest_size((enclosed){mid[i], rad[i]});
    }
}

/* Bounds of absolute values, from below and above. A difference or a sum is rounded once (below the least normal number
   it is exact): a bound from below loses more than that and the rounding of its factor, and one from above becomes the
   next double at least. What is no number has no bounds: 0 and NaN. */
static void bound_sizes(const double *restrict mid, const double *restrict rad, ptrdiff_t count, double *restrict least,
                        double *restrict most)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < count; i++) {
        double size = fabs(mid[i]), below = size - rad[i], above = size + rad[i];
        least[i] = below > 0 ? below * (1 - 4 * EPSILON) : 0.0;
        most[i] = rad[i] == 0 ? size : above * (1 + 2 * EPSILON) + DBL_MIN;
    }
}

/* A bound of the error of a sum of products, relative to the sum of their absolute values (Higham). */
static inline double relative_error(double terms)
{
    return terms < 0x1p50 ? upward(terms * EPSILON / (1 - terms * EPSILON)) : INFINITY;
}

/* The sum of all numbers, as if in twice the precision and rounded once; no number where one is not finite. */
static enclosed enclosed_total(const double *mid, const double *rad, ptrdiff_t count)
{
    double total[LANES] = {0}, small[LANES] = {0}, size[LANES] = {0}, spread[LANES] = {0};
    ptrdiff_t i = 0, whole = count / LANES * LANES;
    for (; i < whole; i += LANES)
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            precise s = plus((precise){total[l], small[l], size[l]}, mid[i + l], 0.0);
            total[l] = s.total;
            small[l] = s.small;
            size[l] = s.size;
            spread[l] += rad[i + l];
        }
    precise sum = {0, 0, 0};
    double wide = 0;
    for (; i < count; i++) {
        sum = plus(sum, mid[i], 0.0);
        wide += rad[i];
    }
    for (int l = 0; l < LANES; l++) {
        sum = plus(sum, total[l], small[l]);
        sum.size += size[l];
        wide += spread[l];
    }
    double middle = sum.total + sum.small, n = (double)count, lost = relative_error(4 * n + 64);
    if (!isfinite(middle)) return (enclosed){NAN, INFINITY};
    return (enclosed){middle, upward(upward(wide * (1 + relative_error(n + LANES))) + lost * (1 + lost) * sum.size +
                                     EPSILON * fabs(middle))};
}

#endif
