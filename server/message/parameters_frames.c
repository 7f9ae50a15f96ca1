/* SPDX-License-Identifier: MIT */
#include "server/message/parameters_frames.h"

#include <string.h>

#include "filters/argument/value.h"

/* "3" or "0-9". */
static enum status parse_frames(const struct argument *row, const char *text, void *field,
                                struct error *err) {
    struct frame_range *range = field;
    char quoted[VALUE_QUOTE_MAX], first[VALUE_QUOTE_MAX] = "";
    const char *dash = strchr(text, '-');
    const size_t size = dash ? (size_t)(dash - text) : strlen(text);
    double from = 0, to = 0;
    if (size < sizeof first) {
        memcpy(first, text, size);
    }
    bool fine = value_number(first, false, &from) && value_number(dash ? dash + 1 : first, false, &to) &&
                from >= 0 && from <= to && to <= FRAME_LAST && from == (uint32_t)from && to == (uint32_t)to;
    if (!fine) {
        return fail_argument(err, row->name, "%s is %s, it must be a frame or a range such as 0-9, up to %d",
                             row->name, value_quote(text, quoted), FRAME_LAST);
    }
    *range = (struct frame_range){(uint32_t)from, (uint32_t)to};
    return ST_OK;
}

const struct argument parameters_frames[] = {
    {.name = "detect_hold",
     .type = ARGUMENT_WHOLE,
     .offset = offsetof(struct parameters, detect.hold),
     .minimum = 0,
     .maximum = DETECT_HOLD_MAX,
     .initial = DETECT_HOLD_USUAL,
     .unit = " frames",
     .help = "What is found in a frame of an animation or of a series is hidden in so many frames before and "
             "behind it, too. Of no effect on a still picture. Needs `detect`."},
    {.name = "frames",
     .type = ARGUMENT_PARSED,
     .offset = offsetof(struct parameters, input.frames),
     .parse = parse_frames,
     .form = "a frame or a range",
     .example = "0-9",
     .without = "all frames",
     .help = "Takes these frames of an animation: `3`, or `0-9` for the first ten. A range may go beyond the "
             "last frame, but may not begin there."},
    {0},
};
