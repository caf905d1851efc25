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

/* The bits of EAX of leaf 7, part 1. */
static unsigned leaf_7_1(void) {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) ? a : 0;
}

static enum skein_level highest(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return SKEIN_PLAIN;
    const unsigned fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    if ((c & (fma | osxsave | avx | f16c)) != (fma | osxsave | avx | f16c)) return SKEIN_PLAIN;
    const uint64_t saved = saved_registers();
    if ((saved & 0x6) != 0x6) return SKEIN_PLAIN; /* xmm, ymm */
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & (1u << 5))) return SKEIN_PLAIN;
    const enum skein_level narrow = leaf_7_1() & (1u << 4) ? SKEIN_AVXVNNI : SKEIN_AVX2;
    const unsigned f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31;
    if ((b & (f | dq | bw | vl)) != (f | dq | bw | vl)) return narrow;
    if ((saved & 0xe6) != 0xe6) return narrow; /* mask registers, zmm */
    if (!(c & (1u << 11))) return SKEIN_AVX512;
    return leaf_7_1() & (1u << 5) ? SKEIN_AVX512BF16 : SKEIN_AVX512VNNI;
}

static int has_avx_vnni(void) {
    return highest() >= SKEIN_AVX2 && leaf_7_1() & (1u << 4);
}

int skein_has_amx_int8(void) {
    unsigned a, b, c, d;
    const uint64_t tiles = 3u << 17;
    return highest() >= SKEIN_AVX2 && (saved_registers() & tiles) == tiles &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & (1u << 25);
}
#elif defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
#endif

/* Linux tells a process what the processor has and the kernel lets it use. Other systems are not
   asked: they get what every 64-bit Arm has. */
static enum skein_level highest(void) {
#if defined(__linux__)
    /* HWCAP_ASIMDDP and HWCAP2_I8MM, by number: headers older than the second lack it. */
    const unsigned long dot = 1ul << 20, matrix = 1ul << 13;
    if (!(getauxval(AT_HWCAP) & dot)) return SKEIN_FUSED;
    return getauxval(AT_HWCAP2) & matrix ? SKEIN_I8MM : SKEIN_DOTPROD;
#else
    return SKEIN_FUSED;
#endif
}

static int has_avx_vnni(void) { return 0; }
int skein_has_amx_int8(void) { return 0; }
#else
static enum skein_level highest(void) { return SKEIN_PLAIN; }
static int has_avx_vnni(void) { return 0; }
int skein_has_amx_int8(void) { return 0; }
#endif

int skein_has_level(enum skein_level level) {
    if (level <= SKEIN_FUSED) return 1;
#if defined(__x86_64__)
    if (level < SKEIN_AVX2) return 0;
#endif
    return level == SKEIN_AVXVNNI ? has_avx_vnni() : level <= highest();
}

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
    int use = level > SKEIN_AVX512BF16 ? SKEIN_AVX512BF16 : (int)level;
    while (!skein_has_level((enum skein_level)use)) use--;
    __atomic_store_n(&chosen, use, __ATOMIC_RELAXED);
    return (enum skein_level)use;
}
