/* What ways to solve a face cost, in one unit: a multiplication of a sweep. */
#ifndef ATOMSIEVE_COST_H
#define ATOMSIEVE_COST_H

#include "face.h"

#define LARGE 8000   /* entries up to which a face is solved by a factor (two matrices of 0.8 GB) */
#define FAST 4       /* how many multiplications of a matrix product take the time of one of a sweep */
#define CACHED 1e5   /* numbers that stay in the cache */
#define SERVES 3     /* how often a Gram matrix serves if the curvature never changes, more or less */

/* How many multiplications of a matrix product take the time of one of a sweep, which looks for the rows of sparse
   columns one by one, and waits for memory where dense ones do not fit into the cache. */
static double advantage(const model *o, const face *f)
{
    double nonzeros = 0;
    if (!o->t->dense) return 4 * FAST;
    for (ptrdiff_t i = 0; i < f->size; i++) nonzeros += (double)o->t->columns[f->entry[i]].count;
    return nonzeros > CACHED ? 3 * FAST : FAST;
}

/* How many entries of a face the factor does not cover, and of the factor the face does not hold. */
static double strangers(const model *o, const face *f)
{
    const store *s = o->s;
    double common = 0;
    if (!o->t->single || !s->ordered) return (double)f->size;
    for (ptrdiff_t i = 0; i < s->ordered; i++) o->mark[s->order[i]] = 1;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t place = o->place[f->entry[i]];
        common += place >= 0 && o->mark[place];
    }
    for (ptrdiff_t i = 0; i < s->ordered; i++) o->mark[s->order[i]] = 0;
    return (double)f->size + (double)s->ordered - 2 * common;
}

/* Multiplications for a factor of a face, in those of a sweep. */
static double direct_cost(const model *o, const face *f)
{
    const task *t = o->t;
    double k = (double)f->size, fresh = 0, nonzeros = 0, fast = t->columns ? advantage(o, f) : FAST;
    for (ptrdiff_t i = 0; i < f->size; i++)
        if (o->place[f->entry[i]] < 0) {
            fresh++;
            nonzeros += (double)t->columns[f->entry[i]].count;
        }
    double gram = t->dense ? (double)t->n * fresh * k / fast : nonzeros * (2 + nonzeros / (double)(t->n + 1));
    if (o->steady) gram /= SERVES;
    return gram + fmin(k * k * k / 3, 2 * strangers(o, f) * k * k) / fast + 4 * k * k;
}

/* The same for one step of conjugate gradients. */
static double cg_cost(const model *o, const face *f)
{
    double nonzeros = 0;
    for (ptrdiff_t i = 0; i < f->size; i++) nonzeros += (double)o->t->columns[f->entry[i]].count;
    return 4 * nonzeros + 2 * (double)o->t->n;
}

/* The same for the steps that a face is expected to take. */
static double cg_expected(const model *o, const face *f)
{
    return fmin(o->s->cg_steps, (double)f->size) * cg_cost(o, f);
}

/* Steps of conjugate gradients on a face: no more than a factor would cost. */
static double cg_most(const model *o, const face *f)
{
    return f->size > LARGE ? 2.0 * (double)f->size : fmax(direct_cost(o, f) / cg_cost(o, f), 10);
}

static int prefers_cg(const model *o, const face *f)
{
    if (!o->t->columns) return 0; /* all that is known is a matrix */
    /* where the curvature never changes, a Gram matrix and a factor serve many times */
    if (o->t->dense && o->t->single && o->steady) return f->size > LARGE;
    return f->size > LARGE || cg_expected(o, f) < direct_cost(o, f);
}

static double face_cost(const model *o, const face *f)
{
    return prefers_cg(o, f) ? cg_expected(o, f) : direct_cost(o, f);
}

#endif
