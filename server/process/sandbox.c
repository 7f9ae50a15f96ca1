/* SPDX-License-Identifier: MIT */
#include "server/process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/log.h"
#include "core/process/landlock.h"
#include "core/sanitizers.h"

void sandbox_hide(const struct config *config) {
    if (config->sandbox != CHOICE_sandbox_off) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    }
}

static void allow_folder(int ruleset, const char *folder) {
    landlock_allow(ruleset, folder, LANDLOCK_READS | (SANITIZED ? LANDLOCK_LISTS : 0));
}

/* Whether the list of names, separated by ", ", has that name. */
static bool is_listed(const char *list, const char *name) {
    size_t size = strlen(name);
    for (const char *p = list; (p = strstr(p, name)); p += size) {
        bool begins = p == list || p[-1] == ' ';
        if (begins && (p[size] == ',' || p[size] == '\0')) {
            return true;
        }
    }
    return false;
}

/* The folder that the path names, in which a file may be replaced, and that in which the file lies, where
 * links lead elsewhere. */
static void allow_file(struct sandbox *sandbox, int ruleset, const char *path) {
    char name[PATH_MAX], real[PATH_MAX];
    snprintf(name, sizeof name, "%s", path);
    const char *folder = dirname(name);
    size_t used = strlen(sandbox->text);
    allow_folder(ruleset, folder);
    if (!is_listed(sandbox->text, folder)) { /* several files often share a folder */
        snprintf(sandbox->text + used, sizeof sandbox->text - used, "%s%s", used ? ", " : "", folder);
    }
    if (realpath(path, real)) {
        allow_folder(ruleset, dirname(real));
    }
    sandbox->reads = true;
}

static void allow_files(struct sandbox *sandbox, int ruleset, const struct config *config, const char *file) {
    const char *const paths[] = {file ? file : "", config->token_file, config->tls_cert,
                                 config->tls_key,  config->report_key, config->report_trust};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i][0]) {
            allow_file(sandbox, ruleset, paths[i]);
        }
    }
    if (SANITIZED) {
        allow_folder(ruleset, "/proc"); /* the leak detector */
    }
}

/* A missing protection stops the start only with sandbox = on. */
static enum status missing(const struct config *config, const char *what, const char *why,
                           struct error *err) {
    if (config->sandbox == CHOICE_sandbox_on) {
        return fail(err, ST_ARGUMENT, "--sandbox on: no %s: %s", what, why);
    }
    log_message(LOG_WARNING, "sandbox", "no %s: %s", what, why);
    return ST_OK;
}

enum status sandbox_files(struct sandbox *sandbox, const struct config *config, const char *file,
                          struct error *err) {
    if (config->sandbox == CHOICE_sandbox_off || config->single_process) {
        return ST_OK;
    }
    if (!SANITIZED) { /* the leak detector traces the process */
        prctl(PR_SET_DUMPABLE, 0);
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    unsigned version = landlock_version();
    int ruleset = landlock_create(version, true);
    allow_files(sandbox, ruleset, config, file);
    bool closed = ruleset >= 0 && landlock_enter(ruleset);
    int error = errno;
    sandbox->landlock = closed ? version : 0;
    call_list_make(&sandbox->list, sandbox_fill, sandbox);
    return closed ? ST_OK : missing(config, "Landlock", strerror(error), err);
}

enum status sandbox_calls(struct sandbox *sandbox, const struct config *config, struct error *err) {
    if (config->sandbox == CHOICE_sandbox_off || config->single_process) {
        log_message(LOG_INFO, "sandbox", "off%s",
                    config->single_process ? ": the GPU is in this process" : "");
        return ST_OK;
    }
    const char *why = "";
    sandbox->calls = call_list_enter(&sandbox->list, &why);
    if (!sandbox->calls) {
        return missing(config, "seccomp", why, err);
    }
    log_message(LOG_INFO, "sandbox",
                "system calls by a list of %u instructions; Landlock %u; files are read in: %s",
                sandbox->calls, sandbox->landlock, sandbox->reads ? sandbox->text : "none");
    return ST_OK;
}
