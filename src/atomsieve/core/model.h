/* One second-order model of the loss, plus the penalty: minimised by coordinate descent and Newton steps on faces.

   The model is `-z . d + d' H d / 2 + phi(mass(x + d))` with `phi(s) = a s + b s^2 / 2` and H = A' diag(h) A, less what
   the unpenalised directions explain, plus a ridge. Descent knows H either by the Gram matrix, and then updates z, or by
   the columns, and then updates the vector `e = theta + h (A d)` with z = -A' e. */
#ifndef ATOMSIEVE_MODEL_H
#define ATOMSIEVE_MODEL_H

#include "gram.h"

#define WIDE 64      /* entries up to which the largest curvature of a block is computed, and not bounded */
#define SWEEPS 2000  /* sweeps of one model; what is left is a matter for the next one */
#define LARGE 8000   /* entries up to which a face is solved by a factor (two matrices of 0.8 GB) */
#define TINY 5e-32   /* the square of the rounding unit: no step falls by less of the objective */
#define PIECE 256    /* entries that join a matrix between two looks at the clock */
#define FAST 4       /* how many multiplications of a matrix product take the time of one of a sweep */
#define CACHED 1e5   /* numbers that stay in the cache */
#define SERVES 3     /* how often a Gram matrix serves if the curvature never changes, more or less */

typedef struct {
    const task *t;
    store *s;
    double *x, *begin; /* coefficients now, and where the model was made */
    double mass;
    double value;          /* the loss where the model was made */
    double largest;        /* the largest loss'' there */
    const double *h;       /* curvature of each sample */
    double *root;          /* and its root */
    double *diagonal;      /* curvature of each entry, with its ridge; NaN where it is not yet known */
    double *steepest;      /* largest curvature of each block; NaN where it is not yet known */
    double *vectors;       /* eigenvectors of the Hessian of each block of several entries, by columns */
    double *values;        /* and its eigenvalues, one for each entry */
    const ptrdiff_t *corner; /* where the eigenvectors of a block begin; -1 for blocks that have none */
    double *packed;        /* room for the columns of one block */
    double *ridge;         /* of each block, where it has next to no curvature of its own */
    int steady;            /* whether the curvature is the same everywhere */
    double least;          /* part of the largest possible curvature that stands in for none */
    double *along;         /* m x free: products of an entry's column with `white` in the metric of h */
    double *white;         /* n x free: the unpenalised directions, orthonormal in the metric of h */
    double *bent;          /* the same times h */
    double *e;             /* theta + h (A d) */
    double *drawn;         /* free: what the unpenalised directions take back from e, in the basis `white` */
    ptrdiff_t *place;      /* of each entry in the Gram matrix, -1 for none */
    ptrdiff_t *entry;      /* of each place in the Gram matrix, -1 for none */
    double *z;             /* by places */
    int by_gram;
    int factored;          /* whether the last face was solved by a factor */
    double *work;          /* 8 m + n numbers */
    double *by_entry;      /* m numbers */
    char *mark;            /* zeros, by places */
    ptrdiff_t *list, *spare; /* m and 2 m places */
} model;

static double slope_of(const task *t, double mass) { return t->a + t->b * mass; }

static double block_norm(const task *t, const double *x, ptrdiff_t k)
{
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    return size == 1 ? fabs(x[first]) : sqrt(dot(x + first, x + first, size));
}

/* The score of a block: what its best atom pulls. */
static double block_score(const task *t, const double *z, ptrdiff_t k)
{
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (size == 1) return (t->negative[first] ? fabs(z[0]) : z[0]) / t->price[k];
    return sqrt(dot(z, z, size)) / t->price[k];
}

static double mass_of(const task *t, const double *x)
{
    double mass = 0;
    for (ptrdiff_t k = 0; k < t->blocks; k++) mass += t->price[k] * block_norm(t, x, k);
    return mass;
}

/* The model gap: complementary slackness, and the price of the best score above the slope. */
static double gap_of(const task *t, double mass, double top, double slack, double value)
{
    double slope = slope_of(t, mass);
    if (t->b > 0) {
        double over = top > t->a ? top - t->a : 0, away = mass - over / t->b;
        double apart = top > t->a ? t->b * away * away / 2 : mass * (t->a + t->b * mass / 2 - top);
        return slack + (top - slope) * mass + apart;
    }
    if (top <= t->a) return slack;
    double excess = (top - t->a) / top; /* the dual point must be scaled by 1 - excess */
    return slack + excess * (t->a * mass - slack) + excess * excess * value;
}

