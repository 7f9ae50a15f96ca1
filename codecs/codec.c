/* SPDX-License-Identifier: MIT
 * The table of codecs, and wrappers that validate the arguments. */
#include "codecs/codec.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codecs/other_formats.h"
#include "codecs/process/codec_link.h"

#define FORMAT(id, name, ...) extern const struct codec codec_##name;
#include "codecs/formats.def"

static const struct codec *const codecs[CODEC_COUNT] = {
#define FORMAT(id, name, ...) [CODEC_##id] = &codec_##name,
#include "codecs/formats.def"
};

const struct codec *codec_get(enum codec_id id) {
    assert(id < CODEC_COUNT);
    return codecs[id];
}

bool codec_decodes(enum codec_id id) {
    return codec_get(id)->decode != NULL;
}

bool codec_encodes(enum codec_id id) {
    return codec_get(id)->encode != NULL;
}

bool codec_isolated(enum codec_id id) {
    return codec_get(id)->isolated && codec_get(id)->probe;
}

const char *codec_titles(bool (*has)(enum codec_id id), const char *joint,
                         char list[static CODEC_TITLES_MAX]) {
    unsigned left = 0;
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        left += has((enum codec_id)i);
    }
    size_t used = 0;
    for (unsigned i = 0; i < CODEC_COUNT && used < CODEC_TITLES_MAX; i++) {
        if (has((enum codec_id)i)) {
            left--;
            used += (size_t)snprintf(list + used, CODEC_TITLES_MAX - used, "%s%s%s%s", codecs[i]->title,
                                     left == 1 ? " " : "", left == 1 ? joint : "",
                                     left == 1  ? " "
                                     : left > 1 ? ", "
                                                : "");
        }
    }
    return list;
}

/* Whether the bytes that both have are the same. */
static bool agrees(struct bytes input, const struct codec_signature *signature) {
    bool same = true;
    for (size_t i = 0; i < input.size && i < signature->size && same; i++) {
        same = signature->bytes[i] == '?' || input.data[i] == (uint8_t)signature->bytes[i];
    }
    return same;
}

static bool begins(struct bytes input, const struct codec_signature *signature) {
    return input.size >= signature->size && agrees(input, signature);
}

bool codec_has_signature(struct bytes input) {
    unsigned i = 0;
    while (i < CODEC_COUNT && !begins(input, &codecs[i]->signature)) {
        i++;
    }
    return i < CODEC_COUNT;
}

bool codec_find(struct bytes input, enum codec_id *id) {
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        const struct codec *codec = codecs[i];
        if (codec->sniff ? codec->sniff(input) : begins(input, &codec->signature)) {
            *id = (enum codec_id)i;
            return true;
        }
    }
    return false;
}

const struct codec *codec_sniff(struct bytes input) {
    enum codec_id id;
    return codec_find(input, &id) ? codecs[id] : NULL;
}

/* The input is too short for a signature but matches its beginning: truncated, not foreign. Zeros alone can
 * be anything: in files of the ISO base media format the size of the first box comes first. */
static bool is_cut_signature(struct bytes input) {
    bool cut = false;
    for (unsigned i = 0; i < CODEC_COUNT && !cut; i++) {
        const struct codec_signature *signature = &codecs[i]->signature;
        size_t least = signature->bytes[0] == '\0' ? 5 : 1;
        cut = codecs[i]->decode && input.size >= least && input.size < signature->size &&
              agrees(input, signature);
    }
    return cut;
}

static enum status fail_unknown(struct bytes input, struct error *err) {
    if (is_cut_signature(input)) {
        return fail(err, ST_CORRUPT, "picture is cut short: it ends with byte %zu", input.size);
    }
    char list[CODEC_TITLES_MAX];
    codec_titles(codec_decodes, "and", list);
    const char *name = other_formats_name(input);
    if (name) {
        return fail(err, ST_UNSUPPORTED, "only %s are supported; this is %s", list, name);
    }
    return fail(err, ST_UNSUPPORTED, "only %s are supported; this is %s", list,
                strchr(list, ',') ? "none of them" : "neither");
}

