/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc_element.h"

#include <stdbool.h>
#include <string.h>

enum {
    CURV = ICC_SIGNATURE('c', 'u', 'r', 'v'),
    PARA = ICC_SIGNATURE('p', 'a', 'r', 'a'),
    XYZ = ICC_SIGNATURE('X', 'Y', 'Z', ' '),
    SF32 = ICC_SIGNATURE('s', 'f', '3', '2'),
    CICP = ICC_SIGNATURE('c', 'i', 'c', 'p'),
    MFT1 = ICC_SIGNATURE('m', 'f', 't', '1'),
    MFT2 = ICC_SIGNATURE('m', 'f', 't', '2'),
    M_AB = ICC_SIGNATURE('m', 'A', 'B', ' '),
    M_BA = ICC_SIGNATURE('m', 'B', 'A', ' '),
    CHANNELS_MAX = 4,
    PARTS_HEAD = 32, /* of mAB and mBA */
    GRID_HEAD = 20,
    MATRIX_SIZE = 48,
    LUT_HEAD = 48,
};

static uint32_t type_of(struct bytes element) {
    return element.size >= 12 ? bytes_be32(element.data) : 0;
}

unsigned icc_element_types(struct bytes element) {
    switch (type_of(element)) {
    case CURV:
    case PARA:
        return ICC_CURVE;
    case XYZ:
        return ICC_XYZ;
    case SF32:
        return ICC_MATRIX;
    case CICP:
        return ICC_CODE;
    case MFT1:
    case MFT2:
    case M_AB:
    case M_BA:
        return ICC_TABLE;
    default:
        return 0;
    }
}

static bool are_channels(unsigned count) {
    return count >= 1 && count <= CHANNELS_MAX;
}

/* Points of a table with these sides; 0 when a side is, or when there are more than `most`. */
static size_t grid_points(const uint8_t *side, size_t step, unsigned inputs, size_t most) {
    size_t points = 1;
    for (unsigned i = 0; i < inputs; i++) {
        points *= side[i * step];
        if (points == 0 || points > most) {
            return 0;
        }
    }
    return points;
}

/* Of mft1 and mft2: all sides of the table are one number. */
static size_t lut_size(struct bytes element, bool wide) {
    size_t head = wide ? LUT_HEAD + 4 : LUT_HEAD;
    if (element.size < head || !are_channels(element.data[8]) || !are_channels(element.data[9])) {
        return 0;
    }
    size_t inputs = element.data[8], outputs = element.data[9];
    size_t in = wide ? bytes_be16(element.data + 48) : 256, out = wide ? bytes_be16(element.data + 50) : 256;
    size_t points = grid_points(element.data + 10, 0, (unsigned)inputs, element.size);
    size_t size = head + (in * inputs + points * outputs + out * outputs) * (wide ? 2 : 1);
    return points > 0 ? size : 0;
}

static size_t para_size(struct bytes element) {
    static const uint8_t numbers[] = {1, 3, 4, 5, 7}; /* clause 10.18, by the type of function */
    size_t function = bytes_be16(element.data + 8);
    return function < sizeof numbers ? 12 + 4 * (size_t)numbers[function] : 0;
}

/* The bytes that the type uses; 0 when the element is damaged or of a type with offsets. */
static size_t plain_size(struct bytes element) {
    size_t size;
    switch (type_of(element)) {
    case CURV:
        size = 12 + 2 * (size_t)bytes_be32(element.data + 8);
        break;
    case PARA:
        size = para_size(element);
        break;
    case XYZ:
        size = 8 + 12;
        break;
    case SF32:
        size = 8 + 36;
        break;
    case CICP:
        size = 12;
        break;
    case MFT1:
    case MFT2:
        size = lut_size(element, type_of(element) == MFT2);
        break;
    default:
        size = 0;
    }
    return size <= element.size ? size : 0;
}

/* *done is false when the element is damaged. */
static enum status copy_plain(struct bytes element, struct buf *output, bool *done, struct error *err) {
    size_t size = plain_size(element), start = output->size;
    uint32_t type = type_of(element);
    *done = size > 0;
    enum status status = buf_append(output, element.data, size, err);
    if (status == ST_OK && size > 0) {
        uint8_t *copy = output->data + start;
        memset(copy + 4, 0, 4);
        memset(copy + 10, 0, type == PARA ? 2 : 0);
        memset(copy + 11, 0, type == MFT1 || type == MFT2 ? 1 : 0);
    }
    return status;
}

