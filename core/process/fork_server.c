/* SPDX-License-Identifier: MIT */
#include "core/process/fork_server.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/channel.h"

static _Noreturn void child_main(int socket, const char *name, void (*run)(void *), void *context) {
    prctl(PR_SET_NAME, name);
    dup2(socket, FORK_SERVER_FD);
    closefrom(FORK_SERVER_FD + 1); /* the sockets handed to this program, and more */
    run(context);
    _exit(0);
}

enum status fork_server_start(struct fork_server *server, const char *name, void (*run)(void *context),
                              void *context, struct error *err) {
    int pair[2];
    enum status status = channel_pair(pair, err);
    if (status != ST_OK) {
        return status;
    }
    *server = (struct fork_server){.socket = pair[0], .pid = fork()};
    if (server->pid == 0) {
        child_main(pair[1], name, run, context);
    }
    int error = errno;
    close(pair[1]);
    if (server->pid < 0) {
        close(server->socket);
        return fail(err, ST_BUSY, "cannot fork: %s", strerror(error));
    }
    return ST_OK;
}

void fork_server_end(struct fork_server *server) {
    close(server->socket);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
