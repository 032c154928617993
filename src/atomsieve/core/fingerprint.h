/* A fingerprint of numbers under a random key: whether they are still what they were, at the speed of a read.

   To each word of a block a word of the key is added; the product of both halves of what comes out is summed over the
   block, all modulo 2^64, once for each of two keys. If two blocks differ, both sums agree for a part of 2^-64 of all
   keys (after NH; Black, Halevi, Krawczyk, Krovetz and Rogaway, 1999). Who knows the key can deceive it: it is no digest.

   For let word and word' differ by D, and fix all other words: x = word + key is uniform, and x' = x + D. If the low
   halves p, p' differ, fix p: then `p q - p' (q + e)` with a uniform q takes no value more than once. If they agree, fix
   the high halves, which then differ: p times their difference takes no value more than once. */
#ifndef ATOMSIEVE_FINGERPRINT_H
#define ATOMSIEVE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LOW UINT64_C(0xffffffff)
#define WORDS 1024 /* of eight bytes in a block: the block and its keys fit into the fastest memory */

static void sums_of_block(const unsigned char *bytes, ptrdiff_t words, const uint64_t *restrict key, uint64_t out[2])
{
    uint64_t first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
    for (ptrdiff_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, 8);
        uint64_t a = word + key[i], b = word + key[WORDS + i];
        first += (a & LOW) * (a >> 32);
        second += (b & LOW) * (b >> 32);
    }
    out[0] = first;
    out[1] = second;
}

/* Two sums for each block of `count` bytes; zeros fill up the last word. */
static void fingerprint_of(const unsigned char *bytes, ptrdiff_t count, const uint64_t *key, uint64_t *out)
{
    ptrdiff_t words = count / 8;
    for (ptrdiff_t start = 0; start < words; start += WORDS, out += 2)
        sums_of_block(bytes + 8 * start, words - start < WORDS ? words - start : WORDS, key, out);
    if (count % 8) {
        unsigned char last[8] = {0};
        memcpy(last, bytes + 8 * words, (size_t)(count % 8));
        sums_of_block(last, 1, key, out);
    }
}

#endif