/* -A' e for one entry, with what the unpenalised directions take back and the ridge. */
static double pull(const model *o, ptrdiff_t e)
{
    const task *t = o->t;
    if (o->by_gram) return o->z[o->place[e]];
    ptrdiff_t k = t->owner[e];
    double z = -t->unit[k] * column_dot(&t->columns[e], o->e);
    for (ptrdiff_t f = 0; f < t->free; f++) z += o->along[e * t->free + f] * o->drawn[f];
    return z - o->ridge[k] * (o->x[e] - o->begin[e]);
}

/* Make a change of one entry known. */
static void push(model *o, ptrdiff_t e, double change)
{
    const task *t = o->t;
    if (o->by_gram) {
        axpy(-change, o->s->gram + o->place[e] * o->s->capacity, o->z, o->s->count);
        return;
    }
    column_axpy_weighted(&t->columns[e], change * t->unit[t->owner[e]], o->h, o->e);
    for (ptrdiff_t f = 0; f < t->free; f++) o->drawn[f] += change * o->along[e * t->free + f];
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

/* Find the curvature of a block: of each entry, and the largest. */
static void learn(model *o, ptrdiff_t k)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (!isnan(o->steepest[k])) return;
    double trace = 0, weakest = INFINITY;
    for (ptrdiff_t e = first; e < first + size; e++) {
        for (ptrdiff_t f = 0; f < t->free; f++)
            o->along[e * t->free + f] = t->unit[k] * column_dot(&t->columns[e], o->bent + f * t->n);
        double own = dot(o->along + e * t->free, o->along + e * t->free, t->free);
        int held = o->steady && !t->free && o->place[e] >= 0; /* the Gram matrix knows */
        double square = held ? o->s->gram[o->place[e] * (o->s->capacity + 1)] : column_square(&t->columns[e], t->unit[k], o->h);
        /* a column along the unpenalised directions has no curvature that rounding leaves to see */
        double left = square - own > 1e-14 * (double)t->n * square ? square - own : 0;
        o->diagonal[e] = left;
        weakest = fmin(weakest, left);
        trace += left;
    }
    double floor = o->least * o->largest * t->stiffness[k];
    o->ridge[k] = weakest < floor ? floor : 0;
    for (ptrdiff_t e = first; e < first + size; e++) o->diagonal[e] += o->ridge[k];
    o->steepest[k] = trace + o->ridge[k];
    if (o->corner[k] < 0) return;
    block_hessian(o, k, o->vectors + o->corner[k]);
    o->steepest[k] = fmin(o->steepest[k], decompose(o, k, o->vectors + o->corner[k]));
}

/* What a sweep saw: by how much the objective fell, the best score, and how far the blocks that carry weight were from
   complementary slackness, each when its turn came. */
typedef struct {
    double fall, top, slack;
} sweep_record;

/* The minimum over one block of several entries, all others fixed; returns its norm. In the basis of the eigenvectors
   of its Hessian it is q / (c + charge / rho) with the norm rho, which Newton's method finds. */
static double minimise_block(model *o, ptrdiff_t k, const double *z, double *aim, double charge, double *target)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    const double *vectors = o->vectors + o->corner[k], *value = o->values + first, *x = o->x + first;
    double extra = t->b * t->price[k] * t->price[k], length = 0, steepest = 0, rho = 0;
    for (ptrdiff_t j = 0; j < size; j++) { /* q = H x + z in the new basis */
        const double *v = vectors + j * size;
        aim[j] = value[j] * dot(v, x, size) + dot(v, z, size);
        length += aim[j] * aim[j];
        steepest = fmax(steepest, value[j] + extra);
    }
    length = sqrt(length);
    memset(target, 0, (size_t)size * sizeof *target);
    if (!(length > charge) || !(steepest > 0)) return 0;
    rho = (length - charge) / steepest; /* a lower bound */
    for (int tries = 0; tries < 50; tries++) {
        double sum = 0, rate = 0;
        for (ptrdiff_t j = 0; j < size; j++) {
            double c = value[j] + extra, below = c * rho + charge, w = aim[j] / below;
            sum += w * w;
            rate += w * w * c / below;
        }
        double change = (sqrt(sum) - 1) * sum / rate;
        rho += change;
        if (!(fabs(change) > 1e-15 * rho)) break;
    }
    if (!isfinite(rho) || !(rho > 0)) { /* there is nothing to hold the block back */
        memcpy(target, x, (size_t)size * sizeof *target);
        return block_norm(t, o->x, k);
    }
    double norm = 0;
    for (ptrdiff_t j = 0; j < size; j++)
        axpy(aim[j] / (value[j] + extra + charge / rho), vectors + j * size, target, size);
    for (ptrdiff_t i = 0; i < size; i++) norm += target[i] * target[i];
    return sqrt(norm);
}

