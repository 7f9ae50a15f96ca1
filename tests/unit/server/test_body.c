/* SPDX-License-Identifier: MIT
 * Where the bytes of a body go: how far ahead memory is committed and handed out, and what never goes to a
 * slot directly. */
#include "server/body.h"
#include "server/request.h"
#include "server/service.h"
#include "server/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { BUDGET = 48 << 20, SHARE = BUDGET / 3, LARGEST = BUDGET / 4, BODY_MAX = 40 << 20, PIECE = 32 << 10 };

struct desk {
    struct service service;
    struct settings settings;
    struct request request;
};

static void set_up(struct desk *desk, size_t length) {
    memset(desk, 0, sizeof *desk);
    desk->service.slots = slot_pool_create(BUDGET);
    assert_non_null(desk->service.slots);
    desk->settings.config.max_body = BODY_MAX;
    desk->request.service = &desk->service;
    desk->request.settings = &desk->settings;
    desk->request.framing = (struct framing){.content_lengths = 1, .content_length = length};
}

static void tear_down(struct desk *desk) {
    slot_give_back(desk->request.slot);
    slot_pool_destroy(desk->service.slots);
}

static void keep(struct desk *desk, size_t size) {
    static const uint8_t piece[PIECE] = {1};
    assert_int_equal(body_keep(&desk->request, piece, size), ST_OK);
}

/* Receives so many bytes in the slot, of which the library is told at once. */
static void receive_direct(struct desk *desk, size_t size) {
    uint8_t *to;
    while (size > 0) {
        size_t room = body_room(&desk->request, &to), now = room < size ? room : size;
        assert_in_range(now, 1, SIZE_MAX);
        memset(to, 2, now);
        assert_int_equal(body_keep(&desk->request, NULL, now), ST_OK);
        size -= now;
    }
}

static void test_the_room_follows_the_body(void **state) {
    (void)state;
    static struct desk desk;
    uint8_t *to;
    set_up(&desk, 4 << 20);
    keep(&desk, PIECE);
    struct slot *slot = desk.request.slot;
    assert_int_equal(body_room(&desk.request, &to), slot->reserved - PIECE);
    assert_ptr_equal(to, slot->memory + PIECE);
    assert_int_equal(slot->used, slot->reserved); /* what may be written is handed out */
    receive_direct(&desk, 100);
    assert_int_equal(body_room(&desk.request, &to), slot->reserved - PIECE - 100);
    assert_ptr_equal(to, slot->memory + PIECE + 100);
    tear_down(&desk);
}

static void test_it_grows_before_it_ends(void **state) {
    (void)state;
    static struct desk desk;
    uint8_t *to;
    set_up(&desk, 4 << 20);
    keep(&desk, PIECE);
    size_t first = desk.request.slot->reserved;
    receive_direct(&desk, first - PIECE - (64 << 10));
    assert_int_equal(body_room(&desk.request, &to), 64 << 10);
    assert_int_equal(desk.request.slot->reserved, first);
    receive_direct(&desk, 1);
    assert_in_range(body_room(&desk.request, &to), 64 << 10, 1 << 20);
    assert_in_range(desk.request.slot->reserved, first + 1, first + (1 << 20));
    tear_down(&desk);
}

static void test_a_read_takes_a_mebibyte_at_most(void **state) {
    (void)state;
    static struct desk desk;
    uint8_t *to;
    set_up(&desk, 8 << 20);
    keep(&desk, PIECE);
    struct error err;
    assert_int_equal(slot_reserve(desk.request.slot, 6 << 20, &err), ST_OK); /* as of an earlier body */
    assert_int_equal(body_room(&desk.request, &to), 1 << 20);
    tear_down(&desk);
}

static void test_the_last_byte_is_never_direct(void **state) {
    (void)state;
    static struct desk desk;
    uint8_t *to;
    set_up(&desk, 1 << 20);
    keep(&desk, PIECE);
    receive_direct(&desk, (1 << 20) - PIECE - 1);
    assert_int_equal(body_room(&desk.request, &to), 0);
    keep(&desk, 1);
    assert_int_equal(desk.request.body_size, 1 << 20);
    assert_int_equal(desk.request.slot->memory[0], 1);
    assert_int_equal(desk.request.slot->memory[PIECE], 2);
    assert_int_equal(body_room(&desk.request, &to), 0);
    tear_down(&desk);
}

/* Memory ahead of a body that stands still must not have another one refused. */
static void test_nothing_is_committed_ahead_beyond_the_share(void **state) {
    (void)state;
    static struct desk desk;
    struct slot *other = NULL;
    uint8_t *to;
    set_up(&desk, LARGEST);
    assert_int_equal(slot_acquire(desk.service.slots, SLOT_BODY, &other, NULL), ST_OK);
    assert_int_equal(slot_reserve(other, SHARE / 2, NULL), ST_OK);
    keep(&desk, PIECE);
    size_t room;
    while ((room = body_room(&desk.request, &to)) > 0) {
        assert_int_equal(body_keep(&desk.request, NULL, room), ST_OK);
    }
    assert_in_range(slot_pool_held(desk.service.slots, SLOT_BODY), SHARE - (1 << 20), SHARE);
    assert_int_equal(desk.request.body_size, desk.request.slot->reserved);
    while (body_keep(&desk.request, NULL, PIECE) == ST_OK) { /* up to the share to the byte */
        assert_in_range(slot_pool_held(desk.service.slots, SLOT_BODY), 0, SHARE);
    }
    assert_int_equal(desk.request.error.status, ST_BUSY);
    slot_give_back(other);
    tear_down(&desk);
}

/* One body alone is at most a quarter of the memory, whatever max_body says. */
static void test_a_body_that_is_too_large_for_the_memory(void **state) {
    (void)state;
    static struct desk desk;
    set_up(&desk, BODY_MAX);
    assert_int_equal(body_keep(&desk.request, NULL, LARGEST), ST_OK);
    assert_int_equal(body_keep(&desk.request, NULL, 1), ST_TOO_LARGE);
    assert_string_equal(
        desk.request.error.text,
        "the body is larger than the limit of 12582912 bytes, which is a quarter of the option memory");
    assert_int_equal(desk.request.body_size, LARGEST);
    tear_down(&desk);
}

static void test_a_larger_body_than_allowed(void **state) {
    (void)state;
    static struct desk desk;
    set_up(&desk, 1 << 20);
    keep(&desk, PIECE);
    desk.settings.config.max_body = PIECE + 10;
    assert_int_equal(body_keep(&desk.request, NULL, 11), ST_TOO_LARGE);
    assert_string_equal(desk.request.error.text, "the body is larger than the limit of 32778 bytes");
    assert_int_equal(desk.request.body_size, PIECE);
    tear_down(&desk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_room_follows_the_body),
        cmocka_unit_test(test_it_grows_before_it_ends),
        cmocka_unit_test(test_a_read_takes_a_mebibyte_at_most),
        cmocka_unit_test(test_the_last_byte_is_never_direct),
        cmocka_unit_test(test_nothing_is_committed_ahead_beyond_the_share),
        cmocka_unit_test(test_a_body_that_is_too_large_for_the_memory),
        cmocka_unit_test(test_a_larger_body_than_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
