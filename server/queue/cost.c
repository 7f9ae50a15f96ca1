/* SPDX-License-Identifier: MIT */
#include "server/queue/cost.h"

#include "server/queue/cost_filters.h"

enum {
    GUESSED_PIXELS = 8,    /* a byte, of a picture that was not recognised: what a sharp JPEG has */
    GUESSED_HEIGHT = 1024, /* rows of such a picture */
};

/* Nanoseconds of one core, from the Server-Timing of a photograph of 1920x1080 (docs/adr/0015): two Zen 5
 * cores, AVX-512, November 2026. Fast machines and slow ones differ by factors, which are learnt; what counts
 * here is how the terms stand to each other. */
static const struct {
    float pixel, byte;
} decode_ns[COST_INPUTS] = {
    {0.9F, 7.3F}, /* JPEG of one scan: 3.0 ms with 155 KB, 5.8 ms with 539 KB */
    {2.5F, 43},   /* progressive: 11.3 ms with 145 KB, 26.2 ms with 491 KB */
    {5, 0.9F},    /* PNG, 3 channels: 15.5 ms */
    {30, 0.9F},   /* interlaced: 68 ms */
    {1, 10},      /* not recognised */
};

/* What every request takes, however small its picture: its plan, its memory, tables of the codecs. A picture
 * of one pixel takes 60 to 80 us. */
static const float request_ns = 60e3F;

/* JPEGs have blocks of that, and a row of a PNG has costs of its own. */
static const struct cost_least encoded_least = {16, 16};

enum output_kind { OUTPUT_JPEG, OUTPUT_PROGRESSIVE, OUTPUT_PNG, OUTPUT_PACKED };

static const float encode_ns[COST_OUTPUTS] = {
    [OUTPUT_JPEG] = 0.9F,        /* a sample: 3.2 ms for 3.1 million */
    [OUTPUT_PROGRESSIVE] = 6.5F, /* 21 ms */
    [OUTPUT_PNG] = 1.5F,         /* 8 ms for 6.2 million */
    [OUTPUT_PACKED] = 1.5F,      /* before it is packed */
};

/* What packing a byte of a PNG adds at that effort, at most, and how long and how much it may be: as in
 * codecs/png/png_encode.c. */
static const float pack_ns[10] = {0, 0, 20, 35, 65, 190, 300, 350, 350, 600};
static const float pack_max_ns = 4e9F;
static const uint64_t pack_max_bytes = 64 << 20;

/* From JPEG to JPEG on a GPU: what a picture takes alone (docs/adr/0020). What it takes beside others is
 * learnt. */
static const float device_ns = 750e3F, device_pixel_ns = 0.15F;
static const float device_ratio_max = 64;

/* The weight of a request in the mean of its kind. What takes less than weighty_ns by the table has less, in
 * proportion: its time is mostly what every request takes, and says little about the pixels of large ones. */
static const float learning = 0.125F, weighty_ns = 5e6F;
static const float ratio_max = 32;

struct size {
    uint64_t pixels, samples;
    unsigned sample_bytes;
};

static struct size size_of(const struct cost_request *request) {
    const struct glance *glance = request->glance;
    if (!glance) {
        uint64_t pixels = (uint64_t)request->body * GUESSED_PIXELS;
        return (struct size){pixels, pixels * 3, 1};
    }
    uint64_t pixels = (uint64_t)glance->width * glance->height;
    bool planes = glance->reduced && request->output == CODEC_JPEG &&
                  request->parameters->input.colorspace == COLORSPACE_NATIVE;
    return (struct size){pixels, planes ? pixels * 2 : pixels * glance->channels, glance->depth / 8u};
}

static unsigned input_of(const struct cost_request *request) {
    const struct glance *glance = request->glance;
    return !glance ? 4u : (glance->codec == CODEC_PNG ? 2u : 0u) + glance->progressive;
}

/* Pipelines and redaction are kinds of their own. */
static unsigned work_of(const struct parameters *parameters) {
    if (parameters->input.mode == MODE_REDACT) {
        return FILTER_COUNT + 1;
    }
    return parameters->ops.count == 1 ? filter_id(parameters->ops.operation[0].filter) : FILTER_COUNT;
}

static enum output_kind output_of(const struct cost_request *request) {
    const struct output_arguments *output = &request->parameters->output;
    if (request->output == CODEC_PNG) {
        return output->effort > 1 ? OUTPUT_PACKED : OUTPUT_PNG;
    }
    return output->progressive ? OUTPUT_PROGRESSIVE : OUTPUT_JPEG;
}

