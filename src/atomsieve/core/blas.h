/* BLAS and LAPACK by the function pointers that SciPy exports: the library that NumPy's users have already loaded. */
#ifndef ATOMSIEVE_BLAS_H
#define ATOMSIEVE_BLAS_H

typedef struct {
    void (*dgemm)(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *, double *,
                  int *);
    void (*dsyrk)(char *, char *, int *, int *, double *, double *, int *, double *, double *, int *);
    void (*dtrsm)(char *, char *, char *, char *, int *, int *, double *, double *, int *, double *, int *);
    void (*dtrsv)(char *, char *, char *, int *, double *, int *, double *, int *);
    void (*dpotrf)(char *, int *, double *, int *, int *);
    void (*dsyev)(char *, char *, int *, double *, int *, double *, double *, int *, int *);
} blas_table;

static blas_table blas;

#endif
