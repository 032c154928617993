/* The problem on a working set: Newton steps, each by a model, until the gap is small enough. */
#ifndef ATOMSIEVE_NEWTON_H
#define ATOMSIEVE_NEWTON_H

#include "choice.h"
#include "minimise.h"
#include "samples.h"

#define ROUNDS 60        /* Newton steps of one call */
#define ROUGH 0.15       /* part of its first gap to which a model is solved: it is no better an approximation */
#define SMOOTH 0.05      /* the same where sweeps are cheap, by the Gram matrix */
#define STALE 0.1        /* part of the gap that a step may leave before the curvature is computed again */
#define CHEAP 5e6        /* multiplications for a Gram matrix that count for nothing */
#define NEAR 50          /* entries beside the support that a model may move, at least */
#define FEWEST 10        /* blocks that these are, at least */
#define LEAST_RIDGE 1e-10 /* part of the largest possible curvature that stands in for none */
#define NOISE 1e-15      /* rounding of a sum, as a part of its terms */
#define DOUBTED 0.1      /* part of a guess of the gap that is believed at least */
#define STALLED 5        /* steps that may fail to halve the gap */

/* The gap of the problem on the working set. */
static double true_gap(const task *t, const request *q, const fields *v, const record *seen)
{
    if (t->b > 0 || seen->top <= t->a) return gap_of(t, q->mass, seen->top, seen->slack, 0);
    double scale = t->a / seen->top, slack = seen->slack;
    double apart = fenchel_young(q->loss, t->n, v->u, q->y, v->slope, q->w, scale);
    return slack + (1 - scale) * (t->a * q->mass - slack) + apart + (1 - scale) * (1 - scale) * ridge_value(t, q->x);
}

/* Whether descent over some entries is cheaper by their Gram matrix, where a change costs as much as there are entries,
   than by their columns, where it costs twice what the column holds. */
static int gram_pays(ptrdiff_t entries, double nonzeros)
{
    return entries <= LARGE && nonzeros >= 4 * (double)entries * (double)entries;
}

/* Choose the blocks that the next model may move: the support, and those that would join it. */
static ptrdiff_t choose(model *o, const fields *v, double slope, ptrdiff_t *blocks)
{
    const task *t = o->t;
    ptrdiff_t support = 0, joining = 0, entries = 0;
    double *scores = o->work, nonzeros = 0;
    for (ptrdiff_t k = 0; k < t->blocks; k++) {
        if (block_norm(t, o->x, k) > 0) support++;
        else {
            double score = block_score(t, o->x, v->z + t->start[k], k, slope);
            if (score > slope) scores[joining++] = score;
        }
    }
    ptrdiff_t most = NEAR * t->blocks / t->m, count = 0;
    if (most < FEWEST) most = FEWEST;
    if (most < support) most = support;
    double least = joining > most ? reached_by(scores, joining, most) : slope;
    for (ptrdiff_t k = 0; k < t->blocks; k++) {
        double score = block_score(t, o->x, v->z + t->start[k], k, slope);
        if (!(block_norm(t, o->x, k) > 0) && !(score > slope && score >= least)) continue;
        blocks[count++] = k;
        for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++, entries++) nonzeros += (double)t->columns[e].count;
    }
    o->by_gram = gram_pays(entries, nonzeros);
    return count;
}

/* Take the curvature from where the predictions are now. What was known of the old one is forgotten. */
static void refresh(const task *t, model *o, const request *q, fields *v, double caution)
{
    o->largest = loss_curvatures(q->loss, t->n, v->u, q->y, v->slope, q->w, caution, v->h);
    for (ptrdiff_t i = 0; i < t->n; i++) o->root[i] = sqrt(v->h[i]);
    whiten(t, v->h, o->white, o->bent, v->transform);
    for (ptrdiff_t b = 0; b < t->blocks; b++) o->steepest[b] = NAN;
    if (q->loss.kind == SQUARED) return;
    store_forget(o->s);
    for (ptrdiff_t j = 0; j < t->m; j++) o->place[j] = -1;
}

/* Set up a model at x, where the mass is known; d = 0. */
static void begin_at(model *o, const request *q, const fields *v, double mass)
{
    const task *t = o->t;
    memcpy(o->x, q->x, (size_t)t->m * sizeof *o->x);
    memcpy(o->begin, q->x, (size_t)t->m * sizeof *o->begin);
    memcpy(o->e, v->theta, (size_t)t->n * sizeof *o->e);
    memset(o->drawn, 0, (size_t)(2 * t->free) * sizeof *o->drawn);
    o->mass = mass;
}

