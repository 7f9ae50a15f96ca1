/* SPDX-License-Identifier: MIT
 * The layout is that of "Graphics Interchange Format, Version 89a", CompuServe 1990. */
#include "codecs/gif/gif_blocks.h"

#include <string.h>

#include "codecs/metadata/losses.h"

enum {
    DESCRIPTOR = 9,   /* bytes behind GIF_IMAGE */
    CONTROL_SIZE = 4, /* bytes of the control's block */
    APPLICATION_SIZE = 11,
    DISPOSAL_CLEAR = 2, /* disposal in the control's flags, from bit 2 on */
    DISPOSAL_RESTORE = 3,
    TRANSPARENT = 1,   /* flag of the control */
    CODE_BITS_MAX = 8, /* of a pixel */
    PLAYS_MAX = UINT16_MAX,
};

static enum status fail_cut(struct bytes input, struct error *err) {
    return fail(err, ST_CORRUPT, "GIF is cut short: it ends with byte %zu", input.size);
}

/* The palette at *position, if the flags say that there is one. */
static bool take_palette(struct bytes input, size_t *position, uint8_t flags, struct bytes *palette) {
    const size_t size = flags & GIF_PALETTE ? (size_t)3 * (2u << (flags & 7)) : 0;
    const bool fits = size <= input.size - *position;
    *palette = size > 0 && fits ? (struct bytes){input.data + *position, size} : (struct bytes){0};
    *position += fits ? size : 0;
    return fits;
}

enum status gif_open(struct bytes input, struct gif_file *file, struct error *err) {
    *file = (struct gif_file){.plays = 1, .position = GIF_HEADER};
    if (input.size < GIF_HEADER || !take_palette(input, &file->position, input.data[10], &file->palette)) {
        return fail_cut(input, err);
    }
    file->width = gif_le16(input.data + 6);
    file->height = gif_le16(input.data + 8);
    return ST_OK;
}

/* Steps behind the blocks of data at *position, of which each has its size in front; the last one is empty.
 */
static bool skip_blocks(struct bytes input, size_t *position) {
    size_t at = *position;
    while (at < input.size && input.data[at] > 0) {
        at += 1u + input.data[at];
    }
    *position = at + 1;
    return at < input.size;
}

/* What the control of an image says. */
static void take_control(struct bytes block, struct gif_image *image) {
    if (block.size < CONTROL_SIZE) {
        return;
    }
    const unsigned disposal = block.data[0] >> 2 & 7;
    image->frame.delay = gif_le16(block.data + 1);
    image->frame.disposal = disposal == DISPOSAL_CLEAR     ? FRAME_CLEAR
                            : disposal == DISPOSAL_RESTORE ? FRAME_RESTORE
                                                           : FRAME_KEEP;
    image->transparent = block.data[0] & TRANSPARENT ? block.data[3] : -1;
}

/* An application's block may say how often the file plays, or is about metadata. */
static void take_application(struct bytes rest, struct gif_file *file) {
    enum { DATA_AT = 1 + APPLICATION_SIZE, LOOP_SIZE = 3 };
    const uint8_t *p = rest.data;
    if (rest.size < DATA_AT || p[0] != APPLICATION_SIZE) {
        return;
    }
    const bool loop = memcmp(p + 1, "NETSCAPE2.0", APPLICATION_SIZE) == 0 ||
                      memcmp(p + 1, "ANIMEXTS1.0", APPLICATION_SIZE) == 0;
    if (loop && rest.size >= DATA_AT + 1 + LOOP_SIZE && p[DATA_AT] >= LOOP_SIZE && p[DATA_AT + 1] == 1) {
        const uint32_t again = gif_le16(p + DATA_AT + 2);
        file->plays = again == 0 ? 0 : again + 1;
    } else if (!loop) {
        file->losses |= memcmp(p + 1, "XMP DataXMP", APPLICATION_SIZE) == 0   ? LOSS_XMP
                        : memcmp(p + 1, "ICCRGBG1012", APPLICATION_SIZE) == 0 ? LOSS_COLOUR
                                                                              : LOSS_OTHER;
    }
}

static enum status take_extension(struct bytes input, struct gif_file *file, struct gif_image *image,
                                  struct error *err) {
    enum { COMMENT = 0xFE };
    size_t at = file->position + 2, end = at;
    if (input.size < at + 1 || !skip_blocks(input, &end)) {
        return fail_cut(input, err);
    }
    const uint8_t label = input.data[at - 1];
    const struct bytes rest = {input.data + at, end - at};
    if (label == GIF_CONTROL && rest.data[0] < rest.size) {
        take_control((struct bytes){rest.data + 1, rest.data[0]}, image);
    } else if (label == GIF_APPLICATION) {
        take_application(rest, file);
    } else if (label == COMMENT) {
        file->losses |= LOSS_TEXT;
    }
    file->position = end;
    return ST_OK;
}

