#ifndef CSKEIN_HASHES_H
#define CSKEIN_HASHES_H

/* Hashes with the CPU's own instructions. They are no part of CSkeinKernels: SkeinBasics needs them, and an edit of a
   kernel must not rebuild every room. */

#include "crc32c.h"
#include "sha256.h"

#endif
