/* SPDX-License-Identifier: MIT */
#include "codecs/png/gzip.h"

#include <libdeflate.h>

enum { LEVEL = 12 /* the smallest that libdeflate makes */ };

enum status gzip_pack(struct bytes plain, struct buf *out, struct error *err) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    if (!compressor) {
        return fail(err, ST_BUSY, "out of memory");
    }
    size_t room = libdeflate_gzip_compress_bound(compressor, plain.size);
    enum status status = buf_reserve(out, room, err);
    if (status == ST_OK) {
        out->size +=
            libdeflate_gzip_compress(compressor, plain.data, plain.size, out->data + out->size, room);
    }
    libdeflate_free_compressor(compressor);
    return status;
}
