/* SPDX-License-Identifier: MIT */
#include "tests/unit/server/batch/batch_fixture.h"

#include <dirent.h>

static char folder[] = "/tmp/blurd-batch-XXXXXX";

int batch_test_enter(void **state) {
    (void)state;
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

/* Whole paths may be too long for nftw. */
static bool remove_all(int parent, const char *name) {
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    bool good = true;
    for (const struct dirent *one; stream && (one = readdir(stream)) != NULL;) {
        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0) {
            good = remove_all(fd, one->d_name) && good;
        }
    }
    if (stream) {
        closedir(stream);
    }
    return unlinkat(parent, name, stream ? AT_REMOVEDIR : 0) == 0 && good;
}

int batch_test_leave(void **state) {
    (void)state;
    return chdir("/") == 0 && remove_all(AT_FDCWD, folder) ? 0 : -1;
}

void batch_test_file(const char *name, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

const char *batch_test_read(const char *name) {
    static char text[1 << 16];
    FILE *file = fopen(name, "re");
    size_t size = 0;
    if (file) {
        size = fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    text[size] = '\0';
    return text;
}
