/* SPDX-License-Identifier: MIT
 * The assembler includes the files from the Makefile's folder; compiling them as C arrays would take
 * seconds. Text ends in a zero. */
#include "gpu/cuda/embedded.h"

#include <lzma.h>

#define EMBED(name, file)                                                                                    \
    __asm__(".pushsection .rodata\n.balign 64\n" #name ":\n.incbin \"" file "\"\n" #name                     \
            "_end:\n.byte 0\n.popsection\n");                                                                \
    extern const uint8_t name[], name##_end[];

#define CUBIN(number) EMBED(embedded_sm_##number, "sm_" #number ".cubin.xz")
#define PTX(number) EMBED(embedded_compute_##number, "compute_" #number ".ptx.xz")
#include "gpu/cuda/architectures.def"
#undef CUBIN
#undef PTX

EMBED(embedded_cu, "source.cu.xz")

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

/* The size of the content, which the index at the end of an xz file has; 0 when the file is damaged. */
static size_t size_of(const struct embedded *embedded) {
    const uint8_t *footer = embedded->end - LZMA_STREAM_HEADER_SIZE;
    lzma_stream_flags flags;
    lzma_index *index = NULL;
    uint64_t memory = UINT64_MAX;
    size_t at = 0;
    if (lzma_stream_footer_decode(&flags, footer) != LZMA_OK ||
        lzma_index_buffer_decode(&index, &memory, NULL, footer - flags.backward_size, &at,
                                 flags.backward_size) != LZMA_OK) {
        return 0;
    }
    size_t size = (size_t)lzma_index_uncompressed_size(index);
    lzma_index_end(index, NULL);
    return size;
}

enum status embedded_image(const struct embedded *embedded, struct buf *image, struct error *err) {
    size_t size = size_of(embedded), from = 0, to = 0;
    uint64_t memory = UINT64_MAX;
    buf_init(image, size + 1);
    enum status status = buf_reserve(image, size + 1, err);
    if (status != ST_OK) {
        return status;
    }
    lzma_ret result =
        lzma_stream_buffer_decode(&memory, 0, NULL, embedded->data, &from,
                                  (size_t)(embedded->end - embedded->data), image->data, &to, size);
    if (result != LZMA_OK) {
        return result == LZMA_MEM_ERROR ? fail(err, ST_BUSY, "out of memory for the kernels")
                                        : fail(err, ST_INTERNAL, "the kernels in the binary are damaged");
    }
    image->data[size] = 0;
    image->size = size + 1;
    return ST_OK;
}
