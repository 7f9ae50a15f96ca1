/* SPDX-License-Identifier: MIT
 * A host under load, simulated: clients that each wait for their answer, a GPU, and workers whose computing
 * slows the threads that feed the GPU. The queue and the predictions are the daemon's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/planner/cost.h"
#include "server/planner/intent.h"
#include "server/queue/admission.h"
#include "tests/unit/server/planner/gpu_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define MS INT64_C(1000000)
#define SECOND_NS (1000 * MS)

enum { CLIENTS_MAX = 1024, GPU_TIMEOUT_MS = 2000, ALONE_US = 800, RETRY_MS = 10 };

struct host {
    unsigned workers, gpu_concurrency;
    double device_rate; /* pictures a second that the GPU does while nothing else runs */
    double cpu_ms;      /* of a core for a picture */
    double drag;        /* how much longer a picture takes on the GPU while all workers compute */
    struct {
        uint32_t width, height;
        unsigned bytes;
    } picture;
};

/* docs/adr/0021: 10,000 a second beside 16 cores that do 1,240, and 40 % of it while all of them compute. */
static const struct host strong = {.workers = 16,
                                   .gpu_concurrency = 28,
                                   .device_rate = 1e4,
                                   .cpu_ms = 13,
                                   .drag = 1.5,
                                   .picture = {1920, 1080, 500000}};
/* A GPU that does less than the cores beside it. */
static const struct host weak = {.workers = 8,
                                 .gpu_concurrency = 28,
                                 .device_rate = 300,
                                 .cpu_ms = 10,
                                 .drag = 0.1,
                                 .picture = {1920, 1080, 500000}};
/* Small pictures, which an idle core does sooner than a GPU. */
static const struct host small = {
    .workers = 16, .gpu_concurrency = 28, .device_rate = 36500, .cpu_ms = 0.6, .picture = {400, 300, 20000}};

struct client {
    struct job job;
    struct cost cost;
    int64_t asked, began,
        ends; /* ends: INT64_MAX while it waits in the queue; when it asks again if refused */
    enum { ASKING, WAITING, ON_DEVICE, ON_WORKER } state;
};

struct world {
    struct host host;
    struct admission admission;
    struct cost_model model;
    struct client client[CLIENTS_MAX];
    unsigned clients, on_device, on_worker;
    int64_t now, hangs_at; /* 0: never */
    unsigned refused, done, by_device;
    unsigned open; /* requests that found the gate open */
    int64_t longest;
};

static struct cost predict(const struct world *world) {
    const struct peek photo = {.codec = CODEC_JPEG,
                               .width = world->host.picture.width,
                               .height = world->host.picture.height,
                               .channels = 3,
                               .depth = 8,
                               .sampling = 0x22,
                               .baseline = true};
    struct parameters parameters;
    gpu_filters = BACKEND_DOWN; /* general workers filter on cores */
    parameters_init(&parameters, filter_get(FILTER_BLUR));
    struct intent intent = {0};
    intent_guess(&intent, &photo, world->host.picture.bytes, NULL, &parameters);
    return cost_predict(&world->model, &intent, world->admission.device_down ? NULL : &gpu, false);
}

static void ask(struct world *world, struct client *client) {
    client->cost = predict(world);
    const uint64_t memory = 8 << 20; /* two pictures of 4:2:0 and room for the answer */
    const enum way general = client->cost.general;
    client->job = (struct job){.general = general, .way = client->cost.way, .max_wait_ns = 10 * SECOND_NS};
    client->job.ways[WAY_GPU_FILE] = (struct job_way){client->cost.ways[WAY_GPU_FILE].ns, memory};
    client->job.ways[general] = (struct job_way){client->cost.ways[general].ns, memory};
    client->asked = world->now;
    bool open = admission_is_open(&world->admission);
    enum refusal gate = admission_gate(&world->admission, client->job.max_wait_ns, world->now);
    assert_true(!open || gate == REFUSAL_NONE);
    world->open += open;
    bool taken =
        gate == REFUSAL_NONE && admission_enter(&world->admission, &client->job, world->now) == REFUSAL_NONE;
    world->refused += !taken;
    client->state = taken ? WAITING : ASKING;
    client->ends = taken ? INT64_MAX : world->now + RETRY_MS * MS;
}

