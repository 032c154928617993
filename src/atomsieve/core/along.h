/* The problem on a working set along lines of slopes, each solved from where the one before has ended.

   Squared losses are their own model. Where the Gram matrix of all columns pays, no line needs a look at the samples:
   the pulls follow from the matrix, and the images of all solutions are one product at the end. */
#ifndef ATOMSIEVE_ALONG_H
#define ATOMSIEVE_ALONG_H

#include "newton.h"

#define LINES 8 /* whose images are computed together */

/* Lines with their ridges, one after another, and what is found on them. */
typedef struct {
    ptrdiff_t count, done;
    const double *line;  /* a and b of each */
    const double *ridge; /* of each, for all blocks in their units */
    double *x;           /* count x m, in units */
    double *coordinates; /* count x free */
    double *image;       /* count x n */
} trail;

static void turn_to(task *t, const trail *r, ptrdiff_t l)
{
    t->a = r->line[2 * l];
    t->b = r->line[2 * l + 1];
    t->ridge = r->ridge + l * t->blocks;
}

/* The entries that carry weight on some line, in the order in which they join; `joined` says how many do up to each. */
static ptrdiff_t in_order(const task *t, const trail *r, ptrdiff_t *entry, ptrdiff_t *joined, char *there)
{
    ptrdiff_t count = 0;
    memset(there, 0, (size_t)t->m);
    for (ptrdiff_t l = 0; l < r->done; l++) {
        for (ptrdiff_t e = 0; e < t->m; e++)
            if (!there[e] && r->x[l * t->m + e] != 0) {
                there[e] = 1;
                entry[count++] = e;
            }
        joined[l] = count;
    }
    return count;
}

/* A x for the x of all lines, by dense columns, some rows at a time, so that each column is fetched once; some lines
   at a time, because the first need few columns. 0 on success. */
static int images_of_dense(const task *t, const trail *r)
{
    ptrdiff_t n = t->n, m = t->m, lines = r->done;
    arena a = {.count = 0};
    ptrdiff_t *entry = take_places(&a, m), *joined = take_places(&a, lines);
    char *there = (char *)take_places(&a, m);
    if (a.failed) goto done;
    ptrdiff_t held = in_order(t, r, entry, joined, there);
    double *packed = take_numbers(&a, ROWS * held), *x = take_numbers(&a, lines * held), one = 1, zero = 0;
    if (a.failed) goto done;
    for (ptrdiff_t l = 0; l < lines; l++)
        for (ptrdiff_t i = 0; i < held; i++) x[l * held + i] = r->x[l * m + entry[i]] * t->unit[t->owner[entry[i]]];
    for (ptrdiff_t first = 0; first < n; first += ROWS) {
        ptrdiff_t rows = n - first < ROWS ? n - first : ROWS;
        for (ptrdiff_t i = 0; i < held; i++)
            memcpy(packed + i * rows, t->columns[entry[i]].value + first, (size_t)rows * sizeof *packed);
        for (ptrdiff_t l = 0; l < lines; l += LINES) {
            ptrdiff_t some = lines - l < LINES ? lines - l : LINES;
            int height = (int)rows, width = (int)some, inner = (int)joined[l + some - 1], from = (int)held, to = (int)n;
            if (!inner)
                for (ptrdiff_t i = l; i < l + some; i++) memset(r->image + i * n + first, 0, (size_t)rows * sizeof *x);
            else
                blas.dgemm("N", "N", &height, &width, &inner, &one, packed, &height, x + l * held, &from, &zero,
                           r->image + l * n + first, &to);
        }
    }
done:
    release_all(&a);
    return -a.failed;
}

/* The same for sparse columns: the numbers that some lines have for a row lie side by side at first. 0 on success. */
static int images_of_sparse(const task *t, const trail *r)
{
    ptrdiff_t n = t->n, m = t->m;
    double *aside = malloc((size_t)(n * LINES + 1) * sizeof *aside), x[LINES];
    if (!aside) return -1;
    for (ptrdiff_t first = 0; first < r->done; first += LINES) {
        ptrdiff_t count = r->done - first < LINES ? r->done - first : LINES;
        memset(aside, 0, (size_t)(n * count) * sizeof *aside);
        for (ptrdiff_t j = 0; j < m; j++) {
            const column *a = &t->columns[j];
            int any = 0;
            for (ptrdiff_t l = 0; l < count; l++) {
                x[l] = r->x[(first + l) * m + j] * t->unit[t->owner[j]];
                any |= x[l] != 0;
            }
            for (ptrdiff_t i = 0; any && i < a->count; i++) axpy(a->value[i], x, aside + a->row[i] * count, count);
        }
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t l = 0; l < count; l++) r->image[(first + l) * n + i] = aside[i * count + l];
    }
    free(aside);
    return 0;
}

