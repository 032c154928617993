/* The Cholesky factor of a part of the Gram matrix, which follows the face of x: places come and go. */
#ifndef ATOMSIEVE_FACTOR_H
#define ATOMSIEVE_FACTOR_H

#include "gram.h"

#define TOGETHER 512      /* entries that join a factor between two looks at the clock */
#define INDEPENDENT 1e-10 /* square of a pivot, as a part of the diagonal, below which columns count as dependent */
#define PROXIMAL 1e-8     /* proximal term that stands in for the curvature that dependent columns lack, at first */

/* Remove one row from the factor by rotations: columns after it are mixed in pairs. */
static void factor_remove(store *s, ptrdiff_t gone)
{
    ptrdiff_t k = s->ordered, c = s->capacity;
    for (ptrdiff_t j = 0; j < k; j++) {
        ptrdiff_t from = j > gone ? j : gone + 1; /* rows above the diagonal are not stored */
        double *row = s->lower + j * c + from;
        if (from < k) memmove(row - 1, row, (size_t)(k - from) * sizeof *row);
    }
    memmove(s->order + gone, s->order + gone + 1, (size_t)(k - gone - 1) * sizeof *s->order);
    for (ptrdiff_t j = gone; j < k - 1; j++) {
        double *restrict left = s->lower + j * c, *restrict right = s->lower + (j + 1) * c;
        double cosine = left[j], sine = right[j], length = hypot(cosine, sine);
        cosine /= length;
        sine /= length;
        for (ptrdiff_t i = j; i < k - 1; i++) {
            double l = left[i], r = right[i];
            left[i] = cosine * l + sine * r;
            right[i] = cosine * r - sine * l;
        }
    }
    s->ordered = k - 1;
}

/* Add places to the factor up to the first that depends on those before it; returns how many it takes. */
static ptrdiff_t factor_border(store *s, const ptrdiff_t *place, ptrdiff_t fresh)
{
    ptrdiff_t k = s->ordered, c = s->capacity;
    memcpy(s->order + k, place, (size_t)fresh * sizeof *place);
    for (ptrdiff_t j = 0; j < k + fresh; j++)
        for (ptrdiff_t i = j > k ? j : k; i < k + fresh; i++)
            s->lower[j * c + i] = s->gram[s->order[j] * c + s->order[i]];
    double one = 1, minus = -1, *corner = s->lower + k * c + k;
    int rows = (int)fresh, columns = (int)k, ld = (int)c, info = 0;
    if (k) {
        blas.dtrsm("R", "L", "T", "N", &rows, &columns, &one, s->lower, &ld, s->lower + k, &ld);
        blas.dsyrk("L", "N", &rows, &columns, &minus, s->lower + k, &ld, &one, corner, &ld);
    }
    blas.dpotrf("L", &rows, corner, &ld, &info);
    ptrdiff_t end = info ? k + info - 1 : k + fresh; /* the columns before a pivot that fails are in order */
    for (; s->ordered < end; s->ordered++) {
        double pivot = s->lower[s->ordered * (c + 1)], own = s->gram[s->order[s->ordered] * (c + 1)];
        if (!(pivot * pivot >= INDEPENDENT * own)) break;
    }
    return s->ordered - k;
}

/* Make the factor cover the given places, no more and no less. `mark` has a number for every place, all 0. Returns
   COVERED, or the first place found to depend on those before it: the factor then covers those, and not the rest. */
enum { COVERED = -1, LATE = -2 };
static ptrdiff_t factor_follow(store *s, const ptrdiff_t *place, ptrdiff_t wanted, char *mark, ptrdiff_t *fresh,
                               pulse *beat)
{
    for (ptrdiff_t i = 0; i < wanted; i++) mark[place[i]] = 1;
    double rotations = 0, k = (double)s->ordered;
    for (ptrdiff_t i = 0; i < s->ordered; i++)
        if (!mark[s->order[i]]) rotations += 3 * (k - (double)i) * (k - (double)i);
    if (rotations > k * k * k / 12) s->ordered = 0; /* afresh costs less */
    for (ptrdiff_t i = s->ordered - 1; i >= 0; i--)
        if (!mark[s->order[i]]) factor_remove(s, i);
    for (ptrdiff_t i = 0; i < s->ordered; i++) mark[s->order[i]] = 2;
    ptrdiff_t count = 0;
    for (ptrdiff_t i = 0; i < wanted; i++) {
        if (mark[place[i]] == 1) fresh[count++] = place[i];
        mark[place[i]] = 0;
    }
    for (ptrdiff_t first = 0; first < count; first += TOGETHER) {
        if (ended(beat)) return LATE;
        ptrdiff_t some = count - first < TOGETHER ? count - first : TOGETHER;
        ptrdiff_t taken = factor_border(s, fresh + first, some);
        if (taken < some) return fresh[first + taken];
    }
    return COVERED;
}

/* Cover a place that depends on others, by a proximal term that stands in for the curvature it lacks. */
static int factor_prop(store *s, ptrdiff_t place)
{
    double *own = s->gram + place * (s->capacity + 1), before = *own;
    for (double part = PROXIMAL; part <= 1; part *= 100) {
        *own = before * (1 + part);
        if (factor_border(s, &place, 1)) break;
    }
    *own = before;
    return s->ordered && s->order[s->ordered - 1] == place ? 0 : -1;
}

/* Solve with the factor, in its order. */
static void factor_solve(const store *s, double *v)
{
    int k = (int)s->ordered, ld = (int)s->capacity, one = 1;
    if (!k) return;
    blas.dtrsv("L", "N", "N", &k, s->lower, &ld, v, &one);
    blas.dtrsv("L", "T", "N", &k, s->lower, &ld, v, &one);
}

#endif
