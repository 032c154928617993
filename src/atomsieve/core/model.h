/* One second-order model of the loss, plus the penalty: minimised by coordinate descent and Newton steps on faces.

   The model is `-z . d + d' H d / 2 + phi(mass(x + d))` with `phi(s) = a s + b s^2 / 2` and H = A' diag(h) A, less what
   the unpenalised directions explain, plus a ridge: that of the task, or a small one where there is next to no
   curvature. z is the pull of the loss and of the task's ridge. Descent knows H either by the Gram matrix, and then
   updates z, or by the columns, and then updates the vector `e = theta + h (A d)` with z = -A' e. */
#ifndef ATOMSIEVE_MODEL_H
#define ATOMSIEVE_MODEL_H

#include "arena.h"
#include "factor.h"

#define WIDE 64      /* entries up to which the largest curvature of a block is computed, and not bounded */
#define FAR 1e-3     /* part of its square that a column far from zero has beside the unpenalised directions, at most */

typedef struct {
    const task *t;
    store *s;
    double *x, *begin; /* coefficients now, and where the model was made */
    double mass;
    double value;          /* the loss and the ridge where the model was made */
    double largest;        /* the largest loss'' there */
    const double *h;       /* curvature of each sample */
    double *root;          /* and its root */
    double *diagonal;      /* curvature of each entry, with its ridge */
    double *steepest;      /* largest curvature of each block; NaN where it is not yet known */
    double *vectors;       /* eigenvectors of the Hessian of each block of several entries, by columns */
    double *values;        /* and its eigenvalues, one for each entry */
    const ptrdiff_t *corner; /* where the eigenvectors of a block begin; -1 for blocks that have none, as split ones */
    double *packed;        /* room for the columns of one block */
    double *ridge;         /* of each block: the task's, or more where it has next to no curvature of its own */
    int ridged;            /* whether any block has a ridge */
    int steady;            /* whether the curvature is the same everywhere */
    double least;          /* part of the largest possible curvature that stands in for none */
    double *along;         /* m x free: products of an entry's column with `white` in the metric of h */
    double *white;         /* n x free: the unpenalised directions, orthonormal in the metric of h */
    double *bent;          /* the same times h */
    double *e;             /* theta + h (A d) */
    double *drawn;         /* free: what the unpenalised directions take back from e, in the basis `white`; and room */
    ptrdiff_t *place;      /* of each entry in the Gram matrix, -1 for none */
    ptrdiff_t *entry;      /* of each place in the Gram matrix */
    double *z;             /* by places */
    int by_gram;
    double *work;          /* 8 m + n numbers */
    double *by_entry;      /* m numbers */
    char *mark;            /* zeros, by places */
    ptrdiff_t *list, *spare; /* m and 3 m places */
} model;

/* The pull on an entry of block k: -A' e, with what the unpenalised directions take back and the ridge. */
static double pull_in(const model *o, ptrdiff_t k, ptrdiff_t e)
{
    const task *t = o->t;
    if (o->by_gram) return o->z[o->place[e]];
    double z = -t->unit[k] * column_dot(&t->columns[e], o->e);
    for (ptrdiff_t f = 0; f < t->free; f++) z += o->along[e * t->free + f] * o->drawn[f];
    return o->ridged ? z - o->ridge[k] * (o->x[e] - o->begin[e]) - t->ridge[k] * o->begin[e] : z;
}

/* The same where the block is not at hand. */
static double pull(const model *o, ptrdiff_t e) { return pull_in(o, o->t->owner[e], e); }

/* Make a change of an entry of block k known. */
static void push_in(model *o, ptrdiff_t k, ptrdiff_t e, double change)
{
    const task *t = o->t;
    if (o->by_gram) {
        axpy(-change, o->s->gram + o->place[e] * o->s->capacity, o->z, o->s->count);
        return;
    }
    column_axpy_weighted(&t->columns[e], change * t->unit[k], o->h, o->e);
    for (ptrdiff_t f = 0; f < t->free; f++) o->drawn[f] += change * o->along[e * t->free + f];
}

/* The same where the block is not at hand. */
static void push(model *o, ptrdiff_t e, double change) { push_in(o, o->t->owner[e], e, change); }

