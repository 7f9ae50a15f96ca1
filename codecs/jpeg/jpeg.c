/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg.h"

#include <string.h>

#include <jerror.h>

#include "codecs/jpeg/jpeg_markers.h"
#include "codecs/metadata/losses.h"

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

static bool always(j_common_ptr cinfo) {
    (void)cinfo;
    return true;
}

/* The warning is about a band of AC for coefficient 0 only where no DC of the component came before. */
static bool is_ac_before_dc(j_common_ptr cinfo) {
    return ((j_decompress_ptr)cinfo)->Ss > 0 && cinfo->err->msg_parm.i[1] == 0;
}

/* The warnings behind which libjpeg still decodes every pixel of the file. All others are errors, since
 * libjpeg goes on with invented pixels: a bad code of Huffman (JWRN_HUFF_BAD_CODE) or arithmetic coding
 * (JWRN_ARITH_BAD_CODE), data that ends early (JWRN_HIT_MARKER, JWRN_JPEG_EOF), a wrong restart marker
 * (JWRN_MUST_RESYNC), bits of coefficients that a progressive file lacks or has twice
 * (JWRN_BOGUS_PROGRESSION). JWRN_TOO_MUCH_DATA is about callers that ask for more rows than there are; no
 * file causes it. */
static const struct {
    int code;
    bool (*is_harmless)(j_common_ptr cinfo);
} warnings[] = {
    {JWRN_JFIF_MAJOR, always},      /* a version of JFIF that is not known: says nothing about samples */
    {JWRN_ADOBE_XFORM, always},     /* an unknown colour transform: libjpeg takes the usual one */
    {JWRN_EXTRANEOUS_DATA, always}, /* surplus bytes before a marker, as of some cameras and webcams */
    {JWRN_NOT_SEQUENTIAL,
     always}, /* a band or bits in the scan's header of a sequential file, as of phones
                 of Samsung: such a scan has all coefficients, so no decoder reads these */
    {JWRN_BOGUS_PROGRESSION, is_ac_before_dc}, /* another order of scans; jpeg_reader_check_scans notices
                                                  when the DC does not follow */
};

static void judge_message(j_common_ptr cinfo, int level) {
    bool harmless = level >= 0;
    for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++) {
        harmless |= warnings[i].code == cinfo->err->msg_code && warnings[i].is_harmless(cinfo);
    }
    if (!harmless) {
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

const struct codec codec_jpeg = {
    .name = "jpeg",
    .title = "JPEG",
    .reach = REACH_BLOCK,
    .planes = true,
    .subsamples = true,
    .holds = LOSS_EXIF | LOSS_XMP | LOSS_IPTC | LOSS_COLOUR | LOSS_TEXT,
    .write_density = density_to_jfif,
    .familiar = true,
    .rank = 2,
    .side_max = JPEG_MAX_DIMENSION,
    .mime = "image/jpeg",
    .signature = {"\xFF\xD8\xFF", 3},
    .byte_pixels = 8 * 64, /* a block has at least one bit */
    .decode_ns =
        {
            {1, 6.5F}, /* one scan: 3.1 ms with 170 KB, 5.3 ms with 511 KB */
            {2, 22},   /* progressive: 8.5 ms with 197 KB, 15.6 ms with 521 KB, converted from Zen 4 */
        },
    .encode_cost = jpeg_encode_cost,
    .peek = jpeg_peek,
    .probe = jpeg_probe,
    .decode = jpeg_decode,
    .encode = jpeg_encode,
    .decode_bytes = jpeg_decode_bytes,
    .encode_bytes = jpeg_encode_bytes,
    .encode_begin = jpeg_encode_begin,
    .encode_rows = jpeg_encode_rows,
    .encode_end = jpeg_encode_end,
};
