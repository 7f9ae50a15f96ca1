/* SPDX-License-Identifier: MIT */
#include "server/http/direct_receive.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { SOCKETS_MAX = 1 << 16 }; /* addresses, of which only those in use take memory */

static struct direct_receive *of_socket[SOCKETS_MAX]; /* by descriptor */
static bool refused;

void direct_receive_refuse(bool refuse) {
    refused = refuse;
}

void direct_receive_set(int fd, struct direct_receive *direct) {
    if (fd >= 0 && fd < SOCKETS_MAX && !refused) {
        of_socket[fd] = direct;
    }
}

void direct_receive_open(struct direct_receive *direct, uint8_t *to, size_t room) {
    direct->to = to;
    direct->room = room;
}

void direct_receive_close(struct direct_receive *direct) {
    direct->room = direct->ahead;
}

size_t direct_receive_take(struct direct_receive *direct) {
    size_t reported = direct->reported;
    direct->reported = 0;
    return reported;
}

static ssize_t receive(int fd, uint8_t *to, size_t size, int flags) {
    return recvfrom(fd, to, size, flags, NULL, NULL);
}

/* Receives as much as there is room for, in one call, and reports at most `size` bytes of it. The end of the
 * stream is reported when nothing is ahead any more. An error that comes with bytes ahead is lost, and the
 * socket reports its end after that. The library takes a read of less than `size` bytes for the last of what
 * the socket has, so what follows the destination's end is read to its place in the buffer. */
static ssize_t receive_direct(struct direct_receive *direct, int fd, uint8_t *buffer, size_t size,
                              int flags) {
    if (direct->ahead < size && direct->ahead < direct->room) {
        ssize_t got = receive(fd, direct->to + direct->ahead, direct->room - direct->ahead, flags);
        if (got <= 0 && direct->ahead == 0) {
            return got;
        }
        direct->ahead += got > 0 ? (size_t)got : 0;
    }
    size_t reported = direct->ahead < size ? direct->ahead : size;
    direct->to += reported;
    direct->room -= reported;
    direct->ahead -= reported;
    direct->reported += reported;
    ssize_t after = direct->room == 0 ? receive(fd, buffer + reported, size - reported, flags) : 0;
    return (ssize_t)reported + (after > 0 ? after : 0);
}

/* In place of libc's. */
__attribute__((visibility("default"))) ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    struct direct_receive *direct = fd >= 0 && fd < SOCKETS_MAX ? of_socket[fd] : NULL;
    if (direct && direct->room > 0) {
        return receive_direct(direct, fd, buffer, size, flags);
    }
    ssize_t got = receive(fd, buffer, size, flags);
    if (got == 0 && direct && direct->answers) {
        errno = EAGAIN;
        return -1;
    }
    return got;
}
