/* The minimum of a model: descent, and Newton's step on the face where sweeps at their rate would cost more. */
#ifndef ATOMSIEVE_MINIMISE_H
#define ATOMSIEVE_MINIMISE_H

#include "cost.h"
#include "descent.h"
#include "direct.h"

#define SWEEPS 2000  /* sweeps of one model; what is left is a matter for the next one */
#define TINY 5e-32   /* the square of the rounding unit: no step falls by less of the objective */

/* How fast the mass of x falls as the slope of the penalty rises, on the face of x; 0 where that is not known. */
static double response_of(model *o, face *f)
{
    face_of(o, f);
    face_residual(o, f);
    if (!f->size) return 0;
    double slope = slope_of(o->t, o->mass);
    if (prefers_cg(o, f))
        face_cg(o, f, slope, 0, f->price, f->response, 1e-6, cg_most(o, f), o->work);
    else if (face_direct(o, f, slope))
        return 0;
    return dot(f->price, f->response, f->size);
}

enum { FAILED, SHORT, CUT, WHOLE };

/* Newton steps on faces of single entries, each smaller than the one before, until no entry changes its sign on the
   way. Where descent is slow it would take long to bring the right face about. What the columns have to know of it they
   are told once, at the end. */
static int polish_by_factor(model *o, face *f)
{
    const task *t = o->t;
    store *s = o->s;
    if (hold(o, f->entry, f->size) || face_factor(o, f)) return FAILED;
    ptrdiff_t before = f->size, *entries = o->spare + t->m;
    double *pulled = o->by_entry, *was = f->was, *image = o->work + 2 * t->m, *change = o->work + t->m;
    double slope = slope_of(t, o->mass);
    int found = FAILED;
    memcpy(entries, f->entry, (size_t)before * sizeof *entries);
    for (ptrdiff_t i = 0; i < before; i++) {
        was[i] = o->x[f->entry[i]];
        pulled[f->entry[i]] = f->residual[i] + slope * f->price[i];
    }
    while (f->size && !ended(t->beat)) {
        ptrdiff_t k = f->size, crossing = 0;
        double first = 1;
        slope = slope_of(t, o->mass);
        for (ptrdiff_t i = 0; i < k; i++) f->residual[i] = pulled[f->entry[i]] - slope * f->price[i];
        face_solve(o, f, f->residual, f->change);
        if (t->b > 0) {
            face_solve(o, f, f->price, f->response);
            yield_to(t, f);
        }
        for (ptrdiff_t i = 0; i < k; i++) {
            double x = o->x[f->entry[i]], to = x + f->change[i], stop = stop_of(t, f->entry[i], x, to);
            int crosses = stop != to || to == 0;
            crossing += crosses;
            if (crosses && (x - stop) / -f->change[i] < first) first = (x - stop) / -f->change[i];
        }
        double fall = 0, growth = 0;
        /* entries that would change their sign stop at zero, others at a limit; if that is too much for the objective, a
           shorter step */
        for (double length = 1; length >= first;
             length = length > 4 * first ? length / 4 : length > first ? first : 0) {
            double linear = 0, curved = 0;
            growth = 0;
            for (ptrdiff_t i = 0; i < k; i++) {
                double x = o->x[f->entry[i]], to = x + length * f->change[i], stop = stop_of(t, f->entry[i], x, to);
                change[i] = stop == to ? length * f->change[i] : stop - x;
                if (stop == 0 || (stop == to && fabs(to) <= 1e-15 * fabs(x))) change[i] = -x;
            }
            gram_product(o, f, change, image);
            for (ptrdiff_t i = 0; i < k; i++) {
                linear += change[i] * pulled[f->entry[i]];
                curved += change[i] * image[o->place[f->entry[i]]];
                growth += f->price[i] * change[i];
            }
            curved += blurred(o, f, change);
            fall = linear - curved / 2 - growth * (slope + t->b * growth / 2);
            if (fall > 0 || !crossing) break;
        }
        if (!(fall > 0)) break;
        found = crossing ? CUT : WHOLE;
        o->mass += growth;
        ptrdiff_t kept = 0;
        for (ptrdiff_t i = 0; i < k; i++) {
            ptrdiff_t e = f->entry[i];
            double x = o->x[e], to = change[i] == -x ? 0 : x + change[i];
            if (t->lower && change[i] == t->lower[e] - x) to = t->lower[e];
            if (t->lower && change[i] == t->upper[e] - x) to = t->upper[e];
            o->x[e] = to;
            pulled[e] -= image[o->place[e]];
            if (to == 0 || at_lower(t, e, to) || at_upper(t, e, to)) continue;
            f->entry[kept] = e;
            f->price[kept++] = f->price[i];
        }
        f->size = kept;
        if (found == WHOLE || !kept) break;
        for (ptrdiff_t i = 0; i < kept; i++) o->list[i] = o->place[f->entry[i]];
        if (factor_follow(s, o->list, kept, o->mark, o->spare, TOGETHER, 0, t->beat) != COVERED) break;
    }
    for (ptrdiff_t i = 0; i < before; i++)
        if (o->x[entries[i]] != was[i]) push(o, entries[i], o->x[entries[i]] - was[i]);
    return found;
}