/* Minimise the model over one block, all others fixed (over a bound of it, where the block has several entries). */
static void step(model *o, ptrdiff_t k, sweep_record *seen)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    double price = t->price[k], curvature = o->steepest[k];
    if (size == 1) {
        double x = o->x[first], z = pull(o, first), held = price * fabs(x), slope = slope_of(t, o->mass);
        double score = t->negative[first] ? fabs(z) / price : z / price;
        if (score > seen->top) seen->top = score;
        if (x != 0) seen->slack += fabs(slope * held - x * z);
        double aim = curvature * x + z, charge = price * slope_of(t, fmax(o->mass - held, 0));
        if (!(curvature > 0)) { /* an entry that changes nothing costs what it holds */
            double saved = charge + t->b * price * held / 2 - fabs(z);
            if (x == 0 || !(saved >= 0)) return;
            seen->fall += saved * fabs(x);
            aim = 0;
        }
        double whole = curvature + t->b * price * price, to = 0;
        if (aim > charge)
            to = (aim - charge) / whole;
        else if (t->negative[first] && -aim > charge)
            to = (aim + charge) / whole;
        double change = to - x;
        if (change == 0) return;
        o->x[first] = to;
        o->mass += price * (fabs(to) - fabs(x));
        push(o, first, change);
        seen->fall += whole * change * change / 2;
        return;
    }
    double *z = o->work, *aim = o->work + size, *target = aim + size, norm = block_norm(t, o->x, k), product = 0;
    double held = price * norm, slope = slope_of(t, o->mass), charge = price * slope_of(t, fmax(o->mass - held, 0)), to;
    for (ptrdiff_t i = 0; i < size; i++) z[i] = pull(o, first + i);
    double score = sqrt(dot(z, z, size)) / price;
    if (score > seen->top) seen->top = score;
    for (ptrdiff_t i = 0; i < size; i++) product += o->x[first + i] * z[i];
    if (norm > 0) seen->slack += fabs(slope * held - product);
    if (!(curvature > 0)) { /* a block that changes nothing costs what it holds */
        double saved = charge + t->b * price * held / 2 - score * price;
        if (norm == 0 || !(saved >= 0)) return;
        seen->fall += saved * norm;
        to = 0;
        memset(target, 0, (size_t)size * sizeof *target);
    } else if (norm == 0 && score * price <= charge)
        return;
    else if (o->corner[k] >= 0)
        to = minimise_block(o, k, z, aim, charge, target);
    else {
        for (ptrdiff_t i = 0; i < size; i++) aim[i] = curvature * o->x[first + i] + z[i];
        double length = sqrt(dot(aim, aim, size));
        to = length > charge ? (length - charge) / (curvature + t->b * price * price) : 0;
        for (ptrdiff_t i = 0; i < size; i++) target[i] = to > 0 ? aim[i] / length * to : 0;
    }
    double moved = 0;
    for (ptrdiff_t i = 0; i < size; i++) {
        double change = target[i] - o->x[first + i];
        if (change == 0) continue;
        o->x[first + i] = target[i];
        push(o, first + i, change);
        moved += change * change;
    }
    o->mass += price * (to - norm);
    seen->fall += fmax(curvature, 0) * moved / 2; /* at most */
}

/* Give the entries of some blocks a place in the Gram matrix, a piece at a time. Returns -1 if memory or time is up. */
static int hold(model *o, const ptrdiff_t *blocks, ptrdiff_t count)
{
    const task *t = o->t;
    store *s = o->s;
    ptrdiff_t missing = 0;
    for (ptrdiff_t i = 0; i < count; i++)
        if (o->place[t->start[blocks[i]]] < 0) missing += t->start[blocks[i] + 1] - t->start[blocks[i]];
    if (!missing) return 0;
    if (store_reserve(s, s->count + missing)) return -1;
    for (ptrdiff_t i = 0; i < s->count; i++) learn(o, t->owner[o->entry[i]]);
    for (ptrdiff_t i = 0; i < count;) {
        ptrdiff_t fresh = 0;
        if (ended(t->beat)) return -1;
        for (; i < count && fresh < PIECE; i++) {
            ptrdiff_t k = blocks[i];
            if (o->place[t->start[k]] >= 0) continue;
            learn(o, k);
            for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++, fresh++) {
                o->place[e] = s->count;
                o->entry[s->count] = e;
                s->id[s->count++] = t->id[e];
            }
        }
        int failed = fresh && (t->dense ? border_dense(t, s, o->entry, o->h, o->along, o->white, fresh)
                                        : border_sparse(t, s, o->entry, o->h, o->along, fresh));
        if (failed) { /* what has no numbers has no place */
            while (fresh--) o->place[o->entry[--s->count]] = -1;
            return -1;
        }
        for (ptrdiff_t j = s->count - fresh; j < s->count; j++)
            s->gram[j * s->capacity + j] += o->ridge[t->owner[o->entry[j]]];
    }
    return 0;
}

