/* SPDX-License-Identifier: MIT
 * Messages between the daemon, the spawner and the processes of isolated codecs (core/process/channel.h).
 *
 * The daemon sends the spawner START with one end of a new socket pair, the lifeline, and sends JOIN over the
 * lifeline with the process's end of another pair. There the process first sends READY. From then on the
 * daemon sends CALL, LEND when the process must map more of the exchange, and the bytes of metadata in
 * pieces. The process answers ANSWER and the bytes of metadata, or of the encoded picture, in pieces. Only
 * the daemon sends descriptors.
 *
 * The process checks what it maps and reads, since the daemon may be faulty. The daemon checks every field,
 * since a picture may have taken over the process. */
#ifndef BLURD_CODECS_PROCESS_CODEC_WIRE_H
#define BLURD_CODECS_PROCESS_CODEC_WIRE_H

#include "codecs/definition.h"
#include "core/process/channel.h"

enum codec_message {
    CODEC_START = 1,
    CODEC_JOIN,
    CODEC_READY,
    CODEC_CALL,
    CODEC_LEND,
    CODEC_ANSWER,
    CODEC_PIECE
};
enum codec_operation {
    CODEC_PROBES,
    CODEC_DECODES,
    CODEC_FRAMES,
    CODEC_ENCODES,
    CODEC_REPACKS,
    CODEC_READS,
    CODEC_ADDS,      /* a frame to a sequence */
    CODEC_COMPLETES, /* the sequence */
    CODEC_OPERATIONS
};

enum {
    CODEC_READER = CODEC_COUNT
}; /* beside enum codec_id: what reads marks in a picture (codec_process.h) */

enum { CODEC_PIECE_MAX = 64 << 10 };

struct codec_start {
    struct channel_head head; /* one descriptor comes with it: the lifeline */
    int32_t nice;             /* priority of the process, as of setpriority */
    uint32_t codecs;          /* bits of enum codec_id and CODEC_READER: the libraries to open before */
};

struct codec_join {
    struct channel_head head; /* one descriptor comes with it: the process's end */
};

struct codec_ready {
    struct channel_head head;
    struct error error; /* ST_OK, or why the process ends */
};

struct codec_lend {
    struct channel_head head; /* one descriptor comes with it: the memfd of the exchange */
    uint64_t span;            /* bytes to map */
};

/* A view of metadata. */
struct codec_view {
    uint64_t stored; /* 1: in the bytes that are sent along; 0: in the file */
    uint64_t at, size;
};

struct codec_metadata {
    uint8_t orientation;
    uint8_t upright, xmp_deflated, gain_map; /* 0 or 1 */
    uint16_t chunk_count;
    uint32_t losses;
    struct density density;
    struct codec_view exif, xmp, photoshop;
    struct {
        uint32_t kind, tag;
        struct codec_view data;
    } chunk[METADATA_CHUNKS_MAX];
};

struct codec_call {
    struct channel_head head;
    uint32_t operation;            /* enum codec_operation */
    uint32_t codec;                /* enum codec_id, or CODEC_READER with READS */
    uint32_t lends;                /* 1: LEND follows; 0: what was lent before is large enough */
    uint32_t has_metadata;         /* ENCODES, ADDS: 1, or 0 for NULL */
    uint32_t first;                /* FRAMES, ADDS: 1 opens the decoder or encoder, 0 goes on with it */
    uint32_t time;                 /* ADDS: of the frame, in parts of a second: 1 / timescale */
    uint32_t timescale, plays;     /* ADDS, of the first: as of struct sequence_shape */
    uint64_t memory;               /* bytes that the library may take */
    uint64_t input_size;           /* of the file, at the beginning of the exchange; 0 where none is needed */
    uint64_t picture;              /* offset of the picture in the exchange */
    struct image_shape shape;      /* of it */
    uint64_t output_most;          /* ENCODES, REPACKS, READS and COMPLETES: bytes */
    uint64_t stored;               /* ENCODES, ADDS: bytes of metadata that follow in pieces */
    struct codec_limits limits;    /* without pointers */
    struct encode_options options; /* without pointers */
    struct codec_metadata metadata;
};

struct codec_answer {
    struct channel_head head;
    struct error error;    /* as the codec's function */
    uint32_t last;         /* 1: the process ends after this answer */
    uint32_t losses;       /* ENCODES, ADDS */
    uint64_t size;         /* bytes that follow in pieces: metadata, the encoded picture or what was read */
    uint64_t computed_ns;  /* processor time of the call */
    uint32_t delay, scale; /* FRAMES: as of struct frame */
    struct image_shape native, pixels;       /* PROBES, from here on */
    uint32_t progressive, exact, restorable; /* 0 or 1 */
    uint32_t frames, plays;                  /* of struct picture */
    uint32_t late; /* 1: the process ends at its deadline, in the middle of the call */
    struct codec_metadata metadata;
};

struct codec_piece {
    struct channel_head head;
    uint8_t bytes[CODEC_PIECE_MAX]; /* only those in use are sent */
};

/* Describes metadata. Views outside of `file` are appended to *stored. ST_BUSY without memory, ST_LIMIT
 * beyond the buffer's maximum. */
enum status codec_wire_pack(const struct metadata *metadata, struct bytes file, struct codec_metadata *packed,
                            struct buf *stored, struct error *err);

/* The reverse. `metadata->store` is left alone. ST_DEVICE for values that no intact peer sends. */
enum status codec_wire_unpack(const struct codec_metadata *packed, struct bytes file, struct bytes stored,
                              struct metadata *metadata, struct error *err);

/* Sends or receives bytes in pieces, the latter appended to *received. `piece` is memory for one. Waits until
 * `until_ns` (clock_ns; 0: for ever). Errors as of the channel and of buf_reserve. */
enum status codec_wire_send(int socket, struct bytes bytes, struct codec_piece *piece, struct error *err);
enum status codec_wire_receive(int socket, uint64_t size, struct codec_piece *piece, int64_t until_ns,
                               struct buf *received, struct error *err);

/* Milliseconds until then, as channel_receive takes them. */
int64_t codec_wire_wait_ms(int64_t until_ns);

/* Whether the fields are in their ranges. */
bool codec_wire_is_shape(const struct image_shape *shape);

/* Checks the answer to a call and makes its text printable. ST_DEVICE for values that no intact process
 * sends, ST_OK else, also when it is an error. A probe's shapes are within the limits afterwards. */
enum status codec_wire_check(struct codec_answer *answer, const struct codec_call *call, struct error *err);

#endif