/* A picture that was not recognised is taken for one of a usual form. */
static struct cost_shape shape_of(const struct cost_request *request, const struct size *size) {
    const struct glance *glance = request->glance;
    const struct cost_shape unknown = {
        .width = (uint32_t)(size->pixels / GUESSED_HEIGHT + 1), .height = GUESSED_HEIGHT, .samples = 3};
    return !glance ? unknown
                   : (struct cost_shape){.width = glance->width,
                                         .height = glance->height,
                                         .samples =
                                             (float)size->samples / (float)(size->pixels ? size->pixels : 1),
                                         .real = glance->depth == 16 || glance->channels % 2 == 0};
}

static float encoding_ns(const struct cost_request *request, enum output_kind kind, const struct size *size) {
    const struct cost_shape shape = shape_of(request, size);
    float ns = encode_ns[kind] * cost_samples(&shape, encoded_least);
    uint64_t bytes = size->samples * size->sample_bytes;
    if (kind != OUTPUT_PACKED || bytes > pack_max_bytes) {
        return ns;
    }
    float packing = pack_ns[request->parameters->output.effort] * (float)bytes;
    return ns + (packing < pack_max_ns ? packing : pack_max_ns);
}

static float known(float ratio) {
    return ratio > 0 ? ratio : 1;
}

/* Whether the filters will get the JPEG's planes, and not RGB (server/picture/plan.c), as far as the header
 * tells. */
static bool keeps_planes(const struct cost_request *request) {
    const struct parameters *parameters = request->parameters;
    bool reduced = request->glance->reduced;
    const struct image_shape usual = {
        .model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = reduced, .chroma_shift_y = reduced};
    bool all = parameters->output.subsampling == SUBSAMPLING_AUTO ||
               (parameters->output.subsampling == SUBSAMPLING_444) != reduced;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        all = all && operation->filter->planar && operation->filter->planar(&operation->arguments, &usual);
    }
    return all;
}

/* Whether a GPU's codecs may do it, as far as the header tells. */
static bool suits_device(const struct cost_request *request, enum output_kind output) {
    const struct input_arguments *input = &request->parameters->input;
    return request->glance && request->glance->baseline && output == OUTPUT_JPEG &&
           input->backend != BACKEND_CPU && input->colorspace == COLORSPACE_NATIVE &&
           input->mode == MODE_PLAIN && input->region.count == 0 &&
           work_of(request->parameters) != FILTER_STATS &&
           (request->glance->channels == 1 || keeps_planes(request));
}

struct cost cost_predict(const struct cost_model *model, const struct cost_request *request) {
    const struct size size = size_of(request);
    unsigned input = input_of(request), work = work_of(request->parameters);
    enum output_kind output = output_of(request);
    const struct cost_shape shape = shape_of(request, &size);
    float ns = request_ns + decode_ns[input].pixel * (float)size.pixels +
               decode_ns[input].byte * (float)request->body + cost_filters_ns(request->parameters, &shape) +
               (work == FILTER_STATS ? 0 : encoding_ns(request, output, &size));
    unsigned kind = (input * COST_WORKS + work) * COST_OUTPUTS + output;
    float device = suits_device(request, output) ? device_ns + device_pixel_ns * (float)size.pixels : 0;
    return (struct cost){.kind = kind,
                         .table_ns = (int64_t)ns + 1,
                         .ns = (int64_t)(ns * known(model->ratio[kind])) + 1,
                         .device_table_ns = (int64_t)device,
                         .device_ns = (int64_t)(device * known(model->device_ratio))};
}

bool cost_device_first(const struct cost *cost) {
    int64_t most = cost->device_table_ns * COST_DOUBT;
    return cost->device_table_ns > 0 && (cost->device_ns < most ? cost->device_ns : most) < cost->ns;
}

static float limited(float value, float least, float most) {
    return value < least ? least : value > most ? most : value;
}

/* `weight` of 1: the first of its kind is all that is known, later ones count as `learning` says. */
static void learn(_Atomic float *ratio, int64_t table_ns, int64_t real_ns, float most, float weight) {
    float old = *ratio;
    float seen = limited((float)real_ns / (float)table_ns, 1 / most, most);
    *ratio = known(old) + (seen - known(old)) * weight * (old > 0 ? learning : 1);
}

void cost_learn(struct cost_model *model, const struct cost *cost, int64_t real_ns) {
    float weight = limited((float)cost->table_ns / weighty_ns, 0, 1);
    learn(&model->ratio[cost->kind], cost->table_ns, real_ns, ratio_max, weight);
}

void cost_learn_device(struct cost_model *model, const struct cost *cost, int64_t real_ns) {
    learn(&model->device_ratio, cost->device_table_ns, real_ns, device_ratio_max, 1);
}
