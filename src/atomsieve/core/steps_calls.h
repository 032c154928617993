/* What Python calls for signals. */
#ifndef ATOMSIEVE_STEPS_CALLS_H
#define ATOMSIEVE_STEPS_CALLS_H

#include "bends.h"
#include "reading.h"
#include "steps.h"

static PyObject *running_sums(PyObject *self, PyObject *args)
{
    PyObject *values, *radii, *out, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO", &values, &radii, &out)) return NULL;
    arrays held = {.count = 0};
    const double *rad;
    double *found;
    const double *value = array_of(&held, values, "values", 'd', -1, 0);
    if (!value) goto done;
    Py_ssize_t count = length_of(&held);
    if (!(rad = array_of(&held, radii, "radii", 'd', count, 0))) goto done;
    if (!(found = array_of(&held, out, "found", 'd', 4 * count, 1))) goto done;
    running(value, rad, count, found);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *moved_along(PyObject *args, void (*sums)(const double *, ptrdiff_t, ptrdiff_t, double *))
{
    PyObject *values, *out, *answer = NULL;
    Py_ssize_t root;
    if (!PyArg_ParseTuple(args, "OnO", &values, &root, &out)) return NULL;
    arrays held = {.count = 0};
    double *found;
    const double *value = array_of(&held, values, "values", 'd', -1, 0);
    if (!value) goto done;
    Py_ssize_t count = length_of(&held);
    if (root < 0 || root >= count) {
        PyErr_SetString(PyExc_ValueError, "root: expected one of the places.");
        goto done;
    }
    if (!(found = array_of(&held, out, "found", 'd', count, 1))) goto done;
    sums(value, count, root, found);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *levels(PyObject *self, PyObject *args)
{
    (void)self;
    return moved_along(args, levels_of);
}

static PyObject *moved(PyObject *self, PyObject *args)
{
    (void)self;
    return moved_along(args, moved_by);
}

/* Whether rows follow one another within the entries, and the places of each rise below `width`. */
static int are_rows(const weighted_rows *a, Py_ssize_t entries, Py_ssize_t width)
{
    int right = a->start[0] >= 0;
    for (ptrdiff_t i = 0; right && i < a->rows; i++) {
        right = a->start[i] <= a->start[i + 1] && a->start[i + 1] <= entries;
        for (int64_t k = a->start[i]; right && k < a->start[i + 1]; k++)
            right = a->place[k] >= 0 && a->place[k] < width && (k == a->start[i] || a->place[k - 1] < a->place[k]);
    }
    if (!right) PyErr_SetString(PyExc_ValueError, "places: expected rows of rising places within the width.");
    return right;
}

static PyObject *squares_of_sums(PyObject *self, PyObject *args)
{
    PyObject *values, *places, *starts, *weights, *out, *answer = NULL;
    int upward;
    double unit;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOpdO", &values, &places, &starts, &weights, &upward, &unit, &out)) return NULL;
    arrays held = {.count = 0};
    weighted_rows a = {0};
    double *found;
    if (!(a.value = array_of(&held, values, "values", 'd', -1, 0))) goto done;
    Py_ssize_t entries = length_of(&held);
    if (!(a.place = array_of(&held, places, "places", 'i', entries, 0))) goto done;
    if (!(a.weight = array_of(&held, weights, "weights", 'd', -1, 0))) goto done;
    a.rows = length_of(&held);
    if (!(a.start = array_of(&held, starts, "starts", 'l', a.rows + 1, 0))) goto done;
    if (!(found = array_of(&held, out, "found", 'd', -1, 1))) goto done;
    Py_ssize_t width = length_of(&held) / 2;
    if (!are_rows(&a, entries, width)) goto done;
    summed_squares(&a, upward, unit, found, found + width);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *denoised(PyObject *self, PyObject *args)
{
    PyObject *targets, *weights, *prices, *out, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOO", &targets, &weights, &prices, &out)) return NULL;
    arrays held = {.count = 0};
    double *x, *memory = NULL;
    const double *w, *price, *y = array_of(&held, targets, "y", 'd', -1, 0);
    if (!y) goto done;
    Py_ssize_t n = length_of(&held);
    if (!n) {
        PyErr_SetString(PyExc_ValueError, "y: expected at least one number.");
        goto done;
    }
    if (!(w = array_of(&held, weights, "weights", 'd', n, 0))) goto done;
    if (!(price = array_of(&held, prices, "prices", 'd', n - 1, 0))) goto done;
    if (!(x = array_of(&held, out, "x", 'd', n, 1))) goto done;
    if (!(memory = malloc((size_t)n * 8 * sizeof *memory))) {
        PyErr_NoMemory();
        goto done;
    }
    PyThreadState *thread = PyEval_SaveThread();
    denoise(y, w, price, n, x, memory);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    free(memory);
    release(&held);
    return answer;
}

static PyObject *jumps(PyObject *self, PyObject *args)
{
    PyObject *targets, *weights, *prices, *levels_, *out, *answer = NULL;
    Py_ssize_t root;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOnOO", &targets, &weights, &prices, &root, &levels_, &out)) return NULL;
    arrays held = {.count = 0};
    double *x, *jump;
    const double *w, *price, *y = array_of(&held, targets, "y", 'd', -1, 0);
    if (!y) goto done;
    Py_ssize_t n = length_of(&held);
    if (root < 0 || root >= n) {
        PyErr_SetString(PyExc_ValueError, "root: expected one of the places.");
        goto done;
    }
    if (!(w = array_of(&held, weights, "weights", 'd', n, 0))) goto done;
    if (!(price = array_of(&held, prices, "prices", 'd', n - 1, 0))) goto done;
    if (!(x = array_of(&held, levels_, "levels", 'd', n, 1))) goto done;
    if (!(jump = array_of(&held, out, "jumps", 'd', n, 1))) goto done;
    sharpen(y, w, price, n, x);
    jumps_between(x, n, root, jump);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *bent(PyObject *self, PyObject *args)
{
    PyObject *targets, *weights, *prices, *marks, *out, *answer = NULL;
    Py_ssize_t quick, careful;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO(nn)OO", &targets, &weights, &prices, &quick, &careful, &marks, &out)) return NULL;
    arrays held = {.count = 0};
    bent_lines b = {0};
    double *mark, *bend, *memory = NULL;
    if (!(b.y = array_of(&held, targets, "y", 'd', -1, 0))) goto done;
    b.n = length_of(&held);
    if (b.n < 3) {
        PyErr_SetString(PyExc_ValueError, "y: expected at least three numbers.");
        goto done;
    }
    if (!(b.w = array_of(&held, weights, "weights", 'd', b.n, 0))) goto done;
    if (!(b.price = array_of(&held, prices, "prices", 'd', b.n - 2, 0))) goto done;
    if (!(mark = array_of(&held, marks, "signs", 'd', b.n, 1))) goto done;
    if (!(bend = array_of(&held, out, "bends", 'd', b.n, 1))) goto done;
    if (!(memory = malloc((size_t)b.n * (6 * sizeof *memory + sizeof *b.knot)))) {
        PyErr_NoMemory();
        goto done;
    }
    b.pull = memory;
    b.value = memory + b.n;
    b.own = memory + 2 * b.n;
    b.next = memory + 3 * b.n;
    b.dual = memory + 4 * b.n;
    b.knot = (int64_t *)(memory + 6 * b.n);
    b.turn = memory + 5 * b.n;
    PyThreadState *thread = PyEval_SaveThread();
    int ended = bend_lines(&b, mark, bend, quick, careful);
    sharpen_bends(&b, bend);
    PyEval_RestoreThread(thread);
    answer = PyBool_FromLong(ended);
done:
    free(memory);
    release(&held);
    return answer;
}

#endif
