/* SPDX-License-Identifier: MIT
 * The frames of a series between their arrival and their answers, in order. Each is a request of its own
 * (server/request.h), with the parameters of the series, and takes the usual way through queue and worker. At
 * most overload_in_flight of them are in progress; until one has left, no more is read. So a series takes no
 * more memory than as many single requests.
 *
 * A frame that the queue refuses for load is submitted again, until it has waited as long as a request may.
 * The first frame that fails is the last one that is read.
 *
 * All functions are called on the event thread of the connection. */
#ifndef BLURD_SERVER_SERIES_FRAMES_H
#define BLURD_SERVER_SERIES_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct request;
struct request_transport;

/* For the series, which it uses until frames_end. Workers reach the connection of a frame
 * by `transport` and `connection`. NULL without memory. */
struct frames *frames_create(struct request *series, const struct request_transport *transport,
                             void *connection);

/* No worker may have a frame. NULL is allowed. */
void frames_destroy(struct frames *frames);

/* Reads the next bytes of the series. Returns how many it has taken: fewer than `size` when it is full, or
 * when no more frames are wanted. */
size_t frames_take(struct frames *frames, const uint8_t *data, size_t size);

/* The series is complete; or, with `early`, no more is wanted of it, and a frame that has not arrived
 * completely is dropped. */
void frames_end(struct frames *frames, bool early);

/* Whether frames_take would take nothing now. */
bool frames_are_full(const struct frames *frames);

/* A worker has given the frame back, with its answer or a refusal. */
void frames_note_answer(struct frames *frames, struct request *frame);

/* Submits frames that have arrived, can be answered or were refused, to be called after each change. Returns
 * whether some are refused for now: call it again soon. */
bool frames_retry(struct frames *frames);

/* The first frame if it is answered; NULL: it is not, or there is none. The answer may be a problem. */
struct request *frames_first(const struct frames *frames);

/* Destroys the first frame. */
void frames_drop_first(struct frames *frames);

/* Whether no more is read. */
bool frames_have_ended(const struct frames *frames);

/* Whether frames have arrived that are not sent; whether one of them goes on without what follows; whether
 * workers have some. */
bool frames_are_left(const struct frames *frames);
bool frames_are_moving(const struct frames *frames);
bool frames_are_with_workers(const struct frames *frames);

#endif
