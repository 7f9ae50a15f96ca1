/* SPDX-License-Identifier: MIT
 * A codec process refuses an exchange file that is shorter than the message says, or that could shrink, and
 * it reads and writes only inside its mapping, for any content of the message. Without its check each case
 * fails. */
#include "codecs/process/codec_process.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codecs/process/codec_wire.h"
#include "core/process/channel.h"
#include "core/slot_file.h"
#include "tests/unit/codecs/process/fake_codec_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SPAN = 1 << 16, PICTURE = 4096, TIMEOUT_MS = 20000, SIDE = 32, MEMORY = 64 << 20 };

struct desk {
    pid_t process;
    int socket;
};

static void open_desk(struct desk *desk) {
    const struct codec_process_options options = {.codec = fake_table};
    struct codec_ready ready;
    struct error err;
    int pair[2];
    assert_int_equal(channel_pair(pair, &err), ST_OK);
    desk->process = fork();
    if (desk->process == 0) {
        close(pair[0]);
        codec_process(pair[1], &options);
    }
    close(pair[1]);
    desk->socket = pair[0];
    enum status status =
        channel_receive(desk->socket, &ready, sizeof ready, CODEC_READY, NULL, TIMEOUT_MS, &err);
    assert_int_equal(status, ST_OK);
}

/* The process has neither crashed nor stayed. */
static void close_desk(struct desk *desk) {
    int status;
    close(desk->socket);
    assert_int_equal(waitpid(desk->process, &status, 0), desk->process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A file that holds a whole fake one, followed by the picture. */
static int exchange_file(void) {
    const struct fake_file file = fake_file(FAKE_WORKS, 0);
    int fd = slot_file(SPAN);
    assert_int_equal(pwrite(fd, &file, sizeof file, 0), sizeof file);
    return fd;
}

static struct codec_call good_call(enum codec_operation operation) {
    return (struct codec_call){
        .operation = operation,
        .lends = 1,
        .memory = MEMORY,
        .input_size = sizeof(struct fake_file),
        .picture = PICTURE,
        .shape = {.model = PIXEL_RGB, .depth = 8, .width = SIDE, .height = SIDE},
        .output_most = SPAN,
    };
}

/* Runs the call on an exchange, whose descriptor is closed, and expects a refusal with these words; NULL: the
 * call is done. */
static void ask(struct codec_call *call, int fd, uint64_t span, const char *refusal) {
    struct codec_lend lend = {.span = span};
    struct codec_answer answer;
    struct desk desk;
    struct error err;
    open_desk(&desk);
    assert_int_equal(channel_send(desk.socket, call, sizeof *call, CODEC_CALL, -1, &err), ST_OK);
    assert_int_equal(channel_send(desk.socket, &lend, sizeof lend, CODEC_LEND, fd, &err), ST_OK);
    close(fd);
    enum status status =
        channel_receive(desk.socket, &answer, sizeof answer, CODEC_ANSWER, NULL, TIMEOUT_MS, &err);
    assert_int_equal(status, ST_OK);
    assert_int_equal(answer.error.status, refusal ? ST_INTERNAL : ST_OK);
    assert_true(!refusal || strstr(answer.error.text, refusal));
    close_desk(&desk);
}

static void test_what_is_mapped(void **state) {
    (void)state;
    static const char refusal[] = "shorter than it claims";
    struct codec_call call = good_call(CODEC_DECODES);
    ask(&call, exchange_file(), SPAN, NULL);
    ask(&call, exchange_file(), SPAN + 1, refusal);
    ask(&call, exchange_file(), UINT64_MAX, refusal);
    int unsealed = memfd_create("long enough, as yet", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(unsealed, SPAN), 0);
    ask(&call, unsealed, SPAN, refusal);
    ask(&call, open("/dev/null", O_RDWR | O_CLOEXEC), SPAN, refusal);
}

static void test_files(void **state) {
    (void)state;
    const uint64_t sizes[] = {SPAN + 1, UINT64_MAX};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct codec_call call = good_call(CODEC_DECODES);
        call.input_size = sizes[i];
        ask(&call, exchange_file(), SPAN, "the file does not lie in the slot");
    }
    struct codec_call call = good_call(CODEC_DECODES);
    call.input_size = SPAN;
    ask(&call, exchange_file(), SPAN, NULL);
}

/* The picture of a call that decodes or encodes. */
static void try_pictures(enum codec_operation operation) {
    struct image image;
    struct codec_call call = good_call(operation);
    const uint64_t last = SPAN - image_layout(&image, &call.shape);
    const uint64_t places[] = {PICTURE + 1, last + IMAGE_ALIGNMENT, SPAN, SPAN + IMAGE_ALIGNMENT,
                               UINT64_MAX - IMAGE_ALIGNMENT + 1};
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        call.picture = places[i];
        ask(&call, exchange_file(), SPAN, "the picture does not lie in the slot");
    }
    call.picture = last / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
    ask(&call, exchange_file(), SPAN, NULL);
    call = good_call(operation);
    call.shape.depth = 7;
    ask(&call, exchange_file(), SPAN, "the picture does not lie in the slot");
}

static void test_pictures(void **state) {
    (void)state;
    try_pictures(CODEC_DECODES);
    try_pictures(CODEC_ENCODES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_mapped),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_pictures),
    };
    return cmocka_run_group_tests_name("codec_bounds", tests, NULL, NULL);
}
