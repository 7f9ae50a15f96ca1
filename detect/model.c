/* SPDX-License-Identifier: MIT */
#include "detect/model.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdeflate.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the arrays of the model file are used as they are"
#endif

static const double t_limit = 1 << 30;

static size_t padded(size_t size) {
    return bytes_align_up(size, MODEL_ALIGNMENT);
}

size_t model_array_bytes(const struct network_layer *form, enum model_array array) {
    const bool weighted = network_weights(form) > 0, excites = form->kind == NETWORK_EXCITE;
    const size_t outputs = (size_t)form->outputs, between = (size_t)form->size;
    switch (array) {
    case MODEL_WEIGHTS:
        return network_weights(form);
    case MODEL_SCALES:
    case MODEL_BIASES:
        return weighted ? outputs * sizeof(float) : 0;
    case MODEL_REDUCE:
    case MODEL_EXPAND:
        return excites ? between * outputs * sizeof(float) : 0;
    case MODEL_REDUCE_BIAS:
        return excites ? between * sizeof(float) : 0;
    case MODEL_EXPAND_BIAS:
        return excites ? outputs * sizeof(float) : 0;
    case MODEL_TERMS:
        return excites ? 4 * sizeof(float) : weighted ? 2 * sizeof(float) : 0;
    case MODEL_TABLE:
        return form->activation == NETWORK_TABLE ? NETWORK_TABLE_SIZE : 0;
    case MODEL_ARRAYS:
        break;
    }
    return 0;
}

size_t model_size(const struct network *network) {
    size_t size = MODEL_ALIGNMENT;
    for (int i = 0; i < network->layers; i++) {
        for (int array = 0; array < MODEL_ARRAYS; array++) {
            size += padded(model_array_bytes(&network->layer[i], (enum model_array)array));
        }
    }
    return size + MODEL_ALIGNMENT;
}

/* The next array of a file whose size is right. */
static const void *take(struct bytes *rest, size_t size, bool *clean) {
    const uint8_t *array = rest->data;
    size_t whole = padded(size);
    for (size_t i = size; i < whole; i++) {
        *clean &= array[i] == 0;
    }
    *rest = (struct bytes){rest->data + whole, rest->size - whole};
    return array;
}

/* ---- what backends rely on ---- */

/* Sum of the magnitudes of the weights of output channel `o`. */
static int64_t magnitude(const struct network_layer *form, const struct model_layer *layer, int o) {
    int taps = (int)(network_weights(form) / (size_t)form->outputs);
    int group = form->kind == NETWORK_DEPTH ? 1 : form->inputs;
    bool by_tap = form->kind == NETWORK_DEPTH || form->kind == NETWORK_UP;
    int64_t sum = 0;
    for (int tap = 0; tap < taps; tap++) {
        int place = by_tap ? (tap / group * form->outputs + o) * group + tap % group : o * taps + tap;
        sum += abs(layer->weights[place]);
    }
    return sum;
}

static enum status check_channel(const struct network_layer *form, const struct model_layer *layer, int o,
                                 struct error *err) {
    if (!isfinite(layer->scale[o]) || !(layer->scale[o] > 0)) {
        return fail(err, ST_CORRUPT, "layer %s has the scale %g in channel %d, it must be above 0",
                    form->name, (double)layer->scale[o], o);
    }
    double sum = (double)magnitude(form, layer, o) * 255 + fabs((double)layer->bias[o]);
    if (sum > INT32_MAX) {
        return fail(err, ST_CORRUPT, "the sums of layer %s may not fit into 32 bits in channel %d",
                    form->name, o);
    }
    double t =
        sum * (double)layer->scale[o] + 255 * (double)layer->addend_scale + fabs((double)layer->offset);
    if (t >= t_limit) {
        return fail(err, ST_CORRUPT, "the scale %g of layer %s is too large in channel %d",
                    (double)layer->scale[o], form->name, o);
    }
    return ST_OK;
}

/* The largest magnitude of a sum of `count` products with values of at most `most`, and its bias. Infinite or
 * no number if one of its terms is. */
static double reach(const float *weights, int count, float bias, double most) {
    double sum = fabs((double)bias);
    for (int i = 0; i < count; i++) {
        sum += fabs((double)weights[i]) * most;
    }
    return sum;
}

