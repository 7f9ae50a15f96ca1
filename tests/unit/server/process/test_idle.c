/* SPDX-License-Identifier: MIT
 * When the heap is trimmed while the main thread waits for a signal, and that it gets the signal. */
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/process/idle.h"
#include "server/process/signals.h"
#include "server/service.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static unsigned trims;

/* Instead of glibc's. */
int malloc_trim(size_t pad) {
    (void)pad;
    trims++;
    return 0;
}

/* Waits for a signal that is there already. */
static void wait_once(struct service *service, int number, unsigned expected) {
    int signals = signals_open();
    assert_true(signals >= 0);
    trims = 0;
    raise(number);
    assert_int_equal(idle_wait(service, signals), number);
    assert_int_equal(trims, expected);
    close(signals);
}

static void test_the_heap_is_trimmed_once_nothing_is_warm(void **state) {
    (void)state;
    struct error err;
    struct config config;
    struct settings *settings;
    struct slot *slot;
    struct service service = {.slots = slot_pool_create(64 << 20)};
    config_default(&config);
    settings_init(&service.settings);
    assert_int_equal(settings_create(&settings, &config, &err), ST_OK);
    settings_replace(&service.settings, settings);
    assert_non_null(service.slots);
    wait_once(&service, SIGHUP, 1);
    assert_int_equal(slot_acquire(service.slots, SLOT_WORK, &slot, &err), ST_OK);
    slot_give_back(slot);
    wait_once(&service, SIGTERM, 0);
    slot_pool_destroy(service.slots);
    settings_finish(&service.settings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_heap_is_trimmed_once_nothing_is_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
