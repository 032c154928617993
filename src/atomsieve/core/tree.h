/* Trees: sums over subtrees and along paths from the root, and the best fit of bounded variation over the edges.

   Nodes are numbered so that `above`, the node that one hangs on, comes before it; it is -1 for a root. */
#ifndef ATOMSIEVE_TREE_H
#define ATOMSIEVE_TREE_H

#include "exact.h"

/* In place: every row becomes the sum of the rows below it and its own, or of those on the way from its root. */
static void along_tree(const int64_t *above, ptrdiff_t count, ptrdiff_t width, int upward, double *restrict row)
{
    for (ptrdiff_t step = 0; step < count; step++) {
        ptrdiff_t k = upward ? count - 1 - step : step, from = upward ? k : above[k], to = upward ? above[k] : k;
        if (above[k] < 0) continue;
        for (ptrdiff_t c = 0; c < width; c++) row[to * width + c] += row[from * width + c];
    }
}

/* The same for single numbers in twice the precision, beside the sums of their radii: four rows of sums. */
static void enclosed_along_tree(const int64_t *above, ptrdiff_t count, int upward, double *restrict found)
{
    double *total = found, *small = found + count, *size = found + 2 * count, *spread = found + 3 * count;
    for (ptrdiff_t step = 0; step < count; step++) {
        ptrdiff_t k = upward ? count - 1 - step : step, from = upward ? k : above[k], to = upward ? above[k] : k;
        if (above[k] < 0) continue;
        precise sum = plus((precise){total[to], small[to], size[to]}, total[from], small[from]);
        total[to] = sum.total;
        small[to] = sum.small;
        size[to] = sum.size + size[from];
        spread[to] += spread[from];
    }
}

/* Knots of the derivatives of messages, as in steps.h, in heaps that can be merged: one gives the first knot of each
   message, the other the last one. A knot that one of them has given is gone from both. */
typedef struct {
    double *place, *slope, *level;
    int32_t *left[2], *right[2];
    unsigned char *rank[2], *gone;
    int32_t count;
} heaps;

static int32_t merged(heaps *h, int side, int32_t a, int32_t b)
{
    if (a < 0) return b;
    if (b < 0) return a;
    if (side ? h->place[b] > h->place[a] : h->place[b] < h->place[a]) {
        int32_t other = a;
        a = b;
        b = other;
    }
    int32_t *left = h->left[side], *right = h->right[side];
    unsigned char *rank = h->rank[side];
    right[a] = merged(h, side, right[a], b);
    if (left[a] < 0 || rank[left[a]] < rank[right[a]]) {
        int32_t other = left[a];
        left[a] = right[a];
        right[a] = other;
    }
    rank[a] = (unsigned char)(right[a] < 0 ? 1 : rank[right[a]] + 1);
    return a;
}

/* The heap without its first knot. */
static int32_t without_top(heaps *h, int side, int32_t top)
{
    return merged(h, side, h->left[side][top], h->right[side][top]);
}

/* A line `slope x + level` and the knots beyond it, from one end of a message. */
typedef struct {
    double slope, level;
    int32_t top;
} end;

/* Follow a message from its end until it reaches a bound: -bound from the left (side 0), bound from the right. */
static end reached(heaps *h, int side, end e, double bound)
{
    for (; e.top >= 0; e.top = without_top(h, side, e.top)) {
        int32_t k = e.top;
        if (h->gone[k]) continue;
        double there = e.slope * h->place[k] + e.level;
        if (side ? there < bound : there > -bound) break;
        e.slope += side ? -h->slope[k] : h->slope[k];
        e.level += side ? -h->level[k] : h->level[k];
        h->gone[k] = 1;
    }
    return e;
}

static int32_t new_knot(heaps *h, double place, double slope, double level)
{
    int32_t k = h->count++;
    h->place[k] = place;
    h->slope[k] = slope;
    h->level[k] = level;
    h->gone[k] = 0;
    for (int side = 0; side < 2; side++) {
        h->left[side][k] = h->right[side][k] = -1;
        h->rank[side][k] = 1;
    }
    return k;
}

/* Cut a message off beyond +-bound: the ends become constants, with a knot each; returns where those are. */
static void cut_off(heaps *h, end *message, double bound, double *least, double *most)
{
    end l = reached(h, 0, message[0], bound);
    *least = (-bound - l.level) / l.slope;
    int32_t first = new_knot(h, *least, l.slope, l.level + bound);
    end r = reached(h, 1, message[1], bound);
    *most = (bound - r.level) / r.slope;
    int32_t last = new_knot(h, *most, -r.slope, bound - r.level);
    message[0] = (end){0.0, -bound, merged(h, 0, merged(h, 0, l.top, first), last)};
    message[1] = (end){0.0, bound, merged(h, 1, merged(h, 1, r.top, first), last)};
}

/* A tree, and what is asked for: `sum_i w_i (x_i - y_i)^2 / 2 + sum of price |x_i - x_above(i)|`, one price per node. */
typedef struct {
    const int64_t *above;
    const double *y, *w, *price;
    ptrdiff_t count;
} tree;

/* Johnson's dynamic program over a tree: messages go up, merged at every node, in time O(n log n); levels come down.
   `message` has room for two ends of each node, `x` for the levels, `least` and `most` for where they are cut off. */
static void denoise_tree(const tree *t, heaps *h, end *message, double *least, double *most, double *x)
{
    for (ptrdiff_t k = 0; k < t->count; k++)
        message[2 * k] = message[2 * k + 1] = (end){t->w[k], -t->w[k] * t->y[k], -1};
    for (ptrdiff_t k = t->count - 1; k >= 0; k--) {
        ptrdiff_t to = t->above[k];
        end *own = message + 2 * k;
        if (to < 0) {
            end e = reached(h, 0, own[0], 0.0);
            x[k] = -e.level / e.slope;
            continue;
        }
        least[k] = -INFINITY;
        most[k] = INFINITY;
        if (t->price[k] < INFINITY) cut_off(h, own, t->price[k], &least[k], &most[k]);
        for (int side = 0; side < 2; side++) {
            end *there = message + 2 * to + side;
            there->slope += own[side].slope;
            there->level += own[side].level;
            there->top = merged(h, side, there->top, own[side].top);
        }
    }
    for (ptrdiff_t k = 0; k < t->count; k++)
        if (t->above[k] >= 0) x[k] = fmin(fmax(x[t->above[k]], least[k]), most[k]);
}

#endif
