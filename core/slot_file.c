/* SPDX-License-Identifier: MIT */
#include "core/slot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int slot_file(size_t size) {
    int fd = memfd_create("blurd-slot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        return fd;
    }
    int reason = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = reason;
    return -1;
}

/* Not by fstat, which some C libraries do with the call that also looks up paths. */
bool slot_file_holds(int fd, size_t size) {
    int seals = fcntl(fd, F_GET_SEALS);
    off_t end = seals >= 0 && (seals & F_SEAL_SHRINK) ? lseek(fd, 0, SEEK_END) : -1;
    return end >= 0 && (uint64_t)end >= size;
}
