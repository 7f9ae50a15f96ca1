/* SPDX-License-Identifier: MIT */
#include "server/planner/footprint.h"

#include "codecs/jpeg/jpeg_patch.h"
#include "codecs/process/codec_link.h"
#include "core/numbers.h"
#include "core/slot_pool.h"
#include "cpu/mask/mask.h"
#include "detect/codes/cpu/codes_search.h"
#include "detect/codes/reader/codes_read.h"
#include "detect/held/finds.h"
#include "server/placeholder/placeholder.h"
#include "server/planner/hdr_plan.h"

enum {
    HEAD_SPARE = 4 << 10, /* bytes for the headers and the end of any file */
    COPIES = 6, /* of metadata: joined and written anew, in buffers that double, and in the answer */
    FOUND_MOST = 64 << 10, /* boxes that are found in all frames of an animation */
    INFLATED = 2 << 20,    /* most bytes of a PNG's texts and XMP, which may be compressed */
};

/* An answer that keeps blocks is about as large as its input, whatever the quality. Most of an input may be
 * metadata, so the number of samples limits this room as well. */
size_t footprint_device_output(const struct work_plan *plan) {
    size_t eighths = plan->options.quality > 90 ? 8 : 3;
    const struct image_shape written = transcode_written(&plan->encoded, plan_colours(plan));
    size_t samples = plan_shape_size(&written), usual = samples / 8 * eighths;
    size_t file = plan->input.size + plan->input.size / 8;
    file = file < 2 * samples ? file : 2 * samples;
    return (plan_may_patch(plan) ? max_size(usual, file) : usual) + HEAD_SPARE;
}

/* The worst case of a lossy format is noise of full contrast. Alpha of WebP has no losses. */
static size_t answer_bytes(const struct work_plan *plan) {
    static const struct {
        uint8_t quality, bits; /* a sample, up to that quality */
    } table[] = {{75, 4}, {90, 5}, {95, 7}, {98, 9}, {UINT8_MAX, 11}};
    size_t samples = plan_shape_size(&plan->encoded), row = 0;
    while (plan->options.quality > table[row].quality) {
        row++;
    }
    enum codec_reach reach = codec_get(plan->output)->reach;
    size_t bits = reach == REACH_PIXEL ? 8 : table[row].bits;
    if (reach == REACH_BEFORE) {
        bool whole = plan->options.lossless || image_pixel_has_alpha(plan->encoded.model);
        bits = whole ? max_size(bits + 2, 8) : bits + 2; /* of a sample of RGB */
        samples = max_size(samples, 3 * (size_t)plan->encoded.width * plan->encoded.height);
    }
    return samples / 8 * bits + HEAD_SPARE;
}

size_t footprint_animation_most(const struct work_plan *plan) {
    const size_t most = plan->frames.answer_most, one = answer_bytes(plan);
    return one > most / plan->frames.count ? most : one * plan->frames.count;
}

/* One frame is encoded apart from the others, but for a sequence, whose encoder holds all of them. */
static size_t all_answer_bytes(const struct work_plan *plan) {
    if (!frames_plan_animates(&plan->frames)) {
        return answer_bytes(plan);
    }
    const size_t all = footprint_animation_most(plan);
    return answer_bytes(plan) + all + frames_writer_file_bytes(plan->output, all);
}

static bool writes_sequence(const struct work_plan *plan) {
    return frames_plan_animates(&plan->frames) && frames_writer_file_bytes(plan->output, 1) > 0;
}

/* The canvases, and the file of a frame. */
static size_t frames_bytes(const struct work_plan *plan) {
    const struct frames_plan *frames = &plan->frames;
    return frames->count == 0
               ? 0
               : frames_reader_bytes(&frames->animation, plan->stored.depth) +
                     (frames_plan_animates(frames) ? frames_writer_bytes(plan->output, &plan->encoded) : 0);
}

struct found_frames_layout footprint_lay_out_found(const struct frames_plan *frames) {
    struct found_frames_layout layout = {0};
    if (frames->searched > 0) {
        layout.boxes = min_u32(frames->searched, FOUND_MOST / FINDS_MAX) * FINDS_MAX;
        layout.boxes_at = bytes_align_up(sizeof(struct tracks), IMAGE_ALIGNMENT);
        layout.first_at = layout.boxes_at + layout.boxes * sizeof(struct track_box);
        layout.size = layout.first_at + ((size_t)frames->searched + 1) * sizeof(uint32_t);
    }
    return layout;
}

