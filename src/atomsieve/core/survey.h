/* A survey of a matrix for a proof: of every column its product with a vector, and its length, in one pass.

   A fingerprint of a dense matrix is made on the way, of what is in the fast memory already. Columns are taken less a
   centre each (dense ones only). Sums are made of runs of RUN terms, so that the rounding of a
   product is at most gamma(terms) times the lengths of column and vector, by Cauchy and Schwarz. */
#ifndef ATOMSIEVE_SURVEY_H
#define ATOMSIEVE_SURVEY_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "fingerprint.h"

#define RUN 256
#define HALF_UNIT 0x1p-53 /* relative error of one rounding */
#define LEAST_NORMAL 0x1p-1022 /* more than what underflows in a sum of 2^48 products; smaller numbers are slow to add */

/* What is asked: lines are columns, or rows if the matrix is stored by rows. */
typedef struct {
    const double *value, *v, *centre; /* no centres: NULL */
    const int32_t *place;             /* of the entries of a line; NULL for a dense matrix */
    const int64_t *start;             /* where sparse lines begin, and where the last one ends */
    ptrdiff_t n, d, step;             /* rows, columns, and from one dense line to the next */
    double size, blur;                /* lengths of v, and of how far it may be off */
    double *product, *radius, *length;
    const uint64_t *key; /* of a fingerprint, or NULL */
    uint64_t *print;
    ptrdiff_t printed; /* entries that it has seen: whole blocks */
} survey;

/* Go on with the fingerprint up to a number of entries; the last block need not be full. */
static void print_up_to(survey *s, ptrdiff_t entries, int last)
{
    if (!s->key) return;
    for (; s->printed + (last ? 1 : WORDS) <= entries; s->printed += WORDS, s->print += 2) {
        ptrdiff_t left = entries - s->printed;
        sums_of_block((const unsigned char *)(s->value + s->printed), left < WORDS ? left : WORDS, s->key, s->print);
    }
}

/* An upper bound of what was computed in a few operations on numbers that are not negative. */
static double raised(double bound) { return bound * (1 + 0x1p-48) + LEAST_NORMAL; }

/* A bound of the error of a sum of products, relative to the sum of their sizes. */
static double lost_in(double terms) { return terms < 0x1p30 ? terms * HALF_UNIT * (1 + 0x1p-20) : INFINITY; }

/* From the sum of squares of each column, and the number of terms in a row of its sums, which stands in for the radius:
   its length, and how far its product may be off. */
static void conclude(const survey *s)
{
    const double *restrict product = s->product;
    double *restrict lengths = s->length, *restrict radius = s->radius, size = s->size, blur = s->blur;
#pragma omp simd
    for (ptrdiff_t j = 0; j < s->d; j++) {
        double terms = radius[j], length = raised(sqrt(raised(lengths[j] * (1 + lost_in(terms + 8)))));
        double off = raised(length * raised(lost_in(terms + 4) * size + blur));
        lengths[j] = length;
        radius[j] = fabs(product[j]) < INFINITY ? off : INFINITY; /* NaN too */
    }
}

/* One dense column: its product with v, and its squares. */
static void survey_dense_column(const survey *s, ptrdiff_t j)
{
    const double *restrict a = s->value + j * s->step, *restrict v = s->v;
    double product = 0, squares = 0, centre = s->centre ? s->centre[j] : 0.0;
    for (ptrdiff_t start = 0; start < s->n; start += RUN) {
        ptrdiff_t stop = s->n - start < RUN ? s->n : start + RUN;
        double p = 0, q = 0;
#pragma omp simd reduction(+ : p, q)
        for (ptrdiff_t i = start; i < stop; i++) {
            double rest = a[i] - centre;
            p += rest * v[i];
            q += rest * rest;
        }
        product += p;
        squares += q;
    }
    s->product[j] = product;
    s->length[j] = squares;
}

/* Four dense columns of one run of terms, side by side: the ends of sums take as long as the sums of short columns. */
static void survey_short_columns(const survey *s, ptrdiff_t j)
{
    const double *restrict v = s->v, *restrict a = s->value + j * s->step, *restrict b = a + s->step;
    const double *restrict c = b + s->step, *restrict e = c + s->step;
    double zeros[4] = {0}, p0 = 0, p1 = 0, p2 = 0, p3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0;
    const double *centre = s->centre ? s->centre + j : zeros;
    double c0 = centre[0], c1 = centre[1], c2 = centre[2], c3 = centre[3];
#pragma omp simd reduction(+ : p0, p1, p2, p3, q0, q1, q2, q3)
    for (ptrdiff_t i = 0; i < s->n; i++) {
        double x0 = a[i] - c0, x1 = b[i] - c1, x2 = c[i] - c2, x3 = e[i] - c3;
        p0 += x0 * v[i];
        p1 += x1 * v[i];
        p2 += x2 * v[i];
        p3 += x3 * v[i];
        q0 += x0 * x0;
        q1 += x1 * x1;
        q2 += x2 * x2;
        q3 += x3 * x3;
    }
    double products[4] = {p0, p1, p2, p3}, squares[4] = {q0, q1, q2, q3};
    memcpy(s->product + j, products, sizeof products);
    memcpy(s->length + j, squares, sizeof squares);
}

