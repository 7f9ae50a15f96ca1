/* SPDX-License-Identifier: MIT
 * The limit of --cpu-level reaches the codecs: their tables begin with the level, their bytes are the same at
 * each, and, step by step, they execute no instruction above the limit. */
#include "core/processor.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "codecs/jpeg/baseline/jpeg_enc_level.h"
#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "codecs/jpeg/sequential/sequential.h"
#include "core/sanitizers.h"
#include "tests/unit/codecs/picture_fixture.h"
#include "tests/unit/time_limit.h"

static const char *const names[] = {"plain", "baseline", "neon", "avx2", "avx512", "amx"};
enum { NAMES = sizeof names / sizeof *names, WIDTH = 20, HEIGHT = 17 };

static int no_limit(void **state) {
    (void)state;
    processor_limit(processor_level("auto"));
    return 0;
}

static void test_names(void **state) {
    (void)state;
    assert_int_equal(processor_level("plain"), PROCESSOR_PLAIN);
    assert_int_equal(processor_level("baseline"), PROCESSOR_BASELINE);
    assert_int_equal(processor_level("mmx"), PROCESSOR_NONE);
    assert_int_equal(processor_level(""), PROCESSOR_NONE);
    assert_true(processor_level("auto") >= PROCESSOR_BASELINE);
}

static void test_limit_permits_what_is_below(void **state) {
    (void)state;
    for (unsigned i = 0; i < NAMES; i++) {
        const enum processor_level limit = processor_level(names[i]);
        processor_limit(limit);
        for (unsigned j = 0; j < NAMES; j++) {
            const enum processor_level level = processor_level(names[j]);
            assert_int_equal(processor_allows(level), level != PROCESSOR_NONE && level <= limit);
        }
        assert_false(limit < PROCESSOR_AVX2 && processor_extracts_bits());
    }
}

static void test_tables_of_codecs_begin_with_the_limit(void **state) {
    (void)state;
    for (unsigned i = 0; i < NAMES; i++) {
        const struct jpeg_dec_level *decoders[SEQUENTIAL_LEVELS_MAX + 1];
        const struct jpeg_enc_level *encoders[JPEG_ENC_LEVELS_MAX + 1];
        const enum processor_level limit = processor_level(names[i]);
        if (limit == PROCESSOR_NONE) {
            continue;
        }
        processor_limit(limit);
        sequential_levels(decoders);
        jpeg_enc_levels(encoders);
        const char *best = limit == PROCESSOR_AMX ? "avx512" : names[i]; /* codecs multiply no tiles */
        assert_string_equal(decoders[0]->name, best);
        assert_string_equal(encoders[0]->name, limit == PROCESSOR_AVX512 ? "avx2" : best);
    }
}

/* Encodes by the codec, and decodes that. */
static struct buf encode_and_decode(enum codec_id id, const struct image *image, bool progressive,
                                    struct image *decoded) {
    const struct encode_options options = {.quality = 85, .effort = 0, .progressive = progressive};
    struct buf file = fixture_encode(id, image, &options, NULL);
    *decoded = fixture_decode(buf_bytes(&file), true);
    return file;
}

static void compare_levels(enum codec_id id, const struct image *image, bool progressive) {
    struct image expected, decoded;
    no_limit(NULL);
    struct buf best = encode_and_decode(id, image, progressive, &expected);
    for (unsigned i = 0; i < NAMES; i++) {
        const enum processor_level limit = processor_level(names[i]);
        if (limit == PROCESSOR_NONE) {
            continue;
        }
        processor_limit(limit);
        struct buf file = encode_and_decode(id, image, progressive, &decoded);
        assert_int_equal(file.size, best.size);
        assert_memory_equal(file.data, best.data, best.size);
        assert_int_equal(fixture_difference(&decoded, &expected), 0);
        fixture_image_free(&decoded);
        buf_finish(&file);
    }
    fixture_image_free(&expected);
    buf_finish(&best);
}

