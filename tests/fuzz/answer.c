/* SPDX-License-Identifier: MIT
 * What a server answers to a batch: the head, and the body behind it, which comes in two pieces. The line of
 * the batch's report that tells of it must be one object of JSON, without members of the server's own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/json/json_reader.h"
#include "server/batch/journal.h"
#include "server/client/http/answer_body.h"
#include "tests/fuzz/common/fuzz.h"

static uint8_t buffer[CLIENT_SOCKET_BUFFER];
static int output = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    output = memfd_create("answer", MFD_CLOEXEC);
    fuzz_require(output >= 0, "there is memory");
    return 0;
}

static void check_head(const struct answer_head *head) {
    fuzz_require(head->status >= 100, "a status has three digits");
    fuzz_require(head->retry_s >= -1 && head->retry_s <= 3600, "a wait is limited");
    fuzz_require(head->regions >= -1, "a count is none or not negative");
    fuzz_require(memchr(head->type, 0, sizeof head->type) && memchr(head->backend, 0, sizeof head->backend),
                 "texts end");
    fuzz_require(head->length <= INT64_MAX, "a length is one of a file");
}

static void check_line(const struct transfer_result *result) {
    static const char *const members[] = {"file",    "status", "size",    "mtime", "output", "bytes",
                                          "backend", "report", "regions", "tries", "ms"};
    const struct journal_entry entry = {
        .name = "a", .status = "done", .output = "b", .file = {.st_nlink = 1}, .result = result, .tries = 1};
    struct buf line;
    struct error err = {0};
    struct json_reader reader;
    unsigned seen = 0;
    bool more = false;
    buf_init(&line, SIZE_MAX / 2);
    fuzz_require(journal_write(&entry, &line, &err) == ST_OK, "there is memory");
    json_reader_init(&reader, buf_bytes(&line));
    fuzz_require(json_reader_open(&reader, '{'), "a line is an object");
    while (json_reader_next(&reader, '}', &more) && more) {
        char name[16] = "";
        size_t i = 0;
        fuzz_require(json_reader_name(&reader, name, sizeof name) && json_reader_skip(&reader), "of members");
        while (i < sizeof members / sizeof *members && strcmp(name, members[i]) != 0) {
            i++;
        }
        fuzz_require(i < sizeof members / sizeof *members && !(seen & 1U << i), "that are the batch's own");
        seen |= 1U << i;
    }
    fuzz_require(!more && json_reader_peek(&reader) == '\0' &&
                     memchr(line.data, '\n', line.size) == line.data + line.size - 1,
                 "and nothing stands behind it");
    buf_finish(&line);
}

/* Reads the body: `have` bytes of it are in the buffer with the head, the others come through a socket. */
static void read_body(struct transfer_result *result, size_t at, size_t have, struct bytes rest) {
    int pair[2];
    struct error err = {0};
    struct answer_file file = {.fd = output, .report = &result->report};
    fuzz_require(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "there are sockets");
    fuzz_require(rest.size == 0 ||
                     send(pair[1], rest.data, rest.size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)rest.size,
                 "an input fits into a socket");
    close(pair[1]);
    fuzz_require(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0, "a file can be emptied");
    struct client_socket socket = {.fd = pair[0], .buffer = buffer, .at = at, .have = have};
    struct answer_body body = {.socket = &socket, .left = result->head.length};
    const uint64_t all = have - at + rest.size;
    const enum status status = answer_body_write(&body, &result->head, &file, &err);
    fuzz_require(status == ST_OK ? body.left == 0 && result->head.length <= all
                                 : err.status == status && err.text[0],
                 "an answer is whole, or it is told why not");
    fuzz_require(file.bytes <= all && lseek(output, 0, SEEK_CUR) == (off_t)file.bytes, "bytes are counted");
    result->bytes = file.bytes;
    if (status == ST_OK) {
        check_head(&result->head);
        check_line(result);
    }
    close(pair[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct transfer_result result = {0};
    struct error err = {0};
    const unsigned cut = fuzz_short(&input);
    const size_t have = input.size < cut ? input.size : cut;
    if (input.size) {
        memcpy(buffer, input.data, have);
    }
    const uint8_t *end = have ? memmem(buffer, have, "\r\n\r\n", 4) : NULL;
    const size_t at = end ? (size_t)(end - buffer) + 4 : 0;
    if (!end || answer_head_read((struct bytes){buffer, at}, &result.head, &err) != ST_OK) {
        return 0;
    }
    check_head(&result.head);
    if (input.size - at < 1000 && data[0] & 1) {
        result.head.length = input.size - at; /* an engine does not count */
    }
    read_body(&result, at, have, (struct bytes){input.data + have, input.size - have});
    transfer_result_finish(&result);
    return 0;
}