/* Memory that is released all at once. */
#define HELD 64
typedef struct {
    void *held[HELD];
    int count, failed;
} arena;

static void *take(arena *a, ptrdiff_t count, size_t size)
{
    void *memory = a->count < HELD ? malloc((size_t)(count > 0 ? count : 1) * size) : NULL;
    if (memory) a->held[a->count++] = memory;
    else a->failed = 1;
    return memory;
}

static double *take_numbers(arena *a, ptrdiff_t count) { return take(a, count, sizeof(double)); }

static ptrdiff_t *take_places(arena *a, ptrdiff_t count) { return take(a, count, sizeof(ptrdiff_t)); }

static void release_all(arena *a)
{
    while (a->count) free(a->held[--a->count]);
}

/* A face: the blocks that carry weight, their entries one after another, and vectors over these entries. */
typedef struct {
    ptrdiff_t blocks, size;
    ptrdiff_t *block;
    ptrdiff_t *entry;
    double *price;    /* the gradient of the mass */
    double *residual; /* z less what the penalty charges */
    double *change;
    double *response;
    double *was;      /* x before */
} face;

/* The curvature of the norm of block k times v, at the slope of the penalty; added to `to`. */
static void bend(const task *t, double slope, const double *x, ptrdiff_t k, const double *v, double *to)
{
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (size == 1) return;
    double norm = block_norm(t, x, k), along = dot(x + first, v, size) / norm / norm;
    double factor = slope * t->price[k] / norm;
    for (ptrdiff_t i = 0; i < size; i++) to[i] += factor * (v[i] - along * x[first + i]);
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
    for (ptrdiff_t i = 0, at = 0; i < f->blocks; i++) {
        ptrdiff_t k = f->block[i];
        bend(t, slope, o->x, k, v + at, to + at);
        at += t->start[k + 1] - t->start[k];
    }
}

/* An inverse of the Hessian on a face without what couples its blocks, times r. */
static void precondition(const model *o, const face *f, double slope, double b, const double *r, double *to)
{
    const task *t = o->t;
    for (ptrdiff_t i = 0, at = 0; i < f->blocks; i++) {
        ptrdiff_t k = f->block[i], first = t->start[k], size = t->start[k + 1] - first;
        double bent = size > 1 ? slope * t->price[k] / block_norm(t, o->x, k) : 0;
        if (size > 1 && o->corner[k] >= 0) {
            memset(to + at, 0, (size_t)size * sizeof *to);
            for (ptrdiff_t j = 0; j < size; j++) {
                const double *v = o->vectors + o->corner[k] + j * size;
                axpy(dot(v, r + at, size) / (o->values[first + j] + bent), v, to + at, size);
            }
        } else
            for (ptrdiff_t j = 0; j < size; j++) {
                double own = o->diagonal[first + j] + bent + b * f->price[at + j] * f->price[at + j];
                to[at + j] = own > 0 ? r[at + j] / own : r[at + j];
            }
        at += size;
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

static void face_of(model *o, face *f);
static double face_fall(model *o, const face *f, const double *change, double *image, double *growth);
static void face_accept(model *o, const face *f, const double *change, const double *image, double growth);

/* A column of the face depends on those that the factor covers: go along the direction that hardly changes the
   predictions, to the minimum or to the first zero, and so lose a column. Returns whether one was lost. */
static int slide(model *o, face *f, ptrdiff_t dependent)
{
    const task *t = o->t;
    store *s = o->s;
    ptrdiff_t k = s->ordered, c = s->capacity, first_to_go = -1;
    double *v = o->work, *change = o->work + t->m, *image = o->work + 2 * t->m, pulled = 0, flat, length, growth;
    for (ptrdiff_t i = 0; i < k; i++) v[i] = s->gram[dependent * c + s->order[i]];
    factor_solve(s, v);
    flat = s->gram[dependent * (c + 1)];
    for (ptrdiff_t i = 0; i < k; i++) flat -= v[i] * s->gram[dependent * c + s->order[i]];
    double *direction = o->by_entry;
    for (ptrdiff_t i = 0; i < f->size; i++) direction[f->entry[i]] = 0;
    for (ptrdiff_t i = 0; i < k; i++) direction[o->entry[s->order[i]]] = -v[i];
    direction[o->entry[dependent]] = 1;
    for (ptrdiff_t i = 0; i < f->size; i++) pulled += f->residual[i] * direction[f->entry[i]];
    if (pulled < 0)
        for (ptrdiff_t i = 0; i < f->size; i++) direction[f->entry[i]] *= -1;
    length = flat > 0 ? fabs(pulled) / flat : INFINITY;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t e = f->entry[i];
        double zero = direction[e] != 0 ? -o->x[e] / direction[e] : -1;
        if (zero > 0 && zero <= length) {
            length = zero;
            first_to_go = e;
        }
    }
    if (first_to_go < 0) return 0;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t e = f->entry[i];
        change[i] = e == first_to_go ? -o->x[e] : length * direction[e];
    }
    double fall = face_fall(o, f, change, image, &growth);
    if (!(fall >= -1e-13 * (slope_of(t, o->mass) * o->mass))) return 0;
    face_accept(o, f, change, image, growth);
    o->x[first_to_go] = 0;
    return 1;
}

