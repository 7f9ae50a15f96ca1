/* SPDX-License-Identifier: MIT
 * One thread serves one call after the other. When in doubt the process ends; the daemon starts another one.
 */
#include "codecs/process/codec_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "codecs/process/codec_walk.h"
#include "codecs/process/codec_wire.h"
#include "core/clock.h"
#include "core/deadline.h"
#include "core/numbers.h"
#include "core/sanitizers.h"
#include "core/slot_file.h"

enum {
    TRIM_MS = 500,
    PIECE = 4 << 20,          /* larger ones are given back at once */
    KEPT_LEAST = 32 << 20,    /* see struct codec_process_options */
    STACK_BYTES = 1 << 20,    /* of a library's thread */
    MARGIN_NS = 20 * 1000000, /* codecs that know the deadline report it themselves */
};

struct lent {
    uint8_t *memory; /* NULL: none */
    size_t size;
};

struct process {
    const struct codec_process_options *options;
    int socket;
    int usage;   /* /proc/self/statm; -1: none */
    size_t base; /* bytes of data at the start */
    struct lent exchange;
    struct codec_call call;
    struct codec_answer answer;
    struct codec_piece piece;
    struct buf stored;        /* metadata that the daemon sent */
    struct buf output;        /* sent behind the answer */
    struct metadata metadata; /* of `stored` */
    struct codec_walk walk;
    int64_t begun_ns; /* process_ns when the call began */
};

static struct process *caller; /* whose call SIGALRM ends */

static size_t kept(const struct process *process) {
    return max_size(process->options->kept, KEPT_LEAST);
}

/* Bytes of data as RLIMIT_DATA counts them; 0 where the system does not tell. */
static size_t data_bytes(const struct process *process) {
    char text[128] = "";
    unsigned long data = 0;
    ssize_t size = process->usage < 0 ? -1 : pread(process->usage, text, sizeof text - 1, 0);
    if (size <= 0 || sscanf(text, "%*u %*u %*u %*u %*u %lu", &data) != 1) {
        return 0;
    }
    return data * (size_t)sysconf(_SC_PAGESIZE);
}

/* Beyond it allocations fail. The data segment in /proc includes the stack, which makes the limit lax. */
static void limit_memory(size_t data, uint64_t extra) {
    struct rlimit limit;
    if (data > 0 && !SANITIZED && getrlimit(RLIMIT_DATA, &limit) == 0) {
        limit.rlim_cur = data + extra < limit.rlim_max ? data + extra : limit.rlim_max;
        setrlimit(RLIMIT_DATA, &limit);
    }
}

/* Processor time of all threads. */
static int64_t process_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
}

/* Tells the daemon how long the call has computed, and ends the process. */
static void end_late(int signal) {
    static struct codec_answer late = {
        .late = 1,
        .last = 1,
        .error = {.status = ST_LIMIT, .text = "the picture takes longer than the time limit"}};
    struct error err;
    (void)signal;
    late.computed_ns = (uint64_t)(process_ns() - caller->begun_ns);
    (void)channel_send(caller->socket, &late, sizeof late, CODEC_ANSWER, -1, &err);
    _exit(1);
}

/* SIGALRM ends the process. */
static void limit_time(int64_t deadline_ns) {
    struct itimerval timer = {0};
    if (deadline_ns != 0) {
        int64_t left = (deadline_left(deadline_ns) + MARGIN_NS) / 1000;
        timer.it_value = (struct timeval){left / 1000000, left % 1000000};
    }
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Maps the exchange instead of what was mapped before. */
static enum status map(struct lent *lent, size_t span, int fd, struct error *err) {
    if (lent->memory) {
        munmap(lent->memory, lent->size);
    }
    *lent = (struct lent){0};
    if (!slot_file_holds(fd, span)) {
        return fail(err, ST_INTERNAL, "the slot is shorter than it claims, or may become so");
    }
    void *memory = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return fail(err, ST_BUSY, "no memory to map a slot");
    }
    *lent = (struct lent){memory, span};
    return ST_OK;
}

static enum status receive_exchange(struct process *process, struct error *err) {
    struct codec_lend lend;
    int fd;
    if (!process->call.lends) {
        return ST_OK;
    }
    if (channel_receive(process->socket, &lend, sizeof lend, CODEC_LEND, &fd, -1, err) != ST_OK) {
        _exit(1);
    }
    enum status status = map(&process->exchange, lend.span, fd, err);
    close(fd);
    return status;
}

static enum status find_file(const struct process *process, struct bytes *file, struct error *err) {
    if (process->call.input_size > process->exchange.size) {
        return fail(err, ST_INTERNAL, "the file does not lie in the slot");
    }
    *file = (struct bytes){process->exchange.memory, process->call.input_size};
    return ST_OK;
}

