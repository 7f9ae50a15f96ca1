/* SPDX-License-Identifier: MIT
 * The samples of the self-test, one for each kind of work that a device does with JPEGs. */
#ifndef BLURD_SERVER_PROCESS_TRANSCODE_RECIPE_H
#define BLURD_SERVER_PROCESS_TRANSCODE_RECIPE_H

#include "filters/backend.h"
#include "filters/filter.h"

struct transcode_recipe {
    struct image_shape shape; /* as stored */
    enum filter_id filter;
    union filter_arguments arguments;
    uint8_t quality, orientation;
    bool optimal;
    bool progressive;      /* the input; its coefficients are handed over, or */
    bool scans;            /* the device reads its scans */
    bool restarts;         /* the input has a restart marker after each row of MCUs; not optimal tables */
    const char *region[2]; /* the filter changes nothing else; NULL: none */
    double feather;        /* of the regions; 0: they are redacted */
    bool ring;             /* with the ring around each */
    bool patch;            /* blocks outside of the regions stay as they are in the input */
    enum transcode_colours colours;
    bool decoded; /* the input is a picture in RGB, and no file; `shape` is its shape */
    bool pixels;  /* so is the result, whose rows have no padding */
};

/* Recipe `number`, from 0; NULL after the last one. */
const struct transcode_recipe *transcode_recipe(unsigned number);

#endif
