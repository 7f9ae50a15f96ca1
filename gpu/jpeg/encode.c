/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/encode.h"

#include <math.h>
#include <string.h>

#include "core/numbers.h"
#include "core/tuned.h"
#include "gpu/jpeg/encode_head.h"
#include "gpu/stream/launch.h"

enum { ALIGNMENT = 256, SIDE_MAX = 65500 /* libjpeg's limit */, IN_MCU_MAX = 10 };

/* Blocks of threads that share the chunks of a file: one for each chunk of a usual photograph, up to two for
 * each multiprocessor of a large GPU. */
enum { USUAL_BYTES = 8 /* of a block of samples */, CHUNK_BLOCKS_MAX = 256 };

/* Pinned memory that the device accesses, too. */
struct gpu_encode_mailbox {
    struct encode_kept kept; /* what the stream begins with */
    volatile struct encode_outcome outcome;
};

/* Offsets in encode->memory. */
struct encode_layout {
    size_t state, blocks, quads, ranges, chunks, entries, bits, output, end;
    size_t capacity; /* bytes of `bits` */
};

struct cut {
    uint32_t in_mcu, mcus_x, count; /* blocks in an MCU, MCUs in a row, blocks in all */
};

static struct cut cut_up(const struct image *image) {
    const struct plane *reduced = &image->plane[image->plane_count - 1];
    uint32_t x = 1U << reduced->shift_x, y = 1U << reduced->shift_y;
    struct cut cut = {.in_mcu = x * y + image->plane_count - 1,
                      .mcus_x = divide_up(image->width, KERNEL_ENCODE_SIDE * x)};
    cut.count = cut.in_mcu * cut.mcus_x * divide_up(image->height, KERNEL_ENCODE_SIDE * y);
    return cut;
}

/* 2^32 / by, rounded up; 0 for 1. */
static uint32_t inverse_of(uint32_t by) {
    return by > 1 ? UINT32_MAX / by + 1 : 0;
}

static size_t take(size_t *end, size_t size) {
    size_t begin = *end;
    *end += bytes_align_up(size, ALIGNMENT);
    return begin;
}

/* `output`: room for the file, or 0 when the kernels write to host memory. */
static struct encode_layout lay_out(const struct cut *cut, size_t room, size_t output) {
    size_t worst = ((size_t)cut->count * KERNEL_ENCODE_BLOCK_BITS + 7) / 8;
    struct encode_layout layout = {.capacity =
                                       bytes_align_up(worst < room ? worst : room, KERNEL_ENCODE_VECTOR)};
    size_t quads = divide_up(cut->count, KERNEL_ENCODE_QUAD);
    size_t ranges = quads / KERNEL_ENCODE_RANGE + 1;
    layout.state = take(&layout.end, sizeof(struct encode_state));
    layout.blocks = take(&layout.end, cut->count * sizeof(struct encode_block));
    layout.quads = take(&layout.end, quads * sizeof(struct encode_quad));
    layout.ranges = take(&layout.end, ranges * sizeof(uint64_t));
    layout.chunks = take(&layout.end, (layout.capacity / KERNEL_ENCODE_CHUNK + 1) * sizeof(uint64_t));
    layout.entries = take(&layout.end, quads * KERNEL_ENCODE_QUAD_ENTRIES * sizeof(uint32_t));
    layout.bits = take(&layout.end, layout.capacity);
    layout.output = take(&layout.end, output);
    return layout;
}

enum status gpu_encode_init(struct gpu_encode *encode, struct gpu_stream *stream, struct error *err) {
    const struct cuda *cuda = stream->device->cuda;
    void *mailbox = NULL;
    enum status status =
        CUDA_TRY(cuda, err, cuMemHostAlloc, &mailbox, sizeof *encode->mailbox, CU_MEMHOSTALLOC_DEVICEMAP);
    if (status != ST_OK) {
        return status;
    }
    encode->mailbox = mailbox;
    memset(mailbox, 0, sizeof *encode->mailbox);
    gpu_encode_head_standard(&encode->mailbox->kept.standard);
    status = CUDA_TRY(cuda, err, cuMemHostGetDevicePointer, &encode->mailbox_device, mailbox, 0);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemAlloc, &encode->kept, sizeof(struct encode_kept));
    }
    encode->uncounted = status == ST_OK;
    return status == ST_OK ? gpu_stream_upload(stream, encode->kept, &encode->mailbox->kept,
                                               sizeof encode->mailbox->kept, err)
                           : status;
}

void gpu_encode_finish(struct gpu_encode *encode, struct gpu_stream *stream) {
    gpu_buffer_finish(&encode->memory, stream->device);
    const struct cuda *cuda = stream->device->cuda;
    if (encode->kept) {
        cuda->cuMemFree(encode->kept);
    }
    if (encode->mailbox) {
        cuda->cuMemFreeHost(encode->mailbox);
    }
    *encode = (struct gpu_encode){0};
}

