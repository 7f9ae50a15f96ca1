/* SPDX-License-Identifier: MIT
 * One worker's connection to a process that runs isolated codecs: those whose libraries count no memory and
 * know no deadline. It serves one call after the other. It ends at its deadline or with a fault of the
 * library, and when it was idle for half a minute; the next call starts another one.
 *
 * A picture may take over the process. So it never maps a slot that the daemon works on: files and pictures
 * are copied through an exchange, a slot of kind SLOT_EXCHANGE that the daemon and this process alone map.
 * It is made for the process and ends with it. The daemon takes nothing from it but the samples of the
 * picture in progress, after the answer (docs/adr/0061). */
#ifndef BLURD_CODECS_PROCESS_CODEC_LINK_H
#define BLURD_CODECS_PROCESS_CODEC_LINK_H

#include "codecs/definition.h"
#include "core/slot.h"

struct frame;

struct codec_link;
struct codec_spawner;

/* Starts nothing yet. The spawner and the pool of the exchange must outlive the link. ST_BUSY without memory.
 */
enum status codec_link_create(struct codec_link **link, struct codec_spawner *spawner, struct slot_pool *pool,
                              struct error *err);

/* Ends the process, if there is one. NULL is allowed. */
void codec_link_destroy(struct codec_link *link);

/* Ends a request: releases the memory of the exchange, with all that it held, and ends a process that still
 * has a decoder or an encoder of frames. A NULL link is allowed. */
void codec_link_clear(struct codec_link *link);

/* The most bytes of the exchange for a file and a picture of that shape. */
size_t codec_link_exchange_bytes(size_t file, const struct image_shape *shape);

/* Like the functions of struct codec, with the memory that the library may take; one thread at a time. Beside
 * their errors: ST_LIMIT when the library needs more memory or time; ST_CORRUPT, of an encoder ST_INTERNAL,
 * when the process dies or answers what no codec would; ST_BUSY when none can be started, or without memory
 * for the exchange. The process is gone then. */
enum status codec_link_probe(struct codec_link *link, enum codec_id id, struct bytes input,
                             const struct codec_limits *limits, struct picture *picture, struct error *err);
enum status codec_link_decode(struct codec_link *link, const struct picture *picture, struct bytes input,
                              const struct codec_limits *limits, size_t memory, const struct image *image,
                              struct error *err);
enum status codec_link_encode(struct codec_link *link, enum codec_id id, const struct image *image,
                              const struct encode_options *options, size_t memory,
                              const struct metadata *metadata, struct buf *output, struct error *err);

enum status codec_link_repack(struct codec_link *link, enum codec_id id, struct bytes input,
                              const struct codec_limits *limits, size_t memory, struct buf *output,
                              struct error *err);

struct codec_frame_call {
    enum codec_id codec;
    bool first;    /* opens the decoder, which stays in the process until codec_link_clear */
    size_t memory; /* that the decoder may take for all frames together */
};

/* The next frame by struct codec_sequence (codecs/frames.h), and its time. The process copies the file, and
 * needs it with the first frame alone. Between two frames others may be encoded, and pictures decoded, of
 * codecs that write animations, and marks read. Errors as above, and ST_BUSY when the process has ended
 * between two frames. */
enum status codec_link_frame(struct codec_link *link, const struct codec_frame_call *frame_call,
                             struct bytes input, const struct codec_limits *limits, const struct image *image,
                             struct frame *frame, struct error *err);

struct codec_add_call {
    enum codec_id codec;
    bool first;                /* opens the encoder, which stays in the process until codec_link_complete */
    uint32_t time;             /* of the frame, in parts of the timescale */
    uint32_t timescale, plays; /* as of struct sequence_shape */
    size_t memory;             /* that the encoder may take for all frames together */
};

/* Encodes the next frame by struct codec_sequence_writer (codecs/frames.h), and appends the file once all are
 * there. Options and metadata count with the first frame alone, but for the deadline. Errors as above, and
 * ST_BUSY when the process has ended between two frames. */
enum status codec_link_add(struct codec_link *link, const struct codec_add_call *add_call,
                           const struct image *image, const struct encode_options *options,
                           const struct metadata *metadata, struct error *err);
enum status codec_link_complete(struct codec_link *link, enum codec_id id, int64_t deadline_ns,
                                struct buf *output, struct error *err);

/* Has the reader (codec_process.h) append what it finds in a grey picture of 8 bits, up to the maximum of
 * `found`. The process may have been taken over: the caller checks the bytes. Errors as above; ST_INTERNAL
 * when the process dies, so that nothing that was not read is taken for nothing to read. */
enum status codec_link_read(struct codec_link *link, const struct image *grey, int64_t deadline_ns,
                            size_t memory, struct buf *found, struct error *err);

/* Nanoseconds in which calls of the link have computed, since the last call of this function; waits for a
 * core or for the start of a process are not among them. The process says so. A call that ends it counts as a
 * whole, and one that it leaves without an answer beyond the deadline, as a stopped process does, not at all.
 * NULL is allowed. */
int64_t codec_link_computed_ns(struct codec_link *link);

/* How many processes of the link ended during a call, by a fault or at the deadline, since the last call of
 * this function. NULL is allowed. */
unsigned codec_link_faults(struct codec_link *link);

#endif
