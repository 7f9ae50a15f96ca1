/* SPDX-License-Identifier: MIT
 * The processes that start others for the daemon (GPU engines and processes of isolated codecs), and the one
 * that sends spans. */
#ifndef BLURD_SERVER_PROCESS_SPAWNERS_H
#define BLURD_SERVER_PROCESS_SPAWNERS_H

struct service;

/* Forks the processes that the configuration needs; with single_process no spawners. To be called while there
 * is one thread. `arguments` are the program's own. Without a spawner its work is done by the CPU, or in this
 * process. */
void spawners_fork(struct service *service, char *const *arguments);

/* Ends them. All workers and backends must have ended. */
void spawners_end(struct service *service);

#endif
