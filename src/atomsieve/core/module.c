/* atomsieve's compiled core: the problem on a working set. It owns no threads and lets go of the interpreter lock.

   Certificates use nothing that comes out of here but the coefficients. */
#include "interpreter.h"

#include <math.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

#include "machine.h"
#include "newton.h"

static double now(void)
{
#ifdef _WIN32
    LARGE_INTEGER ticks, rate;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&rate);
    return (double)ticks.QuadPart / (double)rate.QuadPart;
#else
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
#endif
}

/* Let Ctrl-C through; the lock is held only for the question. */
static int interrupted(pulse *p)
{
    PyEval_RestoreThread(p->thread);
    int raised = PyErr_CheckSignals();
    p->thread = PyEval_SaveThread();
    return raised != 0;
}

static pulse pulse_for(double seconds)
{
    double start = now();
    return (pulse){start + seconds, start + INTERVAL, RUNNING, now, interrupted, NULL};
}

/* The arrays of one call; all are released together. */
#define ARRAYS 24
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

static void free_store(PyObject *capsule)
{
    store *s = PyCapsule_GetPointer(capsule, "atomsieve.store");
    if (!s) return;
    store_free(s);
    free(s);
}

static PyObject *new_store(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    store *s = calloc(1, sizeof *s);
    if (!s) return PyErr_NoMemory();
    s->cg_steps = GUESSED;
    PyObject *capsule = PyCapsule_New(s, "atomsieve.store", free_store);
    if (!capsule) free(s);
    return capsule;
}

/* Read the blocks of a task: where they end, prices, units, stiffness, ridges, signs. 0 on success. */
static int read_blocks(arrays *a, task *t, PyObject *ends, PyObject *price, PyObject *unit, PyObject *stiffness,
                       PyObject *ridge, PyObject *negative, ptrdiff_t **memory)
{
    const int64_t *end = array_of(a, ends, "ends", 'l', -1, 0);
    if (!end) return -1;
    t->blocks = length_of(a);
    t->price = array_of(a, price, "price", 'd', t->blocks, 0);
    if (!t->price) return -1;
    t->unit = array_of(a, unit, "unit", 'd', t->blocks, 0);
    if (!t->unit) return -1;
    t->stiffness = array_of(a, stiffness, "stiffness", 'd', t->blocks, 0);
    if (!t->stiffness) return -1;
    t->ridge = array_of(a, ridge, "ridge", 'd', t->blocks, 0);
    if (!t->ridge) return -1;
    t->negative = array_of(a, negative, "negative", 'B', t->m, 0);
    if (!t->negative) return -1;
    ptrdiff_t *start = malloc((size_t)(t->blocks + 1 + t->m) * sizeof *start);
    *memory = start;
    if (!start) {
        PyErr_NoMemory();
        return -1;
    }
    ptrdiff_t *owner = start + t->blocks + 1;
    start[0] = 0;
    t->single = 1;
    for (ptrdiff_t k = 0; k < t->blocks; k++) {
        if (end[k] <= start[k] || end[k] > t->m) {
            PyErr_SetString(PyExc_ValueError, "ends: blocks must follow one another and hold an entry each.");
            return -1;
        }
        if (!(t->price[k] > 0) || isinf(t->price[k]) || !(t->unit[k] > 0) || isinf(t->unit[k])) {
            PyErr_SetString(PyExc_ValueError, "price, unit: expected positive finite numbers.");
            return -1;
        }
        if (!(t->ridge[k] >= 0) || isinf(t->ridge[k])) {
            PyErr_SetString(PyExc_ValueError, "ridge: expected finite numbers that are not negative.");
            return -1;
        }
        start[k + 1] = (ptrdiff_t)end[k];
        t->single &= start[k + 1] - start[k] == 1;
        for (ptrdiff_t e = start[k]; e < start[k + 1]; e++) owner[e] = k;
    }
    if (start[t->blocks] != t->m) {
        PyErr_SetString(PyExc_ValueError, "ends: the blocks must cover all entries.");
        return -1;
    }
    t->start = start;
    t->owner = owner;
    return 0;
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

static int has_blas(void)
{
    if (!blas.dsyev) PyErr_SetString(PyExc_RuntimeError, "take_blas() must be called first.");
    return blas.dsyev != NULL;
}

static PyObject *restricted(PyObject *self, PyObject *args)
{
    PyObject *capsule, *values, *rows, *at_value, *at_row, *counts, *ids, *ends, *price, *unit, *stiffness, *ridge, *negative;
    PyObject *y, *w, *offset, *basis, *x, *coordinates, *image, *pulls;
    double a, b, seconds;
    request q = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "O(OOOOO)O(OOOOOO)(id)(OOOO)(OOOO)(dd)dddp", &capsule, &values, &rows, &at_value, &at_row,
                          &counts, &ids, &ends, &price, &unit, &stiffness, &ridge, &negative, &q.loss.kind, &q.loss.delta, &y,
                          &w, &offset, &basis, &x, &coordinates, &image, &pulls, &a, &b, &q.target, &q.caution,
                          &seconds, &q.respond))
        return NULL;
    store *s = PyCapsule_GetPointer(capsule, "atomsieve.store");
    if (!s || !has_blas()) return NULL;
    if (PyCapsule_GetContext(capsule)) return PyErr_Format(PyExc_RuntimeError, "this store is in use by another call.");
    if (q.loss.kind < 0 || q.loss.kind >= LOSSES) return PyErr_Format(PyExc_ValueError, "unknown loss %d.", q.loss.kind);
    arrays held = {.count = 0};
    pulse beat = pulse_for(seconds);
    task t = {.a = a, .b = b, .beat = &beat};
    column *columns = NULL;
    ptrdiff_t *places = NULL;
    PyObject *answer = NULL;

    if (read_samples(&held, &t, &q, y, w, offset, basis, coordinates)) goto done;
    if (!(q.image = array_of(&held, image, "image", 'd', t.n, 1))) goto done;
    if (read_columns(&held, &t, values, rows, at_value, at_row, counts, &columns)) goto done;
    if (!(t.id = array_of(&held, ids, "ids", 'l', t.m, 0))) goto done;
    if (!(q.x = array_of(&held, x, "x", 'd', t.m, 1))) goto done;
    if (!(q.pulls = array_of(&held, pulls, "pulls", 'd', t.m, 1))) goto done;
    if (read_blocks(&held, &t, ends, price, unit, stiffness, ridge, negative, &places)) goto done;
    if (!(a >= 0) || isinf(a) || !(b >= 0) || isinf(b) || t.n < 1 || t.m < 1 || t.m > INT32_MAX / 2) {
        PyErr_SetString(PyExc_ValueError, "expected a line of slopes that is not negative, samples and columns.");
        goto done;
    }
    for (ptrdiff_t e = 0; e < t.m; e++) q.x[e] /= t.unit[t.owner[e]];
    if (PyCapsule_SetContext(capsule, s)) goto done; /* other threads, and handlers of signals, run meanwhile */
    beat.thread = PyEval_SaveThread();
    int failed = solve_restricted(&t, s, &q);
    PyEval_RestoreThread(beat.thread);
    PyCapsule_SetContext(capsule, NULL);
    for (ptrdiff_t e = 0; e < t.m; e++) q.x[e] *= t.unit[t.owner[e]];
    if (failed) PyErr_NoMemory();
    else if (beat.over != INTERRUPTED) answer = Py_BuildValue("dddid", q.gap, q.mass, q.response, q.rounds, q.caution);
