/* SPDX-License-Identifier: MIT
 * A spawner for the fake codec, and what a worker has. */
#ifndef BLURD_TESTS_CODEC_LINK_FIXTURE_H
#define BLURD_TESTS_CODEC_LINK_FIXTURE_H

#include "codecs/process/codec_link.h"

#include <dirent.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "codecs/process/codec_spawner.h"
#include "core/clock.h"
#include "core/log.h"
#include "tests/unit/codecs/process/fake_codec_fixture.h"

#include "tests/unit/codecs/picture_fixture.h"
#include "tests/unit/core/slot_fixture.h"

enum { OUTPUT_MAX = 1 << 20 };
#define MS INT64_C(1000000)

static struct codec_spawner *spawner;
static struct slot_pool *pool;

/* A worker with its link and slots. */
struct lab {
    struct codec_link *link;
    struct slot *body, *work;
    struct bytes file;
    struct picture picture;
    struct image image;
    struct error err;
};

static inline int start(void **state) {
    struct error err = {0};
    const struct codec_process_options options = {.codec = fake_table, .sandbox.wanted = true};
    (void)state;
    log_init(LOG_ERROR, LOG_TEXT);
    assert_int_equal(codec_spawner_fork(&spawner, &options, &err), ST_OK);
    assert_non_null(spawner);
    pool = make_pool(64 * MIB);
    return 0;
}

static inline int stop(void **state) {
    (void)state;
    codec_spawner_end(spawner);
    slot_pool_destroy(pool);
    return 0;
}

static inline void open_lab(struct lab *lab) {
    *lab = (struct lab){0};
    lab->body = acquire(pool);
    lab->work = acquire(pool);
    assert_int_equal(codec_link_create(&lab->link, spawner, pool, &lab->err), ST_OK);
}

static inline void close_lab(struct lab *lab) {
    buf_finish(&lab->picture.metadata.store);
    codec_link_destroy(lab->link);
    slot_give_back(lab->body);
    slot_give_back(lab->work);
}

/* Puts a file into the body, not at its beginning. */
static inline void load(struct lab *lab, enum fake_order order, uint32_t detail) {
    struct fake_file file = fake_file(order, detail);
    lab->body->used = lab->work->used = 0;
    assert_non_null(slot_take(lab->body, 100, &lab->err));
    uint8_t *memory = slot_take(lab->body, sizeof file, &lab->err);
    assert_non_null(memory);
    memcpy(memory, &file, sizeof file);
    lab->file = (struct bytes){memory, sizeof file};
    struct image_shape shape = fixture_shape(PIXEL_RGB, 8, file.width, file.height);
    size_t size = image_layout(&lab->image, &shape);
    assert_non_null(slot_take(lab->work, 64, &lab->err));
    image_place(&lab->image, slot_take(lab->work, size, &lab->err));
}

static inline enum status probe(struct lab *lab) {
    const struct codec_limits limits = fixture_limits();
    buf_finish(&lab->picture.metadata.store);
    lab->picture = (struct picture){.codec = CODEC_WEBP};
    return codec_link_probe(lab->link, CODEC_WEBP, lab->file, &limits, &lab->picture, &lab->err);
}

static inline enum status decode_until(struct lab *lab, int64_t deadline_ns) {
    struct codec_limits limits = fixture_limits();
    limits.deadline_ns = deadline_ns;
    lab->picture.codec = CODEC_WEBP;
    return codec_link_decode(lab->link, &lab->picture, lab->file, &limits, 4 * MIB, &lab->image, &lab->err);
}

static inline enum status decode(struct lab *lab) {
    return decode_until(lab, 0);
}

static inline enum status encode(struct lab *lab, enum fake_order order, size_t most, struct buf *output) {
    const struct encode_options options = {.quality = (uint8_t)order};
    buf_init(output, most);
    return codec_link_encode(lab->link, CODEC_WEBP, &lab->image, &options, 4 * MIB, &lab->picture.metadata,
                             output, &lab->err);
}

static inline void assert_works(struct lab *lab) {
    load(lab, FAKE_WORKS, 0);
    if (probe(lab) != ST_OK || decode(lab) != ST_OK) {
        fail_msg("a usual picture: %s", lab->err.text);
    }
}

/* Reads the numbers of a process's children. */
static inline void read_children(const char *process, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.10s/task/%.10s/children", process, process);
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (file) {
        text[fread(text, 1, size - 1, file)] = '\0';
        fclose(file);
    }
}

/* The first process `depth` generations below the test, and those beside it: 1 the keeper, 2 the spawner,
 * 3 its children, which are the codec's processes. */
static inline void read_descendants(unsigned depth, char *text, size_t size) {
    snprintf(text, size, "%d", getpid());
    for (unsigned i = 0; i < depth; i++) {
        char process[16];
        snprintf(process, sizeof process, "%.*s", (int)strcspn(text, " "), text);
        read_children(process, text, size);
    }
}

static inline unsigned count_processes(void) {
    char text[4096];
    read_descendants(3, text, sizeof text);
    unsigned count = 0;
    for (const char *p = text; *p; p++) {
        count += *p == ' ';
    }
    return count;
}

/* Whether the process has the slot's memory among its mappings. */
static inline bool maps_slot(unsigned process, const struct slot *slot) {
    char path[64], line[512];
    struct stat info;
    unsigned long found;
    bool maps = false;
    snprintf(path, sizeof path, "/proc/%u/maps", process);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fstat(slot->fd, &info), 0);
    while (fgets(line, sizeof line, file)) {
        maps |= sscanf(line, "%*s %*s %*s %*s %lu", &found) == 1 && found == info.st_ino;
    }
    fclose(file);
    return maps;
}

static inline unsigned count_descriptors(void) {
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static inline void sleep_ms(unsigned ms) {
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

#endif
