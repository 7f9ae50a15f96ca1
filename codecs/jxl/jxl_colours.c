/* SPDX-License-Identifier: MIT */
#include "codecs/jxl/jxl_colours.h"

/* Values of ITU-T H.273. */
enum {
    CICP = 0x63494350,
    CODE_BT709 = 1,
    CODE_UNSPECIFIED = 2,
    CODE_BT2020 = 9,
    CODE_P3_DCI = 11,
    CODE_P3_D65 = 12,
    CODE_SRGB = 13
};

static bool get_encoding(const struct jxl_source *source, JxlColorProfileTarget target,
                         JxlColorEncoding *encoding) {
    return source->library->JxlDecoderGetColorAsEncodedProfile(source->decoder, JXL_NO_FORMAT target,
                                                               encoding) == JXL_DEC_SUCCESS;
}

enum status jxl_colours_choose(const struct jxl_source *source, struct error *err) {
    JxlColorEncoding encoding;
    if (source->info->uses_original_profile ||
        get_encoding(source, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &encoding)) {
        return ST_OK;
    }
    bool gray = source->info->num_color_channels == 1;
    encoding = (JxlColorEncoding){
        .color_space = gray ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB,
        .white_point = JXL_WHITE_POINT_D65,
        .primaries = gray ? JXL_PRIMARIES_SRGB : JXL_PRIMARIES_P3,
        .transfer_function = JXL_TRANSFER_FUNCTION_SRGB,
        .rendering_intent = JXL_RENDERING_INTENT_RELATIVE,
    };
    return source->library->JxlDecoderSetPreferredColorProfile(source->decoder, &encoding) == JXL_DEC_SUCCESS
               ? ST_OK
               : fail(err, ST_UNSUPPORTED, "JPEG XL has colours that its library cannot convert");
}

/* The code of primaries and white point; 0: there is none. */
static uint8_t primaries_of(const JxlColorEncoding *encoding) {
    bool d65 = encoding->white_point == JXL_WHITE_POINT_D65;
    if (encoding->color_space == JXL_COLOR_SPACE_GRAY) {
        return d65 ? CODE_BT709 : 0;
    }
    switch (encoding->primaries) {
    case JXL_PRIMARIES_SRGB:
        return d65 ? CODE_BT709 : 0;
    case JXL_PRIMARIES_2100:
        return d65 ? CODE_BT2020 : 0;
    case JXL_PRIMARIES_P3:
        return d65 ? CODE_P3_D65 : encoding->white_point == JXL_WHITE_POINT_DCI ? CODE_P3_DCI : 0;
    default:
        return 0;
    }
}

/* libjxl numbers transfers as H.273 does. */
static uint8_t transfer_of(const JxlColorEncoding *encoding) {
    switch (encoding->transfer_function) {
    case JXL_TRANSFER_FUNCTION_709:
    case JXL_TRANSFER_FUNCTION_LINEAR:
    case JXL_TRANSFER_FUNCTION_SRGB:
    case JXL_TRANSFER_FUNCTION_PQ:
    case JXL_TRANSFER_FUNCTION_DCI:
    case JXL_TRANSFER_FUNCTION_HLG:
        return (uint8_t)encoding->transfer_function;
    default:
        return 0;
    }
}

enum jxl_colours jxl_colours_read(const struct jxl_source *source, uint8_t code[static JXL_CODE_SIZE],
                                  size_t *icc) {
    JxlColorEncoding encoding;
    bool known = get_encoding(source, JXL_COLOR_PROFILE_TARGET_DATA, &encoding);
    code[0] = known ? primaries_of(&encoding) : 0;
    code[1] = known ? transfer_of(&encoding) : 0;
    code[2] = 0; /* RGB */
    code[3] = 1; /* full range */
    *icc = 0;
    if (code[0] && code[1]) {
        return code[0] == CODE_BT709 && code[1] == CODE_SRGB ? JXL_COLOURS_SRGB : JXL_COLOURS_CODE;
    }
    bool found = source->library->JxlDecoderGetICCProfileSize(
                     source->decoder, JXL_NO_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, icc) == JXL_DEC_SUCCESS;
    return found ? JXL_COLOURS_ICC : JXL_COLOURS_SRGB;
}

const uint8_t *jxl_colours_code(const struct metadata *metadata) {
    for (unsigned i = 0; metadata && i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->kind == CHUNK_COLOUR && chunk->tag == CICP && chunk->data.size == JXL_CODE_SIZE) {
            return chunk->data.data;
        }
    }
    return NULL;
}

static bool set_primaries(uint8_t code, JxlColorEncoding *encoding) {
    encoding->white_point = code == CODE_P3_DCI ? JXL_WHITE_POINT_DCI : JXL_WHITE_POINT_D65;
    switch (code) {
    case CODE_BT709:
    case CODE_UNSPECIFIED:
        encoding->primaries = JXL_PRIMARIES_SRGB;
        return true;
    case CODE_BT2020:
        encoding->primaries = JXL_PRIMARIES_2100;
        return true;
    case CODE_P3_DCI:
    case CODE_P3_D65:
        encoding->primaries = JXL_PRIMARIES_P3;
        return true;
    default:
        return false;
    }
}

bool jxl_colours_encoding(const uint8_t *code, bool gray, JxlColorEncoding *encoding) {
    uint8_t transfer = code && code[1] != CODE_UNSPECIFIED ? code[1] : CODE_SRGB;
    *encoding = (JxlColorEncoding){
        .color_space = gray ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB,
        .transfer_function = (JxlTransferFunction)transfer,
        .rendering_intent = JXL_RENDERING_INTENT_RELATIVE,
    };
    return set_primaries(code ? code[0] : CODE_BT709, encoding) && transfer_of(encoding) != 0;
}
