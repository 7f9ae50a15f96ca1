/* SPDX-License-Identifier: MIT */
#include "gpu/wire/wire.h"

#include <stdbool.h>

/* One day exceeds every real duration, and sums of days do not overflow. */
static const int64_t longest_ns = INT64_C(86400) * 1000000000;

static bool is_duration(int64_t ns) {
    return ns >= 0 && ns <= longest_ns;
}

static bool end_error(struct error *error) {
    error->text[sizeof error->text - 1] = '\0';
    error->parameter[sizeof error->parameter - 1] = '\0';
    return (unsigned)error->status < ST_COUNT;
}

static bool end_device(struct wire_device *device) {
    device->name[sizeof device->name - 1] = '\0';
    device->how[sizeof device->how - 1] = '\0';
    return is_duration(device->context_ns) && is_duration(device->compile_ns) && is_duration(device->load_ns);
}

enum status wire_ready_check(struct wire_ready *ready, struct error *err) {
    bool fine = end_error(&ready->error) && is_duration(ready->driver_ns) &&
                ready->device_count <= WIRE_DEVICES_MAX && ready->pictures <= WIRE_PICTURES_MAX &&
                ready->closed <= 1;
    for (unsigned i = 0; i < WIRE_DEVICES_MAX; i++) {
        fine = end_device(&ready->device[i]) && fine;
    }
    return fine ? ST_OK : fail(err, ST_DEVICE, "invalid report from the engine");
}

enum status wire_done_check(struct wire_done *done, const struct wire_run *run, struct error *err) {
    const struct lane_timing *timing = &done->timing;
    bool fine = end_error(&done->error) && is_duration(timing->upload_ns) && is_duration(timing->filter_ns) &&
                is_duration(timing->download_ns) && timing->unit >= -1 && done->size <= run->jpeg.room;
    return fine ? ST_OK : fail(err, ST_DEVICE, "invalid reply from the engine");
}
