/* SPDX-License-Identifier: MIT */
#include "server/picture/time_spent.h"

#include "codecs/process/codec_link.h"
#include "core/clock.h"
#include "core/crew.h"
#include "server/request.h"
#include "server/service.h"

struct time_spent time_spent_begin(const struct request *request, struct worker *worker) {
    struct time_spent now = {.now_ns = clock_ns(),
                             .computed_ns = clock_thread_ns() + crew_helped_ns() +
                                            codec_link_computed_ns(worker->codecs)};
    for (unsigned i = 0; i < request->service->backend_count; i++) {
        now.device_ns += worker->lane[i] ? worker->lane[i]->device_ns : 0;
    }
    return now;
}

void time_spent_end(const struct time_spent *begun, struct request *request, struct worker *worker) {
    const struct time_spent now = time_spent_begin(request, worker);
    struct outcome *outcome = &request->outcome;
    outcome->computed_ns = now.computed_ns - begun->computed_ns;
    outcome->idle_ns = now.now_ns - begun->now_ns - outcome->computed_ns - (now.device_ns - begun->device_ns);
}