static enum status find_picture(const struct process *process, struct image *image, struct error *err) {
    const struct lent *lent = &process->exchange;
    const struct codec_call *call = &process->call;
    size_t size = codec_wire_is_shape(&call->shape) ? image_layout(image, &call->shape) : 0;
    if (size == 0 || call->picture % IMAGE_ALIGNMENT != 0 || call->picture > lent->size ||
        size > lent->size - call->picture) {
        return fail(err, ST_INTERNAL, "the picture does not lie in the slot");
    }
    image_place(image, lent->memory + call->picture);
    return ST_OK;
}

static enum status probe(struct process *process, const struct codec *codec, struct bytes file,
                         struct error *err) {
    struct codec_answer *answer = &process->answer;
    struct picture picture = {.codec = (enum codec_id)process->call.codec, .metadata.orientation = 1};
    enum status status = codec->probe(file, &process->call.limits, &picture, err);
    if (status == ST_OK) {
        answer->native = picture.native;
        answer->pixels = picture.pixels;
        answer->progressive = picture.progressive;
        answer->exact = picture.exact;
        answer->restorable = picture.restorable;
        answer->frames = picture.frames;
        answer->plays = picture.plays;
        buf_init(&process->output, SIZE_MAX);
        status = codec_wire_pack(&picture.metadata, file, &answer->metadata, &process->output, err);
    }
    buf_finish(&picture.metadata.store);
    return status;
}

static enum status decode(struct process *process, const struct codec *codec, struct bytes file,
                          struct error *err) {
    struct image image;
    enum status status = find_picture(process, &image, err);
    return status == ST_OK ? codec->decode(file, NULL, &process->call.limits, &image, err) : status;
}

static enum status next_frame(struct process *process, const struct codec *codec, struct bytes file,
                              struct error *err) {
    struct frame frame = {0};
    struct image image;
    enum status status = find_picture(process, &image, err);
    status = status == ST_OK
                 ? codec_walk_next(&process->walk, &process->call, codec, file, &image, &frame, err)
                 : status;
    process->answer.delay = frame.delay;
    process->answer.scale = frame.scale;
    return status;
}

/* Of a picture, or of a frame of a sequence. */
static enum status encode(struct process *process, const struct codec *codec, struct bytes file,
                          struct error *err) {
    struct codec_call *call = &process->call;
    struct metadata *metadata = call->has_metadata ? &process->metadata : NULL;
    unsigned losses = 0;
    struct image image;
    enum status status = find_picture(process, &image, err);
    if (status == ST_OK && metadata) {
        *metadata = (struct metadata){0};
        status = codec_wire_unpack(&call->metadata, file, buf_bytes(&process->stored), metadata, err);
    }
    if (status == ST_OK) {
        buf_init(&process->output, call->output_most);
        call->options.losses = &losses;
        status = call->operation == CODEC_ADDS
                     ? codec_walk_add(&process->walk, call, codec, &image, metadata, err)
                     : codec->encode(&image, &call->options, metadata, &process->output, err);
        process->answer.losses = losses;
    }
    return status;
}

static enum status complete(struct process *process, const struct codec *codec, struct bytes file,
                            struct error *err) {
    (void)file;
    buf_init(&process->output, process->call.output_most);
    return codec_walk_complete(&process->walk, codec, &process->output, err);
}

static enum status repack(struct process *process, const struct codec *codec, struct bytes file,
                          struct error *err) {
    if (!codec->repack) {
        return fail(err, ST_INTERNAL, "the call is for no repacking");
    }
    buf_init(&process->output, process->call.output_most);
    return codec->repack(file, &process->call.limits, &process->output, err);
}

static enum status read_marks(struct process *process, struct error *err) {
    const struct codec_reader *reader = process->options->reader;
    struct image image;
    if (!reader || process->call.shape.model != PIXEL_GRAY || process->call.shape.depth != 8) {
        return fail(err, ST_INTERNAL, "the call is for no reader");
    }
    enum status status = find_picture(process, &image, err);
    buf_init(&process->output, process->call.output_most);
    return status == ST_OK ? reader->read(&image, &process->output, err) : status;
}

static enum status run(struct process *process, struct error *err) {
    static enum status (*const operations[])(struct process *, const struct codec *, struct bytes,
                                             struct error *) = {
        [CODEC_PROBES] = probe,      [CODEC_DECODES] = decode, [CODEC_FRAMES] = next_frame,
        [CODEC_ENCODES] = encode,    [CODEC_REPACKS] = repack, [CODEC_ADDS] = encode,
        [CODEC_COMPLETES] = complete};
    struct codec_call *call = &process->call;
    if (call->operation == CODEC_READS) {
        return read_marks(process, err);
    }
    if (call->operation >= CODEC_OPERATIONS || call->codec >= CODEC_COUNT) {
        return fail(err, ST_INTERNAL, "the call is for no codec");
    }
    const struct codec *codec = process->options->codec((enum codec_id)call->codec);
    if (!codec->probe || (call->operation == CODEC_ENCODES && !codec->encode)) {
        return fail(err, ST_INTERNAL, "the codec is not in this build");
    }
    struct bytes file;
    enum status status = find_file(process, &file, err);
    call->limits.progress = NULL;
    call->limits.crew = NULL;
    call->limits.link = NULL;
    call->limits.spare = NULL;
    call->limits.spare_size = 0;
    call->options.crew = NULL;
    call->options.link = NULL;
    call->options.losses = NULL;
    return status == ST_OK ? operations[call->operation](process, codec, file, err) : status;
}

