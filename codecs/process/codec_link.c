/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_link.h"

#include <stdlib.h>

#include "codecs/frame.h"
#include "codecs/process/codec_call.h"
#include "core/bytes.h"
#include "core/slot_pool.h"

enum { SLACK = 16 << 20 }; /* bytes that a library may take beyond what its codec predicts */

enum status codec_link_create(struct codec_link **link, struct codec_spawner *spawner, struct slot_pool *pool,
                              struct error *err) {
    struct codec_link *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->spawner = spawner;
    made->pool = pool;
    made->child = CODEC_CHILD_NONE;
    *link = made;
    return ST_OK;
}

void codec_link_destroy(struct codec_link *link) {
    if (link) {
        codec_call_end(link);
        free(link);
    }
}

void codec_link_clear(struct codec_link *link) {
    if (link && (link->walks || link->writes)) {
        codec_call_end(link);
    } else if (link && link->exchange) {
        slot_cut(link->exchange, 0);
    }
}

size_t codec_link_exchange_bytes(size_t file, const struct image_shape *shape) {
    struct image image;
    return bytes_align_up(bytes_align_up(file, IMAGE_ALIGNMENT) + image_layout(&image, shape), SLOT_STEP);
}

static struct codec_limits plain_limits(const struct codec_limits *limits) {
    struct codec_limits plain = *limits;
    plain.progress = NULL;
    plain.crew = NULL;
    plain.link = NULL;
    plain.spare = NULL;
    plain.spare_size = 0;
    return plain;
}

/* What the call has to do with the exchange: the file, then a picture. */
static void set_exchange(struct codec_link *link, struct bytes file, const struct image *picture) {
    link->file = file;
    link->needed = 1u << link->call.codec;
    link->source = link->target = NULL;
    link->call.input_size = file.size;
    link->call.picture = bytes_align_up(file.size, IMAGE_ALIGNMENT);
    if (picture) {
        link->call.shape = image_shape(picture);
    }
}

enum status codec_link_probe(struct codec_link *link, enum codec_id id, struct bytes input,
                             const struct codec_limits *limits, struct picture *picture, struct error *err) {
    struct metadata *metadata = &picture->metadata;
    link->call = (struct codec_call){.operation = CODEC_PROBES,
                                     .codec = id,
                                     .limits = plain_limits(limits),
                                     .memory = SLACK + METADATA_MEMORY_MAX + input.size};
    set_exchange(link, input, NULL);
    buf_init(&metadata->store, SIZE_MAX);
    enum status status = codec_call_make(link, &metadata->store, err);
    if (status != ST_OK) {
        return status;
    }
    picture->native = link->answer.native;
    picture->pixels = link->answer.pixels;
    picture->progressive = link->answer.progressive == 1;
    picture->exact = link->answer.exact == 1;
    picture->restorable = link->answer.restorable == 1;
    picture->frames = link->answer.frames;
    picture->plays = link->answer.plays;
    if (codec_wire_unpack(&link->answer.metadata, input, buf_bytes(&metadata->store), metadata, err) !=
        ST_OK) {
        status = codec_call_blame(link, err);
        codec_call_end(link);
    }
    return status;
}

enum status codec_link_decode(struct codec_link *link, const struct picture *picture, struct bytes input,
                              const struct codec_limits *limits, size_t memory, const struct image *image,
                              struct error *err) {
    struct buf nothing = {0};
    link->call = (struct codec_call){.operation = CODEC_DECODES,
                                     .codec = picture->codec,
                                     .limits = plain_limits(limits),
                                     .memory = SLACK + memory};
    set_exchange(link, input, image);
    link->target = image;
    return codec_call_make(link, &nothing, err);
}

enum status codec_link_frame(struct codec_link *link, const struct codec_frame_call *frame_call,
                             struct bytes input, const struct codec_limits *limits, const struct image *image,
                             struct frame *frame, struct error *err) {
    const struct codec_answer *answer = &link->answer;
    struct buf nothing = {0};
    link->call = (struct codec_call){.operation = CODEC_FRAMES,
                                     .codec = frame_call->codec,
                                     .first = frame_call->first,
                                     .limits = plain_limits(limits),
                                     .memory = SLACK + input.size + frame_call->memory};
    set_exchange(link, frame_call->first ? input : (struct bytes){0}, image);
    link->needed |= frame_call->first ? codec_spawner_between_frames(link->spawner) : 0;
    link->target = image;
    enum status status = codec_call_make(link, &nothing, err);
    if (status == ST_OK) {
        link->walks = link->child.socket >= 0;
        frame->delay = answer->delay;
        frame->scale = answer->scale;
    }
    return status;
}

