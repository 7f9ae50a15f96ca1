/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_form.h"

#include <png.h>

#include "core/processor.h"

enum {
    PACKED = 256,    /* pixels whose codes are packed together */
    FEW_GREYS = 16,  /* more take 8 bits in any form */
    FULL_ALPHA = 255 /* of a colour */
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Words with eight bytes, of which those of alpha count. */
static bool is_full(const uint8_t *row, size_t size, const uint8_t mask[static 8]) {
    uint64_t all = UINT64_MAX, wanted, word;
    size_t i = 0;
    memcpy(&wanted, mask, sizeof(wanted));
    for (; i + sizeof(word) <= size; i += sizeof(word)) {
        memcpy(&word, row + i, sizeof(word));
        all &= word;
    }
    for (size_t k = 0; i + k < size; k++) {
        if ((row[i + k] & mask[k]) != mask[k]) {
            return false;
        }
    }
    return (all & wanted) == wanted;
}

static bool is_opaque(const struct image *image) {
    static const uint8_t masks[2][2][8] = {{{0, 255, 0, 255, 0, 255, 0, 255}, {0, 0, 0, 255, 0, 0, 0, 255}},
                                           {{0, 0, 255, 255, 0, 0, 255, 255}, {0, 0, 0, 0, 0, 0, 255, 255}}};
    const struct plane *plane = &image->plane[0];
    const uint8_t *mask = masks[image->depth == 16][image->model == PIXEL_RGBA];
    bool full = true;
    for (uint32_t y = 0; y < image->height && full && image_pixel_has_alpha(image->model); y++) {
        full = is_full(plane_row(plane, y), plane_row_bytes(plane, image->depth), mask);
    }
    return full;
}

/* ---- choosing ---- */

static bool is_coloured(const struct image *image) {
    return image->model == PIXEL_RGB || image->model == PIXEL_RGBA;
}

static void take_samples(struct png_form *form, const struct image *image, bool opaque, bool grey) {
    static const uint8_t types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                    PNG_COLOR_TYPE_RGB_ALPHA};
    const bool coloured = is_coloured(image) && !grey, alpha = image_pixel_has_alpha(image->model) && !opaque;
    form->kind = FORM_SAMPLES;
    form->type = types[2 * coloured + alpha];
    form->bits = image->depth;
    form->channels = (uint8_t)((coloured ? 3 : 1) + alpha);
}

static void take_codes(struct png_form *form, enum png_form_kind kind, uint8_t type, unsigned bits) {
    form->kind = kind;
    form->type = type;
    form->bits = (uint8_t)bits;
    form->channels = 1;
}

/* The fewest bits of a sample that stands for each of the greys: 255 is all of its bits. */
static unsigned grey_bits(const struct png_colours *colours) {
    unsigned bits = 1;
    for (unsigned i = 0; i < colours->count && bits < 8; i++) {
        while (bits < 8 && (colours->colour[i] & 255) % (255 / ((1u << bits) - 1)) != 0) {
            bits *= 2;
        }
    }
    return bits;
}

static unsigned palette_bits(unsigned count) {
    return count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8;
}

static bool few_are_opaque(const struct png_colours *colours) {
    return colours->colour[0] >> 24 == FULL_ALPHA;
}

static bool few_are_grey(const struct png_form *form, const struct image *image,
                         const struct png_form_choice *choice) {
    return !form->colours.tinted && (choice->grey || !is_coloured(image));
}

static void take_no_palette(struct png_form *form, const struct image *image,
                            const struct png_form_choice *choice) {
    const bool opaque = few_are_opaque(&form->colours), grey = few_are_grey(form, image, choice);
    const unsigned bits = opaque && grey ? grey_bits(&form->colours) : 8;
    take_samples(form, image, opaque, grey);
    if (bits < 8) {
        take_codes(form, FORM_GREYS, PNG_COLOR_TYPE_GRAY, bits);
        for (unsigned i = 0; i < 256; i++) {
            form->code[i] = (uint8_t)(i / (255 / ((1u << bits) - 1)));
        }
    }
}

static void take_palette(struct png_form *form) {
    const struct png_colours *colours = &form->colours;
    const bool grey = !colours->tinted && few_are_opaque(colours);
    take_codes(form, grey ? FORM_GREYS : FORM_COLOURS, PNG_COLOR_TYPE_PALETTE, palette_bits(colours->count));
    for (unsigned i = 0; i < colours->count && grey; i++) {
        form->code[colours->colour[i] & 255] = (uint8_t)i;
    }
}

/* Of forms with as many bits, the one without a palette. */
static void choose_of_few(struct png_form *form, const struct image *image,
                          const struct png_form_choice *choice) {
    const bool sorted = png_colours_sort(&form->colours);
    take_no_palette(form, image, choice);
    if (sorted && (is_coloured(image) || choice->palette) &&
        palette_bits(form->colours.count) < (unsigned)form->bits * form->channels) {
        take_palette(form);
    }
}

