/* What Python calls for trees. */
#ifndef ATOMSIEVE_TREE_CALLS_H
#define ATOMSIEVE_TREE_CALLS_H

#include "arena.h"
#include "reading.h"
#include "tree.h"

/* Whether every node hangs on one before it, or on none. */
static int is_tree(const int64_t *above, Py_ssize_t count)
{
    for (Py_ssize_t k = 0; k < count; k++)
        if (above[k] < -1 || above[k] >= k) {
            PyErr_SetString(PyExc_ValueError, "above: expected nodes that come before those that hang on them.");
            return 0;
        }
    return 1;
}

static PyObject *tree_sums(PyObject *self, PyObject *args)
{
    PyObject *tops, *rows, *answer = NULL;
    int upward;
    (void)self;
    if (!PyArg_ParseTuple(args, "OpO", &tops, &upward, &rows)) return NULL;
    arrays held = {.count = 0};
    double *row;
    const int64_t *above = array_of(&held, tops, "above", 'l', -1, 0);
    if (!above) goto done;
    Py_ssize_t count = length_of(&held);
    if (!is_tree(above, count) || !(row = array_of(&held, rows, "rows", 'd', -1, 1))) goto done;
    Py_ssize_t width = count ? length_of(&held) / count : 0;
    if (length_of(&held) != width * count) {
        PyErr_SetString(PyExc_ValueError, "rows: expected as many numbers for each node.");
        goto done;
    }
    along_tree(above, count, width, upward, row);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *enclosed_tree_sums(PyObject *self, PyObject *args)
{
    PyObject *tops, *out, *answer = NULL;
    int upward;
    (void)self;
    if (!PyArg_ParseTuple(args, "OpO", &tops, &upward, &out)) return NULL;
    arrays held = {.count = 0};
    double *found;
    const int64_t *above = array_of(&held, tops, "above", 'l', -1, 0);
    if (!above) goto done;
    Py_ssize_t count = length_of(&held);
    if (!is_tree(above, count) || !(found = array_of(&held, out, "found", 'd', 4 * count, 1))) goto done;
    enclosed_along_tree(above, count, upward, found);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *denoised_tree(PyObject *self, PyObject *args)
{
    PyObject *tops, *targets, *weights, *prices, *out, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOO", &tops, &targets, &weights, &prices, &out)) return NULL;
    arrays held = {.count = 0};
    arena memory = {.count = 0};
    tree t;
    heaps h = {.count = 0};
    double *x;
    if (!(t.above = array_of(&held, tops, "above", 'l', -1, 0))) goto done;
    Py_ssize_t n = t.count = length_of(&held);
    if (!is_tree(t.above, n) || n >= INT32_MAX / 2) goto done;
    if (!(t.y = array_of(&held, targets, "y", 'd', n, 0))) goto done;
    if (!(t.w = array_of(&held, weights, "weights", 'd', n, 0))) goto done;
    if (!(t.price = array_of(&held, prices, "prices", 'd', n, 0))) goto done;
    if (!(x = array_of(&held, out, "x", 'd', n, 1))) goto done;
    double *numbers = take_numbers(&memory, 8 * n);
    end *message = take(&memory, 2 * n, sizeof *message);
    for (int side = 0; side < 2; side++) {
        h.left[side] = take(&memory, 2 * n, sizeof(int32_t));
        h.right[side] = take(&memory, 2 * n, sizeof(int32_t));
        h.rank[side] = take(&memory, 2 * n, 1);
    }
    h.gone = take(&memory, 2 * n, 1);
    if (memory.failed) {
        PyErr_NoMemory();
        goto done;
    }
    h.place = numbers + 2 * n;
    h.slope = numbers + 4 * n;
    h.level = numbers + 6 * n;
    PyThreadState *thread = PyEval_SaveThread();
    denoise_tree(&t, &h, message, numbers, numbers + n, x);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    release_all(&memory);
    release(&held);
    if (!answer && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "above: expected fewer nodes.");
    return answer;
}

#endif