/* The pulls on the entries of a block that is not split. */
static void block_pulls(const model *o, ptrdiff_t k, double *z)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (o->by_gram) {
        memcpy(z, o->z + o->place[first], (size_t)size * sizeof *z);
        return;
    }
    columns_dot(t->columns + first, size, o->e, z);
    for (ptrdiff_t i = 0; i < size; i++)
        z[i] = dot(o->along + (first + i) * t->free, o->drawn, t->free) - t->unit[k] * z[i] -
               o->ridge[k] * (o->x[first + i] - o->begin[first + i]) - t->ridge[k] * o->begin[first + i];
}

/* Make a change of such a block known; it is lost on the way. */
static void push_block(model *o, ptrdiff_t k, double *change)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (o->by_gram) {
        for (ptrdiff_t i = 0; i < size; i++)
            if (change[i] != 0) push(o, first + i, change[i]);
        return;
    }
    for (ptrdiff_t i = 0; i < size; i++) {
        axpy(change[i], o->along + (first + i) * t->free, o->drawn, t->free);
        change[i] *= t->unit[k];
    }
    columns_axpy_weighted(t->columns + first, size, change, o->h, o->e);
}

/* Find the eigenvectors of the Hessian of a block of several entries, from its matrix; returns the largest value. */
static double decompose(model *o, ptrdiff_t k, double *matrix)
{
    ptrdiff_t first = o->t->start[k], size = o->t->start[k + 1] - first;
    double scratch[66 * WIDE], largest = 0;
    int side = (int)size, room = 66 * WIDE, info = 0;
    blas.dsyev("V", "L", &side, matrix, &side, o->values + first, scratch, &room, &info);
    if (info) return INFINITY;
    for (ptrdiff_t e = first; e < first + size; e++) {
        if (!(o->values[e] > 0)) o->values[e] = 0;
        o->values[e] += o->ridge[k];
        largest = fmax(largest, o->values[e]);
    }
    return largest;
}

/* The Hessian of one block, without its ridge, from its columns. */
static void block_hessian(model *o, ptrdiff_t k, double *matrix)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first, n = t->n;
    if (o->steady && o->place[first] >= 0) { /* the store knows */
        const store *s = o->s;
        for (ptrdiff_t i = 0; i < size; i++) {
            const double *row = s->gram + (o->place[first] + i) * s->capacity + o->place[first];
            for (ptrdiff_t j = 0; j < i; j++) matrix[j * size + i] = row[j];
            matrix[i * size + i] = s->square[o->place[first] + i];
        }
        return;
    }
    if (t->dense) {
        double one = 1, zero = 0, *to = o->packed;
        for (ptrdiff_t e = first; e < first + size; e++, to += n) {
            const double *restrict value = t->columns[e].value, *restrict root = o->root;
            for (ptrdiff_t i = 0; i < n; i++) to[i] = t->unit[k] * root[i] * value[i];
        }
        int side = (int)size, rows = (int)n;
        blas.dsyrk("L", "T", &side, &rows, &one, o->packed, &rows, &zero, matrix, &side);
    } else {
        double *scaled = o->packed;
        for (ptrdiff_t i = 0; i < size; i++) {
            memset(scaled, 0, (size_t)n * sizeof *scaled);
            column_axpy_weighted(&t->columns[first + i], t->unit[k], o->h, scaled);
            for (ptrdiff_t j = 0; j <= i; j++)
                matrix[j * size + i] = t->unit[k] * column_dot(&t->columns[first + j], scaled);
        }
    }
    for (ptrdiff_t i = 0; t->free && i < size; i++)
        for (ptrdiff_t j = 0; j <= i; j++)
            matrix[j * size + i] -=
                dot(o->along + (first + i) * t->free, o->along + (first + j) * t->free, t->free);
}

/* The sum of squares of a column less its part along the unpenalised directions. Where that part is nearly all of it (a
   feature far from zero), the difference of the two squares would be rounding. */
