/* SPDX-License-Identifier: MIT */
#include "core/deadline.h"

#include "core/clock.h"

int64_t deadline_left(int64_t deadline_ns) {
    if (deadline_ns == 0) {
        return INT64_MAX;
    }
    int64_t now = clock_ns();
    return now < deadline_ns ? deadline_ns - now : 0;
}

enum status deadline_check(int64_t deadline_ns, struct error *err) {
    return deadline_left(deadline_ns) > 0
               ? ST_OK
               : fail(err, ST_LIMIT, "the picture takes longer than the time limit");
}
