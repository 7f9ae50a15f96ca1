/* SPDX-License-Identifier: MIT */
#include "server/series/chunk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/answer.h"
#include "server/overload.h"
#include "server/request.h"
#include "server/route.h"
#include "server/service.h"

unsigned chunk_left(const struct chunk *chunk, struct iovec parts[static CHUNK_PARTS]) {
    unsigned count = 0;
    size_t skipped = chunk->sent;
    for (unsigned i = 0; i < CHUNK_PARTS; i++) {
        const struct bytes *part = &chunk->part[i];
        size_t skip = skipped < part->size ? skipped : part->size;
        skipped -= skip;
        if (part->size > skip) {
            parts[count++] = (struct iovec){(void *)(uintptr_t)(part->data + skip), part->size - skip};
        }
    }
    return count;
}

static void set_parts(struct chunk *chunk, struct bytes body, struct bytes rest, const char *tail) {
    const struct bytes parts[CHUNK_PARTS] = {{(const uint8_t *)chunk->text, strlen(chunk->text)},
                                             body,
                                             rest,
                                             {(const uint8_t *)tail, strlen(tail)}};
    chunk->size = chunk->sent = 0;
    for (unsigned i = 0; i < CHUNK_PARTS; i++) {
        chunk->part[i] = parts[i];
        chunk->size += parts[i].size;
    }
}

/* Writes status line and header fields. What does not fit is cut, which cannot be: answer_header limits both.
 */
static void write_head(struct chunk *chunk, const struct request *series, const char *reason,
                       const char *framing) {
    char date[40];
    struct tm now;
    const time_t seconds = time(NULL);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &now));
    const struct answer *answer = &series->answer;
    size_t used = (size_t)snprintf(chunk->text, sizeof chunk->text, "HTTP/1.1 %u %s\r\nDate: %s\r\n",
                                   answer->http_status, reason, date);
    for (unsigned i = 0; i < answer->header_count && used < sizeof chunk->text; i++) {
        used += (size_t)snprintf(chunk->text + used, sizeof chunk->text - used, "%s: %s\r\n",
                                 answer->header[i].name, answer->header[i].value);
    }
    if (used < sizeof chunk->text) {
        snprintf(chunk->text + used, sizeof chunk->text - used, "Connection: close\r\n%s\r\n\r\n", framing);
    }
}

/* The series is described by its first frame. */
static void begin_answer(struct chunk *chunk, struct request *series, const struct request *frame) {
    struct outcome *outcome = &series->outcome;
    outcome->format = frame->outcome.format;
    outcome->backend = frame->outcome.backend;
    outcome->width = frame->outcome.width;
    outcome->height = frame->outcome.height;
    memcpy(outcome->backend_name, frame->outcome.backend_name, sizeof outcome->backend_name);
    answer_done(series, 200, series->route->media);
    series->sent = 0;
    write_head(chunk, series, "OK", "Transfer-Encoding: chunked");
}

bool chunk_make_frame(struct chunk *chunk, struct request *series, const struct request *frame) {
    const struct answer *answer = &frame->answer;
    const size_t size = answer->body.size + answer->rest.size;
    chunk->text[0] = '\0';
    if (!series->answered) {
        begin_answer(chunk, series, frame);
    }
    size_t used = strlen(chunk->text);
    snprintf(chunk->text + used, sizeof chunk->text - used, "%zx\r\n", size);
    set_parts(chunk, buf_bytes(&answer->body), answer->rest, "\r\n");
    chunk->frame = true;
    series->sent += size;
    series->outcome.frames++;
    return true;
}

/* The series has a problem, which request->error describes. */
static void end_with(struct chunk *chunk, struct request *series, enum problem problem) {
    char framing[48];
    chunk->last = true;
    chunk->frame = false;
    chunk->size = 0;
    if (series->answered) {
        series->outcome.problem = problem;
        return;
    }
    answer_problem(series, problem);
    snprintf(framing, sizeof framing, "Content-Length: %zu", series->answer.body.size);
    write_head(chunk, series, problem_kind(series->outcome.problem)->title, framing);
    set_parts(chunk, buf_bytes(&series->answer.body), (struct bytes){0}, "");
}

void chunk_make_problem(struct chunk *chunk, struct request *series, const struct request *frame) {
    series->error = frame->error;
    series->refusal = frame->refusal;
    series->retry_after_s = frame->retry_after_s;
    snprintf(series->error.text, sizeof series->error.text, "frame %" PRIu64 ": %.480s",
             series->outcome.frames + 1, frame->error.text);
    end_with(chunk, series, frame->outcome.problem);
}

void chunk_make_last(struct chunk *chunk) {
    snprintf(chunk->text, sizeof chunk->text, "0\r\n\r\n");
    set_parts(chunk, (struct bytes){0}, (struct bytes){0}, "");
    chunk->frame = false;
    chunk->last = true;
}

void chunk_make_early_end(struct chunk *chunk, struct request *series) {
    bool draining = atomic_load(&series->service->draining);
    overload_refuse(series, draining ? REFUSAL_DRAINING : REFUSAL_MEMORY, 0);
    end_with(chunk, series, PROBLEM_BUSY);
}
