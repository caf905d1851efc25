#ifndef SKEIN_PEAK_H
#define SKEIN_PEAK_H

#include <stddef.h>

#include "cpu.h"

/* Loops that touch nothing but registers: what no product on one thread can exceed, for benchmarks.

   Each makes `rounds` rounds of independent chains, long enough that no instruction waits for another,
   and returns how many multiplications and additions those were. */

/* By the multiply-add of fp32 products at this level; the plain one multiplies and adds. */
size_t skein_peak_fp32(enum skein_level level, size_t rounds);

/* By VDPBF16PS; below SKEIN_AVX512BF16 bf16 products are made by those of fp32, and so is this. */
size_t skein_peak_bf16(enum skein_level level, size_t rounds);

#endif
