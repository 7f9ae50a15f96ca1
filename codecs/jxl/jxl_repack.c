/* SPDX-License-Identifier: MIT
 * A JPEG whose coefficients libjxl codes anew, with what else it needs to be restored, in a box `jbrd`. */
#include <string.h>

#include "codecs/codec.h"
#include "codecs/jxl/jxl.h"
#include "codecs/jxl/jxl_library.h"
#include "codecs/jxl/jxl_restore.h"
#include "core/deadline.h"

enum { LEVEL = 7 }; /* of libjxl, of 9: the coefficients of a JPEG take as long with any from 3 */

static enum status code(const struct jxl_library *jxl, JxlEncoder *encoder, struct bytes jpeg,
                        struct buf *output, struct error *err) {
    JxlEncoderFrameSettings *frame = jxl->JxlEncoderFrameSettingsCreate(encoder, NULL);
    JxlEncoderStatus result = JXL_ENC_ERROR;
    enum status status = ST_OK;
    if (frame && jxl->JxlEncoderStoreJPEGMetadata(encoder, JXL_TRUE) == JXL_ENC_SUCCESS &&
        jxl->JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_EFFORT, LEVEL) ==
            JXL_ENC_SUCCESS &&
        jxl->JxlEncoderAddJPEGFrame(frame, jpeg.data, jpeg.size) == JXL_ENC_SUCCESS) {
        status = jxl_library_write(jxl, encoder, output, &result, err);
    }
    if (status == ST_OK && result != JXL_ENC_SUCCESS) {
        return jxl->JxlEncoderGetError(encoder) == JXL_ENC_ERR_OOM
                   ? fail(err, ST_BUSY, "out of memory in the JPEG XL library")
                   : fail(err, ST_UNSUPPORTED, "the JPEG XL library cannot code this JPEG anew");
    }
    return status;
}

/* Some JPEGs are coded that cannot be restored. */
static enum status check(struct bytes file, struct bytes jpeg, struct error *err) {
    struct buf restored;
    struct error cause = {0};
    buf_init(&restored, codec_repack_most(file.size));
    enum status status = jxl_restore(file, &restored, &cause);
    const bool same =
        status == ST_OK && restored.size == jpeg.size && memcmp(restored.data, jpeg.data, jpeg.size) == 0;
    buf_finish(&restored);
    return same ? ST_OK
           : status == ST_BUSY
               ? fail(err, ST_BUSY, "%s", cause.text)
               : fail(err, ST_UNSUPPORTED, "the JPEG XL library cannot restore this JPEG to the byte");
}

static enum status pack(struct bytes jpeg, const struct codec_limits *limits, struct buf *output,
                        struct error *err) {
    const struct jxl_library *jxl = jxl_library_open(err);
    const size_t start = output->size;
    if (!jxl) {
        return ST_UNSUPPORTED;
    }
    JxlEncoder *encoder = jxl->JxlEncoderCreate(NULL);
    if (!encoder) {
        return fail(err, ST_BUSY, "out of memory for the JPEG XL library");
    }
    enum status status = code(jxl, encoder, jpeg, output, err);
    jxl->JxlEncoderDestroy(encoder);
    status = status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
    return status == ST_OK ? check((struct bytes){output->data + start, output->size - start}, jpeg, err)
                           : status;
}

enum status jxl_repack(struct bytes input, const struct codec_limits *limits, struct buf *output,
                       struct error *err) {
    enum codec_id id;
    enum status status = deadline_check(limits->deadline_ns, err);
    if (status == ST_OK && codec_find(input, &id) && id == CODEC_JXL) {
        status = jxl_restore(input, output, err);
    } else if (status == ST_OK) {
        status = pack(input, limits, output, err);
    }
    return status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
}
