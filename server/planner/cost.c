/* SPDX-License-Identifier: MIT */
#include "server/planner/cost.h"

#include <math.h>

#include "core/jpeg/coefficients.h"
#include "core/tuned.h"
#include "server/planner/cost_filters.h"
#include "server/planner/intent.h"

/* Inputs of any format come first, two of each, then these. */
enum { UNKNOWN_INPUT = 2 * CODEC_COUNT, COEFFICIENTS_INPUT, LIBJPEG_INPUT, BLOCKS_INPUT, GPU_INPUT };
enum { PIPELINE_WORK = FILTER_COUNT, REDACT_WORK, GPU_WORK };
enum { GPU_OUTPUT = 2 * CODEC_COUNT };
static const struct decode_terms decode_ns[COST_INPUTS] = {
    [UNKNOWN_INPUT] = {TUNED_DECODE_UNKNOWN},
    [COEFFICIENTS_INPUT] = {TUNED_DECODE_COEFFICIENTS},
    [LIBJPEG_INPUT] = {TUNED_DECODE_LIBJPEG},
};

/* JPEGs have blocks of 16x16 pixels, and each row of a PNG has a fixed cost. */
static const struct cost_least encoded_least = {16, 16};

static const float device_ratio_max = 64, device_step = 1.0F / 16, device_drift = 1.0F / 512;

/* The weight of a request in the mean of its kind, reduced in proportion below weighty_ns: the fixed cost
 * dominates small requests, which say little about large ones. */
static const float learning = 0.125F, weighty_ns = 5e6F;
static const float ratio_max = 32;

/* Whether only libjpeg-turbo decodes a progressive JPEG: one at a reduced size, one without planes, or one to
 * RGB whose colour is repeated. */
static bool needs_libjpeg(const struct work_plan *plan) {
    return plan->picture.codec == CODEC_JPEG && plan->picture.progressive &&
           (plan->limits.reduction > 0 || plan->picture.native.model == PIXEL_RGB ||
            (plan->stored.model == PIXEL_RGB && plan->limits.local_colour));
}

static unsigned input_of(const struct intent *intent) {
    const struct picture *picture = &intent->plan.picture;
    return !intent->known                 ? UNKNOWN_INPUT
           : needs_libjpeg(&intent->plan) ? LIBJPEG_INPUT
                                          : 2 * (unsigned)picture->codec + picture->progressive;
}

/* Searches, pipelines and redaction are separate kinds. */
static unsigned work_of(const struct parameters *parameters) {
    if (parameters_answer(parameters) == ANSWER_BOXES) {
        return FILTER_DETECT;
    }
    if (parameters->input.mode == MODE_REDACT) {
        return REDACT_WORK;
    }
    return parameters->ops.count == 1 ? filter_id(parameters->ops.operation[0].filter) : PIPELINE_WORK;
}

static float pixels_of(const struct image_shape *stored) {
    return (float)stored->width * (float)stored->height;
}

/* Bytes of the file if it is a graphic. PNGs of graphics have few bytes for their samples. A crop changes the
 * bytes in proportion to the pixels, a resize in proportion to the sides, as edges go on; and the blur of a
 * whole picture leaves none. */
static float graphic_bytes(const struct work_plan *plan) {
    const float most = 0.2F; /* bytes a sample; photographs have 0.3 to 0.7 */
    const struct parameters *parameters = plan->parameters;
    const float pixels = pixels_of(&plan->stored), size = (float)plan->input.size;
    const float samples = pixels * (float)image_pixel_channels(plan->stored.model);
    bool graphic =
        plan->picture.codec == CODEC_PNG && size < most * samples * (float)(plan->stored.depth / 8);
    float share = pixels_of(&plan->encoded) / pixels;
    bool scaled = false;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct filter *filter = parameters->ops.operation[i].filter;
        graphic = graphic && (filter != &filter_blur || parameters_select(parameters));
        scaled = scaled || filter == &filter_resize;
    }
    return graphic ? size * (scaled ? sqrtf(share) : share) : 0;
}

