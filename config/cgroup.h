/* SPDX-License-Identifier: MIT
 * The control groups that this process is in, by their folders: each of them limits. */
#ifndef BLURD_CONFIG_CGROUP_H
#define BLURD_CONFIG_CGROUP_H

/* Called with the path of a folder in which the files of the group are, if it has any. */
typedef void cgroup_visit(const char *folder, void *context);

/* Visits the groups of a controller ("cpu", "memory"), of version 1 and 2, the process's own and all above. A
 * folder may come twice. */
void cgroup_each(const char *controller, cgroup_visit *visit, void *context);

#endif
