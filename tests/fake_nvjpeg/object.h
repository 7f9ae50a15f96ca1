/* SPDX-License-Identifier: MIT
 * What the handles of the fake nvJPEG have in common: a kind, so that a wrong, ended or missing one is
 * refused, and one thread at a time. */
#ifndef BLURD_TESTS_FAKE_NVJPEG_OBJECT_H
#define BLURD_TESTS_FAKE_NVJPEG_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum object_kind {
    OBJECT_ENDED,
    OBJECT_HANDLE,
    OBJECT_DECODER,
    OBJECT_STATE,
    OBJECT_PINNED,
    OBJECT_MEMORY,
    OBJECT_STREAM,
    OBJECT_DECODE_PARAMS,
    OBJECT_ENCODER,
    OBJECT_ENCODER_PARAMS,
};

/* The first member of each. */
struct object {
    enum object_kind kind;
    atomic_flag busy;
};

/* All zero but for that. NULL without memory. */
void *object_make(size_t size, enum object_kind kind);
void object_free(void *object);

/* How many there are. */
int object_count(void);

/* Whether it is one of that kind. */
bool object_is(const void *object, enum object_kind kind);

/* The same, and it is the caller's until object_leave. Ends the program when another thread has it: nvJPEG
 * would not notice, and mix up two pictures. */
bool object_enter(void *object, enum object_kind kind);
void object_leave(void *object);

#endif
