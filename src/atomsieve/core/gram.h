/* The Gram matrix of the columns that matter, bordered as they come, and a Cholesky factor of a part of it.

   Both outlive a call: while the curvature stays, the next call finds what the last one computed. Entries are known by
   their ids. Coefficients are measured in units of their block, powers of two, so that squares stay in range. */
#ifndef ATOMSIEVE_GRAM_H
#define ATOMSIEVE_GRAM_H

#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "task.h"

#define ROWS 256          /* rows of dense columns that are packed at a time */
#define SCATTER 8         /* multiplications of a product that take the time of moving an entry to its row */
#define GUESSED 30        /* steps of conjugate gradients that the first face is expected to take */

typedef struct {
    ptrdiff_t count, capacity;
    int64_t *id;
    double *gram; /* capacity x capacity, symmetric */
    double *square; /* its diagonal, without the ridge */
    double *lower;
    ptrdiff_t *order; /* places of the gram matrix that the factor covers */
    ptrdiff_t ordered;
    double truth;    /* part of the gap guessed by descent by columns that was there indeed, the last time */
    double cg_steps; /* how many steps of conjugate gradients the last face took, or would have taken */
} store;

static void store_forget(store *s)
{
    s->count = s->ordered = 0;
}

static void store_free(store *s)
{
    free(s->id);
    free(s->gram);
    free(s->square);
    free(s->lower);
    free(s->order);
    memset(s, 0, sizeof *s);
}

/* Make room for more entries; 0 on success. */
static int store_reserve(store *s, ptrdiff_t needed)
{
    if (needed <= s->capacity) return 0;
    ptrdiff_t capacity = needed + needed / 4 + 16;
    size_t square = (size_t)capacity * (size_t)capacity;
    int64_t *id = malloc((size_t)capacity * sizeof *id);
    ptrdiff_t *order = malloc((size_t)capacity * sizeof *order);
    double *gram = malloc(square * sizeof *gram), *lower = malloc(square * sizeof *lower);
    double *diagonal = malloc((size_t)capacity * sizeof *diagonal);
    if (!id || !order || !gram || !lower || !diagonal) {
        free(id);
        free(order);
        free(gram);
        free(diagonal);
        free(lower);
        return -1;
    }
    for (ptrdiff_t i = 0; i < s->count; i++)
        memcpy(gram + i * capacity, s->gram + i * s->capacity, (size_t)s->count * sizeof *gram);
    for (ptrdiff_t j = 0; j < s->ordered; j++)
        memcpy(lower + j * capacity, s->lower + j * s->capacity, (size_t)s->ordered * sizeof *lower);
    if (s->count) memcpy(id, s->id, (size_t)s->count * sizeof *id);
    if (s->count) memcpy(diagonal, s->square, (size_t)s->count * sizeof *diagonal);
    if (s->ordered) memcpy(order, s->order, (size_t)s->ordered * sizeof *order);
    free(s->id);
    free(s->gram);
    free(s->square);
    free(s->lower);
    free(s->order);
    s->capacity = capacity;
    s->id = id;
    s->gram = gram;
    s->square = diagonal;
    s->lower = lower;
    s->order = order;
    return 0;
}

/* Leave out the places that are not kept; `kept` becomes their new places. The factor stays if it loses none. */
static void store_compact(store *s, ptrdiff_t *kept)
{
    ptrdiff_t count = 0, c = s->capacity;
    for (ptrdiff_t i = 0; i < s->count; i++) kept[i] = kept[i] >= 0 ? count++ : -1;
    if (count == s->count) return;
    for (ptrdiff_t i = 0; i < s->count; i++) {
        if (kept[i] < 0) continue;
        for (ptrdiff_t j = 0; j < s->count; j++)
            if (kept[j] >= 0) s->gram[kept[i] * c + kept[j]] = s->gram[i * c + j];
        s->id[kept[i]] = s->id[i];
        s->square[kept[i]] = s->square[i];
    }
    s->count = count;
    for (ptrdiff_t k = 0; k < s->ordered; k++) {
        s->order[k] = kept[s->order[k]];
        if (s->order[k] < 0) s->ordered = 0;
    }
}

typedef struct {
    int64_t id;
    ptrdiff_t entry;
} known;

static int by_id(const void *one, const void *other)
{
    int64_t a = ((const known *)one)->id, b = ((const known *)other)->id;
    return (a > b) - (a < b);
}