enum status gpu_encode_reserve(struct gpu_encode *encode, struct gpu_stream *stream,
                               const struct image *image, uint8_t *output, size_t room, struct error *err) {
    const struct cut cut = cut_up(image);
    if (image->width > SIDE_MAX || image->height > SIDE_MAX) {
        return fail(err, ST_UNSUPPORTED, "picture is %u x %u pixels; a JPEG has at most %d a side",
                    image->width, image->height, SIDE_MAX);
    }
    if (cut.in_mcu > IN_MCU_MAX) {
        return fail(err, ST_UNSUPPORTED, "a JPEG has at most %d blocks in an MCU, this one would have %u",
                    IN_MCU_MAX, cut.in_mcu);
    }
    encode->direct = 0;
    if (stream->device->cuda->cuMemHostGetDevicePointer(&encode->direct, output, 0) != CUDA_SUCCESS) {
        encode->direct = 0; /* memory unknown to the driver */
    }
    size_t size = lay_out(&cut, room, encode->direct ? 0 : room).end;
    return gpu_stream_reserve(stream, &encode->memory, size, err);
}

static void set_components(struct encode_pass *pass, const struct image *image) {
    const struct plane *reduced = &image->plane[image->plane_count - 1];
    uint32_t first = 0;
    for (unsigned i = 0; i < image->plane_count; i++) {
        const struct plane *plane = &image->plane[i];
        pass->component[i] = (struct encode_component){
            .grid = gpu_launch_grid(plane, EDGE_CLAMP),
            .blocks_x = (int32_t)divide_up(plane->width, KERNEL_ENCODE_SIDE),
            .blocks_y = (int32_t)divide_up(plane->height, KERNEL_ENCODE_SIDE),
            .shift_x = i > 0 ? 0 : reduced->shift_x,
            .shift_y = i > 0 ? 0 : reduced->shift_y,
            .first = first,
            .table = i > 0,
        };
        first += 1U << (pass->component[i].shift_x + pass->component[i].shift_y);
    }
    pass->components = image->plane_count;
}

/* A job on its stream. */
struct encode_work {
    struct gpu_encode *encode;
    struct gpu_stream *stream;
    const struct gpu_encode_job *job;
};

static bool has_own_codes(const struct gpu_encode_job *job) {
    return job->optimal || job->patch;
}

static void set_head(struct encode_pass *pass, const struct gpu_encode_job *job) {
    for (unsigned table = 0; table < JPEG_QUANTISERS; table++) {
        if (job->patch) {
            memcpy(pass->quantiser[table], job->patch->quantiser[table], sizeof pass->quantiser[table]);
        } else {
            jpeg_quantiser_make(job->quality, table, pass->quantiser[table]);
        }
        for (unsigned k = 0; k < KERNEL_ENCODE_COEFFICIENTS; k++) {
            unsigned by_column = k % KERNEL_ENCODE_SIDE * KERNEL_ENCODE_SIDE + k / KERNEL_ENCODE_SIDE;
            float divisor = (float)pass->quantiser[table][k] * KERNEL_ENCODE_SIDE;
            pass->inverse[table][by_column] = nextafterf(1 / divisor, 1);
        }
    }
    gpu_encode_head(job->image, pass);
}

static struct encode_pass make_pass(const struct encode_work *work) {
    const struct gpu_encode *encode = work->encode;
    const struct gpu_encode_job *job = work->job;
    const struct cut cut = cut_up(job->image);
    const struct encode_layout layout = lay_out(&cut, job->room, 0);
    CUdeviceptr memory = encode->memory.data, kept = encode->kept;
    const bool own = has_own_codes(job);
    struct encode_pass pass = {
        .tables = kept + (own ? offsetof(struct encode_kept, own) : offsetof(struct encode_kept, standard)),
        .counts = own ? kept + offsetof(struct encode_kept, counts) : 0,
        .state = memory + layout.state,
        .blocks = memory + layout.blocks,
        .quads = memory + layout.quads,
        .entries = memory + layout.entries,
        .ranges = memory + layout.ranges,
        .chunks = memory + layout.chunks,
        .bits = memory + layout.bits,
        .output = encode->direct ? encode->direct : memory + layout.output,
        .outcome = encode->mailbox_device + offsetof(struct gpu_encode_mailbox, outcome),
        .marks = work->stream->marks_device,
        .capacity = layout.capacity,
        .room = job->room,
        .in_mcu = cut.in_mcu,
        .inverse_mcu = inverse_of(cut.in_mcu),
        .mcus_x = cut.mcus_x,
        .inverse_x = inverse_of(cut.mcus_x),
        .count = cut.count,
    };
    set_components(&pass, job->image);
    set_head(&pass, job);
    return pass;
}

/* Blocks of threads that share the groups. What a block prepares serves TUNED_GPU_TRANSFORM_GROUPS of them
 * where all blocks fill the device all the same. */
static unsigned transform_blocks(unsigned groups) {
    unsigned each = groups / TUNED_GPU_TRANSFORM_BLOCKS;
    return divide_up(groups, each < 1                            ? 1
                             : each < TUNED_GPU_TRANSFORM_GROUPS ? each
                                                                 : TUNED_GPU_TRANSFORM_GROUPS);
}

