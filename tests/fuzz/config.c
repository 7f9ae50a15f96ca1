/* SPDX-License-Identifier: MIT
 * The configuration: texts that end in a zero byte. The first is the file, the others are
 * arguments (those that begin with --) and variables of the environment. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/common/fuzz.h"

enum { TEXTS_MAX = 30 };

static int file = -1;
static char path[40];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    file = memfd_create("config", MFD_CLOEXEC);
    fuzz_require(file >= 0, "there is a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return 0;
}

static void fill_file(struct bytes content) {
    fuzz_require(ftruncate(file, 0) == 0 &&
                     pwrite(file, content.data, content.size, 0) == (ssize_t)content.size,
                 "the file takes it");
}

/* The printed configuration is read again as the same one. */
static void check_print(const struct config *config) {
    struct config again;
    enum config_action action;
    struct error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fuzz_require(out, "there is memory");
    config_print(config, config, out);
    fclose(out);
    fill_file((struct bytes){(const uint8_t *)text, size});
    char *arguments[] = {(char[]){"blurd"}, (char[]){"--config"}, path, NULL};
    char *none[] = {NULL};
    fuzz_require(config_load(&again, &action, 3, arguments, none, &err) == ST_OK,
                 "a printed configuration can be read");
    char *second = NULL;
    size_t second_size = 0;
    out = open_memstream(&second, &second_size);
    fuzz_require(out, "there is memory");
    config_print(&again, &again, out);
    fclose(out);
    fuzz_require(size == second_size && memcmp(text, second, size) == 0,
                 "a printed configuration is the same when read");
    free(text);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    char *arguments[TEXTS_MAX + 4] = {(char[]){"blurd"}, (char[]){"--config"}, path};
    char *environment[TEXTS_MAX + 1] = {0};
    char *texts[TEXTS_MAX];
    unsigned argument_count = 3, variables = 0, count = 0;
    struct bytes content = fuzz_until(&input, '\0');
    if (content.size > 0) {
        fill_file(content);
    } else {
        argument_count = 1;
        arguments[1] = NULL;
    }
    while (input.size > 0 && count < TEXTS_MAX) {
        char *text = fuzz_text(fuzz_until(&input, '\0'));
        texts[count++] = text;
        if (text[0] == '-') {
            arguments[argument_count++] = text;
        } else {
            environment[variables++] = text;
        }
    }
    arguments[argument_count] = NULL;
    struct config config;
    enum config_action action;
    struct error err = {0};
    enum status status = config_load(&config, &action, (int)argument_count, arguments, environment, &err);
    fuzz_require(status == ST_OK || err.text[0], "a failure is explained");
    if (status == ST_OK && action == CONFIG_RUN) {
        check_print(&config);
    }
    while (count > 0) {
        free(texts[--count]);
    }
    return 0;
}
