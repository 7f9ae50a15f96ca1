/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_wire.h"

#include <string.h>

#include "codecs/frame.h"
#include "codecs/limits.h"
#include "core/clock.h"

enum { STORE_EXTRA = 1 << 20 }; /* bytes that metadata in memory may have beyond the file's */

static bool lies_in(struct bytes part, struct bytes whole) {
    uintptr_t at = (uintptr_t)part.data, start = (uintptr_t)whole.data;
    return at >= start && at - start <= whole.size && part.size <= whole.size - (at - start);
}

static enum status pack_view(struct bytes view, struct bytes file, struct codec_view *packed,
                             struct buf *stored, struct error *err) {
    if (lies_in(view, file)) {
        *packed = (struct codec_view){.at = (uint64_t)(view.data - file.data), .size = view.size};
        return ST_OK;
    }
    *packed = (struct codec_view){.stored = 1, .at = stored->size, .size = view.size};
    return buf_append(stored, view.data, view.size, err);
}

enum status codec_wire_pack(const struct metadata *metadata, struct bytes file, struct codec_metadata *packed,
                            struct buf *stored, struct error *err) {
    *packed = (struct codec_metadata){
        .orientation = metadata->orientation,
        .upright = metadata->upright,
        .xmp_deflated = metadata->xmp_deflated,
        .gain_map = metadata->gain_map,
        .chunk_count = metadata->chunk_count,
        .losses = metadata->losses,
        .density = metadata->density,
    };
    enum status status = pack_view(metadata->exif, file, &packed->exif, stored, err);
    status = status == ST_OK ? pack_view(metadata->xmp, file, &packed->xmp, stored, err) : status;
    status = status == ST_OK ? pack_view(metadata->photoshop, file, &packed->photoshop, stored, err) : status;
    for (unsigned i = 0; i < metadata->chunk_count && status == ST_OK; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        packed->chunk[i].kind = chunk->kind;
        packed->chunk[i].tag = chunk->tag;
        status = pack_view(chunk->data, file, &packed->chunk[i].data, stored, err);
    }
    return status;
}

static bool unpack_view(const struct codec_view *packed, struct bytes file, struct bytes stored,
                        struct bytes *view) {
    struct bytes whole = packed->stored ? stored : file;
    bool inside = packed->at <= whole.size && packed->size <= whole.size - packed->at;
    *view = inside && packed->size ? (struct bytes){whole.data + packed->at, (size_t)packed->size}
                                   : (struct bytes){0};
    return inside && packed->stored <= 1;
}

static bool is_density(const struct density *density) {
    bool none = density->unit == DENSITY_NONE;
    return (unsigned)density->unit <= DENSITY_CM &&
           (none || (density->x > 0 && density->y > 0 && density->scale > 0));
}

enum status codec_wire_unpack(const struct codec_metadata *packed, struct bytes file, struct bytes stored,
                              struct metadata *metadata, struct error *err) {
    bool fine = packed->orientation >= 1 && packed->orientation <= 8 && packed->upright <= 1 &&
                packed->xmp_deflated <= 1 && packed->gain_map <= 1 &&
                packed->chunk_count <= METADATA_CHUNKS_MAX && is_density(&packed->density);
    metadata->orientation = packed->orientation;
    metadata->upright = packed->upright == 1;
    metadata->xmp_deflated = packed->xmp_deflated == 1;
    metadata->gain_map = packed->gain_map == 1;
    metadata->losses = packed->losses;
    metadata->density = packed->density;
    metadata->chunk_count = fine ? packed->chunk_count : 0;
    fine = fine && unpack_view(&packed->exif, file, stored, &metadata->exif) &&
           unpack_view(&packed->xmp, file, stored, &metadata->xmp) &&
           unpack_view(&packed->photoshop, file, stored, &metadata->photoshop);
    for (unsigned i = 0; i < metadata->chunk_count && fine; i++) {
        struct metadata_chunk *chunk = &metadata->chunk[i];
        fine = packed->chunk[i].kind <= CHUNK_TIME &&
               unpack_view(&packed->chunk[i].data, file, stored, &chunk->data);
        chunk->kind = (enum chunk_kind)packed->chunk[i].kind;
        chunk->tag = packed->chunk[i].tag;
    }
    return fine ? ST_OK : fail(err, ST_DEVICE, "invalid metadata from the codec process");
}

