/* The samples at a point, with bounds of all errors, for the squared and the logistic loss: predictions where one free
   column has its best coefficient, slopes, theta, losses, and how far curvatures reach. What is done for other losses,
   and for several free columns, is written in certificate/free.py, proof.py and gap.py, which also tell why. */
#ifndef ATOMSIEVE_SIGHTED_H
#define ATOMSIEVE_SIGHTED_H

#include "enclosed.h"
#include "logistic.h"

/* Arrays of enclosures that are written. */
typedef struct {
    double *mid, *rad;
} enclosures;

typedef struct {
    int kind; /* SQUARED or LOGISTIC */
    ptrdiff_t n;
    const double *y, *weight;
    operand image, column; /* predictions without the free column; that column, no column: NULL */
    double coefficient, largest; /* of the free column, where its best one is near; the largest curvature there is */
    enclosures u, slope, theta, middle, bend;
} sighted;

static inline enclosed entry_of(enclosures r, ptrdiff_t i) { return (enclosed){r.mid[i], r.rad[i]}; }

static inline enclosed operand_at(operand a, ptrdiff_t i) { return (enclosed){a.mid[i], a.rad[i]}; }

static inline void put(enclosures r, ptrdiff_t i, enclosed number)
{
    r.mid[i] = number.mid;
    r.rad[i] = number.rad;
}

static inline enclosed exactly(double number) { return (enclosed){number, 0.0}; }

/* Slopes at the middle of the predictions. */
static void middle_slopes(const sighted *s)
{
    if (s->kind == LOGISTIC) logistic_slopes(s->n, s->u.mid, s->y, s->middle.mid, s->middle.rad);
    else
        for (ptrdiff_t i = 0; i < s->n; i++)
            put(s->middle, i, enclosed_difference(exactly(s->u.mid[i]), exactly(s->y[i])));
}

/* Curvatures at all enclosed predictions, and their lower bounds, 0 at least. */
static void bends_around(const sighted *s, const double *restrict rad)
{
    if (s->kind == LOGISTIC) logistic_curvatures(s->n, s->u.mid, rad, s->bend.mid, s->bend.rad);
    else
        for (ptrdiff_t i = 0; i < s->n; i++) put(s->bend, i, exactly(1.0));
}

/* Slopes at all enclosed predictions: those at the middle, widened by curvature times radius. */
static void widen_slopes(const sighted *s)
{
    for (ptrdiff_t i = 0; i < s->n; i++) {
        double steepest = fmin(upper_end(entry_of(s->bend, i)), s->largest);
        put(s->slope, i, (enclosed){s->middle.mid[i], upward(s->middle.rad[i] + steepest * s->u.rad[i])});
    }
}

static void weigh_slopes(const sighted *s)
{
    for (ptrdiff_t i = 0; i < s->n; i++) put(s->theta, i, enclosed_product(entry_of(s->slope, i), exactly(s->weight[i])));
}

/* A lower bound of the square of the free column in the metric of the curvatures; 0 if it is too small to tell, or has
   overflowed. Sizes are rounded twice and products three times; none is larger than the weight where entries are at
   most about 1. */
static double least_square(const sighted *s)
{
    double sum = 0, largest = 0;
    for (ptrdiff_t i = 0; i < s->n; i++) {
        double least, most, bend = lower_end(entry_of(s->bend, i));
        bound_sizes(s->column.mid + i, s->column.rad + i, 1, &least, &most);
        double weight = s->weight[i] * (bend > 0 ? bend : 0.0) * (1 - 8 * EPSILON);
        sum += weight * (least * least);
        largest = weight > largest ? weight : largest;
    }
    double n = (double)s->n, square = sum * (1 - relative_error(n + 12)) - 4 * n * LEAST_DOUBLE * (1 + largest);
    return square > 1e-280 && square < INFINITY ? square * (1 - 8 * EPSILON) : 0.0;
}

/* The size of the derivative along the free column, from theta; `scratch` is written. */
static double along_column(const sighted *s, enclosures scratch)
{
    for (ptrdiff_t i = 0; i < s->n; i++)
        put(scratch, i, enclosed_product(operand_at(s->column, i), entry_of(s->theta, i)));
    return largest_size(enclosed_total(scratch.mid, scratch.rad, s->n));
}

/* Widen the predictions to those at the best coefficient of the free column. Returns how far that is from the stated
   one, or -1 if nothing is known. If the curvature along the column is at least lambda in a ball, and the derivative at
   its middle is smaller than lambda times its radius, then the best coefficient is no further than their quotient. */
