#ifndef SKEIN_COPENBLAS_SHIM_H
#define SKEIN_COPENBLAS_SHIM_H

#include <cblas.h>

/* Debian's cblas.h can be another BLAS's when alternatives are switched; these two symbols exist
   only in OpenBLAS, so that a wrong library fails at link time, not in a result. */
char *openblas_get_config(void);
char *openblas_get_corename(void);
void openblas_set_num_threads(int num_threads);

#endif