done:
    release(&held);
    free(columns);
    free(places);
    return answer;
}

static PyObject *quadratic(PyObject *self, PyObject *args)
{
    PyObject *hessian, *z, *x, *ends, *price, *unit, *stiffness, *ridge, *negative;
    double a, b, value, seconds;
    request q = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO(OOOOOO)(dd)dddp", &hessian, &z, &x, &ends, &price, &unit, &stiffness, &ridge, &negative, &a,
                          &b, &value, &q.target, &seconds, &q.respond))
        return NULL;
    if (!has_blas()) return NULL;
    arrays held = {.count = 0};
    pulse beat = pulse_for(seconds);
    task t = {.a = a, .b = b, .beat = &beat};
    ptrdiff_t *places = NULL;
    PyObject *answer = NULL;
    const double *pull_, *matrix;
    if (!(q.x = array_of(&held, x, "x", 'd', -1, 1))) goto done;
    t.m = length_of(&held);
    if (t.m < 1 || t.m > INT32_MAX / 2 || !(a >= 0) || isinf(a) || !(b >= 0) || isinf(b)) {
        PyErr_SetString(PyExc_ValueError, "expected a line of slopes that is not negative, and entries.");
        goto done;
    }
    if (!(pull_ = array_of(&held, z, "z", 'd', t.m, 0))) goto done;
    if (!(matrix = array_of(&held, hessian, "hessian", 'd', t.m * t.m, 0))) goto done;
    if (read_blocks(&held, &t, ends, price, unit, stiffness, ridge, negative, &places)) goto done;
    beat.thread = PyEval_SaveThread();
    int failed = solve_quadratic(&t, matrix, pull_, &q, value);
    PyEval_RestoreThread(beat.thread);
    if (failed) PyErr_NoMemory();
    else if (beat.over != INTERRUPTED) answer = Py_BuildValue("dd", q.mass, q.response);
