/* Choices over all blocks at once: the best scores, and the blocks that a safe rule keeps. */
#ifndef ATOMSIEVE_CHOICE_H
#define ATOMSIEVE_CHOICE_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

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

#define BINS 256
/* The bin of a score in a histogram; an infinite score has no product with a scale of 0. */
static ptrdiff_t bin_of(double score, double scale)
{
    if (score == INFINITY || score * scale >= BINS - 1) return BINS - 1;
    return score > 0 ? (ptrdiff_t)(score * scale) : 0;
}

/* Mark the best scores, `most` of them, less those that are not above -inf, and NaN. Most scores are put aside by a
   histogram, so that few have to be compared with each other. */
static int mark_best(const double *scores, ptrdiff_t count, ptrdiff_t most, unsigned char *chosen)
{
    ptrdiff_t bins[BINS] = {0}, held = 0, sure = 0, bin = BINS - 1;
    double top = -INFINITY;
    for (ptrdiff_t i = 0; i < count; i++) {
        chosen[i] = scores[i] > -INFINITY;
        held += chosen[i];
        if (scores[i] < INFINITY && scores[i] > top) top = scores[i];
    }
    if (held <= most) return 0;
    double scale = top > 0 ? BINS / top : 0;
    for (ptrdiff_t i = 0; i < count; i++)
        if (chosen[i]) bins[bin_of(scores[i], scale)]++;
    for (; bin > 0 && sure + bins[bin] < most; bin--) sure += bins[bin];
    double *open = malloc((size_t)bins[bin] * sizeof *open);
    if (!open) return -1;
    ptrdiff_t kept = 0;
    for (ptrdiff_t i = 0; i < count; i++)
        if (chosen[i] && bin_of(scores[i], scale) == bin) open[kept++] = scores[i];
    double least = reached_by(open, kept, most - sure);
    free(open);
    ptrdiff_t ties = most;
    for (ptrdiff_t i = 0; i < count; i++) ties -= scores[i] > least;
    for (ptrdiff_t i = 0; i < count; i++) {
        int tie = scores[i] == least && ties > 0;
        ties -= tie;
        chosen[i] = scores[i] > least || tie;
    }
    return 0;
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
