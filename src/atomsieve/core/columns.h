/* Columns of the design: dense, or sparse with the rows of their entries. Nothing is copied. */
#ifndef ATOMSIEVE_COLUMNS_H
#define ATOMSIEVE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const double *value;
    const int32_t *row; /* NULL for a dense column, which has an entry in every row */
    ptrdiff_t count;
} column;

static double dot(const double *restrict a, const double *restrict b, ptrdiff_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void axpy(double factor, const double *restrict a, double *restrict v, ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) v[i] += factor * a[i];
}

/* The product of a column with a vector. */
static double column_dot(const column *a, const double *restrict v)
{
    if (!a->row) return dot(a->value, v, a->count);
    const double *restrict value = a->value;
    const int32_t *restrict row = a->row;
    double even = 0, odd = 0;
    ptrdiff_t i = 0;
    for (; i + 1 < a->count; i += 2) {
        even += value[i] * v[row[i]];
        odd += value[i + 1] * v[row[i + 1]];
    }
    if (i < a->count) even += value[i] * v[row[i]];
    return even + odd;
}

/* The products of some columns with a vector. Four dense ones are passed over together: the vector is fetched once for
   them, and their sums do not wait for each other. */
static void columns_dot(const column *a, ptrdiff_t count, const double *restrict v, double *to)
{
    ptrdiff_t j = 0;
    for (; j + 3 < count && !a->row; j += 4) {
        const double *restrict p = a[j].value, *restrict q = a[j + 1].value, *restrict r = a[j + 2].value;
        const double *restrict s = a[j + 3].value;
        double first = 0, second = 0, third = 0, fourth = 0;
#pragma omp simd reduction(+ : first, second, third, fourth)
        for (ptrdiff_t i = 0; i < a->count; i++) {
            first += p[i] * v[i];
            second += q[i] * v[i];
            third += r[i] * v[i];
            fourth += s[i] * v[i];
        }
        to[j] = first;
        to[j + 1] = second;
        to[j + 2] = third;
        to[j + 3] = fourth;
    }
    for (; j < count; j++) to[j] = column_dot(a + j, v);
}

/* v += factor * column */
static void column_axpy(const column *a, double factor, double *restrict v)
{
    if (!a->row) {
        axpy(factor, a->value, v, a->count);
        return;
    }
    for (ptrdiff_t i = 0; i < a->count; i++) v[a->row[i]] += factor * a->value[i];
}

/* v += factor * h * column, entry by entry */
static void column_axpy_weighted(const column *a, double factor, const double *restrict h, double *restrict v)
{
    const double *restrict value = a->value;
    if (!a->row) {
#pragma omp simd
        for (ptrdiff_t i = 0; i < a->count; i++) v[i] += factor * h[i] * value[i];
        return;
    }
    for (ptrdiff_t i = 0; i < a->count; i++) v[a->row[i]] += factor * h[a->row[i]] * value[i];
}

/* v += h * (the sum of factor * column over some columns), entry by entry; four dense ones together */
static void columns_axpy_weighted(const column *a, ptrdiff_t count, const double *factor, const double *restrict h,
                                  double *restrict v)
{
    ptrdiff_t j = 0;
    for (; j + 3 < count && !a->row; j += 4) {
        const double *restrict p = a[j].value, *restrict q = a[j + 1].value, *restrict r = a[j + 2].value;
        const double *restrict s = a[j + 3].value;
        double first = factor[j], second = factor[j + 1], third = factor[j + 2], fourth = factor[j + 3];
#pragma omp simd
        for (ptrdiff_t i = 0; i < a->count; i++)
            v[i] += h[i] * (first * p[i] + second * q[i] + third * r[i] + fourth * s[i]);
    }
    for (; j < count; j++)
        if (factor[j] != 0) column_axpy_weighted(a + j, factor[j], h, v);
}

/* The sum of h * (scale * column)^2. */
static double column_square(const column *a, double scale, const double *restrict h)
{
    const double *restrict value = a->value;
    double sum = 0;
    if (!a->row) {
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t i = 0; i < a->count; i++) sum += h[i] * (scale * value[i]) * (scale * value[i]);
        return sum;
    }
    for (ptrdiff_t i = 0; i < a->count; i++) sum += h[a->row[i]] * (scale * value[i]) * (scale * value[i]);
    return sum;
}

/* Ask for the first two dozen entries of a sparse column before they are needed: no processor guesses where they lie. */
static void column_fetch(const column *a)
{
#ifdef __GNUC__
    if (!a->row) return;
    for (int i = 0; i < 24 && i < a->count; i += 8) __builtin_prefetch(a->value + i);
    for (int i = 0; i < 24 && i < a->count; i += 16) __builtin_prefetch(a->row + i);
#else
    (void)a;
#endif
}

#endif
