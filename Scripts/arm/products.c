#include "driver.h"

/* include/product.h, include/bf16.h and include/int8_product.h. */

/* What is not a multiple of a tile, a panel or a block, and K of one, two and three blocks. */
static const struct {
    size_t rows, n, k;
} shapes[] = {
    {1, 1, 0},   {1, 1, 1},     {2, 3, 2},    {3, 17, 15},  {4, 8, 64},    {5, 33, 63},
    {6, 64, 65}, {7, 65, 31},   {11, 48, 33}, {12, 16, 16}, {13, 130, 96}, {26, 70, 129},
    {3, 20, 576}, {5, 40, 1281}, {2, 129, 1600},
};

static void one_product(size_t i, int across, int transposed, int accumulate, int wide) {
    const size_t rows = shapes[i].rows, n = shapes[i].n, k = shapes[i].k;
    begin(
        "skein_multiply", "%zux%zux%zu x^T=%d w^T=%d add=%d wide=%d", rows, n, k, across,
        transposed, accumulate, wide);
    const size_t row_x = across ? 1 : k + 5, step_x = across ? rows + 3 : 1;
    const size_t stride_w = (transposed ? k : n) + 7, stride_y = n + 2;
    const size_t in = across ? (rows + 3) * (k + 1) : rows * (k + 5) + 1;
    const size_t held = (transposed ? n : k) * stride_w + 1;
    float *y = draw(rows * stride_y, 1);
    const struct skein_product product = {
        .x = wide ? draw_wide(in) : draw(in, 1), .row_x = row_x, .step_x = step_x,
        .w = wide ? draw_wide(held) : draw(held, 1), .stride_w = stride_w, .transposed = transposed,
        .y = y, .stride_y = stride_y, .rows = rows, .n = n, .k = k, .accumulate = accumulate,
    };
    float *scratch = floats(SKEIN_PRODUCT_SCRATCH);
    skein_multiply(level, &product, scratch);
    add(y, 4 * rows * stride_y + 64);
    end();
}

/* 70 queries, the first of which sees `seen` of the keys: scores, their product with values and the
   transposed one. */
static void causal_products(size_t seen) {
    static const char *const names[] = {"none", "result", "rows", "columns"};
    const size_t queries = 70, keys = seen + queries - 1, width = 70;
    for (int causal = SKEIN_CAUSAL_RESULT; causal <= SKEIN_CAUSAL_COLUMNS; causal++) {
        begin("skein_multiply", "causal %s, %zu", names[causal], seen);
        float *scores = draw(queries * keys, 1), *y = draw(keys * width, 1);
        const float *values = draw(keys * width, 1);
        for (size_t i = 0; i < queries; i++)
            memset(scores + i * keys + seen + i, 0, 4 * (queries - 1 - i));
        struct skein_product product = {
            .x = scores, .row_x = keys, .step_x = 1, .w = values, .stride_w = width, .y = y,
            .stride_y = width, .rows = queries, .n = width, .k = keys, .causal = causal,
            .seen = (ptrdiff_t)seen};
        if (causal == SKEIN_CAUSAL_RESULT) {
            product.x = y;
            product.row_x = product.k = width;
            product.transposed = 1;
            product.y = scores;
            product.stride_y = product.n = keys;
        } else if (causal == SKEIN_CAUSAL_COLUMNS) {
            product.row_x = 1;
            product.step_x = keys;
            product.rows = keys;
            product.k = queries;
            product.accumulate = 1;
        }
        skein_multiply(level, &product, floats(SKEIN_PRODUCT_SCRATCH));
        if (causal == SKEIN_CAUSAL_RESULT)
            for (size_t i = 0; i < queries; i++) add(scores + i * keys, 4 * (seen + i));
        else add(y, 4 * product.rows * width);
        end();
    }
}

