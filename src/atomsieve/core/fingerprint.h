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
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define LOW UINT64_C(0xffffffff)
#define WORDS 1024 /* of eight bytes in a block: the block and its keys fit into the fastest memory */

#ifdef __AVX2__
/* The same for words in groups of four; compilers multiply all 64 bits, which takes three times as long. */
static ptrdiff_t sums_of_fours(const unsigned char *bytes, ptrdiff_t words, const uint64_t *key, uint64_t out[2])
{
    __m256i first = _mm256_setzero_si256(), second = first;
    ptrdiff_t i = 0;
    for (; i + 4 <= words; i += 4) {
        __m256i word = _mm256_loadu_si256((const __m256i *)(bytes + 8 * i));
        __m256i a = _mm256_add_epi64(word, _mm256_loadu_si256((const __m256i *)(key + i)));
        __m256i b = _mm256_add_epi64(word, _mm256_loadu_si256((const __m256i *)(key + WORDS + i)));
        first = _mm256_add_epi64(first, _mm256_mul_epu32(a, _mm256_srli_epi64(a, 32)));
        second = _mm256_add_epi64(second, _mm256_mul_epu32(b, _mm256_srli_epi64(b, 32)));
    }
    uint64_t sums[8];
    _mm256_storeu_si256((__m256i *)sums, first);
    _mm256_storeu_si256((__m256i *)(sums + 4), second);
    out[0] = sums[0] + sums[1] + sums[2] + sums[3];
    out[1] = sums[4] + sums[5] + sums[6] + sums[7];
    return i;
}
#else
static ptrdiff_t sums_of_fours(const unsigned char *bytes, ptrdiff_t words, const uint64_t *key, uint64_t out[2])
{
    (void)bytes, (void)words, (void)key;
    out[0] = out[1] = 0;
    return 0;
}
#endif

static void sums_of_block(const unsigned char *bytes, ptrdiff_t words, const uint64_t *restrict key, uint64_t out[2])
{
    ptrdiff_t i = sums_of_fours(bytes, words, key, out);
    uint64_t first = out[0], second = out[1];
#pragma omp simd reduction(+ : first, second)
    for (ptrdiff_t k = i; k < words; k++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * k, 8);
        uint64_t a = word + key[k], b = word + key[WORDS + k];
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