static double square_beside(model *o, ptrdiff_t e)
{
    const task *t = o->t;
    double *left = o->packed, sum = 0;
    memset(left, 0, (size_t)t->n * sizeof *left);
    column_axpy(&t->columns[e], t->unit[t->owner[e]], left);
    for (ptrdiff_t f = 0; f < t->free; f++) axpy(-o->along[e * t->free + f], o->white + f * t->n, left, t->n);
    for (ptrdiff_t i = 0; i < t->n; i++) sum += o->h[i] * left[i] * left[i];
    return sum;
}

/* Find the curvature of a block: of each entry, and the largest. */
static void learn(model *o, ptrdiff_t k)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (!isnan(o->steepest[k])) return;
    double trace = 0, weakest = INFINITY, ridge = t->ridge[k];
    for (ptrdiff_t e = first; e < first + size; e++) {
        for (ptrdiff_t f = 0; f < t->free; f++)
            o->along[e * t->free + f] = t->unit[k] * column_dot(&t->columns[e], o->bent + f * t->n);
        double own = dot(o->along + e * t->free, o->along + e * t->free, t->free);
        int held = o->steady && !t->free && o->place[e] >= 0; /* the store knows */
        double square = held ? o->s->square[o->place[e]] : column_square(&t->columns[e], t->unit[k], o->h);
        double left = square - own, unseen = 1e-14 * (double)t->n * square;
        if (left < FAR * square) {
            left = square_beside(o, e);
            unseen *= 1e-14;
        }
        if (!(left > unseen)) left = 0; /* a column along them has no curvature that rounding leaves to see */
        o->diagonal[e] = left;
        weakest = fmin(weakest, left);
        trace += left;
    }
    double floor = o->least * o->largest * t->stiffness[k];
    o->ridge[k] = weakest + ridge < floor ? floor : ridge;
    if (o->ridge[k] > 0) o->ridged = 1;
    for (ptrdiff_t e = first; e < first + size; e++) o->diagonal[e] += o->ridge[k];
    o->steepest[k] = trace + o->ridge[k];
    if (o->corner[k] < 0) return;
    block_hessian(o, k, o->vectors + o->corner[k]);
    o->steepest[k] = fmin(o->steepest[k], decompose(o, k, o->vectors + o->corner[k]));
}

/* Give some entries a place in the Gram matrix; of a block that is not split, all of them, one after another. Returns -1
   if memory or time is up: then none of them has one. */
static int hold(model *o, const ptrdiff_t *entries, ptrdiff_t count)
{
    const task *t = o->t;
    store *s = o->s;
    ptrdiff_t missing = 0, fresh = 0;
    for (ptrdiff_t i = 0; i < count; i++) missing += o->place[entries[i]] < 0;
    if (!missing) return 0;
    if (store_reserve(s, s->count + missing)) return -1;
    for (ptrdiff_t i = 0; i < s->count; i++) learn(o, t->owner[o->entry[i]]);
    for (ptrdiff_t i = 0; i < count && !ended(t->beat); i++) {
        ptrdiff_t e = entries[i];
        if (o->place[e] >= 0) continue;
        learn(o, t->owner[e]);
        o->place[e] = s->count;
        o->entry[s->count] = e;
        s->id[s->count++] = t->id[e];
        fresh++;
    }
    int failed = fresh < missing || (t->dense ? border_dense(t, s, o->entry, o->h, o->along, o->white, fresh)
                                              : border_sparse(t, s, o->entry, o->h, o->along, fresh));
    if (failed) { /* what has no numbers has no place */
        while (fresh--) o->place[o->entry[--s->count]] = -1;
        return -1;
    }
    for (ptrdiff_t j = s->count - fresh; j < s->count; j++) {
        s->square[j] = s->gram[j * s->capacity + j];
        s->gram[j * s->capacity + j] += o->ridge[t->owner[o->entry[j]]];
    }
    return 0;
}

/* The same for all entries of some blocks. */
static int hold_blocks(model *o, const ptrdiff_t *blocks, ptrdiff_t count)
{
    const task *t = o->t;
    ptrdiff_t entries = 0;
    for (ptrdiff_t i = 0; i < count; i++)
        for (ptrdiff_t e = t->start[blocks[i]]; e < t->start[blocks[i] + 1]; e++) o->list[entries++] = e;
    return hold(o, o->list, entries);
}

#endif
