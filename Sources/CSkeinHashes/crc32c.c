/* CRC-32C (Castagnoli) with the CPU's own instruction: 8 bytes in 3 cycles, about five times as fast as
   tables. Every byte of every frame passes here, in both directions. */
#include "crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <nmmintrin.h>

static int has_crc(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 20)); /* SSE4.2 */
}

__attribute__((target("sse4.2")))
uint32_t skein_crc32c_update(uint32_t crc, const uint8_t *data, size_t count) {
    uint64_t state = crc;
    for (; count >= 8; data += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        state = _mm_crc32_u64(state, word);
    }
    crc = (uint32_t)state;
    while (count--) crc = _mm_crc32_u8(crc, *data++);
    return crc;
}
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

static int has_crc(void) { return 1; } /* the compiler was told so: every Apple processor has it */

uint32_t skein_crc32c_update(uint32_t crc, const uint8_t *data, size_t count) {
    for (; count >= 8; data += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        crc = __crc32cd(crc, word);
    }
    while (count--) crc = __crc32cb(crc, *data++);
    return crc;
}
#else
static int has_crc(void) { return 0; }

uint32_t skein_crc32c_update(uint32_t crc, const uint8_t *data, size_t count) {
    (void)data, (void)count;
    return crc;
}
#endif

int skein_crc32c_accelerated(void) {
    static int known = -1; /* every thread would write the same value */
    int value = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (value < 0) {
        value = has_crc();
        __atomic_store_n(&known, value, __ATOMIC_RELAXED);
    }
    return value;
}