void products(void) {
    if (level >= SKEIN_FUSED) {
        causal_products(1);
        causal_products(65);
        causal_products(700);
    }
    /* Below that level skein_multiply is not called. */
    for (size_t i = 0; level >= SKEIN_FUSED && i < COUNT(shapes); i++) {
        for (int kind = 0; kind < 8; kind++) one_product(i, kind & 1, kind >> 1 & 1, kind >> 2, 0);
        one_product(i, 0, 1, 1, 1);
    }
    if (level >= SKEIN_FUSED) {
        /* Rows a multiple of 4 KiB apart are copied. */
        begin("skein_multiply", "3x70x1024 far");
        float *y = floats(3 * 70);
        const struct skein_product product = {
            .x = draw(3 * 1024, 1), .row_x = 1024, .step_x = 1, .w = draw(70 * 1024, 1),
            .stride_w = 1024, .transposed = 1, .y = y, .stride_y = 70, .rows = 3, .n = 70,
            .k = 1024};
        skein_multiply(level, &product, floats(SKEIN_PRODUCT_SCRATCH));
        add(y, 4 * 3 * 70 + 64);
        end();
    }
    for (size_t i = 0; i < COUNT(shapes); i++) {
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            const size_t rows = shapes[i].rows, n = shapes[i].n, k = shapes[i].k;
            begin("skein_multiply_panel", "%zux%zux%zu add=%d", rows, n, k, accumulate);
            const size_t group = 16 * k + 32;
            float *y = draw(rows * (n + 2), 1);
            const struct skein_panel panel = {
                .x = draw(rows * (k + 5), 1), .row_x = k + 5, .step_x = 1,
                .w = draw((n + 15) / 16 * group, 1), .group_w = group, .step_w = 16, .y = y,
                .stride_y = n + 2, .rows = rows, .n = n, .k = k, .accumulate = accumulate};
            skein_multiply_panel(level, &panel);
            add(y, 4 * rows * (n + 2) + 64);
            end();
        }
    }
}

static void one_rounded(size_t i, int by_rows, int accumulate, int wide, int rounded) {
    const size_t rows = shapes[i].rows, n = shapes[i].n, k = shapes[i].k;
    begin(
        rounded ? "skein_bf16_multiply_rounded" : "skein_bf16_multiply",
        "%zux%zux%zu rows=%d add=%d wide=%d", rows, n, k, by_rows, accumulate, wide);
    const size_t stride_x = skein_bf16_stride(k + 1), panel = skein_bf16_panel(k);
    const size_t stride_y = n + 3, stride_rounded = n + 2;
    const float *x = wide ? draw_wide(rows * (k + 1)) : draw(rows * (k + 1), 1);
    const float *w = wide ? draw_wide(n * k + 1) : draw(n * k + 1, 1);
    uint16_t *xs = room(2 * rows * stride_x), *p = room(skein_bf16_bytes(k, n) + 64);
    skein_bf16_round_rows(level, x, k + 1, rows, k, xs, stride_x);
    if (by_rows) {
        /* Columns behind the last one are not written. */
        memset(p, 0, skein_bf16_bytes(k, n));
        skein_bf16_pack_rows(level, w, n, k, n, p, panel);
    } else {
        skein_bf16_pack_columns(level, w, k, n, k, p);
    }
    float *y = wide ? draw_wide(rows * stride_y) : draw(rows * stride_y, 1);
    uint16_t *halves = room(2 * rows * stride_rounded);
    const struct skein_bf16_product product = {
        .x = xs, .stride_x = stride_x, .p = p, .panel = panel, .y = y, .stride_y = stride_y,
        .rows = rows, .k = k, .n = n, .accumulate = accumulate,
        .rounded = rounded ? halves : NULL, .stride_rounded = stride_rounded};
    skein_bf16_multiply(level, &product);
    if (rounded) add(halves, 2 * rows * stride_rounded);
    else add(y, 4 * rows * stride_y + 64);
    end();
}