/* In the order in which they run. */
enum encode_step { TRANSFORM, SYMBOLS, MEASURE, WRITE, COUNT, STUFF };

static enum status launch(const struct encode_work *work, struct encode_pass *pass, enum encode_step step,
                          struct error *err) {
    unsigned groups = divide_up(pass->count, KERNEL_ENCODE_GROUP);
    unsigned ranges = divide_up(pass->count, KERNEL_ENCODE_QUAD * KERNEL_ENCODE_RANGE);
    size_t usual = (size_t)pass->count * USUAL_BYTES;
    size_t chunks = (usual < pass->capacity ? usual : pass->capacity) / KERNEL_ENCODE_CHUNK + 1;
    unsigned chunk_blocks = chunks < CHUNK_BLOCKS_MAX ? (unsigned)chunks : CHUNK_BLOCKS_MAX;
    const struct {
        enum kernel kernel;
        unsigned count;
        size_t shared;
        bool few; /* blocks */
    } launches[] = {
        [TRANSFORM] = {KERNEL_encode_transform, transform_blocks(groups),
                       sizeof(struct encode_transform_shared), false},
        [SYMBOLS] = {KERNEL_encode_symbols, divide_up(pass->count, KERNEL_ENCODE_THREADS),
                     pass->counts ? sizeof(struct encode_symbols_shared)
                                  : offsetof(struct encode_symbols_shared, tree),
                     true},
        [MEASURE] = {KERNEL_encode_measure, ranges, sizeof(struct encode_sums), true},
        [WRITE] = {KERNEL_encode_write, ranges, sizeof(struct encode_write_shared), false},
        [COUNT] = {KERNEL_encode_count, chunk_blocks, sizeof(struct encode_sums), true},
        [STUFF] = {KERNEL_encode_stuff, chunk_blocks, sizeof(struct encode_stuff_shared), true},
    };
    const struct gpu_blocks blocks = {launches[step].count, KERNEL_THREADS_Y,
                                      (unsigned)launches[step].shared};
    return (launches[step].few ? gpu_launch_urgent : gpu_launch)(work->stream, launches[step].kernel, pass,
                                                                 blocks, err);
}

static enum status launch_transform(const struct encode_work *work, struct encode_pass *pass,
                                    struct error *err) {
    const struct gpu_encode_patch *patch = work->job->patch;
    if (!patch) {
        return launch(work, pass, TRANSFORM, err);
    }
    struct encode_patch_pass patched = {
        .encode = *pass, .mask = gpu_launch_grid(&patch->mask.plane[0], EDGE_CLAMP), .source = patch->source};
    const struct gpu_blocks blocks = {divide_up(pass->count, KERNEL_ENCODE_GROUP), KERNEL_THREADS_Y,
                                      sizeof(struct encode_patch_shared)};
    return gpu_launch(work->stream, KERNEL_encode_patch, &patched, blocks, err);
}

static enum status clear_counts(const struct encode_work *work, const struct encode_pass *pass,
                                struct error *err) {
    return !pass->counts || work->encode->uncounted
               ? ST_OK
               : gpu_stream_fill(work->stream, pass->counts, 0, sizeof(struct encode_counts), err);
}

enum status gpu_encode_begin(struct gpu_encode *encode, struct gpu_stream *stream,
                             const struct gpu_encode_job *job, struct error *err) {
    const struct encode_work work = {encode, stream, job};
    struct encode_pass pass = make_pass(&work);
    encode->output = pass.output;
    pass.output =
        0; /* differs from file to file, unlike the rest of what all launches but the last one take */
    encode->mailbox->outcome = (struct encode_outcome){.size = UINT64_MAX};
    enum status status = clear_counts(&work, &pass, err);
    encode->uncounted = encode->uncounted && !pass.counts;
    if (status == ST_OK) {
        status = launch_transform(&work, &pass, err);
    }
    for (enum encode_step step = SYMBOLS; step <= STUFF && status == ST_OK; step++) {
        pass.output = step == STUFF ? encode->output : 0;
        status = launch(&work, &pass, step, err);
    }
    encode->uncounted = encode->uncounted || (pass.counts && status == ST_OK);
    return status;
}

enum status gpu_encode_end(const struct gpu_encode *encode, size_t room, size_t *size, struct error *err) {
    *size = (size_t)encode->mailbox->outcome.size;
    if (encode->mailbox->outcome.refused) {
        return fail(err, ST_UNSUPPORTED, "coefficients of more than 8-bit samples");
    }
    return *size > room
               ? fail(err, ST_UNSUPPORTED, "the JPEG takes %zu bytes, more than there is room for", *size)
               : ST_OK;
}

bool gpu_encode_is_direct(const struct gpu_encode *encode) {
    return encode->direct != 0;
}

enum status gpu_encode_fetch(struct gpu_encode *encode, struct gpu_stream *stream, uint8_t *output,
                             size_t size, struct error *err) {
    return gpu_stream_download(stream, output, encode->output, size, err);
}