/* Whether an entry is 0 for itself, and not with its block. */
static int alone(const task *t, ptrdiff_t e)
{
    ptrdiff_t k = t->owner[e];
    return t->split[k] || t->start[k + 1] - t->start[k] == 1;
}

/* Newton's change on a face by a factor, or by conjugate gradients; 0 on success. */
static int newton_change(model *o, face *f, int by_factor, double tolerance)
{
    const task *t = o->t;
    double slope = slope_of(t, o->mass);
    if (!by_factor) {
        double most = f->size > LARGE ? cg_most(o, f) : fmin(cg_most(o, f), 2 * fmax(o->s->cg_steps, 5));
        o->s->cg_steps = face_cg(o, f, slope, t->b, f->residual, f->change, tolerance, most, o->work);
        return 0;
    }
    if (face_direct(o, f, slope)) {
        memset(f->change, 0, (size_t)f->size * sizeof *f->change);
        return -1;
    }
    if (t->b > 0) yield_to(t, f);
    return 0;
}

/* Mark the blocks of a face that turn: their change is longer than they are, where the curvature of their norm does not
   reach. Returns whether there are such blocks, and others. */
static int mark_turning(const face *f, char *mark)
{
    ptrdiff_t turning = 0;
    for (ptrdiff_t i = 0, at = 0; i < f->blocks; at = f->end[i++]) {
        ptrdiff_t size = f->end[i] - at;
        mark[f->block[i]] = size > 1 && dot(f->change + at, f->change + at, size) > dot(f->x + at, f->x + at, size);
        turning += mark[f->block[i]];
    }
    return turning && turning < f->blocks;
}

/* Take marked blocks off a face. */
static void leave_marked(face *f, const char *mark)
{
    ptrdiff_t blocks = 0, size = 0;
    for (ptrdiff_t i = 0, at = 0, end; i < f->blocks; i++, at = end) {
        end = f->end[i];
        if (mark[f->block[i]]) continue;
        f->block[blocks] = f->block[i];
        for (ptrdiff_t j = at; j < end; j++, size++) {
            f->entry[size] = f->entry[j];
            f->x[size] = f->x[j];
            f->price[size] = f->price[j];
        }
        f->end[blocks++] = size;
    }
    f->blocks = blocks;
    f->size = size;
}

/* Where an entry of a face ends after `length` of Newton's change. */
static double end_of(const model *o, const face *f, ptrdiff_t i, double length)
{
    const task *t = o->t;
    ptrdiff_t e = f->entry[i];
    double x = o->x[e], to = x + length * f->change[i];
    return alone(t, e) ? stop_of(t, e, x, to) : to;
}

/* The step that `length` of Newton's change allows; returns how many entries end at zero or at a limit. */
static ptrdiff_t step_along(const model *o, const face *f, double length, double *change)
{
    ptrdiff_t crossing = 0;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t e = f->entry[i];
        double x = o->x[e], to = x + length * f->change[i], stop = end_of(o, f, i, length);
        int single = alone(o->t, e), crosses = stop != to || (single && to == 0);
        change[i] = crosses ? stop - x : length * f->change[i];
        if (single && length < 1 && fabs(stop) <= 1e-15 * fabs(x)) change[i] = -x;
        crossing += crosses;
    }
    return crossing;
}