static void packed_rounded(size_t i) {
    const size_t rows = shapes[i].rows, n = shapes[i].n, k = shapes[i].k;
    begin("skein_bf16_round_rows", "%zux%zu", rows, k);
    const size_t stride = skein_bf16_stride(k + 1);
    uint16_t *out = room(2 * rows * stride);
    skein_bf16_round_rows(level, draw_odd(rows * (k + 1)), k + 1, rows, k, out, stride);
    add(out, 2 * rows * stride);
    end();
    begin("skein_bf16_pack_columns", "%zux%zu", n, k);
    out = room(skein_bf16_bytes(k, n));
    skein_bf16_pack_columns(level, draw_odd(n * (k + 1)), k + 1, n, k, out);
    add(out, skein_bf16_bytes(k, n));
    end();
    begin("skein_bf16_pack_rows", "%zux%zu", k, n);
    out = room(skein_bf16_bytes(k, n));
    skein_bf16_pack_rows(level, draw_odd(k * (n + 1) + 1), n + 1, k, n, out, skein_bf16_panel(k));
    add(out, skein_bf16_bytes(k, n));
    end();
}

/* The one case in which Arm's bits are not those of x86: see multiply_flushing in bf16.c. */
static void edge(void) {
    begin("skein_bf16_multiply_edge", "2^-126");
    uint16_t *x = room(4), *p = room(skein_bf16_bytes(2, 1));
    skein_bf16_round_rows(level, (const float[]){-0x1p-80f, 0}, 2, 1, 2, x, 2);
    skein_bf16_pack_columns(level, (const float[]){0x1p-80f, 0}, 2, 1, 2, p);
    float y = 0x1p-126f;
    const struct skein_bf16_product product = {
        .x = x, .stride_x = 2, .p = p, .panel = skein_bf16_panel(2), .y = &y, .stride_y = 1,
        .rows = 1, .k = 2, .n = 1, .accumulate = 1};
    skein_bf16_multiply(level, &product);
    add_float(y);
    end();
}

void rounded_products(void) {
    for (size_t i = 0; i < COUNT(shapes); i++) {
        packed_rounded(i);
        for (int kind = 0; kind < 8; kind++) one_rounded(i, kind & 1, kind >> 1 & 1, kind >> 2, 0);
        if (shapes[i].n % 2 == 0) one_rounded(i, 0, 0, 0, 1);
    }
    /* Sums, products and terms on both sides of 2^-126, where all levels make zeros. */
    for (int shift = 0; shift < 12; shift++) {
        begin("skein_bf16_multiply", "7x40x34 tiny=%d", shift);
        const float size = __builtin_ldexpf(1, -66 + shift);
        uint16_t *x = draw_bf16(7 * 34, size), *p = room(skein_bf16_bytes(34, 40));
        skein_bf16_pack_columns(level, draw(40 * 34, size), 34, 40, 34, p);
        float *y = draw(7 * 40, 0x1p-124f);
        const struct skein_bf16_product product = {
            .x = x, .stride_x = 34, .p = p, .panel = skein_bf16_panel(34), .y = y, .stride_y = 40,
            .rows = 7, .k = 34, .n = 40, .accumulate = 1};
        skein_bf16_multiply(level, &product);
        add(y, 4 * 7 * 40);
        end();
    }
    edge();
}

static struct skein_int8_rows integer_rows(size_t rows, size_t k) {
    const size_t blocks = skein_int8_blocks(k);
    return (struct skein_int8_rows){
        .q = room(rows * skein_int8_stride(k)), .stride = skein_int8_stride(k),
        .scales = floats(rows * blocks), .sums = room(4 * rows * blocks)};
}

static void add_rows(const struct skein_int8_rows *x, size_t rows, size_t k) {
    const size_t blocks = skein_int8_blocks(k);
    for (size_t r = 0; r < rows; r++) add(x->q + r * x->stride, skein_int8_padded(k));
    add_floats(x->scales, rows * blocks);
    add(x->sums, 4 * rows * blocks);
}