/* Learn the curvature of all blocks anew. */
static void learn_all(model *o)
{
    for (ptrdiff_t k = 0; k < o->t->blocks; k++) {
        o->steepest[k] = NAN;
        learn(o, k);
    }
}

/* Let the model follow a change of the ridge, from that of the line before. */
static void reridge_model(model *o, const double *before)
{
    const task *t = o->t;
    if (!memcmp(before, t->ridge, (size_t)t->blocks * sizeof *before)) return;
    reridge(t, o->s, o->entry);
    learn_all(o);
    for (ptrdiff_t e = 0; e < t->m; e++) {
        double more = t->ridge[t->owner[e]] - before[t->owner[e]];
        o->z[o->place[e]] -= more * o->x[e];
        o->value += more * o->x[e] * o->x[e] / 2;
    }
}

/* Solve for squared losses along the lines by the Gram matrix of all columns. 0 on success, -1 without memory or
   time. */
static int along_by_gram(task *t, store *s, request *q, trail *r, arena *a)
{
    ptrdiff_t n = t->n, m = t->m, k = t->free;
    model o;
    face f;
    if (open_model(t, s, a, &o, &f)) return -1;
    fields v = fields_for(t, &o, a);
    double *pulls = take_numbers(a, m);
    ptrdiff_t *blocks = take_places(a, t->blocks);
    if (a->failed) return -1;
    o.steady = o.by_gram = 1;
    o.h = v.h;
    predict(t, q, isnan(q->image[0]), v.u);
    settle(t, q, &v);
    look(t, q, &v, !isnan(q->pulls[0]));
    if (recall(t, s, o.place, o.entry)) return -1;
    reridge(t, s, o.entry);
    refresh(t, &o, q, &v, 0);
    begin_at(&o, q, &v, mass_of(t, q->x));
    for (ptrdiff_t b = 0; b < t->blocks; b++) blocks[b] = b;
    if (hold_blocks(&o, blocks, t->blocks)) return -1;
    learn_all(&o);
    for (ptrdiff_t e = 0; e < m; e++) o.z[o.place[e]] = v.z[e];
    o.value = loss_value(q->loss, n, v.u, q->y, v.slope, q->w) + ridge_value(t, q->x);
    for (r->done = 0; r->done < r->count && !ended(t->beat); r->done++) {
        const double *before = t->ridge;
        turn_to(t, r, r->done);
        reridge_model(&o, before);
        memcpy(pulls, o.z, (size_t)m * sizeof *pulls);
        memcpy(o.begin, o.x, (size_t)m * sizeof *o.begin);
        minimise(&o, blocks, t->blocks, q->target, t->single ? q->target : INFINITY, &f);
        memset(o.drawn, 0, (size_t)k * sizeof *o.drawn);
        for (ptrdiff_t e = 0; e < m; e++) {
            double change = o.x[e] - o.begin[e];
            o.value -= change * (pulls[o.place[e]] + o.z[o.place[e]]) / 2;
            axpy(change, o.along + e * k, o.drawn, k);
        }
        if (!isfinite(o.value)) break;
        for (ptrdiff_t c = 0; c < k; c++) axpy(-o.drawn[c], v.transform + c * k, q->coordinates, k);
        memcpy(r->x + r->done * m, o.x, (size_t)m * sizeof *o.x);
        memcpy(r->coordinates + r->done * k, q->coordinates, (size_t)k * sizeof *q->coordinates);
    }
    return t->dense ? images_of_dense(t, r) : images_of_sparse(t, r);
}

/* Solve along the lines; 0 on success, -1 without memory. */
static int solve_along(task *t, store *s, request *q, trail *r)
{
    double nonzeros = 0;
    int failed = 0;
    for (ptrdiff_t e = 0; e < t->m; e++) nonzeros += (double)t->columns[e].count;
    turn_to(t, r, 0);
    if (q->loss.kind == SQUARED && gram_pays(t->m, nonzeros)) {
        arena a = {.count = 0};
        failed = along_by_gram(t, s, q, r, &a) && !t->beat->over;
        release_all(&a);
        return -failed;
    }
    arena a = {.count = 0};
    bench on;
    if (open_bench(t, s, q, &a, &on)) failed = 1;
    for (r->done = 0; !failed && r->done < r->count && !ended(t->beat); r->done++) {
        const double *before = t->ridge;
        turn_to(t, r, r->done);
        if (memcmp(before, t->ridge, (size_t)t->blocks * sizeof *before)) {
            reridge(t, s, on.o.entry);
            on.fresh = 0;
        }
        if (iterate(t, s, q, &on)) {
            failed = 1;
            break;
        }
        memcpy(r->x + r->done * t->m, q->x, (size_t)t->m * sizeof *q->x);
        memcpy(r->coordinates + r->done * t->free, q->coordinates, (size_t)t->free * sizeof *q->coordinates);
        memcpy(r->image + r->done * t->n, q->image, (size_t)t->n * sizeof *q->image);
    }
    release_all(&a);
    return -failed;
}

#endif
