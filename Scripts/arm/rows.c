#include "driver.h"

/* include/elementwise.h, include/lowrank.h and include/int8.h. */

static const size_t lengths[] = {1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 576};

static void exponentials(size_t n) {
    begin("skein_exponential", "n=%zu", n);
    const float *x = draw(n, 100);
    for (size_t i = 0; i < n; i++) add_float(skein_exponential(level, x[i]));
    const float infinity = __builtin_inff(), nan = __builtin_nanf("");
    const float odd[] = {0, -0.0f, 88, 89, -87, -88, infinity, -infinity, nan};
    for (size_t i = 0; i < COUNT(odd); i++) add_float(skein_exponential(level, odd[i]));
    end();
    begin("skein_exponential_sum", "n=%zu", n);
    add_float(skein_exponential_sum(level, draw(n, 10), n, 3));
    end();
    begin("skein_exponential_total", "n=%zu", n);
    const double sum = skein_exponential_total(level, draw(n, 10), n, 3, 0.7f);
    add(&sum, sizeof sum);
    end();
    begin("skein_exponentiate", "n=%zu", n);
    float *y = draw(n, 10);
    add_float(skein_exponentiate(level, y, n, 3));
    add(y, 4 * n + 64);
    end();
    begin("skein_exponentiate_row", "n=%zu", n);
    y = draw(n, 60);
    float most;
    add_float(skein_exponentiate_row(level, y, n, 60, draw_wide(n), &most));
    add_float(most);
    add(y, 4 * n + 64);
    end();
    begin("skein_softmax", "n=%zu", n);
    y = draw(n, 20);
    float largest;
    add_float(skein_softmax(level, y, (n + 1) / 2, n, 0.3f, &largest));
    add_float(largest);
    add(y, 4 * n + 64);
    end();
    for (int capped = 0; capped < 2; capped++) {
        begin("skein_softmax_backward", "n=%zu cap=%d", n, capped);
        float *p = draw(n, 20), *ds = draw(n, 1);
        skein_softmax_backward(level, p, ds, (n + 1) / 2, n, 5, 0.1f, 0.3f, capped ? 10 : 0);
        add(p, 4 * n + 64);
        add(ds, 4 * n + 64);
        end();
    }
    begin("skein_softcap", "n=%zu", n);
    y = draw(n, 60);
    skein_softcap(level, y, n, 1 / 30.0f, 30);
    add(y, 4 * n + 64);
    end();
    begin("skein_softcap", "n=%zu odd", n);
    y = draw_odd(n);
    skein_softcap(level, y, n, 1 / 30.0f, 30);
    add_floats(y, n);
    end();
    begin("skein_softcap_backward", "n=%zu", n);
    y = draw(n, 1);
    skein_softcap_backward(level, draw(n, 30), n, 30, y);
    add(y, 4 * n + 64);
    end();
    begin("skein_softcap_gradient", "n=%zu", n);
    y = draw(n, 30);
    skein_softcap_gradient(level, y, n, 25, 0.01f, 30);
    add(y, 4 * n + 64);
    end();
}

static void searches(size_t n) {
    begin("skein_maximum", "n=%zu", n);
    add_float(skein_maximum(level, draw_wide(n), n));
    float *x = draw_wide(n);
    x[below(n)] = __builtin_nanf("");
    x[below(n)] = 7;
    add_float(skein_maximum(level, x, n));
    end();
    begin("skein_contains", "n=%zu", n);
    x = draw(n, 1);
    const int found[] = {skein_contains(level, x, n, x[below(n)]), skein_contains(level, x, n, 2)};
    add(found, sizeof found);
    end();
    begin("skein_dot", "n=%zu", n);
    add_float(skein_dot(level, draw(n, 1), draw(n, 1), n));
    add_float(skein_dot(level, draw_wide(n), draw_wide(n), n));
    end();
    begin("skein_scale", "n=%zu", n);
    x = draw_wide(n);
    skein_scale(level, x, n, 0.7f);
    add(x, 4 * n + 64);
    end();
    begin("skein_add_scaled", "n=%zu", n);
    x = draw_wide(n);
    skein_add_scaled(level, draw_wide(n), 0.7f, n, x);
    add(x, 4 * n + 64);
    end();
}

/* With odd numbers some squares are negative, so that their roots are NaN. */
static void optimizers(size_t n) {
    const struct skein_adamw_factors factors = {0.999f, -0.01f, 0.1f, 0.98f, 0.02f, 0.7f, 1e-8f};
    for (int odd = 0; odd < 2; odd++) {
        begin("skein_adamw", "n=%zu odd=%d", n, odd);
        float *g = odd ? draw_odd(n) : draw(n, 1), *m = odd ? draw_odd(n) : draw(n, 1);
        float *v = odd ? draw_odd(n) : draw_positive(n, 0, 1);
        float *p = odd ? draw_odd(n) : draw(n, 1);
        skein_adamw(level, &factors, g, n, m, v, p);
        float *const changed[] = {m, v, p};
        for (size_t i = 0; i < COUNT(changed); i++) {
            add_floats(changed[i], n);
            add(changed[i] + n, 64);
        }
        end();
    }
}