/* Make the factor cover a face of single entries; the face may lose columns that depend on others. 0 on success. */
static int face_factor(model *o, face *f)
{
    const task *t = o->t;
    store *s = o->s;
    for (ptrdiff_t lost = 0; lost <= t->m && !ended(t->beat); lost++) {
        for (ptrdiff_t i = 0; i < f->size; i++) o->list[i] = o->place[f->entry[i]];
        ptrdiff_t dependent = factor_follow(s, o->list, f->size, o->mark, o->spare, t->beat);
        if (dependent < 0) return dependent == LATE ? -1 : 0;
        if (slide(o, f, dependent)) {
            face_of(o, f);
            continue;
        }
        do { /* columns that are nearly dependent, at their minimum */
            if (factor_prop(s, dependent)) return -1;
            dependent = factor_follow(s, o->list, f->size, o->mark, o->spare, t->beat);
        } while (dependent >= 0);
        return dependent == LATE ? -1 : 0;
    }
    return -1;
}

/* Solve on a face by a factor, for the residual and for the prices; 0 on success. */
static int face_direct(model *o, face *f, double slope)
{
    const task *t = o->t;
    store *s = o->s;
    if (hold(o, f->block, f->blocks)) return -1;
    if (t->single) {
        if (face_factor(o, f)) return -1;
        double *v = o->work; /* in the order of the factor, by way of vectors over the entries */
        for (int side = 0; side < 2; side++) {
            double *from = side ? f->price : f->residual, *to = side ? f->response : f->change;
            for (ptrdiff_t i = 0; i < f->size; i++) o->by_entry[f->entry[i]] = from[i];
            for (ptrdiff_t i = 0; i < f->size; i++) v[i] = o->by_entry[o->entry[s->order[i]]];
            factor_solve(s, v);
            for (ptrdiff_t i = 0; i < f->size; i++) o->by_entry[o->entry[s->order[i]]] = v[i];
            for (ptrdiff_t i = 0; i < f->size; i++) to[i] = o->by_entry[f->entry[i]];
        }
        return 0;
    }
    ptrdiff_t k = f->size;
    double *matrix = malloc((size_t)k * (size_t)k * sizeof *matrix);
    if (!matrix) return -1;
    double proximal = 0;
    int info = 1, side = (int)k, one = 1;
    for (int tries = 0; tries < 6 && info; tries++) {
        for (ptrdiff_t j = 0; j < k; j++) {
            const double *restrict from = s->gram + o->place[f->entry[j]] * s->capacity;
            for (ptrdiff_t i = j; i < k; i++) matrix[j * k + i] = from[o->place[f->entry[i]]];
            matrix[j * k + j] *= 1 + proximal;
        }
        for (ptrdiff_t i = 0, at = 0; i < f->blocks; i++) {
            ptrdiff_t b = f->block[i], first = t->start[b], size = t->start[b + 1] - first;
            double norm = block_norm(t, o->x, b), factor = slope * t->price[b] / norm;
            for (ptrdiff_t p = 0; size > 1 && p < size; p++)
                for (ptrdiff_t q = p; q < size; q++)
                    matrix[(at + p) * k + at + q] +=
                        factor * ((p == q) - o->x[first + p] / norm * (o->x[first + q] / norm));
            at += size;
        }
        blas.dpotrf("L", &side, matrix, &side, &info);
        for (ptrdiff_t i = 0; !info && i < k; i++) {
            double pivot = matrix[i * k + i], own = s->gram[o->place[f->entry[i]] * (s->capacity + 1)];
            if (!(pivot * pivot >= INDEPENDENT * own)) info = 1;
        }
        proximal = proximal > 0 ? 100 * proximal : PROXIMAL;
    }
    for (int which = 0; !info && which < 2; which++) {
        double *to = which ? f->response : f->change;
        memcpy(to, which ? f->price : f->residual, (size_t)k * sizeof *to);
        blas.dtrsv("L", "N", "N", &side, matrix, &side, to, &one);
        blas.dtrsv("L", "T", "N", &side, matrix, &side, to, &one);
    }
    free(matrix);
    return info ? -1 : 0;
}

