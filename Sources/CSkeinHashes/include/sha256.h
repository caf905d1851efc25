#ifndef CSKEIN_SHA256_H
#define CSKEIN_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* Feeds `blocks` blocks of 64 bytes into the SHA-256 state (FIPS 180-4, section 6.2.2).
   Uses the CPU's own SHA instructions where it has them, chosen at run time. */
void skein_sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks);

/* The same for two messages at once, as many blocks of each: in hardly more time than one takes, where
   the CPU has the instructions. */
void skein_sha256_compress_two(
    uint32_t state_a[8], const uint8_t *a, uint32_t state_b[8], const uint8_t *b, size_t blocks);

/* 1 when the CPU's SHA instructions are used, else 0. */
int skein_sha256_accelerated(void);

/* The portable path, whatever the CPU has: the oracle of the tests. */
void skein_sha256_compress_portable(uint32_t state[8], const uint8_t *data, size_t blocks);

#endif
