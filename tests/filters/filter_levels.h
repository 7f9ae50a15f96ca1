/* SPDX-License-Identifier: MIT
 * Chains written as text, run at every CPU level and compared byte by byte. For cmocka tests: a failure ends
 * the test and names the case. */
#ifndef BLURD_TESTS_FILTER_LEVELS_H
#define BLURD_TESTS_FILTER_LEVELS_H

#include "filters/backend.h"
#include "filters/chain.h"
#include "tests/filters/filter_image.h"
#include "tests/filters/helpers.h"

enum { LEVELS_MAX = 6 };

struct levels {
    const char *name[LEVELS_MAX];
    struct backend *backend[LEVELS_MAX]; /* NULL: this processor lacks it */
    struct lane *lane[LEVELS_MAX];
    struct helpers *helpers; /* run along; NULL: each lane alone */
    bool follows;            /* the source is made while they run, some rows at a time */
    unsigned told;           /* times that runs told of rows of their target, which were compared then */
    uint64_t random;
};

/* As cmocka's setup and teardown of a group: *state becomes a struct levels. */
int levels_setup(void **state);
int levels_teardown(void **state);

/* The pictures that every filter takes: 8 and 16 bits of grey, grey with alpha, RGB, RGBA. */
enum { SIMPLE_MODELS = 8 };
struct image_shape simple_shape(unsigned model, uint32_t width, uint32_t height);

/* A chain like "blur:sigma=2 edge=wrap|pixelate:block=8" for pictures of the shape. */
struct chain make_chain(const char *text, const struct image_shape *shape);

/* A picture of noise; with alpha a quarter of the pixels is transparent, another opaque. */
struct test_image make_noise(struct levels *levels, const struct image_shape *shape);

/* A mask for the shape: patches of 0, of 255 and of anything between. */
struct test_image make_mask(struct levels *levels, const struct image_shape *shape);

/* Runs the chain at each level (mask NULL: none) and compares all of the target's memory, guards and padding
 * too. `text` names the case in a failure. */
void compare_levels(struct levels *levels, const char *text, const struct chain *chain,
                    const struct test_image *source, const struct test_image *mask,
                    const struct test_image *expected);

/* The result of the chain of that text at the first level (mask NULL: none). */
struct test_image level_result(struct levels *levels, const char *text, const struct test_image *source,
                               const struct test_image *mask);

/* The chain on noise, against the reference; optionally under a mask. `text` names the case in a failure. */
void check_chain(struct levels *levels, const char *text, const struct chain *chain,
                 const struct image_shape *shape, bool masked);

/* The chain of that text on noise, against the reference; optionally under a mask. */
void check_reference(struct levels *levels, const char *text, const struct image_shape *shape, bool masked);

#endif
