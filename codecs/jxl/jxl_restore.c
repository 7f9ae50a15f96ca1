/* SPDX-License-Identifier: MIT */
#include "codecs/jxl/jxl_restore.h"

#include "codecs/bmff/bmff.h"
#include "codecs/jxl/jxl_library.h"
#include "core/numbers.h"

enum { BOXES_MAX = 1000, STEP = 64 << 10 };

bool jxl_restore_possible(struct bytes input) {
    struct bmff_box box;
    bool container = input.size > 0 && input.data[0] == 0, found = false;
    for (unsigned i = 0; container && !found && i < BOXES_MAX && bmff_next(&input, &box); i++) {
        found = box.type == bmff_type("jbrd");
    }
    return found;
}

/* Lends the decoder ever more room until the JPEG is whole: libjxl writes all of it or nothing, but does not
 * promise that. */
static enum status take(const struct jxl_library *jxl, JxlDecoder *decoder, size_t guess, struct buf *jpeg,
                        struct error *err) {
    JxlDecoderStatus got = JXL_DEC_JPEG_NEED_MORE_OUTPUT;
    for (size_t room = guess; got == JXL_DEC_JPEG_NEED_MORE_OUTPUT; room *= 2) {
        size_t most = jpeg->maximum - jpeg->size;
        enum status status = buf_reserve(jpeg, room / 2 < most ? min_size(room, most) : room, err);
        if (status != ST_OK) {
            return status;
        }
        size_t lent = jpeg->capacity - jpeg->size;
        if (jxl->JxlDecoderSetJPEGBuffer(decoder, jpeg->data + jpeg->size, lent) != JXL_DEC_SUCCESS) {
            return fail(err, ST_INTERNAL, "the JPEG XL library takes no buffer for a JPEG");
        }
        got = jxl->JxlDecoderProcessInput(decoder);
        size_t left = jxl->JxlDecoderReleaseJPEGBuffer(decoder);
        jpeg->size += left <= lent ? lent - left : 0;
    }
    return got == JXL_DEC_FULL_IMAGE
               ? ST_OK
               : fail(err, ST_CORRUPT, "JPEG XL is damaged: its JPEG cannot be restored");
}

enum status jxl_restore(struct bytes input, struct buf *jpeg, struct error *err) {
    const struct jxl_library *jxl = jxl_library_open(err);
    if (!jxl) {
        return ST_UNSUPPORTED;
    }
    enum status status = fail(err, ST_CORRUPT, "JPEG XL is damaged: its JPEG cannot be restored");
    JxlDecoder *decoder = jxl->JxlDecoderCreate(NULL);
    if (!decoder) {
        return fail(err, ST_BUSY, "out of memory for the JPEG XL library");
    }
    if (jxl->JxlDecoderSubscribeEvents(decoder, JXL_DEC_JPEG_RECONSTRUCTION | JXL_DEC_FULL_IMAGE) ==
            JXL_DEC_SUCCESS &&
        jxl->JxlDecoderSetInput(decoder, input.data, input.size) == JXL_DEC_SUCCESS) {
        jxl->JxlDecoderCloseInput(decoder);
        if (jxl->JxlDecoderProcessInput(decoder) == JXL_DEC_JPEG_RECONSTRUCTION) {
            status = take(jxl, decoder, input.size + input.size / 2 + STEP, jpeg, err);
        }
    }
    jxl->JxlDecoderDestroy(decoder);
    return status;
}
