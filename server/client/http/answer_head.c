/* SPDX-License-Identifier: MIT */
#include "server/client/http/answer_head.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { LINE_MAX_BYTES = 256, RETRY_MAX = 3600 };

/* Digits alone; -1 for other texts and what is too large. */
static long long number(const char *text) {
    char *end;
    const long long value = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && value >= 0 && end - text <= 18 ? value : -1;
}

static void read_field(const char *name, const char *value, struct answer_head *head, bool *sized) {
    const long long count = number(value);
    if (strcasecmp(name, "Content-Length") == 0 && count >= 0) {
        head->length = (uint64_t)count;
        *sized = true;
    } else if (strcasecmp(name, "Retry-After") == 0 && count >= 0) {
        head->retry_s = count < RETRY_MAX ? (int)count : RETRY_MAX;
    } else if (strcasecmp(name, "X-Regions") == 0) {
        head->regions = (long)count;
    } else if (strcasecmp(name, "Connection") == 0) {
        head->closes = strcasecmp(value, "close") == 0;
    } else if (strcasecmp(name, "Content-Type") == 0) {
        snprintf(head->type, sizeof head->type, "%s", value);
    } else if (strcasecmp(name, "X-Backend") == 0) {
        snprintf(head->backend, sizeof head->backend, "%s", value);
    }
}

/* The next line without its end; longer ones are cut. False at the empty line and at the end. */
static bool next_line(struct bytes *text, char line[LINE_MAX_BYTES]) {
    const uint8_t *end = text->size ? memmem(text->data, text->size, "\r\n", 2) : NULL;
    if (!end || end == text->data) {
        return false;
    }
    const size_t length = (size_t)(end - text->data),
                 kept = length < LINE_MAX_BYTES ? length : LINE_MAX_BYTES - 1;
    memcpy(line, text->data, kept);
    line[kept] = '\0';
    text->data += length + 2;
    text->size -= length + 2;
    return true;
}

enum status answer_head_read(struct bytes text, struct answer_head *head, struct error *err) {
    char line[LINE_MAX_BYTES];
    bool sized = false;
    *head = (struct answer_head){.retry_s = -1, .regions = -1};
    if (!next_line(&text, line) || sscanf(line, "HTTP/1.1 %3u", &head->status) != 1 || head->status < 100) {
        return fail(err, ST_CORRUPT, "what answers is no HTTP server");
    }
    while (next_line(&text, line)) {
        char *value = strchr(line, ':');
        if (value) {
            *value++ = '\0';
            read_field(line, value + strspn(value, " \t"), head, &sized);
        }
    }
    if (!sized && head->status >= 300) {
        head->closes = true; /* what stands before a daemon may refuse so, and its body is not read */
        sized = true;
    }
    return sized || head->status < 200 ? ST_OK : fail(err, ST_CORRUPT, "the answer does not tell its length");
}
