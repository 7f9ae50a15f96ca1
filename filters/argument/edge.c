/* SPDX-License-Identifier: MIT */
#include "filters/argument/edge.h"

const char *const edge_names[] = {
    [EDGE_CLAMP] = "clamp", [EDGE_MIRROR] = "mirror", [EDGE_WRAP] = "wrap", [EDGE_ZERO] = "zero", NULL};
const char *const edge_names_frame[] = {
    [EDGE_CLAMP] = "clamp", [EDGE_MIRROR] = "mirror", [EDGE_WRAP] = "wrap",
    [EDGE_ZERO] = "zero",   [EDGE_FRAME] = "frame",   NULL};

static ptrdiff_t modulo(ptrdiff_t value, ptrdiff_t period) {
    ptrdiff_t rest = value % period;
    return rest < 0 ? rest + period : rest;
}

ptrdiff_t edge_source(enum edge edge, ptrdiff_t size, ptrdiff_t at) {
    if (at >= 0 && at < size) {
        return at;
    }
    ptrdiff_t last = size - 1;
    if (edge == EDGE_ZERO || edge == EDGE_FRAME) {
        return OUTSIDE;
    }
    if (edge == EDGE_CLAMP || last == 0) {
        return at < 0 ? 0 : last;
    }
    if (edge == EDGE_WRAP) {
        return modulo(at, size);
    }
    at = modulo(at, 2 * last);
    return at <= last ? at : 2 * last - at;
}
