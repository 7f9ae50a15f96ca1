/* SPDX-License-Identifier: MIT
 * SIGHUP: the configuration and the token file are read again. */
#ifndef BLURD_SERVER_PROCESS_RELOAD_H
#define BLURD_SERVER_PROCESS_RELOAD_H

struct service;
struct http;

/* What the configuration was made of at the start. */
struct command {
    int argc;
    char *const *argv;
};

/* Reads everything anew. When all of it is good, requests that begin from now on see it, but
 * for the options that need a restart: those that differ are named in the log. Else all
 * stays as it was, with a log line and a metric. */
void reload(struct service *service, struct http *const https[2], const struct command *command);

#endif
