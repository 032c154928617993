/* Choices over all blocks at once: the best scores, and the blocks that a safe rule keeps. */
#ifndef ATOMSIEVE_CHOICE_H
#define ATOMSIEVE_CHOICE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number that exactly `most` of the numbers reach, up to ties; the numbers are mixed up, with these at the end. Which
   of two numbers is less cannot be guessed: what is swapped does not depend on it, and only the next place does. */
static double reached_by(double *v, ptrdiff_t count, ptrdiff_t most)
{
    ptrdiff_t low = 0, high = count - 1, wanted = count - most;
    while (low < high) {
        double pivot = v[(low + high) / 2];
        ptrdiff_t less = low, equal;
        for (ptrdiff_t i = low; i <= high; i++) {
            double here = v[i];
            v[i] = v[less];
            v[less] = here;
            less += here < pivot;
        }
        equal = less;
        for (ptrdiff_t i = less; i <= high; i++) {
            double here = v[i];
            v[i] = v[equal];
            v[equal] = here;
            equal += here == pivot;
        }
        if (wanted < less) high = less - 1;
        else if (wanted < equal) return pivot;
        else low = equal;
    }
    return v[wanted];
}

/* The highest of some scores; -inf if there is none, and NaN does not count. */
static double highest(const double *scores, ptrdiff_t count)
{
    double high = -INFINITY;
#pragma omp simd reduction(max : high)
    for (ptrdiff_t i = 0; i < count; i++) high = scores[i] > high ? scores[i] : high;
    return high;
}

/* Scores that are looked at together: nearly all of them are too low. */
#define AT_ONCE 8

/* Pass over scores that are lower: a place from i on, at most the end, before which none is as high as the least. */
static ptrdiff_t pass_over(const double *scores, ptrdiff_t i, ptrdiff_t end, double least)
{
    while (i + AT_ONCE <= end && !(highest(scores + i, AT_ONCE) >= least)) i += AT_ONCE;
    return i;
}

/* The least of the `most` best scores outside of some blocks, which rise, and in `ties` how many of that score are among
   them; all that are above -inf if there are no more. A score is held for comparison only if it is above those that are
   certain to be among the best, so few of them are. NaN without memory. */
static double least_of_best(const double *scores, ptrdiff_t count, ptrdiff_t most, const int64_t *blocks,
                            ptrdiff_t inside, ptrdiff_t *ties)
{
    ptrdiff_t room = (most < count / 4 ? 4 * most : count) + AT_ONCE, held = 0;
    double *open = malloc((size_t)room * sizeof *open), least = -INFINITY;
    if (!open) return NAN;
    for (ptrdiff_t i = 0, k = 0; k <= inside; i++, k++)
        for (ptrdiff_t end = k < inside ? (ptrdiff_t)blocks[k] : count, stop; i < end;) {
            i = pass_over(scores, i, end, least);
            stop = end - i < AT_ONCE ? end : i + AT_ONCE;
            if (held > room - AT_ONCE) {
                least = reached_by(open, held, most);
                memmove(open, open + held - most, (size_t)most * sizeof *open);
                held = most;
            }
            for (; i < stop; i++) {
                open[held] = scores[i];
                held += scores[i] > least;
            }
        }
    *ties = 0;
    if (held > most || least > -INFINITY) {
        least = reached_by(open, held, most);
        *ties = most;
        for (ptrdiff_t i = 0; i < held; i++) *ties -= open[i] > least;
    }
    free(open);
    return least;
}

/* Choose some blocks, which rise, and the best scores outside of them: `most`, less those that are not above -inf, and
   NaN; of ties, the first ones. Returns how many are chosen, in rising order, or -1 without memory. */
static ptrdiff_t choose_best(const double *scores, ptrdiff_t count, ptrdiff_t most, const int64_t *blocks,
                             ptrdiff_t inside, int64_t *chosen)
{
    ptrdiff_t held = 0, ties = 0;
    double least = most ? least_of_best(scores, count, most, blocks, inside, &ties) : INFINITY;
    if (isnan(least)) return -1;
    for (ptrdiff_t i = 0, k = 0; k <= inside; i++, k++) {
        for (ptrdiff_t end = k < inside ? (ptrdiff_t)blocks[k] : count, stop; i < end;) {
            i = pass_over(scores, i, end, least);
            stop = end - i < AT_ONCE ? end : i + AT_ONCE;
            for (; i < stop; i++)
                if (scores[i] > least || (scores[i] == least && ties-- > 0)) chosen[held++] = i;
        }
        if (k < inside) chosen[held++] = blocks[k];
    }
    return held;
}

/* The highest of the scores outside of some blocks, which rise; -inf if there is none. */
static double highest_outside(const double *scores, ptrdiff_t count, const int64_t *blocks, ptrdiff_t inside)
{
    double high = -INFINITY;
    for (ptrdiff_t i = 0, k = 0; k <= inside; k++) {
        ptrdiff_t end = k < inside ? (ptrdiff_t)blocks[k] : count;
        double here = highest(scores + i, end - i);
        if (here > high) high = here;
        i = end + 1;
    }
    return high;
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
