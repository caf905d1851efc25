#include "driver.h"

/* include/matvec.h: what generates text. */

static const char *const names[] = {"Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q5_K",
                                    "Q6_K", "BF16", "F16",  "F32"};

static int is_k(enum skein_packed type) {
    return type >= SKEIN_PACKED_Q4_K && type <= SKEIN_PACKED_Q6_K;
}

/* An f16 between 2^-6 and 2^-2, of either sign unless `positive`. */
static void put_half(uint8_t *to, int positive) {
    const uint16_t half = (uint16_t)((bits() & 0x8fff) | (9 + below(4)) << 10);
    const uint16_t kept = (uint16_t)((half & 0x83ff) | (9 + below(4)) << 10);
    const uint16_t number = positive ? kept & 0x7fff : kept;
    memcpy(to, &number, 2);
}

/* One row as skein_pack_group takes it. */
static uint8_t *draw_row(enum skein_packed type, size_t columns) {
    if (type == SKEIN_PACKED_F32) return (uint8_t *)draw(columns, 1);
    if (type == SKEIN_PACKED_BF16) return (uint8_t *)draw_bf16(columns, 1);
    if (type == SKEIN_PACKED_F16) {
        uint8_t *const row = room(2 * columns);
        for (size_t i = 0; i < columns; i++) put_half(row + 2 * i, 0);
        /* Subnormal numbers and zeros, too. */
        for (size_t i = 0; i < columns; i += 1 + below(20)) row[2 * i + 1] &= 0x83;
        return row;
    }
    if (is_k(type)) {
        const size_t codes = type == SKEIN_PACKED_Q4_K ? 128 : 256, bytes = 20 + codes;
        uint8_t *const row = draw_bytes(columns / 256 * bytes);
        for (size_t b = 0; b < columns / 256; b++) {
            put_half(row + b * bytes, 0);
            put_half(row + b * bytes + 2, 0);
            for (size_t i = 0; type == SKEIN_PACKED_Q5_K && i < codes; i++)
                row[b * bytes + 20 + i] &= 31;
        }
        return row;
    }
    const size_t head = type == SKEIN_PACKED_Q4_1 ? 4 : 2;
    const size_t bytes = head + (type == SKEIN_PACKED_Q8_0 ? 32 : 16);
    uint8_t *const row = draw_bytes(columns / 32 * bytes);
    for (size_t b = 0; b < columns / 32; b++)
        for (size_t i = 0; i < head; i += 2) put_half(row + b * bytes + i, 0);
    return row;
}

static uint8_t *draw_groups(enum skein_packed type, size_t columns, size_t rows) {
    const size_t groups = (rows + 15) / 16, bytes = skein_packed_group_bytes(type, columns);
    uint8_t *const packed = room(groups * bytes);
    for (size_t g = 0; g < groups; g++) {
        const void *of[16] = {NULL};
        for (size_t r = 0; r < 16 && 16 * g + r < rows; r++) of[r] = draw_row(type, columns);
        skein_pack_group(type, of, columns, packed + g * bytes);
    }
    return packed;
}

static void one_type(enum skein_packed type, size_t columns, size_t rows) {
    const size_t groups = (rows + 15) / 16;
    const size_t spread = columns + columns / 32;
    begin("skein_pack_group", "%s %zux%zu", names[type], rows, columns);
    const uint8_t *packed = draw_groups(type, columns, rows);
    add(packed, groups * skein_packed_group_bytes(type, columns));
    end();
    begin("skein_unpack_group", "%s 16x%zu", names[type], columns);
    packed = draw_groups(type, columns, 16);
    float *out = floats(columns * 20);
    skein_unpack_group(level, type, packed, 0, columns, out, 20);
    add(out, 4 * 20 * columns);
    end();
    for (int adding = 0; adding < 2; adding++) {
        begin("skein_matvec", "%s %zux%zu add=%d", names[type], rows, columns, adding);
        packed = draw_groups(type, columns, rows);
        const float *x = draw(columns, 1);
        float *spreads = floats(spread), *y = draw(rows, 1);
        if (columns % 32 == 0) skein_spread(level, x, columns, spreads);
        skein_matvec(level, type, packed, columns, groups, x, spreads, y, rows, adding);
        add(y, 4 * rows + 64);
        end();
    }
    for (size_t count = 2; count < 10; count++) {
        begin("skein_matvec_rows", "%s %zux%zu vectors=%zu", names[type], rows, columns, count);
        packed = draw_groups(type, columns, rows);
        const float *x = draw(count * (columns + 3), 1);
        float *spreads = floats(count * spread), *y = draw(count * (rows + 1), 1);
        for (size_t i = 0; columns % 32 == 0 && i < count; i++)
            skein_spread(level, x + i * (columns + 3), columns, spreads + i * spread);
        const struct skein_vectors vectors = {
            .x = x, .stride_x = columns + 3, .spread = spreads, .stride_spread = spread,
            .count = count};
        skein_matvec_rows(
            level, type, packed, columns, groups, &vectors, y, rows + 1, rows, count % 2);
        add(y, 4 * count * (rows + 1) + 64);
        end();
    }
}

