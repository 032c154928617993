/* atomsieve's compiled core: the problem on a working set. It owns no threads and lets go of the interpreter lock.

   Certificates use the coefficients that come out of here, and the sums of exact.h, whose errors are bounded. */
#include "interpreter.h"

#include <math.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

#include "along.h"
#include "enclosed_calls.h"
#include "exact.h"
#include "factors.h"
#include "fingerprint.h"
#include "inverse_calls.h"
#include "machine.h"
#include "place.h"
#include "reading.h"
#include "sha256.h"
#include "steps_calls.h"
#include "tree_calls.h"
#include "flow_calls.h"
#include "survey.h"

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
    s->truth = 1;
    PyObject *capsule = PyCapsule_New(s, "atomsieve.store", free_store);
    if (!capsule) free(s);
    return capsule;
}

static int has_blas(void)
{
    if (!blas.dsyev) PyErr_SetString(PyExc_RuntimeError, "take_blas() must be called first.");
    return blas.dsyev != NULL;
}

static int is_loss(loss_t loss)
{
    int known = loss.kind >= 0 && loss.kind < LOSSES;
    if (!known) PyErr_Format(PyExc_ValueError, "unknown loss %d.", loss.kind);
    return known;
}

static int is_line(double a, double b)
{
    if (a >= 0 && !isinf(a) && b >= 0 && !isinf(b)) return 1;
    PyErr_SetString(PyExc_ValueError, "expected lines of slopes that are not negative.");
    return 0;
}

/* A call that solves on a working set: what is solved, where it begins, and what has to be released. */
typedef struct {
    PyObject *capsule;
    store *s;
    task t;
    request q;
    pulse beat;
    arrays held;
    column *columns;
    ptrdiff_t *places;
} call;

/* Read what all such calls begin with: store, columns, ids, blocks, loss, samples and iterate. 0 on success. */
static int open_call(call *c, PyObject *args)
{
    PyObject *values, *rows, *at_value, *at_row, *counts, *ids;
    given_blocks g;
    PyObject *y, *w, *offset, *basis, *x, *coordinates, *image, *pulls, *first = PyTuple_GetSlice(args, 0, 7);
    task *t = &c->t;
    request *q = &c->q;
    arrays *held = &c->held;
    if (!first) return -1;
    int parsed = PyArg_ParseTuple(first, "O(OOOOO)O(OOOOOOOO)(id)(OOOO)(OOOO)", &c->capsule, &values, &rows, &at_value,
                                  &at_row, &counts, &ids, &g.ends, &g.price, &g.each, &g.unit, &g.stiffness, &g.ridge,
                                  &g.negative, &g.limits, &q->loss.kind, &q->loss.delta, &y, &w, &offset, &basis, &x,
                                  &coordinates, &image, &pulls);
    Py_DECREF(first); /* the arguments hold what it held */
    if (!parsed) return -1;
    c->s = PyCapsule_GetPointer(c->capsule, "atomsieve.store");
    if (!c->s || !has_blas()) return -1;
    if (PyCapsule_GetContext(c->capsule)) {
        PyErr_SetString(PyExc_RuntimeError, "this store is in use by another call.");
        return -1;
    }
    if (!is_loss(q->loss)) return -1;
    if (read_samples(held, t, q, y, w, offset, basis, coordinates)) return -1;
    if (!(q->image = array_of(held, image, "image", 'd', t->n, 1))) return -1;
    if (read_columns(held, t, values, rows, at_value, at_row, counts, &c->columns)) return -1;
    if (!(t->id = array_of(held, ids, "ids", 'l', t->m, 0))) return -1;
    if (!(q->x = array_of(held, x, "x", 'd', t->m, 1))) return -1;
    if (!(q->pulls = array_of(held, pulls, "pulls", 'd', t->m, 1))) return -1;
    if (read_blocks(held, t, &g, &c->places)) return -1;
    if (t->n < 1 || t->m < 1 || t->m > INT32_MAX / 2) {
        PyErr_SetString(PyExc_ValueError, "expected samples and columns.");
        return -1;
    }
    return 0;
}