static void conversions(size_t n) {
    begin("skein_to_bf16", "n=%zu", n);
    uint16_t *half = room(2 * n);
    skein_to_bf16(level, draw_odd(n), n, half);
    add(half, 2 * n + 32);
    end();
    begin("skein_from_bf16", "n=%zu", n);
    float *x = floats(n);
    skein_from_bf16(level, (uint16_t *)draw_bytes(2 * n), n, x);
    add(x, 4 * n + 64);
    end();
}

static void gates(size_t n) {
    typedef void forward(enum skein_level, const float *, const float *, size_t, float *);
    typedef void forward16(
        enum skein_level, const uint16_t *, const uint16_t *, size_t, uint16_t *);
    typedef void backward(
        enum skein_level, const float *, const float *, const float *, size_t, float *, float *);
    typedef void backward16(
        enum skein_level, const uint16_t *, const uint16_t *, const uint16_t *, size_t, uint16_t *,
        uint16_t *);
    static const struct {
        const char *names[4];
        forward *forward;
        forward16 *forward16;
        backward *backward;
        backward16 *backward16;
    } kinds[] = {
        {{"skein_swiglu_forward", "skein_swiglu_forward_bf16", "skein_swiglu_backward",
          "skein_swiglu_backward_bf16"},
         skein_swiglu_forward, skein_swiglu_forward_bf16, skein_swiglu_backward,
         skein_swiglu_backward_bf16},
        {{"skein_geglu_forward", "skein_geglu_forward_bf16", "skein_geglu_backward",
          "skein_geglu_backward_bf16"},
         skein_geglu_forward, skein_geglu_forward_bf16, skein_geglu_backward,
         skein_geglu_backward_bf16},
    };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        begin(kinds[i].names[0], "n=%zu", n);
        float *a = floats(n), *b = floats(n);
        kinds[i].forward(level, draw(n, 12), draw(n, 2), n, a);
        add(a, 4 * n + 64);
        kinds[i].forward(level, draw_wide(n), draw(n, 2), n, b);
        add_floats(b, n);
        end();
        begin(kinds[i].names[1], "n=%zu", n);
        uint16_t *half = room(2 * n), *other = room(2 * n);
        kinds[i].forward16(level, draw_bf16(n, 12), draw_bf16(n, 2), n, half);
        add(half, 2 * n + 32);
        end();
        begin(kinds[i].names[2], "n=%zu", n);
        a = floats(n), b = floats(n);
        kinds[i].backward(level, draw(n, 1), draw(n, 12), draw(n, 2), n, a, b);
        add(a, 4 * n + 64);
        add(b, 4 * n + 64);
        end();
        begin(kinds[i].names[3], "n=%zu", n);
        half = room(2 * n), other = room(2 * n);
        kinds[i].backward16(
            level, draw_bf16(n, 1), draw_bf16(n, 12), draw_bf16(n, 2), n, half, other);
        add(half, 2 * n + 32);
        add(other, 2 * n + 32);
        end();
    }
}

static void norms(size_t width) {
    const size_t tokens = 3, n = tokens * width, stride = width + 3;
    begin("skein_rmsnorm_forward", "width=%zu", width);
    const float *x = draw(n, 3), *weight = draw(width, 1);
    float *y = floats(n), *inverse = floats(tokens);
    uint16_t *half = room(2 * tokens * stride);
    skein_rmsnorm_forward(level, x, weight, 1e-5f, tokens, width, y, half, stride, inverse);
    add(y, 4 * n + 64);
    add(half, 2 * tokens * stride);
    add(inverse, 4 * tokens);
    end();
    begin("skein_rmsnorm_again", "width=%zu", width);
    x = draw(n, 3), weight = draw(width, 1);
    y = floats(n), half = room(2 * tokens * stride);
    inverse = draw_positive(tokens, 0.1f, 2);
    skein_rmsnorm_again(level, x, weight, inverse, tokens, width, y, NULL, 0);
    skein_rmsnorm_again(level, x, weight, inverse, tokens, width, NULL, half, stride);
    add(y, 4 * n + 64);
    add(half, 2 * tokens * stride);
    end();
    for (int into = 0; into < 2; into++) {
        begin(into ? "skein_rmsnorm_backward_into" : "skein_rmsnorm_backward", "width=%zu", width);
        y = draw(n, 1);
        (into ? skein_rmsnorm_backward_into : skein_rmsnorm_backward)(
            level, draw(n, 1), draw(n, 3), draw(width, 1), draw_positive(tokens, 0.1f, 2), tokens,
            width, y);
        add(y, 4 * n + 64);
        end();
    }
    begin("skein_add_bias", "width=%zu", width);
    y = draw(n, 1);
    skein_add_bias(level, draw(width, 1), tokens, width, y);
    add(y, 4 * n + 64);
    end();
    for (int back = 0; back < 2; back++) {
        begin("skein_rotate", "half=%zu inverse=%d", width, back);
        const size_t head = 2 * width + 5, heads = 2;
        y = draw(tokens * heads * head, 3);
        skein_rotate(
            level, y, tokens, heads, head, width, draw(tokens * width, 1), draw(tokens * width, 1),
            back);
        add(y, 4 * tokens * heads * head + 64);
        end();
    }
}