/* Find the entries of a task in the store, by their ids, and drop all others from it. */
static int recall(const task *t, store *s, ptrdiff_t *place, ptrdiff_t *entry)
{
    for (ptrdiff_t e = 0; e < t->m; e++) place[e] = -1;
    if (!s->count) return 0;
    ptrdiff_t held = s->count, *kept = malloc((size_t)held * sizeof *kept);
    ptrdiff_t *found = malloc((size_t)held * sizeof *found);
    known *all = malloc((size_t)t->m * sizeof *all);
    if (!kept || !found || !all) {
        free(kept);
        free(found);
        free(all);
        return -1;
    }
    int sorted = 1;
    for (ptrdiff_t e = 0; e < t->m; e++) {
        all[e] = (known){t->id[e], e};
        sorted &= !e || t->id[e - 1] < t->id[e];
    }
    if (!sorted) qsort(all, (size_t)t->m, sizeof *all, by_id);
    for (ptrdiff_t i = 0; i < held; i++) {
        known wanted = {s->id[i], 0};
        known *hit = bsearch(&wanted, all, (size_t)t->m, sizeof *all, by_id);
        kept[i] = found[i] = hit ? hit->entry : -1;
        if (hit) place[hit->entry] = i;
    }
    /* a block that is not split is known as a whole, its entries one after another, or not at all; so is no id that
       occurs twice */
    for (ptrdiff_t k = 0; k < t->blocks; k++) {
        if (t->split[k]) continue;
        ptrdiff_t first = t->start[k], begins = place[first];
        int whole = begins >= 0;
        for (ptrdiff_t e = first; e < t->start[k + 1]; e++) whole &= place[e] == begins + e - first;
        for (ptrdiff_t e = first; !whole && e < t->start[k + 1]; e++) place[e] = -1;
    }
    for (ptrdiff_t i = 0; i < held; i++)
        if (found[i] >= 0 && place[found[i]] != i) kept[i] = found[i] = -1;
    store_compact(s, kept);
    for (ptrdiff_t i = 0; i < held; i++)
        if (found[i] >= 0) {
            place[found[i]] = kept[i];
            entry[kept[i]] = found[i];
        }
    free(kept);
    free(found);
    free(all);
    return 0;
}

/* Give the diagonal of the Gram matrix the ridge of this task, where it has another; a factor of the old one goes. */
static void reridge(const task *t, store *s, const ptrdiff_t *entry)
{
    for (ptrdiff_t i = 0; i < s->count; i++) {
        double whole = s->square[i] + t->ridge[t->owner[entry[i]]], *held = s->gram + i * (s->capacity + 1);
        if (*held == whole) continue;
        *held = whole;
        s->ordered = 0;
    }
}

/* Copy what the rows from `old` on hold left of the diagonal to the other side, tile by tile. */
#define TILE 16
static void mirror(store *s, ptrdiff_t old)
{
    ptrdiff_t c = s->capacity;
    for (ptrdiff_t top = old; top < s->count; top += TILE)
        for (ptrdiff_t left = 0; left < top + TILE; left += TILE)
            for (ptrdiff_t i = top; i < top + TILE && i < s->count; i++)
                for (ptrdiff_t j = left; j < left + TILE && j < i; j++) s->gram[j * c + i] = s->gram[i * c + j];
}

/* Compute the rows and columns of new entries; the last `fresh` of the count entries are new. Dense columns. -1 if memory
   or time is up. */
static int border_dense(const task *t, store *s, const ptrdiff_t *entry, const double *h, const double *along,
                        const double *white, ptrdiff_t fresh)
{
    ptrdiff_t count = s->count, old = count - fresh, c = s->capacity, first = 0;
    double *packed = malloc((size_t)(ROWS * (count + t->free)) * sizeof *packed);
    double *root = malloc((size_t)t->n * sizeof *root);
    if (!packed || !root) {
        free(packed);
        free(root);
        return -1;
    }
    for (ptrdiff_t i = 0; i < t->n; i++) root[i] = sqrt(h[i]);
    for (ptrdiff_t i = old; i < count; i++) memset(s->gram + i * c, 0, (size_t)count * sizeof *packed);
    for (; first < t->n && !ended(t->beat); first += ROWS) {
        ptrdiff_t rows = t->n - first < ROWS ? t->n - first : ROWS;
        for (ptrdiff_t k = 0; k < count; k++) {
            ptrdiff_t e = entry[k];
            const double *restrict value = t->columns[e].value + first, *restrict r = root + first;
            double *restrict to = packed + k * rows, unit = t->unit[t->owner[e]];
            for (ptrdiff_t i = 0; i < rows; i++) to[i] = unit * r[i] * value[i];
            for (ptrdiff_t f = 0; f < t->free; f++) { /* less its part along the unpenalised directions */
                const double *restrict w = white + f * t->n + first;
                double part = along[e * t->free + f];
                for (ptrdiff_t i = 0; i < rows; i++) to[i] -= part * r[i] * w[i];
            }
        }
        double one = 1, *later = packed + old * rows;
        int k = (int)rows, before = (int)old, q = (int)fresh, ld = (int)c;
        if (old) blas.dgemm("T", "N", &before, &q, &k, &one, packed, &k, later, &k, &one, s->gram + old * c, &ld);
        blas.dsyrk("U", "T", &q, &k, &one, later, &k, &one, s->gram + old * c + old, &ld);
    }
    mirror(s, old);
    free(packed);
    free(root);
    return first < t->n ? -1 : 0;
}

