/* SPDX-License-Identifier: MIT
 * The file with the weights of the face detector, which detect/convert.py makes.
 *
 * All numbers are little endian. The file is a header of 64 bytes (the magic and zeros); for each layer of
 * detect/network.def its weights (int8_t), scales (float, one for each output), biases (int32_t, one for each
 * output) and addend_scale with offset (float); and 64 bytes at the end, the CRC-32 of all before and zeros.
 * Each array is padded with zeros to a multiple of 64 bytes, so that all are aligned. Only one size is right.
 */
#ifndef BLURD_DETECT_MODEL_H
#define BLURD_DETECT_MODEL_H

#include <pthread.h>

#include "core/bytes.h"
#include "core/status.h"
#include "detect/network.h"

enum { FACE_MODEL_ALIGNMENT = 64, FACE_MODEL_PATH_MAX = 256 };

struct face_layer {
    const int8_t *weights; /* network_weights() says in which order */
    const float *scale;
    const int32_t *bias;
    float addend_scale, offset;
};

/* What a backend may rely on, for every input: sums of products fit into 32 bits in any order, |t| < 2^30,
 * scales are above 0. A value of the heads is acc * scale, in double precision. */
struct face_weights {
    struct face_layer layers[FACE_LAYERS];
};

/* Takes the arrays from a whole file; `data` must be aligned to 64 bytes and outlive the result. ST_CORRUPT,
 * with a sentence that names the layer, for a file that breaks any rule. */
enum status face_weights_parse(struct bytes data, struct face_weights *weights, struct error *err);

/* Size of every model file. */
size_t face_weights_size(void);

/* A model that is opened at the start and read at its first use. */
struct face_model {
    char path[FACE_MODEL_PATH_MAX]; /* for messages */
    int fd;
    pthread_mutex_t lock;
    bool tried; /* the file has been read, as `failure` says */
    struct error failure;
    uint8_t *memory;
    struct face_weights weights;
};

/* Path of the model that came with the program, or "" when there is none: share/blurd of the prefix that it
 * is installed in, or of its build folder. */
void face_model_default(char path[FACE_MODEL_PATH_MAX]);

/* Opens a model file; its size and its first bytes are checked here. The file may be replaced while it is
 * open, but not written to. ST_ARGUMENT when it cannot be opened or is something else. */
enum status face_model_open(struct face_model *model, const char *path, struct error *err);

/* The same with a descriptor, which the model then owns, also on failure. */
enum status face_model_adopt(struct face_model *model, int fd, const char *path, struct error *err);

/* The weights; the first call reads and checks the file, and its failure is that of all later ones:
 * ST_CORRUPT for a damaged file, ST_BUSY without memory, which alone is tried again. Thread-safe. */
enum status face_model_weights(struct face_model *model, const struct face_weights **weights,
                               struct error *err);

void face_model_close(struct face_model *model);

#endif
