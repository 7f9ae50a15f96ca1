/* SPDX-License-Identifier: MIT
 * The file with the weights of a detector's network.
 *
 * All numbers are little endian. The file is a header of 64 bytes (the detector's magic and zeros); for each
 * layer of the network its arrays, in the order of enum model_array; and 64 bytes at the end, the CRC-32 of
 * all before and zeros. Each array is padded with zeros to a multiple of 64 bytes, so that all are aligned.
 * Only one size is right.
 */
#ifndef BLURD_DETECT_MODEL_H
#define BLURD_DETECT_MODEL_H

#include <pthread.h>

#include "core/bytes.h"
#include "core/status.h"
#include "detect/detectors.h"

enum { MODEL_ALIGNMENT = 64, MODEL_PATH_MAX = 256 };

enum model_array {
    MODEL_WEIGHTS,     /* int8_t; network_weights() says in which order */
    MODEL_SCALES,      /* float, one for each output */
    MODEL_BIASES,      /* int32_t, one for each output */
    MODEL_REDUCE,      /* float [size][inputs] of EXCITE */
    MODEL_REDUCE_BIAS, /* float [size] */
    MODEL_EXPAND,      /* float [outputs][size] */
    MODEL_EXPAND_BIAS, /* float [outputs] */
    MODEL_TERMS,       /* float: addend_scale, offset; of EXCITE also ratio, base */
    MODEL_TABLE,       /* uint8_t [256], with NETWORK_TABLE */
    MODEL_ARRAYS
};

/* Bytes of an array of a layer, without padding; 0: the layer has no such array. */
size_t model_array_bytes(const struct network_layer *form, enum model_array array);

/* The names are those of detect/network.h. NULL and 0: the layer has none. */
struct model_layer {
    const int8_t *weights;
    const float *scale;
    const int32_t *bias;
    const float *reduce, *reduce_bias, *expand, *expand_bias;
    const uint8_t *table;
    float addend_scale, offset, ratio, base;
};

/* What a backend may rely on, for every input: sums of products fit into 32 bits in any order, |t| < 2^30,
 * scales and ratios are above 0, no number is infinite. A value of the heads is acc * scale, in double
 * precision. */
struct model_weights {
    const struct network *network;
    struct model_layer layers[NETWORK_LAYERS_MAX];
};

/* Takes the arrays from a whole file; `data` must be aligned to 64 bytes and outlive the result. ST_CORRUPT,
 * with a sentence that names the layer, for a file that breaks any rule. */
enum status model_parse(const struct detector *detector, struct bytes data, struct model_weights *weights,
                        struct error *err);

/* Size of every model file of a network. */
size_t model_size(const struct network *network);

/* Of the models of all detectors; "": none. */
struct model_paths {
    char of[DETECTORS][MODEL_PATH_MAX];
};

/* A model that is opened at the start and read at its first use. */
struct model {
    const struct detector *detector;
    char path[MODEL_PATH_MAX]; /* for messages */
    int fd;
    pthread_mutex_t lock;
    bool tried; /* the file has been read, as `failure` says */
    struct error failure;
    uint8_t *memory;
    struct model_weights weights;
};

/* Path of a detector's file that came with the program, or "" when there is none: share/blurd or lib/blurd of
 * the prefix that it is installed in, or of its build folder. */
void model_default(const struct detector *detector, char path[MODEL_PATH_MAX]);

/* Opens a model file; its size and its first bytes are checked here. The file may be replaced while it is
 * open, but not written to. ST_ARGUMENT when it cannot be opened or is something else. */
enum status model_open(struct model *model, const struct detector *detector, const char *path,
                       struct error *err);

/* The same with a descriptor, which the model then owns, also on failure. */
enum status model_adopt(struct model *model, const struct detector *detector, int fd, const char *path,
                        struct error *err);

/* The weights; the first call reads and checks the file, and its failure is that of all later ones:
 * ST_CORRUPT for a damaged file, ST_BUSY without memory, which alone is tried again. Thread-safe. */
enum status model_read(struct model *model, const struct model_weights **weights, struct error *err);

void model_close(struct model *model);

#endif
