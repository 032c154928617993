/* How Python asks for inverses with proven errors. */
#ifndef ATOMSIEVE_INVERSE_CALLS_H
#define ATOMSIEVE_INVERSE_CALLS_H

#include "interpreter.h"

#include <stdlib.h>

#include "enclosed.h"
#include "inverse.h"
#include "reading.h"

/* Whether the inverse is proven; the inverse and, in two rows, its errors and scales are written then. */
static int invert(inversion *v)
{
    size_t k = (size_t)v->k, width = k < PIECE ? k : PIECE;
    v->matrix = malloc((2 * k * k + k * width + 2 * k + 1) * sizeof *v->matrix);
    if (!v->matrix) {
        PyErr_NoMemory();
        return 0;
    }
    v->factor = v->matrix + k * k;
    v->strip = v->factor + k * k;
    v->sum = v->strip + k * width;
    v->residual = v->sum + k;
    v->beat->thread = PyEval_SaveThread();
    int proven = prove_inverse(v);
    PyEval_RestoreThread(v->beat->thread);
    free(v->matrix);
    return proven;
}

/* An upper bound of `v . inv(G) v` from an approximate inverse of a scaled matrix, with errors and scales. Sums are off by
   the part relative_error(2 k + 4) of those of sizes, and `wider` covers that and what is rounded around them. */
static double form_from_above(ptrdiff_t k, const double *inverse, const double *error, const double *scale, operand v)
{
    const double part = relative_error(2 * (double)k + 4), wider = 1 + 0x1p-40 + part;
    double middle = 0, rough = 0, sum = 0, off = 0, blur = 0;
    for (ptrdiff_t i = 0; i < k; i++) {
        const double *row = inverse + i * k;
        double along = 0, sizes = 0, own = v.mid[i] * scale[i], square = row[i] + error[i];
        for (ptrdiff_t j = 0; j < k; j++) {
            double other = v.mid[j] * scale[j];
            along += row[j] * other;
            sizes += fabs(row[j]) * fabs(other);
        }
        middle += own * along;
        rough += fabs(own) * sizes;
        sum += fabs(own);
        off += fabs(own) * error[i];
        square = upward((square > 0 ? square : square <= 0 ? 0.0 : square) * (1 + 0x1p-50)) * scale[i] * scale[i];
        blur += v.rad[i] * sqrt(square);
    }
    middle += sum * off * wider + part * rough;
    middle = upward((middle > 0 ? middle : middle <= 0 ? 0.0 : middle) * wider); /* NaN stays NaN */
    double length = upward((sqrt(middle) + blur) * wider);
    return upward(length * length);
}

static PyObject *form(PyObject *self, PyObject *args)
{
    PyObject *approximate, *errors, *scales, *mid, *rad, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOO", &approximate, &errors, &scales, &mid, &rad)) return NULL;
    arrays held = {.count = 0};
    const double *inverse, *error, *scale;
    operand v = {0};
    if (!(error = array_of(&held, errors, "error", 'd', -1, 0))) goto done;
    Py_ssize_t k = length_of(&held);
    if (!(scale = array_of(&held, scales, "scale", 'd', k, 0))) goto done;
    if (!(v.mid = array_of(&held, mid, "mid", 'd', k, 0)) || !(v.rad = array_of(&held, rad, "rad", 'd', k, 0))) goto done;
    if (!(inverse = array_of(&held, approximate, "approximate", 'd', k * k, 0))) goto done;
    answer = PyFloat_FromDouble(form_from_above(k, inverse, error, scale, v));
done:
    release(&held);
    return answer;
}

#endif
