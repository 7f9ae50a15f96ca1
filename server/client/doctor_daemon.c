/* SPDX-License-Identifier: MIT */
#include "server/client/doctor_daemon.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "codecs/codec.h"
#include "core/clock.h"
#include "core/json/json_reader.h"
#include "detect/detectors.h"
#include "server/benchmark/bench_pictures.h"
#include "server/client/http/answer_body.h"
#include "server/client/own_daemon.h"
#include "server/client/post.h"
#include "server/http/listen.h"

enum {
    ANSWER_MAX = 8 << 20,
    VERSION_MAX = 64 << 10,
    TARGET_MAX = 64,
    WORD_MAX = 32,
    REASON_MAX = 256,
    GPU_WAIT_MS = 60000,
    GPU_ASK_MS = 200
};

/* A daemon that is asked, and its last answer. */
struct doctor_visit {
    struct findings *findings;
    struct own_daemon daemon;
    struct bytes picture; /* a JPEG */
    struct buf answer;
    unsigned http_status;
    double ms; /* until the answer was there */
    struct error err;
};

static enum status get(int fd, const char *path, struct doctor_visit *visit) {
    char text[TARGET_MAX + 64];
    uint8_t buffer[CLIENT_SOCKET_BUFFER];
    struct client_socket socket = {.fd = fd, .buffer = buffer};
    struct answer_body body = {.socket = &socket};
    struct answer_head head = {0};
    const int size =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    enum status status =
        client_socket_send(&socket, (struct bytes){(const uint8_t *)text, (size_t)size}, false, &visit->err);
    status = status == ST_OK ? answer_body_begin(&body, false, &head, &visit->err) : status;
    status = status == ST_OK ? answer_body_keep(&body, &visit->answer, &visit->err) : status;
    visit->http_status = head.status;
    return status;
}

/* Sends the picture, or with none asks for a page. Returns whether there was an answer. */
static bool ask(struct doctor_visit *visit, const char *target, struct bytes picture) {
    const struct post_part part = {"image", picture};
    const int64_t begun = clock_ns();
    int fd;
    buf_finish(&visit->answer);
    buf_init(&visit->answer, ANSWER_MAX);
    visit->http_status = 0;
    enum status status = own_daemon_connect(&visit->daemon, &fd, &visit->err);
    if (status != ST_OK) {
        return false;
    }
    status = picture.size ? post_form(fd, target, &part, 1, &visit->http_status, &visit->answer, &visit->err)
                          : get(fd, target, visit);
    close(fd);
    visit->ms = (double)(clock_ns() - begun) / 1e6;
    return status == ST_OK;
}

static bool says(const struct doctor_visit *visit, const char *text) {
    return memmem(visit->answer.data, visit->answer.size, text, strlen(text)) != NULL;
}

