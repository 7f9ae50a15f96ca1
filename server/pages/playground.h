/* SPDX-License-Identifier: MIT
 * The playground: one page to try the filters with, made of server/pages/playground/ by the build and kept in
 * the binary, plain and compressed. It loads nothing: the policy that goes with it allows its own style and
 * script by their hashes, pictures that it made itself, and requests to where it came from. */
#ifndef BLURD_SERVER_PAGES_PLAYGROUND_H
#define BLURD_SERVER_PAGES_PLAYGROUND_H

#include <stdbool.h>

struct request;

/* Whether the client would rather have the page than plain text, and may. */
bool playground_wanted(const struct request *request);

/* Answers with the page: compressed if the client takes gzip, without a body (304) if it has the page. It
 * needs no token; what it then asks for does. */
void playground_answer(struct request *request);

#endif
