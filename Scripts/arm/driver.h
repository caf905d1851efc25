#ifndef DRIVER_H
#define DRIVER_H

/* Runs kernels on numbers that follow from a kernel's name and shape, and prints a hash of what
   they wrote. Scripts/check-arm compares the lines of two processors. */

#include "CSkeinKernels.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern enum skein_level level;

/* A line begins: what was drawn or allocated before is gone. */
void begin(const char *kernel, const char *shape, ...) __attribute__((format(printf, 2, 3)));

/* Memory on a cache line, full of bytes that are no zeros, so that what a kernel must not read or
   write shows. */
void *room(size_t bytes);
float *floats(size_t count);

/* 64 random bits, and a whole number below a limit. */
uint64_t bits(void);
size_t below(size_t limit);

/* Numbers between -size and size. */
float *draw(size_t count, float size);
float *draw_positive(size_t count, float least, float most);
/* Numbers of every exponent, subnormal ones and zeros of both signs included. */
float *draw_wide(size_t count);
/* The same, some of them NaN or infinite. */
float *draw_odd(size_t count);
uint16_t *draw_bf16(size_t count, float size);
uint8_t *draw_bytes(size_t count);

/* Adds to the line's hash. Of floats that may be NaN only that they are: x86 and Arm make NaNs of
   other bits, as IEEE 754 leaves it to them. */
void add(const void *bytes, size_t count);
void add_floats(const float *x, size_t count);
void add_float(float x);

/* Prints the line. */
void end(void);

/* One for each file of kernels. */
void rows_of_activations(void);
void thin_products(void);
void products(void);
void rounded_products(void);
void integer_products(void);
void attention(void);
void answers(void);

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
