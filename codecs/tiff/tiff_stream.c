/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_stream.h"

#include <stdio.h>
#include <string.h>

enum { SHORT = 3, LONG = 4 };

/* ---- the directory ---- */

struct tiff_writer {
    const struct tiff_directory *from;
    struct tiff_stream *stream;
    uint64_t count;
};

static uint8_t *add(struct tiff_writer *writer, size_t size) {
    uint8_t *added = writer->stream->directory + writer->stream->directory_size;
    writer->stream->directory_size += size;
    return added;
}

static void write_number(struct tiff_writer *writer, uint16_t tag, uint32_t value) {
    const bool big = writer->from->big;
    const unsigned wide = big ? 8 : 4, type = value <= UINT16_MAX ? SHORT : LONG;
    uint8_t *entry = add(writer, 4 + 2 * wide);
    memset(entry, 0, 4 + 2 * wide);
    tiff_directory_put(writer->from, entry, tag, 2);
    tiff_directory_put(writer->from, entry + 2, type, 2);
    tiff_directory_put(writer->from, entry + 4, 1, wide);
    tiff_directory_put(writer->from, entry + 4 + wide, value, type == SHORT ? 2 : 4);
    writer->count++;
}

/* The value stays where it is in the file. */
static void copy_entry(struct tiff_writer *writer, uint16_t tag, uint16_t other_tag) {
    struct tiff_directory_entry entry;
    if (tiff_directory_find(writer->from, tag, &entry) ||
        tiff_directory_find(writer->from, other_tag, &entry)) {
        uint8_t *copy = add(writer, entry.stored.size);
        memcpy(copy, entry.stored.data, entry.stored.size);
        tiff_directory_put(writer->from, copy, tag, 2);
        writer->count++;
    }
}

static void copy_number(struct tiff_writer *writer, uint16_t tag) {
    uint64_t value = tiff_directory_value(writer->from, tag, 0);
    if (value > 0 && value <= UINT16_MAX) {
        write_number(writer, tag, (uint32_t)value);
    }
}

static void write_strips(struct tiff_writer *writer, const struct tiff_layout *layout) {
    copy_entry(writer, TIFF_TAG_STRIP_OFFSETS, TIFF_TAG_STRIP_OFFSETS);
    write_number(writer, TIFF_TAG_SAMPLES, layout->samples);
    write_number(writer, TIFF_TAG_ROWS_PER_STRIP, layout->piece_height);
    copy_entry(writer, TIFF_TAG_STRIP_BYTES, TIFF_TAG_STRIP_BYTES);
}

static void write_tiles(struct tiff_writer *writer, const struct tiff_layout *layout) {
    write_number(writer, TIFF_TAG_TILE_WIDTH, layout->piece_width);
    write_number(writer, TIFF_TAG_TILE_HEIGHT, layout->piece_height);
    copy_entry(writer, TIFF_TAG_TILE_OFFSETS, TIFF_TAG_STRIP_OFFSETS);
    copy_entry(writer, TIFF_TAG_TILE_BYTES, TIFF_TAG_STRIP_BYTES);
}

/* In the order of the tags. Other colours than YCbCr make no difference to libtiff, whose samples are taken
 * as they are stored. */
static void write_entries(struct tiff_writer *writer, const struct tiff_layout *layout) {
    bool ycbcr = layout->colours == TIFF_YCBCR && !layout->separate;
    write_number(writer, TIFF_TAG_WIDTH, layout->width);
    write_number(writer, TIFF_TAG_HEIGHT, layout->height);
    write_number(writer, TIFF_TAG_BITS, layout->bits);
    write_number(writer, TIFF_TAG_COMPRESSION, layout->coding.number);
    write_number(writer, TIFF_TAG_PHOTOMETRIC, ycbcr ? TIFF_YCBCR : TIFF_BLACK_IS_ZERO);
    copy_number(writer, TIFF_TAG_FILL_ORDER);
    if (layout->tiled) {
        write_number(writer, TIFF_TAG_SAMPLES, layout->samples);
    } else {
        write_strips(writer, layout);
    }
    write_number(writer, TIFF_TAG_PLANAR, layout->separate ? 2 : 1);
    copy_number(writer, TIFF_TAG_T4_OPTIONS);
    copy_number(writer, TIFF_TAG_T6_OPTIONS);
    if (layout->coding.predictor > 1) {
        write_number(writer, TIFF_TAG_PREDICTOR, layout->coding.predictor);
    }
    if (layout->tiled) {
        write_tiles(writer, layout);
    }
    if (layout->coding.number == TIFF_JPEG) {
        copy_entry(writer, TIFF_TAG_JPEG_TABLES, TIFF_TAG_JPEG_TABLES);
    }
    if (ycbcr && layout->coding.number != TIFF_JPEG) {
        const bool big = writer->from->big;
        write_number(writer, TIFF_TAG_CHROMA_SAMPLING, layout->halving_x);
        uint8_t *entry = writer->stream->directory + writer->stream->directory_size - (big ? 16 : 8);
        tiff_directory_put(writer->from, entry, 2, big ? 8 : 4);
        tiff_directory_put(writer->from, entry + (big ? 8 : 4) + 2, layout->halving_y, 2);
    }
}

static void write_directory(struct tiff_stream *stream, const struct tiff_layout *layout) {
    struct tiff_writer writer = {&layout->directory, stream, 0};
    const unsigned head = layout->directory.big ? 8 : 2, link = layout->directory.big ? 8 : 4;
    stream->directory_at = bytes_align_up(stream->file.size, 8);
    uint8_t *count = add(&writer, head);
    write_entries(&writer, layout);
    tiff_directory_put(&layout->directory, count, writer.count, head);
    memset(add(&writer, link), 0, link);
}

