/* The logistic loss with bounds of all errors: slopes, curvatures and values of samples with labels -1 and 1.

   With the margin m = y u and d = exp(-|m|), the slope is -y d / (1 + d) for m > 0 and -y / (1 + d) elsewhere, the
   curvature d / (1 + d)^2 and the value max(-m, 0) + log(1 + d). d is off by the part EXP_ERROR of itself and, where it
   underflows, by UNDERFLOW_LOSS: in exp_down r is off by EPSILON at most (whole parts of ln 2 are exact), the polynomial
   leaves 2^-57 and its rounding counts 0.42 times, and two roundings follow (found: 1.42 EPSILON). log_up is off by the
   part LOG_ERROR: 1 + d is rounded where its half is a third from 1, and four more roundings follow (found: 4.1). No part
   of d makes a larger part of any of the three. */
#ifndef ATOMSIEVE_LOGISTIC_H
#define ATOMSIEVE_LOGISTIC_H

#include "enclosed.h"
#include "losses.h"

#define EXP_ERROR (4 * EPSILON)
#define LOG_ERROR (8 * EPSILON)
#define UNDERFLOW_LOSS 0x1p-1021 /* more than exp_down is off below -708, where it stays */

/* Slopes at exact predictions: the sum and the quotient are rounded; a part of d counts as far as 1 less the slope. */
static void logistic_slopes(ptrdiff_t n, const double *restrict u, const double *restrict y, double *restrict mid,
                            double *restrict rad)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) {
        double margin = y[i] * u[i], decay = exp_down(-fabs(margin));
        double part = (margin > 0 ? decay : 1.0) / (1 + decay);
        mid[i] = -y[i] * part;
        double counts = (margin > 0 ? 1.0 : decay) / (1 + decay) + EPSILON;
        rad[i] = fabs(y[i]) == 1 ? part * (EXP_ERROR * counts + 3 * EPSILON) + 2 * UNDERFLOW_LOSS : INFINITY;
    }
}

/* The curvature falls as the prediction moves away from 0: least and most are at the ends of its size. The sum counts
   twice, its square and the quotient are rounded. */
static void logistic_curvatures(ptrdiff_t n, const double *restrict u, const double *restrict off, double *restrict mid,
                                double *restrict rad)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) {
        double size = fabs(u[i]), blur = size * 4 * EPSILON + off[i] * (1 + 4 * EPSILON) + UNDERFLOW_LOSS;
        double near = off[i] == 0 ? size : size - blur, far = off[i] == 0 ? size : size + blur;
        double high = exp_down(near > 0 ? -near : 0.0), low = exp_down(-far);
        double most = high / ((1 + high) * (1 + high)) * (1 + EXP_ERROR + 8 * EPSILON) + 2 * UNDERFLOW_LOSS;
        double least = low / ((1 + low) * (1 + low)) * (1 - EXP_ERROR - 8 * EPSILON) - 2 * UNDERFLOW_LOSS;
        mid[i] = least / 2 + most / 2;
        rad[i] = (most - least) * (0.5 + 4 * EPSILON) + EPSILON * most + UNDERFLOW_LOSS;
        if (!(off[i] < INFINITY)) rad[i] = INFINITY;
    }
}

/* Values at exact predictions. */
static void logistic_values(ptrdiff_t n, const double *restrict u, const double *restrict y, double *restrict mid,
                            double *restrict rad)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) {
        double margin = y[i] * u[i], decay = exp_down(-fabs(margin)), rest = log_up(decay);
        mid[i] = (margin < 0 ? -margin : 0.0) + rest;
        rad[i] = rest * (LOG_ERROR + EXP_ERROR + EPSILON) + fabs(mid[i]) * (2 * EPSILON) + 2 * UNDERFLOW_LOSS;
        if (fabs(y[i]) != 1) rad[i] = INFINITY;
    }
}

/* Bounds of the curvature `p (1 - p)`, p = -y t, over slopes t from one end to the other: it is concave, so that it is
   least at an end, and most there or at a half. A difference and a product are rounded. No branch is left, and no number
   below the normal ones is added: it would take a hundred cycles. */
static void logistic_bends(ptrdiff_t n, const double *restrict low, const double *restrict high,
                           const double *restrict y, double *restrict least, double *restrict most)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) {
        double a = -y[i] * low[i], b = -y[i] * high[i], size = fabs(y[i]);
        a = a > 0 ? a : 0.0, b = b > 0 ? b : 0.0;
        a = a < 1 ? a : 1.0, b = b < 1 ? b : 1.0;
        double first = a * (1 - a), second = b * (1 - b), sides = (a - 0.5) * (b - 0.5);
        double below = (first < second ? first : second) * (1 - 4 * EPSILON) - DBL_MIN;
        double above = (first < second ? second : first) * (1 + 4 * EPSILON) + DBL_MIN;
        below = below > 0 ? below : 0.0;
        above = above < 0.25 ? above : 0.25;
        above = sides > 0 ? above : 0.25;
        below = low[i] <= high[i] ? below : 0.0, above = low[i] <= high[i] ? above : 0.25;
        least[i] = size == 1 ? below : 0.0, most[i] = size == 1 ? above : 0.25;
    }
}

#endif
