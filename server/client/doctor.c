/* SPDX-License-Identifier: MIT */
#include "server/client/doctor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "config/memory.h"
#include "core/version.h"
#include "gpu/front/versions.h"
#include "server/client/doctor_daemon.h"
#include "server/client/findings.h"
#include "server/http/listen.h"
#include "server/process/effective.h"

static void look_at_processor(struct findings *findings, const struct config *effective) {
    const char *level = config_choice_name(effective->cpu_level);
    if (strcmp(level, "baseline") == 0) {
        findings_note(findings, "processor",
                      "filters take several times as long: choose a machine with AVX2 or newer, or let the "
                      "virtual machine have it",
                      "%s, without AVX2", level);
    } else {
        findings_good(findings, "processor", "%s, %u workers", level, effective->workers);
    }
}

static void look_at_memory(struct findings *findings, const struct config *effective) {
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (double)GIB;
    const double budget = (double)effective->memory / (double)GIB;
    if (effective->memory < (uint64_t)GIB / 2) {
        findings_note(findings, "memory",
                      "pictures of many megapixels get 422: raise the limit of the container, or `memory`",
                      "%.2f GiB for requests", budget);
    } else {
        findings_good(findings, "memory", "%.1f GiB for requests; the machine has %.1f", budget, machine);
    }
}

static void look_at_address(struct findings *findings, const char *address, unsigned port, const char *name,
                            bool guarded) {
    struct error err = {0};
    uint16_t bound = (uint16_t)port;
    int fd = -1;
    if (!address[0] || listen_is_local(address)) {
        return; /* none, or a file that the daemon makes */
    }
    if (listen_bind(address, &bound, &fd, &err) != ST_OK) {
        if (strstr(err.text, strerror(EADDRINUSE)) && doctor_daemon_serves(address, (uint16_t)port)) {
            findings_note(findings, name, "this port is free for another one only after that ends",
                          "a blurd serves on %s port %u", address, port);
            return;
        }
        findings_fail(findings, name, "end what has it, or choose another one", "%s", err.text);
        return;
    }
    findings_good(findings, name, "%s port %u is free", address, bound);
    if (!guarded && listen_is_public(fd)) {
        findings_note(
            findings, "access",
            "set token_file and admin_listen, or listen on 127.0.0.1, unless a proxy stands before it",
            "all that reach %s may send pictures, without a token", address);
    }
    close(fd);
}

/* Tells why the daemon tries none. */
static void look_for_gpu(struct findings *findings, const struct config *config) {
    static const char remedy[] =
        "with a GPU, install NVIDIA's driver, and start containers with --gpus all; the "
        "CPU gives the same bytes";
    const char *why = "none: there is no device in /dev and no driver (libcuda.so.1)";
    char support[GPU_SUPPORT_MAX];
    gpu_versions_support(support);
    if (strcmp(config->gpus, "none") == 0) {
        why = "none, as `gpus` says: the CPU does all the work";
    } else if (strncmp(support, "cuda", 4) != 0) {
        why = "this program was built for the CPU alone (docs/packages.md)";
    }
    if (config->require_gpu) {
        findings_fail(findings, "GPU", "require_gpu is on: the daemon does not start without one", "%s", why);
    } else if (strcmp(config->gpus, "none") == 0) {
        findings_good(findings, "GPU", "%s", why);
    } else {
        findings_note(findings, "GPU", remedy, "%s", why);
    }
}

enum status doctor_run(const struct config *config, FILE *out, struct error *err) {
    struct findings findings = {.out = out};
    struct config effective;
    enum status status = effective_config(config, &effective, err);
    if (status != ST_OK) {
        return status;
    }
    fprintf(out, "blurd %s\n\n", BLURD_VERSION);
    look_at_processor(&findings, &effective);
    look_at_memory(&findings, &effective);
    look_at_address(&findings, config->listen, config->port, "port", config->token_file[0]);
    look_at_address(&findings, config->admin_listen, config->admin_port, "admin port", true);
    const bool gpu = effective_gpu(config) && strncmp(gpu_versions_text(), "none", 4) != 0;
    if (!gpu) {
        look_for_gpu(&findings, config);
    }
    doctor_daemon_ask(&findings, config, gpu);
    fprintf(out, "\n%u fine, %u to note, %u wrong\n", findings.good, findings.notes, findings.wrong);
    return fflush(out) != 0 || findings.wrong > 0
               ? fail(err, ST_BUSY, "the daemon could not do all that it is configured for")
               : ST_OK;
}
