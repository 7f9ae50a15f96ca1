/* SPDX-License-Identifier: MIT
 * The numbers that were found by measuring on a host, and that another host may want otherwise: a faster
 * core, a smaller GPU, a slower bus. Each has its unit, and each group the host and the command that measures
 * it again. All code takes them from here.
 *
 * Elsewhere are numbers that follow from a format or from the layout of a kernel, limits that are promises to
 * clients, the costs of filters and codecs, which are with
 * them (tests/python.sh bench/cost.py), and bounds of the memory of libraries.
 *
 * Hosts:
 *     Zen 3    AMD EPYC, 2 cores, AVX2        bench/results/amd-epyc-zen3-2-cores-cpu.md
 *     Zen 4    AMD EPYC, 2 cores, AVX-512     bench/results/amd-epyc-zen4-2-cores-cpu.md
 *     H100     one H100, 16 cores             bench/results/nvidia-h100-*.md
 *     H200     one H200, 16 cores             bench/results/nvidia-h200-*.md
 *     4 H100   four of them, 64 cores         bench/results/nvidia-h100-several.md
 *     unknown  the host was not written down: measure before you rely on such a number
 *
 * bench/gpu.sh takes --bundle and --pictures besides (docs/performance-measure.md). */
#ifndef BLURD_CORE_TUNED_H
#define BLURD_CORE_TUNED_H

/* ---- the prediction of a request's time on cores: server/planner/cost.c ----
 * Only the ratios between these numbers matter, as a running daemon learns the machine's factor for each kind
 * of work. The photographs have 1920x1080 pixels. */

/* Decoding: nanoseconds a pixel, and nanoseconds a byte of the file. */

/* Zen 4, converted to Zen 3: tests/python.sh bench/cost.py. */
#define TUNED_DECODE_COEFFICIENTS 1, 20 /* a progressive JPEG up to its coefficients */
#define TUNED_DECODE_LIBJPEG 5, 29      /* by libjpeg-turbo: 14.7 ms with 164 KB, 24.3 ms with 476 KB */
#define TUNED_DECODE_UNKNOWN 1, 10      /* a guess for what is not recognised */

/* The worst nanoseconds a byte that libdeflate takes for each effort of PNG. Unknown host:
 * build/release/bench/codecs. */
#define TUNED_PNG_PACK_NS 0, 0, 20, 35, 65, 190, 300, 350, 350, 600

/* Nanoseconds. Zen 3: a request for a picture of one pixel takes 60 to 80 us (bench/post.lua under wrk). */
#define TUNED_REQUEST_NS 60e3F

/* The search for faces: nanoseconds a pixel of the picture that the network sees. Unknown host with AVX-512:
 * bench/detect.py. */
#define TUNED_FACES_PIXEL_NS 45
#define TUNED_CODES_PIXEL_NS 90

/* The search for text, as above. Zen 4: 43 ms for 1312x768. */
#define TUNED_TEXT_PIXEL_NS 45
/* The search for plates, and what it shares with that for text, which both together do once: 35 ms, and 48 ms
 * together, where text took 40. bench/detect.py plates, and text,plates. */
#define TUNED_PLATES_PIXEL_NS 40
#define TUNED_TEXT_BODY_PIXEL_NS 30

/* The search for persons, for each pixel of each size: the same as for faces. Unknown host with AVX-512: 17.2
 * ms for 1280x736, where faces take 16.9 ms; bench/detect.py. */
#define TUNED_PERSONS_PIXEL_NS 45

/* ---- the same on a GPU ---- */

/* One picture alone, from JPEG to JPEG: nanoseconds, and nanoseconds a pixel. The time beside others is
 * learnt. Unknown host: blurd-bench jpeg. */
#define TUNED_GPU_NS 750e3F
#define TUNED_GPU_PIXEL_NS 0.15F
/* The search for faces, as above: 0.51 ms for 1920x1088 beside others. H200: blurd-bench faces. */
#define TUNED_GPU_FACES_PIXEL_NS 0.25F
/* The search for text: 0.82 ms for 1920x1088 beside others. H200: blurd-bench text. */
#define TUNED_GPU_TEXT_PIXEL_NS 0.4F
/* The search for plates, and what it shares with that for text: 0.80 ms for 1952x1120 beside others, and 1.07
 * ms together, where text took 0.84. H200: blurd-bench text. */