static enum status pad(struct buf *output, size_t start, struct error *err) {
    static const uint8_t zeros[3] = {0};
    size_t size = output->size - start;
    return buf_append(output, zeros, bytes_align_up(size, 4) - size, err);
}

/* Curves one behind the other, each at a multiple of four bytes. */
static enum status copy_curves(struct bytes rest, unsigned count, struct buf *output, bool *done,
                               struct error *err) {
    enum status status = ST_OK;
    *done = true;
    for (unsigned i = 0; i < count && status == ST_OK && *done; i++) {
        size_t start = output->size, size = plain_size(rest), step = bytes_align_up(size, 4);
        *done = icc_element_types(rest) == ICC_CURVE && size > 0;
        if (*done) {
            status = copy_plain(rest, output, done, err);
            status = status == ST_OK ? pad(output, start, err) : status;
            step = step < rest.size ? step : rest.size;
            rest = (struct bytes){rest.data + step, rest.size - step};
        }
    }
    return status;
}

static enum status copy_matrix(struct bytes rest, struct buf *output, bool *done, struct error *err) {
    *done = rest.size >= MATRIX_SIZE;
    return buf_append(output, rest.data, *done ? MATRIX_SIZE : 0, err);
}

static enum status copy_grid(struct bytes rest, unsigned inputs, unsigned outputs, struct buf *output,
                             bool *done, struct error *err) {
    uint8_t head[GRID_HEAD] = {0};
    size_t start = output->size;
    size_t points = rest.size >= GRID_HEAD ? grid_points(rest.data, 1, inputs, rest.size) : 0;
    unsigned bytes = points > 0 ? rest.data[16] : 0;
    size_t size = points * outputs * bytes;
    *done = points > 0 && (bytes == 1 || bytes == 2) && size <= rest.size - GRID_HEAD;
    if (!*done) {
        return ST_OK;
    }
    memcpy(head, rest.data, inputs);
    head[16] = (uint8_t)bytes;
    enum status status = buf_append(output, head, sizeof head, err);
    status = status == ST_OK ? buf_append(output, rest.data + GRID_HEAD, size, err) : status;
    return status == ST_OK ? pad(output, start, err) : status;
}

/* mAB and mBA: up to five parts, at offsets from the element's start; 0 is a part that is missing. */
static enum status copy_parts(struct bytes element, struct buf *output, bool *done, struct error *err) {
    uint8_t head[PARTS_HEAD] = {0};
    size_t start = output->size;
    unsigned inputs = element.data[8], outputs = element.data[9];
    bool forward = type_of(element) == M_AB;
    *done = element.size >= PARTS_HEAD && are_channels(inputs) && are_channels(outputs);
    enum status status = *done ? buf_append(output, head, sizeof head, err) : ST_OK;
    memcpy(head, element.data, 4);
    memcpy(head + 8, element.data + 8, 2);
    for (unsigned part = 0; part < 5 && status == ST_OK && *done; part++) {
        size_t at = bytes_be32(element.data + 12 + 4 * part);
        if (at == 0) {
            continue;
        }
        bytes_put_be32(head + 12 + 4 * part, (uint32_t)(output->size - start));
        if (at >= element.size) {
            *done = false;
            break;
        }
        struct bytes rest = {element.data + at, element.size - at};
        unsigned connection = forward ? outputs : inputs, device = forward ? inputs : outputs;
        status = part == 1   ? copy_matrix(rest, output, done, err)
                 : part == 3 ? copy_grid(rest, inputs, outputs, output, done, err)
                             : copy_curves(rest, part == 4 ? device : connection, output, done, err);
    }
    if (status == ST_OK && *done) {
        memcpy(output->data + start, head, sizeof head);
    }
    return status;
}

enum status icc_element_copy(struct bytes element, struct buf *output, struct error *err) {
    size_t start = output->size;
    uint32_t type = type_of(element);
    bool parts = type == M_AB || type == M_BA, done = false;
    enum status status =
        parts ? copy_parts(element, output, &done, err) : copy_plain(element, output, &done, err);
    if (!done) {
        output->size = start;
    }
    return status;
}
