/* SPDX-License-Identifier: MIT
 * What stays of a request that is over: metrics, and a line in the log. */
#ifndef BLURD_SERVER_ACCESS_LOG_H
#define BLURD_SERVER_ACCESS_LOG_H

struct request;

/* Counts it and logs it; refusals for overload get no more lines than overload_may_log allows. Thread-safe.
 */
void access_log_write(const struct request *request);

#endif
