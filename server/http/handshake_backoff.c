/* SPDX-License-Identifier: MIT */
#include "server/http/handshake_backoff.h"

#include "core/clock.h"

enum {
    REST = 4, /* times as long as the round took */
    REST_MAX_MS = 20,
};

void handshake_backoff_begin(struct handshake_backoff *backoff) {
    backoff->moved = false;
    backoff->begin = clock_ns();
}

int64_t handshake_backoff_wait(const struct handshake_backoff *backoff, int64_t ms) {
    if (ms != 0 || backoff->moved || backoff->handshakes == 0) {
        return ms;
    }
    int64_t rest = (clock_ns() - backoff->begin) * REST / 1000000 + 1;
    return rest < REST_MAX_MS ? rest : REST_MAX_MS;
}
