/* SPDX-License-Identifier: MIT */
#include "codecs/png/png.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "codecs/metadata/losses.h"
#include "codecs/peek.h"

void png_guard_init(struct png_guard *guard, enum status otherwise, uint64_t max_memory, struct error *err) {
    memset(guard, 0, sizeof(*guard));
    guard->otherwise = otherwise;
    guard->memory_left = max_memory;
    guard->err = err;
}

_Noreturn void png_guard_leave(png_structp png, enum status status) {
    struct png_guard *guard = png_get_error_ptr(png);
    guard->status = status;
    longjmp(guard->jump, 1);
}

_Noreturn void png_guard_error(png_structp png, png_const_charp message) {
    struct png_guard *guard = png_get_error_ptr(png);
    enum status status;
    if (guard->memory_over) {
        status = fail(guard->err, ST_LIMIT, "PNG needs more memory to decode than the memory limit");
    } else if (guard->memory_short || strcasecmp(message, "out of memory") == 0) {
        status = fail(guard->err, ST_BUSY, "out of memory in the PNG library");
    } else if (guard->otherwise == ST_CORRUPT) {
        status = fail(guard->err, ST_CORRUPT, "PNG data is damaged or cut short: %s", message);
    } else {
        status = fail(guard->err, guard->otherwise, "PNG library failed: %s", message);
    }
    png_guard_leave(png, status);
}

/* libpng warns of problems outside of the pixels, which are checked before. */
void png_guard_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

/* Bytes before each allocation that store its size, for the free function. */
enum { SIZE_PREFIX = 16 };

png_voidp png_guard_malloc(png_structp png, png_alloc_size_t size) {
    struct png_guard *guard = png_get_mem_ptr(png);
    if (size > guard->memory_left) {
        guard->memory_over = true;
        return NULL;
    }
    uint8_t *memory = malloc(size + SIZE_PREFIX);
    if (!memory) {
        guard->memory_short = true; /* libpng may report it as "zlib error" or not at all */
        return NULL;
    }
    uint64_t recorded = size;
    memcpy(memory, &recorded, sizeof(recorded));
    guard->memory_left -= size;
    return memory + SIZE_PREFIX;
}

void png_guard_free(png_structp png, png_voidp memory) {
    struct png_guard *guard = png_get_mem_ptr(png);
    uint8_t *start = (uint8_t *)memory - SIZE_PREFIX;
    uint64_t recorded;
    memcpy(&recorded, start, sizeof(recorded));
    guard->memory_left += recorded;
    free(start);
}

bool png_is_little_endian(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static bool png_peek(struct bytes input, struct peek *peek) {
    enum { HEADER = 29 };
    static const uint8_t channels[8] = {[0] = 1, [2] = 3, [3] = 3, [4] = 2, [6] = 4};
    if (input.size < HEADER || memcmp(input.data + 12, "IHDR", 4) != 0) {
        return false;
    }
    *peek = (struct peek){
        .width = bytes_be32(input.data + 16),
        .height = bytes_be32(input.data + 20),
        .depth = input.data[24] == 16 ? 16 : 8,
        .channels = channels[input.data[25] & 7],
        .progressive = input.data[28] != 0,
    };
    return peek->channels > 0;
}

const struct codec codec_png = {
    .name = "png",
    .title = "PNG",
    .mime = "image/png",
    .signature = {"\x89PNG\r\n\x1A\n", 8},
    .reach = REACH_PIXEL,
    .holds = LOSS_EXIF | LOSS_XMP | LOSS_COLOUR | LOSS_TEXT | LOSS_OTHER,
    .colours = COLOURS_CHUNKS,
    .write_density = density_to_phys,
    .familiar = true,
    .rank = 5,
    .byte_pixels = 8 * 1032, /* deflate expands at most 1032 times, and a pixel has at least one bit */
    .decode_ns =
        {
            {1, 6},  /* 22 ms with 3.1 MB, 2 to 6 ms for screenshots: bench/predict.py */
            {23, 6}, /* interlaced: 68 ms */
        },
    .encode_cost = png_encode_cost,
    .peek = png_peek,
    .frames = &png_frames,
    .probe = png_probe,
    .decode = png_decode,
    .encode = png_encode,
    .decode_bytes = png_decode_bytes,
    .decode_room = png_decode_room,
    .decode_spare = png_decode_spare,
    .encode_bytes = png_encode_bytes,
};
