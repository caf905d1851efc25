#ifndef SKEIN_PEAK_H
#define SKEIN_PEAK_H

#include <stddef.h>

#include "cpu.h"

/* Loops that use only registers: the limit of any product on one thread, for benchmarks.

   Each runs `rounds` rounds of independent chains, long enough that no instruction waits for
   another, and returns the number of multiplications and additions. */

/* By the multiply-add of fp32 products at this level; the plain one multiplies and adds. */
size_t skein_peak_fp32(enum skein_level level, size_t rounds);

/* By VDPBF16PS; below SKEIN_AVX512BF16 by those of fp32, as bf16 products are. */
size_t skein_peak_bf16(enum skein_level level, size_t rounds);

/* By the instructions of int8 products (int8_product.h): VPDPBUSD, or VPMADDWD and an addition; on Arm
   USMMLA, SDOT, or SMULL and SADALP. */
size_t skein_peak_int8(enum skein_level level, size_t rounds);

#endif
