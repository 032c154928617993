/* Flows through a graph: what supplies cannot reach demands, and which side of a least cut they are on.

   Push and relabel (Goldberg and Tarjan 1988), first in, first out, with distances found anew from time to time. Edge e
   carries `flow[e]` from its tail to its head, at most `room[e]` in either direction. */
#ifndef ATOMSIEVE_FLOW_H
#define ATOMSIEVE_FLOW_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The arcs of a node follow one another from `start`; arc 2 e leaves the tail of edge e, arc 2 e + 1 its head. */
typedef struct {
    const int64_t *tail, *head, *start, *arc;
    const double *room;
    double *flow, *excess;
    ptrdiff_t nodes, edges;
} network;

/* What a quest needs: distances to what is short, the arc where each node goes on, and nodes that wait in a ring. */
typedef struct {
    int64_t *distance, *current, *line;
    unsigned char *waits;
    ptrdiff_t first, count;
} quest;

static inline int64_t other_end(const network *n, int64_t arc) { return arc & 1 ? n->tail[arc / 2] : n->head[arc / 2]; }

/* How much more an arc can carry. */
static inline double residual(const network *n, int64_t arc)
{
    double room = n->room[arc / 2], flow = n->flow[arc / 2];
    return arc & 1 ? room + flow : room - flow;
}

static void push_along(network *n, int64_t arc, int64_t from, int64_t to)
{
    double left = residual(n, arc), amount = n->excess[from] < left ? n->excess[from] : left;
    double *flow = &n->flow[arc / 2], room = n->room[arc / 2];
    if (amount == left) *flow = arc & 1 ? -room : room; /* to the last bit */
    else *flow += arc & 1 ? -amount : amount;
    n->excess[from] -= amount;
    n->excess[to] += amount;
}

static void wait_in_line(quest *s, ptrdiff_t nodes, int64_t node)
{
    if (s->waits[node]) return;
    s->waits[node] = 1;
    s->line[(s->first + s->count++) % nodes] = node;
}

/* Find the distance of every node to the nearest one that is short, along arcs with room; `nodes` where there is none. */
static void measure_distances(const network *n, quest *s)
{
    ptrdiff_t found = 0;
    for (ptrdiff_t v = 0; v < n->nodes; v++) {
        s->current[v] = n->start[v];
        s->waits[v] = 0;
        s->distance[v] = n->excess[v] < 0 ? 0 : n->nodes;
        if (n->excess[v] < 0) s->line[found++] = v;
    }
    for (ptrdiff_t k = 0; k < found; k++) {
        int64_t v = s->line[k];
        for (int64_t a = n->start[v]; a < n->start[v + 1]; a++) {
            int64_t u = other_end(n, n->arc[a]);
            if (s->distance[u] < n->nodes || !(residual(n, n->arc[a] ^ 1) > 0)) continue;
            s->distance[u] = s->distance[v] + 1;
            s->line[found++] = u;
        }
    }
    s->first = s->count = 0;
    for (ptrdiff_t v = 0; v < n->nodes; v++)
        if (n->excess[v] > 0 && s->distance[v] < n->nodes) wait_in_line(s, n->nodes, v);
}

/* Move the excess of a node towards what is short, as far as arcs lead there; returns how many arcs were looked at. */
static ptrdiff_t discharge(network *n, quest *s, int64_t v)
{
    ptrdiff_t work = 0;
    while (n->excess[v] > 0 && s->distance[v] < n->nodes) {
        for (int64_t *a = &s->current[v]; *a < n->start[v + 1] && n->excess[v] > 0; work++) {
            int64_t arc = n->arc[*a], u = other_end(n, arc);
            if (s->distance[v] == s->distance[u] + 1 && residual(n, arc) > 0) {
                push_along(n, arc, v, u);
                if (n->excess[u] > 0) wait_in_line(s, n->nodes, u);
                if (!(n->excess[v] > 0)) break;
            }
            ++*a;
        }
        if (!(n->excess[v] > 0)) break;
        int64_t nearest = n->nodes;
        for (int64_t a = n->start[v]; a < n->start[v + 1]; a++, work++) {
            int64_t u = other_end(n, n->arc[a]);
            if (s->distance[u] + 1 < nearest && residual(n, n->arc[a]) > 0) nearest = s->distance[u] + 1;
        }
        s->distance[v] = nearest;
        s->current[v] = n->start[v];
    }
    return work;
}

/* Push excess to where nodes are short of it until none can get there any more. Afterwards the nodes without a way to
   one that is short are one side of a least cut. */
static void send(network *n, quest *s, unsigned char *apart)
{
    ptrdiff_t enough = 6 * n->nodes + 4 * n->edges, work = 0;
    measure_distances(n, s);
    while (s->count) {
        int64_t v = s->line[s->first];
        s->first = (s->first + 1) % n->nodes;
        s->count--;
        s->waits[v] = 0;
        work += discharge(n, s, v) + 1;
        if (work > enough || !s->count) {
            measure_distances(n, s);
            work = 0;
        }
    }
    for (ptrdiff_t v = 0; v < n->nodes; v++) apart[v] = s->distance[v] == n->nodes;
}

#endif
