/* Entries of a matrix L R' that is given by its factors: the product of a row of each. */
#ifndef ATOMSIEVE_FACTORS_H
#define ATOMSIEVE_FACTORS_H

#include "columns.h"
#include "reading.h"

/* Two tables with `width` numbers in each row, one row after the other. */
typedef struct {
    const double *left, *right;
    ptrdiff_t width;
} factors;

static void entries_at(factors f, const int32_t *row, const int32_t *column, ptrdiff_t count, double *out)
{
    for (ptrdiff_t e = 0; e < count; e++)
        out[e] = dot(f.left + (ptrdiff_t)row[e] * f.width, f.right + (ptrdiff_t)column[e] * f.width, f.width);
}

/* Whether all places lie within a table of so many rows. */
static int are_within(const int32_t *place, Py_ssize_t count, Py_ssize_t rows, const char *name)
{
    int right = 1;
    for (Py_ssize_t e = 0; e < count; e++) right &= place[e] >= 0 && place[e] < rows;
    if (!right) PyErr_Format(PyExc_ValueError, "%s: expected places within the table.", name);
    return right;
}

static PyObject *factored_entries(PyObject *self, PyObject *args)
{
    PyObject *left, *right, *rows, *columns, *out, *answer = NULL;
    Py_ssize_t width;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOnOOO", &left, &right, &width, &rows, &columns, &out)) return NULL;
    if (width < 1) {
        PyErr_SetString(PyExc_ValueError, "width: expected a positive number.");
        return NULL;
    }
    arrays held = {.count = 0};
    factors f = {.width = width};
    const int32_t *row, *column;
    double *found;
    if (!(f.left = array_of(&held, left, "left", 'd', -1, 0))) goto done;
    Py_ssize_t high = length_of(&held) / width;
    if (!(f.right = array_of(&held, right, "right", 'd', -1, 0))) goto done;
    Py_ssize_t wide = length_of(&held) / width;
    if (!(row = array_of(&held, rows, "rows", 'i', -1, 0))) goto done;
    Py_ssize_t count = length_of(&held);
    if (!(column = array_of(&held, columns, "columns", 'i', count, 0))) goto done;
    if (!(found = array_of(&held, out, "found", 'd', count, 1))) goto done;
    if (!are_within(row, count, high, "rows") || !are_within(column, count, wide, "columns")) goto done;
    PyThreadState *thread = PyEval_SaveThread();
    entries_at(f, row, column, count, found);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

#endif