static enum status check_excite(const struct network_layer *form, const struct model_layer *layer,
                                struct error *err) {
    double most = 0, gate = 0;
    bool bounded = true;
    for (int j = 0; j < form->size; j++) {
        double inner = reach(layer->reduce + j * form->inputs, form->inputs, layer->reduce_bias[j], 255);
        bounded &= inner < t_limit;
        most = inner > most ? inner : most;
    }
    for (int o = 0; o < form->outputs && bounded; o++) {
        gate = reach(layer->expand + o * form->size, form->size, layer->expand_bias[o], most);
        bounded &= gate < t_limit * t_limit;
    }
    if (!bounded) {
        return fail(err, ST_CORRUPT, "the factors of layer %s are too large", form->name);
    }
    double t = 255 * ((double)layer->base + 1) * (double)layer->ratio + 255 * (double)layer->addend_scale +
               fabs((double)layer->offset);
    return layer->ratio > 0 && layer->base >= 0 && t < t_limit
               ? ST_OK
               : fail(err, ST_CORRUPT, "layer %s has the ratio %g and the base %g", form->name,
                      (double)layer->ratio, (double)layer->base);
}

static enum status check_layer(const struct network_layer *form, const struct model_layer *layer,
                               struct error *err) {
    bool added = form->addend != NETWORK_NONE && form->kind != NETWORK_CONCAT;
    if (!isfinite(layer->addend_scale) || (added ? !(layer->addend_scale > 0) : layer->addend_scale != 0)) {
        return fail(err, ST_CORRUPT, "layer %s has the addend_scale %g", form->name,
                    (double)layer->addend_scale);
    }
    if (!isfinite(layer->offset) || fabsf(layer->offset) >= (float)t_limit) {
        return fail(err, ST_CORRUPT, "layer %s has the offset %g", form->name, (double)layer->offset);
    }
    if (form->kind == NETWORK_EXCITE) {
        return check_excite(form, layer, err);
    }
    for (int o = 0; o < form->outputs && layer->weights; o++) {
        enum status status = check_channel(form, layer, o, err);
        if (status != ST_OK) {
            return status;
        }
    }
    return ST_OK;
}

/* ---- the file ---- */

/* The next array of a layer; NULL: it has no such array. */
static const void *take_array(const struct network_layer *form, enum model_array array, struct bytes *rest,
                              bool *clean) {
    const size_t bytes = model_array_bytes(form, array);
    return bytes > 0 ? take(rest, bytes, clean) : NULL;
}

static enum status parse_layer(const struct network_layer *form, struct bytes *rest,
                               struct model_layer *layer, struct error *err) {
    bool clean = true;
    layer->weights = take_array(form, MODEL_WEIGHTS, rest, &clean);
    layer->scale = take_array(form, MODEL_SCALES, rest, &clean);
    layer->bias = take_array(form, MODEL_BIASES, rest, &clean);
    layer->reduce = take_array(form, MODEL_REDUCE, rest, &clean);
    layer->reduce_bias = take_array(form, MODEL_REDUCE_BIAS, rest, &clean);
    layer->expand = take_array(form, MODEL_EXPAND, rest, &clean);
    layer->expand_bias = take_array(form, MODEL_EXPAND_BIAS, rest, &clean);
    float terms[4] = {0};
    const void *stored = take_array(form, MODEL_TERMS, rest, &clean);
    if (stored) {
        memcpy(terms, stored, model_array_bytes(form, MODEL_TERMS));
    }
    layer->addend_scale = terms[0], layer->offset = terms[1], layer->ratio = terms[2], layer->base = terms[3];
    layer->table = take_array(form, MODEL_TABLE, rest, &clean);
    if (!clean) {
        return fail(err, ST_CORRUPT, "something lies between the arrays of layer %s", form->name);
    }
    if (layer->weights && memchr(layer->weights, 0x80, network_weights(form))) {
        return fail(err, ST_CORRUPT, "layer %s has a weight of -128", form->name);
    }
    return check_layer(form, layer, err);
}

static enum status check_head(const struct detector *detector, struct bytes head, size_t size,
                              struct error *err) {
    const size_t wanted = model_size(detector->network);
    if (head.size < DETECTOR_MAGIC || memcmp(head.data, detector->magic, DETECTOR_MAGIC) != 0) {
        return fail(err, ST_CORRUPT, "this is not a %s model, which begins with %s", detector->thing,
                    detector->magic);
    }
    if (size != wanted) {
        return fail(err, ST_CORRUPT, "the %s model has %zu bytes, it must have %zu", detector->thing, size,
                    wanted);
    }
    return ST_OK;
}

static enum status parse_layers(const struct detector *detector, struct bytes rest,
                                struct model_weights *weights, struct error *err) {
    bool clean = true;
    enum status status = ST_OK;
    weights->network = detector->network;
    take(&rest, DETECTOR_MAGIC, &clean);
    for (int i = 0; i < detector->network->layers && status == ST_OK; i++) {
        status = parse_layer(&detector->network->layer[i], &rest, &weights->layers[i], err);
    }
    take(&rest, sizeof(uint32_t), &clean);
    return status == ST_OK && !clean
               ? fail(err, ST_CORRUPT, "something lies beside the %s model's magic or checksum",
                      detector->thing)
               : status;
}

