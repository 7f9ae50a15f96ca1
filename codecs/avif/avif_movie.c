/* SPDX-License-Identifier: MIT
 * Two passes: a copy into which edit lists are put, then numbers in the copy. */
#include "codecs/avif/avif_movie.h"

#include "codecs/bmff/bmff.h"

enum {
    HEAD = 8,           /* bytes of a box's size and type */
    FULL = 4,           /* of its version and flags */
    TIMES = 16,         /* of two times of creation, in version 1 */
    EDITS_BYTES = 44,   /* edts, and elst of version 1 with one entry */
    REPEATS = 1,        /* the flag of elst */
    LOCATION_BYTES = 6, /* of an item in iloc before its extents: id, reference, number of extents */
    EXTENT_BYTES = 8,   /* offset and length */
};

struct movie {
    struct buf *output;
    uint32_t plays;
    uint64_t media; /* duration of all frames, in parts of the timescale */
    size_t added;   /* bytes of edit lists: data that follows the tracks moves by so many */
    struct error *err;
};

static enum status refuse(struct error *err) {
    return fail(err, ST_INTERNAL, "the AVIF library has written a sequence of an unknown form");
}

static void put_be64(uint8_t *p, uint64_t value) {
    bytes_put_be32(p, (uint32_t)(value >> 32));
    bytes_put_be32(p + 4, (uint32_t)value);
}

static uint64_t be64(const uint8_t *p) {
    return (uint64_t)bytes_be32(p) << 32 | bytes_be32(p + 4);
}

/* Takes a box with a usual header, whose bytes are *whole, off *rest. */
static bool next_whole(struct bytes *rest, struct bmff_box *box, struct bytes *whole) {
    whole->data = rest->data;
    const bool found = bmff_next(rest, box);
    whole->size = found ? (size_t)(rest->data - whole->data) : 0;
    return found && box->body.data == whole->data + HEAD && bytes_be32(whole->data) == whole->size;
}

/* The body of a full box of version 1 that is long enough, behind the version and the flags. */
static bool find_version_1(struct bytes boxes, const char type[static 4], size_t least, struct bytes *body) {
    uint8_t version;
    uint32_t flags;
    return bmff_find(boxes, type, body) && bmff_version(body, &version, &flags) && version == 1 &&
           body->size >= least;
}

/* ---- edit lists ---- */

static enum status put_edits(struct movie *movie) {
    uint8_t edts[EDITS_BYTES] = {0,   0,   0,   EDITS_BYTES, 'e', 'd', 't', 's', 0, 0, 0, EDITS_BYTES - HEAD,
                                 'e', 'l', 's', 't',         1};
    edts[23] = 1; /* entry: of the whole media, from its begin, */
    put_be64(edts + 24, movie->media);
    edts[41] = 1; /* at its own rate */
    movie->added += sizeof edts;
    return buf_append(movie->output, edts, sizeof edts, movie->err);
}

static enum status put_track(struct movie *movie, struct bytes track) {
    struct bytes edits, whole;
    struct bmff_box box;
    enum status status = ST_OK;
    const bool edited = bmff_find(track, "edts", &edits);
    while (status == ST_OK && track.size > 0) {
        if (!next_whole(&track, &box, &whole)) {
            return refuse(movie->err);
        }
        if (box.type == bmff_type("mdia") && !edited) {
            status = put_edits(movie);
        }
        status = status == ST_OK ? buf_append(movie->output, whole.data, whole.size, movie->err) : status;
    }
    return status;
}

/* A kind of box, and what appends the boxes in it. */
struct movie_part {
    const char *type;
    enum status (*put)(struct movie *movie, struct bytes boxes);
};

/* Appends a box whose content part->put appends. */
static enum status put_container(struct movie *movie, const struct bmff_box *box,
                                 const struct movie_part *part) {
    const size_t start = movie->output->size;
    enum status status = buf_append(movie->output, box->body.data - HEAD, HEAD, movie->err);
    status = status == ST_OK ? part->put(movie, box->body) : status;
    if (status == ST_OK) {
        bytes_put_be32(movie->output->data + start, (uint32_t)(movie->output->size - start));
    }
    return status;
}

/* Appends boxes as they are, but for the part. */
static enum status put_boxes(struct movie *movie, struct bytes boxes, const struct movie_part *part) {
    struct bmff_box box;
    struct bytes whole;
    enum status status = ST_OK;
    while (status == ST_OK && boxes.size > 0) {
        if (!next_whole(&boxes, &box, &whole)) {
            return refuse(movie->err);
        }
        status = box.type == bmff_type(part->type)
                     ? put_container(movie, &box, part)
                     : buf_append(movie->output, whole.data, whole.size, movie->err);
    }
    return status;
}

static enum status put_movie(struct movie *movie, struct bytes boxes) {
    return put_boxes(movie, boxes, &(struct movie_part){"trak", put_track});
}

static enum status put_file(struct movie *movie, struct bytes file) {
    return put_boxes(movie, file, &(struct movie_part){"moov", put_movie});
}

/* ---- numbers ---- */

static uint8_t *in_output(const struct movie *movie, const uint8_t *data) {
    return movie->output->data + (data - movie->output->data);
}

