#pragma STDC FP_CONTRACT OFF

#include "CSkeinKernels.h"
#include "bf16_levels.h"

#include <stdlib.h>

const char *skein_bf16_kernel_name(void) {
    const enum skein_level level = skein_level();
    if (level >= SKEIN_AVX512BF16) return "avx512bf16";
    if (level >= SKEIN_AVX512) return "avx512";
    if (level >= SKEIN_AVX2) return "avx2";
#if defined(__aarch64__)
    if (level >= SKEIN_FUSED) return "fused";
#endif
    return "plain";
}

size_t skein_bf16_stride(size_t k) {
    const size_t line = 32, stride = (k + line - 1) / line * line;
    return stride % (16 * line) == 0 ? stride + line : stride;
}

void *skein_bf16_allocate(size_t bytes) {
    return aligned_alloc(64, bytes == 0 ? 64 : (bytes + 63) / 64 * 64);
}

void skein_bf16_free(void *memory) { free(memory); }

/* Subnormal numbers count as zero and become zero, as in VDPBF16PS, while a lower level runs. Arm
   decides before it rounds what is subnormal, x86 afterwards: a sum below 2^-126 by at most 2^-151,
   which is rounded up to 2^-126 on x86, is zero on Arm. */
static void multiply_flushing(
    void (*multiply)(const struct skein_bf16_product *), const struct skein_bf16_product *product) {
#if defined(__x86_64__)
    const unsigned flush = 0x8040, before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | flush);
    multiply(product);
    __builtin_ia32_ldmxcsr(before);
#elif defined(__aarch64__)
    const uint64_t flush = 1 << 24;
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before)::"memory");
    __asm__ volatile("msr fpcr, %0" ::"r"(before | flush) : "memory");
    multiply(product);
    __asm__ volatile("msr fpcr, %0" ::"r"(before) : "memory");
#else
    multiply(product);
#endif
}

/* Rounds the sums of a product at a level whose kernel only makes floats. */
static void round_sums(enum skein_level level, const struct skein_bf16_product *product) {
    if (product->rounded != NULL)
        skein_bf16_round_rows(
            level, product->y, product->stride_y, product->rows, product->n, product->rounded,
            product->stride_rounded);
}

void skein_bf16_multiply(enum skein_level level, const struct skein_bf16_product *product) {
    if (product->rows == 0 || product->n == 0) return;
#if defined(__x86_64__)
    if (level >= SKEIN_AVX512BF16) {
        skein_bf16_multiply_avx512bf16(product);
        return;
    }
    multiply_flushing(
        level >= SKEIN_AVX512 ? skein_bf16_multiply_avx512
            : level >= SKEIN_AVX2 ? skein_bf16_multiply_avx2 : skein_bf16_multiply_plain,
        product);
#elif defined(__aarch64__)
    multiply_flushing(
        level >= SKEIN_FUSED ? skein_bf16_multiply_fused : skein_bf16_multiply_plain, product);
#else
    multiply_flushing(skein_bf16_multiply_plain, product);
#endif
    round_sums(level, product);
}