static struct encode_cost encoding_cost(const struct work_plan *plan, uint32_t frames) {
    const struct cost_shape shape = cost_shape_of(&plan->encoded);
    float pixels = pixels_of(&plan->encoded);
    const struct encode_extent extent = {
        .pixels = pixels,
        .samples = cost_samples(&shape, encoded_least),
        .bytes = pixels * shape.samples * (float)(plan->encoded.depth / 8),
        .graphic = graphic_bytes(plan),
    };
    struct encode_options options = plan->options;
    options.pictures = frames;
    return codec_get(plan->output)->encode_cost(&extent, &options);
}

static float ratio_or_one(float ratio) {
    return ratio > 0 ? ratio : 1;
}

/* A device's time follows the decoder's picture, or the encoder's where that is larger. */
static float largest_pixels(const struct work_plan *plan) {
    float stored = pixels_of(&plan->stored), encoded = pixels_of(&plan->encoded);
    return encoded > stored ? encoded : stored;
}

/* Nanoseconds a pixel of one search: all but the first detector do without what they share. */
static float search_pixel_ns(uint32_t detectors, bool on_gpu) {
    float ns = 0, shared = 0;
    for (unsigned id = 0; detectors >> id; id++) {
        const struct detector *detector = detector_get((enum detector_id)id);
        if (detectors >> id & 1) {
            ns += (on_gpu ? detector->gpu_pixel_ns : detector->pixel_ns) - shared;
            shared = on_gpu ? detector->gpu_shared_ns : detector->shared_ns;
        }
    }
    return ns;
}

/* Predicted for all searches; 0: there is none. */
static float search_ns(const struct detection *detection, bool on_gpu) {
    float ns = 0;
    for (unsigned i = 0; i < detection->count; i++) {
        const struct chain *chain = &detection->search[i].chain;
        const struct detect_plan *padded = &chain->step[chain->count - 1].detect;
        ns += search_pixel_ns(padded->wanted, on_gpu) * (float)padded->width * (float)padded->height;
    }
    return ns;
}

static float device_filters_ns(const struct work_plan *plan) {
    return TUNED_GPU_PIXEL_NS * largest_pixels(plan) + search_ns(&plan->detection, true) +
           cost_filters_device_ns(plan->parameters, &plan->chain, &plan->upright);
}

static float device_time_ns(const struct work_plan *plan) {
    return TUNED_GPU_NS + device_filters_ns(plan);
}

/* Whether a GPU reads such files: gpu/engine/entropy_decoder.h. */
static bool are_scans_decodable(const struct work_plan *plan) {
    struct coefficients_layout layout;
    return plan->input.size <= COST_READ_MAX && coefficients_lay_out(&plan->picture.native, &layout) &&
           coefficients_size(&layout) <= COST_READ_VALUES_MAX;
}

/* The whole of a file that cores can hand over, with a GPU that reads it. */
static float scans_ns(const struct work_plan *plan) {
    float size = (float)plan->input.size;
    return are_scans_decodable(plan)
               ? TUNED_GPU_ENTROPY_DECODE_NS + TUNED_GPU_ENTROPY_DECODE_BYTE_NS * size + device_time_ns(plan)
               : 0;
}

static float decoding_ns(const struct work_plan *plan, unsigned input, float frames) {
    const struct decode_terms *terms = input < UNKNOWN_INPUT
                                           ? &codec_get((enum codec_id)(input / 2))->decode_ns[input % 2]
                                           : &decode_ns[input];
    return terms->pixel * pixels_of(&plan->stored) * frames + terms->byte * (float)plan->input.size;
}

/* The parts of a request: how long each takes, and its place in the kinds. */
struct cost_parts {
    float decoding, filters, encoding;
    float device, device_filters; /* of a GPU that also decodes or encodes, and of one that does not */
    unsigned input, work, output;
};