static void close_call(call *c)
{
    release(&c->held);
    free(c->columns);
    free(c->places);
}

/* Solve, along a trail if there is one, while other threads and handlers of signals run. 0 on success. */
static int work(call *c, double seconds, trail *r)
{
    const task *t = &c->t;
    c->beat = pulse_for(seconds);
    c->t.beat = &c->beat;
    if (PyCapsule_SetContext(c->capsule, c->s)) return -1;
    for (ptrdiff_t e = 0; e < t->m; e++) c->q.x[e] /= t->unit[t->owner[e]];
    c->beat.thread = PyEval_SaveThread();
    int failed = r ? solve_along(&c->t, c->s, &c->q, r) : solve_restricted(t, c->s, &c->q);
    PyEval_RestoreThread(c->beat.thread);
    PyCapsule_SetContext(c->capsule, NULL);
    for (ptrdiff_t e = 0; e < t->m; e++) c->q.x[e] *= t->unit[t->owner[e]];
    if (failed) PyErr_NoMemory();
    return failed || c->beat.over == INTERRUPTED ? -1 : 0;
}

static PyObject *restricted(PyObject *self, PyObject *args)
{
    call c = {0};
    request *q = &c.q;
    double seconds;
    PyObject *answer = NULL, *rest = PyTuple_GetSlice(args, 7, PyTuple_Size(args));
    (void)self;
    if (!rest) return NULL;
    int parsed = PyArg_ParseTuple(rest, "(dd)dddp", &c.t.a, &c.t.b, &q->target, &q->caution, &seconds, &q->respond);
    Py_DECREF(rest);
    if (!parsed) return NULL;
    if (!open_call(&c, args) && is_line(c.t.a, c.t.b) && !work(&c, seconds, NULL))
        answer = Py_BuildValue("dddid", q->gap, q->mass, q->response, q->rounds, q->caution);
    close_call(&c);
    return answer;
}

static PyObject *along(PyObject *self, PyObject *args)
{
    call c = {0};
    request *q = &c.q;
    double seconds;
    const double *line, *ridge;
    trail r = {0};
    PyObject *lines, *ridges, *x, *coordinates, *image, *answer = NULL;
    PyObject *rest = PyTuple_GetSlice(args, 7, PyTuple_Size(args));
    (void)self;
    if (!rest) return NULL;
    int parsed = PyArg_ParseTuple(rest, "OOddd(OOO)", &lines, &ridges, &q->target, &q->caution, &seconds, &x,
                                  &coordinates, &image);
    Py_DECREF(rest);
    if (!parsed) return NULL;
    if (open_call(&c, args)) goto done;
    if (!(line = array_of(&c.held, lines, "lines", 'd', -1, 0))) goto done;
    r.count = length_of(&c.held) / 2;
    if (!(ridge = array_of(&c.held, ridges, "ridges", 'd', r.count * c.t.blocks, 0))) goto done;
    if (!(r.x = array_of(&c.held, x, "x of the lines", 'd', r.count * c.t.m, 1))) goto done;
    if (!(r.coordinates = array_of(&c.held, coordinates, "coordinates", 'd', r.count * c.t.free, 1))) goto done;
    if (!(r.image = array_of(&c.held, image, "images of the lines", 'd', r.count * c.t.n, 1))) goto done;
    for (ptrdiff_t l = 0; l < r.count; l++)
        if (!is_line(line[2 * l], line[2 * l + 1])) goto done;
    if (!are_ridges(ridge, r.count * c.t.blocks)) goto done;
    r.line = line;
    r.ridge = ridge;
    if (!r.count || !work(&c, seconds, &r)) {
        for (ptrdiff_t i = 0; i < r.done * c.t.m; i++) r.x[i] *= c.t.unit[c.t.owner[i % c.t.m]];
        answer = Py_BuildValue("nd", (Py_ssize_t)r.done, q->caution);
    }
done:
    close_call(&c);
    return answer;
}

