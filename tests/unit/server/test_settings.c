/* SPDX-License-Identifier: MIT
 * Dropped settings free their resources. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "server/routes.h"
#include "server/settings.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* Bytes on the heap after settings with a document came and went; 0 with a sanitizer, which looks itself. */
static size_t left_behind(void) {
    struct error err;
    struct config config;
    struct settings *settings;
    config_default(&config);
    assert_int_equal(settings_create(&settings, &config, &err), ST_OK);
    struct openapi_view view = {.config = &settings->config};
    view.routes = routes_table(&view.route_count);
    assert_int_equal(document_make(&settings->document, &view, &err), ST_OK);
    settings_drop(settings);
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

static void test_nothing_stays(void **state) {
    (void)state;
    size_t first = left_behind();
    for (unsigned i = 0; i < 3; i++) {
        assert_true(left_behind() < first + 1024);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
