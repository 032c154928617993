/* Signals in pieces of lines: the best fit with a price for every bend, by an active set of knots. */
#ifndef ATOMSIEVE_BENDS_H
#define ATOMSIEVE_BENDS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "steps.h"

#define BENT_TOO_FAR (1 + 1e-10) /* times its price the dual may be: so much is rounding */

/* The signal, and lines between knots: point 0, points with a bend, and the last point. */
typedef struct {
    const double *y, *w, *price; /* a price for each point but the ends, from point 1 on */
    ptrdiff_t n, pieces;
    int64_t *knot;      /* pieces + 1 of them */
    double *pull;       /* the price of the bend at a knot with its sign; 0 at both ends */
    double *value;      /* the line at the knots */
    double *own, *next; /* the system of the values: its diagonal, and the entries beside it */
    double *dual;       /* of each point, within a piece */
    double *turn;       /* the bends of the best lines at the knots */
} bent_lines;

/* Values at the knots that minimise `sum_i w_i (x_i - y_i)^2 / 2 + pulls . bends`: a tridiagonal system. */
static void fit_lines(bent_lines *b)
{
    for (ptrdiff_t k = 0; k <= b->pieces; k++) b->own[k] = b->value[k] = 0;
    for (ptrdiff_t k = 0; k < b->pieces; k++) {
        ptrdiff_t from = b->knot[k], to = b->knot[k + 1], last = k + 1 == b->pieces;
        double step = 1 / (double)(to - from), left = 0, both = 0, right = 0, first = 0, second = 0;
#pragma omp simd reduction(+ : left, both, right, first, second)
        for (ptrdiff_t i = from; i < to + last; i++) {
            double part = (double)(i - from) * step, rest = 1 - part, weight = b->w[i], whole = weight * b->y[i];
            left += weight * rest * rest;
            both += weight * rest * part;
            right += weight * part * part;
            first += whole * rest;
            second += whole * part;
        }
        double slope = (b->pull[k + 1] - b->pull[k]) * step;
        b->own[k] += left;
        b->own[k + 1] += right;
        b->next[k] = both;
        b->value[k] += first - slope;
        b->value[k + 1] += second + slope;
    }
    for (ptrdiff_t k = 0; k < b->pieces; k++) {
        double part = b->next[k] / b->own[k];
        b->own[k + 1] -= part * b->next[k];
        b->value[k + 1] -= part * b->value[k];
    }
    b->value[b->pieces] /= b->own[b->pieces];
    for (ptrdiff_t k = b->pieces; k-- > 0;) b->value[k] = (b->value[k] - b->next[k] * b->value[k + 1]) / b->own[k];
}

static double incline(const bent_lines *b, ptrdiff_t k)
{
    return (b->value[k + 1] - b->value[k]) / (double)(b->knot[k + 1] - b->knot[k]);
}

/* The dual within a piece: its second differences are the residuals, and at both knots it is the pull there. In each run
   of places where it exceeds the price the farthest gets its sign as a mark; returns the number of these. */
static ptrdiff_t mark_missing(bent_lines *b, ptrdiff_t k, double *restrict mark)
{
    ptrdiff_t from = b->knot[k], to = b->knot[k + 1], found = 0, best = -1;
    double slope = incline(b, k), change = 0, sum = 0, farthest = 0, *dual = b->dual;
    for (ptrdiff_t i = from + 1; i < to; i++) { /* of point i + 1, from 0 at the first two points */
        change += b->w[i] * (b->y[i] - (b->value[k] + slope * (double)(i - from)));
        dual[i] = sum;
        sum += change;
    }
    double rate = (b->pull[k + 1] - b->pull[k] - sum) / (double)(to - from);
    for (ptrdiff_t i = from + 1; i <= to; i++) {
        double size = i < to ? b->pull[k] + rate * (double)(i - from) + dual[i] : 0;
        double over = i < to ? fabs(size) - b->price[i - 1] * BENT_TOO_FAR : 0;
        if (over > 0 && (best < 0 || over > farthest)) {
            best = i;
            farthest = over;
            dual[i] = size;
        }
        if (over > 0 || best < 0) continue;
        mark[best] = dual[best] > 0 ? 1 : -1;
        best = -1;
        found++;
    }
    return found;
}

