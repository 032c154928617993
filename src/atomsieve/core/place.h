/* A place of the search for the best unpenalised coefficients, by its sums: see problem/place.py. */
#ifndef ATOMSIEVE_PLACE_H
#define ATOMSIEVE_PLACE_H

#include <math.h>
#include <stddef.h>

#include "losses.h"

#define TOLD_AT_ONCE 512 /* samples whose slopes and curvatures lie on the stack */

typedef struct {
    loss_t loss;
    const double *y, *w, *basis; /* the basis sample by sample */
    const double *image, *coordinates;
    const double *move, *taken; /* the image of a move and its coordinates; NULL for none */
    ptrdiff_t n, k;
} place;

/* Where the sums are written; all are added to what is there. */
typedef struct {
    double *gradient, *hessian, *along;            /* k, k x k and k numbers */
    double steep, reach, bent, square, slope, far; /* see `There`; `far` is the largest absolute prediction */
} told_sums;

/* Return a row of the basis times coordinates. */
static inline double along_row(const double *row, const double *coordinates, ptrdiff_t k)
{
    double sum = 0;
    for (ptrdiff_t f = 0; f < k; f++) sum += row[f] * coordinates[f];
    return sum;
}

/* Add what some samples tell, at most TOLD_AT_ONCE of them. */
static void tell_some(const place *p, ptrdiff_t start, ptrdiff_t count, told_sums *s)
{
    double u[TOLD_AT_ONCE], slope[TOLD_AT_ONCE], bend[TOLD_AT_ONCE];
    const double *y = p->y + start, *w = p->w + start, *image = p->image + start, *basis = p->basis + start * p->k;
    const double *move = p->move ? p->move + start : NULL;
    double steep = 0, reach = 0, bent = 0, square = 0, along = 0, far = 0;
    for (ptrdiff_t i = 0; i < count; i++) u[i] = image[i] + along_row(basis + i * p->k, p->coordinates, p->k);
    loss_slopes(p->loss, count, u, y, slope);
    loss_curvatures(p->loss, count, u, y, slope, w, 0, bend);
    for (ptrdiff_t i = 0; i < count; i++) {
        const double *row = basis + i * p->k;
        double theta = w[i] * slope[i], size = fabs(image[i]) + fabs(u[i]), span = 0;
        for (ptrdiff_t f = 0; f < p->k; f++) span += fabs(row[f]);
        steep += span * fabs(theta);
        reach += span * w[i] * size;
        bent += span * bend[i] * size;
        square += w[i] * image[i] * image[i];
        if (move) along += theta * (move[i] - along_row(row, p->taken, p->k));
        far = far != far || fabs(u[i]) <= far ? far : fabs(u[i]); /* what is no number is farthest of all */
    }
    for (ptrdiff_t f = 0; f < p->k; f++) {
        double gradient = 0, own = 0;
        for (ptrdiff_t i = 0; i < count; i++) {
            gradient += basis[i * p->k + f] * w[i] * slope[i];
            own += basis[i * p->k + f] * w[i] * image[i];
        }
        s->gradient[f] += gradient;
        s->along[f] += own;
        for (ptrdiff_t g = 0; g < p->k; g++) {
            double sum = 0;
            for (ptrdiff_t i = 0; i < count; i++) sum += basis[i * p->k + f] * bend[i] * basis[i * p->k + g];
            s->hessian[f * p->k + g] += sum;
        }
    }
    s->steep += steep;
    s->reach += reach;
    s->bent += bent;
    s->square += square;
    s->slope += along;
    s->far = s->far != s->far || far <= s->far ? s->far : far;
}

/* Add what all samples tell. */
static void tell(const place *p, told_sums *s)
{
    for (ptrdiff_t start = 0; start < p->n; start += TOLD_AT_ONCE) {
        ptrdiff_t left = p->n - start;
        tell_some(p, start, left < TOLD_AT_ONCE ? left : TOLD_AT_ONCE, s);
    }
}

#endif
