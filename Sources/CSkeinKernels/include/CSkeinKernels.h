#ifndef SKEIN_CKERNELS_H
#define SKEIN_CKERNELS_H

/* Kernels that were measured to need instructions which the baseline of x86-64 does not have. Each
   exists in portable C, compiled for the levels below; some have their own code for a level. The
   level is chosen when the process starts. */

#include "attention.h"
#include "bf16.h"
#include "cpu.h"
#include "elementwise.h"
#include "int8.h"
#include "int8_product.h"
#include "lowrank.h"
#include "matvec.h"
#include "memory.h"
#include "peak.h"
#include "product.h"
#include "spin.h"

#endif