static enum status take_image(struct bytes input, struct gif_file *file, struct gif_image *image,
                              struct error *err) {
    const uint8_t *p = input.data + file->position + 1;
    size_t at = file->position + 1 + DESCRIPTOR;
    if (input.size < at + 1) {
        return fail_cut(input, err);
    }
    image->frame.left = gif_le16(p);
    image->frame.top = gif_le16(p + 2);
    image->frame.width = gif_le16(p + 4);
    image->frame.height = gif_le16(p + 6);
    image->interlaced = p[8] & GIF_INTERLACED;
    if (!take_palette(input, &at, p[8], &image->palette) || at >= input.size) {
        return fail_cut(input, err);
    }
    image->palette = image->palette.size > 0 ? image->palette : file->palette;
    if (image->palette.size == 0) {
        return fail(err, ST_CORRUPT, "GIF has an image without a palette");
    }
    if (input.data[at] == 0 || input.data[at] > CODE_BITS_MAX) {
        return fail(err, ST_CORRUPT, "GIF has an image of codes of %u bits", input.data[at]);
    }
    size_t end = at + 1;
    if (!skip_blocks(input, &end)) {
        return fail_cut(input, err);
    }
    image->data = (struct bytes){input.data + at, end - at};
    file->position = end;
    return ST_OK;
}

enum status gif_next(struct bytes input, struct gif_file *file, struct gif_image *image, bool *found,
                     struct error *err) {
    *image = (struct gif_image){.transparent = -1, .frame = {.scale = GIF_SCALE, .blends = true}};
    *found = false;
    enum status status = ST_OK;
    while (status == ST_OK && !*found && file->position < input.size) {
        const uint8_t kind = input.data[file->position];
        if (kind == GIF_TRAILER) {
            return ST_OK;
        }
        if (kind == GIF_EXTENSION) {
            status = take_extension(input, file, image, err);
        } else if (kind == GIF_IMAGE) {
            status = take_image(input, file, image, err);
            *found = status == ST_OK;
        } else if (kind == 0) { /* some programs write it between blocks */
            file->position++;
        } else {
            return fail(err, ST_CORRUPT, "GIF has a block of an unknown kind at byte %zu", file->position);
        }
    }
    return status;
}

bool gif_image_has_alpha(const struct gif_image *image) {
    return image->transparent >= 0;
}

/* ---- writing ---- */

/* The flags of a palette of 3 bytes for each of 2 to 256 colours, a power of two. */
static uint8_t palette_flags(struct bytes palette) {
    unsigned bits = 0;
    while (palette.size > (size_t)3 * (2u << bits)) {
        bits++;
    }
    return palette.size > 0 ? (uint8_t)(GIF_PALETTE | bits) : 0;
}

enum status gif_put_header(struct buf *output, uint32_t width, uint32_t height, struct bytes palette,
                           struct error *err) {
    uint8_t header[GIF_HEADER] = "GIF89a";
    gif_put_le16(header + 6, width);
    gif_put_le16(header + 8, height);
    header[10] = (uint8_t)(palette_flags(palette) | 0x70); /* 8 bits of each primary */
    enum status status = buf_append(output, header, sizeof header, err);
    return status == ST_OK ? buf_append(output, palette.data, palette.size, err) : status;
}

enum status gif_put_control(struct buf *output, const struct frame *frame, uint32_t delay, int transparent,
                            struct error *err) {
    const unsigned disposal = frame->disposal == FRAME_CLEAR ? DISPOSAL_CLEAR : 1;
    uint8_t block[8] = {GIF_EXTENSION, GIF_CONTROL, CONTROL_SIZE};
    block[3] = (uint8_t)(disposal << 2 | (transparent >= 0 ? TRANSPARENT : 0u));
    gif_put_le16(block + 4, delay);
    block[6] = (uint8_t)(transparent >= 0 ? transparent : 0);
    return buf_append(output, block, sizeof block, err);
}

enum status gif_put_image(struct buf *output, const struct frame *frame, bool interlaced,
                          struct bytes palette, struct error *err) {
    uint8_t block[1 + DESCRIPTOR] = {GIF_IMAGE};
    gif_put_le16(block + 1, frame->left);
    gif_put_le16(block + 3, frame->top);
    gif_put_le16(block + 5, frame->width);
    gif_put_le16(block + 7, frame->height);
    block[9] = (uint8_t)(palette_flags(palette) | (interlaced ? GIF_INTERLACED : 0u));
    enum status status = buf_append(output, block, sizeof block, err);
    return status == ST_OK ? buf_append(output, palette.data, palette.size, err) : status;
}

enum status gif_put_plays(struct buf *output, uint32_t plays, struct error *err) {
    uint8_t block[19] = "\x21\xFF\x0BNETSCAPE2.0\x03\x01";
    const uint32_t again = plays == 0 ? 0 : plays - 1;
    if (plays == 1) {
        return ST_OK;
    }
    gif_put_le16(block + 16, again < PLAYS_MAX ? again : PLAYS_MAX);
    return buf_append(output, block, sizeof block, err);
}
