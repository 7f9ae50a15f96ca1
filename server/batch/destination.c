/* SPDX-License-Identifier: MIT */
#include "server/batch/destination.h"

#include <string.h>
#include <unistd.h>

enum { ANYONE = 0666 };

enum status destination_open(struct destination *destination, const char *path, struct error *err) {
    *destination = (struct destination){.fd = -1, .named = path[0] && strcmp(path, "-") != 0};
    destination->output.root = destination->output.partial = -1;
    if (!destination->named) {
        destination->fd = STDOUT_FILENO;
        return isatty(STDOUT_FILENO)
                   ? fail(err, ST_ARGUMENT, "standard output is a terminal: -o OUT names a file")
                   : ST_OK;
    }
    enum status status = output_open(&destination->output, path, true, err);
    if (status == ST_OK && output_begin(&destination->output, 0, ANYONE, &destination->fd, err) != ST_OK) {
        status = ST_ARGUMENT;
    }
    return status;
}

enum status destination_spare(const struct destination *destination, int in, struct error *err) {
    struct stat file;
    return destination->named && fstat(in, &file) == 0 && output_is(&destination->output, "", &file)
               ? fail(err, ST_ARGUMENT, "%s is input and output: it would be replaced",
                      destination->output.single)
               : ST_OK;
}

enum status destination_finish(struct destination *destination, bool whole, struct error *err) {
    enum status status = ST_OK;
    if (destination->named && destination->fd >= 0) {
        status = whole ? output_sync(&destination->output, err) : ST_OK;
        close(destination->fd);
        if (whole && status == ST_OK) {
            status = output_commit(&destination->output, 0, "", err);
        }
        if (!whole || status != ST_OK) {
            output_abandon(&destination->output, 0);
        }
    }
    output_finish(&destination->output);
    destination->fd = -1;
    return status;
}
