/* SPDX-License-Identifier: MIT
 * Answers of a codec's process that a picture has taken over, and metadata on both sides of its socket. The
 * input is an operation, then pieces that overwrite parts of a correct answer: an offset and a length of two
 * bytes each, and contents. What is left are the bytes that come with the answer. */
#include "codecs/process/codec_wire.h"

#include <string.h>

#include "codecs/frame.h"
#include "tests/fuzz/common/fuzz.h"

enum { PIECES_MAX = 16 };

static const uint8_t file[1000] = "a file";

static struct codec_answer good_answer(const struct codec_call *call) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 64, .height = 48};
    struct codec_answer answer = {.metadata = {.orientation = 1, .exif = {.at = 6, .size = 20}}};
    if (call->operation == CODEC_PROBES) {
        answer.native = answer.pixels = shape;
    } else if (call->operation == CODEC_FRAMES) {
        answer.delay = 40;
        answer.scale = 1000;
    }
    return answer;
}

static void overwrite(struct codec_answer *answer, struct bytes *input) {
    unsigned count = fuzz_byte(input) % PIECES_MAX;
    for (unsigned i = 0; i < count && input->size > 0; i++) {
        size_t at = fuzz_short(input) % sizeof *answer, size = fuzz_short(input) % (sizeof *answer - at);
        for (size_t j = 0; j < size && input->size > 0; j++) {
            ((uint8_t *)answer)[at + j] = fuzz_byte(input);
        }
    }
}

static bool lies_in(struct bytes part, struct bytes whole) {
    return part.size == 0 || (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

static void require_inside(struct bytes view, struct bytes stored) {
    fuzz_require(lies_in(view, (struct bytes){file, sizeof file}) || lies_in(view, stored),
                 "a view lies in the file, or in the bytes that came along");
}

/* Views from outside of the file go along with the message, and come back the same. */
static void check_round_trip(const struct metadata *metadata) {
    struct codec_metadata packed;
    struct metadata again = {0};
    struct error err = {0};
    struct buf stored;
    buf_init(&stored, 1 << 24);
    if (codec_wire_pack(metadata, (struct bytes){file, sizeof file}, &packed, &stored, &err) == ST_OK) {
        fuzz_require(codec_wire_unpack(&packed, (struct bytes){file, sizeof file}, buf_bytes(&stored), &again,
                                       &err) == ST_OK,
                     "metadata that were accepted once are accepted again");
        fuzz_require(
            again.chunk_count == metadata->chunk_count && again.exif.size == metadata->exif.size &&
                (again.exif.size == 0 || memcmp(again.exif.data, metadata->exif.data, again.exif.size) == 0),
            "metadata keep their bytes");
    }
    buf_finish(&stored);
}

static void check_metadata(const struct codec_answer *answer, struct bytes stored) {
    struct metadata metadata = {0};
    struct error err = {0};
    if (codec_wire_unpack(&answer->metadata, (struct bytes){file, sizeof file}, stored, &metadata, &err) !=
        ST_OK) {
        fuzz_require(err.status == ST_DEVICE, "other metadata are a fault of the process");
        return;
    }
    fuzz_require(metadata.orientation >= 1 && metadata.orientation <= 8, "the orientation is EXIF's");
    fuzz_require(metadata.chunk_count <= METADATA_CHUNKS_MAX, "there is room for the chunks");
    require_inside(metadata.exif, stored);
    require_inside(metadata.xmp, stored);
    require_inside(metadata.photoshop, stored);
    for (unsigned i = 0; i < metadata.chunk_count; i++) {
        require_inside(metadata.chunk[i].data, stored);
        fuzz_require(metadata.chunk[i].kind <= CHUNK_TIME, "the kind of a chunk exists");
    }
    check_round_trip(&metadata);
}

static void check_picture(const struct codec_answer *answer, const struct codec_limits *limits) {
    const struct image_shape *shapes[] = {&answer->native, &answer->pixels};
    for (unsigned i = 0; i < 2; i++) {
        struct image image;
        fuzz_require(image_layout(&image, shapes[i]) > 0 && shapes[i]->width <= limits->max_side &&
                         shapes[i]->height <= limits->max_side &&
                         (uint64_t)shapes[i]->width * shapes[i]->height <= limits->max_pixels,
                     "the picture is within the limits");
    }
    fuzz_require(answer->pixels.model < PIXEL_YCBCR, "pixels are interleaved");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct error err = {0};
    const struct codec_call call = {.operation = fuzz_byte(&input) % CODEC_OPERATIONS,
                                    .input_size = sizeof file,
                                    .output_most = 5000,
                                    .limits = fuzz_limits()};
    struct codec_answer answer = good_answer(&call);
    fuzz_require(codec_wire_check(&answer, &call, &err) == ST_OK, "the answer is correct");
    overwrite(&answer, &input);
    if (codec_wire_check(&answer, &call, &err) != ST_OK) {
        fuzz_require(err.status == ST_DEVICE && err.text[0], "a refusal is explained");
        return 0;
    }
    fuzz_require(memchr(answer.error.text, '\0', sizeof answer.error.text) &&
                     strcspn(answer.error.text, "\n\x1b") == strlen(answer.error.text),
                 "the text can be logged");
    if (answer.error.status != ST_OK) {
        fuzz_require(answer.size == 0, "a failure brings nothing along");
    } else if (call.operation == CODEC_PROBES) {
        check_picture(&answer, &call.limits);
        check_metadata(&answer, input);
    } else if (call.operation == CODEC_FRAMES) {
        fuzz_require(answer.scale > 0 && answer.delay / answer.scale <= FRAME_SECONDS_MAX && answer.size == 0,
                     "a frame is shown for a time that exists");
    } else if (call.operation == CODEC_DECODES || call.operation == CODEC_ADDS) {
        fuzz_require(answer.size == 0, "nothing comes with a picture, or before the sequence is complete");
    } else {
        fuzz_require(answer.size <= call.output_most, "the result has room");
    }
    return 0;
}
