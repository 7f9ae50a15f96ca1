/* SPDX-License-Identifier: MIT
 * Receives bodies straight into their slots. libmicrohttpd reads a socket into its own buffer, 32 KiB at a
 * time, and has no option to read elsewhere; the copy from there was an eighth of a request's CPU time
 * (docs/adr/0051-bodies-land-in-their-slots.md). So the daemon defines `recv`, which the dynamic linker gives
 * to the library in place of libc's. For a socket with an open destination, it receives to the destination,
 * and tells the library how many bytes came, as if they were in its buffer. Bytes behind the destination's
 * end do go to the buffer. The library counts them and passes the buffer on without a look at it, which holds
 * for bodies that have a Content-Length and no TLS. The same call hides the end of the stream (`answers`).
 * The library's manual promises none of this, so http_prepare tries it at the start. Where it fails,
 * bodies are copied, and a client that closes its side before the answer gets none.
 *
 * The event thread of a connection is the only one that receives from its socket and uses its direct. */
#ifndef BLURD_SERVER_HTTP_DIRECT_RECEIVE_H
#define BLURD_SERVER_HTTP_DIRECT_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct direct_receive {
    uint8_t *to;     /* where the next byte goes that the library is told of */
    size_t room;     /* bytes from there that may be written; 0: closed */
    size_t ahead;    /* bytes received of which the library has not been told */
    size_t reported; /* bytes of which it has been told since direct_receive_take */
    bool answers; /* a whole request waits for its answer: the library is not told of the stream's end, since
                   * it  would close the connection of a client that only has nothing more to say */
};

/* With `refuse`, direct_receive_set does nothing from now on. Call it before other threads use the module. */
void direct_receive_refuse(bool refuse);

/* Connects the destination with the socket, or disconnects the socket with NULL. Sockets of high numbers get
 * none, and their bodies are copied. */
void direct_receive_set(int fd, struct direct_receive *direct);

/* Lets the next `room` bytes of the socket go to `to`. The library's buffer must be empty, and the memory
 * must stay valid until direct_receive_close or until all bytes were taken. With bytes ahead, `to` must be
 * where the first of them is, and `room` must cover them. */
void direct_receive_open(struct direct_receive *direct, uint8_t *to, size_t room);

/* Nothing goes to the memory from now on. The library is still told how many bytes are ahead; what they are
 * is lost. */
void direct_receive_close(struct direct_receive *direct);

/* Returns of how many bytes the library has been told since the last call. */
size_t direct_receive_take(struct direct_receive *direct);

#endif