#define TUNED_GPU_PLATES_PIXEL_NS 0.4F
#define TUNED_GPU_TEXT_BODY_PIXEL_NS 0.27F
/* The search for persons, for each pixel of each size: 0.28 ms for 1920x1088 and 0.18 for 1280x736 beside
 * others. H200: blurd-bench persons. */
#define TUNED_GPU_PERSONS_PIXEL_NS 0.2F
/* Entropy decoding of a progressive JPEG: nanoseconds, and nanoseconds a byte. 23 to 28 ms with 363 to 513
 * KB, nearly the same for hundreds of them at a time. H100: bench/gpu.sh sizes. */
#define TUNED_GPU_ENTROPY_DECODE_NS 8e6F
#define TUNED_GPU_ENTROPY_DECODE_BYTE_NS 50
/* Nanoseconds of a core that a job of the GPU takes beside what each request takes; below, a core does it
 * itself. Other hosts differ by a factor of two, which matters for pictures below 100x100 only. H200:
 * bench/gpu.sh threads. */
#define TUNED_GPU_HANDING_NS INT64_C(120000)

/* ---- what is done at the same time on a GPU ---- */

enum {
    /* H100: BLURD_GPU_PICTURES=N bench/gpu.sh crowd. */
    TUNED_GPU_PICTURES = 28, /* JPEGs in progress on each GPU */
    /* H100: bench/gpu.sh sizes. 23 ms for the scans of a file and 5 for the rest of 28 files. */
    TUNED_GPU_ENTROPY_DECODES =
        8, /* progressive files that are entropy-decoded, for each of TUNED_GPU_PICTURES */
    TUNED_GPU_ENTROPY_DECODE_LAUNCHES = 24,     /* kernels for them in progress */
    TUNED_GPU_ENTROPY_DECODE_PACE_NS = 2000000, /* between two of these launches */
    TUNED_GPU_ENTROPY_DECODE_LOOK_NS = 100000,  /* between two looks whether a file is done */
    TUNED_GPU_SUBMITTERS = 3, /* threads that enqueue JPEGs: one enqueues 12,000 a second beside two others */
    TUNED_GPU_SUBMITTER_PICTURES = 8,   /* JPEGs in progress, to need another such thread */
    TUNED_GPU_SUBMITTER_LOOK_NS = 20000 /* between two looks whether a JPEG is done */
};

/* Connections of streams to the GPU, a variable of the driver's environment. With 24, 1.1 times as many
 * pictures as with 16; 32 gain nothing. Each adds some 20 ms to the start. H200:
 * CUDA_DEVICE_MAX_CONNECTIONS=N bench/gpu.sh load. */
#define TUNED_GPU_CONNECTIONS "24"

/* ---- the GPU and its driver ---- */

enum {
    /* Percent of a multiprocessor's memory that kernels of JPEGs prefer to share. Up to 6 % more pictures
     * where these become small, nothing at 1080p; 30 and 100 are slower. Dilation and large medians need up
     * to twice as long with 60, and so keep the driver's choice. H200: bench/gpu.sh sizes, for one build with
     * each number. */
    TUNED_GPU_SHARED_PERCENT = 60,

    /* Launches, to be handed over as a graph. A launch takes 4 to 8 us of a core, a graph of ten 4 us, and 2
     * us for each argument that changed. H100: blurd-bench launch. */
    TUNED_GPU_GRAPH_LAUNCHES = 3,

    /* Blocks of threads that fill a GPU: about two for each of the 132 multiprocessors of an H100 or H200. */
    TUNED_GPU_MEDIAN_BLOCKS = 264,    /* unknown host: blurd-bench filters */
    TUNED_GPU_TRANSFORM_BLOCKS = 256, /* that transform a JPEG. H200: blurd-bench jpeg */
    TUNED_GPU_TRANSFORM_GROUPS = 4, /* groups of 8x8 blocks that one of them transforms, at most. The same */
    /* Radius of the largest median that is faster to search than to count. Unknown host: blurd-bench filters.
     */
    TUNED_GPU_MEDIAN_SEARCHED = 2,

    /* A thread that sleeps on an event of a virtual machine's GPU wakes 0.2 to 0.8 ms late, and most pictures
     * take a quarter of a millisecond. So a thread polls before it sleeps, and then sleeps for a part of the
     * time that it has waited. H200: bench/gpu.sh bench. */
    TUNED_GPU_POLL_NS = 500000,
    TUNED_GPU_REST_PART = 16,
    TUNED_GPU_REST_NS = 1000000, /* the longest sleep */