/* The knots of marks, a sign for each point; those of the ends are ignored. */
static void take_knots(bent_lines *b, const double *restrict mark)
{
    ptrdiff_t count = 0;
    b->knot[0] = 0;
    b->pull[0] = 0;
    for (ptrdiff_t i = 1; i < b->n - 1; i++)
        if (mark[i] != 0) {
            b->knot[++count] = i;
            b->pull[count] = mark[i] * b->price[i - 1];
        }
    b->knot[++count] = b->n - 1;
    b->pull[count] = 0;
    b->pieces = count;
}

/* The best lines with marked knots, and their bends; returns how many bend the wrong way. */
static ptrdiff_t fit_bends(bent_lines *b, const double *restrict mark)
{
    ptrdiff_t wrong = 0;
    take_knots(b, mark);
    fit_lines(b);
    for (ptrdiff_t k = 1; k < b->pieces; k++) {
        b->turn[k] = incline(b, k) - incline(b, k - 1);
        wrong += b->turn[k] * mark[b->knot[k]] <= 0;
    }
    return wrong;
}

static ptrdiff_t mark_all_missing(bent_lines *b, double *restrict mark)
{
    ptrdiff_t found = 0;
    for (ptrdiff_t k = 0; k < b->pieces; k++) found += mark_missing(b, k, mark);
    return found;
}

static void unmark_wrong(const bent_lines *b, double *restrict mark)
{
    for (ptrdiff_t k = 1; k < b->pieces; k++)
        if (b->turn[k] * mark[b->knot[k]] <= 0) mark[b->knot[k]] = 0;
}

/* Go towards the best bends with the marked knots until the first ones vanish, which are unmarked, and again until all
   are right (Lawson and Hanson). The objective falls. Returns whether it went anywhere. */
static int step_to_right(bent_lines *b, double *restrict mark, double *restrict bend)
{
    int moved = 0;
    while (fit_bends(b, mark)) {
        double length = 1;
        for (ptrdiff_t k = 1; k < b->pieces; k++) {
            double now = bend[b->knot[k]];
            if (b->turn[k] * mark[b->knot[k]] <= 0) length = fmin(length, now == 0 ? 0 : now / (now - b->turn[k]));
        }
        moved |= length > 0;
        for (ptrdiff_t k = 1; k < b->pieces; k++) {
            double *now = bend + b->knot[k], *sign = mark + b->knot[k];
            int wrong = b->turn[k] * *sign <= 0;
            double least = wrong ? *now == 0 ? 0 : *now / (*now - b->turn[k]) : 1;
            *now += length * (b->turn[k] - *now);
            if (wrong && least <= length) *now = *sign = 0;
        }
    }
    for (ptrdiff_t k = 1; k < b->pieces; k++) {
        moved |= bend[b->knot[k]] == 0;
        bend[b->knot[k]] = b->turn[k];
    }
    return moved;
}

/* The best lines: for some quick rounds all knots that bend the wrong way are taken out, and those that are missing put
   in. This may go in circles, so careful rounds follow, in which the objective falls. Returns whether these ended. */
static int bend_lines(bent_lines *b, double *restrict mark, double *restrict bend, ptrdiff_t quick, ptrdiff_t careful)
{
    for (; quick > 0; quick--) {
        ptrdiff_t wrong = fit_bends(b, mark), missing = mark_all_missing(b, mark);
        unmark_wrong(b, mark);
        if (!wrong && !missing) break;
    }
    while (fit_bends(b, mark)) unmark_wrong(b, mark);
    for (ptrdiff_t i = 0; i < b->n; i++) bend[i] = 0;
    for (ptrdiff_t k = 1; k < b->pieces; k++) bend[b->knot[k]] = b->turn[k];
    while (mark_all_missing(b, mark)) {
        if (!careful--) return 0;
        if (!step_to_right(b, mark, bend)) return 1;
    }
    return 1;
}

/* The bends of the last round, rounded such that lines with them meet the values at the knots: errors of slopes do not
   add up from knot to knot. */
static void sharpen_bends(const bent_lines *b, double *restrict bend)
{
    if (b->pieces < 2) return;
    double first = incline(b, 0), height = first * (double)b->knot[1];
    sum_of_two slope = {first, 0};
    for (ptrdiff_t k = 1; k < b->pieces; k++) {
        double length = (double)(b->knot[k + 1] - b->knot[k]);
        double turn = (b->value[k + 1] - b->value[0] - height) / length - slope.total - slope.small;
        bend[b->knot[k]] = turn;
        added(&slope, turn);
        height += (slope.total + slope.small) * length;
    }
}

#endif
