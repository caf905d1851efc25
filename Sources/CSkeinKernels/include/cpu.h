#ifndef SKEIN_CPU_H
#define SKEIN_CPU_H

/* What this processor offers and the system can save on a thread switch. Each level includes those
   below it, except that x86-64 includes no level of Arm above SKEIN_FUSED, and AVX-512 does not
   include AVX-VNNI. Kernels are chosen only by `level >= ...`, so that a new level takes the best
   kernel below it until it has its own. The numbers stay inside of a process: files and options have
   the levels' names. */
enum skein_level {
    SKEIN_PLAIN = 0,      /* what every machine has; a multiply-add rounds twice */
    SKEIN_FUSED = 1,      /* a multiply-add rounds once: Arm; elsewhere by fmaf, slowly */
    SKEIN_DOTPROD = 2,    /* Arm with SDOT (FEAT_DotProd) */
    SKEIN_I8MM = 3,       /* and USMMLA (FEAT_I8MM) */
    SKEIN_AVX2 = 4,       /* AVX2, FMA, F16C */
    SKEIN_AVXVNNI = 5,    /* and VPDPBUSD of 256 bits */
    SKEIN_AVX512 = 6,     /* AVX-512 F, BW, DQ, VL */
    SKEIN_AVX512VNNI = 7, /* and VPDPBUSD of 512 bits */
    SKEIN_AVX512BF16 = 8, /* and VDPBF16PS */
};

/* The level in use: the highest that the machine has, or a lower one that was asked for. */
enum skein_level skein_level(void);

/* Whether the machine can run a level's kernels; SKEIN_FUSED always can. */
int skein_has_level(enum skein_level level);

/* Asks for another level, for tests and comparisons; not while kernels run. A level that the
   machine does not have is lowered to the highest below it that it has, which is returned. */
enum skein_level skein_use_level(enum skein_level level);

/* Whether the processor has the AMX units for int8 and the system saves their registers. No kernel
   uses them. */
int skein_has_amx_int8(void);

#endif
