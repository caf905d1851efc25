#ifndef SKEIN_BF16_LEVELS_H
#define SKEIN_BF16_LEVELS_H

#include <stddef.h>

/* What skein_bf16_multiply calls: a product at one level. */
void skein_bf16_multiply_plain(const struct skein_bf16_product *product);
#if defined(__x86_64__)
void skein_bf16_multiply_avx2(const struct skein_bf16_product *product);
void skein_bf16_multiply_avx512(const struct skein_bf16_product *product);
void skein_bf16_multiply_avx512bf16(const struct skein_bf16_product *product);
#endif

/* How many of the `rest` pairs of k are done for all columns before the next ones, so that the rows
   of x stay in the second cache while panels pass. Sums wait in y meanwhile: no bits change. */
static inline size_t skein_bf16_block(size_t rest) {
    const size_t block = 384;
    return rest < block + block / 2 ? rest : block;
}

#endif
