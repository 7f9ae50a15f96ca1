/* SPDX-License-Identifier: MIT */
#include "codecs/heic/heic_check.h"

#include <inttypes.h>
#include <string.h>

#include "codecs/heic/heic_items.h"
#include "codecs/limits.h"

enum {
    DEPTH_MAX = 4,       /* pictures that are made of pictures */
    SOURCES_MAX = 4096,  /* pictures that one is made of */
    LEAST_PIXELS = 4096, /* that a picture counts for, however small */
    PIXELS_FACTOR = 4,   /* pixels to decode for one of the limit: alpha, depth, tiles at the edges */
    GRID_HEAD = 4,
};

struct check {
    struct heic_items items;
    const struct codec_limits *limits;
    uint64_t pixels; /* to decode, so far */
    bool alpha;      /* an alpha picture is visited */
};

static enum status visit(struct check *check, uint32_t id, unsigned depth, struct error *err);

static enum status fail_type(uint32_t type, struct error *err) {
    static const struct {
        char type[5];
        const char *name;
    } names[] = {
        {"av01", "AV1 in a file that is not marked as AVIF"},
        {"j2k1", "JPEG 2000"},
        {"jpeg", "JPEG in a HEIF file"},
        {"unci", "uncompressed"},
        {"avc1", "AVC (H.264)"},
        {"vvc1", "VVC (H.266)"},
        {"evc1", "EVC"},
        {"lhv1", "layered HEVC"},
        {"mski", "a mask"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (type == bmff_type(names[i].type)) {
            return fail(err, ST_UNSUPPORTED, "HEIF picture is %s; only HEVC is supported", names[i].name);
        }
    }
    return fail(err, ST_UNSUPPORTED, "HEIF picture is of an unknown kind; only HEVC is supported");
}

static enum status visit_coded(struct check *check, const struct heic_item *item, struct error *err) {
    if (item->type != bmff_type("hvc1")) {
        return fail_type(item->type, err);
    }
    enum status status = limits_check_size(item->width, item->height, check->limits, err);
    if (status != ST_OK) {
        return status;
    }
    uint64_t pixels = (uint64_t)item->width * item->height;
    uint64_t most = check->limits->max_pixels * PIXELS_FACTOR + (uint64_t)SOURCES_MAX * LEAST_PIXELS;
    check->pixels += pixels < LEAST_PIXELS ? LEAST_PIXELS : pixels;
    if (check->pixels > most) {
        return fail(err, ST_LIMIT, "HEIC is made of more than %" PRIu64 " pixels, %d times the limit", most,
                    PIXELS_FACTOR);
    }
    return ST_OK;
}

struct tiling {
    uint64_t rows, columns, width, height;
};

static bool read_grid(struct bytes data, struct tiling *grid) {
    if (data.size < GRID_HEAD) {
        return false;
    }
    unsigned size = data.data[1] & 1 ? 4 : 2;
    *grid = (struct tiling){.rows = data.data[2] + 1u, .columns = data.data[3] + 1u};
    data.data += GRID_HEAD, data.size -= GRID_HEAD;
    return bmff_number(&data, size, &grid->width) && bmff_number(&data, size, &grid->height);
}

/* Tiles are alike, cover the picture, and none lies outside. */
static enum status check_grid(const struct check *check, const struct heic_item *item, struct bytes ids,
                              struct error *err) {
    struct tiling grid;
    uint32_t id = 0;
    uint64_t count = 0, width = 0, height = 0;
    if (!read_grid(heic_items_data(&check->items, item->id), &grid)) {
        return fail(err, ST_CORRUPT, "HEIC is damaged or cut short: it lacks the description of its tiles");
    }
    bool alike = true;
    for (; heic_items_next_id(&check->items, &ids, &id); count++) {
        const struct heic_item *tile = heic_items_find(&check->items, id);
        width = count == 0 && tile ? tile->width : width;
        height = count == 0 && tile ? tile->height : height;
        alike = alike && tile && tile->width == width && tile->height == height;
    }
    if (count != grid.rows * grid.columns) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: it has %" PRIu64 " of %" PRIu64 " x %" PRIu64 " tiles",
                    count, grid.columns, grid.rows);
    }
    bool covered = grid.columns * width >= grid.width && grid.rows * height >= grid.height;
    bool tight = (grid.columns - 1) * width < grid.width && (grid.rows - 1) * height < grid.height;
    bool stated = grid.width == item->width && grid.height == item->height;
    return alike && covered && tight && stated
               ? ST_OK
               : fail(err, ST_CORRUPT,
                      "HEIC is damaged: its tiles do not make up a picture of %u x %u pixels", item->width,
                      item->height);
}

