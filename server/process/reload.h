/* SPDX-License-Identifier: MIT
 * SIGHUP: reads the configuration, the token file and the certificate again. */
#ifndef BLURD_SERVER_PROCESS_RELOAD_H
#define BLURD_SERVER_PROCESS_RELOAD_H

struct service;
struct http;

/* The arguments of the process. */
struct command {
    int argc;
    char *const *argv;
};

/* Reads the configuration again. If it is valid, requests that begin from now on use it; options that need a
 * restart keep their value, and the log names each one that differs. If it is invalid, nothing changes; a log
 * line and a metric tell. */
void reload(struct service *service, struct http *const https[2], const struct command *command);

#endif
