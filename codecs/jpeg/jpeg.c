/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg.h"

#include <string.h>

#include <jerror.h>

/* Maps the libjpeg error code to a status; the message is libjpeg's. */
static enum status message_status(const struct jpeg_guard *guard) {
    switch (guard->manager.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return ST_BUSY;
    case JERR_NO_BACKING_STORE:
    case JERR_IMAGE_TOO_BIG:
        return ST_LIMIT;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_DCT_COEF: /* only from a file: 8-bit pixels cannot give these */
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_MISMATCHED_QUANT_TABLE:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        return ST_UNSUPPORTED;
    default:
        return guard->otherwise;
    }
}

_Noreturn void jpeg_guard_leave(j_common_ptr cinfo, enum status status) {
    struct jpeg_guard *guard = (struct jpeg_guard *)cinfo->err;
    guard->status = status;
    longjmp(guard->jump, 1);
}

_Noreturn static void leave_with_message(j_common_ptr cinfo) {
    struct jpeg_guard *guard = (struct jpeg_guard *)cinfo->err;
    char text[JMSG_LENGTH_MAX];
    guard->manager.format_message(cinfo, text);
    enum status status = message_status(guard);
    const char *what = status == ST_CORRUPT       ? "JPEG data is damaged or cut short"
                       : status == ST_UNSUPPORTED ? "JPEG variant is not supported"
                       : status == ST_LIMIT       ? "JPEG is over a limit"
                                                  : "JPEG library failed";
    jpeg_guard_leave(cinfo, fail(guard->err, status, "%s: %s", what, text));
}

/* A warning means that libjpeg goes on with invented pixels, so it is an error. Three warnings cost no
 * pixels: an unknown JFIF version, an unknown Adobe transform, and surplus bytes before a marker, which
 * some cameras leave in the header and some webcams at the end of restart intervals. */
static void judge_message(j_common_ptr cinfo, int level) {
    int code = cinfo->err->msg_code;
    bool harmless = code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM || code == JWRN_EXTRANEOUS_DATA;
    if (level < 0 && !harmless) {
        leave_with_message(cinfo);
    }
}

static void be_silent(j_common_ptr cinfo) {
    (void)cinfo;
}

void jpeg_guard_init(struct jpeg_guard *guard, enum status otherwise, struct error *err) {
    memset(guard, 0, sizeof(*guard));
    jpeg_std_error(&guard->manager);
    guard->manager.error_exit = leave_with_message;
    guard->manager.emit_message = judge_message;
    guard->manager.output_message = be_silent;
    guard->otherwise = otherwise;
    guard->err = err;
}

static bool jpeg_sniff(struct bytes input) {
    return input.size >= 3 && memcmp(input.data, "\xFF\xD8\xFF", 3) == 0;
}

const struct codec codec_jpeg = {
    .name = "jpeg",
    .title = "JPEG",
    .planes = true,
    .side_max = JPEG_MAX_DIMENSION,
    .mime = "image/jpeg",
    .sniff = jpeg_sniff,
    .probe = jpeg_probe,
    .decode = jpeg_decode,
    .encode = jpeg_encode,
    .decode_bytes = jpeg_decode_bytes,
    .encode_bytes = jpeg_encode_bytes,
    .encode_begin = jpeg_encode_begin,
    .encode_rows = jpeg_encode_rows,
    .encode_end = jpeg_encode_end,
};
