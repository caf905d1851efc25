#ifndef SKEIN_MATVEC_H
#define SKEIN_MATVEC_H

#include <stddef.h>
#include <stdint.h>
#include "cpu.h"

/* Products with weights kept as small as in the file, for generating text.

   A packed matrix holds its rows in groups of 16, so that each lane of a vector belongs to one row
   and no sum crosses lanes. The last group is padded with zero rows. Inside a group, for each block
   of 32 columns:

     Q4_0  16 x f16 scale d;               4 x 16 x 4 bytes of nibbles
     Q4_1  16 x f16 d; 16 x f16 minimum m; 4 x 16 x 4 bytes of nibbles
     Q8_0  16 x f16 d;                     32 x 16 signed bytes

   and for each 256 columns:

     Q4_K  16 x f16 d; 16 x f16 dmin; 8 x 16 scales; 8 x 16 minima; 8 x 4 x 16 x 4 bytes of nibbles
     Q5_K  the same head;                                           256 x 16 bytes, codes 0 ... 31
     Q6_K  16 x f16 d; 32 zero bytes; 16 x 16 signed scales;        256 x 16 signed bytes

   where word c of a row has the file's bytes 4c ..< 4c + 4 of its block: low nibbles are columns 4c
   ..< 4c + 4, high nibbles columns 16 + 4c ..< 16 + 4c + 4. The plain types are columns x 16
   numbers.

   Every level computes the same sums in the same order; those with fused multiply-add give the same
   bits. A row's result does not depend on the other rows of the call. */
enum skein_packed {
    SKEIN_PACKED_Q4_0 = 0,
    SKEIN_PACKED_Q4_1 = 1,
    SKEIN_PACKED_Q8_0 = 2,
    SKEIN_PACKED_Q4_K = 3,
    SKEIN_PACKED_Q5_K = 4,
    SKEIN_PACKED_Q6_K = 5,
    SKEIN_PACKED_BF16 = 6,
    SKEIN_PACKED_F16 = 7,
    SKEIN_PACKED_F32 = 8,
};

/* Bytes of one group of 16 rows. `columns` is a multiple of 32 for the block types, of 256 for the K
   types. */
size_t skein_packed_group_bytes(enum skein_packed type, size_t columns);

/* Packs one group. rows: 16 pointers to rows of any alignment, NULL for a row of zeros: the file's,
   or for the K types, for each 256 columns: d and dmin as f16, 16 bytes of scales (8 and 8 minima but
   for Q6_K), the codes of one row in the order above.
   group: receives skein_packed_group_bytes. */
void skein_pack_group(enum skein_packed type, const void *const rows[16], size_t columns,
    void *group);

/* x as the nibble types need it, [columns], and after it the sum of each block of 32, [columns /
   32]: element 8 c + i of a block is the x that meets nibble i of word c, divided by 16^i (i < 7),
   because the nibble is not shifted down. Exact unless an element falls below the smallest normal
   number. */
void skein_spread(enum skein_level level, const float *x, size_t columns, float *spread);

/* y[r] = (add ? y[r] : 0) + W[r] . x for the rows r of `groups` groups; y: `rows` floats, which may
   be fewer than 16 x groups. x: `columns` floats; spread: from skein_spread, not used for Q8_0, Q6_K
   and the plain types. */
void skein_matvec(enum skein_level level, enum skein_packed type, const void *packed,
    size_t columns, size_t groups, const float *x, const float *spread, float *y, size_t rows,
    int add);

/* Vectors that are multiplied together: `stride_x` floats from one x to the next, `stride_spread`
   from one spread to the next. */
struct skein_vectors {
    const float *x;
    size_t stride_x;
    const float *spread;
    size_t stride_spread;
    size_t count;
};

/* skein_matvec for several vectors, with one read of the weights from memory: y[v * stride_y + r]
   has the bits that vector v has alone, whichever others there are. */
void skein_matvec_rows(enum skein_level level, enum skein_packed type, const void *packed,
    size_t columns, size_t groups, const struct skein_vectors *vectors, float *y, size_t stride_y,
    size_t rows, int add);

/* Columns first ..< first + count of one group as numbers, out: [count, 16], `stride` floats from one
   column to the next: bit for bit the weights of the file. `first` and `count` are multiples of 32 for
   the block types. */
void skein_unpack_group(enum skein_level level, enum skein_packed type, const void *group,
    size_t first, size_t count, float *out, size_t stride);

/* One query over `keys` cached ones: out = softmax(scale q K^T) V.
   q: [n]; k: [keys / 16 rounded up, n, 16]; v: [keys, padded], padded = n rounded up to 16;
   scores: keys rounded up to 16, overwritten; out: [n]. */
void skein_attend(enum skein_level level, const float *q, const float *k, const float *v,
    size_t keys, size_t n, float scale, float *scores, float *out);

/* skein_attend for several query heads over the same keys and values, each with the bits that it has
   alone. q, out: [heads, n]; scores: SKEIN_ATTEND_TOGETHER x keys rounded up to 16. */
enum { SKEIN_ATTEND_TOGETHER = 3 };
void skein_attend_heads(enum skein_level level, const float *q, size_t heads, const float *k,
    const float *v, size_t keys, size_t n, float scale, float *scores, float *out);

/* How keys and values are held. Rounding is a function of a number alone (bf16) or of the n numbers
   of one head of one token (int8: codes -127 ... 127 times largest / 127). */
enum skein_cache_type {
    SKEIN_CACHE_F32 = 0,
    SKEIN_CACHE_BF16 = 1,
    SKEIN_CACHE_INT8 = 2,
};

/* Bytes of a group of 16 keys: n x 16 numbers, with int8 behind 16 scales as floats. */
size_t skein_cache_key_bytes(enum skein_cache_type type, size_t n);
/* Bytes of one value: n numbers, rounded up to 16. The scales of int8 lie apart. */
size_t skein_cache_value_bytes(enum skein_cache_type type, size_t n);

/* Rounds one head's key and value, [n], into a lane of a group of keys, a value and its scale. */
void skein_cache_put(enum skein_cache_type type, const float *k, const float *v, size_t n,
    void *key_group, size_t lane, void *value, float *value_scale);

/* Keys and values with room for `slots` tokens, a multiple of 16: token t lies at t % slots. The
   tokens `first` ..< `end` are seen, at least one; no later one was written over them. value_scales:
   [slots], only of int8. */
struct skein_cached {
    enum skein_cache_type type;
    const void *k, *v;
    const float *value_scales;
    size_t slots, first, end;
};

/* skein_attend over these tokens; with a cap above 0 cap tanh(scale q . k / cap) takes the place of
   a score. scores: end - first + 15, rounded up to 16, overwritten. */
void skein_attend_cached(enum skein_level level, const float *q, const struct skein_cached *cached,
    size_t n, float scale, float cap, float *scores, float *out);

/* Groups of keys as floats, out: [groups, n, 16]. */
void skein_cached_keys(enum skein_level level, enum skein_cache_type type, const void *keys,
    size_t n, size_t groups, float *out);

/* Values as floats, out: [count, padded]. */
void skein_cached_values(enum skein_level level, enum skein_cache_type type, const void *values,
    const float *scales, size_t padded, size_t count, float *out);

/* row = softmax(scale row[0 ..< seen]), then zeros up to `count`. seen is at least 1. */
void skein_softmax_row(enum skein_level level, float *row, size_t seen, size_t count, float scale);

#endif
