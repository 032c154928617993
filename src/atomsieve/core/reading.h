/* What Python hands over: arrays, checked before they are used. */
#ifndef ATOMSIEVE_READING_H
#define ATOMSIEVE_READING_H

#include "interpreter.h"

#include <stdlib.h>
#include <string.h>

#include "samples.h"

/* The arrays of one call; all are released together. */
#define ARRAYS 32
typedef struct {
    Py_buffer held[ARRAYS];
    int count;
} arrays;

static void release(arrays *a)
{
    while (a->count) PyBuffer_Release(&a->held[--a->count]);
}

/* The memory of a contiguous array of numbers of the given kind and length (-1: any); NULL with an error set. */
static void *array_of(arrays *a, PyObject *object, const char *name, char kind, Py_ssize_t length, int writable)
{
    Py_buffer *view = &a->held[a->count];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags)) return NULL;
    a->count++;
    Py_ssize_t size = kind == 'd' || kind == 'l' ? 8 : kind == 'i' ? 4 : 1;
    const char *format = view->format ? view->format : "B";
    int right = view->itemsize == size;
    if (kind == 'd') right = right && !strcmp(format, "d");
    else if (kind == 'B') right = right && (!strcmp(format, "B") || !strcmp(format, "?"));
    else right = right && strlen(format) == 1 && strchr("ilq", format[0]);
    if (!right) {
        PyErr_Format(PyExc_TypeError, "%s: expected numbers of kind %c, got format %s.", name, kind, format);
        return NULL;
    }
    if (length >= 0 && view->len != length * size) {
        PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, got %zd.", name, length, view->len / size);
        return NULL;
    }
    return view->buf;
}

static Py_ssize_t length_of(const arrays *a) { return a->held[a->count - 1].len / a->held[a->count - 1].itemsize; }

static int are_ridges(const double *ridge, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (!(ridge[i] >= 0) || isinf(ridge[i])) {
            PyErr_SetString(PyExc_ValueError, "ridge: expected finite numbers that are not negative.");
            return 0;
        }
    return 1;
}

/* Blocks as they are handed over. */
typedef struct {
    PyObject *ends, *price, *each, *unit, *stiffness, *ridge, *negative, *limits;
} given_blocks;

/* Read the limits of single entries. 0 on success. */
static int read_limits(arrays *a, task *t, PyObject *limits)
{
    PyObject *lower, *upper;
    if (PyTuple_Size(limits) != 2 || !PyArg_ParseTuple(limits, "OO", &lower, &upper)) {
        PyErr_SetString(PyExc_TypeError, "limits: expected a pair or None.");
        return -1;
    }
    if (!t->single) {
        PyErr_SetString(PyExc_ValueError, "limits: expected blocks of one entry each.");
        return -1;
    }
    if (!(t->lower = array_of(a, lower, "lower", 'd', t->m, 0))) return -1;
    if (!(t->upper = array_of(a, upper, "upper", 'd', t->m, 0))) return -1;
    for (ptrdiff_t e = 0; e < t->m; e++)
        if (!(t->lower[e] <= t->upper[e]) || t->lower[e] == INFINITY || t->upper[e] == -INFINITY) {
            PyErr_SetString(PyExc_ValueError, "limits: expected lower <= upper, and a number between them.");
            return -1;
        }
    return 0;
}

/* Read the blocks of a task: where they end, prices, units, stiffness, ridges, signs. 0 on success. */
static int read_blocks(arrays *a, task *t, const given_blocks *g, ptrdiff_t **memory)
{
    const int64_t *end = array_of(a, g->ends, "ends", 'l', -1, 0);
    if (!end) return -1;
    t->blocks = length_of(a);
    t->price = array_of(a, g->price, "price", 'd', t->blocks, 0);
    if (!t->price) return -1;
    t->each = array_of(a, g->each, "each", 'd', t->blocks, 0);
    if (!t->each) return -1;
    t->unit = array_of(a, g->unit, "unit", 'd', t->blocks, 0);
    if (!t->unit) return -1;
    t->stiffness = array_of(a, g->stiffness, "stiffness", 'd', t->blocks, 0);
    if (!t->stiffness) return -1;
    t->ridge = array_of(a, g->ridge, "ridge", 'd', t->blocks, 0);
    if (!t->ridge || !are_ridges(t->ridge, t->blocks)) return -1;
    t->negative = array_of(a, g->negative, "negative", 'B', t->m, 0);
    if (!t->negative) return -1;
    ptrdiff_t *start = malloc((size_t)(t->blocks + 1 + t->m) * sizeof *start + (size_t)t->blocks);
    *memory = start;
    if (!start) {
        PyErr_NoMemory();
        return -1;
    }
    ptrdiff_t *owner = start + t->blocks + 1;
    unsigned char *split = (unsigned char *)(owner + t->m);
    start[0] = 0;
    t->single = 1;
    for (ptrdiff_t k = 0; k < t->blocks; k++) {
        if (end[k] <= start[k] || end[k] > t->m) {
            PyErr_SetString(PyExc_ValueError, "ends: blocks must follow one another and hold an entry each.");
            return -1;
        }
        double price = t->price[k], each = t->each[k];
        int priced = price > 0 && each >= 0 && !isinf(price) && !isinf(each);
        if (!priced || !(t->unit[k] > 0) || isinf(t->unit[k])) {
            PyErr_SetString(PyExc_ValueError, "price, unit: expected positive finite numbers.");
            return -1;
        }
        start[k + 1] = (ptrdiff_t)end[k];
        split[k] = each > 0;
        for (ptrdiff_t e = start[k]; e < start[k + 1]; e++) {
            owner[e] = k;
            split[k] |= end[k] - start[k] > 1 && !t->negative[e];
        }
        t->single &= start[k + 1] - start[k] == 1 && !split[k];
    }
    if (start[t->blocks] != t->m) {
        PyErr_SetString(PyExc_ValueError, "ends: the blocks must cover all entries.");
        return -1;
    }
    t->start = start;
    t->owner = owner;
    t->split = split;
    return g->limits == Py_None ? 0 : read_limits(a, t, g->limits);
}