/* The products of the fresh sparse columns, row by row: each row adds the products of its few entries. */
static int products_by_rows(const task *t, store *s, const ptrdiff_t *entry, const double *h, ptrdiff_t old,
                            ptrdiff_t total)
{
    ptrdiff_t count = s->count, c = s->capacity;
    ptrdiff_t *first = calloc((size_t)t->n + 2, sizeof *first);
    int32_t *place = malloc(((size_t)total + 1) * sizeof *place);
    double *value = malloc(((size_t)total + 1) * sizeof *value);
    if (!first || !place || !value) {
        free(first);
        free(place);
        free(value);
        return -1;
    }
    for (ptrdiff_t k = 0; k < count; k++) {
        const column *a = &t->columns[entry[k]];
        for (ptrdiff_t i = 0; i < a->count; i++) first[(a->row ? a->row[i] : i) + 2]++;
    }
    for (ptrdiff_t i = 0; i < t->n; i++) first[i + 2] += first[i + 1];
    for (ptrdiff_t k = 0; k < count; k++) { /* columns in order, so each row has its places in order */
        const column *a = &t->columns[entry[k]];
        double unit = t->unit[t->owner[entry[k]]];
        for (ptrdiff_t i = 0; i < a->count; i++) {
            ptrdiff_t to = first[(a->row ? a->row[i] : i) + 1]++;
            place[to] = (int32_t)k;
            value[to] = unit * a->value[i];
        }
    }
    for (ptrdiff_t i = old; i < count; i++) memset(s->gram + i * c, 0, (size_t)count * sizeof *s->gram);
    ptrdiff_t i = 0;
    for (; i < t->n; i++) {
        if (!(i % ROWS) && ended(t->beat)) break;
        ptrdiff_t begin = first[i], end = first[i + 1];
        for (ptrdiff_t p = end - 1; p >= begin && place[p] >= old; p--) {
            double factor = h[i] * value[p], *restrict to = s->gram + place[p] * c;
            for (ptrdiff_t q = begin; q <= p; q++) to[place[q]] += factor * value[q];
        }
    }
    free(first);
    free(place);
    free(value);
    return i < t->n ? -1 : 0;
}

/* The same column by column, for few fresh ones. */
static int products_by_columns(const task *t, store *s, const ptrdiff_t *entry, const double *h, ptrdiff_t old)
{
    double *spread = malloc((size_t)t->n * sizeof *spread);
    if (!spread) return -1;
    ptrdiff_t i = old;
    for (; i < s->count && !ended(t->beat); i++) {
        memset(spread, 0, (size_t)t->n * sizeof *spread);
        column_axpy_weighted(&t->columns[entry[i]], t->unit[t->owner[entry[i]]], h, spread);
        for (ptrdiff_t j = 0; j <= i; j++)
            s->gram[i * s->capacity + j] = t->unit[t->owner[entry[j]]] * column_dot(&t->columns[entry[j]], spread);
    }
    free(spread);
    return i < s->count ? -1 : 0;
}

/* The same as border_dense for sparse columns. */
static int border_sparse(const task *t, store *s, const ptrdiff_t *entry, const double *h, const double *along,
                         ptrdiff_t fresh)
{
    ptrdiff_t count = s->count, old = count - fresh, c = s->capacity, total = 0;
    for (ptrdiff_t k = 0; k < count; k++) total += t->columns[entry[k]].count;
    int failed = fresh * (t->n + total) < SCATTER * total ? products_by_columns(t, s, entry, h, old)
                                                          : products_by_rows(t, s, entry, h, old, total);
    if (failed) return -1;
    for (ptrdiff_t i = old; t->free && i < count; i++)
        for (ptrdiff_t j = 0; j <= i; j++)
            s->gram[i * c + j] -= dot(along + entry[i] * t->free, along + entry[j] * t->free, t->free);
    mirror(s, old);
    return 0;
}

#endif