/* The way from x to the minimum of a model. */
typedef struct {
    int moved;
    double growth, start, noise; /* of the mass; the slope of the objective at first, and its rounding */
    double drag, stretch;        /* slope of the ridge at first, and how it rises */
} way;

static way way_of(const model *o, const request *q, fields *v, const ptrdiff_t *blocks, ptrdiff_t count, int predicted)
{
    const task *t = o->t;
    way w = {0};
    double at = slope_of(t, q->mass);
    memset(v->direction, 0, (size_t)t->n * sizeof *v->direction);
    memset(o->drawn, 0, (size_t)t->free * sizeof *o->drawn);
    memset(v->turn, 0, (size_t)t->free * sizeof *v->turn);
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t b = blocks[i];
        w.growth += growth_of(t, b, q->x, o->x);
        for (ptrdiff_t j = t->start[b]; j < t->start[b + 1]; j++) {
            double change = o->x[j] - q->x[j];
            if (change == 0) continue;
            w.moved = 1;
            w.start -= v->z[j] * change;
            w.drag += t->ridge[b] * q->x[j] * change;
            w.stretch += t->ridge[b] * change * change;
            w.noise += NOISE * (fabs(v->z[j]) + at * (t->price[b] + t->each[b])) * fabs(change);
            if (predicted) column_axpy(&t->columns[j], change * t->unit[b], v->direction);
            axpy(change, o->along + j * t->free, o->drawn, t->free);
        }
    }
    for (ptrdiff_t c = 0; c < t->free; c++) {
        if (predicted) axpy(-o->drawn[c], v->white + c * t->n, v->direction, t->n);
        axpy(-o->drawn[c], v->transform + c * t->free, v->turn, t->free);
    }
    w.start += at * w.growth;
    return w;
}

/* How far along a way the objective falls; caution grows where that is not far. */
static double how_far(const task *t, request *q, fields *v, const way *w, double objective)
{
    /* no step lowers the objective by more than all of it: a steeper slope says little about where to stop */
    double start = fmin(fmax(w->start, -2 * objective), -2 * w->noise);
    double rate = slope_of(t, q->mass) * w->growth + w->drag, rises = t->b * w->growth * w->growth + w->stretch;
    double length = search(t, q, v->u, v->direction, start, rate, rises, v->trial, v->slope);
    if (length < 0.1) q->caution = fmin(fmax(10 * q->caution, 1e-3), 1);
    else if (length == 1) q->caution = q->caution > 1e-12 ? q->caution / 10 : 0;
    return length;
}

/* How fast the mass falls as the slope of the penalty rises. */
static double response_at(model *o, face *f, const request *q, const fields *v)
{
    const task *t = o->t;
    begin_at(o, q, v, q->mass);
    o->by_gram = 0;
    for (ptrdiff_t b = 0; b < t->blocks; b++)
        if (block_norm(t, o->x, b) > 0) learn(o, b);
    return response_of(o, f);
}

/* Room for the numbers of the samples and entries beside a model; where there is none, the arena says so. */
static fields fields_for(const task *t, const model *o, arena *a)
{
    ptrdiff_t k = t->free;
    fields v = {.white = o->white, .bent = o->bent, .z = take_numbers(a, t->m), .transform = take_numbers(a, k * k)};
    double **of_samples[] = {&v.u, &v.slope, &v.theta, &v.h, &v.direction, &v.trial, &v.room};
    for (size_t i = 0; i < sizeof of_samples / sizeof *of_samples; i++) *of_samples[i] = take_numbers(a, t->n);
    v.turn = take_numbers(a, k);
    return v;
}

/* What serves for one set of columns: a model, its faces, and numbers of the samples. */
typedef struct {
    model o;
    face f;
    fields v;
    ptrdiff_t *blocks; /* that the model may move */
    int fresh;         /* whether the model has the curvature at hand; that of squared losses never changes */
} bench;

/* Make room for a bench, and find what the store knows of its columns; 0 on success. */
static int open_bench(const task *t, store *s, const request *q, arena *a, bench *on)
{
    int quadratic = q->loss.kind == SQUARED;
    if (open_model(t, s, a, &on->o, &on->f)) return -1;
    on->v = fields_for(t, &on->o, a);
    on->blocks = take_places(a, t->blocks);
    on->fresh = 0;
    if (a->failed) return -1;
    on->o.least = quadratic ? 0 : LEAST_RIDGE;
    on->o.steady = quadratic;
    on->o.h = on->v.h;
    if (!quadratic) store_forget(s);
    if (recall(t, s, on->o.place, on->o.entry)) return -1;
    reridge(t, s, on->o.entry);
    return 0;
}

