/* SPDX-License-Identifier: MIT
 * The playground: one page to try the filters with, built from server/pages/playground/ and embedded in the
 * binary, plain and compressed. It loads nothing: its Content-Security-Policy allows its own style and script
 * by their hashes, pictures that it made itself, and requests to its own origin. */
#ifndef BLURD_SERVER_PAGES_PLAYGROUND_H
#define BLURD_SERVER_PAGES_PLAYGROUND_H

#include <stdbool.h>

struct request;

/* Whether the option allows the page and the client prefers HTML to plain text. */
bool playground_wanted(const struct request *request);

/* Answers with the page: compressed if the client accepts gzip, and with 304 if the client has it. The page
 * needs no token; the requests that it sends do. */
void playground_answer(struct request *request);

#endif