static void test_bytes_are_the_same(void **state) {
    (void)state;
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, WIDTH, HEIGHT));
    compare_levels(CODEC_PNG, &image, false);
    compare_levels(CODEC_JPEG, &image, false);
    compare_levels(CODEC_JPEG, &image, true);
    fixture_image_free(&image);
}

#if defined(__x86_64__)
/* ---- step by step: the processor traps after each instruction ---- */

enum { TRAP_FLAG = 1 << 8 };

extern const uint8_t __executable_start, etext; /* by the linker: this program, without shared libraries */
static volatile size_t steps, vectors;          /* instructions of the program; those among them above SSE */

/* All of AVX, BMI and AVX-512 begin with such a byte, which begins no other instruction in 64-bit code. */
static void look_at_step(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    const uint8_t *next = (const uint8_t *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (next >= &__executable_start && next < &etext) {
        steps++;
        vectors += *next == 0xC4 || *next == 0xC5 || *next == 0x62;
    }
}

/* Steps below the red zone, which the compiler may use. */
static void set_trap(bool on) {
    __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq %0, (%%rsp)\n orq %1, (%%rsp)\n popfq\n"
                     "lea 128(%%rsp), %%rsp"
                     :
                     : "r"((uint64_t) ~(uint64_t)TRAP_FLAG), "r"((uint64_t)(on ? TRAP_FLAG : 0))
                     : "cc", "memory");
}

static size_t count_vectors(enum codec_id id, const struct image *image) {
    struct image decoded;
    steps = vectors = 0;
    set_trap(true);
    struct buf file = encode_and_decode(id, image, false, &decoded);
    set_trap(false);
    fixture_image_free(&decoded);
    buf_finish(&file);
    return vectors;
}

/* libjpeg-turbo encodes the file. */
static size_t count_progressive(enum codec_id id, const struct image *image) {
    const struct encode_options options = {.quality = 85, .progressive = true};
    struct buf file = fixture_encode(id, image, &options, NULL);
    steps = vectors = 0;
    set_trap(true);
    struct image decoded = fixture_decode(buf_bytes(&file), true);
    set_trap(false);
    fixture_image_free(&decoded);
    buf_finish(&file);
    return vectors;
}

static void test_no_instruction_is_above_the_limit(void **state) {
    (void)state;
    static const struct {
        enum codec_id id;
        size_t (*count)(enum codec_id id, const struct image *image);
    } cases[] = {{CODEC_PNG, count_vectors}, {CODEC_JPEG, count_vectors}, {CODEC_JPEG, count_progressive}};
    const struct sigaction look = {.sa_sigaction = look_at_step, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    if (SANITIZED) { /* a step for each of its instructions takes minutes */
        skip();
    }
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, WIDTH, HEIGHT));
    bool stepped = true;
    sigaction(SIGTRAP, &look, &before);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases && stepped; i++) {
        processor_limit(PROCESSOR_BASELINE);
        assert_int_equal(cases[i].count(cases[i].id, &image), 0);
        no_limit(NULL);
        size_t count = cases[i].count(cases[i].id, &image);
        stepped = steps > 0;
        assert_true(!stepped || (count > 0) == processor_allows(PROCESSOR_AVX2));
    }
    sigaction(SIGTRAP, &before, NULL);
    fixture_image_free(&image);
    if (!stepped) { /* under valgrind */
        skip();
    }
}
#else
static void test_no_instruction_is_above_the_limit(void **state) {
    (void)state;
    skip();
}
#endif

unsigned time_limit_seconds = 3 * TIME_LIMIT_USUAL; /* each step is a signal */

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_names, no_limit),
        cmocka_unit_test_teardown(test_limit_permits_what_is_below, no_limit),
        cmocka_unit_test_teardown(test_tables_of_codecs_begin_with_the_limit, no_limit),
        cmocka_unit_test_teardown(test_bytes_are_the_same, no_limit),
        cmocka_unit_test_teardown(test_no_instruction_is_above_the_limit, no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