static double balance(const sighted *s)
{
    widen_slopes(s);
    weigh_slopes(s);
    double size = along_column(s, s->slope), guess = least_square(s);
    for (double radius = 4; guess > 0 && radius <= 0x1p20; radius = radius == 4 ? 64 : radius == 64 ? 0x1p20 : INFINITY) {
        double ball = radius * size / guess;
        ball = ball > 1e-300 ? ball : 1e-300;
        for (ptrdiff_t i = 0; i < s->n; i++)
            s->slope.rad[i] = upward(s->u.rad[i] + largest_size(operand_at(s->column, i)) * ball);
        bends_around(s, s->slope.rad);
        double least = least_square(s);
        if (!(least > 0 && size < least * ball * (1 - 0x1p-40))) continue;
        double shift = upward(size / least * (1 + 0x1p-40));
        for (ptrdiff_t i = 0; i < s->n; i++) {
            double moved = upward(largest_size(operand_at(s->column, i)) * shift);
            s->u.rad[i] = upward(s->u.rad[i] + moved);
        }
        return shift; /* the minimiser lies in the ball, and so do the curvatures on the way */
    }
    return -1;
}

/* The sum of the losses: those at the middle of the predictions, widened by slope times radius. */
static enclosed weighted_losses(const sighted *s, enclosures scratch, int blurred)
{
    if (s->kind == LOGISTIC) logistic_values(s->n, s->u.mid, s->y, scratch.mid, scratch.rad);
    for (ptrdiff_t i = 0; i < s->n; i++) {
        enclosed residual = enclosed_difference(exactly(s->u.mid[i]), exactly(s->y[i]));
        enclosed half = enclosed_quotient(enclosed_product(residual, residual), exactly(2.0));
        enclosed value = s->kind == LOGISTIC ? entry_of(scratch, i) : half;
        if (blurred) value.rad = upward(value.rad + largest_size(entry_of(s->slope, i)) * s->u.rad[i]);
        put(scratch, i, enclosed_product(value, exactly(s->weight[i])));
    }
    return enclosed_total(scratch.mid, scratch.rad, s->n);
}

/* Write predictions, slopes and theta, and return the sum of the losses. `shift` is how far the best coefficient of the
   free column may be from the stated one, or -1 if it was not found. */
static enclosed see_samples(const sighted *s, double *shift)
{
    int blurred = 0;
    for (ptrdiff_t i = 0; i < s->n; i++) {
        enclosed u = operand_at(s->image, i);
        if (s->column.mid) u = enclosed_sum(u, enclosed_product(operand_at(s->column, i), exactly(s->coefficient)));
        put(s->u, i, u);
        blurred |= u.rad != 0; /* NaN too */
    }
    blurred |= s->column.mid != NULL;
    middle_slopes(s);
    bends_around(s, s->u.rad);
    *shift = s->column.mid ? balance(s) : 0.0;
    if (blurred) widen_slopes(s);
    else memcpy(s->slope.mid, s->middle.mid, 2 * (size_t)s->n * sizeof(double)); /* a middle and its radii, in a row */
    weigh_slopes(s);
    return weighted_losses(s, s->middle, blurred);
}

/* The range of a slope and of the same slope, scaled down. */
static inline void scaled_range(enclosed slope, double scale, double *low, double *high)
{
    double least = lower_end(slope), most = upper_end(slope);
    *low = least < scale * least ? least : scale * least;
    *high = most > scale * most ? most : scale * most;
}

/* Slopes of the logistic loss, and where bounds of its curvatures are made; the last three are scratch. */
typedef struct {
    ptrdiff_t n;
    operand slope;
    const double *y, *weight;
    double *least, *most, *low, *high, *before;
    int kind; /* of the loss, which is quadratic where it is not logistic */
} bending;

/* Bounds of the curvature of the logistic loss between a point, the same scaled down, and the optimum: the product of
   the distances of prediction and slope is at most gap / weight for each sample. They are made anew from the largest
   curvature that they show, three times at most, until none falls below `settled` times itself. What rounding takes from
   the sums is within the blur, and the 2^-48 that a root is rounded up by. */
