/* SPDX-License-Identifier: MIT
 * Between the parts of check_gpu, which compares the GPU with the CPU byte by byte. */
#ifndef BLURD_TESTS_GPU_CHECK_H
#define BLURD_TESTS_GPU_CHECK_H

#include "filters/chain.h"
#include "gpu/engine/jpeg_stream.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct check {
    struct cuda cuda;
    struct gpu_device device;
    struct jpeg_stream jpeg;
    struct backend *reference; /* the CPU's */
    struct lane *reference_lane;
    uint64_t random;
    const char *section;           /* of the filters, the only one that runs; NULL: all */
    unsigned share, shares, cases; /* of the cases of one filter, each whose number modulo shares is share */
    unsigned passed, failed;
};

/* Every kind of picture, without its size; the first CHECK_PLANAR have one plane. Awkward sizes, and large
 * ones. */
enum { CHECK_MODELS = 13, CHECK_PLANAR = 8, CHECK_SIZES = 12, CHECK_LARGE_SIZES = 4 };
extern const struct image_shape check_models[CHECK_MODELS];
extern const uint32_t check_sizes[CHECK_SIZES][2];
extern const uint32_t check_large_sizes[CHECK_LARGE_SIZES][2];

/* Ends the program with the sentence when the status is not ST_OK. */
void must(enum status status, const struct error *err);

/* SplitMix64 (Steele, Lea, Flood 2014), and a number below `end`. */
uint64_t check_random(struct check *check);
unsigned check_below(struct check *check, unsigned end);

/* A chain's next step. */
void check_append(struct chain *chain, enum filter_id filter, const void *arguments,
                  const struct image_shape *shape);

/* Runs the only step of the chain on noise, kernels alone, and compares the whole of the target's memory, so
 * that only pixels may be written. `text` names the case. */
void check_kernels(struct check *check, const struct image_shape *shape, const struct chain *chain,
                   const char *text);

/* The same for a picture that is turned upright, EXIF orientation 1 to 8; grey of 8 bits or planar, and
 * exact. */
void check_turn(struct check *check, const struct image_shape *shape, uint8_t orientation, const char *text);

/* Runs the chain as requests go, with a mask or without, and compares the pixels. */
void check_lane(struct check *check, const struct image_shape *shape, const struct chain *chain, bool masked,
                const char *text);

/* Prints the counts after that part. */
void check_report(const struct check *check, const char *part);

/* Opens what the parts read, as a sandbox refuses files: the model that FACE_MODEL names, if it is set. */
void check_faces_open(void);

/* The parts. `quick`: a few of each, small pictures. */
void check_blur(struct check *check, bool quick);
void check_filters(struct check *check, bool quick);
void check_orient(struct check *check, bool quick);
void check_encode(struct check *check, bool quick);
void check_jpeg(struct check *check, bool quick);
void check_colours(struct check *check, bool quick);
void check_faces(struct check *check, bool quick);
void check_text(struct check *check, bool quick);
void check_masks(struct check *check, bool quick);
void check_patch(struct check *check, bool quick);
void check_scans(struct check *check, bool quick);

/* The damaged files of check_jpeg. `good` is a JPEG of that shape. */
struct submitter;
struct buf;
void check_damage(struct check *check, struct submitter *submitter, const struct buf *good,
                  const struct image_shape *shape, bool quick);

#endif
