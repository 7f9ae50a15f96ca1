/* SPDX-License-Identifier: MIT */
#include "server/metrics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const char *const operations[] = {"other", "blur", "index"};

static struct metrics *make(void) {
    struct metrics *metrics = metrics_create(operations, 3);
    assert_non_null(metrics);
    metrics_name_backend(metrics, 1, "cpu/avx2");
    return metrics;
}

/* The page, to be freed. */
static char *page(struct metrics *metrics) {
    struct buf out;
    struct error err = {0};
    buf_init(&out, METRICS_PAGE_MAX);
    assert_int_equal(metrics_write(metrics, "1.2.3", &out, &err), ST_OK);
    assert_int_equal(buf_append(&out, "", 1, &err), ST_OK);
    assert_int_equal(strlen((char *)out.data), out.size - 1);
    assert_int_equal(out.data[out.size - 2], '\n');
    return (char *)out.data;
}

/* The value of the sample with that name and labels; fails without it. */
static double sample(const char *text, const char *series) {
    char start[256];
    int length = snprintf(start, sizeof start, "\n%s ", series);
    const char *found = strstr(text, start);
    if (!found) {
        fail_msg("no sample %s", series);
        return 0;
    }
    assert_null(strstr(found + 1, start)); /* once */
    char *end;
    double value = strtod(found + length, &end);
    assert_int_equal(*end, '\n');
    return value;
}

static void test_every_metric_is_described(void **state) {
    (void)state;
#define METRIC(kind, id, name, help) {name, #kind},
    static const char *const rows[][2] = {
#include "server/metrics.def"
        {"blurd_requests_total", "COUNTER"},     {"blurd_rejections_total", "COUNTER"},
        {"blurd_stage_seconds", "HISTOGRAM"},    {"blurd_build_info", "GAUGE"},
        {"process_start_time_seconds", "GAUGE"},
    };
#undef METRIC
    struct metrics *metrics = make();
    char *text = page(metrics);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[128];
        const int length = (int)strcspn(rows[i][0], "{"); /* without labels */
        snprintf(line, sizeof line, "# HELP %.*s ", length, rows[i][0]);
        const char *help = strstr(text, line);
        assert_true(help && (help == text || help[-1] == '\n') && help[strlen(line)] != '\n');
        snprintf(line, sizeof line, "\n# TYPE %.*s %s\n", length, rows[i][0],
                 rows[i][1][0] == 'C'   ? "counter"
                 : rows[i][1][0] == 'G' ? "gauge"
                                        : "histogram");
        assert_ptr_equal(strstr(text, line), strchr(help, '\n'));
        bool total = length > 6 && memcmp(rows[i][0] + length - 6, "_total", 6) == 0;
        assert_int_equal(total, rows[i][1][0] == 'C');
    }
    free(text);
    metrics_destroy(metrics);
}

/* Every sample stands behind the TYPE of its family, and no family comes twice. */
static void test_families(void **state) {
    (void)state;
    struct metrics *metrics = make();
    metrics_request(metrics, 1, METRIC_FORMAT_PNG, PROBLEM_NONE, 1);
    char *text = page(metrics), *rest = text, family[64] = "";
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        if (strncmp(line, "# HELP ", 7) == 0) {
            char again[80];
            snprintf(family, sizeof family, "%.*s", (int)strcspn(line + 7, " "), line + 7);
            snprintf(again, sizeof again, "\n# HELP %s ", family);
            assert_null(rest ? strstr(rest, again) : NULL);
        } else if (line[0] != '#') {
            assert_true(family[0] && strncmp(line, family, strlen(family)) == 0);
            assert_non_null(strchr(line, ' '));
        }
    }
    free(text);
    metrics_destroy(metrics);
}

static void test_values(void **state) {
    (void)state;
    struct metrics *metrics = make();
    metrics_add(metrics, METRIC_IN_FLIGHT, 3);
    metrics_add(metrics, METRIC_IN_FLIGHT, -1);
    metrics_set(metrics, METRIC_QUEUE_DEPTH, 9);
    metrics_set(metrics, METRIC_QUEUE_DEPTH, 4);
    metrics_add(metrics, METRIC_PIXELS, INT64_C(1) << 40);
    char *text = page(metrics);
    assert_true(sample(text, "blurd_requests_in_flight") == 2);
    assert_true(sample(text, "blurd_queue_depth") == 4);
    assert_true(sample(text, "blurd_pixels_total") == 1099511627776.0);
    assert_true(sample(text, "blurd_draining") == 0);
    assert_true(sample(text, "blurd_build_info{version=\"1.2.3\"}") == 1);
    double age = (double)time(NULL) - sample(text, "process_start_time_seconds");
    assert_true(age > -2 && age < 600);
    free(text);
    metrics_destroy(metrics);
}

