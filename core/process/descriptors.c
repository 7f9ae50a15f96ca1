/* SPDX-License-Identifier: MIT */
#include "core/process/descriptors.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

void descriptors_expect(unsigned count) {
    int any = eventfd(0, EFD_CLOEXEC);
    int last = any >= 0 && count > 0 ? fcntl(any, F_DUPFD_CLOEXEC, (int)count - 1) : -1;
    if (last >= 0) {
        close(last);
    }
    if (any >= 0) {
        close(any);
    }
}
