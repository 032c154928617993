/* Coordinate descent in a split block, whose entries pay `each` for their sizes beside the price of the norm.

   While the block carries weight its entries are coordinates: the norm is smooth there, and an entry is 0 where its pull
   is no more than what `each` charges. Only to leave 0 and to get there the block moves as a whole, along a ray. */
#ifndef ATOMSIEVE_SPLIT_H
#define ATOMSIEVE_SPLIT_H

#include "face.h"

/* A way from x along a direction in one block: the pull, and the curvature of the model. */
typedef struct {
    double pulled, curved;
} ray;

/* Look along d, which has a number for each entry of block k. */
static ray ray_along(model *o, ptrdiff_t k, const double *d)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    double *image = o->work + 8 * t->m, *taken = o->drawn + t->free, whole = 0;
    ray seen = {0, 0};
    if (o->by_gram) {
        for (ptrdiff_t i = 0; i < size; i++) {
            if (d[i] == 0) continue;
            const double *row = o->s->gram + o->place[first + i] * o->s->capacity;
            for (ptrdiff_t j = 0; j < size; j++) seen.curved += d[i] * row[o->place[first + j]] * d[j];
            seen.pulled += d[i] * o->z[o->place[first + i]];
        }
        return seen;
    }
    memset(image, 0, (size_t)t->n * sizeof *image);
    memset(taken, 0, (size_t)t->free * sizeof *taken);
    for (ptrdiff_t i = 0; i < size; i++) {
        ptrdiff_t e = first + i;
        const double *along = o->along + e * t->free;
        if (d[i] == 0) continue;
        column_axpy(&t->columns[e], d[i] * t->unit[k], image);
        axpy(d[i], along, taken, t->free);
        seen.curved += o->ridge[k] * d[i] * d[i];
        seen.pulled -= d[i] * (o->ridge[k] * (o->x[e] - o->begin[e]) + t->ridge[k] * o->begin[e]);
        if (t->free) whole += fabs(d[i]) * sqrt(o->diagonal[e] + dot(along, along, t->free));
    }
    for (ptrdiff_t i = 0; i < t->n; i++) seen.curved += o->h[i] * image[i] * image[i];
    seen.curved += ROUNDED * whole * whole - dot(taken, taken, t->free); /* which the free directions explain */
    seen.pulled += dot(taken, o->drawn, t->free) - dot(image, o->e, t->n);
    return seen;
}

/* Let a block leave 0, along its pulls z beyond the threshold. */
static void wake(model *o, ptrdiff_t k, double *z, record *seen)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    double slope = slope_of(t, o->mass), sum = 0, squares = 0;
    for (ptrdiff_t i = 0; i < size; i++) {
        z[i] = beyond(t, first + i, z[i], slope * t->each[k]);
        sum += fabs(z[i]);
        squares += z[i] * z[i];
    }
    double length = sqrt(squares), mass = t->each[k] * sum + t->price[k] * length;
    double gain = length * (length - slope * t->price[k]), curved = ray_along(o, k, z).curved + t->b * mass * mass;
    double far = gain / curved;
    if (!(gain > 0) || !(curved > 0) || !isfinite(far)) return; /* or nothing holds it back */
    for (ptrdiff_t i = 0; i < size; i++) {
        if (z[i] == 0) continue;
        o->x[first + i] = far * z[i];
        push(o, first + i, far * z[i]);
    }
    o->mass += far * mass;
    seen->fall += far * gain / 2;
}

/* Put a block to 0 if that is the minimum on the ray from 0 through x; it is if the minimum of the block is 0. */
static void let_go(model *o, ptrdiff_t k, record *seen)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    double mass = split_mass(t, o->x, k), slope = slope_of(t, fmax(o->mass - mass, 0));
    ray here = ray_along(o, k, o->x + first);
    if (!(here.pulled + here.curved <= slope * mass)) return;
    seen->fall += mass * (slope + t->b * mass / 2) - here.pulled - here.curved / 2;
    for (ptrdiff_t e = first; e < first + size; e++) {
        if (o->x[e] == 0) continue;
        push(o, e, -o->x[e]);
        o->x[e] = 0;
    }
    o->mass = fmax(o->mass - mass, 0);
}