/* The columns of a sparse matrix. 0 on success, -1 if an entry lies outside. */
static int survey_sparse_columns(const survey *s)
{
    const double *restrict value = s->value, *restrict v = s->v;
    const int32_t *restrict place = s->place;
    double *restrict products = s->product, *restrict lengths = s->length, *restrict radius = s->radius;
    uint32_t n = s->n < INT32_MAX ? (uint32_t)s->n : INT32_MAX;
    int64_t i = s->start[0];
    for (ptrdiff_t j = 0; j < s->d; j++) {
        int64_t end = s->start[j + 1];
        double product = 0, squares = 0, other = 0, more = 0;
        radius[j] = (double)(end - i);
        for (; i + 1 < end; i += 2) {
            uint32_t row = (uint32_t)place[i], next = (uint32_t)place[i + 1];
            if (row >= n || next >= n) return -1;
            product += value[i] * v[row];
            other += value[i + 1] * v[next];
            squares += value[i] * value[i];
            more += value[i + 1] * value[i + 1];
        }
        for (; i < end; i++) {
            uint32_t row = (uint32_t)place[i];
            if (row >= n) return -1;
            product += value[i] * v[row];
            squares += value[i] * value[i];
        }
        products[j] = product + other;
        lengths[j] = squares + more;
    }
    return 0;
}

/* Rows of a dense matrix, RUN at a time; `part` has room for two sums of each column. */
static void survey_dense_rows(survey *s, double *restrict part)
{
    double *restrict p = part, *restrict q = part + s->d;
    memset(s->product, 0, (size_t)s->d * sizeof *s->product);
    memset(s->length, 0, (size_t)s->d * sizeof *s->length);
    for (ptrdiff_t start = 0; start < s->n; start += RUN) {
        memset(part, 0, 2 * (size_t)s->d * sizeof *part);
        for (ptrdiff_t i = start; i < s->n && i < start + RUN; i++) {
            const double *restrict a = s->value + i * s->step, *restrict centre = s->centre;
            double v = s->v[i];
            if (centre)
#pragma omp simd
                for (ptrdiff_t j = 0; j < s->d; j++) {
                    double rest = a[j] - centre[j];
                    p[j] += rest * v;
                    q[j] += rest * rest;
                }
            else
#pragma omp simd
                for (ptrdiff_t j = 0; j < s->d; j++) {
                    p[j] += a[j] * v;
                    q[j] += a[j] * a[j];
                }
            print_up_to(s, (i + 1) * s->step, i + 1 == s->n);
        }
        for (ptrdiff_t j = 0; j < s->d; j++) {
            s->product[j] += p[j];
            s->length[j] += q[j];
        }
    }
}

/* Rows of a sparse matrix. 0 on success, -1 if an entry lies outside. */
static int survey_sparse_rows(const survey *s)
{
    memset(s->product, 0, (size_t)s->d * sizeof *s->product);
    memset(s->length, 0, (size_t)s->d * sizeof *s->length);
    memset(s->radius, 0, (size_t)s->d * sizeof *s->radius);
    for (ptrdiff_t i = 0; i < s->n; i++)
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
            uint32_t j = (uint32_t)s->place[k];
            if (j >= (uint64_t)s->d) return -1;
            s->product[j] += s->value[k] * s->v[i];
            s->length[j] += s->value[k] * s->value[k];
            s->radius[j] += 1;
        }
    return 0;
}

/* The columns of a dense matrix that is stored by columns. */
static void survey_dense_columns(survey *s)
{
    ptrdiff_t j = 0;
    for (; s->n <= RUN && j + 4 <= s->d; j += 4) {
        survey_short_columns(s, j);
        print_up_to(s, (j + 4) * s->step, j + 4 == s->d);
    }
    for (; j < s->d; j++) {
        survey_dense_column(s, j);
        print_up_to(s, (j + 1) * s->step, j + 1 == s->d);
    }
}

/* 0 on success, -1 if an entry lies outside of the matrix, -2 if there is no memory. */
static int survey_all(survey *s, int by_rows)
{
    int failed = 0;
    double terms = (double)(s->n < RUN ? s->n : RUN) + (double)(s->n / RUN) + 2, *part = NULL;
    if (by_rows && !s->place && !(part = malloc(2 * (size_t)(s->d + 1) * sizeof *part))) return -2;
    if (s->place) failed = by_rows ? survey_sparse_rows(s) : survey_sparse_columns(s);
    else if (by_rows) survey_dense_rows(s, part);
    else survey_dense_columns(s);
    for (ptrdiff_t j = 0; !s->place && j < s->d; j++) s->radius[j] = terms;
    if (!failed) conclude(s);
    free(part);
    return failed;
}

#endif