enum status codec_wire_send(int socket, struct bytes bytes, struct codec_piece *piece, struct error *err) {
    enum status status = ST_OK;
    for (size_t at = 0, size; at < bytes.size && status == ST_OK; at += size) {
        size = bytes.size - at < CODEC_PIECE_MAX ? bytes.size - at : CODEC_PIECE_MAX;
        memcpy(piece->bytes, bytes.data + at, size);
        status = channel_send(socket, piece, sizeof piece->head + size, CODEC_PIECE, -1, err);
    }
    return status;
}

enum status codec_wire_receive(int socket, uint64_t size, struct codec_piece *piece, int64_t until_ns,
                               struct buf *received, struct error *err) {
    enum status status = buf_reserve(received, (size_t)size, err);
    while (size > 0 && status == ST_OK) {
        size_t now = size < CODEC_PIECE_MAX ? (size_t)size : CODEC_PIECE_MAX;
        status = channel_receive(socket, piece, sizeof piece->head + now, CODEC_PIECE, NULL,
                                 codec_wire_wait_ms(until_ns), err);
        status = status == ST_OK ? buf_append(received, piece->bytes, now, err) : status;
        size -= now;
    }
    return status;
}

int64_t codec_wire_wait_ms(int64_t until_ns) {
    int64_t left = until_ns - clock_ns();
    return until_ns == 0 ? -1 : left <= 0 ? 0 : left / 1000000 + 1;
}

bool codec_wire_is_shape(const struct image_shape *shape) {
    bool planar = shape->model == PIXEL_YCBCR;
    return (unsigned)shape->model <= PIXEL_YCBCR && (shape->depth == 8 || (shape->depth == 16 && !planar)) &&
           shape->width > 0 && shape->height > 0 && shape->chroma_shift_x <= (planar ? 2 : 0) &&
           shape->chroma_shift_y <= (planar ? 2 : 0);
}

/* Statuses that a codec's function has. Of parameters it knows only the page. */
static bool is_outcome(const struct error *error) {
    enum status status = error->status;
    bool page = status == ST_ARGUMENT && strcmp(error->parameter, "page") == 0;
    return page || status == ST_OK || status == ST_CORRUPT || status == ST_UNSUPPORTED ||
           status == ST_LIMIT || status == ST_BUSY || status == ST_INTERNAL;
}

static void make_printable(char *text, size_t size) {
    text[size - 1] = '\0';
    for (; *text; text++) {
        *text = *text >= ' ' && *text <= '~' ? *text : '?';
    }
}

static bool is_picture(const struct codec_answer *answer, const struct codec_call *call) {
    const struct image_shape *native = &answer->native, *pixels = &answer->pixels;
    struct error ignored;
    return codec_wire_is_shape(native) && codec_wire_is_shape(pixels) && pixels->model != PIXEL_YCBCR &&
           native->width == pixels->width && native->height == pixels->height && answer->progressive <= 1 &&
           answer->exact <= 1 && answer->restorable <= 1 && answer->size <= call->input_size + STORE_EXTRA &&
           limits_check_size(pixels->width, pixels->height, &call->limits, &ignored) == ST_OK;
}

/* Bytes that may come with the answer. A decoded picture comes through the exchange; of a sequence nothing
 * comes before it is complete. */
static uint64_t most_bytes(const struct codec_call *call) {
    const bool none = call->operation == CODEC_DECODES || call->operation == CODEC_ADDS;
    return none ? 0 : call->output_most;
}

/* A frame comes through the exchange. */
static bool is_frame(const struct codec_answer *answer) {
    return answer->size == 0 && answer->scale > 0 && answer->delay / answer->scale <= FRAME_SECONDS_MAX;
}

enum status codec_wire_check(struct codec_answer *answer, const struct codec_call *call, struct error *err) {
    make_printable(answer->error.text, sizeof answer->error.text);
    make_printable(answer->error.parameter, sizeof answer->error.parameter);
    if (answer->error.status != ST_ARGUMENT) {
        answer->error.parameter[0] = '\0';
    }
    bool fine = is_outcome(&answer->error) && answer->last <= 1 && answer->late <= 1;
    if (fine && answer->error.status != ST_OK) {
        fine = answer->size == 0 && answer->error.text[0];
    } else if (fine && call->operation == CODEC_PROBES) {
        fine = is_picture(answer, call);
    } else if (fine && call->operation == CODEC_FRAMES) {
        fine = is_frame(answer);
    } else if (fine) {
        fine = answer->size <= most_bytes(call);
    }
    return fine ? ST_OK : fail(err, ST_DEVICE, "invalid reply from the codec process");
}