static PyObject *carries(PyObject *self, PyObject *args)
{
    Py_ssize_t entries;
    double nonzeros;
    (void)self;
    if (!PyArg_ParseTuple(args, "nd", &entries, &nonzeros)) return NULL;
    return PyBool_FromLong(gram_pays(entries, nonzeros));
}

static PyObject *quadratic(PyObject *self, PyObject *args)
{
    PyObject *hessian, *z, *x;
    given_blocks g;
    double a, b, value, enough, seconds;
    request q = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO(OOOOOOOO)(dd)d(dd)dp", &hessian, &z, &x, &g.ends, &g.price, &g.each, &g.unit,
                          &g.stiffness, &g.ridge, &g.negative, &g.limits, &a, &b, &value, &q.target, &enough, &seconds,
                          &q.respond))
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
    if (!is_line(a, b)) goto done;
    if (t.m < 1 || t.m > INT32_MAX / 2) {
        PyErr_SetString(PyExc_ValueError, "expected entries.");
        goto done;
    }
    if (!(pull_ = array_of(&held, z, "z", 'd', t.m, 0))) goto done;
    if (!(matrix = array_of(&held, hessian, "hessian", 'd', t.m * t.m, 0))) goto done;
    if (read_blocks(&held, &t, &g, &places)) goto done;
    beat.thread = PyEval_SaveThread();
    int failed = solve_quadratic(&t, matrix, pull_, &q, value, enough);
    PyEval_RestoreThread(beat.thread);
    if (failed) PyErr_NoMemory();
    else if (beat.over != INTERRUPTED) answer = Py_BuildValue("ddd", q.gap, q.mass, q.response);
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
    if (!is_loss(q.loss)) return NULL;
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
    if (!is_loss(loss)) return NULL;
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

