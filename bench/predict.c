/* SPDX-License-Identifier: MIT
 * Prints what server/planner/cost.h predicts before anything is learnt, on cores: for each file a line with
 * the milliseconds of the request. bench/predict.py compares them with the time that a daemon takes.
 *
 *     predict TARGET FILE...     TARGET as in a request: "/blur?sigma=5" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/planner/cost.h"
#include "server/planner/intent.h"

enum { NAME_MAX_BYTES = 32, BODY_MAX = 256 << 20 };

static _Noreturn void give_up(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static struct bytes read_file(const char *path) {
    uint8_t *data = malloc(BODY_MAX);
    FILE *file = fopen(path, "rb");
    if (!data || !file) {
        give_up(path, "cannot be read");
    }
    struct bytes body = {data, fread(data, 1, BODY_MAX, file)};
    fclose(file);
    return body;
}

static void read_target(const char *target, struct parameters *parameters) {
    char name[NAME_MAX_BYTES] = "";
    const char *query = strchr(target, '?');
    size_t length = query ? (size_t)(query - target) : strlen(target);
    struct error err = {0};
    if (target[0] != '/' || length > sizeof name) {
        give_up(target, "is no target");
    }
    memcpy(name, target + 1, length - 1);
    const struct filter *filter = filter_find(name);
    if (!filter) {
        give_up(target, "is no filter");
    }
    parameters_init(parameters, filter);
    if (parameters_parse(parameters, query ? query + 1 : "", &err) != ST_OK ||
        parameters_check(parameters, &err) != ST_OK) {
        give_up(target, err.text);
    }
}

int main(int count, char **argument) {
    static const struct cost_model nothing_learnt;
    const struct codec_limits limits = {
        .max_pixels = UINT32_MAX, .max_side = 65535, .max_scans = 1000, .max_memory = 4ull << 30};
    static struct parameters parameters;
    if (count < 3) {
        give_up("predict", "TARGET FILE...");
    }
    read_target(argument[1], &parameters);
    for (int i = 2; i < count; i++) {
        static struct intent intent;
        struct bytes body = read_file(argument[i]);
        memset(&intent, 0, sizeof intent);
        intent_make(&intent, body, "", "", &parameters, &limits);
        const struct cost cost = cost_predict(&nothing_learnt, &intent, NULL, false);
        printf("%s\t%.3f\n", argument[i], (double)cost.ways[WAY_CPU].ns / 1e6);
        free((void *)(uintptr_t)body.data);
    }
    return 0;
}
