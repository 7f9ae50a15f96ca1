/* SPDX-License-Identifier: MIT */
#include "filters/argument/fill.h"

#include <string.h>

#include "filters/argument/colour.h"
#include "filters/argument/value.h"

enum status fill_parse(struct fill *fill, const char *name, const char *text, struct error *err) {
    struct fill parsed = {.kind = FILL_COLOUR};
    if (strcmp(text, "mean") == 0) {
        parsed.kind = FILL_MEAN;
    } else if (strcmp(text, "tiles") == 0) {
        parsed = (struct fill){.kind = FILL_MEAN, .tiles = 1};
    } else if (strcmp(text, "blur") == 0) {
        return fail_argument(
            err, name, "%s is blur, which hides nothing for good; /blur with the same regions blurs them",
            name);
    } else if (strcmp(text, "ring") == 0) {
        parsed = (struct fill){.kind = FILL_RING, .colour = {0, 0, 0, 255}};
    } else if (!colour_parse(text, parsed.colour)) {
        char quoted[VALUE_QUOTE_MAX];
        return fail_argument(err, name,
                             "%s is %s, it must be mean, ring, tiles, or a colour as rrggbb or rrggbbaa",
                             name, value_quote(text, quoted));
    }
    *fill = parsed;
    return ST_OK;
}
