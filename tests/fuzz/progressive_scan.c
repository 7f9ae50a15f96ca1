/* SPDX-License-Identifier: MIT
 * The device's reader of progressive JPEGs on the fake driver: what it calls intact has the values of the
 * CPU's reader. The memory of both sides ends where memory ends that may not be touched. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codecs/jpeg/jpeg_coefficients.h"
#include "core/log.h"
#include "gpu/jpeg/progressive.h"
#include "tests/fuzz/common/fuzz.h"
#include "tests/unit/core/coefficients_fixture.h"

enum { PAGE = 4096, MEMORY_MAX = 64 << 20, ROOM_MAX = 2 << 20, ANY = 0xa5 };

static struct cuda cuda;
static struct gpu_device device;
static struct gpu_stream stream;
static uint8_t *memory_end, *room_end; /* pages behind the device's memory, and behind what is packed */

static uint8_t *fence(size_t size) {
    uint8_t *pages =
        mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fuzz_require(pages != MAP_FAILED && mprotect(pages + size, PAGE, PROT_NONE) == 0, "there is memory");
    return pages + size;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    char program[PATH_MAX] = "", library[PATH_MAX + 40];
    const struct program_options options = {0};
    struct error err = {0};
    log_init(LOG_ERROR, LOG_TEXT);
    fuzz_require(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "the program has a path");
    snprintf(library, sizeof library, "%s/../fake_cuda/libfakecuda.so", dirname(program));
    fuzz_require(cuda_open(&cuda, library, &err) == ST_OK &&
                     gpu_device_open(&device, &cuda, 0, &options, &err) == ST_OK &&
                     gpu_stream_init(&stream, &device, &err) == ST_OK,
                 err.text);
    memory_end = fence(MEMORY_MAX);
    room_end = fence(ROOM_MAX);
    return 0;
}

static uint32_t read_by_device(const uint8_t *room, const struct progressive_source *source) {
    static volatile uint32_t verdict;
    uint8_t *packed = room_end - source->input, *memory = memory_end - source->memory;
    const struct progressive_picture picture = {(uintptr_t)packed, (uintptr_t)memory, (uintptr_t)&verdict};
    struct error err = {0};
    memmove(packed, room, source->input);
    memset(memory, ANY, source->memory);
    verdict = PROGRESSIVE_PENDING;
    fuzz_require(progressive_begin(&stream, &picture, 1, &err) == ST_OK &&
                     cuda.cuStreamSynchronize(stream.handle) == CUDA_SUCCESS,
                 "the kernel runs");
    fuzz_require(verdict != PROGRESSIVE_PENDING, "there is a verdict");
    return verdict;
}

static void compare(struct bytes input, const struct codec_limits *limits, const struct image_shape *shape,
                    const struct progressive_source *source) {
    const struct coefficients_layout *layout = &source->layout;
    size_t room = bytes_align_up(jpeg_coefficients_bytes(layout), IMAGE_ALIGNMENT);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, room);
    struct error err = {0};
    fuzz_require(memory, "there is memory for coefficients");
    fuzz_require(jpeg_coefficients_read(input, limits, shape, source->plain, memory, &err) == ST_OK,
                 "the CPU reads it, too");
    const struct jpeg_coefficients own = jpeg_coefficients_in(memory, layout);
    const int16_t *values = (const int16_t *)(const void *)(memory_end - source->memory);
    fuzz_require(coefficients_are_same(layout, shape, own.values, values), "the values are the same");
    for (unsigned plane = 0; plane < layout->planes; plane++) {
        fuzz_require(memcmp(own.head->quantiser[plane], source->head.quantiser[plane],
                            sizeof own.head->quantiser[plane]) == 0,
                     "the steps are the same");
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct bytes input = {data, size};
    struct codec_limits limits = fuzz_limits();
    struct progressive_source source;
    struct picture picture;
    struct error err = {0};
    limits.max_scans = KERNEL_PROGRESSIVE_SCANS;
    if (codec_sniff(input) != codec_get(CODEC_JPEG) || codec_probe(input, &limits, &picture, &err) != ST_OK) {
        return 0;
    }
    uint8_t *room = room_end - bytes_align_up(progressive_room(), PAGE);
    const struct image_shape shape = picture.native;
    codec_picture_finish(&picture);
    if (progressive_parse(input, &shape, room, progressive_room(), &source, &err) != ST_OK) {
        fuzz_require(err.status == ST_UNSUPPORTED && err.text[0], "a refusal is explained");
        return 0;
    }
    fuzz_require(source.input <= progressive_room() && source.memory <= MEMORY_MAX, "the sizes are bounded");
    if (read_by_device(room, &source) == PROGRESSIVE_INTACT) {
        compare(input, &limits, &shape, &source);
    }
    return 0;
}
