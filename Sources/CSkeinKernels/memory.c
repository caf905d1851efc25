#include "CSkeinKernels.h"

#include <stddef.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

void skein_keep_freed_memory(void) {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}
