/* SPDX-License-Identifier: MIT */
#include "gpu/detect/layers/layers.h"

#include "gpu/detect/layers/layer_kernels.h"
#include "gpu/detect/layers/layer_pack.h"
#include "gpu/stream/launch.h"

enum { THREADS = KERNEL_THREADS_X * KERNEL_THREADS_Y };

static unsigned ceil_divide(int64_t value, int64_t by) {
    return (unsigned)((value + by - 1) / by);
}

/* The size of a layer's output. */
struct size {
    int32_t width, height;
};

static struct size size_of(const struct search *search, int layer) {
    const int shift = layer == NETWORK_PICTURE ? 0 : network_shift(search->form, layer);
    return (struct size){search->width >> shift, search->height >> shift};
}

static int32_t pixels_of(struct size size) {
    return size.width * size.height;
}

static uint64_t source_of(const struct search *search, int layer) {
    return layer == NETWORK_PICTURE ? search->picture : layer == NETWORK_NONE ? 0 : search->tensor[layer];
}

static uint64_t target_of(const struct search *search, const struct pack_step *step) {
    const struct search_output *output = search_output_of(search, step->last);
    return output ? output->map : search->tensor[step->last];
}

static uint32_t zero_word(const struct search *search, int layer) {
    return (uint32_t)(network_zero(search->form, layer) & 0xff) * 0x01010101u;
}

static struct layer_finish finish_of(const struct search *search, const struct pack_step *step) {
    const struct network_layer *form = &search->form->layer[step->last];
    const struct model_layer *layer = &search->weights->layers[step->last];
    return (struct layer_finish){
        .addend = source_of(search, form->addend),
        .table = layer->table ? search->packed + step->table : 0,
        .addend_scale = layer->addend_scale,
        .offset = layer->offset,
        .least = form->activation == NETWORK_RELU ? 0 : -0x1p127f,
    };
}

static unsigned table_bytes(const struct layer_finish *finish) {
    return finish->table ? KERNEL_LAYER_TABLE_BYTES : 0;
}

/* ---- layers with weights ---- */

static enum status run_product(const struct search *search, const struct pack_step *step, struct error *err) {
    const struct network_layer *form = &search->form->layer[step->last];
    const struct layer_pack_product product = layer_pack_product(form);
    const struct size in = size_of(search, form->input), out = size_of(search, step->last);
    const struct search_output *output = search_output_of(search, step->last);
    const bool up = form->kind == NETWORK_UP;
    struct layer_product_pass pass = {
        .source = source_of(search, form->input),
        .target = target_of(search, step),
        .weights = search->packed + step->weights,
        .biases = search->packed + step->biases,
        .scales = search->packed + step->scales,
        .finish = finish_of(search, step),
        .pitch = output ? output->pitch : (int64_t)out.width * form->outputs,
        .inputs = product.inputs,
        .outputs = form->outputs,
        .columns = product.columns,
        .steps = product.steps,
        .sixteens = product.sixteens,
        .width = in.width,
        .height = in.height,
        .across = up ? in.width : out.width,
        .pixels = pixels_of(up ? in : out),
        .stride = form->stride,
        .zero = zero_word(search, form->input),
        .apart = up || output != NULL,
        .by = up ? 2 : 1,
    };
    pass.tiles = (int32_t)ceil_divide(pass.pixels, KERNEL_LAYER_WARPS * KERNEL_LAYER_PIXELS);
    const struct gpu_blocks blocks = {(unsigned)(pass.tiles * product.parts), KERNEL_LAYER_WARPS,
                                      KERNEL_LAYER_TABLE_BYTES + KERNEL_FACE_DUMMY};
    return gpu_launch(search->stream, product.kernel, &pass, blocks, err);
}

static enum status run_depth(const struct search *search, const struct pack_step *step, struct error *err) {
    const struct network_layer *form = &search->form->layer[step->last];
    const struct size in = size_of(search, form->input), out = size_of(search, step->last);
    enum kernel kernel;
    if (!layer_pack_depth(form, &kernel)) {
        return fail(err, ST_INTERNAL, "no kernel runs layer %s", form->name);
    }
    struct layer_depth_pass pass = {
        .source = source_of(search, form->input),
        .target = target_of(search, step),
        .weights = search->packed + step->weights,
        .biases = search->packed + step->biases,
        .scales = search->packed + step->scales,
        .finish = finish_of(search, step),
        .words = form->outputs / KERNEL_LAYER_WORD,
        .width = in.width,
        .height = in.height,
        .out_width = out.width,
        .out_height = out.height,
        .zero = zero_word(search, form->input),
    };
    const int64_t strips = (int64_t)ceil_divide(out.height, KERNEL_LAYER_RUN) * out.width;
    const struct gpu_blocks blocks = {ceil_divide(strips, THREADS / pass.words), KERNEL_THREADS_Y,
                                      table_bytes(&pass.finish)};
    return gpu_launch(search->stream, kernel, &pass, blocks, err);
}

