/* SPDX-License-Identifier: MIT
 * Failures on demand: FAKE_CUDA_FAULT=CALL:n:RESULT[:sticky][:sleep_ms][:hang][:lost], several separated by
 * commas. The n-th call of CALL (from 1) returns RESULT, a number; `sticky`: as do all later
 * calls of every function that touches a context; a number: after so many milliseconds; `hang`:
 * never; `lost`: it succeeds, but does not do its work. FAKE_CUDA_FAULT_FILE names a file that may appear
 * later with one more fault in it; its calls count from then on, and it is removed when the fault happens.
 * While there is a file FAKE_CUDA_CALLS_FILE, the name of each call is a line of it. */
#ifndef BLURD_TESTS_FAKE_CUDA_FAULTS_H
#define BLURD_TESTS_FAKE_CUDA_FAULTS_H

#include <stdbool.h>

enum { FAULT_LOST = -1 };

/* The result that the call of that name shall return, FAULT_LOST for success without its work, or 0 to do
 * its work. Counts the call. */
int fault_of(const char *call);

/* From now on every call that touches a context returns `result`. */
void fault_poison(int result);

/* A whole number from the environment. */
int fake_setting(const char *name, int otherwise);

/* Each function of the driver begins with this. */
#define MAY_FAIL(name)                                                                                       \
    do {                                                                                                     \
        int result_ = fault_of(name);                                                                        \
        if (result_ != 0) {                                                                                  \
            return result_ == FAULT_LOST ? CUDA_SUCCESS : (CUresult)result_;                                 \
        }                                                                                                    \
    } while (0)

#endif