static void masks(size_t n) {
    const size_t bytes = (n + 7) / 8;
    static const uint32_t thresholds[] = {0, 1, 6554, 32768, 65535, 65536};
    begin("skein_dropout_draw", "n=%zu", n);
    for (size_t i = 0; i < COUNT(thresholds); i++) {
        uint8_t *mask = room(bytes);
        skein_dropout_draw(level, mask, bytes, 17, 0xdeadbeef, 3, 4, 0xffffffff, thresholds[i]);
        add(mask, bytes + 16);
    }
    end();
    for (int adding = 0; adding < 2; adding++) {
        begin(adding ? "skein_dropout_add" : "skein_dropout_apply", "n=%zu", n);
        float *y = draw(n, 1), *x = draw_odd(n);
        uint8_t *mask = draw_bytes(bytes);
        (adding ? skein_dropout_add : skein_dropout_apply)(level, x, mask, n, 1.25f, y);
        add_floats(y, n);
        end();
    }
    for (int odd = 0; odd < 2; odd++) {
        begin("skein_int8_round", "n=%zu odd=%d", n, odd);
        float *x = odd ? draw_odd(n) : draw(n, 3), *scales = floats(n / 64 + 1);
        int8_t *codes = room(n);
        skein_int8_round(level, x, n, 5, 6, 7, 8, codes, scales);
        add_floats(x, n);
        add(codes, n + 64);
        add_floats(scales, (n + 63) / 64);
        end();
    }
}

void rows_of_activations(void) {
    for (size_t i = 0; i < COUNT(lengths); i++) {
        exponentials(lengths[i]);
        searches(lengths[i]);
        optimizers(lengths[i]);
        conversions(lengths[i]);
        gates(lengths[i]);
        norms(lengths[i]);
        masks(lengths[i]);
    }
}

void thin_products(void) {
    static const size_t ranks[] = {1, 3, 4, 8, 13, 16}, widths[] = {5, 16, 63, 64, 100, 600, 1300};
    for (size_t i = 0; i < COUNT(ranks) * COUNT(widths) * 2; i++) {
        const size_t rank = ranks[i / 2 % COUNT(ranks)], n = widths[i / 2 / COUNT(ranks)];
        const size_t stride = n + 3, bytes = (n + 7) / 8;
        const int masked = i % 2;
        /* The widest goes through lanes in memory, for more rows than they have room for. */
        const size_t tokens = n < 1000 ? 7 : 101;
        begin("skein_lowrank_reduce", "r=%zu n=%zu mask=%d", rank, n, masked);
        const uint8_t *mask = masked ? draw_bytes(tokens * bytes) : NULL;
        float *y = floats(tokens * rank);
        skein_lowrank_reduce(
            level, draw(tokens * n, 1), tokens, n, draw(rank * stride, 1), stride, rank, 0.5f,
            mask, 1.25f, y);
        add(y, 4 * tokens * rank + 64);
        end();
        begin("skein_lowrank_expand", "r=%zu n=%zu mask=%d", rank, n, masked);
        mask = masked ? draw_bytes(tokens * bytes) : NULL;
        y = draw(tokens * n, 1);
        skein_lowrank_expand(
            level, draw(tokens * rank, 1), tokens, rank, draw(rank * stride, 1), stride, n, mask,
            1.25f, y, n);
        add(y, 4 * tokens * n + 64);
        end();
        begin("skein_lowrank_outer", "r=%zu n=%zu mask=%d", rank, n, masked);
        mask = masked ? draw_bytes(tokens * bytes) : NULL;
        y = floats(rank * n);
        skein_lowrank_outer(
            level, draw(tokens * rank, 1), tokens, rank, draw(tokens * n, 1), n, mask, 1.25f, y);
        add(y, 4 * rank * n + 64);
        end();
    }
    for (size_t i = 0; i < COUNT(widths); i++) {
        begin("skein_transpose", "13x%zu", widths[i]);
        float *y = floats(13 * widths[i]);
        skein_transpose(draw_odd(13 * widths[i]), 13, widths[i], y);
        add(y, 4 * 13 * widths[i] + 64);
        end();
    }
}