/* How long a picture takes that begins now. */
static int64_t device_time(const struct world *world) {
    double shared = world->on_device / world->host.device_rate * 1e9;
    double least = ALONE_US * 1e3, busy = (double)world->on_worker / world->host.workers;
    return (int64_t)((shared > least ? shared : least) * (1 + world->host.drag * busy));
}

/* Threads that hand pictures to a GPU compute only the pictures that it gives back. */
static int64_t worker_time(const struct world *world) {
    unsigned computing = world->on_worker + (world->admission.device_down ? world->on_device : 0);
    double crowd = (double)computing / world->host.workers;
    return (int64_t)(world->host.cpu_ms * (crowd > 1 ? crowd : 1) * 1e6);
}

static bool begin(struct world *world, enum role role) {
    enum refusal refusal;
    struct job *job = admission_take(&world->admission, role, world->now, &refusal);
    struct client *client = (struct client *)(void *)job;
    if (job && refusal != REFUSAL_NONE) {
        world->refused++;
        client->state = ASKING;
        client->ends = world->now + RETRY_MS * MS;
    } else if (job) {
        client->state = role == ROLE_DEVICE ? ON_DEVICE : ON_WORKER;
        *(role == ROLE_DEVICE ? &world->on_device : &world->on_worker) += 1;
        bool device = role == ROLE_DEVICE && !world->admission.device_down;
        client->began = world->now;
        client->ends = world->now + (device ? device_time(world) : worker_time(world));
    }
    return job;
}

static void hand_out(struct world *world) {
    while (world->on_device < world->host.gpu_concurrency && begin(world, ROLE_DEVICE)) {
    }
    while (world->on_worker < world->host.workers && begin(world, ROLE_ANY)) {
    }
}

static void finish(struct world *world, struct client *client) {
    bool device = client->state == ON_DEVICE;
    int64_t wait = world->now - client->asked;
    *(device ? &world->on_device : &world->on_worker) -= 1;
    if (!device) {
        cost_learn(&world->model, &client->cost, client->cost.general, world->now - client->began, 0);
        if (client->job.ways[WAY_GPU_FILE].ns > 0) {
            cost_doubt_device(&world->model);
        }
    } else if (!world->admission.device_down) {
        cost_learn_device(&world->model, &client->cost, world->now - client->began);
    }
    world->done++;
    world->by_device += device;
    world->longest = wait > world->longest ? wait : world->longest;
    client->job.served = true;
    admission_done(&world->admission, &client->job, world->now);
}

/* Pictures on the GPU stay there until their time is over; then the processor does them. */
static void hang(struct world *world) {
    for (unsigned i = 0; i < world->clients; i++) {
        struct client *client = &world->client[i];
        if (client->state == ON_DEVICE) {
            client->ends = world->hangs_at + GPU_TIMEOUT_MS * MS + worker_time(world);
        }
    }
}

static struct client *next_of(struct world *world) {
    struct client *next = &world->client[0];
    for (unsigned i = 1; i < world->clients; i++) {
        next = world->client[i].ends < next->ends ? &world->client[i] : next;
    }
    return next;
}

/* One event; false when nothing is left before `until`. */
static bool step(struct world *world, int64_t until) {
    struct client *client = next_of(world);
    if (world->hangs_at && world->now < world->hangs_at && client->ends >= world->hangs_at) {
        world->now = world->hangs_at;
        hang(world);
        return true;
    }
    int64_t look = world->now + ADMISSION_STALL_NS; /* a worker does, while requests wait for the GPU */
    bool looks = world->admission.queue[JOB_DEVICE].waiting > 0 && look < client->ends;
    int64_t time = looks ? look : client->ends;
    if (time > until) {
        return false;
    }
    world->now = time;
    world->admission.device_down = world->hangs_at && world->now >= world->hangs_at + GPU_TIMEOUT_MS * MS;
    if (!looks && client->state != ASKING) {
        finish(world, client);
    }
    if (!looks) {
        ask(world, client);
    }
    hand_out(world);
    return true;
}

static void run(struct world *world, int64_t until) {
    while (step(world, until)) {
    }
}

/* So many clients ask at once, and again whenever they have an answer. */
static void open_world(struct world *world, const struct host *host, unsigned clients) {
    const struct admission_limits limits = {.workers = host->workers,
                                            .large_only = host->workers - host->workers / 4,
                                            .devices = host->gpu_concurrency,
                                            .shared = true,
                                            .memory = UINT64_C(20) << 30,
                                            .target_ns = SECOND_NS,
                                            .interval_ns = 200 * MS};
    *world = (struct world){.host = *host, .clients = clients, .now = SECOND_NS};
    admission_init(&world->admission, &limits);
    for (unsigned i = 0; i < clients; i++) {
        ask(world, &world->client[i]);
    }
    hand_out(world);
}

