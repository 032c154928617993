/* The Cholesky factor of a part of the Gram matrix, which follows the face of x: places come and go. */
#ifndef ATOMSIEVE_FACTOR_H
#define ATOMSIEVE_FACTOR_H

#include "gram.h"

#define TOGETHER 512      /* entries that join a factor between two looks at the clock */
#define FEW 64            /* the same where columns depend on others: what joins behind one of these is lost with it */
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

/* The factor of a matrix of places that join, in its lower triangle. Where a column depends on those before it, a
   proximal term stands in for the curvature that it lacks. Returns how many places it takes: all, if numbers are finite. */
static ptrdiff_t factor_propped(const store *s, const ptrdiff_t *place, ptrdiff_t fresh, double *corner)
{
    ptrdiff_t c = s->capacity;
    for (ptrdiff_t j = 0; j < fresh; j++) {
        double *restrict column = corner + j * c, own = s->gram[place[j] * (c + 1)], pivot = column[j];
        for (double part = PROXIMAL; !(pivot > 0 && pivot >= INDEPENDENT * own) && part <= 1; part *= 100)
            pivot = column[j] + part * own;
        if (!(pivot > 0 && pivot >= INDEPENDENT * own)) return j;
        column[j] = sqrt(pivot);
        for (ptrdiff_t i = j + 1; i < fresh; i++) column[i] /= column[j];
        for (ptrdiff_t l = j + 1; l < fresh; l++)
            for (ptrdiff_t i = l; i < fresh; i++) corner[l * c + i] -= column[l] * column[i];
    }
    return fresh;
}

/* Add places to the factor, all of them with props, or up to the first that depends on those before it; returns how many
   it takes. */
static ptrdiff_t factor_border(store *s, const ptrdiff_t *place, ptrdiff_t fresh, int props)
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
    if (props) {
        ptrdiff_t taken = factor_propped(s, place, fresh, corner);
        s->ordered += taken;
        return taken;
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
   COVERED, or the first place found to depend on those before it: the factor then covers those, and not the rest. Such
   places are propped, if they are not looked for. `together` of them join at a time. */
enum { COVERED = -1, LATE = -2 };
static ptrdiff_t factor_follow(store *s, const ptrdiff_t *place, ptrdiff_t wanted, char *mark, ptrdiff_t *fresh,
                               ptrdiff_t together, int props, pulse *beat)
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
    for (ptrdiff_t first = 0; first < count; first += together) {
        if (ended(beat)) return LATE;
        ptrdiff_t some = count - first < together ? count - first : together;
        ptrdiff_t taken = factor_border(s, fresh + first, some, props);
        if (taken < some) return fresh[first + taken];
    }
    return COVERED;
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
