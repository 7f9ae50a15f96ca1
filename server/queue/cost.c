/* SPDX-License-Identifier: MIT */
#include "server/queue/cost.h"

#include "core/jpeg/coefficients.h"
#include "core/tuned.h"
#include "server/picture/intent.h"
#include "server/queue/cost_filters.h"

/* Inputs of any format come first, two of each, then these. */
enum { UNKNOWN_INPUT = 2 * CODEC_COUNT, HANDED_INPUT, LIBJPEG_INPUT };
static const struct decode_terms decode_ns[COST_INPUTS] = {
    [UNKNOWN_INPUT] = {TUNED_DECODE_UNKNOWN},
    [HANDED_INPUT] = {TUNED_DECODE_COEFFICIENTS},
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

/* Pipelines and redaction are separate kinds. */
static unsigned work_of(const struct parameters *parameters) {
    if (parameters->input.mode == MODE_REDACT) {
        return FILTER_COUNT + 1;
    }
    return parameters->ops.count == 1 ? filter_id(parameters->ops.operation[0].filter) : FILTER_COUNT;
}

static float pixels_of(const struct image_shape *stored) {
    return (float)stored->width * (float)stored->height;
}

static struct encode_cost encoding_cost(const struct work_plan *plan) {
    const struct cost_shape shape = cost_shape_of(&plan->encoded);
    float pixels = pixels_of(&plan->encoded);
    const struct encode_extent extent = {
        .pixels = pixels,
        .samples = cost_samples(&shape, encoded_least),
        .bytes = pixels * shape.samples * (float)(plan->encoded.depth / 8),
    };
    return codec_get(plan->output)->encode_cost(&extent, &plan->options);
}

static float known(float ratio) {
    return ratio > 0 ? ratio : 1;
}

/* A device's time follows the decoder's picture, or the encoder's where that is larger. */
static float largest_pixels(const struct work_plan *plan) {
    float stored = pixels_of(&plan->stored), encoded = pixels_of(&plan->encoded);
    return encoded > stored ? encoded : stored;
}

/* Pixels of the picture that the network sees; 0: none is searched. */
static float searched_pixels(const struct detection *detection) {
    const struct faces_frame *frame = &detection->frame;
    return detection->wanted ? (float)frame->network_width * (float)frame->network_height : 0;
}

static float device_time_ns(const struct work_plan *plan) {
    return TUNED_GPU_NS + TUNED_GPU_PIXEL_NS * largest_pixels(plan) +
           TUNED_GPU_DETECT_PIXEL_NS * searched_pixels(&plan->detection) +
           cost_filters_device_ns(plan->parameters, &plan->chain, &plan->upright);
}

/* Whether a GPU reads such files: gpu/engine/scan_reader.h. */
static bool is_readable(const struct work_plan *plan) {
    struct coefficients_layout layout;
    return plan->input.size <= COST_READ_MAX && coefficients_lay_out(&plan->picture.native, &layout) &&
           coefficients_size(&layout) <= COST_READ_VALUES_MAX;
}

/* The whole of a file that cores can hand over, with a GPU that reads it. */
static float reading_ns(const struct work_plan *plan) {
    float size = (float)plan->input.size;
    return is_readable(plan) ? TUNED_GPU_READ_NS + TUNED_GPU_READ_BYTE_NS * size + device_time_ns(plan) : 0;
}

static float decoding_ns(const struct work_plan *plan, unsigned input) {
    const struct decode_terms *terms = input < UNKNOWN_INPUT
                                           ? &codec_get((enum codec_id)(input / 2))->decode_ns[input % 2]
                                           : &decode_ns[input];
    return terms->pixel * pixels_of(&plan->stored) + terms->byte * (float)plan->input.size;
}

static unsigned kind_of(const struct work_plan *plan, unsigned input, const struct encode_cost *encoding) {
    unsigned output = 2 * (unsigned)plan->output + encoding->kind;
    return (input * COST_WORKS + work_of(plan->parameters)) * COST_OUTPUTS + output;
}

struct cost cost_predict(const struct cost_model *model, const struct intent *intent) {
    const struct work_plan *plan = &intent->plan;
    const struct encode_cost encoding = encoding_cost(plan);
    unsigned input = input_of(intent), kind = kind_of(plan, input, &encoding);
    float ns = TUNED_REQUEST_NS + decoding_ns(plan, input) +
               cost_filters_ns(plan->parameters, &plan->chain, &plan->upright) +
               (plan_answer(plan) == ANSWER_PICTURE ? encoding.ns : 0);
    float device = intent_suits_device(intent) ? device_time_ns(plan) : 0;
    bool hands = intent_hands_over(intent);
    float handed = hands ? TUNED_REQUEST_NS + decoding_ns(plan, HANDED_INPUT) + device_time_ns(plan) : 0;
    float detect = TUNED_DETECT_PIXEL_NS * searched_pixels(&plan->detection);
    float all = ns * known(model->ratio[kind]) + detect * known(model->detect_ratio);
    return (struct cost){.kind = kind,
                         .table_ns = (int64_t)ns + 1,
                         .detect_table_ns = (int64_t)detect,
                         .ns = (int64_t)all + 1,
                         .device_table_ns = (int64_t)device,
                         .device_ns = (int64_t)(device * known(model->device_ratio)),
                         .handed_kind = kind_of(plan, HANDED_INPUT, &encoding),
                         .handed_table_ns = (int64_t)handed,
                         .read_ns = hands ? (int64_t)reading_ns(plan) : 0};
}

bool cost_hands_first(const struct cost *cost) {
    return cost->handed_table_ns > 0 && cost->handed_table_ns < cost->table_ns + cost->detect_table_ns;
}

void cost_hand_over(struct cost *cost, const struct cost_model *model) {
    cost->handed = true;
    cost->kind = cost->handed_kind;
    cost->table_ns = cost->handed_table_ns;
    cost->detect_table_ns = 0; /* the GPU searches */
    cost->ns = (int64_t)((float)cost->table_ns * known(model->ratio[cost->kind])) + 1;
}

bool cost_device_first(const struct cost *cost) {
    int64_t most = cost->device_table_ns * COST_DOUBT;
    return cost->device_table_ns > 0 && (cost->device_ns < most ? cost->device_ns : most) < cost->ns;
}

static float limited(float value, float least, float most) {
    return value < least ? least : value > most ? most : value;
}

/* The first request of a kind has the full `weight`; later ones have `learning` times that. */
static void learn(_Atomic float *ratio, int64_t table_ns, int64_t real_ns, float weight) {
    float old = *ratio;
    float seen = limited((float)real_ns / (float)table_ns, 1 / ratio_max, ratio_max);
    *ratio = known(old) + (seen - known(old)) * weight * (old > 0 ? learning : 1);
}

void cost_learn(struct cost_model *model, const struct cost *cost, int64_t real_ns) {
    float weight = limited((float)cost->table_ns / weighty_ns, 0, 1);
    learn(&model->ratio[cost->kind], cost->table_ns, real_ns, weight);
}

void cost_learn_detection(struct cost_model *model, const struct cost *cost, int64_t real_ns) {
    if (cost->detect_table_ns > 0) {
        float weight = limited((float)cost->detect_table_ns / weighty_ns, 0, 1);
        learn(&model->detect_ratio, cost->detect_table_ns, real_ns, weight);
    }
}

/* The ratio follows the median of the times, by one step for each picture. A mean would follow the first
 * pictures of a burst, which take twenty times as long as later ones because the driver loads kernels and
 * allocates memory, and then the queue would send all pictures to the processor. The first 28 pictures
 * in progress on one GPU multiply the ratio by 5.5 at most. */
void cost_learn_device(struct cost_model *model, const struct cost *cost, int64_t real_ns) {
    float old = known(model->device_ratio);
    float seen = (float)real_ns / (float)cost->device_table_ns;
    float step = old * device_step;
    model->device_ratio =
        limited(seen > old ? old + step : old - step, 1 / device_ratio_max, device_ratio_max);
}

void cost_doubt_device(struct cost_model *model) {
    float old = known(model->device_ratio);
    model->device_ratio = old - (old - 1) * device_drift;
}
