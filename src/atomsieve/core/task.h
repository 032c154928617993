/* What is solved: columns in blocks with prices, at a line of slopes; and when to end. */
#ifndef ATOMSIEVE_TASK_H
#define ATOMSIEVE_TASK_H

#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include "columns.h"

enum { RUNNING, TIME_IS_UP, INTERRUPTED };

#define INTERVAL 0.05 /* seconds between two questions about Ctrl-C */

/* Whether to go on: looked at between steps. */
typedef struct pulse {
    double deadline, next; /* on the clock `now` */
    int over; /* RUNNING, or why to end */
    double (*now)(void);
    int (*interrupted)(struct pulse *); /* asked from time to time */
    void *thread;
} pulse;

static int ended(pulse *p)
{
    if (p->over) return 1;
    double now = p->now();
    if (now > p->deadline) p->over = TIME_IS_UP;
    if (now > p->next) {
        p->next = now + INTERVAL;
        if (p->interrupted(p)) p->over = INTERRUPTED;
    }
    return p->over;
}

/* What is solved: columns in blocks with prices, the unpenalised directions, and the line `a + b mass`. */
typedef struct {
    ptrdiff_t n, m, blocks, free;
    const column *columns;
    const int64_t *id;
    const ptrdiff_t *start;  /* block k holds the entries start[k], ..., start[k + 1] - 1 */
    const ptrdiff_t *owner;  /* the block of each entry */
    const double *price;     /* of a block, in its unit */
    const double *unit;      /* of a block */
    const double *stiffness; /* the largest curvature that a block can have, per unit of loss'' */
    const unsigned char *negative; /* whether an entry may be negative */
    const double *basis;           /* n x free, by columns */
    double a, b;
    const double *ridge; /* of a block, in its unit */
    int single; /* whether every block is one entry */
    int dense;
    pulse *beat;
} task;

static double slope_of(const task *t, double mass) { return t->a + t->b * mass; }

/* What the ridge charges for x. */
static double ridge_value(const task *t, const double *x)
{
    double sum = 0;
    for (ptrdiff_t e = 0; e < t->m; e++) sum += t->ridge[t->owner[e]] * x[e] * x[e];
    return sum / 2;
}

static double block_norm(const task *t, const double *x, ptrdiff_t k)
{
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    return size == 1 ? fabs(x[first]) : sqrt(dot(x + first, x + first, size));
}

/* The score of a block: what its best atom pulls. */
static double block_score(const task *t, const double *z, ptrdiff_t k)
{
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (size == 1) return (t->negative[first] ? fabs(z[0]) : z[0]) / t->price[k];
    return sqrt(dot(z, z, size)) / t->price[k];
}

static double mass_of(const task *t, const double *x)
{
    double mass = 0;
    for (ptrdiff_t k = 0; k < t->blocks; k++) mass += t->price[k] * block_norm(t, x, k);
    return mass;
}

/* The model gap: complementary slackness, and the price of the best score above the slope. */
static double gap_of(const task *t, double mass, double top, double slack, double value)
{
    double slope = slope_of(t, mass);
    if (t->b > 0) {
        double over = top > t->a ? top - t->a : 0, away = mass - over / t->b;
        double apart = top > t->a ? t->b * away * away / 2 : mass * (t->a + t->b * mass / 2 - top);
        return slack + (top - slope) * mass + apart;
    }
    if (top <= t->a) return slack;
    double excess = (top - t->a) / top; /* the dual point must be scaled by 1 - excess */
    return slack + excess * (t->a * mass - slack) + excess * excess * value;
}

/* What is known of a gap: the best score, and how far the blocks that carry weight are from complementary slackness. A
   sweep also knows by how much the objective fell. */
typedef struct {
    double top, slack, fall;
} record;

/* Add a block with its pulls z to a record. */
static void tally(const task *t, const double *x, const double *z, ptrdiff_t k, double slope, record *seen)
{
    double norm = block_norm(t, x, k), score = block_score(t, z, k);
    if (score > seen->top) seen->top = score;
    if (norm > 0) seen->slack += slope * t->price[k] * norm - dot(x + t->start[k], z, t->start[k + 1] - t->start[k]);
}

/* By how much the mass of a block grows from one x to another; nothing cancels. */
static double growth_of(const task *t, ptrdiff_t k, const double *from, const double *to)
{
    double product = 0, sizes = block_norm(t, from, k) + block_norm(t, to, k);
    for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++) product += (to[e] - from[e]) * (to[e] + from[e]);
    return sizes > 0 ? t->price[k] * (product / sizes) : 0;
}

#endif