/* ---- what libtiff calls ---- */

static uint64_t size_of(const struct tiff_stream *stream) {
    return stream->directory_at + stream->directory_size;
}

static tmsize_t read_bytes(thandle_t handle, void *target, tmsize_t wanted) {
    struct tiff_stream *stream = handle;
    uint8_t *to = target;
    tmsize_t done = 0;
    while (done < wanted && stream->position < size_of(stream)) {
        size_t size = (size_t)(wanted - done), left;
        if (stream->position < stream->file.size) {
            left = stream->file.size - (size_t)stream->position;
            size = size < left ? size : left;
            memcpy(to + done, stream->file.data + stream->position, size);
        } else if (stream->position < stream->directory_at) {
            size = 1;
            to[done] = 0;
        } else {
            left = (size_t)(size_of(stream) - stream->position);
            size = size < left ? size : left;
            memcpy(to + done, stream->directory + (stream->position - stream->directory_at), size);
        }
        stream->position += size;
        done += (tmsize_t)size;
    }
    return done;
}

static tmsize_t write_nothing(thandle_t handle, void *from, tmsize_t size) {
    (void)handle, (void)from, (void)size;
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    struct tiff_stream *stream = handle;
    stream->position = offset + (whence == SEEK_CUR   ? stream->position
                                 : whence == SEEK_END ? size_of(stream)
                                                      : 0);
    return stream->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t tell_size(thandle_t handle) {
    return size_of(handle);
}

static int note(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    struct tiff_stream *stream = context;
    (void)tiff, (void)module;
    if (!stream->failed) {
        vsnprintf(stream->text, sizeof(stream->text), format, arguments);
        stream->failed = true;
        stream->memory = strcasestr(stream->text, "memory") || strcasestr(stream->text, "allocat");
    }
    return 1;
}

/* libtiff warns where data are missing, damaged or of another size, and fills the rest. Surplus bytes, strips
 * that are higher than the rest of the picture, and the bit order of an old LZW do no harm; nor does that
 * samples have no meaning, as it is not told, or that a JPEG has another subsampling than the tags, as files
 * of Pillow have it: libtiff gives all pixels in RGB. */
static int judge_warning(TIFF *tiff, void *context, const char *module, const char *format,
                         va_list arguments) {
    static const char *const harmless[] = {
        "extraneous bytes", "exceeds expected", "Old-style LZW", "Defining non-color channels",
        "onstandard tile",  "StripByteCounts",  "Auto-corrected"};
    char text[TIFF_STREAM_TEXT_MAX];
    va_list copy;
    va_copy(copy, arguments);
    vsnprintf(text, sizeof(text), format, copy);
    va_end(copy);
    for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++) {
        if (strstr(text, harmless[i])) {
            return 1;
        }
    }
    return note(tiff, context, module, format, arguments);
}

/* ---- the stream ---- */

static TIFF *open_file(struct tiff_stream *stream, bool whole, size_t memory) {
    const struct tiff_library *library = stream->library;
    TIFFOpenOptions *options = library->TIFFOpenOptionsAlloc();
    if (!options) {
        return NULL;
    }
    library->TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)memory);
    if (library->limit_memory) {
        library->limit_memory(options, (tmsize_t)memory);
    }
    library->TIFFOpenOptionsSetErrorHandlerExtR(options, note, stream);
    library->TIFFOpenOptionsSetWarningHandlerExtR(options, judge_warning, stream);
    /* r: read, h: no directory yet, m: nothing is mapped, c: strips stay as they are */
    TIFF *tiff = library->TIFFClientOpenExt("TIFF", whole ? "rhmc" : "rhm", stream, read_bytes, write_nothing,
                                            seek, close_nothing, tell_size, NULL, NULL, options);
    library->TIFFOpenOptionsFree(options);
    return tiff;
}

enum status tiff_stream_open(struct tiff_stream *stream, const struct tiff_layout *layout, bool whole,
                             size_t memory, struct error *err) {
    *stream = (struct tiff_stream){.file = layout->directory.file};
    enum status status = tiff_library_open(&stream->library, err);
    if (status != ST_OK) {
        return status;
    }
    if (!stream->library->TIFFIsCODECConfigured(layout->coding.number)) {
        return fail(err, ST_UNSUPPORTED, "TIFF is compressed by %s, which the TIFF library was built without",
                    layout->coding.name);
    }
    write_directory(stream, layout);
    stream->tiff = open_file(stream, whole, memory);
    if (!stream->tiff) {
        return stream->failed ? tiff_stream_check(stream, false, err)
                              : fail(err, ST_BUSY, "out of memory for the TIFF reader");
    }
    bool success = stream->library->TIFFSetSubDirectory(stream->tiff, stream->directory_at) == 1;
    if (success && tiff_layout_is_converted(layout)) {
        success = stream->library->TIFFSetField(stream->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) == 1;
    }
    return tiff_stream_check(stream, success, err);
}

void tiff_stream_finish(struct tiff_stream *stream) {
    if (stream->tiff) {
        stream->library->TIFFClose(stream->tiff);
    }
    *stream = (struct tiff_stream){0};
}

enum status tiff_stream_check(const struct tiff_stream *stream, bool success, struct error *err) {
    if (success && !stream->failed) {
        return ST_OK;
    }
    return stream->memory ? fail(err, ST_BUSY, "out of memory in the TIFF library: %s", stream->text)
                          : fail(err, ST_CORRUPT, "TIFF data are damaged or cut short: %s",
                                 stream->failed ? stream->text : "they cannot be read");
}