static size_t metadata_bytes(const struct work_plan *plan) {
    const struct metadata *metadata = &plan->picture.metadata;
    bool keep = plan->options.keep_metadata;
    size_t all = keep ? metadata->exif.size + metadata->xmp.size + metadata->photoshop.size : 0;
    for (unsigned i = 0; i < metadata->chunk_count; i++) { /* a profile in a PNG is compressed */
        all +=
            metadata->chunk[i].kind == CHUNK_ICC_DEFLATED ? METADATA_ICC_MAX : metadata->chunk[i].data.size;
    }
    size_t inflated = keep && plan->picture.codec == CODEC_PNG ? INFLATED : 0;
    size_t most = METADATA_MEMORY_MAX + METADATA_WRITTEN_MAX;
    return COPIES * all + inflated < most ? COPIES * all + inflated : most;
}

/* An encoder that follows the filters row by row needs its memory beside the decoder's. */
static size_t library_bytes(const struct work_plan *plan) {
    size_t decoder = max_size(codec_decode_bytes(&plan->picture, plan->input.size) -
                                  codec_decode_spare(&plan->picture, plan->input.size),
                              selection_part_bytes(&plan->selection)); /* one after the other */
    decoder += plan->frames.count > 0 ? plan->input.size : 0;          /* a copy of a frame's file */
    if (plan_answer(plan) != ANSWER_PICTURE) {
        return plan_answer(plan) == ANSWER_PLACEHOLDER ? max_size(decoder, placeholder_bytes()) : decoder;
    }
    size_t encoder = codec_encode_bytes(plan->output, &plan->encoded, &plan->options);
    encoder =
        plan_may_patch(plan) ? max_size(encoder, jpeg_patch_bytes(&plan->picture, &plan->options)) : encoder;
    bool follows = codec_get(plan->output)->encode_begin && !plan->selection.wanted && !plan_is_linear(plan);
    follows = follows || plan->frames.animation.decoder_bytes > 0 || writes_sequence(plan); /* these stay */
    return (follows ? decoder + encoder : max_size(decoder, encoder)) + all_answer_bytes(plan) +
           metadata_bytes(plan) + hdr_plan_bytes(plan, answer_bytes(plan));
}

/* Bytes for a search that reads: of the picture in the exchange, or of the library. */
static size_t read_bytes(const struct detection *detection, bool exchange) {
    size_t most = 0;
    for (unsigned i = 0; i < detection->count; i++) {
        const struct boxes_frame *frame = &detection->search[i].frame;
        const struct image_shape grey = {.model = PIXEL_GRAY,
                                         .depth = 8,
                                         .width = codes_search_side(frame->searched_width),
                                         .height = codes_search_side(frame->searched_height)};
        if (detector_get(detectors_first(detection->search[i].detectors))->reads) {
            most = max_size(most, exchange ? codec_link_exchange_bytes(0, &grey)
                                           : codes_read_memory(grey.width, grey.height));
        }
    }
    return most;
}

/* Decoders, searches and encoders use the same memory one after the other. */
static size_t exchange_bytes(const struct work_plan *plan) {
    bool reads = codec_get(plan->picture.codec)->isolated;
    bool writes = plan_answer(plan) == ANSWER_PICTURE && codec_get(plan->output)->isolated;
    struct image_shape stored = plan->stored;
    stored.model = plan->frames.count > 0 ? PIXEL_RGBA : stored.model;
    size_t most = max_size(reads ? codec_link_exchange_bytes(plan->input.size, &stored) : 0,
                           writes ? codec_link_exchange_bytes(0, &plan->encoded) : 0);
    return max_size(most, read_bytes(&plan->detection, true));
}

size_t footprint_working(const struct work_plan *plan, const struct backend *cpu, unsigned threads) {
    const struct detection *detection = &plan->detection;
    size_t most = plan->chain.count > 0 ? backend_run_bytes(cpu, &plan->chain, &plan->filtered, threads) : 0;
    for (unsigned i = 0; i < detection->count; i++) {
        most = max_size(most, backend_run_bytes(cpu, &detection->search[i].chain, &plan->searched, threads));
    }
    return most;
}

static size_t working_bytes(const struct work_plan *plan, const struct backend *cpu) {
    size_t filters = footprint_working(plan, cpu, 1);
    struct image_shape mask = selection_mask_shape(&plan->upright);
    if (!selection_is_soft(&plan->selection, plan->parameters)) {
        return filters;
    }
    return max_size(filters, mask_feather_bytes(cpu, &mask, plan->parameters->input.feather));
}

