/* What the machine can do. The compiler's own answer (__builtin_cpu_supports) needs a library that not all have. */
#ifndef ATOMSIEVE_MACHINE_H
#define ATOMSIEVE_MACHINE_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>

/* Whether there are vectors of four numbers with fused products (AVX2 and FMA) whose registers the system keeps. */
static int has_wide_vectors(void)
{
    unsigned a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    const unsigned needed = 1u << 12 | 1u << 27 | 1u << 28; /* FMA, XGETBV, AVX */
    if ((c & needed) != needed) return 0;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if ((kept & 6) != 6) return 0; /* both halves of the registers */
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 5); /* AVX2 */
}
#else
static int has_wide_vectors(void) { return 0; }
#endif

#endif
