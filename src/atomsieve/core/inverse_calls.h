/* How Python asks for inverses with proven errors. */
#ifndef ATOMSIEVE_INVERSE_CALLS_H
#define ATOMSIEVE_INVERSE_CALLS_H

#include "interpreter.h"

#include <stdlib.h>

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

#endif
