/* SPDX-License-Identifier: MIT
 * Messages between the front and the engine process, as core/process/channel.h sends them. The receiver
 * checks every field, since the sender may be compromised or faulty.
 *
 * The engine inherits the *control* socket as WIRE_CONTROL_FD. It sends READY once, and the front sends
 * SESSION with one end of a new *session* socket. There the front sends RUN with the slot's memfd, and the
 * engine answers DONE. Closing a socket ends the conversation. The front sends the spawner
 * (gpu/front/spawner.h) START with an engine's lifeline. On the lifeline follow CONTROL, shaped like
 * SESSION, with the control socket, and then PROVEN. Only the front sends descriptors. */
#ifndef BLURD_GPU_WIRE_WIRE_H
#define BLURD_GPU_WIRE_WIRE_H

#include <stdint.h>

#include "core/image.h"
#include "core/process/channel.h"
#include "core/status.h"
#include "filters/backend.h"
#include "filters/chain.h"

enum { WIRE_CONTROL_FD = 3, WIRE_DEVICES_MAX = 16, WIRE_PICTURES_MAX = 4096 };

#define WIRE_NO_MASK UINT64_MAX

enum wire_kind { WIRE_READY = 1, WIRE_SESSION, WIRE_RUN, WIRE_DONE, WIRE_START, WIRE_CONTROL, WIRE_PROVEN };

/* Start-up times of a device, and how its program was loaded. */
struct wire_device {
    char name[64];
    char how[48];
    int64_t context_ns, compile_ns, load_ns;
};

struct wire_ready {
    struct channel_head head;
    struct error error; /* ST_OK: the devices serve; else the reason why none does */
    int64_t driver_ns;  /* opening the driver, cuInit included */
    uint32_t device_count;
    uint32_t pictures; /* JPEGs in progress on all devices, at most; 0: none */
    uint32_t closed;   /* 1: the engine is in its sandbox (gpu/engine/engine_sandbox.h) */
    uint32_t reserved;
    struct wire_device device[WIRE_DEVICES_MAX];
};

struct wire_session {
    struct channel_head head; /* one descriptor comes with it */
};

struct wire_start {
    struct channel_head head; /* one descriptor comes with it: the lifeline */
    uint32_t open;            /* 1: starts without a sandbox, where the spawner permits that */
    uint32_t reserved;
};

/* The engine serves inside its sandbox. From then on the spawner starts no engine without one. */
struct wire_proven {
    struct channel_head head;
};

/* A run from JPEG to JPEG. wire_run's `source` and `target` are the offsets of the files, `mask` that of the
 * weights; without a mask of weights it is WIRE_NO_MASK. */
struct wire_transcode {
    uint64_t size; /* of the source file; 0: a run from pixels to pixels */
    uint64_t room;
    uint64_t
        picture;    /* names the decoded picture: a search keeps it, a run without one may find it; 0: none */
    uint64_t rects; /* offset of plan.rects + plan.rings struct mask_plan_rect */
    struct mask_plan plan; /* with `masked` */
    uint8_t masked;        /* 1: there is a plan */
    uint8_t orientation;   /* undone before the chain runs */
    uint8_t quality;
    uint8_t optimal; /* 1: with Huffman tables of the result's own */
    uint8_t patch;   /* 1: blocks that the mask does not touch are kept */
    uint8_t form;    /* of the source: enum transcode_form */
    uint8_t colours; /* enum transcode_colours */
    uint8_t pixels;  /* 1: the result is a picture */
};

struct wire_run {
    struct channel_head head; /* one descriptor comes with it: the slot's memfd */
    uint64_t slot_serial;
    uint64_t slot_generation; /* changes when the slot gave memory back; the engine must register it again */
    uint64_t slot_span;       /* bytes in use, all backed by memory */
    uint64_t source, target;  /* offsets of the pictures in the slot */
    uint64_t mask;            /* of the mask, or of its weights; WIRE_NO_MASK: none */
    struct image_shape shape; /* of the source; the chain determines the target's */
    struct wire_transcode jpeg;
    struct chain chain;
};

struct wire_done {
    struct channel_head head;
    struct error error; /* status as of gpu_chain_run */
    struct lane_timing timing;
    uint64_t size; /* of the resulting JPEG */
};

/* Check a message from the engine before the front uses it, and terminate its strings. `run` is the request.
 * ST_DEVICE for values that no intact engine sends. */
enum status wire_ready_check(struct wire_ready *ready, struct error *err);
enum status wire_done_check(struct wire_done *done, const struct wire_run *run, struct error *err);

#endif