/* Has a codec that encodes get the picture, and packs its metadata; the call is made. */
static enum status send_source(struct codec_link *link, const struct image *image,
                               const struct encode_options *options, const struct metadata *metadata,
                               struct buf *output, struct error *err) {
    struct codec_call *call = &link->call;
    call->limits.deadline_ns = options->deadline_ns;
    call->options = *options;
    call->options.crew = NULL;
    call->options.link = NULL;
    call->options.losses = NULL;
    call->has_metadata = metadata != NULL;
    link->source = image;
    buf_init(&link->stored, SIZE_MAX);
    enum status status =
        metadata ? codec_wire_pack(metadata, (struct bytes){0}, &call->metadata, &link->stored, err) : ST_OK;
    call->stored = link->stored.size;
    status = status == ST_OK ? codec_call_make(link, output, err) : status;
    buf_finish(&link->stored);
    if (status == ST_OK && options->losses) {
        *options->losses |= link->answer.losses;
    }
    return status;
}

/* The file may take as much memory as the picture, twice while the buffer for it grows. */
static uint64_t encoding_memory(size_t memory, const struct image *image) {
    uint64_t pixels = (uint64_t)image->width * image->height;
    return SLACK + METADATA_MEMORY_MAX + METADATA_WRITTEN_MAX + memory +
           2 * pixels * image_pixel_channels(image->model) * (image->depth / 8);
}

enum status codec_link_encode(struct codec_link *link, enum codec_id id, const struct image *image,
                              const struct encode_options *options, size_t memory,
                              const struct metadata *metadata, struct buf *output, struct error *err) {
    link->call = (struct codec_call){.operation = CODEC_ENCODES,
                                     .codec = id,
                                     .output_most = output->maximum - output->size,
                                     .memory = encoding_memory(memory, image)};
    set_exchange(link, (struct bytes){0}, image);
    return send_source(link, image, options, metadata, output, err);
}

enum status codec_link_add(struct codec_link *link, const struct codec_add_call *add_call,
                           const struct image *image, const struct encode_options *options,
                           const struct metadata *metadata, struct error *err) {
    struct buf nothing = {0};
    link->call = (struct codec_call){.operation = CODEC_ADDS,
                                     .codec = add_call->codec,
                                     .first = add_call->first,
                                     .time = add_call->time,
                                     .timescale = add_call->timescale,
                                     .plays = add_call->plays,
                                     .memory = encoding_memory(add_call->memory, image)};
    set_exchange(link, (struct bytes){0}, image);
    link->needed |= add_call->first ? codec_spawner_between_frames(link->spawner) : 0;
    enum status status = send_source(link, image, options, metadata, &nothing, err);
    link->writes = status == ST_OK && link->child.socket >= 0;
    return status;
}

enum status codec_link_complete(struct codec_link *link, enum codec_id id, int64_t deadline_ns,
                                struct buf *output, struct error *err) {
    link->call = (struct codec_call){.operation = CODEC_COMPLETES,
                                     .codec = id,
                                     .output_most = output->maximum - output->size,
                                     .limits.deadline_ns = deadline_ns};
    set_exchange(link, (struct bytes){0}, NULL);
    enum status status = codec_call_make(link, output, err);
    link->writes = false;
    return status;
}

enum status codec_link_repack(struct codec_link *link, enum codec_id id, struct bytes input,
                              const struct codec_limits *limits, size_t memory, struct buf *output,
                              struct error *err) {
    const size_t most = output->maximum - output->size;
    link->call = (struct codec_call){.operation = CODEC_REPACKS,
                                     .codec = id,
                                     .output_most = most,
                                     .limits = plain_limits(limits),
                                     .memory = SLACK + memory + most};
    set_exchange(link, input, NULL);
    return codec_call_make(link, output, err);
}

enum status codec_link_read(struct codec_link *link, const struct image *grey, int64_t deadline_ns,
                            size_t memory, struct buf *found, struct error *err) {
    link->call = (struct codec_call){.operation = CODEC_READS,
                                     .codec = CODEC_READER,
                                     .output_most = found->maximum - found->size,
                                     .limits.deadline_ns = deadline_ns,
                                     .memory = SLACK + memory};
    set_exchange(link, (struct bytes){0}, grey);
    link->source = grey;
    return codec_call_make(link, found, err);
}

int64_t codec_link_computed_ns(struct codec_link *link) {
    int64_t computed = link ? link->computed_ns : 0;
    if (link) {
        link->computed_ns = 0;
    }
    return computed;
}

unsigned codec_link_faults(struct codec_link *link) {
    unsigned faults = link ? link->faults : 0;
    if (link) {
        link->faults = 0;
    }
    return faults;
}
