/* SPDX-License-Identifier: MIT
 * Sanitizes EXIF, XMP, IPTC, ICC and texts: each sanitizer gets the whole input. The output is within its
 * limits, and sanitizing it again gives the same bytes without losses. The input's first bytes are read as
 * chunks for colours, too, from which a profile is made; as a profile, it is made one for grey and for RGB.
 */
#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/icc/icc.h"
#include "codecs/metadata/icc/icc_colours.h"
#include "codecs/metadata/icc/icc_element.h"
#include "codecs/metadata/icc/icc_sanitize.h"
#include "codecs/metadata/iptc.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/texts.h"
#include "codecs/metadata/xmp.h"
#include "tests/fuzz/common/fuzz.h"

static enum status exif(struct bytes input, bool upright, struct buf *output, unsigned *losses) {
    const struct exif_facts facts = {upright, 4000, 3000, exif_density(input)};
    return exif_sanitize(input, &facts, output, losses, NULL);
}

static enum status xmp(struct bytes input, bool upright, struct buf *output, unsigned *losses) {
    return xmp_sanitize(input, upright, output, losses, NULL);
}

static enum status iptc(struct bytes input, bool upright, struct buf *output, unsigned *losses) {
    (void)upright;
    return iptc_sanitize(input, output, losses, NULL);
}

static enum status icc(struct bytes input, bool upright, struct buf *output, unsigned *losses) {
    (void)upright, (void)losses;
    return icc_sanitize(input, output, NULL);
}

/* Chunks of PNG as the input has bytes, from its start; a profile that is made of them is one. */
static enum status colours(struct bytes input, bool grey, struct buf *output) {
    static const struct {
        uint32_t tag;
        size_t size;
    } chunks[] = {{ICC_SIGNATURE('c', 'I', 'C', 'P'), 4},
                  {ICC_SIGNATURE('g', 'A', 'M', 'A'), 4},
                  {ICC_SIGNATURE('c', 'H', 'R', 'M'), 32}};
    struct metadata metadata = {.exif = input};
    size_t at = 0;
    bool complete;
    for (unsigned i = 0; i < 3 && chunks[i].size <= input.size - at; at += chunks[i++].size) {
        metadata.chunk[metadata.chunk_count++] = (struct metadata_chunk){
            .kind = CHUNK_COLOUR, .tag = chunks[i].tag, .data = {input.data + at, chunks[i].size}};
    }
    return icc_colours_describe(&metadata, codec_get(CODEC_JPEG), grey ? PIXEL_GRAY : PIXEL_RGB, output,
                                &complete, NULL);
}

static void is_profile(struct buf *made, bool grey) {
    struct buf again;
    buf_init(&again, METADATA_ICC_MAX);
    fuzz_require(icc_sanitize(buf_bytes(made), &again, NULL) == ST_OK, "there is memory");
    fuzz_require(again.size == made->size &&
                     (made->size == 0 || memcmp(again.data, made->data, made->size) == 0),
                 "a profile is one");
    fuzz_require(made->size == 0 || (memcmp(made->data + 16, "GRAY", 4) == 0) == grey,
                 "it is for the pixels");
    buf_finish(&again);
    buf_finish(made);
}

static void described(struct bytes input, bool grey) {
    struct buf made;
    buf_init(&made, METADATA_ICC_MAX);
    fuzz_require(colours(input, grey, &made) == ST_OK, "there is memory");
    is_profile(&made, grey);
}

/* The input is a profile, for grey or for colour. */
static void profiled(struct bytes input, bool grey) {
    struct metadata metadata = {.chunk_count = 1, .chunk[0] = {.kind = CHUNK_ICC, .data = input}};
    struct buf made = {0};
    fuzz_require(icc_read(&metadata, grey ? PIXEL_GRAY : PIXEL_RGB, &made, NULL) == ST_OK, "there is memory");
    is_profile(&made, grey);
}

typedef enum status sanitizer(struct bytes input, bool upright, struct buf *output, unsigned *losses);

static void twice(sanitizer *sanitize, struct bytes input, bool upright, size_t most) {
    struct buf once, again;
    unsigned losses = 0;
    buf_init(&once, most);
    buf_init(&again, most);
    fuzz_require(sanitize(input, upright, &once, &losses) == ST_OK, "there is memory");
    losses = 0;
    fuzz_require(sanitize(buf_bytes(&once), upright, &again, &losses) == ST_OK, "there is memory");
    fuzz_require(once.size <= most, "it fits in a segment");
    fuzz_require(losses == 0, "what was let through is let through again");
    fuzz_require(once.size == again.size && (once.size == 0 || memcmp(once.data, again.data, once.size) == 0),
                 "and is the same");
    buf_finish(&once);
    buf_finish(&again);
}

static void orientation(struct bytes input, bool upright) {
    struct buf output;
    unsigned losses = 0;
    exif_is_adobe_rgb(input);
    uint8_t before = exif_orientation(input);
    buf_init(&output, EXIF_SIZE_MAX);
    fuzz_require(before >= 1 && before <= 8, "an orientation is 1 to 8");
    fuzz_require(exif(input, upright, &output, &losses) == ST_OK, "there is memory");
    uint8_t after = exif_orientation(buf_bytes(&output));
    fuzz_require(after == (upright ? 1 : before), "it follows the pixels");
    buf_finish(&output);
}

static enum status see(void *context, const struct text *text, struct error *err) {
    (void)context, (void)err;
    fuzz_require(text->value.size <= TEXT_MAX && plain_text_is_utf8(text->value), "a text is one");
    fuzz_require(text->keyword.size >= 1 && text->keyword.size <= 79, "a keyword is one");
    return ST_OK;
}

static void texts(struct bytes input) {
    static const enum chunk_kind kinds[] = {CHUNK_TEXT, CHUNK_TEXT_DEFLATED, CHUNK_TEXT_INTERNATIONAL,
                                            CHUNK_COMMENT};
    for (unsigned i = 0; i < 4; i++) {
        struct metadata metadata = {.chunk_count = 1};
        unsigned losses = 0;
        metadata.chunk[0] = (struct metadata_chunk){.kind = kinds[i], .data = input};
        fuzz_require(texts_each(&metadata, &losses, see, NULL, NULL) == ST_OK, "there is memory");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    for (int upright = 0; upright <= 1; upright++) {
        twice(exif, input, upright, EXIF_SIZE_MAX);
        twice(xmp, input, upright, XMP_SIZE_MAX);
        twice(icc, input, upright, METADATA_ICC_MAX);
        orientation(input, upright);
        described(input, upright);
        profiled(input, upright);
    }
    twice(iptc, input, false, IPTC_SIZE_MAX);
    texts(input);
    return 0;
}
