/* SPDX-License-Identifier: MIT
 * The engine works on memory that the front can write at any time. Here another thread does, while headers
 * are read and JPEGs are made: the effects stay within the engine's own memory. On the fake driver.
 */
#include "gpu/engine/engine.h"

#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/slot_file.h"
#include "filters/filter.h"
#include "gpu/jpeg/jpeg_header.h"

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"

enum { SLOT_SIZE = 1 << 18, WIDTH = 48, HEIGHT = 32, TARGET = SLOT_SIZE / 2, ROOM = 1 << 15 };
enum {
    GUARD = 1 << 15,
    GUARD_BYTE = 0xa7,
    COUNTS = 16,
    CODES = 255,
    FIRST = 10,
    LAST = 15 /* lengths of codes */,
    PAUSE = 500
};
enum { RACE_MS = 300, TIMEOUT_MS = 20000 /* until both sides got a turn */, LANES = 3 };

static struct engine *engine;
static struct engine_session *lanes[LANES];
static int slot;
static uint8_t *memory;
static struct buf file;
static size_t counts_at; /* of its first Huffman table */

static const struct image_shape shape = {.model = PIXEL_YCBCR,
                                         .depth = 8,
                                         .chroma_shift_x = 1,
                                         .chroma_shift_y = 1,
                                         .width = WIDTH,
                                         .height = HEIGHT};

/* --- set-up -------------------------------------------------------------------------------------- */
/* A table that the file's own replaces later, with room for more codes than it has. */
static void add_table(void) {
    enum { SIZE = 2 + 1 + COUNTS + CODES };
    uint8_t segment[2 + SIZE] = {0xff, 0xc4, SIZE >> 8, SIZE & 0xff, 0x11 /* AC 1 */};
    segment[5] = segment[6] = 1; /* short codes, which take a while to be entered */
    segment[4 + COUNTS] = CODES - 2;
    fixture_insert(&file, 2, segment, sizeof segment);
    counts_at = 2 + 4 + 1;
}

static int open_engine(void **state) {
    (void)state;
    char program[PATH_MAX] = "", driver[PATH_MAX + 40];
    struct wire_ready ready;
    struct error err = {0};
    const struct jpeg_recipe recipe = {.luma = {2, 2}, .width = WIDTH, .height = HEIGHT};
    log_init(LOG_ERROR, LOG_TEXT);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        return -1;
    }
    const char *folder = dirname(program);
    snprintf(driver, sizeof driver, "%s/../fake_cuda/libfakecuda.so", folder);
    const struct engine_options options = {
        .gpus = "all", .library = driver, .jpeg = true, .pictures = LANES, .program.cache_folder = ""};
    file = recipe_file(&recipe);
    add_table();
    slot = slot_file(SLOT_SIZE);
    memory = mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, slot, 0);
    if (memory == MAP_FAILED || engine_open(&engine, &options, &ready, &err) != ST_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    for (unsigned i = 0; i < LANES; i++) {
        if (engine_session_create(&lanes[i], engine, &err) != ST_OK) {
            return -1;
        }
    }
    return 0;
}

static int close_engine(void **state) {
    (void)state;
    for (unsigned i = 0; i < LANES; i++) {
        engine_session_destroy(lanes[i]);
    }
    engine_close(engine);
    munmap(memory, SLOT_SIZE);
    close(slot);
    buf_finish(&file);
    return 0;
}

static struct wire_run good_run(void) {
    struct wire_run run = {.slot_serial = 1,
                           .slot_span = SLOT_SIZE,
                           .target = TARGET,
                           .mask = WIRE_NO_MASK,
                           .shape = shape,
                           .jpeg = {.size = file.size, .room = ROOM, .orientation = 1, .quality = 85}};
    const struct blur_arguments arguments = {.sigma = 1.5};
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_OK);
    return run;
}

/* --- the other side ------------------------------------------------------------------------------ */
struct writer {
    pthread_t thread;
    uint8_t *file;
    void (*change)(uint8_t *file, unsigned round);
    _Atomic bool over;
};

static void *writer_main(void *argument) {
    struct writer *writer = argument;
    for (unsigned round = 0; !atomic_load(&writer->over); round++) {
        writer->change(writer->file, round);
    }
    return NULL;
}

/* Now as many codes as there are symbols, now six times as many. */
static void change_counts(uint8_t *bytes, unsigned round) {
    volatile uint8_t *counts = bytes + counts_at;
    for (unsigned i = FIRST; i < LAST; i++) {
        counts[i] = round % 2 ? 0 : CODES;
    }
    for (volatile unsigned pause = 0; pause < PAUSE; pause++) {
    }
}

/* Any byte of the file, and back. */
static void change_any(uint8_t *bytes, unsigned round) {
    size_t at = (size_t)round * 2654435761U % file.size;
    volatile uint8_t *byte = bytes + at;
    *byte = (uint8_t)(round >> 3);
    *byte = file.data[at];
    if (round % 64 == 0) {
        change_counts(bytes, round / 64);
    }
}

static void begin_writing(struct writer *writer, uint8_t *bytes, void (*change)(uint8_t *, unsigned)) {
    *writer = (struct writer){.file = bytes, .change = change};
    assert_int_equal(pthread_create(&writer->thread, NULL, writer_main, writer), 0);
}

static void end_writing(struct writer *writer) {
    atomic_store(&writer->over, true);
    pthread_join(writer->thread, NULL);
}

