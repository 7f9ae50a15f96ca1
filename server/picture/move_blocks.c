/* SPDX-License-Identifier: MIT */
#include "server/picture/move_blocks.h"

#include "cpu/orient.h"
#include "server/planner/lossless.h"

/* A JPEG, how its blocks are turned and cropped, and how the answer is written. */
struct moving {
    const struct work_plan *plan;
    struct bytes file;
    const struct picture *picture;
    struct jpeg_turn turn;
    struct encode_options options;
    bool drops; /* the gain map behind the file's picture */
};

/* Whether all of the file stays. Without metadata=keep it gets others than it has. */
static bool is_whole(const struct moving *moving) {
    const struct jpeg_turn *turn = &moving->turn;
    const struct image_shape *native = &moving->picture->native;
    return turn->orientation == 1 && turn->x == 0 && turn->y == 0 && turn->width == native->width &&
           turn->height == native->height && moving->options.keep_metadata && !moving->options.progressive &&
           !moving->drops;
}

/* Notes what becomes of a gain map that the file has: it stays with all of the file, and is not moved with
 * the blocks of a JPEG that was packed. */
static void decide_map(struct moving *moving, struct hdr_decision *hdr) {
    gainmap_find(moving->file, &hdr->map);
    moving->drops = hdr->map.kind != GAINMAP_NONE && moving->plan->parameters->output.hdr == HDR_DROP;
    hdr->whole = hdr->map.kind != GAINMAP_NONE && is_whole(moving);
    if (hdr->map.kind != GAINMAP_NONE && !hdr->whole && !moving->drops) {
        hdr->why = "it stays in a packed JPEG only where nothing else changes";
    }
    hdr->map.file = (struct bytes){0}; /* it goes with the JPEG that was restored */
}

static enum status turn(const struct moving *moving, struct buf *output, struct error *err) {
    struct image_shape shape = moving->picture->native;
    shape.width = moving->turn.width;
    shape.height = moving->turn.height;
    shape = orient_shape(&shape, moving->turn.orientation);
    return jpeg_turn(moving->file, &moving->plan->limits, &moving->turn, &shape, &moving->options,
                     &moving->picture->metadata, output, err);
}

static enum status pack(struct moving *moving, struct hdr_decision *hdr, struct buf *body,
                        struct error *err) {
    const struct work_plan *plan = moving->plan;
    struct buf moved;
    enum status status = ST_OK;
    decide_map(moving, hdr);
    buf_init(&moved, body->maximum);
    if (!is_whole(moving)) {
        status = turn(moving, &moved, err);
    }
    if (status == ST_OK) {
        status = codec_repack(plan->output, moving->picture,
                              is_whole(moving) ? moving->file : buf_bytes(&moved), &plan->limits, body, err);
    }
    buf_finish(&moved);
    return status;
}

/* Plans the turn of the restored JPEG, whose own orientation counts, and does it. */
static enum status move_restored(struct moving *moving, struct hdr_decision *hdr, struct buf *body,
                                 struct error *err) {
    const struct work_plan *plan = moving->plan;
    const struct picture *picture = moving->picture;
    if (picture->codec != CODEC_JPEG || picture->native.width != plan->picture.native.width ||
        picture->native.height != plan->picture.native.height) {
        return fail(err, ST_CORRUPT, "%s is damaged: its JPEG is another picture than its header says",
                    codec_get(plan->picture.codec)->title);
    }
    const uint8_t orientation = plan->parameters->input.autorotate ? picture->metadata.orientation : 1;
    const struct lossless request = {picture, plan->parameters, &plan->chain, orientation, plan->output};
    moving->options.upright = orientation != 1;
    enum status status = lossless_plan(&request, &moving->turn, err);
    if (status != ST_OK) {
        return status;
    }
    decide_map(moving, hdr);
    return is_whole(moving) ? buf_append(body, moving->file.data, moving->file.size, err)
                            : turn(moving, body, err);
}

static enum status restore(struct moving *moving, struct hdr_decision *hdr, struct buf *body,
                           struct error *err) {
    const struct work_plan *plan = moving->plan;
    struct codec_limits limits = plan->limits;
    struct picture picture;
    struct buf jpeg;
    buf_init(&jpeg, codec_repack_most(plan->input.size));
    enum status status = codec_repack(plan->picture.codec, &plan->picture, plan->input, &limits, &jpeg, err);
    if (status == ST_OK) {
        moving->file = buf_bytes(&jpeg);
        moving->picture = &picture;
        status = codec_probe(moving->file, &limits, &picture, err);
    }
    if (status == ST_OK) {
        status = move_restored(moving, hdr, body, err);
        codec_picture_finish(&picture);
    }
    buf_finish(&jpeg);
    return status;
}

enum status move_blocks_write(struct work_plan *plan, struct buf *body, struct error *err) {
    struct error cause = {0};
    struct moving moving = {plan, plan->input, &plan->picture, plan->turn, plan->options, false};
    enum status status = plan->picture.restorable     ? restore(&moving, &plan->hdr, body, &cause)
                         : plan->output == CODEC_JPEG ? turn(&moving, body, &cause)
                                                      : pack(&moving, &plan->hdr, body, &cause);
    if (status == ST_UNSUPPORTED) {
        return lossless_refuse(cause.text, err);
    }
    if (status != ST_OK) {
        *err = cause;
    }
    return status;
}
