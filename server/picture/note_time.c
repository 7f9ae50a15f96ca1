/* SPDX-License-Identifier: MIT */
#include "server/picture/note_time.h"

#include "codecs/process/codec_link.h"
#include "core/clock.h"
#include "core/crew.h"
#include "server/request.h"
#include "server/service.h"

/* Only differences matter. */
struct note_time note_time_begin(const struct request *request, struct worker *worker) {
    struct note_time now = {.begun_ns = clock_ns(),
                            .computed_ns = clock_thread_ns() + crew_helped_ns() +
                                           codec_link_computed_ns(worker->codecs)};
    for (unsigned i = 0; i < request->service->backend_count; i++) {
        now.device_ns += worker->lane[i] ? worker->lane[i]->device_ns : 0;
    }
    return now;
}

void note_time_end(const struct note_time *begun, struct request *request, struct worker *worker) {
    const struct note_time now = note_time_begin(request, worker);
    struct outcome *outcome = &request->outcome;
    outcome->computed_ns = now.computed_ns - begun->computed_ns;
    outcome->idle_ns =
        now.begun_ns - begun->begun_ns - outcome->computed_ns - (now.device_ns - begun->device_ns);
}
