#ifndef SKEIN_BF16_LEVELS_H
#define SKEIN_BF16_LEVELS_H

#include <stddef.h>
#include <stdint.h>

/* What skein_bf16_multiply calls: a product at one level. */
void skein_bf16_multiply_plain(const struct skein_bf16_product *product);
#if defined(__aarch64__)
void skein_bf16_multiply_fused(const struct skein_bf16_product *product);
#endif
#if defined(__x86_64__)
void skein_bf16_multiply_avx2(const struct skein_bf16_product *product);
void skein_bf16_multiply_avx512(const struct skein_bf16_product *product);
void skein_bf16_multiply_avx512bf16(const struct skein_bf16_product *product);

/* Rounding and packing of whole vectors; they return how many k (columns for a pair) are done. */
size_t skein_bf16_round_row_avx512(const float *x, size_t k, uint16_t *out);
size_t skein_bf16_round_row_avx512bf16(const float *x, size_t k, uint16_t *out);
size_t skein_bf16_pack_panel_avx512(const float *w, size_t stride, size_t k, uint16_t *p);
size_t skein_bf16_pack_panel_avx512bf16(const float *w, size_t stride, size_t k, uint16_t *p);
size_t skein_bf16_pack_pair_avx512(
    const float *a, const float *b, size_t n, uint16_t *p, size_t panel);
size_t skein_bf16_pack_pair_avx512bf16(
    const float *a, const float *b, size_t n, uint16_t *p, size_t panel);
#endif

/* How many of the `rest` pairs of k are done for all columns before the next ones, so that the rows
   of x stay in the second-level cache while panels pass. Sums wait in y: no bits change. */
static inline size_t skein_bf16_block(size_t rest) {
    const size_t block = 768;
    return rest < block + block / 2 ? rest : block;
}

#endif