static void test_requests(void **state) {
    (void)state;
    struct metrics *metrics = make();
    metrics_request(metrics, 1, METRIC_FORMAT_JPEG, PROBLEM_NONE, 1);
    metrics_request(metrics, 1, METRIC_FORMAT_JPEG, PROBLEM_NONE, 1);
    metrics_request(metrics, 1, METRIC_FORMAT_NONE, PROBLEM_BUSY, 0);
    metrics_request(metrics, 2, METRIC_FORMAT_NONE, PROBLEM_BUSY, 0);
    metrics_request(metrics, 0, METRIC_FORMAT_NONE, PROBLEM_NOT_FOUND, METRIC_BACKENDS_MAX - 1);
    char *text = page(metrics);
    assert_true(sample(text, "blurd_requests_total{operation=\"blur\",format=\"jpeg\",status=\"200\","
                             "reason=\"none\",backend=\"cpu/avx2\"}") == 2);
    assert_true(sample(text, "blurd_requests_total{operation=\"index\",format=\"none\",status=\"503\","
                             "reason=\"overloaded\",backend=\"none\"}") == 1);
    assert_true(sample(text, "blurd_rejections_total{reason=\"overloaded\"}") == 2);
    assert_true(sample(text, "blurd_rejections_total{reason=\"not-found\"}") == 1);
    for (unsigned i = 1; i < PROBLEM_COUNT; i++) { /* all of them, from the start */
        char series[128];
        snprintf(series, sizeof series, "blurd_rejections_total{reason=\"%s\"}", problem_kind(i)->slug);
        assert_true(sample(text, series) <= 2);
    }
    assert_null(strstr(text, "blurd_rejections_total{reason=\"none\"}"));
    free(text);
    metrics_destroy(metrics);
}

/* Cumulative, in rising order, the last bucket is the count; returns the count. */
static double check_histogram(const char *text, const char *stage) {
    char series[128];
    snprintf(series, sizeof series, "\nblurd_stage_seconds_bucket{stage=\"%s\",le=\"", stage);
    double bound = -1, count = 0;
    unsigned buckets = 0;
    for (const char *at = text; (at = strstr(at, series)); buckets++) {
        at += strlen(series);
        char *end;
        double next = strtod(at, &end);
        assert_true(next > bound && memcmp(end, "\"} ", 3) == 0);
        bound = next;
        next = strtod(end + 3, NULL);
        assert_true(next >= count);
        count = next;
    }
    assert_true(buckets > 5 && bound > 1e300); /* strtod reads +Inf */
    snprintf(series, sizeof series, "blurd_stage_seconds_count{stage=\"%s\"}", stage);
    assert_true(sample(text, series) == count);
    return count;
}

static void test_histogram(void **state) {
    (void)state;
    struct metrics *metrics = make();
    static const int64_t durations[] = {0, 1, 100000, 100001, 3000000, 10000000000, 10000000001, 60000000000};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        metrics_stage(metrics, STAGE_FILTER, durations[i]);
    }
    char *text = page(metrics);
    for (unsigned stage = 0; stage < STAGE_COUNT; stage++) {
        assert_true(check_histogram(text, metrics_stage_name(stage)) == (stage == STAGE_FILTER ? 8 : 0));
    }
    assert_true(sample(text, "blurd_stage_seconds_bucket{stage=\"filter\",le=\"0.0001\"}") == 3);
    assert_true(sample(text, "blurd_stage_seconds_bucket{stage=\"filter\",le=\"0.00025\"}") == 4);
    assert_true(sample(text, "blurd_stage_seconds_bucket{stage=\"filter\",le=\"10\"}") == 6);
    double sum = sample(text, "blurd_stage_seconds_sum{stage=\"filter\"}");
    assert_true(sum > 80.003200 && sum < 80.003201);
    free(text);
    metrics_destroy(metrics);
}

static void *count_much(void *argument) {
    for (int i = 0; i < 5000; i++) {
        metrics_add(argument, METRIC_PIXELS, 3);
        metrics_stage(argument, STAGE_TOTAL, i * INT64_C(1000000));
        metrics_request(argument, 1, METRIC_FORMAT_PNG, PROBLEM_NONE, 0);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 4 };
    struct metrics *metrics = make();
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, count_much, metrics), 0);
    }
    for (int i = 0; i < 20; i++) { /* a page may be written at any time */
        char *text = page(metrics);
        check_histogram(text, "total");
        free(text);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    char *text = page(metrics);
    assert_true(sample(text, "blurd_pixels_total") == 3 * 5000 * THREADS);
    assert_true(check_histogram(text, "total") == 5000 * THREADS);
    free(text);
    metrics_destroy(metrics);
}

static void test_bounds(void **state) {
    (void)state;
    const char *names[METRIC_OPERATIONS_MAX + 1];
    for (unsigned i = 0; i <= METRIC_OPERATIONS_MAX; i++) {
        names[i] = "an_operation";
    }
    assert_null(metrics_create(names, METRIC_OPERATIONS_MAX + 1));
    struct metrics *metrics = metrics_create(names, METRIC_OPERATIONS_MAX);
    assert_non_null(metrics);
    for (unsigned i = 0; i < METRIC_BACKENDS_MAX; i++) {
        metrics_name_backend(metrics, i, "a name that is much longer than there is room");
    }
    unsigned sets = METRIC_OPERATIONS_MAX * METRIC_FORMAT_COUNT * PROBLEM_COUNT * METRIC_BACKENDS_MAX;
    for (unsigned i = 0; i < sets; i++) {
        unsigned rest = i / METRIC_OPERATIONS_MAX;
        metrics_request(metrics, i % METRIC_OPERATIONS_MAX, rest % METRIC_FORMAT_COUNT,
                        rest / METRIC_FORMAT_COUNT % PROBLEM_COUNT,
                        rest / METRIC_FORMAT_COUNT / PROBLEM_COUNT);
    }
    free(page(metrics)); /* with every label set there is it fits where routes.c writes it */
    uint8_t memory[100];
    struct buf out;
    struct error err = {0};
    buf_init_fixed(&out, memory, sizeof memory);
    assert_int_equal(metrics_write(metrics, "x", &out, &err), ST_LIMIT);
    metrics_destroy(metrics);
    metrics_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_metric_is_described),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
