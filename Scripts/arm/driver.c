#include "driver.h"

#include "CSkeinHashes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum skein_level level;

static const char *const names[] = {
    "plain", "fused", "dotprod", "i8mm", "avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16",
};

/* Memory of a line. */
enum { MEMORY = 64 << 20 };
static _Alignas(64) uint8_t memory[MEMORY];
static size_t used;

static char line[160];
static uint64_t counter, key;

/* SHA-256 by the project's own kernel, which is compared in this way, too. */
static uint32_t state[8];
static uint8_t waiting[64];
static size_t total;

void add(const void *bytes, size_t count) {
    const uint8_t *from = bytes;
    for (size_t i = 0; i < count; i++) {
        waiting[total++ % 64] = from[i];
        if (total % 64 == 0) skein_sha256_compress(state, waiting, 1);
    }
}

void add_floats(const float *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        memcpy(&number, x + i, 4);
        if ((number & 0x7fffffff) > 0x7f800000) number = 0x7fc00000;
        add(&number, 4);
    }
}

void add_float(float x) { add_floats(&x, 1); }

void begin(const char *kernel, const char *shape, ...) {
    const int length = snprintf(line, sizeof line, "%s ", kernel);
    va_list words;
    va_start(words, shape);
    vsnprintf(line + length, sizeof line - (size_t)length, shape, words);
    va_end(words);
    for (char *c = line + length; *c; c++) *c = *c == ' ' ? ',' : *c;
    used = total = counter = 0;
    key = 14695981039346656037u;
    for (const char *c = line; *c; c++) key = (key ^ (uint8_t)*c) * 1099511628211u;
    const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(state, first, sizeof state);
}

void end(void) {
    const uint64_t length = 8 * (uint64_t)total;
    const uint8_t one = 0x80, zero = 0;
    add(&one, 1);
    while (total % 64 != 56) add(&zero, 1);
    for (int i = 7; i >= 0; i--) {
        const uint8_t byte = (uint8_t)(length >> (8 * i));
        add(&byte, 1);
    }
    printf("%s %08x%08x\n", line, state[0], state[1]);
}

void *room(size_t bytes) {
    void *const start = memory + used;
    used += (bytes + 63) / 64 * 64 + 64;
    if (used > MEMORY) {
        fprintf(stderr, "error: %s takes more memory than the driver has\n", line);
        exit(1);
    }
    memset(start, 0x5a, (size_t)(memory + used - (uint8_t *)start));
    return start;
}

float *floats(size_t count) { return room(count * sizeof(float)); }

/* SplitMix64 (Steele, Lea and Flood 2014) of a counter. */
uint64_t bits(void) {
    uint64_t z = key + ++counter * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

size_t below(size_t limit) { return (size_t)(bits() % limit); }

/* Between 0 and 1, by operations that are exact. */
static float unit(void) { return (float)(bits() >> 40) * 0x1p-24f; }

float *draw(size_t count, float size) {
    float *const x = floats(count);
    for (size_t i = 0; i < count; i++) {
        const float u = unit() * 2;
        x[i] = (u - 1) * size;
    }
    return x;
}

float *draw_positive(size_t count, float least, float most) {
    float *const x = floats(count);
    for (size_t i = 0; i < count; i++) {
        const float part = unit() * (most - least);
        x[i] = least + part;
    }
    return x;
}

float *draw_wide(size_t count) {
    float *const x = floats(count);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)bits();
        /* Up to 2^20, so that sums stay finite. */
        const uint32_t exponent = (uint32_t)below(148);
        number = (number & 0x807fffff) | exponent << 23;
        if (below(16) == 0) number &= 0x80000000;
        memcpy(x + i, &number, 4);
    }
    return x;
}

float *draw_odd(size_t count) {
    float *const x = draw_wide(count);
    const uint32_t odd[] = {0x7fc00000, 0xffc12345, 0x7f800001, 0x7f800000, 0xff800000, 0x7f7fffff};
    for (size_t i = 0; i < count; i += 1 + below(9)) memcpy(x + i, odd + below(COUNT(odd)), 4);
    return x;
}

uint16_t *draw_bf16(size_t count, float size) {
    const float *const x = draw(count, size);
    uint16_t *const out = room(2 * count);
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        memcpy(&number, x + i, 4);
        out[i] = (uint16_t)(number >> 16);
    }
    return out;
}

uint8_t *draw_bytes(size_t count) {
    uint8_t *const x = room(count);
    for (size_t i = 0; i < count; i++) x[i] = (uint8_t)(bits() >> 56);
    return x;
}

/* kernels             the levels that this machine has, the highest last
   kernels LEVEL       a line for each kernel and shape at this level */
int main(int count, char **words) {
    if (count < 2) {
        for (size_t i = 0; i < COUNT(names); i++)
            if (skein_has_level((enum skein_level)i)) puts(names[i]);
        return 0;
    }
    size_t i = 0;
    while (i < COUNT(names) && strcmp(names[i], words[1])) i++;
    if (i == COUNT(names) || !skein_has_level((enum skein_level)i)) {
        fprintf(stderr, "error: this machine has no level \"%s\"\n", words[1]);
        return 69;
    }
    level = skein_use_level((enum skein_level)i);
    if (level != (enum skein_level)i || skein_level() != level) {
        fprintf(stderr, "error: the level %s was not taken\n", words[1]);
        return 1;
    }
    /* No bits, but the loops' instructions must exist. */
    if (!skein_peak_fp32(level, 1) || !skein_peak_bf16(level, 1) || !skein_peak_int8(level, 1))
        return 1;
    rows_of_activations();
    thin_products();
    products();
    rounded_products();
    integer_products();
    attention();
    answers();
    return 0;
}
