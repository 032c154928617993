/* Choices over all blocks at once: the best scores, and the blocks that a safe rule keeps. */
#ifndef ATOMSIEVE_CHOICE_H
#define ATOMSIEVE_CHOICE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number that exactly `most` of the numbers reach, up to ties; the numbers are mixed up. */
static double reached_by(double *v, ptrdiff_t count, ptrdiff_t most)
{
    ptrdiff_t low = 0, high = count - 1, wanted = count - most;
    while (low < high) {
        double pivot = v[(low + high) / 2];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i <= j) {
                double swap = v[i];
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (wanted <= j) high = j;
        else if (wanted >= i) low = i;
        else break;
    }
    return v[wanted];
}

/* Choose the best scores outside of some blocks, which rise: `most` of them, less those that are not above -inf, and
   NaN; of ties, the first ones. A score is held for comparison only if it is above those that are certain to be among
   the best, so few of them are. Returns how many are chosen, or -1 without memory. */
static ptrdiff_t choose_best(const double *scores, ptrdiff_t count, ptrdiff_t most, const int64_t *blocks,
                             ptrdiff_t inside, int64_t *chosen)
{
    ptrdiff_t room = most < count / 4 ? 4 * most : count + 1, held = 0, ties = most;
    double *open = malloc((size_t)room * sizeof *open), least = -INFINITY;
    if (!open) return -1;
    for (ptrdiff_t i = 0, k = 0; k <= inside; i++, k++)
        for (ptrdiff_t end = k < inside ? (ptrdiff_t)blocks[k] : count; i < end; i++) {
            if (!(scores[i] > least)) continue;
            if (held == room) {
                least = reached_by(open, held, most);
                memmove(open, open + held - most, (size_t)most * sizeof *open);
                held = most;
                if (!(scores[i] > least)) continue;
            }
            open[held++] = scores[i];
        }
    int all = held <= most && least == -INFINITY;
    if (!all) least = reached_by(open, held, most);
    for (ptrdiff_t i = 0; i < held; i++) ties -= open[i] > least;
    free(open);
    held = 0;
    for (ptrdiff_t i = 0, k = 0; k <= inside; i++, k++)
        for (ptrdiff_t end = k < inside ? (ptrdiff_t)blocks[k] : count; i < end; i++)
            if (scores[i] > least || (!all && scores[i] == least && ties-- > 0)) chosen[held++] = i;
    return held;
}

/* The highest of the scores outside of some blocks, which rise; -inf if there is none. */
static double highest_outside(const double *scores, ptrdiff_t count, const int64_t *blocks, ptrdiff_t inside)
{
    double highest = -INFINITY;
    for (ptrdiff_t i = 0, k = 0; k <= inside; i++, k++)
        for (ptrdiff_t end = k < inside ? (ptrdiff_t)blocks[k] : count; i < end; i++)
            if (scores[i] > highest) highest = scores[i];
    return highest;
}

/* Mark the blocks that may have the best score at the optimum: each score moves by no more than its reach, which is
   radius * spread + doubt * length, and the best one does not end below `floor`. A NaN rules nothing out. */
static void mark_kept(const double *scores, const double *spread, const double *length, ptrdiff_t count, double radius,
                      double doubt, double floor, unsigned char *kept)
{
    int odd = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        double least = scores[i] - (radius * spread[i] + doubt * length[i]);
        if (least > floor) floor = least;
        odd |= isnan(least) != 0;
    }
    if (odd) floor = NAN;
    for (ptrdiff_t i = 0; i < count; i++)
        kept[i] = !(scores[i] + (radius * spread[i] + doubt * length[i]) < floor);
}

#endif