/* One entry of a split block, all others fixed: what the model and the penalty make of its size. */
typedef struct {
    double curvature, aim;    /* the loss falls by `aim y - curvature y^2 / 2` */
    double each, price, rest; /* rest: the sum of squares of the other entries of the block */
    double a, b;              /* the slope of the penalty is `a + b (each y + price sqrt(rest + y^2))` */
} within;

/* The size y >= 0 of an entry at its minimum. The slope rises with y, and is bracketed; the last of Newton's steps has
   squared the error of the one before. */
static double size_within(const within *w, double y)
{
    double root = sqrt(w->rest), full = w->each + (root > 0 ? 0 : w->price);
    if (w->aim <= (w->a + w->b * w->price * root) * full) return 0;
    if (!(root > 0)) return (w->aim - w->a * full) / (w->curvature + w->b * full * full);
    double low = 0, high = w->aim / w->curvature;
    for (int tries = 0; tries < 60; tries++) {
        double norm = sqrt(w->rest + y * y), charge = w->each + w->price * (y / norm);
        double slope = w->a + w->b * (w->each * y + w->price * norm);
        double off = w->curvature * y - w->aim + slope * charge;
        double rate = w->curvature + w->b * charge * charge + slope * w->price * (w->rest / norm / norm / norm);
        if (off < 0) low = y;
        else high = y;
        double next = y - off / rate;
        if (!(next >= low && next <= high)) next = (low + high) / 2;
        double moved = fabs(next - y);
        y = next;
        if (!(moved > 1e-8 * y)) break;
    }
    return y;
}

/* Minimise over one entry of a block that carries weight; returns its pull. */
static double step_within(model *o, ptrdiff_t e, record *seen)
{
    const task *t = o->t;
    ptrdiff_t k = t->owner[e];
    double x = o->x[e], z = pull(o, e), size = fabs(x), rest = 0, curvature = o->diagonal[e];
    for (ptrdiff_t i = t->start[k]; i < t->start[k + 1]; i++)
        if (i != e) rest += o->x[i] * o->x[i];
    double norm = sqrt(rest + x * x), each = t->each[k], price = t->price[k];
    if (x != 0) seen->slack += fabs(slope_of(t, o->mass) * (each * size + price * (x / norm) * x) - x * z);
    double aim = curvature * x + z, outside = fmax(o->mass - each * size - price * norm, 0), to = 0;
    within w = {curvature, fabs(aim), each, price, rest, slope_of(t, outside), t->b};
    if (aim > 0 || t->negative[e]) {
        if (curvature > 0) to = copysign(size_within(&w, aim * x > 0 ? size : 0), aim);
        else if (w.aim > slope_of(t, o->mass) * each) return z; /* nothing holds it back */
    }
    double change = to - x;
    if (change == 0 || !isfinite(change)) return z;
    double after = sqrt(rest + to * to), sizes = norm + after;
    o->x[e] = to;
    o->mass = fmax(o->mass + each * (fabs(to) - size) + (sizes > 0 ? price * (change * (to + x) / sizes) : 0), 0);
    push(o, e, change);
    seen->fall += curvature * change * change / 2;
    return z;
}

/* Minimise the model over the entries of a split block one after another; with `live` only over those that carry
   weight. A block that becomes shorter may be on its way to 0, which it would come near to for ever. */
static void step_split(model *o, ptrdiff_t k, int live, record *seen)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    double *z = o->work, norm = block_norm(t, o->x, k);
    if (norm == 0 && live) return;
    for (ptrdiff_t i = 0; i < size; i++) {
        if (norm == 0) z[i] = pull(o, first + i);
        else z[i] = live && o->x[first + i] == 0 ? 0 : step_within(o, first + i, seen);
    }
    double score = split_score(t, z, k);
    if (score > seen->top) seen->top = score;
    if (norm == 0 && score > slope_of(t, o->mass)) wake(o, k, z, seen);
    double after = block_norm(t, o->x, k);
    if (after > 0 && after < norm) let_go(o, k, seen);
}

#endif
