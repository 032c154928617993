/* The samples: predictions, slopes of the losses, and the best unpenalised coefficients. */
#ifndef ATOMSIEVE_SAMPLES_H
#define ATOMSIEVE_SAMPLES_H

#include <stdlib.h>
#include <string.h>

#include "losses.h"
#include "task.h"

#define ENOUGH_ALONG 1e-14 /* part of its terms that the gradient along the unpenalised directions may be */
#define SETTLING 400 /* steps to the best unpenalised coefficients, at most; each may go ten times as far as it came */

typedef struct {
    loss_t loss;
    const double *y, *w, *offset; /* offset may be NULL */
    double *x;                    /* in units of the blocks */
    double *coordinates;
    double *image; /* A x; computed first if it begins with NaN */
    double *pulls; /* -A' theta; likewise */
    double target;
    double caution;
    double gap, mass, response; /* out */
    int rounds;                 /* out */
    int respond;                /* whether the response is wanted */
} request;

/* Numbers of the samples and of the entries at one x. */
typedef struct {
    double *u, *slope, *theta; /* predictions, slopes of the losses, and these weighted, less what B explains */
    double *z;                 /* -A' theta less the ridge times x, in units */
    double *h;                 /* curvatures, with weights */
    double *white, *bent;      /* n x free: B, orthonormal in the metric of h; the same times h */
    double *transform;         /* free x free: `white` in terms of B */
    double *direction, *turn;  /* where to go: of the predictions, and of the coordinates in B */
    double *trial, *room;      /* n numbers each */
} fields;

/* Put the unpenalised directions into an orthonormal basis in the metric of h; dependent ones are left out. */
static void whiten(const task *t, const double *h, double *white, double *bent, double *transform)
{
    ptrdiff_t k = t->free, n = t->n;
    for (ptrdiff_t f = 0; f < k; f++) {
        double *v = white + f * n, *r = transform + f * k, before = 0, after = 0;
        memcpy(v, t->basis + f * n, (size_t)n * sizeof *v);
        memset(r, 0, (size_t)k * sizeof *r);
        r[f] = 1;
        for (ptrdiff_t i = 0; i < n; i++) before += h[i] * v[i] * v[i];
        for (int twice = 0; twice < 2; twice++)
            for (ptrdiff_t g = 0; g < f; g++) {
                double part = dot(bent + g * n, v, n);
                axpy(-part, white + g * n, v, n);
                axpy(-part, transform + g * k, r, k);
            }
        for (ptrdiff_t i = 0; i < n; i++) after += h[i] * v[i] * v[i];
        double scale = after > 1e-13 * before ? 1 / sqrt(after) : 0;
        for (ptrdiff_t i = 0; i < n; i++) v[i] *= scale;
        for (ptrdiff_t g = 0; g < k; g++) r[g] *= scale;
        for (ptrdiff_t i = 0; i < n; i++) bent[f * n + i] = h[i] * v[i];
    }
}

/* The slope of the loss along a direction of the predictions. */
static double slope_along(const task *t, const request *q, const double *u, const double *direction, double length,
                          double *trial, double *slope)
{
    double sum = 0;
    for (ptrdiff_t i = 0; i < t->n; i++) trial[i] = u[i] + length * direction[i];
    loss_slopes(q->loss, t->n, trial, q->y, slope);
    for (ptrdiff_t i = 0; i < t->n; i++) sum += q->w[i] * slope[i] * direction[i];
    return sum;
}

/* A length in [0, 1] at which the slope of the objective is at most half of its first one; the slope rises. */
static double search(const task *t, const request *q, const double *u, const double *direction, double start,
                     double rate, double bend_, double *trial, double *slope)
{
    double low = 0, high = 1, at_low = start, at_high = 0, length = 1;
    for (int tries = 0; tries < 60; tries++) {
        double end = slope_along(t, q, u, direction, length, trial, slope) + rate + bend_ * length;
        if (end <= -start / 2 && (end >= start / 2 || length == 1)) return length;
        if (end < 0) {
            low = length;
            at_low = end;
        } else { /* NaN and infinity are too far as well */
            high = length;
            at_high = end;
        }
        double guess = isfinite(at_high) ? low - at_low / (at_high - at_low) * (high - low) : low;
        double margin = 0.1 * (high - low);
        length = guess > low + margin && guess < high - margin ? guess : (low + high) / 2;
    }
    return low;
}

