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

/* A sum to which numbers are added, with the rounding errors beside it. */
typedef struct {
    double total, small;
} sum_of_two;

static inline double added(sum_of_two *sum, double v)
{
    double total = sum->total + v, part = total - sum->total;
    sum->small += (sum->total - (total - part)) + (v - part);
    sum->total = total;
    return total + sum->small;
}

/* The levels of n places: that of the root, plus the jumps to its right, less those to its left. Both sides at once, as
   each sum waits for the one before. */
static void levels_of(const double *restrict v, ptrdiff_t n, ptrdiff_t root, double *restrict x)
{
    sum_of_two right = {v[root], 0}, left = right;
    ptrdiff_t r = root + 1, l = root - 1;
    x[root] = v[root];
    for (; r < n && l >= 0; r++, l--) {
        x[r] = added(&right, v[r]);
        x[l] = added(&left, -v[l]);
    }
    for (; r < n; r++) x[r] = added(&right, v[r]);
    for (; l >= 0; l--) x[l] = added(&left, -v[l]);
}

/* What each jump moves: the sum from its place on to the right of the root, less the sum up to it to the left. */
static void moved_by(const double *restrict v, ptrdiff_t n, ptrdiff_t root, double *restrict z)
{
    sum_of_two right = {0, 0}, left = {0, 0};
    ptrdiff_t r = n - 1, l = 0;
    for (; r > root && l < root; r--, l++) {
        z[r] = added(&right, v[r]);
        z[l] = -added(&left, v[l]);
    }
    for (; r > root; r--) z[r] = added(&right, v[r]);
    for (; l < root; l++) z[l] = -added(&left, v[l]);
    added(&right, v[root]);
    added(&right, left.total);
    z[root] = right.total + (right.small + left.small);
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

/* Sharp levels of a denoised signal: the mean of each region of one level, moved by the prices of the jumps around it. */
static void sharpen(const double *restrict y, const double *restrict w, const double *restrict price, ptrdiff_t n,
                    double *restrict x)
{
    double before = 0; /* the price of the jump to this region, with its sign */
    for (ptrdiff_t i = 0, end; i < n; i = end) {
        sum_of_two whole = {0, 0}, weight = {0, 0};
        for (end = i; end < n && x[end] == x[i]; end++) {
            added(&whole, w[end] * y[end]);
            added(&weight, w[end]);
        }
        double after = end == n ? 0 : x[end] > x[i] ? price[end - 1] : -price[end - 1];
        double level = (whole.total + (whole.small + (after - before))) / (weight.total + weight.small);
        for (ptrdiff_t k = i; k < end; k++) x[k] = level;
        before = after;
    }
}

/* The jump to a level, such that the sum of all jumps so far is that level as exactly as it can be. */
static inline double jump_to(sum_of_two *sum, double level)
{
    double jump = level - sum->total - sum->small;
    added(sum, jump);
    return jump;
}

/* The jumps between levels, and 0 at the root; x becomes their sums, the levels above that of the root. */
static void jumps_between(double *restrict x, ptrdiff_t n, ptrdiff_t root, double *restrict jump)
{
    double base = x[root];
    sum_of_two right = {0, 0}, left = {0, 0};
    double last = base;
    for (ptrdiff_t i = root + 1; i < n; i++) {
        double level = x[i];
        jump[i] = level == last ? 0 : jump_to(&right, level - base);
        last = level;
        x[i] = right.total + right.small;
    }
    last = base;
    for (ptrdiff_t i = root - 1; i >= 0; i--) {
        double level = x[i];
        jump[i] = level == last ? 0 : -jump_to(&left, level - base);
        last = level;
        x[i] = left.total + left.small;
    }
    x[root] = jump[root] = 0;
}

#endif
