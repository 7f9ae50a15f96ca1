/* SPDX-License-Identifier: MIT */
#include "codecs/heic/heic_reader.h"

#include <limits.h>
#include <string.h>

#include "codecs/bmff/bmff_gain_map.h"
#include "codecs/limits.h"

static enum status status_of(const struct heif_error *failure) {
    if (failure->subcode == heif_suberror_Security_limit_exceeded) {
        return ST_LIMIT; /* from version 1.19 on also with heif_error_Invalid_input */
    }
    switch (failure->code) {
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
        return ST_UNSUPPORTED;
    case heif_error_Memory_allocation_error:
        return ST_BUSY;
    default:
        return ST_CORRUPT;
    }
}

enum status heic_reader_fail(const struct heif_error *failure, struct error *err) {
    static const char *const sentences[ST_COUNT] = {
        [ST_CORRUPT] = "HEIC data are damaged or cut short",
        [ST_UNSUPPORTED] = "HEIC variant is not supported",
        [ST_LIMIT] = "HEIC is over a limit of its library",
        [ST_BUSY] = "out of memory in the HEIC library",
    };
    enum status status = status_of(failure);
    const char *text = failure->message ? failure->message : "";
    return fail(err, status, "%s: %.*s", sentences[status], (int)strcspn(text, "\n"), text);
}

static enum status read_boxes(struct heic_reader *reader, struct bytes input, struct error *err) {
    const struct heic_library *heif = reader->heif;
    reader->context = heif->heif_context_alloc();
    if (!reader->context) {
        return fail(err, ST_BUSY, "out of memory for the HEIC reader");
    }
    /* The sizes are checked here, with the limits of this program. */
    heif->heif_context_set_maximum_image_size_limit(reader->context, INT_MAX);
    heif->heif_context_set_max_decoding_threads(reader->context, 0);
    struct heif_error failure =
        heif->heif_context_read_from_memory_without_copy(reader->context, input.data, input.size, NULL);
    if (failure.code == heif_error_Ok) {
        failure = heif->heif_context_get_primary_image_handle(reader->context, &reader->handle);
    }
    return failure.code == heif_error_Ok ? ST_OK : heic_reader_fail(&failure, err);
}

/* libheif decodes the stored picture first, and then crops it. */
static enum status check_sizes(const struct heic_reader *reader, const struct codec_limits *limits,
                               struct error *err) {
    const struct heic_library *heif = reader->heif;
    int stored_width = heif->heif_image_handle_get_ispe_width(reader->handle);
    int stored_height = heif->heif_image_handle_get_ispe_height(reader->handle);
    int width = heif->heif_image_handle_get_width(reader->handle);
    int height = heif->heif_image_handle_get_height(reader->handle);
    if (stored_width < 0 || stored_height < 0 || width < 0 || height < 0) {
        return fail(err, ST_LIMIT, "picture is over %d pixels a side", INT_MAX);
    }
    enum status status = limits_check_size((uint32_t)width, (uint32_t)height, limits, err);
    return status == ST_OK ? limits_check_size((uint32_t)stored_width, (uint32_t)stored_height, limits, err)
                           : status;
}

enum status heic_reader_open(struct heic_reader *reader, struct bytes file, const struct codec_limits *limits,
                             struct error *err) {
    *reader = (struct heic_reader){0};
    enum status status = limits->gain_map ? bmff_gain_map_file(file, "HEIC", &reader->map, err) : ST_OK;
    struct bytes input = limits->gain_map ? buf_bytes(&reader->map) : file;
    if (status == ST_OK) {
        status = heic_check(input, limits, &reader->facts, &reader->mended, err);
    }
    if (reader->mended.size > 0) {
        buf_finish(&reader->map);
    }
    if (status == ST_OK) {
        status = heic_library_open(&reader->heif, err);
    }
    if (status == ST_OK) {
        status = read_boxes(reader, reader->mended.size > 0 ? buf_bytes(&reader->mended) : input, err);
    }
    return status == ST_OK ? check_sizes(reader, limits, err) : status;
}

void heic_reader_finish(struct heic_reader *reader) {
    if (reader->handle) {
        reader->heif->heif_image_handle_release(reader->handle);
    }
    if (reader->context) {
        reader->heif->heif_context_free(reader->context);
    }
    buf_finish(&reader->mended);
    buf_finish(&reader->map);
    *reader = (struct heic_reader){0};
}