/* ---- layers without ---- */

static struct layer_word_pass word_pass(const struct search *search, const struct pack_step *step) {
    const struct network_layer *form = &search->form->layer[step->last];
    const struct size out = size_of(search, step->last);
    const bool added = form->addend != NETWORK_NONE;
    return (struct layer_word_pass){
        .source = source_of(search, form->input),
        .target = target_of(search, step),
        .factors = search->factors[step->last],
        .sums = search->sums[step->last],
        .finish = finish_of(search, step),
        .words = form->outputs / KERNEL_LAYER_WORD,
        .source_words = form->inputs / KERNEL_LAYER_WORD,
        .width = out.width,
        .pixels = pixels_of(out),
        .source_half = size_of(search, form->input).width < out.width,
        .addend_half = added && size_of(search, form->addend).width < out.width,
        .zero = (float)network_zero(search->form, form->input),
    };
}

static enum status run_words(const struct search *search, enum kernel kernel, struct layer_word_pass *pass,
                             int32_t rounds, unsigned shared, struct error *err) {
    const int64_t beside = THREADS / pass->words;
    const struct gpu_blocks blocks = {ceil_divide(pass->pixels, beside * rounds), KERNEL_THREADS_Y, shared};
    return gpu_launch(search->stream, kernel, pass, blocks, err);
}

static enum status run_gate(const struct search *search, const struct pack_step *step,
                            const struct layer_word_pass *words, struct error *err) {
    const struct network_layer *form = &search->form->layer[step->last];
    const struct model_layer *layer = &search->weights->layers[step->last];
    struct layer_gate_pass pass = {
        .sums = words->sums,
        .factors = words->factors,
        .reduce = search->packed + step->reduce,
        .reduce_bias = search->packed + step->reduce_bias,
        .expand = search->packed + step->expand,
        .expand_bias = search->packed + step->expand_bias,
        .channels = form->inputs,
        .between = form->size,
        .pixels = words->pixels,
        .base = layer->base,
        .ratio = layer->ratio,
    };
    const struct gpu_blocks blocks = {1, KERNEL_THREADS_Y,
                                      2 * KERNEL_LAYER_CHANNELS * sizeof(float) + KERNEL_FACE_DUMMY};
    return gpu_launch(search->stream, KERNEL_layer_gate, &pass, blocks, err);
}

static enum status run_excite(const struct search *search, const struct pack_step *step, struct error *err) {
    struct layer_word_pass pass = word_pass(search, step);
    const unsigned shared = (unsigned)(pass.words * KERNEL_LAYER_WORD) * sizeof(uint32_t);
    enum status status = run_words(search, KERNEL_layer_squeeze, &pass, KERNEL_LAYER_SUM_ROUNDS, shared, err);
    status = status == ST_OK ? run_gate(search, step, &pass, err) : status;
    return status == ST_OK ? run_words(search, KERNEL_layer_excite, &pass, KERNEL_LAYER_ROUNDS, 0, err)
                           : status;
}

static enum status run_picture(const struct search *search, struct error *err) {
    struct layer_picture_pass pass = {
        .picture = search_picture(search),
        .target = search->picture,
        .width = search->width,
        .height = search->height,
        .border = search->border,
    };
    const int64_t pairs = (int64_t)((search->width + 1) / 2) * search->height;
    return gpu_launch(search->stream, KERNEL_layer_picture, &pass,
                      (struct gpu_blocks){ceil_divide(pairs, THREADS), KERNEL_THREADS_Y, 0}, err);
}

enum status layers_run(const struct search *search, const struct pack_step *step, struct error *err) {
    struct layer_word_pass words;
    switch (step->kind) {
    case PACK_PICTURE:
        return run_picture(search, err);
    case PACK_PRODUCT:
        return run_product(search, step, err);
    case PACK_DEPTH:
        return run_depth(search, step, err);
    case PACK_EXCITE:
        return run_excite(search, step, err);
    default:
        break;
    }
    words = word_pass(search, step);
    return run_words(search, step->kind == PACK_POOL ? KERNEL_layer_pool : KERNEL_layer_concat, &words,
                     KERNEL_LAYER_ROUNDS, 0, err);
}