/* Fill in the face of x. */
static void face_of(model *o, face *f)
{
    const task *t = o->t;
    double slope = slope_of(t, o->mass);
    f->blocks = f->size = 0;
    for (ptrdiff_t k = 0; k < t->blocks; k++) {
        double norm = block_norm(t, o->x, k);
        if (!(norm > 0)) continue;
        f->block[f->blocks++] = k;
        for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++) {
            f->price[f->size] = t->price[k] * (o->x[e] / norm);
            f->residual[f->size] = pull(o, e) - slope * f->price[f->size];
            f->entry[f->size++] = e;
        }
    }
}

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
    return f->size > LARGE || fmin(o->s->cg_steps, (double)f->size) * cg_cost(o, f) < direct_cost(o, f);
}

static double face_cost(const model *o, const face *f)
{
    return prefers_cg(o, f) ? fmin(o->s->cg_steps, (double)f->size) * cg_cost(o, f) : direct_cost(o, f);
}

/* What rounding of a Gram matrix may make of the curvature along a change; along dependent columns that is all. */
static double blurred(const model *o, const face *f, const double *change)
{
    double sum = 0;
    for (ptrdiff_t i = 0; i < f->size; i++)
        sum += fabs(change[i]) * sqrt(o->s->gram[o->place[f->entry[i]] * (o->s->capacity + 1)]);
    return 2.2e-16 * sum * sum;
}

/* How the objective changes from x to x + change on a face; the image h (A d) and the mass come with it. */
static double face_fall(model *o, const face *f, const double *change, double *image, double *growth)
{
    const task *t = o->t;
    double linear = 0, curved = 0, grown = 0;
    for (ptrdiff_t i = 0, at = 0; i < f->blocks; i++) {
        ptrdiff_t k = f->block[i], first = t->start[k], size = t->start[k + 1] - first;
        double before = block_norm(t, o->x, k), after = 0, product = 0;
        for (ptrdiff_t p = 0; p < size; p++) {
            double to = o->x[first + p] + change[at + p];
            after += to * to;
            product += change[at + p] * (to + o->x[first + p]);
        }
        after = sqrt(after);
        if (before + after > 0) grown += t->price[k] * (product / (before + after));
        at += size;
    }
    double slope = slope_of(t, o->mass);
    for (ptrdiff_t i = 0; i < f->size; i++) linear += change[i] * (f->residual[i] + slope * f->price[i]);
    if (o->by_gram) {
        store *s = o->s;
        memset(image, 0, (size_t)s->count * sizeof *image);
        for (ptrdiff_t i = 0; i < f->size; i++)
            if (change[i] != 0) axpy(change[i], s->gram + o->place[f->entry[i]] * s->capacity, image, s->count);
        for (ptrdiff_t i = 0; i < f->size; i++) curved += change[i] * image[o->place[f->entry[i]]];
        curved += blurred(o, f, change);
    } else {
        double *taken = o->drawn + t->free;
        memset(image, 0, (size_t)t->n * sizeof *image);
        memset(taken, 0, (size_t)t->free * sizeof *taken);
        for (ptrdiff_t i = 0; i < f->size; i++) {
            ptrdiff_t e = f->entry[i], k = t->owner[e];
            if (change[i] == 0) continue;
            column_axpy(&t->columns[e], change[i] * t->unit[k], image);
            axpy(change[i], o->along + e * t->free, taken, t->free);
            curved += o->ridge[k] * change[i] * change[i];
        }
        for (ptrdiff_t i = 0; i < t->n; i++) {
            curved += o->h[i] * image[i] * image[i];
            image[i] *= o->h[i];
        }
        curved -= dot(taken, taken, t->free);
    }
    *growth = grown;
    return linear - curved / 2 - grown * (slope + t->b * grown / 2);
}

static void face_accept(model *o, const face *f, const double *change, const double *image, double growth)
{
    const task *t = o->t;
    for (ptrdiff_t i = 0; i < f->size; i++) o->x[f->entry[i]] += change[i];
    o->mass += growth;
    if (o->by_gram) {
        axpy(-1, image, o->z, o->s->count);
    } else {
        axpy(1, image, o->e, t->n);
        axpy(1, o->drawn + t->free, o->drawn, t->free);
    }
}

/* How fast the mass of x falls as the slope of the penalty rises, on the face of x; 0 where that is not known. */
static double response_of(model *o, face *f)
{
    face_of(o, f);
    if (!f->size) return 0;
    double slope = slope_of(o->t, o->mass);
    if (prefers_cg(o, f))
        face_cg(o, f, slope, 0, f->price, f->response, 1e-6, cg_most(o, f), o->work);
    else if (face_direct(o, f, slope))
        return 0;
    return dot(f->price, f->response, f->size);
}

