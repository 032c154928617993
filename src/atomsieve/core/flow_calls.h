/* What Python calls for flows. */
#ifndef ATOMSIEVE_FLOW_CALLS_H
#define ATOMSIEVE_FLOW_CALLS_H

#include "arena.h"
#include "flow.h"
#include "reading.h"

/* Whether edges join nodes, and the arcs of each node are those that leave it. */
static int is_network(const network *n)
{
    int right = n->start[0] == 0 && n->start[n->nodes] == 2 * n->edges;
    for (ptrdiff_t e = 0; right && e < n->edges; e++)
        right = n->tail[e] >= 0 && n->tail[e] < n->nodes && n->head[e] >= 0 && n->head[e] < n->nodes;
    for (ptrdiff_t v = 0; right && v < n->nodes; v++) {
        right = n->start[v] <= n->start[v + 1] && n->start[v + 1] <= 2 * n->edges;
        for (int64_t a = n->start[v]; right && a < n->start[v + 1]; a++) {
            int64_t arc = n->arc[a];
            right = arc >= 0 && arc < 2 * n->edges && (arc & 1 ? n->head[arc / 2] : n->tail[arc / 2]) == v;
        }
    }
    if (!right) PyErr_SetString(PyExc_ValueError, "network: expected edges between nodes, and the arcs of each node.");
    return right;
}

static PyObject *send_flow(PyObject *self, PyObject *args)
{
    PyObject *tails, *heads, *starts, *arcs, *rooms, *flows, *excesses, *out, *answer = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &tails, &heads, &starts, &arcs, &rooms, &flows, &excesses, &out)) return NULL;
    arrays held = {.count = 0};
    arena memory = {.count = 0};
    network n;
    unsigned char *apart;
    if (!(n.tail = array_of(&held, tails, "tails", 'l', -1, 0))) goto done;
    n.edges = length_of(&held);
    if (!(n.head = array_of(&held, heads, "heads", 'l', n.edges, 0))) goto done;
    if (!(n.arc = array_of(&held, arcs, "arcs", 'l', 2 * n.edges, 0))) goto done;
    if (!(n.room = array_of(&held, rooms, "rooms", 'd', n.edges, 0))) goto done;
    if (!(n.flow = array_of(&held, flows, "flow", 'd', n.edges, 1))) goto done;
    if (!(n.excess = array_of(&held, excesses, "excess", 'd', -1, 1))) goto done;
    n.nodes = length_of(&held);
    if (!(n.start = array_of(&held, starts, "starts", 'l', n.nodes + 1, 0))) goto done;
    if (!(apart = array_of(&held, out, "apart", 'B', n.nodes, 1)) || !is_network(&n)) goto done;
    quest s = {
        take(&memory, n.nodes, sizeof(int64_t)),
        take(&memory, n.nodes, sizeof(int64_t)),
        take(&memory, n.nodes, sizeof(int64_t)),
        take(&memory, n.nodes, 1),
        0,
        0,
    };
    if (memory.failed) {
        PyErr_NoMemory();
        goto done;
    }
    PyThreadState *thread = PyEval_SaveThread();
    send(&n, &s, apart);
    PyEval_RestoreThread(thread);
    answer = Py_NewRef(Py_None);
done:
    release_all(&memory);
    release(&held);
    return answer;
}

#endif
