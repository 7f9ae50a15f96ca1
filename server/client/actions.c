/* SPDX-License-Identifier: MIT */
#include "server/client/actions.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "config/completion/completion.h"
#include "filters/filter.h"
#include "server/batch/job_command.h"
#include "server/benchmark/benchmark.h"
#include "server/client/doctor.h"
#include "server/client/verify.h"
#include "server/pages/document.h"
#include "server/pages/formats.h"
#include "server/pages/health.h"
#include "server/process/effective.h"
#include "server/routes.h"

enum { JOBS_MAX = 64 }; /* more than there are routes */

int actions_complain(const struct error *err, int code) {
    fprintf(stderr, "blurd: %s\n", err->text);
    return code;
}

/* Prints the OpenAPI description for the default options. */
static int print_openapi(const struct config *config) {
    struct openapi_view view = {.config = config, .detectors = UINT32_MAX};
    view.routes = routes_table(&view.route_count);
    return document_print(&view, stdout) ? EX_OK : EX_IOERR;
}

static int check_config(const struct config *config) {
    struct config effective;
    struct error err = {0};
    if (effective_config(config, &effective, &err) != ST_OK) {
        return actions_complain(&err, EX_CONFIG);
    }
    config_print(config, &effective, stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? EX_OK : EX_IOERR;
}

static int print_other(enum config_action action, const struct config *config) {
    char version[FORMATS_VERSION_MAX];
    formats_version(version);
    return config_answer(action, config, version, stdout);
}

/* With the operations that jobs can begin with. */
static int print_completion(void (*print)(const struct completion_jobs *jobs, FILE *out)) {
    struct completion_job job[JOBS_MAX];
    struct completion_jobs jobs = {.job = job};
    unsigned count;
    const struct route *routes = routes_table(&count);
    for (unsigned i = 0; i < count && jobs.count < JOBS_MAX; i++) {
        if (job_command_is_job(routes[i].name, strlen(routes[i].name))) {
            const char *help = routes[i].help ? routes[i].help : filter_find(routes[i].filter)->help;
            job[jobs.count++] = (struct completion_job){routes[i].name, help};
        }
    }
    print(&jobs, stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? EX_OK : EX_IOERR;
}

int actions_answer(enum config_action action, struct config *config, int argc, char **argv) {
    const int first = config_operands(argc, argv);
    struct error err = {0};
    enum status status;
    switch (action) {
    case CONFIG_HELP_OPENAPI:
        return print_openapi(config);
    case CONFIG_HELP_COMPLETION:
        return print_completion(completion_bash);
    case CONFIG_HELP_COMPLETION_ZSH:
        return print_completion(completion_zsh);
    case CONFIG_HELP_COMPLETION_FISH:
        return print_completion(completion_fish);
    case CONFIG_CHECK_HEALTH:
        return health_answer(config, argc == 2 && getpid() != 1, environ);
    case CONFIG_CHECK:
        return check_config(config);
    case CONFIG_BENCHMARK:
        status = benchmark_run(config, argc, argv, first, stdout, &err);
        break;
    case CONFIG_DOCTOR:
        status = doctor_run(config, stdout, &err);
        break;
    case CONFIG_VERIFY:
        status = verify_run(config, argc, argv, first, stdout, &err);
        break;
    case CONFIG_REPORT_PUBLIC_KEY:
        status = verify_public_key(config, stdout, &err);
        return status == ST_OK ? EX_OK : actions_complain(&err, EX_CONFIG);
    default:
        return print_other(action, config);
    }
    const int code = action != CONFIG_VERIFY || status == ST_UNVERIFIED ? EXIT_FAILURE
                     : status == ST_ARGUMENT                            ? EX_USAGE
                                                                        : EX_TEMPFAIL;
    return status == ST_OK ? EX_OK : actions_complain(&err, code);
}
