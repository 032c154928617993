/* Coordinate descent on a model whose entries have limits: each entry to its minimum, the others fixed. */
#ifndef ATOMSIEVE_BOX_H
#define ATOMSIEVE_BOX_H

#include <math.h>
#include <stddef.h>

/* A model `x . H x / 2 - x . r` beside `a s + b s^2 / 2`, where s is the sum of prices times absolute values. */
typedef struct {
    ptrdiff_t m;
    const double *hessian, *price, *lower, *upper;
    double a, b, *x, *z; /* z is minus the gradient, and follows x */
} box;

/* The minimum over one entry, all others fixed: that without limits, cut at them. */
static double box_aim(const box *o, ptrdiff_t j, double mass)
{
    double price = o->price[j], x = o->x[j], curvature = o->hessian[j * o->m + j];
    double rest = mass - price * fabs(x), charge = price * (o->a + o->b * (rest > 0 ? rest : 0));
    double aim = curvature * x + o->z[j], whole = curvature + o->b * price * price, to = 0;
    if (fabs(aim) > charge) {
        if (!(whole > 0)) return x; /* nothing holds it back */
        to = (aim > 0 ? aim - charge : aim + charge) / whole;
    }
    return fmin(fmax(to, o->lower[j]), o->upper[j]);
}

/* Go over all entries so many times, or until none moves. */
static void box_sweeps(box *o, int sweeps)
{
    for (int moved = 1; moved && sweeps > 0; sweeps--) {
        double mass = 0;
        moved = 0;
        for (ptrdiff_t j = 0; j < o->m; j++) mass += o->price[j] * fabs(o->x[j]);
        for (ptrdiff_t j = 0; j < o->m; j++) {
            double to = box_aim(o, j, mass), change = to - o->x[j];
            if (change == 0 || !isfinite(change)) continue;
            const double *row = o->hessian + j * o->m;
            for (ptrdiff_t i = 0; i < o->m; i++) o->z[i] -= change * row[i];
            mass += o->price[j] * (fabs(to) - fabs(o->x[j]));
            o->x[j] = to;
            moved = 1;
        }
    }
}

#endif