/* Minimise the model from x to a part of the gap there: less, where the last models have brought little. Returns the gap
   that descent by columns guesses is left, where each pull was seen at another time. Squared losses are their own model,
   so the next look shows what a guess was worth, and the one after is believed that much; 0 for all others. */
static double descend(bench *on, const request *q, ptrdiff_t count, double share, int idle)
{
    model *o = &on->o;
    int guesses = o->steady && !o->by_gram && !o->t->single; /* faces of single entries are solved to the end */
    double part = (o->by_gram ? SMOOTH : ROUGH) * pow(0.1, idle), truth = guesses ? o->s->truth : 1;
    double rough = fmin(fmax(q->target / (guesses ? 2 : 4), part * q->gap), q->gap / 2) / truth;
    double goal = o->steady && o->t->single ? share * q->target : INFINITY;
    double left = minimise(o, on->blocks, count, share * rough, goal, &on->f) / share;
    return guesses && isfinite(left) ? left : 0;
}

/* Solve on the working set. 0 on success, -1 without memory. */
static int iterate(const task *t, store *s, request *q, bench *on)
{
    ptrdiff_t n = t->n, m = t->m, k = t->free, *blocks = on->blocks;
    int quadratic = q->loss.kind == SQUARED, idle = 0;
    model *o = &on->o;
    fields *v = &on->v;
    predict(t, q, isnan(q->image[0]), v->u);
    if (settle(t, q, v) && on->fresh) whiten(t, v->h, v->white, v->bent, v->transform);
    if (!quadratic) on->fresh = 0;
    double guessed = 0, before = INFINITY, least = INFINITY, lowest = INFINITY;
    for (q->rounds = 0;; q->rounds++) {
        look(t, q, v, !q->rounds && !isnan(q->pulls[0]));
        record seen = {0, 0, 0};
        q->mass = mass_of(t, q->x);
        for (ptrdiff_t b = 0; b < t->blocks; b++) tally(t, q->x, v->z + t->start[b], b, slope_of(t, q->mass), &seen);
        q->gap = true_gap(t, q, v, &seen);
        if (guessed > 0) s->truth = fmin(fmax(q->gap / guessed, DOUBTED), 1);
        /* a gap that is small enough tells little about the mass, which one more step settles */
        int enough = !(q->gap > q->target) && (q->rounds || !q->respond);
        if (enough || q->rounds == ROUNDS || ended(t->beat)) break;
        o->value = loss_value(q->loss, n, v->u, q->y, v->slope, q->w) + ridge_value(t, q->x);
        double objective = o->value + q->mass * (t->a + t->b * q->mass / 2);
        idle = q->gap < least / 2 || objective < lowest - fmin(q->gap, objective) / 100 ? 0 : idle + 1;
        if (q->gap < least) least = q->gap;
        lowest = objective;
        if (idle == STALLED) break;

        double cost = (double)n * (double)s->count * (double)s->count;
        if (!on->fresh || (!quadratic && (q->gap > STALE * before || cost <= CHEAP))) {
            refresh(t, o, q, v, q->caution);
            on->fresh = 1;
        }
        before = q->gap;
        begin_at(o, q, v, q->mass);
        ptrdiff_t count = choose(o, v, slope_of(t, q->mass), blocks);
        if (!count) break;
        if (o->by_gram && hold_blocks(o, blocks, count)) {
            if (t->beat->over) break;
            return -1;
        }
        for (ptrdiff_t i = 0; i < count; i++) learn(o, blocks[i]);
        for (ptrdiff_t i = 0; o->by_gram && i < s->count; i++) o->z[i] = v->z[o->entry[i]];
        /* the model makes more or less of this gap; a Gram matrix and a factor serve up to the end where the curvature
           never changes */
        double share = fmin(gap_of(t, q->mass, seen.top, seen.slack, o->value) / q->gap, 1);
        guessed = descend(on, q, count, share, idle);

        way w = way_of(o, q, v, blocks, count, !quadratic);
        if (!w.moved || !isfinite(w.start)) break; /* rounding is all there is, or the model has run off */
        double length = 1, caution = q->caution;
        if (!quadratic) {
            if (!(w.start < w.noise)) break;
            length = how_far(t, q, v, &w, objective);
            if (q->caution > caution) on->fresh = 0;
            if (length == 0) { /* perhaps a step far too long, for want of curvature */
                loss_slopes(q->loss, n, v->u, q->y, v->slope);
                if (caution == 0) continue;
                break;
            }
        }
        for (ptrdiff_t i = 0; i < count; i++)
            for (ptrdiff_t j = t->start[blocks[i]]; j < t->start[blocks[i] + 1]; j++)
                q->x[j] = length == 1 ? o->x[j] : within_limits(t, j, q->x[j] + length * (o->x[j] - q->x[j]));
        axpy(length, v->turn, q->coordinates, k);
        if (quadratic) predict(t, q, 1, v->u);
        else axpy(length, v->direction, v->u, n);
        if (settle(t, q, v)) whiten(t, v->h, v->white, v->bent, v->transform);
    }
    q->response = 0;
    if (q->respond && !ended(t->beat)) {
        if (!on->fresh || !quadratic) refresh(t, o, q, v, 0);
        q->response = response_at(o, &on->f, q, v);
    }
    if (!quadratic) image_of(t, q->x, q->image);
    for (ptrdiff_t j = 0; j < m; j++) {
        ptrdiff_t b = t->owner[j];
        q->pulls[j] = (v->z[j] + t->ridge[b] * q->x[j]) / t->unit[b];
    }
    return 0;
}

