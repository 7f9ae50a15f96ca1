/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_pages.h"

#include "codecs/metadata/losses.h"

enum {
    REDUCED = 1, /* bits of NewSubfileType */
    MASK = 4,
    LOOKED_AT = 32, /* entries that are searched for it: they are in the order of their tags */
};

struct pages {
    uint32_t count; /* directories up to here */
    uint32_t whole; /* of these, pages: neither smaller versions nor masks */
    uint64_t first; /* offset of the first whole one */
};

/* Whether the directory is a smaller version or a mask of another one. */
static bool is_part(const struct tiff_directory *directory) {
    struct tiff_directory start = *directory;
    start.count = start.count < LOOKED_AT ? start.count : LOOKED_AT;
    return (tiff_directory_value(&start, TIFF_TAG_SUBFILE, 0) & (REDUCED | MASK)) != 0;
}

static enum status fail_outside(uint32_t page, struct error *err) {
    return fail(err, ST_CORRUPT,
                "TIFF is damaged or cut short: the directory of page %u does not lie in the file", page);
}

static enum status go_to(struct tiff_directory *directory, uint32_t page, struct error *err) {
    for (uint32_t i = 0; i <= page; i++) {
        if (directory->next == 0) {
            return fail_argument(err, "page",
                                 "'page' is %u; this TIFF has %u page%s, of which the first is 0", page, i,
                                 i == 1 ? "" : "s");
        }
        if (!tiff_directory_go(directory, directory->next)) {
            return fail_outside(i, err);
        }
    }
    return ST_OK;
}

static enum status count_pages(struct tiff_directory directory, struct pages *pages, struct error *err) {
    while (directory.next != 0) {
        uint64_t offset = directory.next;
        if (pages->count == TIFF_PAGES_MAX) {
            return fail(err, ST_LIMIT, "TIFF has over %d pages, or its directories form a circle",
                        TIFF_PAGES_MAX);
        }
        if (!tiff_directory_go(&directory, offset)) {
            return fail_outside(pages->count, err);
        }
        pages->count++;
        if (!is_part(&directory)) {
            pages->first = pages->whole == 0 ? offset : pages->first;
            pages->whole++;
        }
    }
    return ST_OK;
}

static enum status go_to_only(struct tiff_directory *directory, unsigned *losses, struct error *err) {
    struct pages pages = {0};
    enum status status = count_pages(*directory, &pages, err);
    if (status != ST_OK) {
        return status;
    }
    if (pages.count == 0) {
        return fail(err, ST_CORRUPT, "TIFF is damaged: it has no directory");
    }
    if (pages.whole == 0) {
        return fail(
            err, ST_UNSUPPORTED,
            "TIFF has only smaller versions of its picture, as camera raw files have; page=0 takes the "
            "first one");
    }
    if (pages.whole > 1) {
        return fail(err, ST_UNSUPPORTED, "TIFF has %u pages; page=0 to page=%u takes one of them",
                    pages.count, pages.count - 1);
    }
    *losses |= pages.count > 1 ? LOSS_THUMBNAIL : 0;
    return tiff_directory_go(directory, pages.first) ? ST_OK : fail_outside(0, err);
}

enum status tiff_pages_choose(struct tiff_directory *directory, const struct codec_limits *limits,
                              unsigned *losses, struct error *err) {
    if (!limits->first_frame) {
        return go_to_only(directory, losses, err);
    }
    enum status status = go_to(directory, limits->page, err);
    *losses |= limits->page > 0 || directory->next != 0 ? LOSS_PICTURES : 0;
    return status;
}