done:
    release(&held);
    free(places);
    return answer;
}

static PyObject *view(PyObject *self, PyObject *args)
{
    PyObject *y, *w, *offset, *basis, *image, *coordinates, *u_, *slope_, *theta_, *answer = NULL;
    request q = {0};
    pulse beat = pulse_for(INFINITY);
    task t = {.beat = &beat};
    (void)self;
    if (!PyArg_ParseTuple(args, "(id)(OOOO)OOOOO", &q.loss.kind, &q.loss.delta, &y, &w, &offset, &basis, &image,
                          &coordinates, &u_, &slope_, &theta_))
        return NULL;
    if (q.loss.kind < 0 || q.loss.kind >= LOSSES) return PyErr_Format(PyExc_ValueError, "unknown loss %d.", q.loss.kind);
    arrays held = {.count = 0};
    double *u, *slope, *theta;
    samples_view seen = {0, 0, 0};
    if (read_samples(&held, &t, &q, y, w, offset, basis, coordinates)) goto done;
    if (!(q.image = array_of(&held, image, "image", 'd', t.n, 0))) goto done;
    if (!(u = array_of(&held, u_, "u", 'd', t.n, 1))) goto done;
    if (!(slope = array_of(&held, slope_, "slopes", 'd', t.n, 1))) goto done;
    if (!(theta = array_of(&held, theta_, "theta", 'd', t.n, 1))) goto done;
    beat.thread = PyEval_SaveThread();
    int failed = view_samples(&t, &q, u, slope, theta, &seen);
    PyEval_RestoreThread(beat.thread);
    if (failed) PyErr_NoMemory();
    else if (beat.over != INTERRUPTED) answer = Py_BuildValue("ddd", seen.stray, seen.size, seen.noise);
done:
    release(&held);
    return answer;
}

static PyObject *measure(PyObject *self, PyObject *args)
{
    PyObject *y_, *w_, *u_, *slope_, *answer = NULL;
    loss_t loss;
    double scale;
    (void)self;
    if (!PyArg_ParseTuple(args, "(id)OOOOd", &loss.kind, &loss.delta, &y_, &w_, &u_, &slope_, &scale)) return NULL;
    if (loss.kind < 0 || loss.kind >= LOSSES) return PyErr_Format(PyExc_ValueError, "unknown loss %d.", loss.kind);
    arrays held = {.count = 0};
    const double *u, *slope, *w, *y = array_of(&held, y_, "y", 'd', -1, 0);
    if (!y) goto done;
    Py_ssize_t n = length_of(&held);
    if (!(w = array_of(&held, w_, "weights", 'd', n, 0))) goto done;
    if (!(u = array_of(&held, u_, "u", 'd', n, 0))) goto done;
    if (!(slope = array_of(&held, slope_, "slopes", 'd', n, 0))) goto done;
    double size = weighted_square(u, w, n), steep = weighted_square(slope, w, n);
    double apart = scale < 1 ? fenchel_young(loss, n, u, y, slope, w, scale) : 0;
    answer = Py_BuildValue("dddd", loss_value(loss, n, u, y, slope, w), apart, sqrt(size), sqrt(steep));
done:
    release(&held);
    return answer;
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

static PyObject *best(PyObject *self, PyObject *args)
{
    PyObject *scores, *blocks, *chosen, *answer = NULL;
    Py_ssize_t most, count, inside;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOnO", &scores, &blocks, &most, &chosen)) return NULL;
    arrays held = {.count = 0};
    const int64_t *block;
    const double *values = read_scores(&held, scores, blocks, &count, &block, &inside);
    if (!values) goto done;
    if (most < 0) {
        PyErr_SetString(PyExc_ValueError, "fewer than no scores cannot be chosen.");
        goto done;
    }
    int64_t *places = array_of(&held, chosen, "chosen", 'l', most < count ? most : count, 1);
    if (!places) goto done;
    Py_ssize_t found = most ? choose_best(values, count, most, block, inside, places) : 0;
    if (found < 0) PyErr_NoMemory();
    else answer = PyLong_FromSsize_t(found);
done:
    release(&held);
    return answer;
}

static PyObject *outside(PyObject *self, PyObject *args)
{
    PyObject *scores, *blocks, *answer = NULL;
    Py_ssize_t count, inside;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &scores, &blocks)) return NULL;
    arrays held = {.count = 0};
    const int64_t *block;
    const double *values = read_scores(&held, scores, blocks, &count, &block, &inside);
    if (values) answer = PyFloat_FromDouble(highest_outside(values, count, block, inside));
    release(&held);
    return answer;
}

