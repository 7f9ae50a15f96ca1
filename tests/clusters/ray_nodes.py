# SPDX-License-Identifier: MIT
"""A cluster of Ray with two nodes on this host, each with its own processes: prints its address, and ends with standard input.

RAY_TMPDIR is the folder of its files; sockets are in it, so that its path is short."""

import sys

from ray.cluster_utils import Cluster

MEMORY = 100 << 20  # of each node's object store


def main():
    node = {'num_cpus': 2, 'object_store_memory': MEMORY, 'include_dashboard': False, 'node_ip_address': '127.0.0.1'}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    try:
        cluster.add_node(**node)
        cluster.wait_for_nodes()
        print(cluster.address, flush=True)
        sys.stdin.read()
    finally:
        cluster.shutdown()


main()