static void reach_curvatures(const bending *r, double scale, double gap, double settled)
{
    int goes_on = 1;
    for (ptrdiff_t i = 0; i < r->n; i++) r->most[i] = 0.25;
    for (int round = 0; round < 3 && goes_on; round++) {
        for (ptrdiff_t i = 0; i < r->n; i++) {
            double low, high, away = upward(sqrt(upward(upward(r->most[i] / r->weight[i]) * gap)));
            scaled_range(operand_at(r->slope, i), scale, &low, &high);
            away += 4 * EPSILON * largest_size(operand_at(r->slope, i));
            r->low[i] = low - away;
            r->high[i] = high + away;
            r->before[i] = r->most[i];
        }
        logistic_bends(r->n, r->low, r->high, r->y, r->least, r->most);
        goes_on = 0;
        for (ptrdiff_t i = 0; i < r->n; i++) goes_on |= !(r->most[i] >= settled * r->before[i]);
    }
}

/* An upper bound of the sum of `weight slope^2 / curvature`, with the least curvature between a slope and the same,
   scaled down; products with the scale are rounded once, and so are these sums. */
static double stiffness_below(const bending *r, double scale)
{
    double sum = 0, weights = 0, n = (double)r->n;
    for (ptrdiff_t i = 0; i < r->n; i++) {
        double blur = 4 * EPSILON * largest_size(operand_at(r->slope, i)) + 2 * LEAST_DOUBLE;
        scaled_range(operand_at(r->slope, i), scale, r->low + i, r->high + i);
        r->low[i] -= blur;
        r->high[i] += blur;
    }
    if (r->kind == LOGISTIC) logistic_bends(r->n, r->low, r->high, r->y, r->least, r->most);
    else
        for (ptrdiff_t i = 0; i < r->n; i++) r->least[i] = 1;
    for (ptrdiff_t i = 0; i < r->n; i++) {
        double size = largest_size(operand_at(r->slope, i));
        sum += size > 0 ? r->weight[i] * (size * (size / r->least[i])) : 0.0;
        weights += r->weight[i];
    }
    return (sum + 4 * LEAST_DOUBLE * (weights + n)) * (1 + relative_error(n + 8));
}

/* As in enclosures.py: how far log and log1p of the C library may be off, relative to the result. */
#define FUNCTION_ERROR (8 * EPSILON)

/* An upper bound of `s log s + (1 - s) log(1 - s)` for s in [0, 1]. Neither term is positive. `1 - s` is exact from a half
   on, and rounded below, where its logarithm does not take it; then products and the sum are rounded. */
static double entropy_from_above(double s)
{
    double rest = 1 - s;
    double first = s > 0 ? s * log(s) : 0.0, second = rest > 0 ? rest * (s < 0.5 ? log1p(-s) : log(rest)) : 0.0;
    return (first + second) * (1 - FUNCTION_ERROR - 8 * EPSILON) + 4 * DBL_MIN;
}

/* Upper bounds of conjugates over the slopes from one end to the other that lie in their domain: they are convex. */
static void bound_conjugates(int kind, ptrdiff_t n, const double *low, const double *high, const double *y, double *bound)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        if (kind == SQUARED) {
            enclosed t = hull_of(low[i], high[i]), half = enclosed_quotient(t, exactly(2.0));
            bound[i] = upper_end(enclosed_product(t, enclosed_sum(half, exactly(y[i]))));
            continue;
        }
        double a = -y[i] * low[i], b = -y[i] * high[i], least = a < b ? a : b, most = a < b ? b : a;
        int inside = low[i] <= high[i] && least <= 1 && most >= 0 && fabs(y[i]) == 1; /* NaN is not */
        double first = entropy_from_above(least > 0 ? least : 0.0), second = entropy_from_above(most < 1 ? most : 1.0);
        bound[i] = inside ? (first > second ? first : second) : INFINITY;
    }
}

/* The sum of upper bounds of conjugates at slopes, scaled down, times weights. */
static enclosed conjugates_below(const bending *r, double scale)
{
    for (ptrdiff_t i = 0; i < r->n; i++) {
        double a = scale * lower_end(operand_at(r->slope, i)), b = scale * upper_end(operand_at(r->slope, i));
        r->low[i] = next_below(a < b ? a : b);
        r->high[i] = next_above(a < b ? b : a);
    }
    bound_conjugates(r->kind, r->n, r->low, r->high, r->y, r->before);
    for (ptrdiff_t i = 0; i < r->n; i++) {
        enclosed part = enclosed_product(exactly(r->before[i]), exactly(r->weight[i]));
        r->least[i] = part.mid;
        r->most[i] = part.rad;
    }
    return enclosed_total(r->least, r->most, r->n);
}

#endif
