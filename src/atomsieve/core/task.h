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
    const double *price;     /* of the norm of a block, in its unit */
    const double *each;      /* of the absolute values of its entries beside that, in its unit */
    const unsigned char *split; /* whether entries of a block have a price or a sign: they may be 0 one by one */
    const double *unit;      /* of a block */
    const double *stiffness; /* the largest curvature that a block can have, per unit of loss'' */
    const unsigned char *negative; /* whether an entry may be negative */
    const double *lower, *upper;   /* limits of entries, if blocks have one each; NULL for none, and then both */
    const double *basis;           /* n x free, by columns */
    double a, b;
    const double *ridge; /* of a block, in its unit */
    int single; /* whether every block is one entry, and none is split */
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

static int at_lower(const task *t, ptrdiff_t e, double x) { return t->lower && x <= t->lower[e]; }

static int at_upper(const task *t, ptrdiff_t e, double x) { return t->upper && x >= t->upper[e]; }

/* The number within the limits of an entry that is nearest to x. */
static double within_limits(const task *t, ptrdiff_t e, double x)
{
    return t->lower ? fmin(fmax(x, t->lower[e]), t->upper[e]) : x;
}

/* The pull on an entry less what its limits bear: at a limit that is as much as the penalty charges there, at most. */
static double left_to_bear(const task *t, ptrdiff_t e, double x, double z, double slope)
{
    double charge = slope * t->price[e];
    if (at_upper(t, e, x)) z = fmin(z, x < 0 ? -charge : charge);
    if (at_lower(t, e, x)) z = fmax(z, x > 0 ? charge : -charge);
    return z;
}

/* What a split block charges: `each |x|_1 + price |x|_2`. */
static double split_mass(const task *t, const double *x, ptrdiff_t k)
{
    double sum = 0;
    for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++) sum += fabs(x[e]);
    return t->each[k] * sum + t->price[k] * block_norm(t, x, k);
}

static double block_mass(const task *t, const double *x, ptrdiff_t k)
{
    return t->split[k] ? split_mass(t, x, k) : t->price[k] * block_norm(t, x, k);
}

/* What is left of the pull on entry e beyond a level: a soft threshold. */
static double beyond(const task *t, ptrdiff_t e, double z, double level)
{
    if (z > level) return z - level;
    return t->negative[e] && -z > level ? z + level : 0;
}

/* The score of a split block: the s with `|soft(z, s each)|_2 = s price`, which Newton's method meets from below. */
static double split_score(const task *t, const double *z, ptrdiff_t k)
{
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    double each = t->each[k], price = t->price[k], score = 0;
    for (int tries = 0; tries < 100; tries++) {
        double sum = 0, squares = 0;
        for (ptrdiff_t i = 0; i < size; i++) {
            double left = beyond(t, first + i, z[i], score * each);
            sum += fabs(left);
            squares += left * left;
        }
        if (!(squares > 0)) break;
        double length = sqrt(squares), next;
        /* at 0 the pull of the atom along z, a lower bound that is near */
        if (score == 0) next = squares / (each * sum + price * length);
        else next = score + (length - score * price) / (each * sum / length + price);
        if (!(next > score * (1 + 1e-15))) break;
        score = next;
    }
    return score;
}

/* The score of a single entry. */
static double entry_score(const task *t, ptrdiff_t e, double z, ptrdiff_t k)
{
    return (t->negative[e] ? fabs(z) : z) / t->price[k];
}

/* The score of a block at x, where the slope of the penalty is given: what its best atom pulls. */
static double block_score(const task *t, const double *x, const double *z, ptrdiff_t k, double slope)
{
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (t->lower) return entry_score(t, first, left_to_bear(t, first, x[first], z[0], slope), k);
    if (t->split[k]) return split_score(t, z, k);
    if (size == 1) return entry_score(t, first, z[0], k);
    return sqrt(dot(z, z, size)) / t->price[k];
}

static double mass_of(const task *t, const double *x)
{
    double mass = 0;
    for (ptrdiff_t k = 0; k < t->blocks; k++) mass += block_mass(t, x, k);
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

/* How far an entry with limits is from complementary slackness, seen from the number within them that is nearest to 0. */
static double slack_of(const task *t, ptrdiff_t e, double x, double z, double slope)
{
    double nearest = within_limits(t, e, 0);
    return slope * t->price[e] * (fabs(x) - fabs(nearest)) - z * (x - nearest);
}

/* Add a block with its pulls z to a record. */
static void tally(const task *t, const double *x, const double *z, ptrdiff_t k, double slope, record *seen)
{
    double norm = block_norm(t, x, k), score = block_score(t, x, z, k, slope);
    if (score > seen->top) seen->top = score;
    if (!(norm > 0)) return;
    if (t->lower) {
        seen->slack += slack_of(t, k, x[k], left_to_bear(t, k, x[k], z[0], slope), slope);
        return;
    }
    double charged = t->split[k] ? slope * split_mass(t, x, k) : slope * t->price[k] * norm;
    seen->slack += charged - dot(x + t->start[k], z, t->start[k + 1] - t->start[k]);
}

/* By how much the mass of a block grows from one x to another; nothing cancels. */
static double growth_of(const task *t, ptrdiff_t k, const double *from, const double *to)
{
    double product = 0, longer = 0, sizes = block_norm(t, from, k) + block_norm(t, to, k);
    for (ptrdiff_t e = t->start[k]; e < t->start[k + 1]; e++) {
        product += (to[e] - from[e]) * (to[e] + from[e]);
        if (t->split[k]) longer += fabs(to[e]) - fabs(from[e]);
    }
    return sizes > 0 ? t->price[k] * (product / sizes) + t->each[k] * longer : 0;
}

#endif