/* A daemon with a token refuses, in its own words. */
bool doctor_daemon_serves(const char *address, uint16_t port) {
    const struct timeval most = {.tv_sec = 2};
    struct doctor_visit visit = {0};
    int fd;
    if (listen_reach(address, port, &fd, &visit.err) != ST_OK) {
        return false;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    buf_init(&visit.answer, VERSION_MAX);
    const bool serves = get(fd, "/version", &visit) == ST_OK &&
                        (says(&visit, "\"name\":\"blurd\"") || says(&visit, "\"urn:blurd:problem:"));
    buf_finish(&visit.answer);
    close(fd);
    return serves;
}

/* What an answer says that is none of those wanted. */
static void complain(struct doctor_visit *visit, const char *name, bool answered) {
    char detail[ERROR_TEXT_MAX];
    post_detail(buf_bytes(&visit->answer), detail, sizeof detail);
    if (visit->http_status == 400) {
        findings_note(visit->findings, name, "requests that ask for it get 400 until then", "%.300s", detail);
    } else {
        findings_fail(visit->findings, name, "the daemon's own messages on standard error may tell more",
                      "%.300s", answered ? detail : visit->err.text);
    }
}

/* A copy of the last answer, since the next request overwrites that. */
static bool take_answer(struct doctor_visit *visit, struct buf *copy) {
    buf_init(copy, ANSWER_MAX);
    return buf_append(copy, visit->answer.data, visit->answer.size, &visit->err) == ST_OK;
}

/* Writes a picture in the format, and reads it. */
static void try_format(struct doctor_visit *visit, enum codec_id id, const char *name) {
    char target[TARGET_MAX];
    struct buf written;
    if (!codec_encodes(id)) {
        if (codec_decodes(id)) {
            findings_good(visit->findings, name, "is read");
        } else {
            findings_note(visit->findings, name,
                          "config/packages.sh build brings its library; then build again",
                          "this build does not read it");
        }
        return;
    }
    snprintf(target, sizeof target, "/resize?width=200&format=%s", name);
    bool answered = ask(visit, target, visit->picture);
    const double write_ms = visit->ms;
    if (!answered || visit->http_status != 200 || !take_answer(visit, &written)) {
        complain(visit, name, answered);
        return;
    }
    answered = ask(visit, "/stats", buf_bytes(&written));
    if (answered && visit->http_status == 200) {
        findings_good(visit->findings, name, "written in %.1f ms, read in %.1f", write_ms, visit->ms);
    } else {
        complain(visit, name, answered);
    }
    buf_finish(&written);
}

static void try_detector(struct doctor_visit *visit, const char *name) {
    char target[TARGET_MAX];
    snprintf(target, sizeof target, "/detect?detect=%s", name);
    const bool answered = ask(visit, target, visit->picture);
    if (answered && visit->http_status == 200) {
        findings_good(visit->findings, name, "searched for in %.0f ms", visit->ms);
    } else {
        complain(visit, name, answered);
    }
}

struct backend_report {
    char name[WORD_MAX], state[WORD_MAX], reason[REASON_MAX];
};

static bool read_backend(struct json_reader *reader, struct backend_report *report) {
    char name[WORD_MAX];
    bool more, read = json_reader_open(reader, '{');
    while (read && (read = json_reader_next(reader, '}', &more)) && more) {
        read = json_reader_name(reader, name, sizeof name);
        if (read && strcmp(name, "name") == 0) {
            read = json_reader_text(reader, report->name, sizeof report->name);
        } else if (read && strcmp(name, "state") == 0) {
            read = json_reader_text(reader, report->state, sizeof report->state);
        } else if (read && strcmp(name, "reason") == 0) {
            read = json_reader_text(reader, report->reason, sizeof report->reason);
        } else {
            read = read && json_reader_skip(reader);
        }
    }
    return read;
}

/* Reads the first backend of /readyz, which is the GPU where there is one. */
static bool read_first(struct bytes page, struct backend_report *report) {
    struct json_reader reader;
    char name[WORD_MAX];
    bool more;
    json_reader_init(&reader, page);
    bool read = json_reader_open(&reader, '{');
    while (read && json_reader_next(&reader, '}', &more) && more) {
        read = json_reader_name(&reader, name, sizeof name);
        if (read && strcmp(name, "backends") == 0) {
            return json_reader_open(&reader, '[') && json_reader_next(&reader, ']', &more) && more &&
                   read_backend(&reader, report);
        }
        read = read && json_reader_skip(&reader);
    }
    return false;
}

/* A GPU starts beside the daemon. */
static void try_gpu(struct doctor_visit *visit, const struct config *config) {
    struct backend_report report = {.state = "starting"};
    const int64_t begun = clock_ns();
    while (strcmp(report.state, "starting") == 0 && clock_ns() - begun < GPU_WAIT_MS * INT64_C(1000000) &&
           !own_daemon_ended(&visit->daemon, GPU_ASK_MS)) {
        report.reason[0] = '\0';
        if (!ask(visit, "/readyz", (struct bytes){0}) || !read_first(buf_bytes(&visit->answer), &report)) {
            break;
        }
    }
    if (strcmp(report.state, "serving") == 0) {
        findings_good(visit->findings, "GPU", "%s, after %.1f s", report.name,
                      (double)(clock_ns() - begun) / 1e9);
    } else if (config->require_gpu) {
        findings_fail(visit->findings, "GPU", "require_gpu is on: the daemon does not serve without it",
                      "%s: %s", report.state, report.reason);
    } else {
        findings_note(visit->findings, "GPU",
                      "docs/operations.md has what a GPU needs; the CPU does all the work", "%s: %s",
                      report.state, report.reason);
    }
}

static void try_all(struct doctor_visit *visit, const struct config *config, bool gpu) {
    if (gpu) {
        try_gpu(visit, config);
    }
#define FORMAT(ID, name, ...) try_format(visit, CODEC_##ID, #name);
#include "codecs/formats.def"
#define DETECTOR(ID, name, ...) try_detector(visit, #name);
#include "detect/detectors.def"
}

void doctor_daemon_ask(struct findings *findings, const struct config *config, bool gpu) {
    const struct own_daemon_option options[] = {{"require_gpu", "off"}};
    struct doctor_visit visit = {.findings = findings};
    struct bench_pictures pictures = {0};
    enum status status = bench_pictures_init(&pictures, 0, NULL, 0, &visit.err);
    fflush(findings->out);
    status = status == ST_OK ? own_daemon_start(&visit.daemon, config, options, 1, &visit.err) : status;
    if (status == ST_OK) {
        buf_init(&visit.answer, ANSWER_MAX);
        visit.picture = buf_bytes(&pictures.picture[0].file);
        if (ask(&visit, "/livez", (struct bytes){0}) && visit.http_status == 200) {
            findings_good(findings, "start", "%.0f ms until the first answer", visit.ms);
            try_all(&visit, config, gpu);
        } else {
            findings_fail(findings, "start", "what it says stands on standard error",
                          "the daemon does not start");
        }
        own_daemon_stop(&visit.daemon);
        buf_finish(&visit.answer);
    } else {
        findings_fail(findings, "start", "TMPDIR names another folder for its socket", "%s", visit.err.text);
    }
    bench_pictures_finish(&pictures);
}