static struct cost_parts parts_of(const struct intent *intent) {
    const struct work_plan *plan = &intent->plan;
    const struct encode_cost encoding = encoding_cost(plan, intent->frames);
    const float frames = (float)intent->frames;
    const float filters = cost_filters_ns(plan->parameters, &plan->chain, &plan->upright);
    const float handed = (float)TUNED_GPU_HANDING_NS + device_filters_ns(plan);
    unsigned input = input_of(intent);
    const enum filter_answer answer = plan_answer(plan);
    const float passes = frames > 1 && plan->detection.count > 0 ? 2 : 1; /* the first one searches */
    return (struct cost_parts){.decoding = decoding_ns(plan, input, frames * passes),
                               .filters = answer == ANSWER_BOXES ? 0 : filters * frames,
                               .encoding = answer == ANSWER_PICTURE ? encoding.ns * frames : 0,
                               .device = device_time_ns(plan),
                               .device_filters = handed * frames,
                               .input = input,
                               .work = work_of(plan->parameters),
                               .output = 2 * (unsigned)plan->output + encoding.kind};
}

static struct way_cost make_cost(float ns, unsigned input, unsigned work, unsigned output) {
    return (struct way_cost){.kind = (input * COST_WORKS + work) * COST_OUTPUTS + output,
                             .table_ns = (int64_t)ns + 1};
}

/* Coding a JPEG anew and restoring it take libjxl as long as decoding a JPEG XL; what is coded is restored,
 * too. */
static float packing_ns(const struct work_plan *plan) {
    return plan->picture.restorable     ? decoding_ns(plan, 2 * CODEC_JXL, 1)
           : plan->output == CODEC_JPEG ? 0
                                        : 2 * decoding_ns(plan, 2 * CODEC_JXL, 1);
}

static struct way_cost cost_of(enum way way, const struct work_plan *plan, const struct cost_parts *p) {
    switch (way) {
    case WAY_GPU_FILE:
        return (struct way_cost){.table_ns = (int64_t)p->device};
    case WAY_GPU_SCANS:
        return (struct way_cost){.table_ns = (int64_t)scans_ns(plan)};
    case WAY_GPU_COEFFICIENTS:
        return make_cost(TUNED_REQUEST_NS + decoding_ns(plan, COEFFICIENTS_INPUT, 1) + p->device,
                         COEFFICIENTS_INPUT, p->work, p->output);
    case WAY_BLOCKS: /* coefficients are read, and written in about the same time */
        return make_cost(TUNED_REQUEST_NS + 2 * decoding_ns(plan, COEFFICIENTS_INPUT, 1) + packing_ns(plan),
                         BLOCKS_INPUT, p->work, p->output);
    case WAY_GPU_DECODE:
        return make_cost(TUNED_REQUEST_NS + p->device + p->encoding, GPU_INPUT, p->work, p->output);
    case WAY_GPU_ENCODE:
        return make_cost(TUNED_REQUEST_NS + p->decoding + p->device, p->input, p->work, GPU_OUTPUT);
    case WAY_GPU_FILTER:
        return make_cost(TUNED_REQUEST_NS + p->decoding + p->device_filters + p->encoding, p->input, GPU_WORK,
                         p->output);
    default:
        return make_cost(TUNED_REQUEST_NS + p->decoding + p->filters + p->encoding, p->input, p->work,
                         p->output);
    }
}

/* Whether the request can take that way now. The header must be of a kind that the way's codecs read; nothing
 * is known of a picture that was not recognised. */
static bool is_open(const struct intent *intent, enum way way, struct backend *gpu) {
    const struct peek *header = &intent->header;
    bool usual = header->codec != CODEC_JPEG || header->baseline || header->progressive;
    return intent->known && usual && way_fits(way, &intent->plan, gpu);
}

/* A search is no part of the tables of the ways, but of a GPU's time. */
static int64_t search_of(const struct cost *cost, enum way way) {
    return way == WAY_GPU_COEFFICIENTS ? 0 : cost->search_ns;
}

static int64_t learnt_ns(const struct cost_model *model, const struct cost *cost, enum way way) {
    const struct way_cost *taken = &cost->ways[way];
    float search = (float)search_of(cost, way) * ratio_or_one(model->detect_ratio);
    switch (way) {
    case WAY_GPU_FILE:
        return (int64_t)((float)taken->table_ns * ratio_or_one(model->device_ratio));
    case WAY_GPU_SCANS:
        return taken->table_ns;
    default:
        return (int64_t)((float)taken->table_ns * ratio_or_one(model->ratio[taken->kind]) + search) + 1;
    }
}