/* Answers a second, after the first half of a second. */
static double rate(const struct host *host, unsigned clients) {
    static struct world world;
    open_world(&world, host, clients);
    run(&world, world.now + SECOND_NS / 2);
    unsigned before = world.done;
    run(&world, world.now + SECOND_NS);
    printf("    %4u clients: %u answers a second, longest %.0f ms, %u refused, %.0f %% by the GPU\n", clients,
           world.done - before, (double)world.longest / 1e6, world.refused,
           100.0 * world.by_device / world.done);
    assert_int_equal(world.refused, 0);
    assert_true(world.open > 0);
    return world.done - before;
}

/* More clients are no reason for fewer answers, nor for a refusal while the wait is below a second. */
static void test_no_collapse(void **state) {
    (void)state;
    double few = rate(&strong, 128);
    assert_true(few > 0.95 * strong.device_rate);
    assert_true(rate(&strong, 256) > 0.98 * few);
    assert_true(rate(&strong, 512) > 0.98 * few);
    assert_true(rate(&strong, 1024) > 0.98 * few);
}

/* Device and processor both work at their full rate. */
static void test_a_weak_device(void **state) {
    (void)state;
    double both = weak.device_rate + weak.workers * 1000 / weak.cpu_ms;
    assert_true(rate(&weak, 128) > 0.85 * both);
    assert_true(rate(&weak, 512) > 0.85 * both);
}

/* At any speed of the device, throughput is at least half of what device and processor could do together. */
static void test_devices_of_all_rates(void **state) {
    (void)state;
    for (double device_rate = 100; device_rate <= 20000; device_rate *= 2) {
        struct host host = strong;
        host.device_rate = device_rate;
        host.drag = 0;
        double cpu = host.workers * 1000 / host.cpu_ms;
        printf("  %.0f a second by the GPU, %.0f by the processor\n", device_rate, cpu);
        assert_true(rate(&host, 256) > 0.45 * (device_rate + cpu));
    }
}

/* A GPU that hangs with 512 requests: the processor does the waiting ones meanwhile, those on the GPU are
 * done once it is given up, and none is refused. */
static void test_a_device_that_hangs(void **state) {
    (void)state;
    static struct world world;
    double cpu = strong.workers * 1000 / strong.cpu_ms;
    open_world(&world, &strong, 512);
    world.hangs_at = world.now + SECOND_NS;
    run(&world, world.hangs_at);
    unsigned before = world.done;
    run(&world, world.hangs_at + GPU_TIMEOUT_MS * MS);
    unsigned meanwhile = world.done - before;
    run(&world, world.hangs_at + 4 * SECOND_NS);
    before = world.done;
    run(&world, world.hangs_at + 5 * SECOND_NS);
    printf("    %u while it hangs, longest %.0f ms, then %u a second\n", meanwhile,
           (double)world.longest / 1e6, world.done - before);
    assert_int_equal(world.refused, 0);
    assert_true(meanwhile > 0.7 * cpu);
    assert_true(world.longest < (GPU_TIMEOUT_MS + 200) * MS);
    assert_true(world.done - before > 0.9 * cpu);
}

/* A burst teaches the model that the GPU takes several times as long as it does alone. Later, when fewer
 * clients ask, it learns again what the GPU takes, although all pictures may go to cores at first. */
static void test_after_a_burst(void **state) {
    (void)state;
    static struct world world;
    for (float learnt = 1; learnt <= 64; learnt *= 4) {
        open_world(&world, &small, 32);
        world.model.device_ratio = learnt;
        run(&world, world.now + SECOND_NS);
        unsigned before = world.done;
        run(&world, world.now + SECOND_NS);
        printf("    the GPU's time times %.0f at first: %u answers a second, %.0f %% by the GPU\n",
               (double)learnt, world.done - before, 100.0 * world.by_device / world.done);
        assert_true(world.done - before > 0.9 * small.device_rate);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_collapse),          cmocka_unit_test(test_a_weak_device),
        cmocka_unit_test(test_devices_of_all_rates), cmocka_unit_test(test_a_device_that_hangs),
        cmocka_unit_test(test_after_a_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
