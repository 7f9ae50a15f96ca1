/* SPDX-License-Identifier: MIT
 * A file is a header and the module. Numbers are in native byte order; on a machine of the other order the
 * magic number does not match.
 *
 * Both hashes are FNV-1a of 128 bits. They detect accidents, not attacks: only this user may write to the
 * folder, and could replace the program as well. Each step is a bijection of the state for a given byte
 * and gives different states for different bytes. So one altered byte is always detected, and any other
 * change except with probability 2^-128. */
#include "gpu/cuda/module_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31646f6d72756c62) /* "blurmod1": the number is the version of the format */

struct cache_header {
    uint64_t magic;
    struct module_key key;
    uint64_t size;              /* of the module, which fills the rest of the file */
    struct module_key checksum; /* of magic, key, size and module */
};

_Static_assert(sizeof(struct cache_header) == 48, "no padding, or unchecked bytes would lie in the file");

enum { NAME_SIZE = 48, STALE_S = 600 };
static const char suffix[] = ".module", temporary[] = ".new";

__extension__ typedef unsigned __int128 wide;

static void hash(struct module_key *state, const void *data, size_t size) {
    const uint8_t *byte = data;
    const wide prime = ((wide)1 << 88) + 0x13b;
    wide value = (wide)state->high << 64 | state->low;
    for (size_t i = 0; i < size; i++) {
        value = (value ^ byte[i]) * prime;
    }
    *state = (struct module_key){(uint64_t)(value >> 64), (uint64_t)value};
}

struct module_key module_key_begin(void) {
    return (struct module_key){UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d)};
}

void module_key_add(struct module_key *key, struct bytes part) {
    uint64_t size = part.size;
    hash(key, &size, sizeof size);
    hash(key, part.data, part.size);
}

static struct module_key checksum_of(const struct cache_header *header, struct bytes module) {
    struct module_key sum = module_key_begin();
    hash(&sum, header, offsetof(struct cache_header, checksum));
    hash(&sum, module.data, module.size);
    return sum;
}

static bool same(const struct module_key *a, const struct module_key *b) {
    return a->high == b->high && a->low == b->low;
}

