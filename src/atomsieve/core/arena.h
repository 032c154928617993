/* Memory for one call; all of it is released together. */
#ifndef ATOMSIEVE_ARENA_H
#define ATOMSIEVE_ARENA_H

#include <stddef.h>
#include <stdlib.h>

/* Memory that is released all at once. */
#define HELD 64
typedef struct {
    void *held[HELD];
    int count, failed;
} arena;

static void *take(arena *a, ptrdiff_t count, size_t size)
{
    void *memory = a->count < HELD ? malloc((size_t)(count > 0 ? count : 1) * size) : NULL;
    if (memory) a->held[a->count++] = memory;
    else a->failed = 1;
    return memory;
}

static double *take_numbers(arena *a, ptrdiff_t count) { return take(a, count, sizeof(double)); }

static ptrdiff_t *take_places(arena *a, ptrdiff_t count) { return take(a, count, sizeof(ptrdiff_t)); }

static void release_all(arena *a)
{
    while (a->count) free(a->held[--a->count]);
}

#endif
