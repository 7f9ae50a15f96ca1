/* SPDX-License-Identifier: MIT
 * libjxl inflates boxes of a file only: the box stands in one of its own, behind the two boxes that begin
 * each container, and needs no codestream. */
#include "codecs/jxl/jxl_brob.h"

#include <string.h>

static const uint8_t front[] = {0,    0,   0, 12, 'J', 'X', 'L', ' ', '\r', '\n', 0x87,
                                '\n', 0,   0, 0,  20,  'f', 't', 'y', 'p',  'j',  'x',
                                'l',  ' ', 0, 0,  0,   0,   'j', 'x', 'l',  ' '};

enum { BOX_HEAD = 8 };

static enum status write_file(struct bytes body, struct buf *file, struct error *err) {
    uint8_t head[BOX_HEAD] = {0, 0, 0, 0, 'b', 'r', 'o', 'b'};
    bytes_put_be32(head, (uint32_t)(BOX_HEAD + body.size));
    enum status status = buf_append(file, front, sizeof front, err);
    status = status == ST_OK ? buf_append(file, head, sizeof head, err) : status;
    return status == ST_OK ? buf_append(file, body.data, body.size, err) : status;
}

/* Whether the decoder stands before the compressed box. */
static bool find_box(const struct jxl_library *jxl, JxlDecoder *decoder) {
    JxlBoxType type = "";
    while (jxl->JxlDecoderProcessInput(decoder) == JXL_DEC_BOX) {
        if (jxl->JxlDecoderGetBoxType(decoder, type, JXL_FALSE) == JXL_DEC_SUCCESS &&
            memcmp(type, "brob", sizeof type) == 0) {
            return true;
        }
    }
    return false;
}

/* At the end of the box libjxl waits for a codestream, and says so in a way of each version. */
static size_t inflate(const struct jxl_library *jxl, JxlDecoder *decoder, uint8_t *to, size_t room) {
    if (!find_box(jxl, decoder) || jxl->JxlDecoderSetBoxBuffer(decoder, to, room) != JXL_DEC_SUCCESS) {
        return 0;
    }
    bool fits = jxl->JxlDecoderProcessInput(decoder) != JXL_DEC_BOX_NEED_MORE_OUTPUT;
    size_t left = jxl->JxlDecoderReleaseBoxBuffer(decoder);
    return fits && left <= room ? room - left : 0;
}

size_t jxl_brob_inflate(const struct jxl_library *jxl, struct bytes body, uint8_t *to, size_t room) {
    struct buf file;
    struct error ignored;
    size_t size = 0;
    buf_init(&file, sizeof front + BOX_HEAD + body.size);
    JxlDecoder *decoder = jxl->JxlDecoderCreate(NULL);
    if (decoder && write_file(body, &file, &ignored) == ST_OK &&
        jxl->JxlDecoderSubscribeEvents(decoder, JXL_DEC_BOX) == JXL_DEC_SUCCESS &&
        jxl->JxlDecoderSetDecompressBoxes(decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
        jxl->JxlDecoderSetInput(decoder, file.data, file.size) == JXL_DEC_SUCCESS) {
        jxl->JxlDecoderCloseInput(decoder);
        size = inflate(jxl, decoder, to, room);
    }
    if (decoder) {
        jxl->JxlDecoderDestroy(decoder);
    }
    buf_finish(&file);
    return size;
}