/* --- tests --------------------------------------------------------------------------------------- */
static void test_a_header_that_changes(void **state) {
    (void)state;
    struct {
        struct scan_tables tables;
        uint8_t guard[GUARD];
    } *read = malloc(sizeof *read);
    struct writer writer;
    struct jpeg_header scan;
    unsigned rounds = 0, good = 0;
    memcpy(memory, file.data, file.size);
    memset(read->guard, GUARD_BYTE, sizeof read->guard);
    begin_writing(&writer, memory, change_counts);
    int64_t begin = clock_ns(), took = 0;
    for (; took < RACE_MS || ((good == 0 || good == rounds) && took < TIMEOUT_MS); rounds++) {
        struct error err = {0};
        took = (clock_ns() - begin) / 1000000;
        enum status status = jpeg_header_parse((struct bytes){memory, file.size}, &scan, &read->tables, &err);
        assert_true(status == ST_OK || status == ST_UNSUPPORTED);
        good += status == ST_OK;
    }
    end_writing(&writer);
    for (size_t i = 0; i < sizeof read->guard; i++) {
        assert_int_equal(read->guard[i], GUARD_BYTE);
    }
    print_message("%u headers read, %u of them whole\n", rounds, good);
    assert_true(good > 0 && good < rounds);
    free(read);
}

static void test_a_file_that_changes(void **state) {
    (void)state;
    struct wire_run run = good_run();
    struct writer writer;
    unsigned rounds = 0, good = 0;
    memcpy(memory, file.data, file.size);
    begin_writing(&writer, memory, change_any);
    for (int64_t until = clock_ns() + RACE_MS * 1000000LL; clock_ns() < until; rounds++) {
        struct wire_done done;
        assert_true(engine_run(lanes[0], &run, dup(slot), &done)); /* the engine stays sound */
        assert_true(done.error.status == ST_OK || done.error.status == ST_UNSUPPORTED);
        assert_true(done.size <= ROOM);
        good += done.error.status == ST_OK;
    }
    end_writing(&writer);
    print_message("%u files read, %u of them whole\n", rounds, good);
    assert_true(rounds > 0);
    memcpy(memory, file.data, file.size);
    struct wire_done done;
    assert_true(engine_run(lanes[0], &run, dup(slot), &done));
    assert_int_equal(done.error.status, ST_OK);
}

struct user {
    pthread_t thread;
    struct engine_session *lane;
    unsigned number, done, refused;
};

/* Says again and again that the slot has other pages, so that it has to be mapped anew. */
static void *user_main(void *argument) {
    struct user *user = argument;
    struct wire_run run = good_run();
    for (unsigned i = 0; i < 40; i++) {
        struct wire_done done;
        run.slot_generation = (uint64_t)i * LANES + user->number;
        assert_true(engine_run(user->lane, &run, dup(slot), &done));
        assert_true(done.error.status == ST_OK || done.error.status == ST_INTERNAL);
        user->done += done.error.status == ST_OK;
        user->refused += done.error.status == ST_INTERNAL;
    }
    return NULL;
}

/* A slot is one request's; a front that is going wrong may give it to several lanes. */
static void test_a_slot_of_several_lanes(void **state) {
    (void)state;
    struct user users[LANES] = {0};
    unsigned done = 0, refused = 0;
    memcpy(memory, file.data, file.size);
    for (unsigned i = 0; i < LANES; i++) {
        users[i] = (struct user){.lane = lanes[i], .number = i};
        assert_int_equal(pthread_create(&users[i].thread, NULL, user_main, &users[i]), 0);
    }
    for (unsigned i = 0; i < LANES; i++) {
        pthread_join(users[i].thread, NULL);
        done += users[i].done;
        refused += users[i].refused;
    }
    print_message("%u runs, %u refused since another one had the slot\n", done, refused);
    assert_true(done >= LANES);
}

/* The file with a segment more behind its first marker. */
static enum status parse_with(uint8_t marker, size_t size, struct error *err) {
    struct scan_tables *tables = malloc(sizeof *tables);
    struct jpeg_header scan;
    struct buf more;
    uint8_t *body = calloc(1, size);
    const uint8_t head[] = {0xff, marker, (uint8_t)((size + 2) >> 8), (uint8_t)(size + 2)};
    buf_init(&more, 1 << 20);
    assert_int_equal(buf_append(&more, file.data, 2, NULL), ST_OK);
    assert_int_equal(buf_append(&more, head, sizeof head, NULL), ST_OK);
    assert_int_equal(buf_append(&more, body, size, NULL), ST_OK);
    assert_int_equal(buf_append(&more, file.data + 2, file.size - 2, NULL), ST_OK);
    enum status status = jpeg_header_parse(buf_bytes(&more), &scan, tables, err);
    buf_finish(&more);
    free(tables);
    free(body);
    return status;
}

static void test_large_segments(void **state) {
    (void)state;
    struct error err = {0};
    assert_int_equal(parse_with(0xe1, 65533, &err), ST_OK); /* metadata of any size */
    assert_int_equal(parse_with(0xe2, 65533, &err), ST_OK);
    assert_int_equal(parse_with(0xfe, 0, &err), ST_OK);
    assert_int_equal(parse_with(0xc4, JPEG_HEADER_SEGMENT_MAX / 17 * 17, &err),
                     ST_OK); /* tables without codes */
    assert_int_equal(parse_with(0xc4, JPEG_HEADER_SEGMENT_MAX + 1, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "4096"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_header_that_changes),
        cmocka_unit_test(test_a_file_that_changes),
        cmocka_unit_test(test_a_slot_of_several_lanes),
        cmocka_unit_test(test_large_segments),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
