#ifndef SKEIN_SPIN_H
#define SKEIN_SPIN_H

/* Tells the processor that this thread waits for another one to write to memory. */
static inline void skein_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