/* Blocks of a JPEG that are moved have no pixels. A JPEG that is restored before, or packed afterwards,
 * stands in memory by itself. */
static struct footprint moved_blocks(const struct work_plan *plan) {
    const bool packed = plan->picture.restorable || plan->output != CODEC_JPEG;
    const enum codec_id packer = plan->picture.restorable ? plan->picture.codec : plan->output;
    struct picture jpeg = plan->picture;
    size_t input = plan->input.size;
    if (jpeg.restorable) { /* at most */
        jpeg.native.model = PIXEL_YCBCR;
        jpeg.native.depth = 8;
        input = codec_repack_most(input);
    }
    size_t answer = jpeg_turn_room(&jpeg, input) + HEAD_SPARE;
    size_t library = jpeg_turn_bytes(&jpeg) + answer + metadata_bytes(plan) + hdr_plan_bytes(plan, answer);
    library += packed ? answer + codec_repack_bytes(packer, &plan->picture, answer) : 0;
    return (struct footprint){.picture = IMAGE_ALIGNMENT,
                              .library = library,
                              .exchange = packed ? bytes_align_up(answer, SLOT_STEP) : 0};
}

struct footprint footprint_of(const struct work_plan *plan, const struct backend *cpu) {
    if (plan_moves_blocks(plan)) {
        return moved_blocks(plan);
    }
    struct image_shape result = chain_result(&plan->chain, &plan->filtered);
    bool linear = plan_is_linear(plan);
    size_t stored = plan_shape_size(&plan->stored), upright = plan_shape_size(&plan->upright);
    size_t encoded = plan_shape_size(&plan->encoded);
    size_t searched = plan_searches_apart(plan) ? plan_shape_size(&plan->searched) : 0;
    if (!stored || !upright || !encoded || !plan_shape_size(&plan->filtered)) {
        return (struct footprint){0};
    }
    return (struct footprint){
        /* Padding makes the upright picture's size differ from the stored one's. */
        .picture = max_size(max_size(stored, upright), max_size(encoded, searched)),
        .spare = codec_decode_spare(&plan->picture, plan->input.size),
        .room = codec_decode_room(plan->picture.codec, &plan->stored),
        .linear = linear ? max_size(plan_shape_size(&plan->filtered), plan_shape_size(&result)) : 0,
        .mask = selection_mask_bytes(&plan->selection, &plan->stored),
        .found = detection_bytes(&plan->detection),
        .working = working_bytes(plan, cpu),
        .library = max_size(library_bytes(plan), read_bytes(&plan->detection, false)),
        .frames = frames_bytes(plan),
        .found_frames = footprint_lay_out_found(&plan->frames).size,
        .exchange = exchange_bytes(plan),
    };
}

struct footprint footprint_within(struct work_plan *plan, const struct backend *cpu, uint64_t most) {
    enum { LEAST = 1 << 20 };
    struct footprint footprint = footprint_of(plan, cpu);
    const uint64_t sum = footprint_sum(&footprint);
    if (frames_plan_animates(&plan->frames) && footprint.picture > 0 && sum > most) {
        const uint64_t copies = 1 + frames_writer_file_bytes(plan->output, 1);
        const uint64_t room = footprint_animation_most(plan), excess = (sum - most + copies - 1) / copies;
        plan->frames.answer_most = room > excess + LEAST ? (size_t)(room - excess) : LEAST;
        footprint = footprint_of(plan, cpu);
    }
    if (!plan->options.crew || footprint_sum(&footprint) <= most) {
        return footprint;
    }
    plan->options.crew = NULL;
    return footprint_of(plan, cpu);
}

uint64_t footprint_sum(const struct footprint *footprint) {
    return 2 * ((uint64_t)footprint->picture + footprint->linear + footprint->mask) + footprint->room +
           footprint->spare + footprint->found + footprint->working + footprint->library + footprint->frames +
           footprint->found_frames + footprint->exchange;
}

uint64_t footprint_beside_device(const struct work_plan *plan) {
    return plan->input.size + (uint64_t)footprint_device_output(plan) + answer_bytes(plan) +
           metadata_bytes(plan) + selection_mask_bytes(&plan->selection, &plan->stored) +
           detection_bytes(&plan->detection);
}
