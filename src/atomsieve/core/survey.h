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

/* From the sum of squares of a column of so many terms in a row: its length, and how far its product may be off. */
static void conclude(const survey *s, ptrdiff_t j, double squares, double terms)
{
    double length = raised(sqrt(raised(squares * (1 + lost_in(terms + 8)))));
    s->length[j] = length;
    s->radius[j] = raised(length * raised(lost_in(terms + 4) * s->size + s->blur));
    if (!isfinite(s->product[j])) s->radius[j] = INFINITY;
}

static void survey_dense_column(const survey *s, ptrdiff_t j, double terms)
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
    conclude(s, j, squares, terms);
}

/* 0 on success, -1 if an entry lies outside. */
static int survey_sparse_column(const survey *s, ptrdiff_t j)
{
    double product[2] = {0, 0}, squares[2] = {0, 0};
    for (int64_t i = s->start[j]; i < s->start[j + 1]; i++) {
        uint32_t row = (uint32_t)s->place[i];
        if (row >= (uint64_t)s->n) return -1;
        product[i & 1] += s->value[i] * s->v[row];
        squares[i & 1] += s->value[i] * s->value[i];
    }
    s->product[j] = product[0] + product[1];
    conclude(s, j, squares[0] + squares[1], (double)(s->start[j + 1] - s->start[j]));
    return 0;
}

/* Rows of a dense matrix, RUN at a time; `part` has room for two sums of each column. */
static void survey_dense_rows(survey *s, double terms, double *restrict part)
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
    for (ptrdiff_t j = 0; j < s->d; j++) conclude(s, j, s->length[j], terms);
}

/* Rows of a sparse matrix. 0 on success, -1 if an entry lies outside. The radius holds the number of terms first. */
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
    for (ptrdiff_t j = 0; j < s->d; j++) conclude(s, j, s->length[j], s->radius[j]);
    return 0;
}

/* 0 on success, -1 if an entry lies outside of the matrix, -2 if there is no memory. */
static int survey_all(survey *s, int by_rows)
{
    double terms = (double)(s->n < RUN ? s->n : RUN) + (double)(s->n / RUN) + 2;
    int failed = 0;
    if (by_rows && s->place) return survey_sparse_rows(s);
    if (by_rows) {
        double *part = malloc(2 * (size_t)(s->d + 1) * sizeof *part);
        if (!part) return -2;
        survey_dense_rows(s, terms, part);
        free(part);
        return 0;
    }
    for (ptrdiff_t j = 0; j < s->d && !failed; j++)
        if (s->place) failed = survey_sparse_column(s, j);
        else {
            survey_dense_column(s, j, terms);
            print_up_to(s, (j + 1) * s->step, j + 1 == s->d);
        }
    return failed;
}

#endif
