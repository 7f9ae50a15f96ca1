/* SPDX-License-Identifier: MIT
 * Shared by the PNG files of this folder. libpng reports errors by calling a function that must not
 * return; struct png_guard turns that into a status. codecs/jpeg/jpeg.h has the rule of setjmp. Internal
 * to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_H
#define BLURD_CODECS_PNG_PNG_H

#include <setjmp.h>

#include <png.h>

#include "codecs/definition.h"

extern const struct codec codec_png;
extern const struct codec_frames png_frames;

struct png_guard {
    jmp_buf jump;
    enum status otherwise; /* for errors that libpng finds */
    enum status status;    /* what the jump reports; the sentence is in *err */
    struct error *err;
    uint64_t memory_left; /* bytes that libpng may still allocate */
    bool memory_over;     /* the budget was exceeded */
    bool memory_short;    /* an allocation failed */
};

void png_guard_init(struct png_guard *guard, enum status otherwise, uint64_t max_memory, struct error *err);

/* The functions for png_create_*_struct_2, with the guard as both pointers. */
_Noreturn void png_guard_error(png_structp png, png_const_charp message);
void png_guard_warning(png_structp png, png_const_charp message);
png_voidp png_guard_malloc(png_structp png, png_alloc_size_t size);
void png_guard_free(png_structp png, png_voidp memory);

/* Leaves guarded code with a status that fail() has recorded. Does not return. */
_Noreturn void png_guard_leave(png_structp png, enum status status);

bool png_is_little_endian(void);

enum status png_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                      struct error *err);
enum status png_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                       const struct image *image, struct error *err);

/* Decodes every kind of PNG row by row with libpng. Its result is authoritative. */
enum status png_decode_stream(struct bytes input, const struct codec_limits *limits,
                              const struct image *image, struct error *err);
enum status png_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err);

struct encode_cost png_encode_cost(const struct encode_extent *extent, const struct encode_options *options);

/* As codec_decode_bytes, codec_decode_room, codec_decode_spare and codec_encode_bytes. */
size_t png_decode_bytes(const struct picture *picture, size_t input);
size_t png_decode_room(const struct image_shape *shape);
size_t png_decode_spare(const struct picture *picture, size_t input);
size_t png_encode_bytes(const struct image_shape *shape, const struct encode_options *options);

#endif