/* A format whose library was missing when blurd was built. */
static enum status fail_absent(const struct codec *codec, struct error *err) {
    char list[CODEC_TITLES_MAX];
    return fail(err, ST_UNSUPPORTED, "this build of blurd reads %s; %s needs one that was built with %s",
                codec_titles(codec_decodes, "and", list), codec->title, codec->library);
}

enum status codec_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                        struct error *err) {
    *picture = (struct picture){0};
    if (input.size == 0) {
        char list[CODEC_TITLES_MAX];
        return fail(err, ST_CORRUPT, "body is empty; send the bytes of a %s",
                    codec_titles(codec_decodes, "or", list));
    }
    if (!codec_find(input, &picture->codec)) {
        return fail_unknown(input, err);
    }
    picture->metadata.orientation = 1;
    const struct codec *codec = codecs[picture->codec];
    if (!codec->probe) {
        return fail_absent(codec, err);
    }
    if (limits->page > 0 && !codec->pages && !codec->frames) {
        return fail_argument(err, "page", "'page' must be 0 for a %s", codec->title);
    }
    enum status status = codec->isolated && limits->link
                             ? codec_link_probe(limits->link, picture->codec, input, limits, picture, err)
                             : codec->probe(input, limits, picture, err);
    if (status != ST_OK) {
        codec_picture_finish(picture);
    }
    return status;
}

void codec_picture_finish(struct picture *picture) {
    buf_finish(&picture->metadata.store);
}

static bool same_shape(const struct image_shape *a, const struct image_shape *b) {
    bool chroma = a->chroma_shift_x == b->chroma_shift_x && a->chroma_shift_y == b->chroma_shift_y;
    return a->model == b->model && a->depth == b->depth && a->width == b->width && a->height == b->height &&
           (a->model != PIXEL_YCBCR || chroma);
}

size_t codec_decode_bytes(const struct picture *picture, size_t input) {
    return codecs[picture->codec]->decode_bytes(picture, input);
}

size_t codec_decode_spare(const struct picture *picture, size_t input) {
    const struct codec *codec = codecs[picture->codec];
    return codec->decode_spare ? codec->decode_spare(picture, input) : 0;
}

size_t codec_decode_room(enum codec_id id, const struct image_shape *shape) {
    return codecs[id]->decode_room ? codecs[id]->decode_room(shape) : 0;
}

size_t codec_encode_bytes(enum codec_id id, const struct image_shape *shape,
                          const struct encode_options *options) {
    return codecs[id]->encode_bytes(shape, options);
}

struct image_shape codec_reduced(const struct image_shape *shape, unsigned reduction) {
    struct image_shape reduced = *shape;
    unsigned shift_x = shape->chroma_shift_x, shift_y = shape->chroma_shift_y;
    unsigned both = shift_x < shift_y ? shift_x : shift_y;
    unsigned finer = both < reduction ? both : reduction;
    uint32_t more = (1u << reduction) - 1;
    reduced.width = (shape->width + more) >> reduction;
    reduced.height = (shape->height + more) >> reduction;
    reduced.chroma_shift_x = (uint8_t)(shift_x - finer);
    reduced.chroma_shift_y = (uint8_t)(shift_y - finer);
    return reduced;
}

enum status codec_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                         const struct image *image, struct error *err) {
    struct image_shape shape = image_shape(image);
    struct image_shape native = codec_reduced(&picture->native, limits->reduction);
    struct image_shape pixels = codec_reduced(&picture->pixels, limits->reduction);
    if (!image->plane[0].data || (!same_shape(&shape, &native) && !same_shape(&shape, &pixels))) {
        return fail(err, ST_INTERNAL, "the memory to decode into does not have the picture's shape");
    }
    const struct codec *codec = codecs[picture->codec];
    return codec->isolated && limits->link
               ? codec_link_decode(limits->link, picture, input, limits,
                                   codec->decode_bytes(picture, input.size), image, err)
               : codec->decode(input, picture, limits, image, err);
}