/* The ids that an item is made of; empty when there are none. */
static struct bytes sources_of(const struct heic_items *items, uint32_t id) {
    struct bmff_box box;
    uint32_t from;
    for (struct bytes boxes = items->references; heic_items_reference(items, &boxes, &box, &from);) {
        if (box.type == bmff_type("dimg") && from == id) {
            return box.body;
        }
    }
    return (struct bytes){0};
}

static enum status visit_derived(struct check *check, struct heic_item *item, unsigned depth,
                                 struct error *err) {
    struct bytes ids = sources_of(&check->items, item->id);
    size_t count = ids.size / (check->items.wide_references ? 4 : 2);
    if (count == 0 || (item->type == bmff_type("iden") && count != 1)) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: the pictures that its picture is made of are missing");
    }
    if (depth == DEPTH_MAX || count > SOURCES_MAX) {
        return fail(err, ST_LIMIT, "HEIC is made of too many pictures: over %d, or %d deep", SOURCES_MAX,
                    DEPTH_MAX);
    }
    enum status status = item->type == bmff_type("grid") ? check_grid(check, item, ids, err) : ST_OK;
    uint32_t id = 0;
    bool gray = true;
    while (status == ST_OK && heic_items_next_id(&check->items, &ids, &id)) {
        status = visit(check, id, depth + 1, err);
        gray = status == ST_OK && gray && heic_items_find(&check->items, id)->gray;
    }
    item->gray = gray && item->type != bmff_type("iovl"); /* an overlay has a background */
    return status;
}

/* Recurses at most DEPTH_MAX times. */
static enum status visit(struct check *check, uint32_t id, unsigned depth, struct error *err) {
    struct heic_item *item = heic_items_find(&check->items, id);
    if (!item) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: it refers to item %" PRIu32 ", which it lacks", id);
    }
    if (check->alpha && item->has_alpha) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: its alpha has alpha");
    }
    bool derived =
        item->type == bmff_type("grid") || item->type == bmff_type("iden") || item->type == bmff_type("iovl");
    return derived ? visit_derived(check, item, depth, err) : visit_coded(check, item, err);
}

/* Auxiliary pictures of other kinds are not decoded. */
static enum status visit_alphas(struct check *check, struct error *err) {
    enum status status = ST_OK;
    check->alpha = true;
    for (size_t i = 0; i < check->items.count && status == ST_OK; i++) {
        const struct heic_item *item = &check->items.item[i];
        status = item->is_alpha ? visit(check, item->id, 1, err) : ST_OK;
    }
    return status;
}

/* The major brand says what a file is for. */
static bool is_sequence(struct bytes input) {
    static const char *const brands[] = {"hevc", "hevx", "hevm", "hevs", "msf1"};
    bool found = false;
    for (size_t i = 0; i < sizeof(brands) / sizeof(*brands) && !found; i++) {
        found = memcmp(input.data + 8, brands[i], 4) == 0;
    }
    return found;
}

static enum status check_items(struct check *check, struct bytes input, struct heic_facts *facts,
                               struct error *err) {
    enum status status = heic_items_read(&check->items, input, err);
    if (status == ST_OK) {
        status = visit(check, check->items.primary, 0, err);
    }
    if (status == ST_OK) {
        facts->gray = heic_items_find(&check->items, check->items.primary)->gray;
        status = visit_alphas(check, err);
    }
    return status;
}

enum status heic_check(struct bytes input, const struct codec_limits *limits, struct heic_facts *facts,
                       struct error *err) {
    struct bytes meta;
    bool still =
        bmff_has_brand(input, "mif1") || bmff_has_brand(input, "heic") || bmff_has_brand(input, "heix");
    if (is_sequence(input) && !limits->first_frame) {
        return fail(err, ST_UNSUPPORTED, "HEIC is animated; page=0 takes its first frame");
    }
    if (!still || (is_sequence(input) && !bmff_find(input, "meta", &meta))) {
        return fail(err, ST_UNSUPPORTED,
                    "HEIC is a sequence without a still picture, which is not supported");
    }
    struct check check = {.limits = limits};
    enum status status = check_items(&check, input, facts, err);
    heic_items_finish(&check.items);
    return status;
}
