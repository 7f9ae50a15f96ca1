/* SPDX-License-Identifier: MIT */
#include "server/message/tokens.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/bytes.h"
#include "core/process/plain_file.h"

struct tokens {
    unsigned count;
    struct {
        size_t size;
        unsigned char text[TOKEN_SIZE_MAX];
    } token[TOKENS_MAX];
};

enum { FILE_MAX = 64 << 10 /* bytes; the tokens may have a quarter of it, comments the rest */ };

/* Cuts off the first line, and returns it without its end. */
static struct bytes take_line(struct bytes *text) {
    const uint8_t *end = memchr(text->data, '\n', text->size);
    struct bytes line = {text->data, end ? (size_t)(end - text->data) : text->size};
    size_t taken = line.size + (end != NULL);
    *text = (struct bytes){text->data + taken, text->size - taken};
    line.size -= line.size > 0 && line.data[line.size - 1] == '\r';
    return line;
}

static enum status add(struct tokens *tokens, struct bytes line, const char *path, unsigned number,
                       struct error *err) {
    if (line.size == 0 || line.data[0] == '#') {
        return ST_OK;
    }
    if (line.size < TOKEN_SIZE_MIN || line.size > TOKEN_SIZE_MAX) {
        return fail(err, ST_ARGUMENT, "%s:%u: a token has %zu characters, it must have %d to %d", path,
                    number, line.size, TOKEN_SIZE_MIN, TOKEN_SIZE_MAX);
    }
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] <= ' ' || line.data[i] >= 0x7F) {
            return fail(err, ST_ARGUMENT, "%s:%u: a token has a blank, a control or a non-ASCII character",
                        path, number);
        }
    }
    if (tokens->count == TOKENS_MAX) {
        return fail(err, ST_ARGUMENT, "%s has more than %d tokens", path, TOKENS_MAX);
    }
    memcpy(tokens->token[tokens->count].text, line.data, line.size);
    tokens->token[tokens->count++].size = line.size;
    return ST_OK;
}

static enum status read_tokens(struct tokens *tokens, const char *path, uint8_t *text, struct error *err) {
    struct bytes rest = {.data = text};
    struct error cause = {0};
    if (plain_file_read(path, text, FILE_MAX, &rest.size, &cause) != ST_OK) {
        return fail(err, ST_ARGUMENT, "cannot read the token file %s: %s", path, cause.text);
    }
    for (unsigned number = 1; rest.size > 0; number++) {
        enum status status = add(tokens, take_line(&rest), path, number, err);
        if (status != ST_OK) {
            return status;
        }
    }
    return tokens->count > 0 ? ST_OK : fail(err, ST_ARGUMENT, "the token file %s holds no token", path);
}

enum status tokens_load(struct tokens **tokens, const char *path, struct error *err) {
    struct tokens *loaded = calloc(1, sizeof *loaded);
    uint8_t *text = malloc(FILE_MAX + 1);
    enum status status =
        loaded && text ? read_tokens(loaded, path, text, err) : fail(err, ST_BUSY, "out of memory");
    if (text) {
        explicit_bzero(text, FILE_MAX + 1);
    }
    free(text);
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
