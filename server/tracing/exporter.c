/* SPDX-License-Identifier: MIT */
#include "server/tracing/exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "core/process/fork_server.h"
#include "server/tracing/collector.h"
#include "server/tracing/span.h"

struct exporter {
    struct fork_server process;
    struct collector_options options;
};

static void run(void *context) {
    collector_run(context, FORK_SERVER_FD);
}

static struct collector_counts *make_counts(void) {
    void *shared = mmap(NULL, sizeof(struct collector_counts), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

static void release(struct exporter *exporter) {
    if (exporter && exporter->options.counts) {
        munmap(exporter->options.counts, sizeof *exporter->options.counts);
    }
    free(exporter);
}

enum status exporter_start(struct exporter **exporter, const char *url, struct error *err) {
    *exporter = NULL;
    if (!url[0]) {
        return ST_OK;
    }
    struct exporter *made = calloc(1, sizeof *made);
    if (!made || !(made->options.counts = make_counts())) {
        release(made);
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = endpoint_parse(url, &made->options.endpoint, err);
    if (status == ST_OK) {
        status = fork_server_start(&made->process, "blurd-spans", run, &made->options, err);
    }
    if (status != ST_OK) {
        release(made);
        return status;
    }
    *exporter = made;
    return ST_OK;
}

void exporter_add(struct exporter *exporter, const struct request *request) {
    struct span_record record;
    if (!exporter || !span_is_wanted(request)) {
        return;
    }
    span_fill(&record, request);
    if (send(exporter->process.socket, &record, sizeof record, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        atomic_fetch_add(&exporter->options.counts->dropped, 1);
    }
}

void exporter_counts(const struct exporter *exporter, int64_t *exported, int64_t *dropped) {
    *exported = exporter ? atomic_load(&exporter->options.counts->exported) : 0;
    *dropped = exporter ? atomic_load(&exporter->options.counts->dropped) : 0;
}

void exporter_end(struct exporter *exporter) {
    if (exporter) {
        fork_server_end(&exporter->process);
        release(exporter);
    }
}
