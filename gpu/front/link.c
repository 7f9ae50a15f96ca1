/* SPDX-License-Identifier: MIT */
#include "gpu/front/link.h"

#include <stdatomic.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/orient.h"
#include "core/process/channel.h"
#include "filters/backend.h"

int64_t link_bytes(const struct wire_run *run) {
    struct image_shape source = run->shape;
    if (run->jpeg.size > 0) {
        source = transcode_read(&source, (enum transcode_colours)run->jpeg.colours);
        source = orient_shape(&source, run->jpeg.orientation);
    }
    return (int64_t)chain_largest(&run->chain, &source);
}

int64_t link_timeout_ms(const struct link_timeout *timeout, int64_t bytes) {
    const double least = (double)timeout->least_ms, most = (double)timeout->most_ms;
    const double ms = least * ((double)bytes / LINK_TIMEOUT_BYTES);
    return (int64_t)(ms <= least || most <= least ? least : ms < most ? ms : most);
}

static enum status await(struct engine_link *link, const struct link_timeout *timeout, int64_t ended,
                         struct wire_done *done, struct error *err) {
    const int64_t begin = clock_ns();
    int64_t waited = 0;
    enum status status = ST_TIMEOUT;
    while (status == ST_TIMEOUT) {
        int64_t most = link_timeout_ms(timeout, atomic_load(&timeout->begun) - ended);
        if (waited >= most) {
            return fail(err, status, "no answer within %lld ms", (long long)waited);
        }
        status = channel_receive(link->socket, done, sizeof *done, WIRE_DONE, NULL, most - waited, err);
        waited = (clock_ns() - begin) / 1000000;
    }
    return status;
}

static enum status run_in_process(struct engine_link *link, struct wire_run *run, int slot,
                                  struct link_timeout *timeout, struct wire_done *done, struct error *err) {
    const int64_t bytes = link_bytes(run), ended = atomic_load(&timeout->ended);
    atomic_fetch_add(&timeout->begun, bytes);
    enum status status = channel_send(link->socket, run, sizeof *run, WIRE_RUN, slot, err);
    if (status == ST_OK && run->jpeg.size == 0) {
        channel_ask(link->socket);
    }
    status = status == ST_OK ? await(link, timeout, ended, done, err) : status;
    atomic_fetch_add(&timeout->ended, bytes);
    return status;
}

enum status link_run(struct engine_link *link, struct wire_run *run, struct slot *slot,
                     struct link_timeout *timeout, struct wire_done *done, struct error *err) {
    enum status status = ST_OK;
    int fd = slot_lend(slot);
    if (fd < 0) {
        return fail(err, ST_UNSUPPORTED, "the memory of this run is the daemon's alone");
    }
    run->slot_serial = slot->serial;
    run->slot_generation = slot->generation;
    run->slot_span = slot_span(slot);
    if (link->session) {
        engine_run(link->session, run, dup(fd), done);
    } else {
        status = run_in_process(link, run, fd, timeout, done, err);
    }
    status = status == ST_OK ? wire_done_check(done, run, err) : status;
    if (status == ST_OK && done->error.status != ST_OK) {
        status = fail(err, done->error.status, "%s", done->error.text);
    }
    return status;
}

static void send_mask(struct wire_run *run, const struct transcode *job) {
    const struct transcode_mask *mask = job->mask;
    if (mask) {
        run->jpeg.masked = 1;
        run->jpeg.plan = mask->plan;
        run->jpeg.rects = (uint64_t)((const uint8_t *)mask->rects - job->slot->memory);
        run->mask = mask->weights ? (uint64_t)(mask->weights - job->slot->memory) : WIRE_NO_MASK;
    }
}

struct wire_run link_transcode(const struct transcode *job, uint64_t picture) {
    struct wire_run run = {
        .source = (uint64_t)(job->input.data - job->slot->memory),
        .target = (uint64_t)(job->output - job->slot->memory),
        .mask = WIRE_NO_MASK,
        .shape = job->shape,
        .jpeg = {.size = job->input.size,
                 .room = job->room,
                 .picture = picture,
                 .orientation = job->orientation,
                 .quality = job->quality,
                 .optimal = job->optimal,
                 .patch = job->patch,
                 .form = (uint8_t)job->form,
                 .colours = (uint8_t)job->colours,
                 .pixels = job->pixels},
        .chain = *job->chain,
    };
    send_mask(&run, job);
    return run;
}

void link_close(struct engine_link *link) {
    if (link->socket >= 0) {
        close(link->socket);
    }
    engine_session_destroy(link->session);
    *link = LINK_NONE;
}
