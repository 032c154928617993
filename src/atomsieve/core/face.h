/* The face of x, where its support, its signs and what is at a limit stay: products there, and conjugate gradients. */
#ifndef ATOMSIEVE_FACE_H
#define ATOMSIEVE_FACE_H

#include "model.h"

#define ROUNDED 2.2e-16 /* the rounding unit of a curvature, as a part of what it would be if nothing cancelled */

/* A face: the blocks that carry weight, their entries one after another, and vectors over these entries. */
typedef struct {
    ptrdiff_t blocks, size;
    ptrdiff_t *block;
    ptrdiff_t *end;   /* where the entries of each block end; of a split one, those that are not 0 */
    ptrdiff_t *entry;
    double *x;        /* their coefficients */
    double *price;    /* the gradient of the mass */
    double *residual; /* z less what the penalty charges */
    double *change;
    double *response;
    double *was;      /* x before */
} face;

/* Make room for a model of a task, and for its faces; 0 on success. */
static int open_model(const task *t, store *s, arena *a, model *o, face *f)
{
    ptrdiff_t n = t->n, m = t->m, k = t->free, squares = 0, widest = 1;
    ptrdiff_t *corner = take_places(a, t->blocks);
    if (!corner) return -1;
    for (ptrdiff_t b = 0; b < t->blocks; b++) {
        ptrdiff_t size = t->start[b + 1] - t->start[b];
        corner[b] = size > 1 && size <= WIDE && !t->split[b] ? squares : -1;
        if (corner[b] < 0) continue;
        squares += size * size;
        if (size > widest) widest = size;
    }
    *o = (model){.t = t, .s = s, .largest = 1, .corner = corner};
    o->x = take_numbers(a, m);
    o->begin = take_numbers(a, m);
    o->diagonal = take_numbers(a, m);
    o->steepest = take_numbers(a, t->blocks);
    o->ridge = take_numbers(a, t->blocks);
    o->vectors = take_numbers(a, squares);
    o->values = take_numbers(a, m);
    o->packed = take_numbers(a, n * widest);
    o->root = take_numbers(a, n);
    o->along = take_numbers(a, m * k);
    o->white = take_numbers(a, n * k);
    o->bent = take_numbers(a, n * k);
    o->e = take_numbers(a, n);
    o->drawn = take_numbers(a, 2 * k);
    o->z = take_numbers(a, m);
    o->work = take_numbers(a, 8 * m + n);
    o->by_entry = take_numbers(a, m);
    o->place = take_places(a, m);
    o->entry = take_places(a, m);
    o->list = take_places(a, m);
    o->spare = take_places(a, 3 * m);
    o->mark = take(a, m, 1);
    *f = (face){.block = take_places(a, t->blocks), .end = take_places(a, t->blocks), .entry = take_places(a, m),
                .x = take_numbers(a, m), .price = take_numbers(a, m), .residual = take_numbers(a, m), .change = take_numbers(a, m), .response = take_numbers(a, m),
                .was = take_numbers(a, m)};
    if (a->failed) return -1;
    memset(o->mark, 0, (size_t)m);
    memset(o->along, 0, (size_t)(m * k) * sizeof *o->along);
    for (ptrdiff_t b = 0; b < t->blocks; b++) {
        o->steepest[b] = NAN;
        o->ridge[b] = 0;
        o->ridged |= t->ridge[b] > 0;
    }
    return 0;
}

/* Fill in the face of x. */
static void face_of(const model *o, face *f)
{
    const task *t = o->t;
    f->blocks = f->size = 0;
    for (ptrdiff_t k = 0; k < t->blocks; k++) {
        double norm = block_norm(t, o->x, k);
        if (!(norm > 0)) continue;
        for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++) {
            double x = o->x[e];
            if ((t->split[k] && x == 0) || at_lower(t, e, x) || at_upper(t, e, x)) continue;
            f->x[f->size] = x;
            f->price[f->size] = t->price[k] * (x / norm);
            if (t->split[k]) f->price[f->size] += copysign(t->each[k], x);
            f->entry[f->size++] = e;
        }
        if (f->size == (f->blocks ? f->end[f->blocks - 1] : 0)) continue; /* at a limit */
        f->block[f->blocks] = k;
        f->end[f->blocks++] = f->size;
    }
}

