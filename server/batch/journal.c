/* SPDX-License-Identifier: MIT */
#include "server/batch/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/version.h"

enum { QUOTED_MAX = 6 * PATH_MAX + 3, TEXT_MAX = 6 * TRANSFER_DETAIL_MAX + 3 };

uint32_t journal_state(const struct names *names, const struct stat *file) {
    char text[80];
    const int length = snprintf(text, sizeof text, "%jd %jd.%09ld", (intmax_t)file->st_size,
                                (intmax_t)file->st_mtim.tv_sec, file->st_mtim.tv_nsec);
    return (uint32_t)names_digest(names, (struct bytes){(const uint8_t *)text, (size_t)length}) | 1;
}

static size_t count_replaced(const char *text) {
    size_t count = 0;
    while ((text = strstr(text, "\xEF\xBF\xBD")) != NULL) {
        text += 3;
        count++;
    }
    return count;
}

uint32_t journal_owner(const struct names *names, const char *name) {
    const uint64_t digest = names_digest(names, (struct bytes){(const uint8_t *)name, strlen(name)});
    return ((uint32_t)digest | JOURNAL_OWNED) & ~UINT32_C(1);
}

/* Whether it is UTF-8, of which no character was replaced: JSON cannot hold other names. */
static bool is_text(const char *name) {
    char quoted[QUOTED_MAX];
    json_string(quoted, sizeof quoted, name);
    return count_replaced(name) == count_replaced(quoted);
}

/* `"file":"x.jpg"`, and for a name that is no UTF-8 its bytes, too. */
static enum status write_name(const char *member, const char *name, struct buf *lines, struct error *err) {
    char quoted[QUOTED_MAX];
    json_string(quoted, sizeof quoted, name);
    enum status status = buf_printf(lines, err, "\"%s\":%s", member, quoted);
    if (status != ST_OK || is_text(name)) {
        return status;
    }
    status = buf_printf(lines, err, ",\"%s_bytes\":\"", member);
    for (; *name && status == ST_OK; name++) {
        status = buf_printf(lines, err, "%02x", (unsigned char)*name);
    }
    return status == ST_OK ? buf_append(lines, "\"", 1, err) : status;
}

static enum status write_file(const struct journal_entry *entry, struct buf *lines, struct error *err) {
    char digest[DIGEST_TEXT];
    if (entry->file.st_nlink == 0) {
        return ST_OK;
    }
    enum status status =
        buf_printf(lines, err, ",\"size\":%jd,\"mtime\":\"%jd.%09ld\"", (intmax_t)entry->file.st_size,
                   (intmax_t)entry->file.st_mtim.tv_sec, entry->file.st_mtim.tv_nsec);
    return status == ST_OK && entry->hashed
               ? buf_printf(lines, err, ",\"sha256\":\"%s\"", digest_text(&entry->result->digest, digest))
               : status;
}

/* The report in one line: ends of lines in JSON are space. */
static enum status write_report(struct bytes report, struct buf *lines, struct error *err) {
    const size_t at = lines->size;
    enum status status = buf_append(lines, report.data, report.size, err);
    for (size_t i = at; status == ST_OK && i < lines->size; i++) {
        lines->data[i] = lines->data[i] == '\n' || lines->data[i] == '\r' ? ' ' : lines->data[i];
    }
    return status;
}

static enum status write_done(const struct journal_entry *entry, struct buf *lines, struct error *err) {
    const struct transfer_result *result = entry->result;
    char backend[2 * ANSWER_BACKEND_MAX + 3];
    enum status status = buf_append(lines, ",", 1, err);
    status = status == ST_OK ? write_name("output", entry->output, lines, err) : status;
    json_string(backend, sizeof backend, result->head.backend);
    status = status == ST_OK
                 ? buf_printf(lines, err, ",\"bytes\":%" PRIu64 ",\"backend\":%s", result->bytes, backend)
                 : status;
    if (status == ST_OK && result->head.regions >= 0) {
        status = buf_printf(lines, err, ",\"regions\":%ld", result->head.regions);
    }
    if (status == ST_OK && result->report.size) {
        status = buf_printf(lines, err, ",\"report\":");
        status = status == ST_OK ? write_report(buf_bytes(&result->report), lines, err) : status;
    }
    return status;
}

static enum status write_failure(const struct journal_entry *entry, struct buf *lines, struct error *err) {
    char reason[2 * TRANSFER_REASON_MAX + 3], detail[TEXT_MAX];
    json_string(reason, sizeof reason, entry->result->reason);
    json_string(detail, sizeof detail, entry->result->detail);
    enum status status = buf_printf(lines, err, ",\"reason\":%s,\"detail\":%s", reason, detail);
    return status == ST_OK && entry->result->head.status
               ? buf_printf(lines, err, ",\"http\":%u", entry->result->head.status)
               : status;
}

enum status journal_write(const struct journal_entry *entry, struct buf *lines, struct error *err) {
    enum status status = buf_append(lines, "{", 1, err);
    status = status == ST_OK ? write_name("file", entry->name, lines, err) : status;
    status = status == ST_OK ? buf_printf(lines, err, ",\"status\":\"%s\"", entry->status) : status;
    status = status == ST_OK ? write_file(entry, lines, err) : status;
    if (status == ST_OK) {
        status = (entry->output ? write_done : write_failure)(entry, lines, err);
    }
    if (status == ST_OK && entry->tries) {
        status = buf_printf(lines, err, ",\"tries\":%u,\"ms\":%.1f", entry->tries, entry->ms);
    }
    return status == ST_OK ? buf_append(lines, "}\n", 2, err) : status;
}

enum status journal_append(int fd, struct bytes lines, struct error *err) {
    const uint8_t *begin = lines.data;
    while (lines.size > 0) {
        const ssize_t written = write(fd, lines.data, lines.size);
        if (written < 0 && errno != EINTR) {
            fail(err, ST_BUSY, "cannot write the report: %s", strerror(errno));
            break;
        }
        lines.data += written > 0 ? written : 0;
        lines.size -= written > 0 ? (size_t)written : 0;
    }
    if (lines.size > 0) {
        const size_t did = (size_t)(lines.data - begin);
        const uint8_t *last = did ? memrchr(begin, '\n', did) : NULL;
        const off_t end = lseek(fd, last ? last + 1 - lines.data : -(off_t)did, SEEK_CUR);
        return end >= 0 && ftruncate(fd, end) == 0 ? ST_BUSY : err->status;
    }
    return fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS
               ? ST_OK
               : fail(err, ST_BUSY, "cannot write the report: %s", strerror(errno));
}
