/* SPDX-License-Identifier: MIT */
#include "server/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/log.h"
#include "server/sanitizers.h"

/* Rights by the version of the interface that brought them; the header may be older than the kernel. */
static const uint64_t file_rights[] = {
    [1] = (1 << 13) - 1, /* execute, write, read, list, remove, make */
    [2] = 1 << 13,       /* rename between folders */
    [3] = 1 << 14,       /* truncate */
    [5] = 1 << 15,       /* ioctl of devices */
};
enum {
    NET_SINCE = 4,
    NET_CONNECT_TCP = 1 << 1,
    SCOPE_SINCE = 6,
    SCOPE_ABSTRACT_SOCKET = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
};

/* struct landlock_ruleset_attr as of version 6. */
struct ruleset {
    uint64_t file, net, scope;
};

void sandbox_hide(const struct config *config) {
    if (config->sandbox != CHOICE_sandbox_off) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    }
}

static unsigned landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (unsigned)version : 0;
}

/* An empty set of rules: nothing of what it handles is allowed. -1 with errno. */
static int create_ruleset(unsigned version) {
    struct ruleset handled = {.net = version >= NET_SINCE ? NET_CONNECT_TCP : 0,
                              .scope = version >= SCOPE_SINCE ? SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL : 0};
    for (unsigned i = 1; i < sizeof file_rights / sizeof file_rights[0] && i <= version; i++) {
        handled.file |= file_rights[i];
    }
    size_t size = version >= SCOPE_SINCE ? sizeof handled
                  : version >= NET_SINCE ? offsetof(struct ruleset, scope)
                                         : offsetof(struct ruleset, net);
    return (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
}

/* What cannot be opened cannot be read later either. */
static void allow_folder(int ruleset, const char *folder) {
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct landlock_path_beneath_attr beneath = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | (SANITIZED ? LANDLOCK_ACCESS_FS_READ_DIR : 0),
        .parent_fd = fd,
    };
    if (fd >= 0) {
        (void)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
        close(fd);
    }
}

/* Whether the list, of names with ", " between them, has that one. */
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
    if (!is_listed(sandbox->text, folder)) { /* most lie in one */
        snprintf(sandbox->text + used, sizeof sandbox->text - used, "%s%s", used ? ", " : "", folder);
    }
    if (realpath(path, real)) {
        allow_folder(ruleset, dirname(real));
    }
    sandbox->reads = true;
}

static void allow_files(struct sandbox *sandbox, int ruleset, const struct config *config, const char *file) {
    const char *const paths[] = {file ? file : "", config->token_file, config->tls_cert, config->tls_key};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i][0]) {
            allow_file(sandbox, ruleset, paths[i]);
        }
    }
    if (SANITIZED) {
        allow_folder(ruleset, "/proc"); /* the leak detector */
    }
}

/* What is missing stops the start only where it must be there. */
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
    if (!SANITIZED) { /* the leak detector looks into the process */
        prctl(PR_SET_DUMPABLE, 0);
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    unsigned version = landlock_version();
    int ruleset = create_ruleset(version);
    allow_files(sandbox, ruleset, config, file);
    bool closed = ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    int error = errno;
    if (ruleset >= 0) {
        close(ruleset);
    }
    sandbox->landlock = closed ? version : 0;
    sandbox_calls_make(sandbox);
    return closed ? ST_OK : missing(config, "Landlock", strerror(error), err);
}

enum status sandbox_calls(struct sandbox *sandbox, const struct config *config, struct error *err) {
    if (config->sandbox == CHOICE_sandbox_off || config->single_process) {
        log_message(LOG_INFO, "sandbox", "off%s",
                    config->single_process ? ": the GPU is in this process" : "");
        return ST_OK;
    }
    const char *why = "";
    sandbox->calls = sandbox_calls_load(sandbox, &why);
    if (!sandbox->calls) {
        return missing(config, "seccomp", why, err);
    }
    log_message(LOG_INFO, "sandbox", "%u rules for system calls; Landlock %u; files are read in: %s",
                sandbox->calls, sandbox->landlock, sandbox->reads ? sandbox->text : "none");
    return ST_OK;
}