/* Make room for a model of a task, and for its faces; 0 on success. */
static int open_model(const task *t, store *s, arena *a, model *o, face *f)
{
    ptrdiff_t n = t->n, m = t->m, k = t->free, squares = 0, widest = 1;
    ptrdiff_t *corner = take_places(a, t->blocks);
    if (!corner) return -1;
    for (ptrdiff_t b = 0; b < t->blocks; b++) {
        ptrdiff_t size = t->start[b + 1] - t->start[b];
        corner[b] = size > 1 && size <= WIDE ? squares : -1;
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
    *f = (face){.block = take_places(a, t->blocks), .entry = take_places(a, m), .price = take_numbers(a, m),
                .residual = take_numbers(a, m), .change = take_numbers(a, m), .response = take_numbers(a, m),
                .was = take_numbers(a, m)};
    if (a->failed) return -1;
    memset(o->mark, 0, (size_t)m);
    memset(o->along, 0, (size_t)(m * k) * sizeof *o->along);
    for (ptrdiff_t b = 0; b < t->blocks; b++) {
        o->steepest[b] = NAN;
        o->ridge[b] = 0;
    }
    return 0;
}

enum { FAILED, CUT, WHOLE };

/* H d on a face of single entries, by the Gram matrix; `image` has a number for each place. */
static void gram_product(const model *o, const face *f, const double *d, double *image)
{
    const store *s = o->s;
    memset(image, 0, (size_t)s->count * sizeof *image);
    for (ptrdiff_t i = 0; i < f->size; i++)
        if (d[i] != 0) axpy(d[i], s->gram + o->place[f->entry[i]] * s->capacity, image, s->count);
}

/* Newton steps on faces of single entries, each smaller than the one before, until no entry changes its sign on the way.
   Where descent is slow it would take long to bring the right face about. What the columns have to know of it they are
   told once, at the end. */
static int polish_by_factor(model *o, face *f)
{
    const task *t = o->t;
    store *s = o->s;
    if (hold(o, f->block, f->blocks) || face_factor(o, f)) return FAILED;
    ptrdiff_t before = f->size, *entries = o->spare + t->m;
    double *pulled = o->by_entry, *was = f->was, *image = o->work + 2 * t->m, *change = o->work + t->m, *v = o->work;
    double slope = slope_of(t, o->mass);
    int found = FAILED;
    memcpy(entries, f->entry, (size_t)before * sizeof *entries);
    for (ptrdiff_t i = 0; i < before; i++) {
        was[i] = o->x[f->entry[i]];
        pulled[f->entry[i]] = f->residual[i] + slope * f->price[i];
    }
    while (f->size && !ended(t->beat)) {
        ptrdiff_t k = f->size, crossing = 0;
        double mass = 0, response = 0, first = 1, *by_place = image;
        slope = slope_of(t, o->mass);
        for (ptrdiff_t i = 0; i < k; i++) f->residual[i] = pulled[f->entry[i]] - slope * f->price[i];
        for (int side = t->b > 0; side >= 0; side--) { /* the second side is for the curvature of the penalty */
            double *from = side ? f->price : f->residual, *to = side ? f->response : f->change;
            for (ptrdiff_t i = 0; i < k; i++) by_place[o->place[f->entry[i]]] = from[i];
            for (ptrdiff_t i = 0; i < k; i++) v[i] = by_place[s->order[i]];
            factor_solve(s, v);
            for (ptrdiff_t i = 0; i < k; i++) by_place[s->order[i]] = v[i];
            for (ptrdiff_t i = 0; i < k; i++) to[i] = by_place[o->place[f->entry[i]]];
        }
        if (t->b > 0) {
            mass = dot(f->price, f->change, k);
            response = dot(f->price, f->response, k);
            axpy(-t->b * mass / (1 + t->b * response), f->response, f->change, k);
        }
        for (ptrdiff_t i = 0; i < k; i++) {
            double x = o->x[f->entry[i]], to = x + f->change[i];
            int crosses = x > 0 ? to <= 0 : to >= 0;
            crossing += crosses;
            if (crosses && x / -f->change[i] < first) first = x / -f->change[i];
        }
        double fall = 0, growth = 0;
        /* entries that would change their sign stop at zero; if that is too much for the objective, a shorter step */
        for (double length = 1; length >= first; length = length > 4 * first ? length / 4 : length > first ? first : 0) {
            double linear = 0, curved = 0;
            growth = 0;
            for (ptrdiff_t i = 0; i < k; i++) {
                double x = o->x[f->entry[i]], to = x + length * f->change[i];
                int gone = to == 0 || (to > 0) != (x > 0) || fabs(to) <= 1e-15 * fabs(x);
                change[i] = gone ? -x : length * f->change[i];
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
            o->x[e] = change[i] == -o->x[e] ? 0 : o->x[e] + change[i];
            pulled[e] -= image[o->place[e]];
            if (o->x[e] == 0) continue;
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

/* A Newton step on the face of x, with the entries that would change their sign put to zero, or up to the first. */
static int polish(model *o, face *f, double tolerance)
{
    const task *t = o->t;
    face_of(o, f);
    if (!f->size) return FAILED;
    double slope = slope_of(t, o->mass);
    o->factored = !prefers_cg(o, f);
    if (o->factored && t->single) return polish_by_factor(o, f);
    if (!o->factored) {
        double most = f->size > LARGE ? cg_most(o, f) : fmin(cg_most(o, f), 2 * fmax(o->s->cg_steps, 5));
        o->s->cg_steps = face_cg(o, f, slope, t->b, f->residual, f->change, tolerance, most, o->work);
    } else {
        if (face_direct(o, f, slope)) return FAILED;
        double mass = dot(f->price, f->change, f->size), pulled = dot(f->price, f->response, f->size);
        if (t->b > 0) axpy(-t->b * mass / (1 + t->b * pulled), f->response, f->change, f->size);
    }
    ptrdiff_t k = f->size;
    double *image = o->work + 2 * k; /* n or count numbers */
    double *change = o->work, first = 1, growth;
    ptrdiff_t crossing = 0;
    for (ptrdiff_t i = 0; i < k; i++) {
        ptrdiff_t e = f->entry[i], owner = t->owner[e];
        double x = o->x[e], to = x + f->change[i];
        int crosses = t->start[owner + 1] - t->start[owner] == 1 && (x > 0 ? to <= 0 : to >= 0);
        change[i] = crosses ? -x : f->change[i];
        crossing += crosses;
        if (crosses && x / -f->change[i] < first) first = x / -f->change[i];
    }
    double fall = face_fall(o, f, change, image, &growth);
    if (fall > 0 && !isinf(fall)) {
        face_accept(o, f, change, image, growth);
        return crossing ? CUT : WHOLE;
    }
    for (int tries = 0; tries < 40; tries++, first /= 2) {
        for (ptrdiff_t i = 0; i < k; i++) {
            ptrdiff_t e = f->entry[i], owner = t->owner[e];
            double to = o->x[e] + first * f->change[i];
            int single = t->start[owner + 1] - t->start[owner] == 1;
            int gone = single && (to == 0 || (to > 0) != (o->x[e] > 0) || fabs(to) <= 1e-15 * fabs(o->x[e]));
            change[i] = gone ? -o->x[e] : first * f->change[i];
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

/* Step over some blocks, and estimate the gap that is left: exactly where z is known, else from what was seen. */
static double sweep(model *o, const ptrdiff_t *blocks, ptrdiff_t count, double *fall)
{
    const task *t = o->t;
    sweep_record seen = {0, 0, 0};
    o->mass = mass_of(t, o->x);
    for (ptrdiff_t i = 0; i < count; i++) step(o, blocks[i], &seen);
    *fall = seen.fall;
    if (!o->by_gram) return gap_of(t, o->mass, fmax(seen.top, slope_of(t, o->mass)), seen.slack, o->value);
    double top = 0, slack = 0, slope = slope_of(t, o->mass);
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = blocks[i], first = t->start[k], size = t->start[k + 1] - first;
        const double *z = o->z + o->place[first];
        double norm = block_norm(t, o->x, k), score = block_score(t, z, k);
        if (score > top) top = score;
        if (norm > 0) slack += slope * t->price[k] * norm - dot(o->x + first, z, size);
    }
    return gap_of(t, o->mass, top, slack, o->value);
}

/* Minimise the model over some blocks to a gap. Blocks outside must carry no weight. */
static int minimise(model *o, const ptrdiff_t *blocks, ptrdiff_t count, double enough, double goal, face *f)
{
    const task *t = o->t;
    ptrdiff_t *active = o->spare + 2 * t->m, sweeps = 0;
    double before = INFINITY;
    int wait = 0, patience = 2;
    while (sweeps < SWEEPS) {
        double fall, gap = sweep(o, blocks, count, &fall);
        sweeps++;
        double trifle = TINY * (o->value + slope_of(t, o->mass) * o->mass);
        if (gap <= enough || !(fall > trifle) || isinf(fall) || ended(t->beat)) return 0;
        ptrdiff_t held = 0;
        double work = 0, target = fmax(gap / 10, enough);
        for (ptrdiff_t i = 0; i < count; i++) {
            ptrdiff_t k = blocks[i];
            if (!(block_norm(t, o->x, k) > 0)) continue;
            active[held++] = k;
            for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++)
                work += 20 + (o->by_gram ? (double)o->s->count : 4 * (double)t->columns[e].count);
        }
        if (!held) {
            before = gap;
            continue;
        }
        for (before = INFINITY; sweeps < SWEEPS;) {
            double left = sweep(o, active, held, &fall);
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
    return 0;
}

#endif