enum status model_parse(const struct detector *detector, struct bytes data, struct model_weights *weights,
                        struct error *err) {
    enum status status = check_head(detector, data, data.size, err);
    if (status != ST_OK) {
        return status;
    }
    struct bytes body = {data.data, data.size - MODEL_ALIGNMENT};
    uint32_t stored;
    memcpy(&stored, data.data + body.size, sizeof stored);
    if (stored != libdeflate_crc32(0, body.data, body.size)) {
        return fail(err, ST_CORRUPT, "the %s model is damaged, its checksum is wrong", detector->thing);
    }
    return parse_layers(detector, data, weights, err);
}

/* Reads until the buffer is full or the file ends; -1 for an error. */
static ssize_t read_at_start(int fd, uint8_t *data, size_t size) {
    size_t have = 0;
    while (have < size) {
        ssize_t got = pread(fd, data + have, size - have, (off_t)have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? -1 : (ssize_t)have;
        }
        have += (size_t)got;
    }
    return (ssize_t)have;
}

/* Where it is installed, and where the build leaves it, from the folder of the program. */
static const char *const places[] = {"../share/blurd/", "../lib/blurd/", "../models/", "../codes/"};

void model_default(const struct detector *detector, char path[MODEL_PATH_MAX]) {
    char program[MODEL_PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    path[0] = '\0';
    if (length <= 0 || length == sizeof program) {
        return;
    }
    while (length > 0 && program[length - 1] != '/') {
        length--;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places && !path[0]; i++) {
        int size =
            snprintf(path, MODEL_PATH_MAX, "%.*s%s%s", (int)length, program, places[i], detector->file);
        if (size >= MODEL_PATH_MAX || access(path, R_OK) != 0) {
            path[0] = '\0';
        }
    }
}

enum status model_open(struct model *model, const struct detector *detector, const char *path,
                       struct error *err) {
    /* Does not wait for what is written into a pipe. */
    return model_adopt(model, detector, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, err);
}

static enum status check_start(const struct model *model, struct error *err) {
    struct stat info;
    const char *thing = model->detector->thing;
    uint8_t head[DETECTOR_MAGIC];
    if (model->fd < 0 || fstat(model->fd, &info) != 0) {
        return fail(err, ST_ARGUMENT, "cannot open the %s model %s: %s", thing, model->path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return fail(err, ST_ARGUMENT, "the %s model %s is not a file", thing, model->path);
    }
    ssize_t have = read_at_start(model->fd, head, sizeof head);
    if (have < 0) {
        return fail(err, ST_ARGUMENT, "cannot read the %s model %s: %s", thing, model->path, strerror(errno));
    }
    struct error reason = {0};
    if (check_head(model->detector, (struct bytes){head, (size_t)have}, (size_t)info.st_size, &reason) !=
        ST_OK) {
        return fail(err, ST_ARGUMENT, "%s: %s", model->path, reason.text);
    }
    return ST_OK;
}

enum status model_adopt(struct model *model, const struct detector *detector, int fd, const char *path,
                        struct error *err) {
    int why = errno; /* of an open() that failed */
    *model = (struct model){.detector = detector, .fd = fd, .lock = PTHREAD_MUTEX_INITIALIZER};
    snprintf(model->path, sizeof model->path, "%s", path);
    errno = why;
    enum status status = check_start(model, err);
    if (status != ST_OK) {
        model_close(model);
    }
    return status;
}

static enum status load(struct model *model, struct error *err) {
    size_t size = model_size(model->detector->network);
    model->memory = aligned_alloc(MODEL_ALIGNMENT, size);
    if (!model->memory) {
        return fail(err, ST_BUSY, "no memory for the %s model", model->detector->thing);
    }
    enum status status = ST_OK;
    struct error reason = {0};
    if (read_at_start(model->fd, model->memory, size) != (ssize_t)size) {
        status = fail(err, ST_CORRUPT, "the %s model %s cannot be read", model->detector->thing, model->path);
    } else if (model_parse(model->detector, (struct bytes){model->memory, size}, &model->weights, &reason) !=
               ST_OK) {
        status = fail(err, ST_CORRUPT, "%s: %s", model->path, reason.text);
    }
    if (status != ST_OK) {
        free(model->memory);
        model->memory = NULL;
    }
    return status;
}

enum status model_read(struct model *model, const struct model_weights **weights, struct error *err) {
    struct error failure = {0};
    pthread_mutex_lock(&model->lock);
    if (!model->tried) {
        model->failure = (struct error){0};
        model->tried = load(model, &model->failure) != ST_BUSY;
    }
    failure = model->failure;
    pthread_mutex_unlock(&model->lock);
    *weights = &model->weights;
    return failure.status == ST_OK ? ST_OK : fail(err, failure.status, "%s", failure.text);
}

void model_close(struct model *model) {
    if (model->fd >= 0) {
        close(model->fd);
    }
    free(model->memory);
    model->memory = NULL;
    model->fd = -1;
}