int module_cache_open(const char *folder, struct error *err) {
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        fail(err, ST_ARGUMENT, "cannot make the folder %s: %s", folder, strerror(errno));
        return -1;
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        fail(err, ST_ARGUMENT, "cannot open the folder %s: %s", folder, strerror(errno));
    } else if (info.st_uid != geteuid() || (info.st_mode & 07777) != 0700) {
        fail(err, ST_ARGUMENT, "the folder %s must be this user's alone: owner %u, mode %03o", folder,
             (unsigned)info.st_uid, (unsigned)info.st_mode & 07777);
    } else {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static void name_of(const struct module_key *key, char name[NAME_SIZE]) {
    snprintf(name, NAME_SIZE, "%016jx%016jx%s", (uintmax_t)key->high, (uintmax_t)key->low, suffix);
}

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static bool is_older(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Counts a file of the folder, or removes it if a dead writer left it. */
static void survey_file(int folder, const char *name, unsigned *count, struct timespec *oldest_time,
                        char oldest[NAME_SIZE]) {
    struct stat info;
    if (strlen(name) >= NAME_SIZE || fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    if (ends_with(name, temporary) && info.st_mtime + STALE_S < time(NULL)) {
        unlinkat(folder, name, 0);
    } else if (ends_with(name, suffix) && ((*count)++ == 0 || is_older(&info.st_mtim, oldest_time))) {
        *oldest_time = info.st_mtim;
        memcpy(oldest, name, strlen(name) + 1);
    }
}

/* Returns the number of modules, and the least recently used one: a load sets the time. */
static unsigned survey(int folder, char oldest[NAME_SIZE]) {
    struct timespec oldest_time = {0};
    unsigned count = 0;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (!listing) {
        if (fd >= 0) {
            close(fd);
        }
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(listing));) {
        survey_file(folder, entry->d_name, &count, &oldest_time, oldest);
    }
    closedir(listing); /* closes fd, too */
    return count;
}

static void prune(int folder) {
    char oldest[NAME_SIZE];
    while (survey(folder, oldest) > MODULE_FILES_MAX) {
        if (unlinkat(folder, oldest, 0) != 0) {
            return;
        }
    }
}

static bool read_all(int fd, void *data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = read(fd, (char *)data + done, size - done);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_all(int fd, const void *data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, (const char *)data + done, size - done);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Checks the size before it allocates, and the rest before it accepts the module. */
static enum status read_module(int fd, const struct module_key *key, struct buf *module, struct error *err) {
    struct cache_header header;
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & 077) != 0) {
        return fail(err, ST_CORRUPT, "the cached module is not a file of this user alone");
    }
    if (!read_all(fd, &header, sizeof header) || header.magic != MAGIC || !same(&header.key, key)) {
        return fail(err, ST_CORRUPT, "the cached module is not one of this program");
    }
    if (header.size > MODULE_SIZE_MAX || (uint64_t)info.st_size != sizeof header + header.size) {
        return fail(err, ST_CORRUPT, "the cached module is cut short");
    }
    enum status status = buf_reserve(module, header.size, err);
    if (status != ST_OK) {
        return status;
    }
    struct bytes content = {module->data + module->size, header.size};
    bool whole = read_all(fd, module->data + module->size, header.size);
    struct module_key checksum = whole ? checksum_of(&header, content) : (struct module_key){0};
    if (!whole || !same(&checksum, &header.checksum)) {
        return fail(err, ST_CORRUPT, "the cached module is damaged");
    }
    module->size += header.size;
    return ST_OK;
}

enum status module_cache_load(int folder, const struct module_key *key, struct buf *module,
                              struct error *err) {
    char name[NAME_SIZE];
    name_of(key, name);
    /* With O_NONBLOCK a pipe of this name does not block the start. */
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return fail(err, ST_ARGUMENT, "there is no cached module");
    }
    enum status status = fd < 0 ? fail(err, ST_CORRUPT, "cannot open the cached module: %s", strerror(errno))
                                : read_module(fd, key, module, err);
    if (status == ST_OK) {
        futimens(fd, NULL); /* for prune; may fail on read-only media */
    }
    if (status == ST_CORRUPT) {
        unlinkat(folder, name, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

static enum status write_module(int folder, const char *name, const struct cache_header *header,
                                struct bytes module, struct error *err) {
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail(err, ST_BUSY, "cannot write the module cache: %s", strerror(errno));
    }
    bool written = write_all(fd, header, sizeof *header) && write_all(fd, module.data, module.size);
    int reason = errno;
    if (close(fd) != 0 && written) { /* some file systems report only now that they are full */
        reason = errno;
        written = false;
    }
    return written ? ST_OK : fail(err, ST_BUSY, "cannot write the module cache: %s", strerror(reason));
}

/* No fsync is needed: the checksum detects the damage of a power loss. */
enum status module_cache_store(int folder, const struct module_key *key, struct bytes module,
                               struct error *err) {
    char name[NAME_SIZE], unique[NAME_SIZE];
    uint64_t number;
    if (module.size > MODULE_SIZE_MAX) {
        return fail(err, ST_LIMIT, "a module of %zu bytes is not cached", module.size);
    }
    /* A random number, since every container of a volume has process number 1. */
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        return fail(err, ST_BUSY, "cannot write the module cache: no random number");
    }
    name_of(key, name);
    snprintf(unique, sizeof unique, "%016jx%s", (uintmax_t)number, temporary);
    struct cache_header header = {.magic = MAGIC, .key = *key, .size = module.size};
    header.checksum = checksum_of(&header, module);
    enum status status = write_module(folder, unique, &header, module, err);
    if (status == ST_OK && renameat(folder, unique, folder, name) != 0) {
        status = fail(err, ST_BUSY, "cannot write the module cache: %s", strerror(errno));
    }
    if (status != ST_OK) {
        unlinkat(folder, unique, 0);
    }
    prune(folder);
    return status;
}
