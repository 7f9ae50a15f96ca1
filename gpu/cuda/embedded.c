/* SPDX-License-Identifier: MIT
 * The assembler includes the files from the Makefile's folder; compiling them as C arrays would take
 * seconds. Text ends in a zero. */
#include "gpu/cuda/embedded.h"

#define EMBED(name, file)                                                                                    \
    __asm__(".pushsection .rodata\n.balign 64\n" #name ":\n.incbin \"" file "\"\n" #name                     \
            "_end:\n.byte 0\n.popsection\n");                                                                \
    extern const uint8_t name[], name##_end[];

#define CUBIN(number) EMBED(embedded_sm_##number, "sm_" #number ".cubin")
#define PTX(number) EMBED(embedded_compute_##number, "compute_" #number ".ptx")
#include "gpu/cuda/architectures.def"
#undef CUBIN
#undef PTX

__asm__(".pushsection .rodata\n.globl embedded_source\nembedded_source:\n.incbin \"source.cu\"\n.byte "
        "0\n.popsection\n");

const struct embedded embedded_cubins[] = {
#define CUBIN(number) {number, embedded_sm_##number, embedded_sm_##number##_end},
#define PTX(number)
#include "gpu/cuda/architectures.def"
#undef CUBIN
#undef PTX
    {0},
};

const struct embedded embedded_ptx = {
#define CUBIN(number)
#define PTX(number) number, embedded_compute_##number, embedded_compute_##number##_end
#include "gpu/cuda/architectures.def"
#undef CUBIN
#undef PTX
};