static void one_attention(size_t keys, size_t n) {
    const size_t padded = (n + 15) / 16 * 16, all = (keys + 15) / 16 * 16;
    begin("skein_attend", "keys=%zu n=%zu", keys, n);
    float *out = floats(n);
    skein_attend(
        level, draw(n, 2), draw(all * n, 2), draw(keys * padded, 1), keys, n, 0.3f, floats(all),
        out);
    add(out, 4 * n + 64);
    end();
    for (size_t heads = 1; heads < 8; heads++) {
        begin("skein_attend_heads", "heads=%zu keys=%zu n=%zu", heads, keys, n);
        out = floats(heads * n);
        skein_attend_heads(
            level, draw(heads * n, 2), heads, draw(all * n, 2), draw(keys * padded, 1), keys, n,
            0.3f, floats(SKEIN_ATTEND_TOGETHER * all), out);
        add(out, 4 * heads * n + 64);
        end();
    }
}

static void one_cache(
    enum skein_cache_type type, size_t slots, size_t first, size_t last, size_t n) {
    const size_t padded = (n + 15) / 16 * 16;
    const size_t key_bytes = skein_cache_key_bytes(type, n);
    const size_t value_bytes = skein_cache_value_bytes(type, n);
    for (int kind = 0; kind < 3; kind++) {
        static const char *const of[] = {
            "skein_cache_put", "skein_attend_cached", "skein_attend_cached"};
        begin(
            of[kind], "type=%d slots=%zu %zu..%zu n=%zu cap=%d", (int)type, slots, first, last, n,
            kind == 2);
        uint8_t *k = room(slots / 16 * key_bytes), *v = room(slots * value_bytes);
        float *scales = floats(slots);
        memset(k, 0, slots / 16 * key_bytes);
        memset(v, 0, slots * value_bytes);
        for (size_t t = 0; t < last; t++) {
            const size_t slot = t % slots;
            skein_cache_put(
                type, draw(n, 2), draw(n, 1), n, k + slot / 16 * key_bytes, slot % 16,
                v + slot * value_bytes, scales + slot);
        }
        if (kind == 0) {
            add(k, slots / 16 * key_bytes);
            add(v, slots * value_bytes);
            if (type == SKEIN_CACHE_INT8) add(scales, 4 * slots);
        } else {
            const struct skein_cached cached = {
                .type = type, .k = k, .v = v, .value_scales = scales, .slots = slots,
                .first = first, .end = last};
            float *out = floats(n);
            skein_attend_cached(
                level, draw(n, 2), &cached, n, 0.3f, kind == 2 ? 5 : 0, floats(last + 32), out);
            add(out, 4 * n + 64);
        }
        end();
    }
    begin("skein_cached_keys", "type=%d n=%zu", (int)type, n);
    /* Numbers of a cache, and a scale that is one. */
    uint8_t *held = draw_bytes(3 * key_bytes);
    for (size_t g = 0; type == SKEIN_CACHE_INT8 && g < 3; g++)
        memcpy(held + g * key_bytes, draw(16, 1), 64);
    float *out = floats(3 * 16 * n);
    skein_cached_keys(level, type, held, n, 3, out);
    add_floats(out, 3 * 16 * n);
    end();
    begin("skein_cached_values", "type=%d n=%zu", (int)type, n);
    out = floats(5 * padded);
    skein_cached_values(level, type, draw_bytes(5 * value_bytes), draw(5, 1), padded, 5, out);
    add_floats(out, 5 * padded);
    end();
}

void answers(void) {
    static const size_t keys[] = {1, 2, 15, 16, 33, 100}, widths[] = {1, 8, 16, 20, 64, 100};
    for (int type = SKEIN_PACKED_Q4_0; type <= SKEIN_PACKED_F32; type++) {
        const int plain = type >= SKEIN_PACKED_BF16, k = is_k((enum skein_packed)type);
        one_type((enum skein_packed)type, plain ? 7 : k ? 256 : 32, 16);
        one_type((enum skein_packed)type, plain ? 97 : k ? 512 : 160, 37);
    }
    for (size_t columns = 32; columns < 200; columns += 64) {
        begin("skein_spread", "n=%zu", columns);
        float *out = floats(columns + columns / 32);
        skein_spread(level, draw(columns, 1), columns, out);
        add(out, 4 * (columns + columns / 32));
        end();
    }
    for (size_t i = 0; i < COUNT(keys); i++) {
        for (size_t j = 0; j < COUNT(widths); j++) one_attention(keys[i], widths[j]);
        begin("skein_softmax_row", "n=%zu", keys[i]);
        float *row = draw((keys[i] + 15) / 16 * 16 + 16, 5);
        skein_softmax_row(level, row, keys[i], (keys[i] + 15) / 16 * 16, 0.7f);
        add(row, 4 * ((keys[i] + 15) / 16 * 16));
        end();
    }
    for (int type = SKEIN_CACHE_F32; type <= SKEIN_CACHE_INT8; type++) {
        one_cache((enum skein_cache_type)type, 16, 0, 1, 8);
        one_cache((enum skein_cache_type)type, 48, 5, 40, 20);
        one_cache((enum skein_cache_type)type, 64, 43, 100, 64);
        one_cache((enum skein_cache_type)type, 32, 70, 91, 80);
    }
}