/* The slope of the loss along an unpenalised direction; the absolute values of its terms are added to the noise. */
static double gradient_along(const task *t, const request *q, ptrdiff_t f, const double *restrict slope, double *noise)
{
    const double *restrict w = q->w, *restrict direction = t->basis + f * t->n;
    double sum = 0, moduli = 0;
#pragma omp simd reduction(+ : sum, moduli)
    for (ptrdiff_t i = 0; i < t->n; i++) {
        double term = w[i] * slope[i] * direction[i];
        sum += term;
        moduli += fabs(term);
    }
    *noise += moduli;
    return sum;
}

/* Go to the best unpenalised coefficients for the predictions u; slopes come with them. Returns whether `white` has
   changed on the way. */
static int settle(const task *t, const request *q, fields *v)
{
    ptrdiff_t n = t->n, k = t->free;
    loss_slopes(q->loss, n, v->u, q->y, v->slope);
    double caution = 0, last = INFINITY, stretch = 1;
    for (int tries = 0; k && tries < SETTLING && !t->beat->over; tries++) {
        double size = 0, noise = 0, along = 0, *change = v->turn;
        for (ptrdiff_t f = 0; f < k; f++) size += fabs(gradient_along(t, q, f, v->slope, &noise));
        if (!(size > ENOUGH_ALONG * noise)) return tries > 0;
        caution = size > last / 2 && caution == 0; /* beyond the kinks of a loss there is no curvature */
        last = size;
        loss_curvatures(q->loss, n, v->u, q->y, v->slope, q->w, caution, v->room);
        whiten(t, v->room, v->white, v->bent, v->transform);
        memset(v->direction, 0, (size_t)n * sizeof *v->direction);
        memset(change, 0, (size_t)k * sizeof *change);
        for (ptrdiff_t f = 0; f < k; f++) {
            double g = 0;
            for (ptrdiff_t i = 0; i < n; i++) g += q->w[i] * v->slope[i] * v->white[f * n + i];
            along += g * g;
            axpy(-g, v->white + f * n, v->direction, n);
            axpy(-g, v->transform + f * k, change, k);
        }
        if (!(along > 0)) {
            if (caution > 0) return 1;
            continue; /* with caution */
        }
        if (caution > 0) { /* cautious steps that were not long enough grow */
            for (ptrdiff_t i = 0; i < n; i++) v->direction[i] *= stretch;
            for (ptrdiff_t f = 0; f < k; f++) change[f] *= stretch;
            along *= stretch;
        }
        double farthest = 0, move = 0; /* where losses are nearly flat a step is nearly infinite, and digits are lost */
        for (ptrdiff_t i = 0; i < n; i++) {
            farthest = fmax(farthest, fabs(v->u[i]));
            move = fmax(move, fabs(v->direction[i]));
        }
        if (move > 10 * (1 + farthest)) {
            double shorter = 10 * (1 + farthest) / move;
            for (ptrdiff_t i = 0; i < n; i++) v->direction[i] *= shorter;
            for (ptrdiff_t f = 0; f < k; f++) change[f] *= shorter;
            along *= shorter;
        }
        double length = search(t, q, v->u, v->direction, -along, 0, 0, v->trial, v->slope);
        if (caution > 0) stretch = length == 1 ? 4 * stretch : 1;
        axpy(length, v->direction, v->u, n);
        axpy(length, change, q->coordinates, k);
        loss_slopes(q->loss, n, v->u, q->y, v->slope);
        if (length == 0 && caution > 0) return 1;
    }
    return k > 0;
}

/* How near the slopes of the losses are to being orthogonal to the unpenalised directions. */
typedef struct {
    double stray;       /* norm of their part along these directions */
    double size, noise; /* the gradient along them, and the sum that rounding is a part of */
} samples_view;

