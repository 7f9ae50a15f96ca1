/* SPDX-License-Identifier: MIT
 * A JPEG file up to its first scan: the walk over its segments, ICC profile, and all metadata spliced into
 * the file as if an encoder had made it. */
#include <string.h>

#include "codecs/jpeg/jpeg_markers.h"
#include "codecs/jpeg/jpeg_splice.h"
#include "codecs/metadata/icc/icc.h"
#include "tests/fuzz/common/fuzz.h"

static bool inside(struct bytes outer, struct bytes inner) {
    return inner.size == 0 || (inner.data >= outer.data && inner.size <= outer.size &&
                               (size_t)(inner.data - outer.data) <= outer.size - inner.size);
}

static void walk(struct bytes input) {
    struct jpeg_segment segment;
    size_t position = 0, before = 0;
    while (jpeg_next_segment(input, &position, &segment)) {
        fuzz_require(position > before && position <= input.size, "the walk gets on");
        fuzz_require(inside(input, segment.data), "a segment lies in the file");
        before = position;
    }
    fuzz_require(position <= input.size, "the walk stops in the file");
}

static void profile(const struct metadata *metadata) {
    struct buf icc = {0};
    struct error err = {0};
    fuzz_require(icc_read(metadata, PIXEL_RGB, &icc, &err) == ST_OK, "there is memory");
    fuzz_require(icc.size <= METADATA_ICC_MAX, "a profile keeps to its limit");
    buf_finish(&icc);
}

/* False when it is no such picture; the output is then empty. */
static bool spliced(struct bytes input, const struct image_shape *shape, const struct metadata *metadata,
                    struct buf *output) {
    struct encode_options options = {.keep_metadata = true, .upright = true};
    struct error err = {0};
    buf_init(output, 64 << 20);
    struct bytes scans;
    enum status status =
        jpeg_splice(input, shape, JPEG_SPLICE_MINOR, &options, metadata, output, &scans, &err);
    fuzz_require(status == ST_OK || (status == ST_DEVICE && output->size == 0), "there is memory");
    return status == ST_OK && buf_append(output, scans.data, scans.size, &err) == ST_OK;
}

static void splice(struct bytes input, const struct image_shape *shape, const struct metadata *metadata) {
    struct buf with, without, again;
    if (spliced(input, shape, metadata, &with)) {
        fuzz_require(spliced(input, shape, NULL, &without), "metadata do not matter");
        fuzz_require(spliced(buf_bytes(&with), shape, NULL, &again), "what was spliced is a picture");
        fuzz_require(again.size == without.size && memcmp(again.data, without.data, again.size) == 0,
                     "nothing but metadata is added");
        buf_finish(&again);
        buf_finish(&without);
    }
    buf_finish(&with);
}

static void splice_as_any(struct bytes input, const struct jpeg_frame *frame,
                          const struct metadata *metadata) {
    struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = 8, .width = frame->width, .height = frame->height};
    splice(input, &shape, metadata);
    shape.model = PIXEL_YCBCR;
    for (uint8_t shifts = 0; shifts < 4; shifts++) {
        shape.chroma_shift_x = shifts & 1;
        shape.chroma_shift_y = shifts >> 1;
        splice(input, &shape, metadata);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct metadata metadata = {0};
    struct jpeg_frame frame;
    struct error err = {0};
    walk(input);
    if (jpeg_read_head(input, &frame, &metadata, &err) == ST_OK) {
        fuzz_require(frame.scan <= size, "the scan lies in the file");
        splice_as_any(input, &frame, &metadata);
    }
    fuzz_require(metadata.chunk_count <= METADATA_CHUNKS_MAX && inside(input, metadata.exif),
                 "metadata lies in the file");
    for (unsigned i = 0; i < metadata.chunk_count; i++) {
        fuzz_require(inside(input, metadata.chunk[i].data), "metadata lies in the file");
    }
    fuzz_require(inside(input, metadata.xmp) && inside(input, metadata.photoshop),
                 "metadata lies in the file");
    profile(&metadata);
    return 0;
}
