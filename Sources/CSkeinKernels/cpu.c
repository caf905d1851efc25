#include "CSkeinKernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>

/* The register sets that the system saves on a thread switch. */
__attribute__((target("xsave"))) static uint64_t saved_registers(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}

static enum skein_level highest(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return SKEIN_PLAIN;
    const unsigned fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    if ((c & (fma | osxsave | avx | f16c)) != (fma | osxsave | avx | f16c)) return SKEIN_PLAIN;
    const uint64_t saved = saved_registers();
    if ((saved & 0x6) != 0x6) return SKEIN_PLAIN; /* xmm, ymm */
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & (1u << 5))) return SKEIN_PLAIN;
    const unsigned f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31;
    if ((b & (f | dq | bw | vl)) != (f | dq | bw | vl)) return SKEIN_AVX2;
    if ((saved & 0xe6) != 0xe6) return SKEIN_AVX2; /* mask registers, zmm */
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a & (1u << 5))) return SKEIN_AVX512;
    return SKEIN_AVX512BF16;
}
#else
static enum skein_level highest(void) { return SKEIN_PLAIN; }
#endif

/* Racing threads would compute and store the same number. */
static int chosen = -1;

enum skein_level skein_level(void) {
    int level = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (level < 0) {
        level = highest();
        __atomic_store_n(&chosen, level, __ATOMIC_RELAXED);
    }
    return (enum skein_level)level;
}

enum skein_level skein_use_level(enum skein_level level) {
    const enum skein_level most = highest();
    if (level > most) level = most;
    __atomic_store_n(&chosen, (int)level, __ATOMIC_RELAXED);
    return level;
}
