/* How Python calls arithmetic with error bounds. Short calls: the interpreter waits for them. */
#ifndef ATOMSIEVE_ENCLOSED_CALLS_H
#define ATOMSIEVE_ENCLOSED_CALLS_H

#include "interpreter.h"

#include "enclosed.h"
#include "logistic.h"
#include "reading.h"
#include "sighted.h"

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

/* What may be lost of a sum in twice the precision, where the sum of its rounding errors is rounded itself. */
static double lost_of(double terms, double size)
{
    double part = relative_error(4 * terms + 64);
    return part * (1 + part) * size + 32 * terms * LEAST_DOUBLE;
}

/* Round sums in twice the precision: write enclosures into two rows, from totals, errors, sizes of errors, and what the
   terms are off by (None: exact). False if the arrays do not fit. */
static PyObject *rounded(PyObject *self, PyObject *args)
{
    PyObject *parts[4], *out;
    double terms;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOdO", parts, parts + 1, parts + 2, parts + 3, &terms, &out)) return NULL;
    arrays held = {.count = 0};
    const double *sum[4] = {NULL};
    Py_ssize_t count = 0, others = 0, room = 0;
    int fits = (sum[0] = doubles_of(&held, parts[0], &count, 0)) != NULL;
    for (int k = 1; k < 4 && fits; k++)
        if (k < 3 || parts[k] != Py_None) fits = (sum[k] = doubles_of(&held, parts[k], &others, 0)) && others == count;
    double *to = fits ? doubles_of(&held, out, &room, 1) : NULL;
    fits = to && room == 2 * count;
    for (Py_ssize_t i = 0; fits && i < count; i++) {
        double mid = sum[0][i] + sum[1][i], spread = sum[3] ? sum[3][i] : 0.0;
        to[i] = mid;
        to[count + i] = upward(spread + lost_of(terms, sum[2][i]) + EPSILON * fabs(mid));
    }
    release(&held);
    return PyBool_FromLong(fits);
}

/* The product of two vectors in twice the precision: its total, the sum of the errors, and what is lost of that. */
static PyObject *product(PyObject *self, PyObject *args)
{
    PyObject *first, *second, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
    arrays held = {.count = 0};
    const double *a = array_of(&held, first, "first", 'd', -1, 0), *b = NULL;
    Py_ssize_t count = a ? length_of(&held) : 0;
    if (a) b = array_of(&held, second, "second", 'd', count, 0);
    if (b) {
        precise s = exact_dot(&(column){a, NULL, count}, b);
        answer = Py_BuildValue("ddd", s.total, s.small, upward(lost_of((double)count, s.size)));
    }
    release(&held);
    return answer;
}

/* Take rows of a matrix, one after the other. */
static enclosures next_rows(double **rows, ptrdiff_t n)
{
    enclosures found = {*rows, *rows + n};
    *rows += 2 * n;
    return found;
}

/* See the samples at a point: write slopes into two rows, and into eight others predictions, theta, and what is needed on
   the way. Returns how far the best coefficient of the free column is away (-1: unknown) and the sum of the losses; None if
   the arrays do not fit. */
static PyObject *see(PyObject *self, PyObject *args)
{
    PyObject *y, *weights, *mid, *rad, *column, *blur, *slopes, *rest, *answer = NULL;
    sighted s = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "iOOOOOOdOO", &s.kind, &y, &weights, &mid, &rad, &column, &blur, &s.coefficient, &slopes,
                          &rest))
        return NULL;
    arrays held = {.count = 0};
    Py_ssize_t n = 0, signs = 0, others = 0, long_enough = 0, room = 0, more = 0;
    int fits = (s.kind == SQUARED || s.kind == LOGISTIC) && read_operand(&held, mid, rad, &s.image, &n);
    fits = fits && (s.y = doubles_of(&held, y, &signs, 0)) && (s.weight = doubles_of(&held, weights, &others, 0));
    fits = fits && signs == n && others == n;
    if (fits && column != Py_None) fits = read_operand(&held, column, blur, &s.column, &long_enough) && long_enough == n;
    double *to = fits ? doubles_of(&held, slopes, &room, 1) : NULL, *beside = to ? doubles_of(&held, rest, &more, 1) : NULL;
    if (beside && room == 2 * n && more == 8 * n) {
        double shift = -1;
        s.n = n;
        s.largest = s.kind == LOGISTIC ? 0.25 : 1.0;
        s.slope = next_rows(&to, n);
        s.u = next_rows(&beside, n);
        s.theta = next_rows(&beside, n);
        s.middle = next_rows(&beside, n);
        s.bend = next_rows(&beside, n);
        enclosed losses = see_samples(&s, &shift);
        answer = Py_BuildValue("ddd", shift, losses.mid, losses.rad);
    } else answer = Py_NewRef(Py_None);
    release(&held);
    return answer;
}

