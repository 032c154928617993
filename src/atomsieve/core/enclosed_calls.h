/* How Python calls arithmetic with error bounds. Short calls: the interpreter waits for them. */
#ifndef ATOMSIEVE_ENCLOSED_CALLS_H
#define ATOMSIEVE_ENCLOSED_CALLS_H

#include "interpreter.h"

#include "enclosed.h"
#include "logistic.h"
#include "reading.h"

/* The memory of a contiguous array of doubles and its length; NULL without an error if it is none. */
static double *doubles_of(arrays *a, PyObject *object, Py_ssize_t *length, int writable)
{
    Py_buffer *view = &a->held[a->count];
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0))) {
        PyErr_Clear();
        return NULL;
    }
    a->count++;
    if (view->itemsize != 8 || !view->format || strcmp(view->format, "d")) return NULL;
    *length = view->len / 8;
    return view->buf;
}

/* Read enclosures; 0 if they are no doubles in a row, or if middles and radii are not as many. */
static int read_operand(arrays *a, PyObject *mid, PyObject *rad, operand *to, Py_ssize_t *length)
{
    Py_ssize_t radii;
    to->mid = doubles_of(a, mid, length, 0);
    if (!to->mid) return 0;
    to->rad = doubles_of(a, rad, &radii, 0);
    to->step = *length > 1;
    return to->rad && radii == *length;
}

/* Read an enclosure of one number; 0 with an error at the first that is none, and the next is not looked at then. */
static int read_enclosed(PyObject *mid, PyObject *rad, enclosed *to)
{
    to->mid = PyFloat_AsDouble(mid);
    if (to->mid == -1.0 && PyErr_Occurred()) return 0;
    to->rad = PyFloat_AsDouble(rad);
    return !(to->rad == -1.0 && PyErr_Occurred());
}

/* Combine enclosures: floats into a pair of floats, arrays into two rows of `out`. False if they do not fit. */
static PyObject *combine(PyObject *self, PyObject *args)
{
    PyObject *mid, *rad, *other_mid, *other_rad, *out;
    int what;
    (void)self;
    if (!PyArg_ParseTuple(args, "iOOOOO", &what, &mid, &rad, &other_mid, &other_rad, &out)) return NULL;
    if (what < 0 || what >= OPERATIONS) {
        PyErr_SetString(PyExc_ValueError, "there is no such operation.");
        return NULL;
    }
    if (out == Py_None) {
        enclosed a, b;
        if (!read_enclosed(mid, rad, &a) || !read_enclosed(other_mid, other_rad, &b)) return NULL;
        enclosed c = combined((operation)what, a, b);
        return Py_BuildValue("dd", c.mid, c.rad);
    }
    arrays held = {.count = 0};
    operand a, b;
    Py_ssize_t first, second, count = 0;
    double *to = NULL;
    int fits = read_operand(&held, mid, rad, &a, &first) && read_operand(&held, other_mid, other_rad, &b, &second);
    if (fits) to = doubles_of(&held, out, &count, 1);
    count /= 2;
    fits = fits && to && (first == count || first == 1) && (second == count || second == 1);
    if (fits) combine_all((operation)what, a, b, count, to, to + count);
    release(&held);
    return PyBool_FromLong(fits);
}

/* Write bounds of enclosures: of floats a float is returned, of arrays True, or False if they do not fit. */
static PyObject *ends(PyObject *self, PyObject *args)
{
    PyObject *mid, *rad, *out;
    int which;
    (void)self;
    if (!PyArg_ParseTuple(args, "iOOO", &which, &mid, &rad, &out)) return NULL;
    if (which < 0 || which >= BOUNDS) {
        PyErr_SetString(PyExc_ValueError, "there is no such bound.");
        return NULL;
    }
    if (out == Py_None) {
        enclosed a;
        return !read_enclosed(mid, rad, &a) ? NULL : PyFloat_FromDouble(bound_of((bound)which, a));
    }
    arrays held = {.count = 0};
    operand a;
    Py_ssize_t count, room = -1;
    double *to = NULL;
    int fits = read_operand(&held, mid, rad, &a, &count);
    if (fits) to = doubles_of(&held, out, &room, 1);
    fits = to && room == count;
    if (fits) bound_all((bound)which, a.mid, a.rad, count, to);
    release(&held);
    return PyBool_FromLong(fits);
}

