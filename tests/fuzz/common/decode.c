/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/common/decode.h"

#include <string.h>

static const uint8_t fills[2] = {0xA5, 0x5A};

static struct encode_options options_of(uint8_t choice) {
    return (struct encode_options){
        .quality = (uint8_t)(choice % 4 * 33 + 1),
        .subsampling = (enum subsampling)(choice >> 2 & 3),
        .progressive = choice & 16,
        .effort = choice & 32 ? 0 : 1,
        .lossless = choice & 4,
        .keep_metadata = choice & 64,
        .upright = choice & 16,
    };
}

static void check_encoded(struct bytes encoded, enum codec_id id, const struct image *image) {
    struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    limits.max_scans = 100;
    fuzz_require(codec_probe(encoded, &limits, &picture, &err) == ST_OK, "what was encoded has a header");
    fuzz_require(picture.codec == id && picture.pixels.width == image->width &&
                     picture.pixels.height == image->height,
                 "what was encoded has the picture's size");
    struct image back = fuzz_image(&picture.pixels, 0);
    fuzz_require(codec_decode(encoded, &picture, &limits, &back, &err) == ST_OK,
                 "what was encoded can be decoded");
    fuzz_image_free(&back);
    codec_picture_finish(&picture);
}

static void encode_both(const struct image image[2], const struct picture *picture, uint8_t choice) {
    const struct codec *own = codec_get(picture->codec);
    enum codec_id planar = own->encode && own->planes ? picture->codec : CODEC_JPEG;
    enum codec_id plain = own->encode && !own->planes ? picture->codec : CODEC_PNG;
    enum codec_id id = image->model == PIXEL_YCBCR || choice & 128 ? planar : plain;
    struct encode_options options = options_of(choice);
    struct buf output[2];
    for (unsigned i = 0; i < 2; i++) {
        struct error err = {0};
        buf_init(&output[i], 64 << 20);
        fuzz_require(codec_encode(id, &image[i], &options, &picture->metadata, &output[i], &err) == ST_OK,
                     "what was decoded can be encoded");
    }
    fuzz_require(output[0].size == output[1].size &&
                     memcmp(output[0].data, output[1].data, output[0].size) == 0,
                 "padding does not show in the file");
    check_encoded(buf_bytes(&output[0]), id, &image[0]);
    buf_finish(&output[0]);
    buf_finish(&output[1]);
}

static void decode_both(struct bytes input, const struct picture *picture, const struct image_shape *whole,
                        unsigned reduction, uint8_t choice) {
    struct codec_limits limits = fuzz_limits();
    const struct image_shape shape = codec_reduced(whole, reduction);
    struct image image[2];
    enum status status[2];
    limits.local_blocks = limits.local_colour = choice & 8;
    limits.reduction = (uint8_t)reduction;
    for (unsigned i = 0; i < 2; i++) {
        struct error err = {0};
        image[i] = fuzz_image(&shape, fills[i]);
        status[i] = codec_decode(input, picture, &limits, &image[i], &err);
        fuzz_require(status[i] == ST_OK || (err.status == status[i] && err.text[0]),
                     "a failure is explained");
        fuzz_require(status[i] != ST_INTERNAL && status[i] != ST_ARGUMENT, "the fault is the file's");
    }
    fuzz_require(status[0] == status[1], "old memory does not change the outcome");
    if (status[0] == ST_OK) {
        fuzz_require(fuzz_same_pixels(&image[0], &image[1]), "no pixel holds old memory");
        encode_both(image, picture, choice);
    }
    fuzz_image_free(&image[0]);
    fuzz_image_free(&image[1]);
}

void fuzz_decode(struct bytes input, enum codec_id id) {
    struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    uint8_t choice = input.size ? input.data[input.size - 1] : 0;
    limits.first_frame = choice & 2;
    if (codec_sniff(input) != codec_get(id)) {
        return;
    }
    if (codec_probe(input, &limits, &picture, &err) != ST_OK) {
        fuzz_require(err.text[0], "a failure is explained");
        return;
    }
    const unsigned most = id == CODEC_JPEG && !picture.lossless ? 3 : 0;
    for (unsigned reduction = 0; reduction <= most; reduction += 1 + choice % 3) {
        decode_both(input, &picture, &picture.pixels, reduction, choice);
        if (picture.native.model != picture.pixels.model) {
            decode_both(input, &picture, &picture.native, reduction, choice);
        }
    }
    codec_picture_finish(&picture);
}
