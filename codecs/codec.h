/* SPDX-License-Identifier: MIT
 * Codecs: bytes <-> image. One const struct per format, listed in codec.c.
 *
 * The order of calls for one picture, all on one thread:
 *
 *     codec_sniff     which codec? (magic bytes, never the declared type)
 *     codec_probe     header only: shape, limits, metadata. No pixel memory yet
 *     image_layout    the caller lends memory for the shape that it wants
 *     codec_decode    pixels into that memory
 *     codec_encode    pixels to bytes
 *
 * Afterwards codec_picture_finish frees the metadata that were not borrowed from the input.
 *
 * Codecs keep no state between calls and are thread-safe. They do not trust the input: every size is
 * checked before memory is taken. Truncated data, an undefined Huffman code and a wrong checksum are
 * ST_CORRUPT; surplus bytes are allowed. docs/api.md has the rule ("Damaged files"). */
#ifndef BLURD_CODECS_CODEC_H
#define BLURD_CODECS_CODEC_H

#include "codecs/definition.h"

/* Never NULL for a valid id. */
const struct codec *codec_get(enum codec_id id);

/* Whether the build can read and write the format. */
bool codec_decodes(enum codec_id id);
bool codec_encodes(enum codec_id id);

/* Whether the build has the format, and reads and writes it in processes of its own (codecs/process/). */
bool codec_isolated(enum codec_id id);

enum { CODEC_TITLES_MAX = 16 * CODEC_COUNT };

/* Writes the titles of the codecs that `has` is true for, such as "JPEG, PNG and WebP", and returns `list`.
 * The last one follows the word `joint`. */
const char *codec_titles(bool (*has)(enum codec_id id), const char *joint,
                         char list[static CODEC_TITLES_MAX]);

/* The codec whose magic bytes `input` starts with, in the build or not; NULL or false without one. */
const struct codec *codec_sniff(struct bytes input);
bool codec_find(struct bytes input, enum codec_id *id);

/* Whether `input` starts with the signature of some codec, which codec_sniff may still refuse. */
bool codec_has_signature(struct bytes input);

/* Reads the header and the metadata. ST_CORRUPT: empty, damaged, or too short to hold that many pixels;
 * ST_UNSUPPORTED: a format that the build does not read, or an unsupported variant; ST_LIMIT: over a limit;
 * ST_ARGUMENT: the file lacks the page limits->page.
 * The error names the variant or the limit. Takes no memory proportional to the picture. */
enum status codec_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                        struct error *err);

/* Frees what codec_probe took for metadata. Views of the metadata end with it. */
void codec_picture_finish(struct picture *picture);

/* The shape of a JPEG that is decoded with this limits->reduction. Reduced samples are means of squares of
 * 1 << reduction samples, cut by the right and the lower border. Chroma planes that are reduced on both axes
 * stay finer. */
struct image_shape codec_reduced(const struct image_shape *shape, unsigned reduction);

/* Decodes into `image`, which must be laid out and placed with the picture's native or pixels shape, reduced
 * as the limits say. On failure the pixels are undefined, and in any case what is behind the rows. */
enum status codec_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                         const struct image *image, struct error *err);

/* How much of codec_decode_bytes is not taken when limits->spare has as many bytes. */
size_t codec_decode_spare(const struct picture *picture, size_t input);

/* Bytes behind those of an image of that shape with which files of the format are decoded faster, in place of
 * memory as large as the picture: image.room. A multiple of IMAGE_ALIGNMENT; 0: none are of use. */
size_t codec_decode_room(enum codec_id id, const struct image_shape *shape);

/* The most bytes that decoding a file of `input` bytes, or encoding a picture of that shape, takes besides
 * the image and the output. Memory for metadata is not included. The output is assumed to need no more
 * room than the picture itself. */
size_t codec_decode_bytes(const struct picture *picture, size_t input);
size_t codec_encode_bytes(enum codec_id id, const struct image_shape *shape,
                          const struct encode_options *options);

/* Appends to *output the JPEG `input`, coded anew as `id` so that it can be restored to the byte, or the JPEG
 * that a file of `id` with picture->restorable holds. `picture` is of the input. ST_UNSUPPORTED: this JPEG
 * cannot be coded so; ST_CORRUPT: none can be restored; ST_LIMIT: over the buffer's maximum, for which
 * codec_repack_most is enough for usual files. */
enum status codec_repack(enum codec_id id, const struct picture *picture, struct bytes input,
                         const struct codec_limits *limits, struct buf *output, struct error *err);

/* The most bytes that are taken besides the output, and those of an output: metadata in it may have been
 * compressed well. */
size_t codec_repack_bytes(enum codec_id id, const struct picture *picture, size_t input);
size_t codec_repack_most(size_t input);

/* Whether the build can do it for the format. */
bool codec_repacks(enum codec_id id);

/* ST_LIMIT when a side of the picture is longer than the format allows. */
enum status codec_check_sides(enum codec_id id, const struct image_shape *shape, struct error *err);

/* Appends the encoded picture to *output. Only codecs with `planes` take PIXEL_YCBCR: decode to the pixels
 * shape for others. `metadata` may be NULL. JPEG composes alpha over white and rounds 16 bits to 8. The
 * padding of 8-bit grey and YCbCr planes may be overwritten. On failure *output may hold a part; discard it.
 */
enum status codec_encode(enum codec_id id, const struct image *image, const struct encode_options *options,
                         const struct metadata *metadata, struct buf *output, struct error *err);

/* Begins an encoding while the rows are still being made; the bytes are those of codec_encode. All
 * arguments must outlive it. *encoding is NULL, with ST_OK, when the codec needs the whole picture: use
 * codec_encode then. */
enum status codec_encode_begin(enum codec_id id, const struct image *image,
                               const struct encode_options *options, const struct metadata *metadata,
                               struct buf *output, struct encoding **encoding, struct error *err);

/* Encodes what it can of the first `rows` rows, which are final (core/producer.h). Failures are reported
 * at the end. */
void codec_encode_rows(struct encoding *encoding, uint32_t rows);

/* Frees it. With `complete`, all rows are final and the remaining ones are encoded; otherwise discard the
 * output. `err` may be NULL. */
enum status codec_encode_end(struct encoding *encoding, bool complete, struct error *err);

#endif
