/* SPDX-License-Identifier: MIT
 * The kernels that are measured against, as text for NVRTC; paths are those of the
 * repository, where the assembler runs. */
#include "bench/gpu/bench.h"

__asm__(".pushsection .rodata\n.globl bench_source\nbench_source:\n"
        ".incbin \"bench/gpu/tutorial.cu\"\n.incbin \"bench/gpu/hold.cu\"\n"
        ".incbin \"bench/gpu/saxpy.cu\"\n.byte 0\n"
        ".globl special_source\nspecial_source:\n.incbin \"bench/gpu/special.cu\"\n.byte 0\n"
        ".globl facts_source\nfacts_source:\n.incbin \"bench/gpu/facts/kernels.h\"\n"
        ".incbin \"bench/gpu/hold.cu\"\n.incbin \"bench/gpu/facts/kernels.cu\"\n.byte 0\n.popsection\n");