static PyObject *squares(PyObject *self, PyObject *args)
{
    PyObject *values, *ends, *sums, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO", &values, &ends, &sums)) return NULL;
    arrays held = {.count = 0};
    const int64_t *end;
    double *sum;
    const double *value = array_of(&held, values, "values", 'd', -1, 0);
    if (!value) goto done;
    Py_ssize_t room = length_of(&held), first = 0;
    if (!(end = array_of(&held, ends, "ends", 'l', -1, 0))) goto done;
    Py_ssize_t count = length_of(&held);
    if (!(sum = array_of(&held, sums, "sums", 'd', count, 1))) goto done;
    for (Py_ssize_t k = 0; k < count; first = (Py_ssize_t)end[k++]) {
        if (end[k] < first || end[k] > room) {
            PyErr_SetString(PyExc_ValueError, "ends: expected rising places within the values.");
            goto done;
        }
        sum[k] = dot(value + first, value + first, (Py_ssize_t)end[k] - first);
    }
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *kept(PyObject *self, PyObject *args)
{
    PyObject *scores, *spreads, *lengths, *out, *answer = NULL;
    double radius, doubt, floor;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOdddO", &scores, &spreads, &lengths, &radius, &doubt, &floor, &out)) return NULL;
    arrays held = {.count = 0};
    const double *values = array_of(&held, scores, "scores", 'd', -1, 0), *spread, *length;
    if (!values) goto done;
    Py_ssize_t count = length_of(&held);
    unsigned char *marks;
    if (!(spread = array_of(&held, spreads, "spread", 'd', count, 0))) goto done;
    if (!(length = array_of(&held, lengths, "lengths", 'd', count, 0))) goto done;
    if (!(marks = array_of(&held, out, "kept", 'B', count, 1))) goto done;
    mark_kept(values, spread, length, count, radius, doubt, floor, marks);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static int load(void **to, PyObject *table, const char *name)
{
    PyObject *key = PyUnicode_FromString(name), *capsule = key ? PyObject_GetItem(table, key) : NULL;
    Py_XDECREF(key);
    if (!capsule) return -1;
    *to = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    Py_DECREF(capsule);
    return *to ? 0 : -1;
}

/* Take BLAS and LAPACK from the tables of SciPy. */
static PyObject *take_blas(PyObject *self, PyObject *args)
{
    PyObject *of_blas, *of_lapack;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &of_blas, &of_lapack)) return NULL;
    blas_table found; /* all of them or none */
    if (load((void **)&found.dgemm, of_blas, "dgemm") || load((void **)&found.dsyrk, of_blas, "dsyrk") ||
        load((void **)&found.dtrsm, of_blas, "dtrsm") || load((void **)&found.dtrsv, of_blas, "dtrsv") ||
        load((void **)&found.dpotrf, of_lapack, "dpotrf") || load((void **)&found.dsyev, of_lapack, "dsyev"))
        return NULL;
    blas = found;
    Py_RETURN_NONE;
}

static PyObject *supported(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyBool_FromLong(has_wide_vectors());
}

static PyMethodDef methods[] = {
    {"take_blas", take_blas, METH_VARARGS, "Take BLAS and LAPACK from the tables of SciPy."},
    {"store", new_store, METH_NOARGS, "Return a new store for Gram matrices and factors."},
    {"restricted", restricted, METH_VARARGS, "Solve on a working set."},
    {"quadratic", quadratic, METH_VARARGS, "Minimise one model that is given by its Hessian."},
    {"view", view, METH_VARARGS, "Settle the unpenalised coefficients, and return what the samples show."},
    {"measure", measure, METH_VARARGS, "Measure predictions and slopes: value, Fenchel-Young gap, norms."},
    {"best", best, METH_VARARGS, "Write the places of the best scores."},
    {"outside", outside, METH_VARARGS, "Return the highest score outside of some blocks."},
    {"squares", squares, METH_VARARGS, "Sum the squares of runs of numbers."},
    {"kept", kept, METH_VARARGS, "Mark the blocks that a rule keeps."},
    {"wide_vectors", supported, METH_NOARGS, "Return whether this machine has AVX2 and FMA."},
    {NULL, NULL, 0, NULL},
};

#ifndef MODULE
#define MODULE PyInit__plain
#define MODULE_NAME "_plain"
#endif

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, MODULE_NAME, NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC MODULE(void);
PyMODINIT_FUNC MODULE(void) { return PyModuleDef_Init(&definition); }