/* What is left of the gradient on a face; by columns it takes a product with all of them. */
static void face_residual(model *o, face *f)
{
    double slope = slope_of(o->t, o->mass);
    for (ptrdiff_t i = 0; i < f->size; i++) f->residual[i] = pull(o, f->entry[i]) - slope * f->price[i];
}

/* The curvature of the norm of a block of some entries x times v, at a slope; added to `to`. */
static void bend(double slope, const double *x, ptrdiff_t size, const double *v, double *to)
{
    if (size == 1) return;
    double norm = sqrt(dot(x, x, size)), along = dot(x, v, size) / norm / norm, factor = slope / norm;
    for (ptrdiff_t i = 0; i < size; i++) to[i] += factor * (v[i] - along * x[i]);
}

/* H v on a face by its columns, with the ridge, the bends of the norms and the curvature b of the penalty. */
static void face_product(model *o, const face *f, double slope, double b, const double *v, double *to, double *image)
{
    const task *t = o->t;
    double *taken = o->drawn + t->free; /* free further numbers */
    memset(image, 0, (size_t)t->n * sizeof *image);
    memset(taken, 0, (size_t)t->free * sizeof *taken);
    double mass = 0;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t e = f->entry[i];
        column_axpy(&t->columns[e], v[i] * t->unit[t->owner[e]], image);
        axpy(v[i], o->along + e * t->free, taken, t->free);
        mass += f->price[i] * v[i];
    }
    for (ptrdiff_t i = 0; i < t->n; i++) image[i] *= o->h[i];
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t e = f->entry[i], k = t->owner[e];
        to[i] = t->unit[k] * column_dot(&t->columns[e], image) - dot(o->along + e * t->free, taken, t->free) +
            o->ridge[k] * v[i] + b * mass * f->price[i];
    }
    for (ptrdiff_t i = 0, at = 0; i < f->blocks; at = f->end[i++])
        bend(slope * t->price[f->block[i]], f->x + at, f->end[i] - at, v + at, to + at);
}

/* An inverse of the Hessian on a face without what couples its blocks, times r. */
static void precondition(const model *o, const face *f, double slope, double b, const double *r, double *to)
{
    const task *t = o->t;
    for (ptrdiff_t i = 0, at = 0; i < f->blocks; at = f->end[i++]) {
        ptrdiff_t k = f->block[i], first = t->start[k], size = f->end[i] - at;
        double bent = size > 1 ? slope * t->price[k] / block_norm(t, o->x, k) : 0;
        if (size > 1 && o->corner[k] >= 0) {
            memset(to + at, 0, (size_t)size * sizeof *to);
            for (ptrdiff_t j = 0; j < size; j++) {
                const double *v = o->vectors + o->corner[k] + j * size;
                axpy(dot(v, r + at, size) / (o->values[first + j] + bent), v, to + at, size);
            }
        } else
            for (ptrdiff_t j = 0; j < size; j++) {
                double own = o->diagonal[f->entry[at + j]] + bent + b * f->price[at + j] * f->price[at + j];
                to[at + j] = own > 0 ? r[at + j] / own : r[at + j];
            }
    }
}

/* Conjugate gradients for one right-hand side; returns how many steps the tolerance takes, as they went so far. */
static double face_cg(model *o, const face *f, double slope, double b, const double *side, double *v, double tol,
                         double most, double *room)
{
    const task *t = o->t;
    ptrdiff_t k = f->size, steps = 0;
    double *r = room, *d = r + k, *q = d + k, *s = q + k, *image = s + k;
    memset(v, 0, (size_t)k * sizeof *v);
    memcpy(r, side, (size_t)k * sizeof *r);
    precondition(o, f, slope, b, r, d);
    double rho = dot(r, d, k), first = rho, enough = tol * tol * rho;
    while ((double)steps < most && rho > enough && rho > 0) {
        face_product(o, f, slope, b, d, q, image);
        double curved = dot(d, q, k);
        if (!(curved > 0)) break;
        axpy(rho / curved, d, v, k);
        axpy(-rho / curved, q, r, k);
        precondition(o, f, slope, b, r, s);
        double next = dot(r, s, k);
        for (ptrdiff_t i = 0; i < k; i++) d[i] = s[i] + next / rho * d[i];
        rho = next;
        steps++;
        if (ended(t->beat)) break;
    }
    if (!(rho > enough)) return (double)steps;
    return rho < first ? (double)steps * log(enough / first) / log(rho / first) : INFINITY;
}

