#ifndef SKEIN_CKERNELS_H
#define SKEIN_CKERNELS_H

/* Kernels that were measured to need instructions which the baseline of x86-64 does not have. Every kernel
   exists once in portable C and is compiled for each level below; the level is chosen when the process
   starts. */

#include "attention.h"
#include "bf16.h"
#include "cpu.h"
#include "elementwise.h"
#include "int8.h"
#include "lowrank.h"
#include "matvec.h"
#include "memory.h"
#include "peak.h"
#include "product.h"
#include "spin.h"

#endif
