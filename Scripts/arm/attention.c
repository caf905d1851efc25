#include "driver.h"

/* include/attention.h. */

static void one(const struct skein_attention_shape *s) {
    const size_t wide = s->tokens * s->heads * s->dimension;
    const size_t narrow = s->tokens * s->key_value_heads * s->dimension;
    const size_t logs = s->heads * s->tokens;
    begin(
        "skein_attention_forward", "T=%zu H=%zu G=%zu N=%zu W=%zu cap=%d", s->tokens, s->heads,
        s->key_value_heads, s->dimension, s->window, s->cap > 0);
    float *out = floats(wide), *log_sum_exp = floats(logs);
    skein_attention_forward(
        level, s, draw(wide, 2), draw(narrow, 2), draw(narrow, 1), out, log_sum_exp,
        floats(skein_attention_forward_scratch(s)));
    add(out, 4 * wide + 64);
    add(log_sum_exp, 4 * logs + 64);
    end();
    begin(
        "skein_attention_backward", "T=%zu H=%zu G=%zu N=%zu W=%zu cap=%d", s->tokens, s->heads,
        s->key_value_heads, s->dimension, s->window, s->cap > 0);
    const float *q = draw(wide, 2), *k = draw(narrow, 2), *v = draw(narrow, 1);
    out = floats(wide), log_sum_exp = floats(logs);
    skein_attention_forward(
        level, s, q, k, v, out, log_sum_exp, floats(skein_attention_forward_scratch(s)));
    const struct skein_attention_gradients g = {
        .q = q, .k = k, .v = v, .out = out, .d_out = draw(wide, 1), .log_sum_exp = log_sum_exp,
        .dq = floats(wide), .dk = floats(narrow), .dv = floats(narrow)};
    skein_attention_backward(level, s, &g, floats(skein_attention_backward_scratch(s)));
    add(g.dq, 4 * wide + 64);
    add(g.dk, 4 * narrow + 64);
    add(g.dv, 4 * narrow + 64);
    end();
}

void attention(void) {
    /* The last needs more than one segment of 384 tokens. */
    static const struct skein_attention_shape shapes[] = {
        {1, 1, 1, 1, 0, 0.3f, 0},    {2, 1, 8, 13, 0, 0.4f, 0},  {4, 2, 16, 33, 0, 0.25f, 0},
        {3, 3, 33, 50, 0, 0.2f, 20}, {2, 2, 64, 97, 0, 0.125f, 0}, {2, 1, 24, 130, 17, 0.2f, 0},
        {2, 1, 16, 100, 40, 0.25f, 30}, {1, 1, 8, 500, 30, 0.4f, 0},
    };
    for (size_t i = 0; i < COUNT(shapes); i++) one(shapes + i);
}
