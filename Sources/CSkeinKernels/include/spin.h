#ifndef SKEIN_SPIN_H
#define SKEIN_SPIN_H

#include <stdint.h>

/* Tells the processor that this thread waits for another one to write to memory. */
static inline void skein_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Fetches the line at an address into the second-level cache. Any address will do, also one that
   is not mapped. */
static inline void skein_fetch(uintptr_t address) {
    __builtin_prefetch((const void *)address, 0, 2);
}

#endif