/* theta = w loss'(u) without its part along the unpenalised directions. */
static samples_view project(const task *t, const request *q, const double *slope, double *theta)
{
    samples_view seen = {0, 0, 0};
    double stray = 0;
    memcpy(theta, slope, (size_t)t->n * sizeof *theta);
    for (ptrdiff_t c = 0; c < t->free; c++) {
        double part = gradient_along(t, q, c, slope, &seen.noise);
        seen.size += fabs(part);
        axpy(-part, t->basis + c * t->n, theta, t->n);
    }
#pragma omp simd reduction(+ : stray)
    for (ptrdiff_t i = 0; i < t->n; i++) {
        double part = slope[i] - theta[i];
        stray += q->w[i] * part * part;
        theta[i] *= q->w[i];
    }
    seen.stray = sqrt(stray);
    return seen;
}

/* theta, and z: -A' theta, unless that is known, less the ridge times x. */
static void look(const task *t, const request *q, fields *v, int told)
{
    project(t, q, v->slope, v->theta);
    if (!told) columns_dot(t->columns, t->m, v->theta, v->z);
    for (ptrdiff_t e = 0; e < t->m; e++) {
        ptrdiff_t k = t->owner[e];
        v->z[e] = t->unit[k] * (told ? q->pulls[e] : -v->z[e]) - t->ridge[k] * q->x[e];
    }
}

/* A x, where x is in units. */
static void image_of(const task *t, const double *x, double *image)
{
    memset(image, 0, (size_t)t->n * sizeof *image);
    for (ptrdiff_t j = 0; j < t->m; j++)
        if (x[j] != 0) column_axpy(&t->columns[j], x[j] * t->unit[t->owner[j]], image);
}

/* The predictions at x and the unpenalised coefficients; their image is computed afresh if it is to be. */
static void predict(const task *t, const request *q, int afresh, double *u)
{
    if (afresh) image_of(t, q->x, q->image);
    for (ptrdiff_t i = 0; i < t->n; i++) u[i] = q->image[i] + (q->offset ? q->offset[i] : 0);
    for (ptrdiff_t c = 0; c < t->free; c++) axpy(q->coordinates[c], t->basis + c * t->n, u, t->n);
}

/* Squared losses: one step leads to the best unpenalised coefficients, as the basis is orthonormal in the metric of the
   weights; a second one for rounding. */
static void settle_squared(const task *t, const request *q, double *u, double *slope)
{
    for (int tries = 0; tries < 2; tries++) {
        double size = 0, noise = 0;
        predict(t, q, 0, u);
        loss_slopes(q->loss, t->n, u, q->y, slope);
        for (ptrdiff_t f = 0; f < t->free; f++) {
            double part = gradient_along(t, q, f, slope, &noise);
            size += fabs(part);
            q->coordinates[f] -= part;
        }
        if (!(size > ENOUGH_ALONG * noise)) return;
    }
}

/* What a look at a point needs of the samples: the best unpenalised coefficients, predictions, slopes, theta. */
static int view_samples(const task *t, const request *q, double *u, double *slope, double *theta, samples_view *seen)
{
    ptrdiff_t n = t->n, k = t->free;
    double *room = malloc((size_t)(3 * n + 2 * n * k + k * k + k + 1) * sizeof *room);
    if (!room) return -1;
    fields v = {.u = u, .slope = slope, .theta = theta, .room = room, .trial = room + n, .direction = room + 2 * n};
    v.white = room + 3 * n;
    v.bent = v.white + n * k;
    v.transform = v.bent + n * k;
    v.turn = v.transform + k * k;
    if (q->loss.kind == SQUARED && k) settle_squared(t, q, u, slope);
    predict(t, q, 0, u);
    if (settle(t, q, &v)) { /* afresh: a long way may have cost digits */
        predict(t, q, 0, u);
        loss_slopes(q->loss, n, u, q->y, slope);
    }
    *seen = project(t, q, slope, theta);
    free(room);
    return 0;
}

#endif
