/* SPDX-License-Identifier: MIT */
#include "tests/unit/server/batch/batch_fixture.h"

static char folder[] = "/tmp/blurd-batch-XXXXXX";

int batch_test_enter(void **state) {
    (void)state;
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *walk) {
    (void)file, (void)type;
    return remove(path + walk->base); /* of its folder: the whole path may be too long */
}

int batch_test_leave(void **state) {
    (void)state;
    return chdir("/") == 0 ? nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_CHDIR) : -1;
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
