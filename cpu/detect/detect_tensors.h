/* SPDX-License-Identifier: MIT
 * The passes of a network and the tensors that they leave to later passes. A pass runs the layers `first` to
 * `last` row by row, and only the output of the last one is kept. */
#ifndef BLURD_CPU_DETECT_DETECT_TENSORS_H
#define BLURD_CPU_DETECT_DETECT_TENSORS_H

#include "core/status.h"
#include "detect/network.h"

enum { DETECT_STAGES_MAX = 8 /* layers of a pass */ };

struct detect_pass {
    int first, last; /* layers */
};

struct detect_passes {
    bool needed[NETWORK_LAYERS_MAX]; /* layers that run */
    unsigned count;
    struct detect_pass pass[NETWORK_LAYERS_MAX];
};

/* Whether the kernels can run a network that network_check accepts; else ST_UNSUPPORTED with a sentence. */
enum status detect_tensors_check(const struct network *network, struct error *err);

/* Whether an EXCITE layer that runs reads this one, and needs the sums of its channels. */
bool detect_tensors_summed(const struct network *network, const struct detect_passes *passes, int layer);

/* Whether a layer is a result: it is kept outside the tensors. */
bool detect_tensors_result(const struct network *network, int layer);

/* Cuts the layers that the outputs whose bits are set depend on into passes. Layers of a pass are those whose
 * output only the next one reads, and that are not worth a tensor: the many channels of inverted residual
 * blocks, what is enlarged, what windows of the next layer read, and the large outputs of the first layers.
 */
void detect_passes_cut(const struct network *network, uint32_t outputs, struct detect_passes *passes);

/* Size of the output of a layer, and where it lies in the memory of all tensors. */
struct detect_tensor {
    uint32_t width, height;
    size_t stride; /* bytes of a row */
    size_t offset;
};

/* Fills the sizes of all layers, and the offsets of those at the ends of passes but of results, for a padded
 * picture of this size. Returns the bytes of memory. */
size_t detect_tensors_plan(const struct network *network, const struct detect_passes *passes,
                           struct detect_tensor tensors[NETWORK_LAYERS_MAX], uint32_t width, uint32_t height);

#endif