void png_form_choose(struct png_form *form, const struct image *image, const struct png_form_choice *choice) {
    struct png_colours *colours = &form->colours;
    memset(form, 0, sizeof(*form));
    if (!choice->reduce) {
        take_samples(form, image, false, false);
    } else if (image->depth == 8 &&
               png_colours_count(colours, image, image->model == PIXEL_GRAY ? FEW_GREYS : PNG_COLOURS_MAX)) {
        choose_of_few(form, image, choice);
    } else {
        take_samples(form, image, is_opaque(image),
                     choice->grey && !colours->tinted && png_colours_are_grey(image));
    }
}

bool png_form_simplify(struct png_form *form, const struct image *image,
                       const struct png_form_choice *choice) {
    if (form->type == PNG_COLOR_TYPE_PALETTE) {
        take_no_palette(form, image, choice);
        return true;
    }
    const bool grey = is_coloured(image) && !(form->type & PNG_COLOR_MASK_COLOR);
    const bool simpler = grey || form->kind == FORM_GREYS;
    if (simpler) {
        take_samples(form, image, !(form->type & PNG_COLOR_MASK_ALPHA), false);
    }
    return simpler;
}

size_t png_form_row_bytes(const struct png_form *form, uint32_t width) {
    return ((size_t)width * form->channels * form->bits + 7) / 8;
}

unsigned png_form_pixel_bytes(const struct png_form *form) {
    return form->bits < 8 ? 1 : form->channels * form->bits / 8u;
}

bool png_form_is_stored(const struct png_form *form, const struct image *image) {
    return form->kind == FORM_SAMPLES && form->channels == image->plane[0].channels;
}

/* ---- rows ---- */

/* A pixel of four bytes is moved at once; the byte too many is overwritten, and the last pixel's left to
 * the loop behind. */
static void take_three_of_four(uint8_t *to, const uint8_t *from, uint32_t width) {
    uint32_t x = 0;
    for (; x + 1 < width; x++) {
        memcpy(to + 3 * (size_t)x, from + 4 * (size_t)x, 4);
    }
    memcpy(to + 3 * (size_t)x, from + 4 * (size_t)x, 3);
}

#if defined(__x86_64__)
#include <immintrin.h>

/* The same of four pixels at once, but for the last eight. */
__attribute__((target("avx2"))) static void take_three_of_four_avx2(uint8_t *to, const uint8_t *from,
                                                                    uint32_t width) {
    const __m128i order = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    uint32_t x = 0;
    for (; x + 8 < width; x += 4) {
        __m128i pixels;
        memcpy(&pixels, from + 4 * (size_t)x, sizeof(pixels));
        pixels = _mm_shuffle_epi8(pixels, order);
        memcpy(to + 3 * (size_t)x, &pixels, sizeof(pixels));
    }
    take_three_of_four(to + 3 * (size_t)x, from + 4 * (size_t)x, width - x);
}

/* The first bytes of eight pixels of three or four bytes at once, those of the last pixels one by one. */
__attribute__((target("avx2"))) static void take_first_avx2(uint8_t *to, const uint8_t *from, uint32_t width,
                                                            unsigned pixel) {
    const __m128i low = pixel == 3
                            ? _mm_setr_epi8(0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1)
                            : _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i high = pixel == 3
                             ? _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1)
                             : _mm_setr_epi8(-1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1);
    uint32_t x = 0;
    for (; x + 8 <= width; x += 8) {
        const uint8_t *p = from + (size_t)x * pixel;
        const __m128i a = _mm_loadu_si128((const void *)p);
        const __m128i b = _mm_loadu_si128((const void *)(p + 8 * pixel - sizeof(b)));
        _mm_storel_epi64((void *)(to + x), _mm_or_si128(_mm_shuffle_epi8(a, low), _mm_shuffle_epi8(b, high)));
    }
    for (; x < width; x++) {
        to[x] = from[(size_t)x * pixel];
    }
}

/* Takes the first bytes of each pixel if there is a fast way. */
static bool take_fast(uint8_t *to, const uint8_t *from, uint32_t width, unsigned pixel, unsigned first) {
    if (!processor_allows(PROCESSOR_AVX2)) {
        return false;
    }
    if (pixel == 4 && first == 3) {
        take_three_of_four_avx2(to, from, width);
        return true;
    }
    if ((pixel == 3 || pixel == 4) && first == 1) {
        take_first_avx2(to, from, width, pixel);
        return true;
    }
    return false;
}
#else
static bool take_fast(uint8_t *to, const uint8_t *from, uint32_t width, unsigned pixel, unsigned first) {
    (void)to, (void)from, (void)width, (void)pixel, (void)first;
    return false;
}
#endif