bool codec_repacks(enum codec_id id) {
    return codec_get(id)->repack != NULL;
}

size_t codec_repack_most(size_t input) {
    return 2 * input + (8 << 20);
}

/* A JPEG is restored and compared once it is coded. */
size_t codec_repack_bytes(enum codec_id id, const struct picture *picture, size_t input) {
    const struct encode_options options = {0};
    if (picture->codec != CODEC_JPEG) {
        return codec_decode_bytes(picture, input);
    }
    struct image_shape shape = picture->pixels;
    shape.model = PIXEL_RGB;
    return codec_encode_bytes(id, &shape, &options) + codec_repack_most(input) + 2 * input;
}

enum status codec_repack(enum codec_id id, const struct picture *picture, struct bytes input,
                         const struct codec_limits *limits, struct buf *output, struct error *err) {
    const struct codec *codec = codec_get(id);
    if (!codec->repack) {
        return fail(err, ST_UNSUPPORTED, "%s holds no JPEG", codec->title);
    }
    return codec->isolated && limits->link
               ? codec_link_repack(limits->link, id, input, limits,
                                   codec_repack_bytes(id, picture, input.size), output, err)
               : codec->repack(input, limits, output, err);
}

enum status codec_check_sides(enum codec_id id, const struct image_shape *shape, struct error *err) {
    const struct codec *codec = codec_get(id);
    return codec->side_max == 0 || (shape->width <= codec->side_max && shape->height <= codec->side_max)
               ? ST_OK
               : fail(err, ST_LIMIT, "picture is %u x %u pixels; a %s has at most %u a side", shape->width,
                      shape->height, codec->title, codec->side_max);
}

static enum status check_picture(enum codec_id id, const struct image *image, struct error *err) {
    if (!image->plane[0].data || image->width == 0 || image->height == 0) {
        return fail(err, ST_INTERNAL, "there is no picture to encode");
    }
    if (!codec_get(id)->planes && image->model == PIXEL_YCBCR) {
        return fail(err, ST_INTERNAL, "%s cannot hold YCbCr planes", codec_get(id)->title);
    }
    if (!codec_encodes(id)) {
        return fail(err, ST_UNSUPPORTED, "this build of blurd does not write %s", codec_get(id)->title);
    }
    const struct image_shape shape = image_shape(image);
    return codec_check_sides(id, &shape, err);
}

enum status codec_encode(enum codec_id id, const struct image *image, const struct encode_options *options,
                         const struct metadata *metadata, struct buf *output, struct error *err) {
    enum status status = check_picture(id, image, err);
    if (status != ST_OK) {
        return status;
    }
    const struct codec *codec = codec_get(id);
    struct image_shape shape = image_shape(image);
    return codec->isolated && options->link
               ? codec_link_encode(options->link, id, image, options, codec->encode_bytes(&shape, options),
                                   metadata, output, err)
               : codec->encode(image, options, metadata, output, err);
}

enum status codec_encode_begin(enum codec_id id, const struct image *image,
                               const struct encode_options *options, const struct metadata *metadata,
                               struct buf *output, struct encoding **encoding, struct error *err) {
    *encoding = NULL;
    const struct codec *codec = codec_get(id);
    enum status status = check_picture(id, image, err);
    return status == ST_OK && codec->encode_begin
               ? codec->encode_begin(image, options, metadata, output, encoding, err)
               : status;
}

void codec_encode_rows(struct encoding *encoding, uint32_t rows) {
    encoding->codec->encode_rows(encoding, rows);
}

enum status codec_encode_end(struct encoding *encoding, bool complete, struct error *err) {
    return encoding->codec->encode_end(encoding, complete, err);
}
