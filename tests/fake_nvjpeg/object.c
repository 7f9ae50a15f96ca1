/* SPDX-License-Identifier: MIT */
#include "tests/fake_nvjpeg/object.h"

#include <stdio.h>
#include <stdlib.h>

static _Atomic int count;

void *object_make(size_t size, enum object_kind kind) {
    struct object *object = calloc(1, size);
    if (object) {
        object->kind = kind;
        atomic_flag_clear(&object->busy);
        atomic_fetch_add(&count, 1);
    }
    return object;
}

void object_free(void *object) {
    ((struct object *)object)->kind = OBJECT_ENDED;
    atomic_fetch_sub(&count, 1);
    free(object);
}

int object_count(void) {
    return atomic_load(&count);
}

bool object_is(const void *object, enum object_kind kind) {
    return object && ((const struct object *)object)->kind == kind;
}

bool object_enter(void *object, enum object_kind kind) {
    if (!object_is(object, kind)) {
        return false;
    }
    if (atomic_flag_test_and_set(&((struct object *)object)->busy)) {
        fprintf(stderr, "fake_nvjpeg: two threads use one object of kind %d\n", kind);
        abort();
    }
    return true;
}

void object_leave(void *object) {
    atomic_flag_clear(&((struct object *)object)->busy);
}