/* H d on a face, by the Gram matrix; `image` has a number for each place. */
static void gram_product(const model *o, const face *f, const double *d, double *image)
{
    const store *s = o->s;
    memset(image, 0, (size_t)s->count * sizeof *image);
    for (ptrdiff_t i = 0; i < f->size; i++)
        if (d[i] != 0) axpy(d[i], s->gram + o->place[f->entry[i]] * s->capacity, image, s->count);
}

/* What rounding of a Gram matrix may make of the curvature along a change; along dependent columns that is all. */
static double blurred(const model *o, const face *f, const double *change)
{
    double sum = 0;
    for (ptrdiff_t i = 0; i < f->size; i++)
        sum += fabs(change[i]) * sqrt(o->s->gram[o->place[f->entry[i]] * (o->s->capacity + 1)]);
    return ROUNDED * sum * sum;
}

/* By how much the objective falls from x to x + change on a face; the image h (A d) and the mass come with it. */
static double face_fall(model *o, const face *f, const double *change, double *image, double *growth)
{
    const task *t = o->t;
    double linear = 0, curved = 0, grown = 0;
    for (ptrdiff_t i = 0, at = 0; i < f->blocks; i++) {
        ptrdiff_t k = f->block[i];
        double before = block_norm(t, o->x, k), after = 0, product = 0, longer = 0;
        for (; at < f->end[i]; at++) {
            double x = o->x[f->entry[at]], to = x + change[at];
            after += to * to;
            product += change[at] * (to + x);
            longer += fabs(to) - fabs(x);
        }
        after = sqrt(after);
        if (before + after > 0) grown += t->price[k] * (product / (before + after)) + t->each[k] * longer;
    }
    double slope = slope_of(t, o->mass);
    for (ptrdiff_t i = 0; i < f->size; i++) linear += change[i] * (f->residual[i] + slope * f->price[i]);
    if (o->by_gram) {
        gram_product(o, f, change, image);
        for (ptrdiff_t i = 0; i < f->size; i++) curved += change[i] * image[o->place[f->entry[i]]];
        curved += blurred(o, f, change);
    } else {
        double *taken = o->drawn + t->free, whole = 0;
        memset(image, 0, (size_t)t->n * sizeof *image);
        memset(taken, 0, (size_t)t->free * sizeof *taken);
        for (ptrdiff_t i = 0; i < f->size; i++) {
            ptrdiff_t e = f->entry[i], k = t->owner[e];
            const double *along = o->along + e * t->free;
            if (change[i] == 0) continue;
            column_axpy(&t->columns[e], change[i] * t->unit[k], image);
            axpy(change[i], along, taken, t->free);
            curved += o->ridge[k] * change[i] * change[i];
            if (t->free) whole += fabs(change[i]) * sqrt(o->diagonal[e] + dot(along, along, t->free));
        }
        curved += ROUNDED * whole * whole; /* what the unpenalised directions explain is subtracted */
        for (ptrdiff_t i = 0; i < t->n; i++) {
            curved += o->h[i] * image[i] * image[i];
            image[i] *= o->h[i];
        }
        curved -= dot(taken, taken, t->free);
    }
    *growth = grown;
    return linear - curved / 2 - grown * (slope + t->b * grown / 2);
}

/* Where an entry ends that is on its way from x to some place: there, at 0 before its sign changes, or at a limit. */
static double stop_of(const task *t, ptrdiff_t e, double x, double to)
{
    if (t->lower && to <= t->lower[e] && t->lower[e] * x >= 0) return t->lower[e];
    if (t->lower && to >= t->upper[e] && t->upper[e] * x >= 0) return t->upper[e];
    return to == 0 || (to > 0) != (x > 0) ? 0 : to;
}

static void face_accept(model *o, const face *f, const double *change, const double *image, double growth)
{
    const task *t = o->t;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t e = f->entry[i];
        double x = o->x[e];
        o->x[e] += change[i];
        if (!t->lower) continue;
        if (change[i] == t->lower[e] - x) o->x[e] = t->lower[e]; /* to the last bit */
        if (change[i] == t->upper[e] - x) o->x[e] = t->upper[e];
    }
    o->mass += growth;
    if (o->by_gram) {
        axpy(-1, image, o->z, o->s->count);
    } else {
        axpy(1, image, o->e, t->n);
        axpy(1, o->drawn + t->free, o->drawn, t->free);
    }
}

#endif
