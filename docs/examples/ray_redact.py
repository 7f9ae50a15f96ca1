#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ray_redact.py IN OUT [--job 'redact?detect=faces']     hides what the job says in each picture of IN, on a cluster of Ray

IN is a folder of parquet files with the columns path and bytes, of tars (WebDataset's too) or of pictures. OUT is a new folder of
parquet files with path, bytes, status and error: what failed has an empty picture. At the end each failed row is printed, and
the exit status is 1 if there are any. All nodes see both folders, and have `blurd` in PATH, or where $BLURD says. $BLURD_… of the
caller are its options there. Ray keeps pictures unencrypted in its temporary folder when they do not fit into memory."""

import argparse
import itertools
import os
import pathlib
import sys

os.environ['RAY_USAGE_STATS_ENABLED'] = '0'  # before ray is there: nothing is told to its makers

import numpy  # noqa: E402
import ray  # noqa: E402
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: E402

import node_daemon  # noqa: E402
import shards  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MODULES = [str(HERE / name) for name in ('node_daemon.py', 'shards.py')]

BATCH, GROUP = 16, 64  # pictures that a node gets at a time, and that a file has in a row group


class Redact:
    """One on each node, which asks the daemon there."""

    def __init__(self, job):
        context = ray.get_runtime_context()
        self.client = node_daemon.Client(f'{context.get_job_id()}-{context.get_node_id()[:16]}', job)

    def __call__(self, batch):
        done = self.client.redact(batch['bytes'])
        pictures, statuses, errors = zip(*done)
        # Of a list of bytes numpy would make strings that end at the first zero.
        column = numpy.empty(len(done), dtype=object)
        column[:] = pictures
        return {'path': batch['path'], 'bytes': column, 'status': numpy.array(statuses, numpy.int32), 'error': numpy.array(errors, dtype=object)}


def pictures(folder):
    """The dataset with the columns path and bytes."""
    if shards.has_parquet(folder):
        return ray.data.read_parquet(folder).select_columns(['path', 'bytes'])
    names = ray.data.from_items([{'name': name} for name in shards.files(folder)])
    return names.flat_map(lambda row: ({'path': path, 'bytes': data} for path, data in shards.read(folder, row['name'])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('source', metavar='IN', type=shards.absolute)
    parser.add_argument('target', metavar='OUT', type=shards.absolute)
    parser.add_argument('--job', default='redact?detect=faces')
    given = parser.parse_args()
    if os.path.exists(given.target):
        sys.exit(f'{given.target} is there already')
    ray.init(log_to_driver=False, runtime_env={'py_modules': MODULES, 'env_vars': {name: value for name, value in os.environ.items() if name.startswith('BLURD')}})
    context = ray.data.DataContext.get_current()
    context.max_map_retries, context.retried_map_errors = 3, ['no daemon']  # on a node that cannot start one
    nodes = [node['NodeID'] for node in ray.nodes() if node['Alive']]
    turns = itertools.cycle(nodes)  # an actor on each, unless one is lost
    # An actor without any CPU would be put anywhere. With this part of one, a node needs two CPUs, as reading takes a whole one.
    rows = pictures(given.source).repartition(target_num_rows_per_block=BATCH).map_batches(
        Redact, fn_constructor_args=(given.job,), batch_size=BATCH, batch_format='numpy', num_cpus=0.1,
        compute=ray.data.ActorPoolStrategy(size=len(nodes)),
        ray_remote_args_fn=lambda: {'scheduling_strategy': NodeAffinitySchedulingStrategy(next(turns), soft=True)})
    rows.write_parquet(given.target, schema=shards.ROWS, compression='none', use_dictionary=False, row_group_size=GROUP, min_rows_per_file=GROUP)
    shards.finish(given.target)


if __name__ == '__main__':
    main()