/* The `first` bytes of each pixel, and the `last` ones. */
ALWAYS_INLINE void take_bytes(uint8_t *to, const uint8_t *from, uint32_t width, unsigned pixel,
                              unsigned first, unsigned last) {
    for (uint32_t x = 0; x < width; x++, from += pixel) {
        for (unsigned i = 0; i < first; i++) {
            *to++ = from[i];
        }
        for (unsigned i = pixel - last; i < pixel; i++) {
            *to++ = from[i];
        }
    }
}

static void make_samples(const struct png_form *form, const struct image *image, const uint8_t *from,
                         uint8_t *to) {
    const unsigned sample = image->depth / 8u, pixel = image->plane[0].channels * sample;
    const unsigned last = form->type & PNG_COLOR_MASK_ALPHA ? sample : 0;
    const unsigned first = form->channels * sample - last;
    if (last == 0 && take_fast(to, from, image->width, pixel, first)) {
        return;
    }
    if (pixel == 4 && first == 3) {
        take_three_of_four(to, from, image->width);
    } else if (pixel == 3 && first == 1) {
        take_bytes(to, from, image->width, 3, 1, 0);
    } else if (pixel == 4 && first == 1 && last == 0) {
        take_bytes(to, from, image->width, 4, 1, 0);
    } else {
        take_bytes(to, from, image->width, pixel, first, last);
    }
}

ALWAYS_INLINE void code_colours(const struct png_colours *colours, const uint8_t *from, unsigned channels,
                                uint32_t count, uint8_t *codes) {
    for (uint32_t x = 0; x < count;) {
        const uint32_t end = count - x > PNG_COLOURS_STEP ? x + PNG_COLOURS_STEP : count;
        if (x > 0 && end - x == PNG_COLOURS_STEP &&
            png_colours_repeat(from + (size_t)x * channels, channels)) {
            memset(codes + x, codes[x - 1], PNG_COLOURS_STEP);
        } else {
            for (uint32_t i = x; i < end; i++) {
                const uint8_t *p = from + (size_t)i * channels;
                codes[i] = png_colours_code(colours, png_colours_pixel(p, channels, i + 1 < count));
            }
        }
        x = end;
    }
}

ALWAYS_INLINE void code_greys(const uint8_t code[static 256], const uint8_t *from, unsigned channels,
                              uint32_t count, uint8_t *codes) {
    for (uint32_t x = 0; x < count; x++) {
        codes[x] = code[from[(size_t)x * channels]];
    }
}

ALWAYS_INLINE void make_codes(const struct png_form *form, const uint8_t *from, unsigned channels,
                              uint32_t count, uint8_t *codes) {
    if (form->kind == FORM_GREYS) {
        code_greys(form->code, from, channels, count, codes);
    } else {
        code_colours(&form->colours, from, channels, count, codes);
    }
}

/* Constants make faster code. */
static void make_any_codes(const struct png_form *form, const uint8_t *from, unsigned channels,
                           uint32_t count, uint8_t *codes) {
    switch (channels) {
    case 1:
        return make_codes(form, from, 1, count, codes);
    case 2:
        return make_codes(form, from, 2, count, codes);
    case 3:
        return make_codes(form, from, 3, count, codes);
    default:
        return make_codes(form, from, 4, count, codes);
    }
}

/* Codes are packed into bytes, the first one highest. */
ALWAYS_INLINE void pack(const uint8_t *codes, uint32_t count, unsigned bits, uint8_t *to) {
    const uint32_t each = 8 / bits;
    for (uint32_t x = 0; x < count; x += each) {
        unsigned byte = 0;
        for (uint32_t i = 0; i < each; i++) {
            byte = byte << bits | codes[x + i];
        }
        *to++ = (uint8_t)byte;
    }
}

static void pack_codes(uint8_t *codes, uint32_t count, unsigned bits, uint8_t *to) {
    memset(codes + count, 0, 8); /* the rest of the last byte */
    switch (bits) {
    case 1:
        return pack(codes, count, 1, to);
    case 2:
        return pack(codes, count, 2, to);
    default:
        return pack(codes, count, 4, to);
    }
}

void png_form_row(const struct png_form *form, const struct image *image, uint32_t y, uint8_t *to) {
    const unsigned channels = image->plane[0].channels;
    const uint8_t *row = plane_row(&image->plane[0], y);
    uint8_t codes[PACKED + 8];
    if (form->kind == FORM_SAMPLES) {
        make_samples(form, image, row, to);
    } else if (form->bits == 8) {
        make_any_codes(form, row, channels, image->width, to);
    } else {
        for (uint32_t x = 0; x < image->width; x += PACKED) {
            const uint32_t count = image->width - x < PACKED ? image->width - x : PACKED;
            make_any_codes(form, row + (size_t)x * channels, channels, count, codes);
            pack_codes(codes, count, form->bits, to + (size_t)x * form->bits / 8);
        }
    }
}
