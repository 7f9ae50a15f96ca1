/* SPDX-License-Identifier: MIT
 * blurd --benchmark: how many pictures this machine blurs in a second, or does a job with, over HTTP, in half
 * a minute. */
#ifndef BLURD_SERVER_BENCHMARK_BENCHMARK_H
#define BLURD_SERVER_BENCHMARK_BENCHMARK_H

#include <stdio.h>

#include "config/config.h"

/* Starts a daemon with the options argv[1] to argv[first - 1] without --benchmark, loads it with the files
 * argv[first] to argv[argc - 1], or with pictures of its own, and writes a table to `out`. The first word is
 * a job if it begins with the name of an operation. `config` is made of the same options. ST_ARGUMENT: a file
 * is no picture, the daemon does not take the job, or the configuration asks clients for TLS or a token; else
 * as bench_load_run. Blocks for the time of the measurement. Before any other thread of the process. */
enum status benchmark_run(const struct config *config, int argc, char *const *argv, int first, FILE *out,
                          struct error *err);

#endif
