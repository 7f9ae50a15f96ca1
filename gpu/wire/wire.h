/* SPDX-License-Identifier: MIT
 * The messages between the front and the engine process: of fixed size, over SOCK_SEQPACKET sockets, one
 * message in each packet. Both ends are the same binary, so plain structs travel. The receiver checks every
 * field all the same, since the sender may be compromised or failing.
 *
 * Two kinds of socket. The *control* socket is inherited as WIRE_CONTROL_FD: the engine
 * says READY or FAILED once, the front sends SESSION with one end of a new socket. On a
 * *session* socket the front sends RUN with the slot's memfd, and the engine answers DONE.
 * Either side closing its end is the only farewell. Between the front and the spawner
 * (gpu/front/spawner.h) START travels with an engine's lifeline, and CONTROL, on the lifeline, with its
 * control socket, in the shape of SESSION; PROVEN follows. Descriptors travel away from the front only. */
#ifndef BLURD_GPU_WIRE_WIRE_H
#define BLURD_GPU_WIRE_WIRE_H

#include <stdint.h>

#include "core/image.h"
#include "core/status.h"
#include "filters/backend.h"
#include "filters/chain.h"

enum { WIRE_MAGIC = 0x44525542, WIRE_CONTROL_FD = 3, WIRE_DEVICES_MAX = 16, WIRE_PICTURES_MAX = 4096 };

#define WIRE_NO_MASK UINT64_MAX

enum wire_kind { WIRE_READY = 1, WIRE_SESSION, WIRE_RUN, WIRE_DONE, WIRE_START, WIRE_CONTROL, WIRE_PROVEN };

struct wire_head {
    uint32_t magic; /* WIRE_MAGIC */
    uint32_t kind;  /* enum wire_kind */
    uint64_t size;  /* of the whole message */
};

/* How long a device took to start, in nanoseconds, and how its program was loaded. */
struct wire_device {
    char name[64];
    char how[48];
    int64_t context_ns, compile_ns, load_ns;
};

struct wire_ready {
    struct wire_head head;
    struct error error; /* status ST_OK: the devices serve; else why there are none */
    int64_t driver_ns;  /* opening the driver, cuInit included */
    uint32_t device_count;
    uint32_t pictures; /* JPEGs that may be under way at the same time, of all devices; 0: none */
    uint32_t closed;   /* 1: the engine is in its sandbox (gpu/engine/engine_sandbox.h) */
    uint32_t reserved;
    struct wire_device device[WIRE_DEVICES_MAX];
};

struct wire_session {
    struct wire_head head; /* one descriptor comes with it */
};

struct wire_start {
    struct wire_head head; /* one descriptor comes with it: the lifeline */
    uint32_t open;         /* 1: without its sandbox, where the spawner allows that */
    uint32_t reserved;
};

/* On the lifeline: the engine serves, in its sandbox. The spawner starts no other kind from then on. */
struct wire_proven {
    struct wire_head head;
};

/* A run from JPEG to JPEG. `source` of the run is then the offset of the file, and `target` that of the
 * result; there is no mask. */
struct wire_transcode {
    uint64_t size; /* of the file; 0: a run from pixels to pixels */
    uint64_t room;
    uint8_t orientation; /* to be undone; then the chain */
    uint8_t quality;
};

struct wire_run {
    struct wire_head head;    /* one descriptor comes with it: the slot's memfd */
    uint64_t slot_serial;     /* which slot */
    uint64_t slot_generation; /* changes when memory was given back: register anew */
    uint64_t slot_span;       /* bytes of the slot that matter, all backed by memory */
    uint64_t source, target;  /* offsets of the pictures in the slot */
    uint64_t mask;            /* of the mask; WIRE_NO_MASK: none */
    struct image_shape shape; /* of the source; that of the target follows from the chain */
    struct wire_transcode jpeg;
    struct chain chain;
};

struct wire_done {
    struct wire_head head;
    struct error error; /* status as of gpu_chain_run */
    struct lane_timing timing;
    uint64_t size; /* of the JPEG that was made */
};

/* Check an engine's message before the front uses it: statuses exist, texts are terminated here, numbers are
 * in range. `run` is the request. ST_DEVICE for a message that no intact engine sends. */
enum status wire_ready_check(struct wire_ready *ready, struct error *err);
enum status wire_done_check(struct wire_done *done, const struct wire_run *run, struct error *err);

#endif