static void one_integer(size_t i, int by_rows, int accumulate, int extreme) {
    const size_t rows = shapes[i].rows, n = shapes[i].n, k = shapes[i].k;
    begin(
        "skein_int8_multiply", "%zux%zux%zu rows=%d add=%d extreme=%d", rows, n, k, by_rows,
        accumulate, extreme);
    const size_t blocks = skein_int8_blocks(k), whole = skein_int8_padded(k);
    const size_t panel = skein_int8_panel(k);
    const size_t wide = (n + 63) / 64 * 64;
    const struct skein_int8_rows x = integer_rows(rows, k);
    skein_int8_quantize(level, draw(rows * (k + 1), 3), k + 1, rows, k, NULL, &x);
    uint8_t *p = room(skein_int8_bytes(k, n) + 64);
    memset(p, 128, skein_int8_bytes(k, n));
    const size_t count = (by_rows ? whole * n : n * whole) + 1;
    int8_t *codes = room(count);
    for (size_t j = 0; j < count; j++) codes[j] = (int8_t)((int)below(255) - 127);
    if (extreme) {
        /* The largest sums: all numbers at an end. */
        for (size_t j = 0; j < count; j++) codes[j] = bits() & 1 ? 127 : -127;
        for (size_t r = 0; r < rows; r++) {
            for (size_t b = 0; b < blocks; b++) {
                const int8_t end_of = r % 2 ? 127 : -127;
                const size_t at = b * SKEIN_INT8_BLOCK, left = whole - at;
                const size_t some = left < SKEIN_INT8_BLOCK ? left : SKEIN_INT8_BLOCK;
                memset(x.q + r * x.stride + at, end_of, some);
                x.sums[r * blocks + b] = 128 * (int32_t)some * end_of;
            }
        }
    }
    if (by_rows) skein_int8_pack_rows(codes, n, whole, n, p, panel);
    else skein_int8_pack_columns(codes, whole, n, k, p);
    const size_t stride_y = n + 3;
    float *y = draw(rows * stride_y, 1);
    const struct skein_int8_product product = {
        .x = x, .p = p, .panel = panel,
        .scales = by_rows ? NULL : draw_positive(blocks * wide + 1, 1e-4f, 1e-3f),
        .step_scales = wide, .y = y, .stride_y = stride_y, .rows = rows, .n = n, .k = k,
        .accumulate = accumulate};
    skein_int8_multiply(level, &product);
    add(y, 4 * rows * stride_y + 64);
    end();
}

static void packed_integers(size_t i) {
    const size_t rows = shapes[i].rows, n = shapes[i].n, k = shapes[i].k;
    for (int kind = 0; kind < 4; kind++) {
        begin("skein_int8_quantize", "%zux%zu factors=%d odd=%d", rows, k, kind & 1, kind >> 1);
        const struct skein_int8_rows x = integer_rows(rows, k);
        const float *from = kind >> 1 ? draw_odd(rows * (k + 1)) : draw(rows * (k + 1), 3);
        const float *factors =
            kind & 1 ? draw_positive(skein_int8_padded(k) + 1, 0.5f, 2) : NULL;
        skein_int8_quantize(level, from, k + 1, rows, k, factors, &x);
        add_rows(&x, rows, k);
        end();
    }
    begin("skein_int8_turned_codes", "128x%zu", n);
    float *w = draw(128 * n, 1), *scales = floats(128);
    int8_t *codes = room(128 * (n + 3));
    skein_int8_turned_codes(level, w, 128, n, codes, n + 3, scales);
    add(w, 4 * 128 * n);
    add(codes, 128 * (n + 3));
    add(scales, 4 * 128);
    end();
    begin("skein_int8_pack_columns", "%zux%zu", n, k);
    const size_t whole = skein_int8_padded(k);
    uint8_t *p = room(skein_int8_bytes(k, n));
    skein_int8_pack_columns((int8_t *)draw_bytes(n * whole), whole, n, k, p);
    add(p, skein_int8_bytes(k, n));
    end();
    begin("skein_int8_pack_rows", "%zux%zu", whole, n);
    p = room(skein_int8_bytes(k, n));
    skein_int8_pack_rows(
        (int8_t *)draw_bytes(n * whole + 1), n, whole, n, p, skein_int8_panel(k));
    add(p, skein_int8_bytes(k, n));
    end();
}

void integer_products(void) {
    for (size_t i = 0; i < COUNT(shapes); i++) {
        packed_integers(i);
        for (int kind = 0; kind < 8; kind++) one_integer(i, kind & 1, kind >> 1 & 1, kind >> 2);
    }
}
