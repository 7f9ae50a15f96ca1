/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_tensors.h"

#include "core/bytes.h"
#include "core/image.h"
#include "cpu/detect/detect_kernels.h"
#include "detect/placing.h"

/* ---- what the kernels can run ---- */

enum {
    INPUTS_MAX = 1012,   /* of a sum: blocks of twelve pixels stay in the cache */
    DEPTH_CHANNELS = 16, /* the least that a level filters at once */
    KEPT_SHIFT = 2,      /* outputs of less than half of the picture's sides are small enough to keep */
};

static enum status check_depth(const struct network_layer *form, struct error *err) {
    return form->addend == NETWORK_NONE && form->outputs % DEPTH_CHANNELS == 0
               ? ST_OK
               : fail(err, ST_UNSUPPORTED,
                      "the depthwise layer %s needs a multiple of %d channels, and no addend", form->name,
                      DEPTH_CHANNELS);
}

static enum status check_layer(const struct network_layer *form, struct error *err) {
    const bool picture = form->input == NETWORK_PICTURE;
    if (form->kind == NETWORK_UP && form->activation == NETWORK_TABLE) {
        return fail(err, ST_UNSUPPORTED, "layer %s enlarges and has a table", form->name);
    }
    if (form->kind == NETWORK_DEPTH && !picture) {
        return check_depth(form, err);
    }
    if (form->kind != NETWORK_DENSE && picture) {
        return fail(err, ST_UNSUPPORTED, "layer %s reads the picture, which only 3x3 layers do", form->name);
    }
    if (network_weights(form) > 0 && form->inputs * (form->kind == NETWORK_DENSE ? 9 : 1) > INPUTS_MAX) {
        return fail(err, ST_UNSUPPORTED, "layer %s adds more than %d products", form->name, INPUTS_MAX);
    }
    return ST_OK;
}

enum status detect_tensors_check(const struct network *network, struct error *err) {
    enum status status = ST_OK;
    for (int i = 0; i < network->layers && status == ST_OK; i++) {
        status = check_layer(&network->layer[i], err);
    }
    return status;
}

/* ---- passes ---- */

static bool reads(const struct network_layer *form, int layer) {
    return form->input == layer || form->addend == layer;
}

static bool has_other_readers(const struct network *network, const bool *needed, int layer) {
    for (int i = layer + 2; i < network->layers; i++) {
        if (needed[i] && reads(&network->layer[i], layer)) {
            return true;
        }
    }
    return false;
}

static bool has_window(const struct network_layer *form) {
    return form->kind == NETWORK_DENSE || form->kind == NETWORK_DEPTH;
}

/* Whether a layer reads rows that another pass has made: UP and POOL read their pixels in their own way, and
 * EXCITE needs all sums before it begins. */
static bool begins_pass(const struct network_layer *form) {
    return form->kind == NETWORK_UP || form->kind == NETWORK_POOL || form->kind == NETWORK_EXCITE;
}

/* Whether a layer is made where the one before it is. */
static bool joins(const struct network *network, const bool *needed, int layer) {
    const struct network_layer *form = &network->layer[layer], *before = form - 1;
    const bool once = (form->input == layer - 1) != (form->addend == layer - 1);
    if (!once || begins_pass(form) || has_other_readers(network, needed, layer - 1)) {
        return false;
    }
    if (form->kind == NETWORK_CONCAT) {
        return network_shift(network, layer - 1) == network_shift(network, layer);
    }
    if (before->kind == NETWORK_UP) {
        return !has_window(form);
    }
    return has_window(form) || has_window(before) || before->kind == NETWORK_CONCAT ||
           network_shift(network, layer - 1) < KEPT_SHIFT;
}

void detect_passes_cut(const struct network *network, uint32_t outputs, struct detect_passes *passes) {
    struct detect_pass *pass = NULL;
    network_needed(network, outputs, passes->needed);
    passes->count = 0;
    for (int i = 0; i < network->layers; i++) {
        if (!passes->needed[i]) {
            continue;
        }
        if (!pass || i - pass->first >= DETECT_STAGES_MAX || !joins(network, passes->needed, i)) {
            pass = &passes->pass[passes->count++];
            pass->first = i;
        }
        pass->last = i;
    }
}

bool detect_tensors_summed(const struct network *network, const struct detect_passes *passes, int layer) {
    for (int i = layer + 1; i < network->layers; i++) {
        if (passes->needed[i] && network->layer[i].kind == NETWORK_EXCITE &&
            network->layer[i].input == layer) {
            return true;
        }
    }
    return false;
}

bool detect_tensors_result(const struct network *network, int layer) {
    for (int i = 0; i < network->outputs; i++) {
        if (network->output[i] == layer) {
            return true;
        }
    }
    return false;
}

/* ---- tensors ---- */

/* The last pass that reads the output of this one. */
static unsigned last_reader(const struct network *network, const struct detect_passes *passes,
                            unsigned pass) {
    unsigned last = pass;
    for (unsigned p = pass + 1; p < passes->count; p++) {
        for (int i = passes->pass[p].first; i <= passes->pass[p].last; i++) {
            last = reads(&network->layer[i], passes->pass[pass].last) ? p : last;
        }
    }
    return last;
}

static void fill_size(const struct network *network, struct detect_tensor *tensors, int layer, uint32_t width,
                      uint32_t height) {
    const struct network_layer *form = &network->layer[layer];
    const int input = form->kind == NETWORK_CONCAT ? form->addend : form->input;
    const bool picture = input == NETWORK_PICTURE;
    struct detect_tensor *tensor = &tensors[layer];
    width = picture ? width : tensors[input].width;
    height = picture ? height : tensors[input].height;
    bool up = form->kind == NETWORK_UP;
    tensor->width = up ? width * 2 : width / (uint32_t)form->stride;
    tensor->height = up ? height * 2 : height / (uint32_t)form->stride;
    tensor->stride = (size_t)tensor->width * (size_t)form->outputs;
}

size_t detect_tensors_plan(const struct network *network, const struct detect_passes *passes,
                           struct detect_tensor tensors[NETWORK_LAYERS_MAX], uint32_t width,
                           uint32_t height) {
    struct placing_piece pieces[NETWORK_LAYERS_MAX];
    unsigned place[NETWORK_LAYERS_MAX], kept = 0; /* of each piece the pass */
    for (int i = 0; i < network->layers; i++) {
        fill_size(network, tensors, i, width, height);
    }
    for (unsigned i = 0; i < passes->count; i++) {
        const struct detect_tensor *tensor = &tensors[passes->pass[i].last];
        if (!detect_tensors_result(network, passes->pass[i].last)) {
            place[kept] = i;
            pieces[kept++] = (struct placing_piece){
                .bytes = bytes_align_up(tensor->stride * tensor->height + DETECT_SLACK, IMAGE_ALIGNMENT),
                .first = i,
                .last = last_reader(network, passes, i)};
        }
    }
    const size_t bytes = placing_fill(pieces, kept);
    for (unsigned i = 0; i < kept; i++) {
        tensors[passes->pass[place[i]].last].offset = pieces[i].offset;
    }
    return bytes;
}
