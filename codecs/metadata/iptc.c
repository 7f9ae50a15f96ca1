/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/iptc.h"

#include <string.h>

#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"

enum {
    RESOURCE_IPTC = 0x0404,
    RESOURCE_THUMBNAIL_BGR = 0x0409,
    RESOURCE_THUMBNAIL = 0x040C,
    RESOURCE_HEAD = 12, /* "8BIM", number, empty name of two bytes, size */
    DATASET_HEAD = 5,   /* 1C, record, number, size */
    DATASET_MARK = 0x1C,
    ENVELOPE = 1, /* the record whose dataset 90 names the encoding */
    APPLICATION = 2,
};

/* Datasets of record 2 that are texts for people: titles, names, places, dates, rights. */
static const uint8_t application[] = {5,   7,   8,   10,  12,  15,  20,  22,  25,  26,  27,  30,
                                      35,  37,  38,  40,  45,  47,  50,  55,  60,  62,  63,  65,
                                      70,  75,  80,  85,  90,  92,  95,  100, 101, 103, 105, 110,
                                      115, 116, 118, 120, 121, 122, 130, 131, 135, 184, 187, 188};

struct resource {
    unsigned number;
    struct bytes data;
};

/* Takes the next resource off *rest; false at the end, or when it is incomplete. */
static bool next_resource(struct bytes *rest, struct resource *resource) {
    if (rest->size < RESOURCE_HEAD || memcmp(rest->data, "8BIM", 4) != 0) {
        return false;
    }
    size_t name = bytes_align_up((size_t)rest->data[6] + 1, 2);
    size_t head = 6 + name + 4;
    if (rest->size < head) {
        return false;
    }
    size_t size = bytes_be32(rest->data + head - 4);
    if (size > rest->size - head) {
        return false;
    }
    *resource = (struct resource){bytes_be16(rest->data + 4), {rest->data + head, size}};
    size_t whole = head + bytes_align_up(size, 2);
    whole = whole < rest->size ? whole : rest->size;
    rest->data += whole, rest->size -= whole;
    return true;
}

/* Takes the next dataset with its head off *rest; empty at the end, or when it is incomplete. Extended
 * datasets (32 KiB and more) are not read. */
static struct bytes next_dataset(struct bytes *rest) {
    if (rest->size < DATASET_HEAD || rest->data[0] != DATASET_MARK) {
        return (struct bytes){0};
    }
    size_t size = DATASET_HEAD + (size_t)bytes_be16(rest->data + 3);
    if (size > rest->size) {
        return (struct bytes){0};
    }
    struct bytes dataset = {rest->data, size};
    rest->data += size, rest->size -= size;
    return dataset;
}

static bool is_carried(struct bytes dataset) {
    struct bytes value = {dataset.data + DATASET_HEAD, dataset.size - DATASET_HEAD};
    uint8_t record = dataset.data[1], number = dataset.data[2];
    if (record == ENVELOPE) { /* this escape sequence means UTF-8 */
        return number == 90 && plain_text_is(value, "\x1B%G");
    }
    return record == APPLICATION && memchr(application, number, sizeof(application)) &&
           plain_text_accepts(value);
}

/* Every program writes the version of a record (dataset 0), which needs no report. */
static bool is_version(struct bytes dataset) {
    return dataset.data[2] == 0 && (dataset.data[1] == ENVELOPE || dataset.data[1] == APPLICATION);
}

static enum status put_datasets(struct bytes datasets, struct buf *output, unsigned *losses,
                                struct error *err) {
    struct bytes dataset;
    enum status status = ST_OK;
    while (status == ST_OK && (dataset = next_dataset(&datasets)).size > 0) {
        if (is_carried(dataset)) {
            status = buf_append(output, dataset.data, dataset.size, err);
        } else if (!is_version(dataset)) {
            *losses |= LOSS_IPTC;
        }
    }
    while (datasets.size > 0 && datasets.data[0] == 0) { /* padding */
        datasets.data++, datasets.size--;
    }
    *losses |= datasets.size > 0 ? LOSS_IPTC : 0;
    return status;
}

static enum status put_resource(struct bytes datasets, struct buf *output, unsigned *losses,
                                struct error *err) {
    uint8_t head[RESOURCE_HEAD] = {'8', 'B', 'I', 'M', RESOURCE_IPTC >> 8, RESOURCE_IPTC & 255};
    size_t start = output->size;
    enum status status = buf_append(output, head, sizeof(head), err);
    if (status == ST_OK) {
        status = put_datasets(datasets, output, losses, err);
    }
    size_t size = output->size - start - sizeof(head);
    if (status == ST_OK && size > 0) {
        bytes_put_be32(output->data + start + RESOURCE_HEAD - 4, (uint32_t)size);
        status = buf_append(output, "", size % 2, err);
    }
    if (status != ST_OK || size == 0) {
        output->size = start;
    }
    *losses |= status == ST_LIMIT ? LOSS_IPTC : 0;
    return status == ST_LIMIT ? ST_OK : status;
}

enum status iptc_sanitize(struct bytes resources, struct buf *output, unsigned *losses, struct error *err) {
    struct resource resource;
    bool done = false;
    enum status status = ST_OK;
    while (status == ST_OK && next_resource(&resources, &resource)) {
        if (resource.number == RESOURCE_IPTC && !done) {
            done = true;
            status = put_resource(resource.data, output, losses, err);
        } else if (resource.number == RESOURCE_IPTC) {
            *losses |= LOSS_IPTC;
        } else if (resource.number == RESOURCE_THUMBNAIL || resource.number == RESOURCE_THUMBNAIL_BGR) {
            *losses |= LOSS_THUMBNAIL;
        }
    }
    *losses |= resources.size > 1 ? LOSS_IPTC : 0;
    return status;
}
