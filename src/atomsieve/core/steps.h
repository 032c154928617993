/* Signals: running sums, columns that are sums of many others, and the best fit of bounded variation. */
#ifndef ATOMSIEVE_STEPS_H
#define ATOMSIEVE_STEPS_H

#include "exact.h"

/* The sums of the first numbers, of two, of three and so on, in twice the precision; and those of their radii. */
static void running(const double *restrict value, const double *restrict rad, ptrdiff_t count, double *restrict found)
{
    precise sum = {0, 0, 0};
    double spread = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        sum = plus(sum, value[i], 0.0);
        spread += rad[i];
        found[i] = sum.total;
        found[count + i] = sum.small;
        found[2 * count + i] = sum.size;
        found[3 * count + i] = spread;
    }
}

/* Rows of a sparse matrix with a weight each; the places of a row rise. */
typedef struct {
    const double *value, *weight;
    const int32_t *place;
    const int64_t *start;
    ptrdiff_t rows;
} weighted_rows;

/* For each place j, by how much `sum_i w_i s_i(j)^2` exceeds that of the next place, where s_i(j) is the sum of row i
   from j on, or up to j; and the sum of the absolute values of the terms. `unit` is twice the rounding of one sum:
   squares are those of upper bounds of abs(s_i). */
static void summed_squares(const weighted_rows *a, int upward, double unit, double *restrict change, double *restrict size)
{
    for (ptrdiff_t i = 0; i < a->rows; i++) {
        double sum = 0, moduli = 0, before = 0;
        ptrdiff_t terms = a->start[i + 1] - a->start[i];
        for (ptrdiff_t t = 0; t < terms; t++) {
            ptrdiff_t k = upward ? a->start[i] + t : a->start[i + 1] - 1 - t;
            sum += a->value[k];
            moduli += fabs(a->value[k]);
            double most = t ? fabs(sum) + unit * (double)t * moduli : fabs(sum), here = a->weight[i] * (most * most);
            change[a->place[k]] += here - before;
            size[a->place[k]] += here + before;
            before = here;
        }
    }
}

/* Knots of the derivative of a message, which is linear between them: places, and by how much it changes there. */
typedef struct {
    double *place, *slope, *level;
} knots;

/* The line of the derivative from the left end on until it exceeds `bound`; returns the first knot beyond. */
static ptrdiff_t from_left(const knots *k, ptrdiff_t l, ptrdiff_t r, double bound, double *slope, double *level)
{
    for (; l <= r && *slope * k->place[l] + *level <= bound; l++) {
        *slope += k->slope[l];
        *level += k->level[l];
    }
    return l;
}

static ptrdiff_t from_right(const knots *k, ptrdiff_t l, ptrdiff_t r, double bound, double *slope, double *level)
{
    for (; r >= l && *slope * k->place[r] + *level >= bound; r--) {
        *slope -= k->slope[r];
        *level -= k->level[r];
    }
    return r;
}

/* Minimise `sum_i w_i (x_i - y_i)^2 / 2 + sum_e price_e |x_{e+1} - x_e|` by Johnson's dynamic program (2013), in time
   proportional to n: the message of the first i places is kept by its derivative. Memory: 8 n numbers. */
static void denoise(const double *y, const double *w, const double *price, ptrdiff_t n, double *x, double *memory)
{
    knots k = {memory, memory + 2 * n, memory + 4 * n};
    double *least = memory + 6 * n, *most = memory + 7 * n, before = 0;
    ptrdiff_t l = n, r = n - 1; /* no knots */
    for (ptrdiff_t i = 0; i < n - 1; i++) {
        double bound = price[i], slope = w[i], level = -w[i] * y[i] - before;
        double other = w[i], end = -w[i] * y[i] + before;
        ptrdiff_t lo = from_left(&k, l, r, -bound, &slope, &level);
        ptrdiff_t hi = from_right(&k, lo, r, bound, &other, &end);
        least[i] = (-bound - level) / slope;
        most[i] = (bound - end) / other;
        l = lo - 1;
        r = hi + 1;
        k.place[l] = least[i];
        k.slope[l] = slope;
        k.level[l] = level + bound;
        k.place[r] = most[i];
        k.slope[r] = -other;
        k.level[r] = bound - end;
        before = bound;
    }
    double slope = w[n - 1], level = -w[n - 1] * y[n - 1] - before;
    from_left(&k, l, r, 0.0, &slope, &level);
    x[n - 1] = -level / slope;
    for (ptrdiff_t i = n - 2; i >= 0; i--) x[i] = fmin(fmax(x[i + 1], least[i]), most[i]);
}

#endif