/* Read the columns of a task; the rows of sparse columns must be rows of the data. */
static int read_columns(arrays *a, task *t, PyObject *values, PyObject *rows, PyObject *at_value, PyObject *at_row,
                        PyObject *counts, column **memory)
{
    const double *value = array_of(a, values, "values", 'd', -1, 0);
    if (!value) return -1;
    Py_ssize_t room = length_of(a), row_room = 0;
    const int32_t *row = NULL;
    const int64_t *first = array_of(a, at_value, "value_starts", 'l', -1, 0), *first_row = NULL;
    if (!first) return -1;
    t->m = length_of(a);
    const int64_t *count = array_of(a, counts, "counts", 'l', t->m, 0);
    if (!count) return -1;
    if (rows != Py_None) {
        row = array_of(a, rows, "rows", 'i', -1, 0);
        if (!row) return -1;
        row_room = length_of(a);
        first_row = array_of(a, at_row, "row_starts", 'l', t->m, 0);
        if (!first_row) return -1;
    }
    column *columns = malloc((size_t)(t->m + 1) * sizeof *columns);
    *memory = columns;
    if (!columns) {
        PyErr_NoMemory();
        return -1;
    }
    for (ptrdiff_t e = 0; e < t->m; e++) {
        int fits = first[e] >= 0 && count[e] >= 0 && first[e] <= room && count[e] <= room - first[e];
        if (row) fits = fits && first_row[e] >= 0 && first_row[e] <= row_room && count[e] <= row_room - first_row[e];
        else fits = fits && count[e] == t->n;
        for (int64_t i = 0; fits && row && i < count[e]; i++) {
            int32_t r = row[first_row[e] + i];
            fits = r >= 0 && r < t->n;
        }
        if (!fits) {
            PyErr_Format(PyExc_ValueError, "column %zd lies outside of the data.", e);
            return -1;
        }
        columns[e] = (column){value + first[e], row ? row + first_row[e] : NULL, (ptrdiff_t)count[e]};
    }
    t->columns = columns;
    t->dense = !row;
    return 0;
}

/* Read targets, weights, offset and basis, and the coordinates in the basis. */
static int read_samples(arrays *held, task *t, request *q, PyObject *y, PyObject *w, PyObject *offset, PyObject *basis,
                        PyObject *coordinates)
{
    if (!(q->y = array_of(held, y, "y", 'd', -1, 0))) return -1;
    t->n = length_of(held);
    if (!(q->w = array_of(held, w, "weights", 'd', t->n, 0))) return -1;
    if (offset != Py_None && !(q->offset = array_of(held, offset, "offset", 'd', t->n, 0))) return -1;
    if (!(q->coordinates = array_of(held, coordinates, "coordinates", 'd', -1, 1))) return -1;
    t->free = length_of(held);
    return (t->basis = array_of(held, basis, "basis", 'd', t->n * t->free, 0)) ? 0 : -1;
}

/* Read scores, and blocks whose numbers rise; NULL with an error set. */
static const double *read_scores(arrays *held, PyObject *scores, PyObject *blocks, Py_ssize_t *count,
                                 const int64_t **block, Py_ssize_t *inside)
{
    const double *values = array_of(held, scores, "scores", 'd', -1, 0);
    if (!values) return NULL;
    *count = length_of(held);
    if (!(*block = array_of(held, blocks, "blocks", 'l', -1, 0))) return NULL;
    *inside = length_of(held);
    for (Py_ssize_t k = 0; k < *inside; k++)
        if ((*block)[k] < 0 || (*block)[k] >= *count || (k && (*block)[k] <= (*block)[k - 1])) {
            PyErr_SetString(PyExc_ValueError, "blocks: expected rising places within the scores.");
            return NULL;
        }
    return values;
}

#endif