/* The first one in the table, but coefficients go to a GPU only where that is faster at what follows. */
static enum way general_way(const struct cost *cost, bool prefers_gpu) {
    int64_t handed = cost->ways[WAY_GPU_COEFFICIENTS].table_ns;
    bool first = prefers_gpu || handed < cost->ways[WAY_CPU].table_ns + cost->search_ns;
    enum way way = first ? WAY_GPU_COEFFICIENTS : WAY_BLOCKS;
    while (cost->ways[way].table_ns == 0) {
        way++;
    }
    return way;
}

enum { DOUBT = 4 /* see is_gpu_first */ };

/* The learnt time counts as at most DOUBT times the table's: otherwise one long wait could end the use of a
 * GPU's codecs, and with it the learning. */
static bool is_gpu_first(const struct cost *cost) {
    const struct way_cost *file = &cost->ways[WAY_GPU_FILE];
    int64_t most = file->table_ns * DOUBT;
    return (file->ns < most ? file->ns : most) < cost->ways[cost->general].ns;
}

struct cost cost_predict(const struct cost_model *model, const struct intent *intent, struct backend *gpu,
                         bool prefers_gpu) {
    const struct cost_parts parts = parts_of(intent);
    const float searching = search_ns(&intent->plan.detection, false) * (float)intent->frames;
    struct cost cost = {.search_ns = (int64_t)searching};
    for (enum way way = 0; way < WAY_COUNT; way++) {
        if (way == WAY_CPU || is_open(intent, way, gpu)) {
            cost.ways[way] = cost_of(way, &intent->plan, &parts);
            cost.ways[way].ns = learnt_ns(model, &cost, way);
        }
    }
    cost.way = cost.general = general_way(&cost, prefers_gpu);
    if (cost.ways[WAY_GPU_FILE].table_ns > 0 && (prefers_gpu || is_gpu_first(&cost))) {
        cost.way = WAY_GPU_FILE;
    }
    return cost;
}

static float clamp(float value, float least, float most) {
    return value < least ? least : value > most ? most : value;
}

/* The first request of a kind has the full `weight`; later ones have `learning` times that. */
static void learn(_Atomic float *ratio, int64_t table_ns, int64_t real_ns, float weight) {
    float old = *ratio;
    float seen = clamp((float)real_ns / (float)table_ns, 1 / ratio_max, ratio_max);
    *ratio = ratio_or_one(old) + (seen - ratio_or_one(old)) * weight * (old > 0 ? learning : 1);
}

void cost_learn(struct cost_model *model, const struct cost *cost, enum way way, int64_t real_ns,
                int64_t search_ns) {
    const struct way_cost *taken = &cost->ways[way];
    int64_t search = search_of(cost, way);
    int64_t own = way == WAY_GPU_COEFFICIENTS ? 0 : search_ns; /* a form may ask for one unannounced */
    if (taken->table_ns > 0) {
        float weight = clamp((float)taken->table_ns / weighty_ns, 0, 1);
        learn(&model->ratio[taken->kind], taken->table_ns, real_ns - own, weight);
    }
    if (search > 0) {
        float weight = clamp((float)search / weighty_ns, 0, 1);
        learn(&model->detect_ratio, search, search_ns, weight);
    }
}

/* The ratio follows the median of the times, by one step for each picture. A mean would follow the first
 * pictures of a burst, which take twenty times as long as later ones because the driver loads kernels and
 * allocates memory, and then the queue would send all pictures to the processor. The first 28 pictures
 * in progress on one GPU multiply the ratio by 5.5 at most. */
void cost_learn_device(struct cost_model *model, const struct cost *cost, int64_t real_ns) {
    float old = ratio_or_one(model->device_ratio);
    float seen = (float)real_ns / (float)cost->ways[WAY_GPU_FILE].table_ns;
    float step = old * device_step;
    model->device_ratio = clamp(seen > old ? old + step : old - step, 1 / device_ratio_max, device_ratio_max);
}

void cost_doubt_device(struct cost_model *model) {
    float old = ratio_or_one(model->device_ratio);
    model->device_ratio = old - (old - 1) * device_drift;
}