/* Receives what follows the call, and runs it within its limits. */
static enum status serve(struct process *process, struct error *err) {
    struct codec_call *call = &process->call;
    struct codec_walk *walk = &process->walk;
    if (codec_walk_prepare(walk, call)) {
        walk->base = data_bytes(process);
    }
    const bool stands = codec_walk_has(call);
    const uint64_t memory = stands ? walk->reads + walk->writes : call->memory;
    limit_memory(stands ? walk->base : data_bytes(process), memory + call->stored);
    enum status mapped = receive_exchange(process, err);
    buf_init(&process->stored, call->stored);
    struct error ignored;
    if (codec_wire_receive(process->socket, call->stored, &process->piece, 0, &process->stored, &ignored) !=
        ST_OK) {
        _exit(1);
    }
    if (mapped != ST_OK) {
        process->answer.last = 1; /* the daemon takes the slot for mapped */
        return mapped;
    }
    process->begun_ns = process_ns();
    limit_time(call->limits.deadline_ns);
    enum status status = run(process, err);
    limit_time(0);
    process->answer.computed_ns = (uint64_t)(process_ns() - process->begun_ns);
    if (status == ST_BUSY) {
        status = fail(err, ST_LIMIT, "the picture needs more memory than the %zu MiB that it may take",
                      (size_t)(memory >> 20));
    }
    return status;
}

static enum status answer(struct process *process) {
    struct codec_answer *answer = &process->answer;
    *answer = (struct codec_answer){0};
    enum status status = serve(process, &answer->error);
    if (status != ST_OK) {
        buf_finish(&process->output);
    }
    answer->error.status = status;
    answer->size = process->output.size;
    struct error err;
    struct bytes output = buf_bytes(&process->output);
    buf_finish(&process->stored);
    const uint64_t stands = process->walk.reads + process->walk.writes;
    if (data_bytes(process) > process->base + stands + process->output.capacity + kept(process)) {
        answer->last = 1;
    }
    status = channel_send(process->socket, answer, sizeof *answer, CODEC_ANSWER, -1, &err);
    status = status == ST_OK ? codec_wire_send(process->socket, output, &process->piece, &err) : status;
    buf_finish(&process->output);
    return answer->last ? ST_DEVICE : status;
}

/* Gives free memory back while no call comes, and ends when none has come for long. */
static enum status receive_call(struct process *process) {
    struct codec_call *call = &process->call;
    struct error err;
    enum status status =
        channel_receive(process->socket, call, sizeof *call, CODEC_CALL, NULL, TRIM_MS, &err);
    if (status == ST_TIMEOUT) {
        malloc_trim(0);
        status = channel_receive(process->socket, call, sizeof *call, CODEC_CALL, NULL,
                                 CODEC_IDLE_MS - TRIM_MS, &err);
    }
    return status;
}

/* libde265 waits for ever for a thread whose stack finds no memory; the usual stack has 8 MiB. */
static void limit_stacks(void) {
    pthread_attr_t threads;
    pthread_attr_init(&threads);
    pthread_attr_setstacksize(&threads, STACK_BYTES);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
}

/* What a library says about a picture is no line of the log: libjxl of Debian 12 names each fault there. */
static void silence(void) {
    int nothing = SANITIZED ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDERR_FILENO);
        close(nothing);
    }
}

static void prepare(struct process *process) {
    static const struct timeval patient = {0};
    silence();
    limit_stacks();
    signal(SIGALRM, end_late);
    caller = process;
    mallopt(M_TRIM_THRESHOLD, (int)(kept(process) / 2)); /* libjxl asks for the same pieces with each call */
    mallopt(M_MMAP_THRESHOLD, PIECE);
    (void)setsockopt(process->socket, SOL_SOCKET, SO_SNDTIMEO, &patient, sizeof patient);
    process->usage = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

void codec_process(int socket, const struct codec_process_options *options) {
    static struct process process;
    struct codec_ready ready = {0};
    struct error err;
    process.options = options;
    process.socket = socket;
    prepare(&process);
    enum status status = codec_sandbox_enter(&options->sandbox, &ready.error);
    ready.error.status = status;
    if (channel_send(socket, &ready, sizeof ready, CODEC_READY, -1, &err) != ST_OK || status != ST_OK) {
        _exit(1);
    }
    process.base = data_bytes(&process);
    while (receive_call(&process) == ST_OK && answer(&process) == ST_OK) {
    }
    _exit(0);
}
