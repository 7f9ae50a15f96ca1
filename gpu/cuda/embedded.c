/* SPDX-License-Identifier: MIT
 * The assembler includes the files from the Makefile's folder; compiling them as C arrays would take
 * seconds. Text ends in a zero. */
#include "gpu/cuda/embedded.h"

#include <libdeflate.h>

#define EMBED(name, file)                                                                                    \
    __asm__(".pushsection .rodata\n.balign 64\n" #name ":\n.incbin \"" file "\"\n" #name                     \
            "_end:\n.byte 0\n.popsection\n");                                                                \
    extern const uint8_t name[], name##_end[];

#define CUBIN(number) EMBED(embedded_sm_##number, "sm_" #number ".cubin.gz")
#define PTX(number) EMBED(embedded_compute_##number, "compute_" #number ".ptx.gz")
#include "gpu/cuda/architectures.def"
#undef CUBIN
#undef PTX

EMBED(embedded_cu, "source.cu.gz")

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

const struct embedded embedded_source = {0, embedded_cu, embedded_cu_end};

/* The last four bytes of a gzip file are the size of its content, little-endian. */
static size_t size_of(const struct embedded *embedded) {
    const uint8_t *last = embedded->end - 4;
    return last[0] | (size_t)last[1] << 8 | (size_t)last[2] << 16 | (size_t)last[3] << 24;
}

enum status embedded_image(const struct embedded *embedded, struct buf *image, struct error *err) {
    size_t size = size_of(embedded);
    buf_init(image, size + 1);
    enum status status = buf_reserve(image, size + 1, err);
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (status == ST_OK && !decompressor) {
        status = fail(err, ST_BUSY, "out of memory for the kernels");
    }
    if (status == ST_OK &&
        libdeflate_gzip_decompress(decompressor, embedded->data, (size_t)(embedded->end - embedded->data),
                                   image->data, size, NULL) != LIBDEFLATE_SUCCESS) {
        status = fail(err, ST_INTERNAL, "the kernels in the binary are damaged");
    }
    if (status == ST_OK) {
        image->data[size] = 0;
        image->size = size + 1;
    }
    if (decompressor) {
        libdeflate_free_decompressor(decompressor);
    }
    return status;
}
