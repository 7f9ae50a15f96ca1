/* SPDX-License-Identifier: MIT
 * One entry of a list of regions (filters/argument/region_list.h). */
#ifndef BLURD_FILTERS_ARGUMENT_REGION_ENTRY_H
#define BLURD_FILTERS_ARGUMENT_REGION_ENTRY_H

#include "core/json/json_reader.h"
#include "filters/argument/region_keep.h"

enum {
    REGION_ENTRY_LABELS_MAX = 16,
    REGION_ENTRY_LABEL_MAX = 64,   /* bytes, with a zero */
    REGION_ENTRY_MARGIN_MAX = 500, /* percent */
};

/* What the document says about all its entries. */
struct region_entry_rules {
    enum region_unit unit;
    double margin; /* percent */
    double threshold;
    bool thresholded; /* leave out entries with a lower score */
    bool chosen;      /* leave out entries with a label that is not in the list */
    unsigned labels;
    char label[REGION_ENTRY_LABELS_MAX][REGION_ENTRY_LABEL_MAX];
};

/* Reads entry number `entry`, counted from 1, and appends it to the set, or to what is kept, unless the rules
 * leave it out. ST_ARGUMENT names the entry and what is wrong. */
enum status region_entry_read(struct region_set *set, struct region_keep *keep, struct json_reader *reader,
                              const struct region_entry_rules *rules, unsigned entry, struct error *err);

/* Makes a box or ellipse (x, y, w, h) larger by so many percent of its width and height on each side. */
void region_entry_grow(double number[4], double margin);

#endif
