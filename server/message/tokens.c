/* SPDX-License-Identifier: MIT */
#include "server/message/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/process/plain_file.h"

struct tokens {
    unsigned count;
    struct {
        size_t size;
        unsigned char text[TOKEN_SIZE_MAX];
    } token[TOKENS_MAX];
};

/* One more than the longest token, for CR. */
enum { LINE_KEPT = TOKEN_SIZE_MAX + 1 };

/* Reads a line without its end. What is behind LINE_KEPT characters is counted in *size but
 * not kept. False at the end of the file. */
static bool read_line(FILE *file, char line[LINE_KEPT], size_t *size) {
    int c = getc(file);
    bool found = c != EOF;
    for (*size = 0; c != EOF && c != '\n'; c = getc(file)) {
        if (*size < LINE_KEPT) {
            line[*size] = (char)c;
        }
        ++*size;
    }
    if (*size > 0 && *size <= LINE_KEPT && line[*size - 1] == '\r') {
        --*size;
    }
    return found;
}

static enum status add(struct tokens *tokens, const char *line, size_t size, const char *path,
                       unsigned number, struct error *err) {
    if (size == 0 || line[0] == '#') {
        return ST_OK;
    }
    if (size < TOKEN_SIZE_MIN || size > TOKEN_SIZE_MAX) {
        return fail(err, ST_ARGUMENT, "%s:%u: a token has %zu characters, it must have %d to %d", path,
                    number, size, TOKEN_SIZE_MIN, TOKEN_SIZE_MAX);
    }
    for (size_t i = 0; i < size; i++) {
        if (line[i] <= ' ' || line[i] >= 0x7F) {
            return fail(err, ST_ARGUMENT, "%s:%u: a token has a blank, a control or a non-ASCII character",
                        path, number);
        }
    }
    if (tokens->count == TOKENS_MAX) {
        return fail(err, ST_ARGUMENT, "%s has more than %d tokens", path, TOKENS_MAX);
    }
    memcpy(tokens->token[tokens->count].text, line, size);
    tokens->token[tokens->count++].size = size;
    return ST_OK;
}

enum status tokens_load(struct tokens **tokens, const char *path, struct error *err) {
    const char *why;
    FILE *file = plain_file_open(path, &why);
    if (!file) {
        return fail(err, ST_ARGUMENT, "cannot read the token file %s: %s", path, why);
    }
    struct tokens *loaded = calloc(1, sizeof *loaded);
    enum status status = loaded ? ST_OK : fail(err, ST_BUSY, "out of memory");
    char line[LINE_KEPT];
    size_t size;
    for (unsigned number = 1; status == ST_OK && read_line(file, line, &size); number++) {
        status = add(loaded, line, size, path, number, err);
    }
    if (status == ST_OK && ferror(file)) {
        status = fail(err, ST_ARGUMENT, "cannot read the token file %s", path);
    }
    if (status == ST_OK && loaded->count == 0) {
        status = fail(err, ST_ARGUMENT, "the token file %s holds no token", path);
    }
    explicit_bzero(line, sizeof line);
    fclose(file);
    if (status != ST_OK) {
        tokens_destroy(loaded);
        return status;
    }
    *tokens = loaded;
    return ST_OK;
}

void tokens_destroy(struct tokens *tokens) {
    if (tokens) {
        explicit_bzero(tokens, sizeof *tokens);
        free(tokens);
    }
}

bool tokens_allow(const struct tokens *tokens, const char *authorization) {
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0) {
        return false;
    }
    unsigned char given[TOKEN_SIZE_MAX] = {0};
    size_t size = strlen(authorization + sizeof scheme - 1);
    memcpy(given, authorization + sizeof scheme - 1, size < sizeof given ? size : sizeof given);
    /* Every token is compared over its full width, even after a match. */
    bool allowed = false;
    for (unsigned i = 0; i < tokens->count; i++) {
        unsigned char difference = tokens->token[i].size != size;
        for (size_t j = 0; j < TOKEN_SIZE_MAX; j++) {
            difference |= given[j] ^ tokens->token[i].text[j];
        }
        allowed |= difference == 0;
    }
    return allowed;
}