    /* Registering memory with the driver takes 0.4 ms per MiB and more when many threads do it, and all other
     * calls of the driver wait meanwhile. H100 in a virtual machine: the first second of bench/gpu.sh sizes.
     */
    TUNED_GPU_REGISTER_LATER = 16 << 20,    /* bytes; larger slots are registered before their first run */
    TUNED_GPU_REGISTER_PAUSE_NS = 20000000, /* nanoseconds between two registrations, at most */
    TUNED_GPU_OUTGROWN_BYTES = 256 << 20,   /* that slots have grown out of and that are still registered */
    TUNED_GPU_OUTGROWN_PART = 16,           /* one of these parts of the time goes to releasing them */
};

/* ---- threads, connections and the heap ---- */

enum {
    /* An event thread does some 4,000 requests a second with pictures of half a megabyte. H200, and the most
     * on 4 H100: BLURD_EVENT_THREADS=N bench/gpu.sh crowd several. */
    TUNED_EVENT_THREADS = 32,     /* at most */
    TUNED_EVENT_THREAD_CORES = 2, /* for each of them */

    /* Bodies that are read or wait for the GPU: 18,000 requests a second in place of 15,000 at 2,048
     * connections. H200: bench/gpu.sh crowd. */
    TUNED_BODIES = 5,       /* for each JPEG in progress on a GPU */
    TUNED_BODIES_LEAST = 8, /* of an event thread */

    /* What threads share: 60,000 requests a second in place of 26,000. 4 H100: bench/gpu.sh several, with
     * bench/waits.c for who waits. */
    TUNED_WATCH_GROUPS = 32, /* of connections, each with a lock */
    TUNED_ARENA_CORES = 4,   /* that share an arena of the heap */
    TUNED_ARENAS = 16,       /* at most */

    /* Niceness of workers. With 10 for large pictures 11 of 29 were done in time beside other programs, and
     * with 0 for workers that compute beside a GPU its threads ran late and it did 40 %. Unknown hosts, the
     * first with two cores: make check-load, bench/gpu.sh crowd. */
    TUNED_NICE_LARGE = 5,
    TUNED_NICE_BESIDE_GPU = 10,

    /* Nanoseconds that a thread asks for an answer of the GPU's process before it sleeps. Unknown host:
     * bench/gpu.sh service. */
    TUNED_ASK_NS = 500000,

    TUNED_BENCHMARK_CONNECTIONS = 128, /* from which on a GPU does no more. H200: bench/gpu.sh crowd */

    /* Requests that keep a GPU busy, each from a thread of a client on the same cores: 48 to 64 reach 91 to
     * 96 % of what twice as many do from a program that waits for all of them at once; more threads less.
     * H200: bench/batch.py full. */
    TUNED_IN_FLIGHT = 64,
};

/* Nanoseconds. A body that takes longer to arrive does not count among TUNED_BODIES; and one that has waited
 * for so long is read in any case. H200: bench/gpu.sh crowd. */
#define TUNED_BODY_READ_NS INT64_C(20000000)
#define TUNED_BODY_WAIT_NS INT64_C(300000000)

/* ---- parts of a picture, for several cores and for their caches ----
 * Unknown hosts with AVX2 or AVX-512: build/release/bench/filters, jpeg and pipeline, tests/python.sh
 * bench/detect.py. */

enum {
    TUNED_GRAIN = 96 << 10,       /* samples of a part: 40 us of blur, where waking a thread takes 20 */
    TUNED_SLICE_WORK = 2 << 20,   /* samples of the first slice of a band: about a millisecond */
    TUNED_STRIP_WORK = 192 << 10, /* samples of a strip that stays in the second-level cache of a core */
    TUNED_TILE_BYTES = 768 << 10, /* of a tile of a search, which stay there with the weights */
    TUNED_DETECT_PRODUCTS = 96,   /* multiplications that take as long as the blur of a sample */
    TUNED_JPEG_THREADS = 4,       /* that transform while one reads, which takes twice as long */
    TUNED_JPEG_PART_ROWS = 2,     /* rows of MCUs of a part, at least: 40 us for 1080p */
    TUNED_JPEG_PACK = 40 << 10,   /* values of a pack, those of about 1000 blocks: 25 us to transform */
};

#endif