/* Write bounds of absolute values from below and above into two rows of `out`; False if they do not fit. */
static PyObject *sizes(PyObject *self, PyObject *args)
{
    PyObject *mid, *rad, *out;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO", &mid, &rad, &out)) return NULL;
    arrays held = {.count = 0};
    operand a;
    Py_ssize_t count, room = -1;
    double *to = NULL;
    int fits = read_operand(&held, mid, rad, &a, &count);
    if (fits) to = doubles_of(&held, out, &room, 1);
    fits = to && room == 2 * count;
    if (fits) bound_sizes(a.mid, a.rad, count, to, to + count);
    release(&held);
    return PyBool_FromLong(fits);
}

/* Write the enclosures of the numbers from `low` to `high` into two rows of `out`; False if they do not fit. */
static PyObject *hulls(PyObject *self, PyObject *args)
{
    PyObject *low, *high, *out;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO", &low, &high, &out)) return NULL;
    arrays held = {.count = 0};
    operand a;
    Py_ssize_t count, room = -1;
    double *to = NULL;
    int fits = read_operand(&held, low, high, &a, &count);
    if (fits) to = doubles_of(&held, out, &room, 1);
    fits = to && room == 2 * count;
    if (fits)
        for (Py_ssize_t i = 0; i < count; i++) {
            enclosed found = hull_of(a.mid[i], a.rad[i]);
            to[i] = found.mid;
            to[count + i] = found.rad;
        }
    release(&held);
    return PyBool_FromLong(fits);
}

/* The sum of enclosures as a pair of floats; None if they do not fit. */
static PyObject *total(PyObject *self, PyObject *args)
{
    PyObject *mid, *rad, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &mid, &rad)) return NULL;
    arrays held = {.count = 0};
    operand a;
    Py_ssize_t count;
    if (read_operand(&held, mid, rad, &a, &count)) {
        enclosed sum = enclosed_total(a.mid, a.rad, count);
        answer = Py_BuildValue("dd", sum.mid, sum.rad);
    } else answer = Py_NewRef(Py_None);
    release(&held);
    return answer;
}

/* Write slopes, curvatures or values of the logistic loss into two rows of `out`, or bounds of its curvature: numbered
   from 0. The curvatures of predictions need radii, and no labels. False if they do not fit. */
static PyObject *logistic(PyObject *self, PyObject *args)
{
    PyObject *first, *second, *labels, *out;
    int what;
    (void)self;
    if (!PyArg_ParseTuple(args, "iOOOO", &what, &first, &second, &labels, &out)) return NULL;
    arrays held = {.count = 0};
    Py_ssize_t n = 0, others = 0, signs = 0, room = -1;
    const double *a = doubles_of(&held, first, &n, 0), *b = a ? doubles_of(&held, second, &others, 0) : NULL;
    const double *y = b ? doubles_of(&held, labels, &signs, 0) : NULL;
    double *to = y ? doubles_of(&held, out, &room, 1) : NULL;
    int fits = to && others == n && signs == n && room == 2 * n && what >= 0 && what < 4;
    if (fits && what == 0) logistic_slopes(n, a, y, to, to + n);
    else if (fits && what == 1) logistic_curvatures(n, a, b, to, to + n);
    else if (fits && what == 2) logistic_values(n, a, y, to, to + n);
    else if (fits) logistic_bends(n, a, b, y, to, to + n);
    release(&held);
    return PyBool_FromLong(fits);
}

#endif
