/* Newton's step on a face by a Cholesky factor; columns that depend on others leave the face. */
#ifndef ATOMSIEVE_DIRECT_H
#define ATOMSIEVE_DIRECT_H

#include "face.h"

#define PIECE 256 /* columns that join a factor between two looks at the clock */

/* A column of the face depends on those that the factor covers: go along the direction that hardly changes the
   predictions, to the minimum or to the first zero or limit, and so lose a column. Returns whether one was lost. */
static int slide(model *o, face *f, ptrdiff_t dependent)
{
    const task *t = o->t;
    store *s = o->s;
    ptrdiff_t k = s->ordered, c = s->capacity, first_to_go = -1;
    double *v = o->work, *change = o->work + t->m, *image = o->work + 2 * t->m, pulled = 0, flat, length, growth, end = 0;
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
        double x = o->x[e], stop = 0, far; /* the first of 0 and the limit ahead */
        if (t->lower && direction[e] * x >= 0) stop = direction[e] > 0 ? t->upper[e] : t->lower[e];
        else if (t->lower) stop = x > 0 ? fmax(t->lower[e], 0) : fmin(t->upper[e], 0);
        far = direction[e] != 0 ? (stop - x) / direction[e] : -1;
        if (far > 0 && far <= length && isfinite(far)) {
            length = far;
            first_to_go = e;
            end = stop;
        }
    }
    if (first_to_go < 0) return 0;
    for (ptrdiff_t i = 0; i < f->size; i++) {
        ptrdiff_t e = f->entry[i];
        change[i] = e == first_to_go ? end - o->x[e] : length * direction[e];
    }
    double fall = face_fall(o, f, change, image, &growth);
    if (!(fall >= -1e-13 * (slope_of(t, o->mass) * o->mass))) return 0;
    face_accept(o, f, change, image, growth);
    o->x[first_to_go] = end;
    return 1;
}

/* Make the factor cover a face of single entries; the face may lose columns that depend on others. 0 on success. */
static int face_factor(model *o, face *f)
{
    const task *t = o->t;
    store *s = o->s;
    for (ptrdiff_t lost = 0; lost <= t->m && !ended(t->beat); lost++) {
        for (ptrdiff_t i = 0; i < f->size; i++) o->list[i] = o->place[f->entry[i]];
        ptrdiff_t few = lost ? FEW : TOGETHER;
        ptrdiff_t dependent = factor_follow(s, o->list, f->size, o->mark, o->spare, few, 0, t->beat);
        if (dependent < 0) return dependent == LATE ? -1 : 0;
        if (slide(o, f, dependent)) {
            face_of(o, f);
            face_residual(o, f);
            continue;
        }
        /* columns that are nearly dependent, at their minimum */
        return factor_follow(s, o->list, f->size, o->mark, o->spare, FEW, 1, t->beat) == COVERED ? 0 : -1;
    }
    return -1;
}

/* The Cholesky factor of a matrix in its place, some columns between two looks at the clock; 0 on success. */
static int factor_by_pieces(double *matrix, ptrdiff_t k, pulse *beat)
{
    double one = 1, minus = -1;
    int side = (int)k, info = 0;
    for (ptrdiff_t first = 0; first < k && !info; first += PIECE) {
        if (ended(beat)) return 1;
        int before = (int)first, width = (int)(k - first < PIECE ? k - first : PIECE), below = side - before - width;
        double *row = matrix + first, *corner = row + first * k;
        if (before) blas.dsyrk("L", "N", &width, &before, &minus, row, &side, &one, corner, &side);
        blas.dpotrf("L", &width, corner, &side, &info);
        if (info || !below) continue;
        if (before)
            blas.dgemm("N", "T", &below, &width, &before, &minus, row + width, &side, row, &side, &one, corner + width,
                       &side);
        blas.dtrsm("R", "L", "T", "N", &below, &width, &one, corner, &side, corner + width, &side);
    }
    return info;
}

/* Solve with the factor, for a vector over the entries of the face that it covers. */
static void face_solve(model *o, const face *f, const double *from, double *to)
{
    double *v = o->work, *by_place = o->work + 2 * o->t->m;
    for (ptrdiff_t i = 0; i < f->size; i++) by_place[o->place[f->entry[i]]] = from[i];
    for (ptrdiff_t i = 0; i < f->size; i++) v[i] = by_place[o->s->order[i]];
    factor_solve(o->s, v);
    for (ptrdiff_t i = 0; i < f->size; i++) by_place[o->s->order[i]] = v[i];
    for (ptrdiff_t i = 0; i < f->size; i++) to[i] = by_place[o->place[f->entry[i]]];
}

/* Solve on a face by a factor, for the residual and for the prices; 0 on success. */
static int face_direct(model *o, face *f, double slope)
{
    const task *t = o->t;
    store *s = o->s;
    if (hold(o, f->entry, f->size)) return -1;
    if (t->single) {
        if (face_factor(o, f)) return -1;
        face_solve(o, f, f->residual, f->change);
        face_solve(o, f, f->price, f->response);
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
        for (ptrdiff_t i = 0, at = 0; i < f->blocks; at = f->end[i++]) {
            ptrdiff_t b = f->block[i], size = f->end[i] - at;
            double norm = block_norm(t, o->x, b), factor = slope * t->price[b] / norm;
            for (ptrdiff_t p = at; size > 1 && p < f->end[i]; p++)
                for (ptrdiff_t q = p; q < f->end[i]; q++)
                    matrix[p * k + q] += factor * ((p == q) - f->x[p] / norm * (f->x[q] / norm));
        }
        info = factor_by_pieces(matrix, k, t->beat);
        if (ended(t->beat)) break;
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

/* Less what the curvature b of the penalty takes from a change, by the response of the mass. */
static void yield_to(const task *t, face *f)
{
    double mass = dot(f->price, f->change, f->size), response = dot(f->price, f->response, f->size);
    axpy(-t->b * mass / (1 + t->b * response), f->response, f->change, f->size);
}

#endif
