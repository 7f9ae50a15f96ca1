/* SPDX-License-Identifier: MIT
 * The cache of compiled kernels returns only complete modules with the right key, however its files are
 * damaged. */
#include "gpu/cuda/module_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SIZE = 300, HEADER = 48, FULL_DISK = 64 << 10 };

struct scene {
    char folder[64];
    int fd;
    struct module_key key;
    char name[64]; /* of the file of the first key */
    uint8_t module[SIZE];
};

static struct module_key key_of(const char *text) {
    struct module_key key = module_key_begin();
    module_key_add(&key, (struct bytes){(const uint8_t *)text, strlen(text)});
    return key;
}

/* The name of a key's file in the folder. */
static void name_of(const struct module_key *key, char name[64]) {
    snprintf(name, 64, "%016jx%016jx.module", (uintmax_t)key->high, (uintmax_t)key->low);
}

static int setup(void **state) {
    struct scene *scene = calloc(1, sizeof *scene);
    const char *base = getenv("TMPDIR");
    snprintf(scene->folder, sizeof scene->folder, "%.40s/blurd-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(scene->folder));
    scene->fd = module_cache_open(scene->folder, NULL);
    assert_true(scene->fd >= 0);
    scene->key = key_of("scene");
    name_of(&scene->key, scene->name);
    for (unsigned i = 0; i < SIZE; i++) {
        scene->module[i] = (uint8_t)(i * 7);
    }
    *state = scene;
    return 0;
}

/* Calls `visit`, which may be NULL, for every file; returns how many there are. */
static unsigned each_file(int folder, void (*visit)(int folder, const char *name)) {
    unsigned count = 0;
    DIR *listing = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY));
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] != '.') {
            count++;
            if (visit) {
                visit(folder, entry->d_name);
            }
        }
    }
    closedir(listing);
    return count;
}

static void remove_file(int folder, const char *name) {
    if (unlinkat(folder, name, 0) != 0) {
        unlinkat(folder, name, AT_REMOVEDIR);
    }
}

static int teardown(void **state) {
    struct scene *scene = *state;
    each_file(scene->fd, remove_file);
    close(scene->fd);
    rmdir(scene->folder);
    free(scene);
    return 0;
}

