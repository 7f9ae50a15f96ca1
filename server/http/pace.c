/* SPDX-License-Identifier: MIT */
#include "server/http/pace.h"

#include "core/clock.h"

enum {
    REST = 4, /* times as long as the round took */
    REST_MAX_MS = 20,
};

void pace_begin(struct pace *pace) {
    pace->moved = false;
    pace->begin = clock_ns();
}

int64_t pace_wait(const struct pace *pace, int64_t ms) {
    if (ms != 0 || pace->moved || pace->handshakes == 0) {
        return ms;
    }
    int64_t rest = (clock_ns() - pace->begin) * REST / 1000000 + 1;
    return rest < REST_MAX_MS ? rest : REST_MAX_MS;
}
