/* SPDX-License-Identifier: MIT */
#include "codecs/heic/heic_check.h"

#include <inttypes.h>
#include <string.h>

#include "codecs/heic/heic_references.h"
#include "codecs/limits.h"

enum {
    DEPTH_MAX = 4,        /* pictures that are made of pictures */
    SOURCES_MAX = 8192,   /* pictures that others are made of, in all */
    LEAST_PIXELS = 4096,  /* that a picture counts for, however small */
    WORK_FACTOR = 2,      /* pixels to decode for one of the largest picture: colours and alpha */
    WORK_ROOM = 8 << 20,  /* and as many more, for tiles at the edges: a tenth of a second */
    CODED_ROOM = 1 << 20, /* bytes to decode beside those of the file, each once: a seventh of a second */
    TILED_HEAD = 4,       /* version, flags, and two numbers of a grid */
    OVERLAY_HEAD = 2 + 8, /* version, flags, and the background */
};

struct check {
    struct bmff_items items;
    const struct codec_limits *limits;
    uint64_t
        largest; /* pixels of the largest item so far, by which the time is predicted (codecs/bmff/bmff.h) */
    size_t sources; /* pictures that others are made of, so far */
    bool alpha;     /* an alpha picture is visited */
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

static enum status visit_coded(struct check *check, struct bmff_item *item, struct error *err) {
    if (item->type != bmff_type("hvc1")) {
        return fail_type(item->type, err);
    }
    uint64_t pixels = (uint64_t)item->width * item->height;
    item->work = pixels < LEAST_PIXELS ? LEAST_PIXELS : pixels;
    item->coded = item->size;
    return limits_check_size(item->width, item->height, check->limits, err);
}

/* What would take far longer than its largest picture lets one expect. */
static enum status check_work(struct check *check, const struct bmff_item *item, struct error *err) {
    uint64_t pixels = (uint64_t)item->width * item->height;
    check->largest = pixels > check->largest ? pixels : check->largest;
    if (item->coded > check->items.file.size + CODED_ROOM) {
        return fail(err, ST_LIMIT,
                    "HEIC has %zu bytes, and is made of pictures with %" PRIu64 " in all: it has some more "
                    "than once",
                    check->items.file.size, item->coded);
    }
    return item->work <= check->largest * WORK_FACTOR + WORK_ROOM
               ? ST_OK
               : fail(err, ST_LIMIT,
                      "HEIC is made of pictures with %" PRIu64 " pixels in all, too many for one whose "
                      "largest has %" PRIu64,
                      item->work, check->largest);
}

struct tiling {
    uint64_t rows, columns, width, height;
};

static bool read_grid(struct bytes data, struct tiling *grid) {
    if (data.size < TILED_HEAD) {
        return false;
    }
    unsigned size = data.data[1] & 1 ? 4 : 2;
    *grid = (struct tiling){.rows = data.data[2] + 1u, .columns = data.data[3] + 1u};
    data.data += TILED_HEAD, data.size -= TILED_HEAD;
    return bmff_number(&data, size, &grid->width) && bmff_number(&data, size, &grid->height);
}

/* Tiles are alike, cover the picture, and none lies outside. */
static enum status check_grid(const struct check *check, const struct bmff_item *item, struct bytes ids,
                              struct error *err) {
    struct tiling grid;
    uint32_t id = 0;
    uint64_t count = 0, width = 0, height = 0;
    if (!read_grid(item->data, &grid)) {
        return fail(err, ST_CORRUPT, "HEIC is damaged or cut short: it lacks the description of its tiles");
    }
    bool alike = true;
    for (; bmff_items_next_id(&check->items, &ids, &id); count++) {
        const struct bmff_item *tile = bmff_items_find(&check->items, id);
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

/* libheif makes the canvas as large as the data of the overlay say. */
static enum status check_overlay(const struct check *check, const struct bmff_item *item, struct error *err) {
    struct bytes data = item->data;
    uint64_t width = 0, height = 0;
    unsigned size = data.size > OVERLAY_HEAD && data.data[1] & 1 ? 4 : 2;
    if (data.size > OVERLAY_HEAD) {
        data.data += OVERLAY_HEAD, data.size -= OVERLAY_HEAD;
        bmff_number(&data, size, &width), bmff_number(&data, size, &height);
    }
    if (width == 0 || height == 0 || width != item->width || height != item->height) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: its overlay is not of the stated %u x %u pixels",
                    item->width, item->height);
    }
    return limits_check_size(item->width, item->height, check->limits, err);
}

static enum status check_sources(struct check *check, const struct bmff_item *item, size_t count,
                                 unsigned depth, struct error *err) {
    if (count == 0 || (item->type == bmff_type("iden") && count != 1)) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: the pictures that its picture is made of are missing");
    }
    check->sources += count;
    if (depth == DEPTH_MAX || check->sources > SOURCES_MAX) {
        return fail(err, ST_LIMIT, "HEIC is made of too many pictures: over %d, or %d deep", SOURCES_MAX,
                    DEPTH_MAX);
    }
    return item->type == bmff_type("grid")   ? check_grid(check, item, item->sources, err)
           : item->type == bmff_type("iovl") ? check_overlay(check, item, err)
                                             : ST_OK;
}

