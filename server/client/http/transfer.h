/* SPDX-License-Identifier: MIT
 * Sends one file to a daemon and writes the answer to another file. */
#ifndef BLURD_SERVER_CLIENT_HTTP_TRANSFER_H
#define BLURD_SERVER_CLIENT_HTTP_TRANSFER_H

#include "server/client/http/answer_head.h"
#include "server/client/http/client_socket.h"
#include "server/evidence/digest.h"

enum { TRANSFER_REASON_MAX = 40, TRANSFER_DETAIL_MAX = 320 };

/* The same for all files. Strings are borrowed. */
struct transfer_job {
    const char *target; /* of POST: "/redact?detect=faces" */
    const char *token;  /* "": none */
    bool hash;          /* the digest of the file is wanted */
};

enum transfer_verdict {
    TRANSFER_DONE,
    TRANSFER_AGAIN,  /* cut, or too busy: a later try may do it */
    TRANSFER_FAILED, /* this file cannot be done */
    TRANSFER_BROKEN, /* no file can: the output cannot be written, or the daemon is none */
};

struct transfer_result {
    struct answer_head head;          /* of the last answer; status 0: there was none */
    bool hashed;                      /* the digest is known: all was sent once */
    struct digest digest;             /* of the file */
    uint64_t bytes;                   /* of the answer, in the output */
    char reason[TRANSFER_REASON_MAX]; /* of a failure: "corrupt-image", "cut" */
    char detail[TRANSFER_DETAIL_MAX];
    struct buf report; /* the signed envelope of report=true; empty: none. transfer_result_finish frees it */
};

/* Checks the job: asks the daemon whether it would take a picture with these parameters. ST_ARGUMENT with
 * its sentence if not; ST_BUSY if it cannot be asked. */
enum status transfer_check(const struct transfer_job *job, const struct daemon_address *address,
                           uint8_t *buffer, struct error *err);

/* Asks the daemon how many requests it wants at a time (GET /version). ST_BUSY: it does not say. */
enum status transfer_ask_in_flight(const struct daemon_address *address, uint8_t *buffer, unsigned *count,
                                   struct error *err);

/* Sends `size` bytes of the file `input` from its start, and writes what a successful answer holds to the
 * file `output`, which begins anew. Opens the socket where it is closed, and leaves it open for the next
 * request if it can be used. `result` is zero-initialised or of an earlier try. Blocks. */
enum transfer_verdict transfer_try(const struct transfer_job *job, struct client_socket *socket,
                                   const struct daemon_address *address, int input, uint64_t size, int output,
                                   struct transfer_result *result);

void transfer_result_finish(struct transfer_result *result);

#endif
