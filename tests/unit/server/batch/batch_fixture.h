/* SPDX-License-Identifier: MIT
 * A folder for tests of batches, which is the current one while they run. */
#ifndef BLURD_TESTS_BATCH_FIXTURE_H
#define BLURD_TESTS_BATCH_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Makes an empty folder and enters it; leaves and removes it. Setup and teardown of a test. */
int batch_test_enter(void **state);
int batch_test_leave(void **state);

/* Writes a file in it, with the folders in its name. */
void batch_test_file(const char *name, const char *text);

/* The text of a file; "" where there is none. Valid until the next call. */
const char *batch_test_read(const char *name);

#endif