static enum status visit_derived(struct check *check, struct bmff_item *item, unsigned depth,
                                 struct error *err) {
    struct bytes ids = item->sources;
    size_t count = ids.size / (check->items.wide_references ? 4 : 2);
    enum status status = check_sources(check, item, count, depth, err);
    uint32_t id = 0;
    bool gray = true;
    uint8_t halved = UINT8_MAX; /* of no source yet */
    while (status == ST_OK && bmff_items_next_id(&check->items, &ids, &id)) {
        status = visit(check, id, depth + 1, err);
        if (status == ST_OK) {
            const struct bmff_item *source = bmff_items_find(&check->items, id);
            gray = gray && source->gray;
            halved = halved == UINT8_MAX || halved == source->halved ? source->halved : 0;
            item->work += source->work;
            item->coded += source->coded;
            item->levels = source->levels > item->levels ? source->levels : item->levels;
        }
    }
    bool overlay = item->type == bmff_type("iovl"); /* it has a background, in RGB */
    item->gray = gray && !overlay;
    item->halved = overlay ? 0 : halved;
    return status;
}

/* Visits an item once, however many refer to it, and adds up what libheif decodes again for each. Recurses at
 * most DEPTH_MAX times. */
static enum status visit(struct check *check, uint32_t id, unsigned depth, struct error *err) {
    struct bmff_item *item = bmff_items_find(&check->items, id);
    if (!item) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: it refers to item %" PRIu32 ", which it lacks", id);
    }
    if (check->alpha && item->has_alpha) {
        return fail(err, ST_CORRUPT, "HEIC is damaged: its alpha plane has an alpha plane itself");
    }
    bool derived =
        item->type == bmff_type("grid") || item->type == bmff_type("iden") || item->type == bmff_type("iovl");
    if (item->levels > 0) {
        return depth + item->levels <= DEPTH_MAX + 1
                   ? ST_OK
                   : fail(err, ST_LIMIT, "HEIC is made of pictures that are over %d deep", DEPTH_MAX);
    }
    enum status status = derived ? visit_derived(check, item, depth, err) : visit_coded(check, item, err);
    item->levels++;
    item->work += item->alpha_work;
    item->coded += item->alpha_coded;
    return status == ST_OK ? check_work(check, item, err) : status;
}

/* libheif decodes the alpha of a picture wherever it decodes the picture. */
static void add_alpha_work(struct check *check) {
    struct bmff_box box;
    uint32_t from, to;
    for (struct bytes boxes = check->items.references;
         bmff_items_reference(&check->items, &boxes, &box, &from);) {
        const struct bmff_item *alpha = bmff_items_find(&check->items, from);
        bool belongs = alpha && alpha->is_alpha && box.type == bmff_type("auxl");
        while (belongs && bmff_items_next_id(&check->items, &box.body, &to)) {
            struct bmff_item *owner = bmff_items_find(&check->items, to);
            if (owner) {
                owner->alpha_work += alpha->work;
                owner->alpha_coded += alpha->coded;
            }
        }
    }
}

/* Auxiliary pictures of other kinds are not decoded. */
static enum status visit_alphas(struct check *check, struct error *err) {
    enum status status = ST_OK;
    check->alpha = true;
    for (size_t i = 0; i < check->items.count && status == ST_OK; i++) {
        const struct bmff_item *item = &check->items.item[i];
        status = item->is_alpha ? visit(check, item->id, 1, err) : ST_OK;
    }
    check->alpha = false;
    add_alpha_work(check);
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
    enum status status = bmff_items_read(&check->items, input, "HEIC", err);
    if (status == ST_OK) {
        status = visit_alphas(check, err);
    }
    if (status == ST_OK) {
        status = visit(check, check->items.primary, 0, err);
    }
    if (status == ST_OK) {
        const struct bmff_item *primary = bmff_items_find(&check->items, check->items.primary);
        facts->gray = primary->gray;
        facts->halved = primary->halved;
        facts->losses = bmff_items_losses(&check->items);
        facts->gain_map = bmff_items_have_gain_map(&check->items);
        bmff_light_read(&check->items, &facts->light);
    }
    return status;
}

enum status heic_check(struct bytes input, const struct codec_limits *limits, struct heic_facts *facts,
                       struct buf *mended, struct error *err) {
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
    status = status == ST_OK ? heic_references_mend(&check.items, mended, err) : status;
    bmff_items_finish(&check.items);
    return status;
}
