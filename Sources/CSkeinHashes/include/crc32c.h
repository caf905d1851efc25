#ifndef CSKEIN_CRC32C_H
#define CSKEIN_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* 1 when the CPU has instructions for CRC-32C, else 0. */
int skein_crc32c_accelerated(void);

/* Feeds `count` bytes into the running CRC-32C (neither inverted before nor after) with those
   instructions. Call it only if the CPU has them. */
uint32_t skein_crc32c_update(uint32_t crc, const uint8_t *data, size_t count);

#endif