/* A duration that is all ones is without an end. */
static uint64_t duration_of(const struct movie *movie) {
    const bool ends = movie->plays > 0 && movie->media < UINT64_MAX / movie->plays;
    return ends ? movie->media * movie->plays : UINT64_MAX;
}

/* Of mvhd, tkhd or mdhd; duration_at 0: it stays. */
static bool set_header(const struct movie *movie, struct bytes boxes, const char type[static 4],
                       size_t duration_at) {
    struct bytes body;
    if (!find_version_1(boxes, type, duration_at + 8, &body) || body.size < TIMES) {
        return false;
    }
    uint8_t *to = in_output(movie, body.data);
    memset(to, 0, TIMES);
    if (duration_at > 0) {
        put_be64(to + duration_at, duration_of(movie));
    }
    return true;
}

static bool shift(const struct movie *movie, const uint8_t *offset) {
    const uint64_t moved = (uint64_t)bytes_be32(offset) + movie->added;
    bytes_put_be32(in_output(movie, offset), (uint32_t)moved);
    return moved <= UINT32_MAX;
}

/* In the form that libavif before 1.0 writes: numbers of 4 bytes, without a base. */
static bool shift_items(const struct movie *movie, struct bytes meta) {
    struct bytes iloc;
    uint64_t items, extents, ignored;
    uint8_t version;
    uint32_t flags;
    if (!bmff_version(&meta, &version, &flags) || !bmff_find(meta, "iloc", &iloc) ||
        !bmff_number(&iloc, 6, &ignored) || ignored != 0x4400 || !bmff_number(&iloc, 2, &items)) {
        return false;
    }
    for (; items > 0; items--) {
        if (!bmff_number(&iloc, LOCATION_BYTES - 2, &ignored) || !bmff_number(&iloc, 2, &extents)) {
            return false;
        }
        for (; extents > 0; extents--) {
            const uint8_t *offset = iloc.data;
            if (!bmff_number(&iloc, EXTENT_BYTES, &ignored) || !shift(movie, offset)) {
                return false;
            }
        }
    }
    return true;
}

static bool shift_chunks(const struct movie *movie, struct bytes media) {
    struct bytes body;
    uint64_t count, ignored;
    if (!bmff_find(media, "minf", &body) || !bmff_find(body, "stbl", &body) ||
        !bmff_find(body, "stco", &body) || !bmff_number(&body, FULL, &ignored) ||
        !bmff_number(&body, 4, &count)) {
        return false;
    }
    for (; count > 0; count--) {
        const uint8_t *offset = body.data;
        if (!bmff_number(&body, 4, &ignored) || !shift(movie, offset)) {
            return false;
        }
    }
    return true;
}

/* Later versions of libavif write edit lists. */
static bool set_repeats(const struct movie *movie, struct bytes track) {
    struct bytes edits, list;
    if (!bmff_find(track, "edts", &edits) || !bmff_find(edits, "elst", &list) || list.size < FULL) {
        return false;
    }
    in_output(movie, list.data)[FULL - 1] = movie->plays == 1 ? 0 : REPEATS;
    return true;
}

static bool settle_track(const struct movie *movie, struct bytes track) {
    enum { DURATION_AT = TIMES + 8 };
    struct bytes media, meta;
    bool fine = set_repeats(movie, track) && set_header(movie, track, "tkhd", DURATION_AT) &&
                bmff_find(track, "mdia", &media) && set_header(movie, media, "mdhd", 0);
    if (fine && movie->added > 0) {
        fine = shift_chunks(movie, media) && (!bmff_find(track, "meta", &meta) || shift_items(movie, meta));
    }
    return fine;
}

static bool settle(const struct movie *movie, struct bytes file) {
    enum { DURATION_AT = TIMES + 4 };
    struct bytes moov, meta;
    struct bmff_box box;
    bool fine = bmff_find(file, "moov", &moov) && set_header(movie, moov, "mvhd", DURATION_AT);
    if (fine && movie->added > 0) {
        fine = bmff_find(file, "meta", &meta) && shift_items(movie, meta);
    }
    while (fine && bmff_next(&moov, &box)) {
        fine = box.type != bmff_type("trak") || settle_track(movie, box.body);
    }
    return fine;
}

/* All tracks last as long as the first one. */
static bool find_media(struct bytes file, uint64_t *duration) {
    enum { DURATION_AT = TIMES + 4 };
    struct bytes body;
    if (!bmff_find(file, "moov", &body) || !bmff_find(body, "trak", &body) ||
        !bmff_find(body, "mdia", &body) || !find_version_1(body, "mdhd", DURATION_AT + 8, &body)) {
        return false;
    }
    *duration = be64(body.data + DURATION_AT);
    return true;
}

enum status avif_movie_write(struct bytes file, uint32_t plays, struct buf *output, struct error *err) {
    struct movie movie = {.output = output, .plays = plays, .err = err};
    const size_t start = output->size;
    if (!find_media(file, &movie.media)) {
        return refuse(err);
    }
    enum status status = put_file(&movie, file);
    const struct bytes copy = {output->data + start, output->size - start};
    return status != ST_OK || settle(&movie, copy) ? status : refuse(err);
}
