#ifndef SKEIN_CPU_H
#define SKEIN_CPU_H

/* What this processor offers and the system can save on a thread switch. Each level includes those
   below it. Kernels are chosen only by `level >= ...`, so that a new level takes the best kernel
   below it until it has its own. */
enum skein_level {
    SKEIN_PLAIN = 0,      /* what every machine has */
    SKEIN_AVX2 = 1,       /* AVX2, FMA, F16C */
    SKEIN_AVX512 = 2,     /* AVX-512 F, BW, DQ, VL */
    SKEIN_AVX512BF16 = 3, /* and VDPBF16PS */
};

/* The level in use: the highest that the machine has, or a lower one that was asked for. */
enum skein_level skein_level(void);

/* Asks for a lower level, for tests and comparisons; not while kernels run. A level that the
   machine does not have is lowered to the highest that it has, which is returned. */
enum skein_level skein_use_level(enum skein_level level);

#endif