/* The part of Newton's change after which the first entry is at zero or at a limit; 1 if none is. */
static double first_stop(const model *o, const face *f)
{
    double first = 1;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        double x = o->x[f->entry[i]], stop = end_of(o, f, i, 1);
        if (stop != x + f->change[i]) first = fmin(first, (stop - x) / f->change[i]);
    }
    return first;
}

/* Newton's step on a face, cut where entries would change their sign or pass a limit; a shorter one, if that is too much for
   the objective. */
static int step_on_face(model *o, face *f, int by_factor, double tolerance)
{
    const task *t = o->t;
    if (newton_change(o, f, by_factor, tolerance)) return FAILED;
    double *change = o->work, *image = o->work + 2 * t->m, growth;
    ptrdiff_t crossing = step_along(o, f, 1, change);
    double fall = face_fall(o, f, change, image, &growth), first = first_stop(o, f), length = 1;
    int found = crossing ? CUT : WHOLE;
    for (int tries = 0; tries < 60 && (!(fall > 0) || isinf(fall)); tries++) {
        if (t->single && !crossing) return FAILED; /* nothing to gain: at the minimum of the face */
        length = length > 4 * first ? length / 4 : length > first ? first : length / 2;
        step_along(o, f, length, change);
        fall = face_fall(o, f, change, image, &growth);
        found = SHORT;
    }
    if (!(fall > 0) || isinf(fall)) return FAILED;
    face_accept(o, f, change, image, growth);
    return found;
}

/* Newton steps on the face f of x. Blocks that turn make theirs a very short one, so the others then take one alone. */
static int polish(model *o, face *f, double tolerance)
{
    const task *t = o->t;
    if (!f->size) return FAILED;
    int by_factor = !prefers_cg(o, f);
    face_residual(o, f);
    if (by_factor && t->single) return polish_by_factor(o, f);
    int found = step_on_face(o, f, by_factor, tolerance);
    if (found <= SHORT && mark_turning(f, o->mark)) {
        face_of(o, f);
        leave_marked(f, o->mark);
        face_residual(o, f);
        if (f->size) found = step_on_face(o, f, by_factor, tolerance);
    }
    memset(o->mark, 0, (size_t)t->blocks);
    return found;
}

/* Minimise the model over some blocks to the gap `enough`, and return the gap that is left, by columns a guess; blocks
   outside carry no weight. `goal` is the gap up to which a factor that is made now will serve: infinite if that is this
   model only. */
static double minimise(model *o, const ptrdiff_t *blocks, ptrdiff_t count, double enough, double goal, face *f)
{
    const task *t = o->t;
    ptrdiff_t *active = o->spare + 2 * t->m, sweeps = 0;
    double before = INFINITY, fall, gap = INFINITY;
    int wait = 0, patience = 2;
    while (sweeps < SWEEPS) {
        gap = sweep(o, blocks, count, 0, &fall);
        sweeps++;
        double trifle = TINY * (o->value + slope_of(t, o->mass) * o->mass);
        if (gap <= enough || !(fall > trifle) || isinf(fall) || ended(t->beat)) break;
        ptrdiff_t held = 0;
        double work = 0, target = fmax(gap / 10, enough);
        for (ptrdiff_t i = 0; i < count; i++) {
            ptrdiff_t k = blocks[i];
            if (!(block_norm(t, o->x, k) > 0)) continue;
            active[held++] = k;
            for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++)
                if (!t->split[k] || o->x[e] != 0)
                    work += 20 + (o->by_gram ? (double)o->s->count : 4 * (double)t->columns[e].count);
        }
        if (!held) {
            before = gap;
            continue;
        }
        for (before = INFINITY; sweeps < SWEEPS;) {
            double left = sweep(o, active, held, 1, &fall);
            sweeps++;
            if (left <= target || !(fall > trifle) || isinf(fall) || ended(t->beat)) break;
            double rate = left / before;
            before = left;
            if (++wait < patience) continue;
            double needed = rate < 1 ? log(fmin(target, goal) / left) / log(rate) : INFINITY;
            face_of(o, f);
            if (needed * work <= face_cost(o, f)) continue;
            int found = polish(o, f, fmin(0.1, fmax(enough / left, 1e-10)));
            wait = 0;
            patience = found == WHOLE ? 2 : patience < 64 ? 2 * patience : 64;
            break;
        }
    }
    return gap;
}

#endif