static PyObject *sight(PyObject *self, PyObject *args)
{
    PyObject *y_, *w_, *u_, *slope_, *bend_, *answer = NULL;
    loss_t loss;
    (void)self;
    if (!PyArg_ParseTuple(args, "(id)OOOOO", &loss.kind, &loss.delta, &y_, &w_, &u_, &slope_, &bend_)) return NULL;
    if (!is_loss(loss)) return NULL;
    arrays held = {.count = 0};
    const double *u, *w, *y = array_of(&held, y_, "y", 'd', -1, 0);
    double *slope, *bend;
    if (!y) goto done;
    Py_ssize_t n = length_of(&held);
    if (!(w = array_of(&held, w_, "weights", 'd', n, 0))) goto done;
    if (!(u = array_of(&held, u_, "u", 'd', n, 0))) goto done;
    if (!(slope = array_of(&held, slope_, "slopes", 'd', n, 1))) goto done;
    if (!(bend = array_of(&held, bend_, "bends", 'd', n, 1))) goto done;
    PyThreadState *thread = PyEval_SaveThread();
    loss_slopes(loss, n, u, y, slope);
    loss_curvatures(loss, n, u, y, slope, w, 0, bend);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *told(PyObject *self, PyObject *args)
{
    PyObject *y, *w, *basis, *image, *coordinates, *move, *taken, *sums, *answer = NULL;
    place p = {.move = NULL};
    (void)self;
    if (!PyArg_ParseTuple(args, "(id)OOOOOOOO", &p.loss.kind, &p.loss.delta, &y, &w, &basis, &image, &coordinates,
                          &move, &taken, &sums))
        return NULL;
    if (!is_loss(p.loss)) return NULL;
    arrays held = {.count = 0};
    if (!(p.coordinates = array_of(&held, coordinates, "coordinates", 'd', -1, 0))) goto done;
    p.k = length_of(&held);
    if (!(p.y = array_of(&held, y, "y", 'd', -1, 0))) goto done;
    p.n = length_of(&held);
    if (!(p.w = array_of(&held, w, "weights", 'd', p.n, 0))) goto done;
    if (!(p.basis = array_of(&held, basis, "basis", 'd', p.n * p.k, 0))) goto done;
    if (!(p.image = array_of(&held, image, "image", 'd', p.n, 0))) goto done;
    if (move != Py_None) {
        if (!(p.move = array_of(&held, move, "move", 'd', p.n, 0))) goto done;
        if (!(p.taken = array_of(&held, taken, "taken", 'd', p.k, 0))) goto done;
    }
    double *found = array_of(&held, sums, "sums", 'd', p.k * (p.k + 2), 1);
    if (!found) goto done;
    told_sums s = {.gradient = found, .along = found + p.k, .hessian = found + 2 * p.k};
    memset(found, 0, (size_t)(p.k * (p.k + 2)) * sizeof *found);
    PyThreadState *thread = PyEval_SaveThread();
    tell(&p, &s);
    PyEval_RestoreThread(thread);
    answer = Py_BuildValue("dddddd", s.steep, s.reach, s.bent, s.square, s.slope, s.far);
done:
    release(&held);
    return answer;
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
    if (most > count - inside) most = count - inside;
    int64_t *places = array_of(&held, chosen, "chosen", 'l', inside + most, 1);
    if (!places) goto done;
    Py_ssize_t found = choose_best(values, count, most, block, inside, places);
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

/* What proofs read: columns of a matrix with n rows, and the memory of the columns. NULL with an error set. */
static const column *proof_columns(arrays *held, PyObject *parts, task *t, column **memory)
{
    PyObject *values, *rows, *at_value, *at_row, *counts;
    if (!PyArg_ParseTuple(parts, "OOOOO", &values, &rows, &at_value, &at_row, &counts)) return NULL;
    return read_columns(held, t, values, rows, at_value, at_row, counts, memory) ? NULL : t->columns;
}

static PyObject *exact_dots(PyObject *self, PyObject *args)
{
    PyObject *parts, *mid, *rad, *centres, *out, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOO", &parts, &mid, &rad, &centres, &out)) return NULL;
    arrays held = {.count = 0};
    task t = {0};
    column *memory = NULL;
    const double *v, *r, *centre;
    double *found;
    if (!(v = array_of(&held, mid, "mid", 'd', -1, 0))) goto done;
    t.n = length_of(&held);
    if (!(r = array_of(&held, rad, "rad", 'd', t.n, 0))) goto done;
    const column *columns = proof_columns(&held, parts, &t, &memory);
    if (!columns || !(centre = array_of(&held, centres, "centres", 'd', t.m, 0))) goto done;
    if (!(found = array_of(&held, out, "out", 'd', 4 * t.m, 1))) goto done;
    PyThreadState *thread = PyEval_SaveThread();
    for (ptrdiff_t e = 0; e < t.m; e++) {
        precise s = exact_dot(columns + e, v);
        found[e] = s.total;
        found[t.m + e] = s.small;
        found[2 * t.m + e] = s.size;
        found[3 * t.m + e] = spread_of(columns + e, centre[e], r);
    }
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    free(memory);
    release(&held);
    return answer;
}

static PyObject *exact_image(PyObject *self, PyObject *args)
{
    PyObject *parts, *factors, *sums, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO", &parts, &factors, &sums)) return NULL;
    arrays held = {.count = 0};
    task t = {0};
    column *memory = NULL;
    const double *x;
    double *sum = array_of(&held, sums, "sums", 'd', -1, 1);
    if (!sum) goto done;
    t.n = length_of(&held) / 3;
    const column *columns = proof_columns(&held, parts, &t, &memory);
    if (!columns || !(x = array_of(&held, factors, "x", 'd', t.m, 0))) goto done;
    PyThreadState *thread = PyEval_SaveThread();
    for (ptrdiff_t e = 0; e < t.m; e++) exact_axpy(columns + e, x[e], sum, sum + t.n, sum + 2 * t.n);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    free(memory);
    release(&held);
    return answer;
}

static PyObject *lengths(PyObject *self, PyObject *args)
{
    PyObject *parts, *weights, *centres, *sums, *answer = NULL;
    int by_rows;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOp", &parts, &weights, &centres, &sums, &by_rows)) return NULL;
    arrays held = {.count = 0};
    task t = {0};
    column *memory = NULL;
    const double *w, *centre;
    double *sum = array_of(&held, sums, "sums", 'd', -1, 1);
    if (!sum) goto done;
    Py_ssize_t d = length_of(&held);
    if (!(w = array_of(&held, weights, "weights", 'd', -1, 0))) goto done;
    Py_ssize_t n = length_of(&held);
    t.n = by_rows ? d : n;
    const column *columns = proof_columns(&held, parts, &t, &memory);
    if (!columns || !(centre = array_of(&held, centres, "centres", 'd', d, 0))) goto done;
    if (t.m != (by_rows ? n : d)) {
        PyErr_SetString(PyExc_ValueError, "expected a sum for each column and a weight for each row.");
        goto done;
    }
    PyThreadState *thread = PyEval_SaveThread();
    if (by_rows) memset(sum, 0, (size_t)d * sizeof *sum);
    for (ptrdiff_t e = 0; e < t.m; e++)
        if (by_rows) add_squares(columns + e, w[e], centre, sum);
        else sum[e] = weighted_squares(columns + e, w, centre[e]);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    free(memory);
    release(&held);
    return answer;
}

/* Read a matrix for a survey: one vector of entries, and for a sparse one their places and where lines start. */
static int read_matrix(arrays *held, survey *s, PyObject *values, PyObject *places, PyObject *starts, int by_rows)
{
    ptrdiff_t lines = by_rows ? s->n : s->d, line = by_rows ? s->d : s->n;
    if (!(s->value = array_of(held, values, "values", 'd', -1, 0))) return -1;
    Py_ssize_t room = length_of(held);
    int fits = 1;
    if (places == Py_None) fits = s->step >= 0 && (lines - 1) * s->step + line <= room;
    else {
        if (!(s->place = array_of(held, places, "places", 'i', room, 0))) return -1;
        if (!(s->start = array_of(held, starts, "starts", 'l', lines + 1, 0))) return -1;
        fits = s->start[0] >= 0 && s->start[lines] <= room;
        for (ptrdiff_t k = 0; k < lines; k++) fits &= s->start[k] <= s->start[k + 1];
    }
    if (!fits) PyErr_SetString(PyExc_ValueError, "lines of the matrix lie outside of its entries.");
    return fits ? 0 : -1;
}

static PyObject *survey_matrix(PyObject *self, PyObject *args)
{
    PyObject *values, *places, *starts, *v, *centres, *out, *keys, *sums, *answer = NULL;
    survey s = {0};
    int by_rows;
    (void)self;
    if (!PyArg_ParseTuple(args, "(OOOn)OOddOOOp", &values, &places, &starts, &s.step, &v, &centres, &s.size, &s.blur,
                          &out, &keys, &sums, &by_rows))
        return NULL;
    arrays held = {.count = 0};
    if (!(s.product = array_of(&held, out, "out", 'd', -1, 1))) goto done;
    s.d = length_of(&held) / 3;
    s.radius = s.product + s.d;
    s.length = s.radius + s.d;
    if (!(s.v = array_of(&held, v, "v", 'd', -1, 0))) goto done;
    s.n = length_of(&held);
    if (centres != Py_None && !(s.centre = array_of(&held, centres, "centres", 'd', s.d, 0))) goto done;
    if (read_matrix(&held, &s, values, places, starts, by_rows)) goto done;
    if (keys != Py_None) {
        Py_ssize_t blocks = (s.n * s.d + WORDS - 1) / WORDS;
        if (s.place || s.step != (by_rows ? s.d : s.n)) {
            PyErr_SetString(PyExc_ValueError, "a survey makes fingerprints of dense matrices without gaps only.");
            goto done;
        }
        if (!(s.key = array_of(&held, keys, "keys", 'l', 2 * WORDS, 0))) goto done;
        if (!(s.print = array_of(&held, sums, "sums", 'l', 2 * blocks, 1))) goto done;
    }
    PyThreadState *thread = PyEval_SaveThread();
    int failed = survey_all(&s, by_rows);
    PyEval_RestoreThread(thread);
    if (failed == -2) PyErr_NoMemory();
    else if (failed) PyErr_SetString(PyExc_ValueError, "an entry lies outside of the matrix.");
    else answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *inverse(PyObject *self, PyObject *args)
{
    PyObject *gram, *blur, *ridge, *approximate, *beside, *answer = NULL;
    Py_ssize_t rows;
    double seconds;
    inversion v = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "nOOOOOd", &rows, &gram, &blur, &ridge, &approximate, &beside, &seconds)) return NULL;
    arrays held = {.count = 0};
    pulse beat = pulse_for(seconds);
    v.beat = &beat;
    v.rows = rows;
    if (!has_blas() || !(v.blur = array_of(&held, blur, "blurs", 'd', -1, 0))) goto done;
    v.k = length_of(&held);
    if (v.k < 1 || v.k > INT16_MAX || rows < 0) {
        PyErr_SetString(PyExc_ValueError, "expected a matrix of 1 to 32767 columns.");
        goto done;
    }
    if (!(v.gram = array_of(&held, gram, "gram", 'd', v.k * v.k, 0))) goto done;
    if (!(v.ridge = array_of(&held, ridge, "ridge", 'd', v.k, 0))) goto done;
    if (!(v.approximate = array_of(&held, approximate, "approximate", 'd', v.k * v.k, 1))) goto done;
    if (!(v.error = array_of(&held, beside, "beside", 'd', 2 * v.k, 1))) goto done;
    v.scale = v.error + v.k;
    int proven = invert(&v);
    if (beat.over != INTERRUPTED && !PyErr_Occurred()) answer = PyBool_FromLong(proven);
done:
    release(&held);
    return answer;
}

static PyObject *fingerprint(PyObject *self, PyObject *args)
{
    PyObject *bytes, *keys, *out, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO", &bytes, &keys, &out)) return NULL;
    arrays held = {.count = 0};
    const void *key;
    void *found;
    const unsigned char *memory = array_of(&held, bytes, "bytes", 'B', -1, 0);
    if (!memory) goto done;
    Py_ssize_t count = length_of(&held), blocks = count / 8 / WORDS + (count / 8 % WORDS != 0) + (count % 8 != 0);
    if (!(key = array_of(&held, keys, "keys", 'l', 2 * WORDS, 0))) goto done;
    if (!(found = array_of(&held, out, "out", 'l', 2 * blocks, 1))) goto done;
    PyThreadState *thread = PyEval_SaveThread();
    fingerprint_of(memory, count, key, found);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    release(&held);
    return answer;
}

static PyObject *sha256(PyObject *self, PyObject *args)
{
    PyObject *bytes, *words, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &bytes, &words)) return NULL;
    arrays held = {.count = 0};
    void *state;
    const unsigned char *memory = array_of(&held, bytes, "bytes", 'B', -1, 0);
    if (!memory) goto done;
    Py_ssize_t count = length_of(&held);
    if (count % SHA_BLOCK) {
        PyErr_SetString(PyExc_ValueError, "bytes: expected whole blocks.");
        goto done;
    }
    if (!(state = array_of(&held, words, "words", 'i', 8, 1))) goto done;
    PyThreadState *thread = PyEval_SaveThread();
    sha256_of(memory, count / SHA_BLOCK, state);
    PyEval_RestoreThread(thread);
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
    {"along", along, METH_VARARGS, "Solve on a working set along lines of slopes."},
    {"carries", carries, METH_VARARGS, "Return whether the Gram matrix of some columns pays."},
    {"quadratic", quadratic, METH_VARARGS, "Minimise one model that is given by its Hessian."},
    {"view", view, METH_VARARGS, "Settle the unpenalised coefficients, and return what the samples show."},
    {"measure", measure, METH_VARARGS, "Measure predictions and slopes: value, Fenchel-Young gap, norms."},
    {"sight", sight, METH_VARARGS, "Write the slopes of the losses, and their curvatures with weights."},
    {"told", told, METH_VARARGS, "Write what a place of the search for unpenalised coefficients tells by sums."},
    {"best", best, METH_VARARGS, "Write some places, and those of the best scores beside them."},
    {"outside", outside, METH_VARARGS, "Return the highest score outside of some blocks."},
    {"squares", squares, METH_VARARGS, "Sum the squares of runs of numbers."},
    {"exact_dots", exact_dots, METH_VARARGS, "Write products of columns with a vector in twice the precision."},
    {"exact_image", exact_image, METH_VARARGS, "Add multiples of columns to sums in twice the precision."},
    {"lengths", lengths, METH_VARARGS, "Write weighted sums of squares of all columns."},
    {"survey", survey_matrix, METH_VARARGS, "Write products of all columns with a vector, their errors, and lengths."},
    {"combine", combine, METH_VARARGS, "Add, subtract, multiply, divide or compare numbers with error bounds."},
    {"ends", ends, METH_VARARGS, "Write lower or upper bounds of numbers with error bounds, or of their sizes."},
    {"sizes", sizes, METH_VARARGS, "Write lower and upper bounds of absolute values of numbers with error bounds."},
    {"hulls", hulls, METH_VARARGS, "Write the enclosures of the numbers between two ends."},
    {"logistic", logistic, METH_VARARGS, "Write bounds of slopes, curvatures or values of the logistic loss."},
    {"rounded", rounded, METH_VARARGS, "Write sums in twice the precision as enclosures."},
    {"product", product, METH_VARARGS, "Return the product of two vectors in twice the precision."},
    {"see", see, METH_VARARGS, "Write slopes and theta of the samples of a proof, at the best intercept."},
    {"conjugates", conjugates, METH_VARARGS, "Write upper bounds of conjugates of a loss between slopes."},
    {"reach", reach, METH_VARARGS, "Write bounds of curvatures of the logistic loss on the way to the optimum."},
    {"dual_sum", dual_sum, METH_VARARGS, "Return the sum of conjugates at scaled slopes."},
    {"form", form, METH_VARARGS, "Return a bound of the square of a vector in the metric of an inverse."},
    {"stiffness", stiffness, METH_VARARGS, "Return a bound of weighted squares of slopes over curvatures."},
    {"total", total, METH_VARARGS, "Return the sum of numbers with error bounds."},
    {"inverse", inverse, METH_VARARGS, "Write an inverse with proven errors; return whether there is one."},
    {"fingerprint", fingerprint, METH_VARARGS, "Write the sums of a fingerprint of bytes under a key."},
    {"sha256", sha256, METH_VARARGS, "Take whole blocks of bytes into the state of a digest."},
    {"running_sums", running_sums, METH_VARARGS, "Write running sums in twice the precision, and those of radii."},
    {"squares_of_sums", squares_of_sums, METH_VARARGS, "Add the changes of squares of running sums of rows."},
    {"levels", levels, METH_VARARGS, "Write the levels of a signal, given that of the root and its jumps."},
    {"moved", moved, METH_VARARGS, "Write the sums of what each jump moves."},
    {"jumps", jumps, METH_VARARGS, "Make the levels of a denoised signal sharp, and write its jumps."},
    {"bent", bent, METH_VARARGS, "Go on for some rounds to the best lines through a signal, with a price for each bend."},
    {"denoised", denoised, METH_VARARGS, "Write the best fit of bounded variation to a signal."},
    {"tree_sums", tree_sums, METH_VARARGS, "Sum rows over subtrees, or from the roots, in place."},
    {"enclosed_tree_sums", enclosed_tree_sums, METH_VARARGS, "Sum numbers so in twice the precision, with radii."},
    {"denoised_tree", denoised_tree, METH_VARARGS, "Write the best fit of bounded variation over a tree."},
    {"send_flow", send_flow, METH_VARARGS, "Send what nodes have in excess to where others are short of it."},
    {"factored_entries", factored_entries, METH_VARARGS, "Write entries of the product of two factors."},
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
