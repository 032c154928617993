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

enum { FAILED, CUT, WHOLE };

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
        if (factor_follow(s, o->list, kept, o->mark, o->spare, t->beat) != COVERED) break;
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

/* A Newton step on the face f of x, with the entries that would change their sign put to zero, and those beyond a limit
   there, or up to the first. */
static int polish(model *o, face *f, double tolerance)
{
    const task *t = o->t;
    if (!f->size) return FAILED;
    double slope = slope_of(t, o->mass);
    int by_factor = !prefers_cg(o, f);
    face_residual(o, f);
    if (by_factor && t->single) return polish_by_factor(o, f);
    if (!by_factor) {
        double most = f->size > LARGE ? cg_most(o, f) : fmin(cg_most(o, f), 2 * fmax(o->s->cg_steps, 5));
        o->s->cg_steps = face_cg(o, f, slope, t->b, f->residual, f->change, tolerance, most, o->work);
    } else {
        if (face_direct(o, f, slope)) return FAILED;
        if (t->b > 0) yield_to(t, f);
    }
    ptrdiff_t k = f->size;
    double *image = o->work + 2 * k; /* n or count numbers */
    double *change = o->work, first = 1, growth;
    ptrdiff_t crossing = 0;
    for (ptrdiff_t i = 0; i < k; i++) {
        ptrdiff_t e = f->entry[i];
        double x = o->x[e], to = x + f->change[i], stop = alone(t, e) ? stop_of(t, e, x, to) : to;
        int crosses = stop != to || (alone(t, e) && to == 0);
        change[i] = crosses ? stop - x : f->change[i];
        crossing += crosses;
        if (crosses && (x - stop) / -f->change[i] < first) first = (x - stop) / -f->change[i];
    }
    double fall = face_fall(o, f, change, image, &growth);
    if (fall > 0 && !isinf(fall)) {
        face_accept(o, f, change, image, growth);
        return crossing ? CUT : WHOLE;
    }
    for (int tries = 0; tries < 40; tries++, first /= 2) {
        for (ptrdiff_t i = 0; i < k; i++) {
            ptrdiff_t e = f->entry[i];
            double x = o->x[e], to = x + first * f->change[i], stop = alone(t, e) ? stop_of(t, e, x, to) : to;
            change[i] = stop == to ? first * f->change[i] : stop - x;
            if (alone(t, e) && (stop == 0 || (stop == to && fabs(to) <= 1e-15 * fabs(x)))) change[i] = -x;
        }
        fall = face_fall(o, f, change, image, &growth);
        if (fall > 0 && !isinf(fall)) {
            face_accept(o, f, change, image, growth);
            return CUT;
        }
        if (t->single && !crossing) break; /* nothing to gain: at the minimum of the face */
    }
    return FAILED;
}

/* Minimise the model over some blocks to the gap `enough`; blocks outside carry no weight. `goal` is the gap up to
   which a factor that is made now will serve: infinite if that is this model only. */
static void minimise(model *o, const ptrdiff_t *blocks, ptrdiff_t count, double enough, double goal, face *f)
{
    const task *t = o->t;
    ptrdiff_t *active = o->spare + 2 * t->m, sweeps = 0;
    double before = INFINITY;
    int wait = 0, patience = 2;
    while (sweeps < SWEEPS) {
        double fall, gap = sweep(o, blocks, count, 0, &fall);
        sweeps++;
        double trifle = TINY * (o->value + slope_of(t, o->mass) * o->mass);
        if (gap <= enough || !(fall > trifle) || isinf(fall) || ended(t->beat)) return;
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
}

#endif
