/* SPDX-License-Identifier: MIT
 * Whether the time that tokens_allow takes tells how much of a token is right: Welch's t between tokens that
 * are wrong at their first and at their last character, and between the first and the last of a file's
 * tokens.
 *
 *     welch FILE SAMPLES     a file of tokens of equal length; prints "|t| ..." of each pair
 *
 * Each sample is a batch of calls; the two kinds take turns in an order made by chance. The slowest tenth,
 * which other work of the machine caused, is left out. Above 4.5 a difference is no chance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "server/message/tokens.h"

enum { BATCH = 64, HEADER_MAX = TOKEN_SIZE_MAX + 16 };

struct samples {
    double *ns;
    unsigned count;
};

/* Both kinds lie at the same place of memory when they are compared. */
static double batch(const struct tokens *tokens, const char *header) {
    static char text[HEADER_MAX] __attribute__((aligned(64)));
    static volatile unsigned allowed;
    memcpy(text, header, sizeof text);
    int64_t begin = clock_ns();
    for (unsigned i = 0; i < BATCH; i++) {
        allowed += tokens_allow(tokens, text);
    }
    return (double)(clock_ns() - begin);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void mean_and_error(struct samples *samples, double *mean, double *error) {
    unsigned count = samples->count - samples->count / 10;
    double sum = 0, squares = 0;
    qsort(samples->ns, samples->count, sizeof samples->ns[0], by_size);
    for (unsigned i = 0; i < count; i++) {
        sum += samples->ns[i];
        squares += samples->ns[i] * samples->ns[i];
    }
    *mean = sum / count;
    *error = (squares / count - *mean * *mean) / count;
}

static double welch(const struct tokens *tokens, const char *const headers[2], unsigned count) {
    struct samples samples[2] = {{calloc(count, sizeof(double)), 0}, {calloc(count, sizeof(double)), 0}};
    double mean[2] = {0}, error[2] = {0};
    uint64_t order = 1;
    if (samples[0].ns && samples[1].ns) {
        while (samples[0].count < count && samples[1].count < count) {
            order = order * UINT64_C(6364136223846793005) + 1442695040888963407;
            struct samples *one = &samples[order >> 63];
            one->ns[one->count++] = batch(tokens, headers[one - samples]);
        }
        mean_and_error(&samples[0], &mean[0], &error[0]);
        mean_and_error(&samples[1], &mean[1], &error[1]);
    }
    free(samples[0].ns);
    free(samples[1].ns);
    return fabs(mean[0] - mean[1]) / sqrt(error[0] + error[1]);
}

/* The header of the line'th token. */
static bool read_header(const char *path, unsigned line, char header[HEADER_MAX]) {
    char text[TOKEN_SIZE_MAX] = "";
    FILE *file = fopen(path, "re");
    for (unsigned i = 0; file && i <= line; i++) {
        if (!fgets(text, sizeof text, file)) {
            break;
        }
    }
    if (file) {
        fclose(file);
    }
    text[strcspn(text, "\n")] = '\0';
    snprintf(header, HEADER_MAX, "Bearer %s", text);
    return text[0] != '\0';
}

int main(int argc, char **argv) {
    enum { FIRST, LAST, EARLY, LATE, KINDS };
    static char header[KINDS][HEADER_MAX];
    struct tokens *tokens;
    struct error err = {0};
    if (argc != 3 || tokens_load(&tokens, argv[1], &err) != ST_OK) {
        fprintf(stderr, "welch: %s\n", argc == 3 ? err.text : "FILE SAMPLES");
        return 64;
    }
    unsigned lines = 1, count = (unsigned)strtoul(argv[2], NULL, 10);
    while (lines < TOKENS_MAX && read_header(argv[1], lines, header[LATE])) {
        lines++;
    }
    for (unsigned i = 0; i < KINDS; i++) {
        read_header(argv[1], i == LATE ? lines - 1 : 0, header[i]);
    }
    header[EARLY][strlen("Bearer ")] ^= 1;
    header[LATE][strlen(header[LATE]) - 1] ^= 1;
    double place = welch(tokens, (const char *const[]){header[EARLY], header[LATE]}, count);
    read_header(argv[1], lines - 1, header[LAST]);
    double line = welch(tokens, (const char *const[]){header[FIRST], header[LAST]}, count);
    printf("%.2f %.2f\n", place, line);
    tokens_destroy(tokens);
    return 0;
}