static void store(const struct scene *scene) {
    struct error err = {0};
    struct bytes module = {scene->module, SIZE};
    if (module_cache_store(scene->fd, &scene->key, module, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
}

static enum status load(const struct scene *scene, const struct module_key *key) {
    struct buf module;
    struct error err = {0};
    buf_init(&module, 1 << 20);
    assert_int_equal(buf_append(&module, "before", 6, NULL), ST_OK);
    enum status status = module_cache_load(scene->fd, key, &module, &err);
    assert_memory_equal(module.data, "before", 6);
    if (status == ST_OK) {
        assert_int_equal(module.size, 6 + SIZE);
        assert_memory_equal(module.data + 6, scene->module, SIZE);
    } else {
        assert_int_equal(module.size, 6);
        assert_int_equal(err.status, status);
        assert_true(err.text[0] != '\0');
    }
    buf_finish(&module);
    return status;
}

static void put_file(const struct scene *scene, const uint8_t *data, size_t size) {
    int fd = openat(scene->fd, scene->name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static void store_and_read(const struct scene *scene, uint8_t data[HEADER + SIZE + 1]) {
    store(scene);
    int fd = openat(scene->fd, scene->name, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, data, HEADER + SIZE + 1), HEADER + SIZE);
    close(fd);
}

static void assert_refused(const struct scene *scene) {
    assert_int_equal(load(scene, &scene->key), ST_CORRUPT);
    assert_int_equal(load(scene, &scene->key), ST_ARGUMENT); /* since it was removed */
}

static void test_round_trip(void **state) {
    struct scene *scene = *state;
    assert_int_equal(load(scene, &scene->key), ST_ARGUMENT);
    store(scene);
    assert_int_equal(load(scene, &scene->key), ST_OK);
    scene->module[0] ^= 1;
    store(scene);
    assert_int_equal(load(scene, &scene->key), ST_OK);
    assert_int_equal(each_file(scene->fd, NULL), 1);
}

static void test_keys_differ(void **state) {
    struct scene *scene = *state;
    struct module_key one = module_key_begin(), other = one, third = key_of("scene!");
    module_key_add(&one, (struct bytes){(const uint8_t *)"a", 1});
    module_key_add(&one, (struct bytes){(const uint8_t *)"bc", 2});
    module_key_add(&other, (struct bytes){(const uint8_t *)"ab", 2});
    module_key_add(&other, (struct bytes){(const uint8_t *)"c", 1});
    assert_memory_not_equal(&one, &other, sizeof one);
    store(scene);
    assert_int_equal(load(scene, &third), ST_ARGUMENT);
    assert_int_equal(load(scene, &scene->key), ST_OK);
}

static void test_every_byte_counts(void **state) {
    struct scene *scene = *state;
    uint8_t file[HEADER + SIZE + 1];
    store_and_read(scene, file);
    for (size_t i = 0; i < HEADER + SIZE; i++) {
        for (unsigned change = 1; change < 256; change = change < 128 ? change * 2 : change + 127) {
            file[i] ^= (uint8_t)change;
            put_file(scene, file, HEADER + SIZE);
            assert_refused(scene);
            file[i] ^= (uint8_t)change;
        }
    }
    put_file(scene, file, HEADER + SIZE);
    assert_int_equal(load(scene, &scene->key), ST_OK);
}

static void test_every_length_counts(void **state) {
    struct scene *scene = *state;
    uint8_t file[HEADER + SIZE + 1] = {0};
    store_and_read(scene, file);
    for (size_t size = 0; size <= HEADER + SIZE + 1; size++) {
        if (size != HEADER + SIZE) {
            put_file(scene, file, size);
            assert_refused(scene);
        }
    }
}

/* Whole, but made for another key: a file that was renamed. */
static void test_foreign_file(void **state) {
    struct scene *scene = *state;
    char other_name[64];
    struct module_key other = key_of("other");
    store(scene);
    name_of(&other, other_name);
    assert_int_equal(renameat(scene->fd, scene->name, scene->fd, other_name), 0);
    assert_int_equal(load(scene, &other), ST_CORRUPT);
    assert_int_equal(load(scene, &other), ST_ARGUMENT);
}

static void test_file_must_be_ours_alone(void **state) {
    struct scene *scene = *state;
    const char *name = scene->name;
    store(scene);
    assert_int_equal(fchmodat(scene->fd, name, 0620, 0), 0);
    assert_refused(scene);
    store(scene);
    assert_int_equal(renameat(scene->fd, name, scene->fd, "elsewhere"), 0);
    assert_int_equal(symlinkat("elsewhere", scene->fd, name), 0);
    assert_refused(scene);
    assert_int_equal(mkfifoat(scene->fd, name, 0600), 0);
    assert_refused(scene);
    if (geteuid() == 0) {
        store(scene);
        assert_int_equal(fchownat(scene->fd, name, 1, (gid_t)-1, 0), 0);
        assert_refused(scene);
    }
}

static void assert_folder_refused(const char *folder) {
    struct error err = {0};
    assert_int_equal(module_cache_open(folder, &err), -1);
    assert_non_null(strstr(err.text, folder));
}

static void test_folder_must_be_ours_alone(void **state) {
    struct scene *scene = *state;
    static const mode_t wrong[] = {0777, 0755, 0710, 0701, 0720, 01700, 0500};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(chmod(scene->folder, wrong[i]), 0);
        assert_folder_refused(scene->folder);
    }
    assert_int_equal(chmod(scene->folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(scene->folder, 1, (gid_t)-1), 0);
        assert_folder_refused(scene->folder);
        assert_int_equal(chown(scene->folder, 0, (gid_t)-1), 0);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/link", scene->folder);
    assert_int_equal(symlink(scene->folder, path), 0);
    assert_folder_refused(path);
    snprintf(path, sizeof path, "%s/file", scene->folder);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_folder_refused(path);
    snprintf(path, sizeof path, "%s/absent/folder", scene->folder);
    assert_folder_refused(path);
}

static void test_folder_is_made(void **state) {
    struct scene *scene = *state;
    char path[128];
    struct stat info;
    snprintf(path, sizeof path, "%s/new", scene->folder);
    mode_t mask = umask(0);
    int fd = module_cache_open(path, NULL);
    umask(mask);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    close(fd);
}

static void test_limits(void **state) {
    struct scene *scene = *state;
    uint8_t *large = calloc(1, MODULE_SIZE_MAX + 1);
    struct bytes module = {large, MODULE_SIZE_MAX + 1};
    struct buf small;
    buf_init(&small, SIZE - 1);
    assert_int_equal(module_cache_store(scene->fd, &scene->key, module, NULL), ST_LIMIT);
    assert_int_equal(each_file(scene->fd, NULL), 0);
    store(scene);
    assert_int_equal(module_cache_load(scene->fd, &scene->key, &small, NULL), ST_LIMIT);
    assert_int_equal(load(scene, &scene->key), ST_OK); /* no reason to remove it */
    buf_finish(&small);
    free(large);
}

static void test_least_recently_used_goes(void **state) {
    struct scene *scene = *state;
    struct module_key first = scene->key;
    store(scene);
    for (unsigned i = 0; i < MODULE_FILES_MAX + 8; i++) {
        assert_int_equal(load(scene, &first), ST_OK);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* a file's time is that of a kernel tick */
        module_key_add(&scene->key, (struct bytes){(const uint8_t *)"", 1});
        store(scene);
        assert_int_equal(load(scene, &scene->key), ST_OK);
    }
    assert_int_equal(each_file(scene->fd, NULL), MODULE_FILES_MAX);
}

static void test_leftovers_go(void **state) {
    struct scene *scene = *state;
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    static const char *const names[] = {"old.new", "young.new", "other"};
    for (unsigned i = 0; i < 3; i++) {
        close(openat(scene->fd, names[i], O_WRONLY | O_CREAT, 0600));
    }
    assert_int_equal(utimensat(scene->fd, "old.new", old, 0), 0);
    assert_int_equal(utimensat(scene->fd, "other", old, 0), 0);
    store(scene);
    assert_int_not_equal(faccessat(scene->fd, "old.new", F_OK, 0), 0);
    assert_int_equal(faccessat(scene->fd, "young.new", F_OK, 0), 0);
    assert_int_equal(faccessat(scene->fd, "other", F_OK, 0), 0);
}

/* In a child with a file system of its own: the exit status is 0, or the line that failed. */
#define CHECK(condition) (condition) ? (void)0 : _exit(__LINE__ % 200 + 20)
enum { NO_MOUNT = 2 };

static void full_disk_child(struct scene *scene) {
    struct error err = {0};
    uint8_t *large = calloc(1, FULL_DISK * 2);
    struct bytes module = {large, FULL_DISK * 2};
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", scene->folder, "tmpfs", 0, "size=64k,mode=0700") != 0) {
        _exit(NO_MOUNT);
    }
    scene->fd = module_cache_open(scene->folder, NULL);
    CHECK(scene->fd >= 0);
    store(scene);
    CHECK(module_cache_store(scene->fd, &scene->key, module, &err) == ST_BUSY);
    CHECK(strstr(err.text, strerror(ENOSPC)) != NULL);
    CHECK(each_file(scene->fd, NULL) == 1);
    CHECK(load(scene, &scene->key) == ST_OK);
    CHECK(mount(NULL, scene->folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    CHECK(module_cache_store(scene->fd, &scene->key, (struct bytes){large, SIZE}, &err) == ST_BUSY);
    CHECK(strstr(err.text, strerror(EROFS)) != NULL);
    CHECK(load(scene, &scene->key) == ST_OK);
    free(large);
    _exit(0);
}

static void test_full_and_read_only_disk(void **state) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        full_disk_child(*state);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_MOUNT) {
        print_message("a file system of one's own needs root: skipped\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void write_often(const struct scene *scene) {
    for (unsigned i = 0; i < 200; i++) {
        CHECK(module_cache_store(scene->fd, &scene->key, (struct bytes){scene->module, SIZE}, NULL) == ST_OK);
    }
    _exit(0);
}

static void test_writers_and_readers_at_once(void **state) {
    struct scene *scene = *state;
    int status;
    store(scene);
    for (unsigned i = 0; i < 4; i++) {
        if (fork() == 0) {
            write_often(scene);
        }
    }
    for (unsigned alive = 4; alive > 0;) {
        assert_int_equal(load(scene, &scene->key), ST_OK);
        pid_t ended = waitpid(-1, &status, WNOHANG);
        assert_true(ended >= 0);
        if (ended > 0) {
            assert_int_equal(status, 0);
            alive--;
        }
    }
    assert_int_equal(each_file(scene->fd, NULL), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_keys_differ),
        TEST(test_every_byte_counts),
        TEST(test_every_length_counts),
        TEST(test_foreign_file),
        TEST(test_file_must_be_ours_alone),
        TEST(test_folder_must_be_ours_alone),
        TEST(test_folder_is_made),
        TEST(test_limits),
        TEST(test_least_recently_used_goes),
        TEST(test_leftovers_go),
        TEST(test_full_and_read_only_disk),
        TEST(test_writers_and_readers_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
