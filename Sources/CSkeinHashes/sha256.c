/* SHA-256 compression, FIPS 180-4. Every gradient is hashed for the ledger, so this runs beside the
   matrix products: about 0.1 % of a step with the CPU's SHA instructions, about 1 % without. */
#include "sha256.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotr(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static inline uint32_t load_be32(const uint8_t *p) {
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

void skein_sha256_compress_portable(uint32_t state[8], const uint8_t *data, size_t blocks) {
    while (blocks--) {
        uint32_t w[64];
        for (int i = 0; i < 16; i++) w[i] = load_be32(data + 4 * i);
        for (int i = 16; i < 64; i++) {
            uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
            uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i++) {
            uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
            uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i];
            uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
            uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
        data += 64;
    }
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static int has_sha(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & (1u << 29))) return 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 19)) && (c & (1u << 9)); /* SSE4.1, SSSE3 */
}

/* The state lives in two registers as ABEF and CDGH, the order that sha256rnds2 needs. */
typedef struct {
    __m128i s0, s1, save0, save1, w[4];
} lane;

#define LANE static inline __attribute__((always_inline, target("sha,sse4.1,ssse3")))

LANE void take(lane *lane, const uint32_t state[8]) {
    __m128i t = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)&state[0]), 0xB1);
    lane->s1 = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)&state[4]), 0x1B);
    lane->s0 = _mm_alignr_epi8(t, lane->s1, 8);
    lane->s1 = _mm_blend_epi16(lane->s1, t, 0xF0);
}

LANE void give(lane *lane, uint32_t state[8]) {
    __m128i t = _mm_shuffle_epi32(lane->s0, 0x1B);
    lane->s1 = _mm_shuffle_epi32(lane->s1, 0xB1);
    _mm_storeu_si128((__m128i *)&state[0], _mm_blend_epi16(t, lane->s1, 0xF0));
    _mm_storeu_si128((__m128i *)&state[4], _mm_alignr_epi8(lane->s1, t, 8));
}

LANE void begin(lane *lane, const uint8_t *data) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    lane->save0 = lane->s0;
    lane->save1 = lane->s1;
    for (int i = 0; i < 4; i++)
        lane->w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), swap);
}

/* Rounds 4i .. 4i + 3. */
LANE void rounds(lane *lane, int i) {
    __m128i now = lane->w[i & 3];
    __m128i k = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)&K[4 * i]));
    lane->s1 = _mm_sha256rnds2_epu32(lane->s1, lane->s0, k);
    lane->s0 = _mm_sha256rnds2_epu32(lane->s0, lane->s1, _mm_shuffle_epi32(k, 0x0E));
    if (i < 12) { /* schedule words 16 + 4i .. 19 + 4i in place of the ones just used */
        __m128i last = lane->w[(i + 3) & 3];
        __m128i next = _mm_sha256msg1_epu32(now, lane->w[(i + 1) & 3]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(last, lane->w[(i + 2) & 3], 4));
        lane->w[i & 3] = _mm_sha256msg2_epu32(next, last);
    }
}

LANE void end(lane *lane) {
    lane->s0 = _mm_add_epi32(lane->s0, lane->save0);
    lane->s1 = _mm_add_epi32(lane->s1, lane->save1);
}

__attribute__((target("sha,sse4.1,ssse3")))
static void compress_sha(uint32_t state[8], const uint8_t *data, size_t blocks) {
    lane one;
    take(&one, state);
    for (; blocks--; data += 64) {
        begin(&one, data);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) rounds(&one, i);
        end(&one);
    }
    give(&one, state);
}

/* Each round waits for the one before; the other message's rounds fill the time. */
__attribute__((target("sha,sse4.1,ssse3")))
static void compress_sha_two(
    uint32_t state_a[8], const uint8_t *a, uint32_t state_b[8], const uint8_t *b, size_t blocks) {
    lane one, two;
    take(&one, state_a);
    take(&two, state_b);
    for (; blocks--; a += 64, b += 64) {
        begin(&one, a);
        begin(&two, b);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            rounds(&one, i);
            rounds(&two, i);
        }
        end(&one);
        end(&two);
    }
    give(&one, state_a);
    give(&two, state_b);
}
#else
static int has_sha(void) { return 0; }
static void compress_sha(uint32_t state[8], const uint8_t *data, size_t blocks) {
    skein_sha256_compress_portable(state, data, blocks);
}
static void compress_sha_two(
    uint32_t state_a[8], const uint8_t *a, uint32_t state_b[8], const uint8_t *b, size_t blocks) {
    skein_sha256_compress_portable(state_a, a, blocks);
    skein_sha256_compress_portable(state_b, b, blocks);
}
#endif

int skein_sha256_accelerated(void) {
    static int known = -1; /* every thread would write the same value */
    int value = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (value < 0) {
        value = has_sha();
        __atomic_store_n(&known, value, __ATOMIC_RELAXED);
    }
    return value;
}

void skein_sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks) {
    if (skein_sha256_accelerated()) {
        compress_sha(state, data, blocks);
    } else {
        skein_sha256_compress_portable(state, data, blocks);
    }
}

void skein_sha256_compress_two(
    uint32_t state_a[8], const uint8_t *a, uint32_t state_b[8], const uint8_t *b, size_t blocks) {
    if (skein_sha256_accelerated()) {
        compress_sha_two(state_a, a, state_b, b, blocks);
    } else {
        skein_sha256_compress_portable(state_a, a, blocks);
        skein_sha256_compress_portable(state_b, b, blocks);
    }
}