/* Write upper bounds of conjugates of a loss over slopes between two ends; False if the arrays do not fit. */
static PyObject *conjugates(PyObject *self, PyObject *args)
{
    PyObject *low, *high, *y, *out;
    int kind;
    (void)self;
    if (!PyArg_ParseTuple(args, "iOOOO", &kind, &low, &high, &y, &out)) return NULL;
    arrays held = {.count = 0};
    operand ends;
    Py_ssize_t n = 0, others = 0, room = 0;
    const double *targets = NULL;
    double *to = NULL;
    int fits = (kind == SQUARED || kind == LOGISTIC) && read_operand(&held, low, high, &ends, &n);
    fits = fits && (targets = doubles_of(&held, y, &others, 0)) && (to = doubles_of(&held, out, &room, 1));
    fits = fits && others == n && room == n;
    if (fits) bound_conjugates(kind, n, ends.mid, ends.rad, targets, to);
    release(&held);
    return PyBool_FromLong(fits);
}

/* Read slopes, labels, weights, and five rows to write; 0 if they do not fit. */
static int read_bending(arrays *held, PyObject *const *parts, bending *b)
{
    Py_ssize_t signs = 0, others = 0, room = 0;
    int fits = read_operand(held, parts[0], parts[1], &b->slope, &b->n) && (b->y = doubles_of(held, parts[2], &signs, 0));
    fits = fits && (b->weight = doubles_of(held, parts[3], &others, 0)) && signs == b->n && others == b->n;
    double *to = fits ? doubles_of(held, parts[4], &room, 1) : NULL;
    if (!to || room != 5 * b->n) return 0;
    b->least = to;
    b->most = to + b->n;
    b->low = to + 2 * b->n;
    b->high = to + 3 * b->n;
    b->before = to + 4 * b->n;
    return 1;
}

/* Write bounds of curvatures of the logistic loss between a point, the same scaled down, and the optimum into two rows,
   and more into three others; False if the arrays do not fit. */
static PyObject *reach(PyObject *self, PyObject *args)
{
    PyObject *parts[5];
    double scale, gap, settled;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOdddO", parts, parts + 1, parts + 2, parts + 3, &scale, &gap, &settled, parts + 4))
        return NULL;
    arrays held = {.count = 0};
    bending b = {0};
    int fits = read_bending(&held, parts, &b);
    if (fits) reach_curvatures(&b, scale, gap, settled);
    release(&held);
    return PyBool_FromLong(fits);
}

/* For slopes of a loss between a point and the same, scaled down: an upper bound of the sum of `weight slope^2 / curvature`,
   and the sum of weighted conjugates as a pair of floats. Five rows are written. None if the arrays do not fit. */
static PyObject *of_scaled(PyObject *args, int dual)
{
    PyObject *parts[5];
    double scale;
    bending b = {0};
    if (!PyArg_ParseTuple(args, "iOOOOdO", &b.kind, parts, parts + 1, parts + 2, parts + 3, &scale, parts + 4)) return NULL;
    arrays held = {.count = 0};
    PyObject *answer = NULL;
    if ((b.kind == SQUARED || b.kind == LOGISTIC) && read_bending(&held, parts, &b)) {
        enclosed sum = dual ? conjugates_below(&b, scale) : exactly(stiffness_below(&b, scale));
        answer = dual ? Py_BuildValue("dd", sum.mid, sum.rad) : PyFloat_FromDouble(sum.mid);
    } else answer = Py_NewRef(Py_None);
    release(&held);
    return answer;
}

static PyObject *stiffness(PyObject *self, PyObject *args)
{
    (void)self;
    return of_scaled(args, 0);
}

static PyObject *dual_sum(PyObject *self, PyObject *args)
{
    (void)self;
    return of_scaled(args, 1);
}

#endif