/* Solve on the working set; 0 on success, -1 without memory. */
static int solve_restricted(const task *t, store *s, request *q)
{
    arena a = {.count = 0};
    bench on;
    int failed = open_bench(t, s, q, &a, &on) || iterate(t, s, q, &on);
    release_all(&a);
    return -failed;
}

/* Minimise one model given by its Hessian, from x, to a part of its gap there or to the gap `enough`, whichever is
   larger; z is the pull. 0 on success. */
static int solve_quadratic(const task *t, const double *hessian, const double *z, request *q, double value, double enough)
{
    ptrdiff_t m = t->m, b = t->blocks;
    arena a = {.count = 0};
    store s = {0};
    model o;
    face f;
    int failed = -1;
    if (open_model(t, &s, &a, &o, &f) || store_reserve(&s, m)) goto done;
    ptrdiff_t *blocks = take_places(&a, b);
    if (!blocks) goto done;
    double *begin = o.begin, *found = o.x;
    o.x = q->x;
    o.mass = mass_of(t, q->x);
    o.value = value;
    o.by_gram = 1;
    s.count = m;
    memcpy(begin, q->x, (size_t)m * sizeof *begin);
    memcpy(o.z, z, (size_t)m * sizeof *o.z);
    for (ptrdiff_t e = 0; e < m; e++) {
        o.place[e] = o.entry[e] = e;
        memcpy(s.gram + e * s.capacity, hessian + e * m, (size_t)m * sizeof *hessian);
        o.diagonal[e] = hessian[e * m + e];
    }
    for (ptrdiff_t k = 0; k < b; k++) {
        ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
        double trace = 0;
        blocks[k] = k;
        for (ptrdiff_t e = first; e < first + size; e++) trace += o.diagonal[e];
        o.steepest[k] = trace;
        if (o.corner[k] < 0) continue;
        double *matrix = o.vectors + o.corner[k];
        for (ptrdiff_t i = 0; i < size; i++)
            memcpy(matrix + i * size, hessian + (first + i) * m + first, (size_t)size * sizeof *matrix);
        o.steepest[k] = fmin(trace, decompose(&o, k, matrix));
    }
    record seen = {0, 0, 0};
    for (ptrdiff_t k = 0; k < b; k++) tally(t, q->x, z + t->start[k], k, slope_of(t, o.mass), &seen);
    double gap = gap_of(t, o.mass, seen.top, seen.slack, value);
    if (q->target < 1) minimise(&o, blocks, b, fmax(q->target * gap, enough), INFINITY, &f);
    o.mass = mass_of(t, q->x);
    seen = (record){0, 0, 0};
    for (ptrdiff_t k = 0; k < b; k++) tally(t, q->x, o.z + t->start[k], k, slope_of(t, o.mass), &seen);
    q->gap = gap_of(t, o.mass, seen.top, seen.slack, value);
    q->mass = 0; /* by how much it has grown, to full relative precision */
    for (ptrdiff_t k = 0; k < b; k++) q->mass += growth_of(t, k, begin, q->x);
    memcpy(found, q->x, (size_t)m * sizeof *found);
    q->response = q->respond ? response_of(&o, &f) : 0;
    memcpy(q->x, found, (size_t)m * sizeof *found); /* columns that depend on each other may have been merged */
    failed = 0;
done:
    store_free(&s);
    release_all(&a);
    return failed;
}

#endif
