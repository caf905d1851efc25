#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#pragma clang diagnostic ignored "-Wpsabi"

enum {
    COLUMNS = SKEIN_INT8_COLUMNS,
    /* What lies between the scales of two blocks is done in pieces. */
    PIECE = SKEIN_INT8_TURN,
    PIECES = SKEIN_INT8_BLOCK / PIECE,
    GROUPS = PIECE / 4,
};

/* Some rows of x by some columns of P. */
struct tile {
    const int8_t *x;
    size_t stride_x;
    const uint8_t *p;
    size_t blocks;
    size_t last; /* pieces of the last block */
    const float *scales_x; /* rows `blocks` apart, like the sums */
    const int32_t *sums;
    const float *scales_p; /* NULL: 1 */
    size_t step_p;         /* from one block's to the next one's */
    float *y;
    size_t stride_y;
    int accumulate;
};

#define LEVEL fused
#if defined(__x86_64__)
#define MADD
#define BYTES 16
#define ROWS 3
#define VECTORS 2
#elif defined(__aarch64__)
#define MADD
#define BYTES 16
#define ROWS 6
#define VECTORS 4
#else
#define BYTES 16
#define ROWS 1
#endif
#include "int8_product_body.h"

#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#define LEVEL dotprod
#define DOT(sum, p, x) \
    vdotq_s32(sum, vreinterpretq_s8_s32(p), vreinterpretq_s8_s32(x))
#define BYTES 16
#define ROWS 6
#define VECTORS 4
#include "int8_product_body.h"
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#define LEVEL i8mm
#define MATRIX vusmmlaq_s32
#define BYTES 16
#define ROWS 6
#define VECTORS 4
#include "int8_product_body.h"
#pragma clang attribute pop
#endif

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#define LEVEL avx2
#define MADD
#define BYTES 32
#define ROWS 3
#define VECTORS 4
#include "int8_product_body.h"
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx2,fma,avxvnni"))), apply_to = function)
#define LEVEL avxvnni
#define DOT _mm256_dpbusd_avx_epi32
#define BYTES 32
#define ROWS 6
#define VECTORS 2
#include "int8_product_body.h"
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), apply_to = function)
#define LEVEL avx512
#define MADD
#define BYTES 64
#define ROWS 6
#define VECTORS 4
#include "int8_product_body.h"
#pragma clang attribute pop

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma"))), \
    apply_to = function)
#define LEVEL avx512vnni
#define DOT _mm512_dpbusd_epi32
#define BYTES 64
#define ROWS 6
#define VECTORS 4
#include "int8_product_body.h"
#pragma clang attribute pop
#endif

typedef void multiply(const struct skein_int8_product *);

void skein_int8_multiply(enum skein_level level, const struct skein_int8_product *product) {
    if (product->rows == 0 || product->n == 0) return;
    multiply *at = multiply_fused;
#if defined(__x86_64__)
    if (level >= SKEIN_AVX512VNNI) at = multiply_avx512vnni;
    else if (level >= SKEIN_AVX512) at = multiply_avx512;
    else if (level >= SKEIN_AVXVNNI) at = multiply_avxvnni;
    else if (level >= SKEIN_AVX2) at = multiply_avx2;
#elif defined(__aarch64__)
    if (level >= SKEIN_I8MM) at = multiply_i8mm;
    else if (level >= SKEIN_DOTPROD) at = multiply_dotprod;
#endif
    (void)level;
    at(product);
}
