/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_tensors.h"

#include "core/bytes.h"
#include "core/image.h"
#include "cpu/detect/detect_kernels.h"

#define BLOCK(i)                                                                                             \
    { FACE_block##i##_expand, FACE_block##i##_project }

const struct detect_pass detect_passes[DETECT_PASSES] = {{FACE_stem, FACE_block1_project},
                                                         BLOCK(2),
                                                         BLOCK(3),
                                                         BLOCK(4),
                                                         BLOCK(5),
                                                         BLOCK(6),
                                                         BLOCK(7),
                                                         BLOCK(8),
                                                         BLOCK(9),
                                                         BLOCK(10),
                                                         BLOCK(11),
                                                         BLOCK(12),
                                                         BLOCK(13),
                                                         BLOCK(14),
                                                         BLOCK(15),
                                                         BLOCK(16),
                                                         {FACE_neck32, FACE_neck32},
                                                         {FACE_up16, FACE_neck16},
                                                         {FACE_up8, FACE_neck8},
                                                         {FACE_up4, FACE_heads}};

/* The last pass that reads the output of this one. */
static unsigned last_reader(unsigned pass) {
    unsigned last = pass;
    for (unsigned p = pass + 1; p < DETECT_PASSES; p++) {
        for (int i = detect_passes[p].first; i <= detect_passes[p].last; i++) {
            bool reads = detector_faces.network->layer[i].input == detect_passes[pass].last ||
                         detector_faces.network->layer[i].addend == detect_passes[pass].last;
            last = reads ? p : last;
        }
    }
    return last;
}

static size_t tensor_bytes(const struct detect_tensor *tensor) {
    return bytes_align_up(tensor->stride * tensor->height + DETECT_SLACK, IMAGE_ALIGNMENT);
}

/* Where the outputs of passes lie; those with `placed`. */
struct detect_placing {
    struct detect_tensor *tensors;
    bool placed[DETECT_PASSES];
    unsigned last[DETECT_PASSES]; /* passes that read them */
};

static struct detect_tensor *output_of(const struct detect_placing *placing, unsigned pass) {
    return &placing->tensors[detect_passes[pass].last];
}

/* Whether the output of a pass, at its offset, overlaps no other tensor of the same time. If it overlaps one,
 * the offset becomes the end of that tensor. */
static bool is_free(const struct detect_placing *placing, unsigned pass) {
    struct detect_tensor *tensor = output_of(placing, pass);
    for (unsigned p = 0; p < DETECT_PASSES; p++) {
        const struct detect_tensor *other = output_of(placing, p);
        bool together = placing->placed[p] && placing->last[p] >= pass && placing->last[pass] >= p;
        size_t end = other->offset + tensor_bytes(other);
        if (together && tensor->offset < end && other->offset < tensor->offset + tensor_bytes(tensor)) {
            tensor->offset = end;
            return false;
        }
    }
    return true;
}

/* The largest output that has no place yet; DETECT_PASSES: none. The heads are not kept. */
static unsigned largest(const struct detect_placing *placing) {
    unsigned best = DETECT_PASSES;
    for (unsigned p = 0; p + 1 < DETECT_PASSES; p++) {
        bool larger = best == DETECT_PASSES ||
                      tensor_bytes(output_of(placing, p)) > tensor_bytes(output_of(placing, best));
        best = !placing->placed[p] && larger ? p : best;
    }
    return best;
}

static void fill_size(struct detect_tensor tensors[FACE_LAYERS], int layer, uint32_t width, uint32_t height) {
    const struct network_layer *form = &detector_faces.network->layer[layer];
    const bool picture = form->input == NETWORK_PICTURE;
    struct detect_tensor *tensor = &tensors[layer];
    width = picture ? width : tensors[form->input].width;
    height = picture ? height : tensors[form->input].height;
    bool up = form->kind == NETWORK_UP;
    tensor->width = up ? width * 2 : width / (uint32_t)form->stride;
    tensor->height = up ? height * 2 : height / (uint32_t)form->stride;
    tensor->stride = (size_t)tensor->width * (size_t)form->outputs;
}

size_t detect_tensors_plan(struct detect_tensor tensors[FACE_LAYERS], uint32_t width, uint32_t height) {
    size_t most = 0;
    for (int i = 0; i < FACE_LAYERS; i++) {
        fill_size(tensors, i, width, height);
    }
    struct detect_placing placing = {.tensors = tensors};
    for (unsigned pass = 0; pass < DETECT_PASSES; pass++) {
        placing.last[pass] = last_reader(pass);
    }
    for (unsigned pass; (pass = largest(&placing)) < DETECT_PASSES; placing.placed[pass] = true) {
        struct detect_tensor *tensor = output_of(&placing, pass);
        tensor->offset = 0;
        while (!is_free(&placing, pass)) {
        }
        size_t end = tensor->offset + tensor_bytes(tensor);
        most = end > most ? end : most;
    }
    return most;
}
