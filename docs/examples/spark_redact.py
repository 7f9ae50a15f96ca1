#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spark_redact.py IN OUT [--job 'redact?detect=faces']     hides what the job says in each picture of IN, on a cluster of Spark

IN is a folder of parquet files with the columns path and bytes, of tars (WebDataset's too) or of pictures. OUT is a new folder of
parquet files with path, bytes, status and error: what failed has an empty picture. At the end each failed row is printed, and
the exit status is 1 if there are any. All nodes see both folders, and have `blurd` in PATH, or where $BLURD says. $BLURD_… of the
caller are its options there. The master comes from spark-submit, or from $PYSPARK_SUBMIT_ARGS."""

import argparse
import os
import sys

os.environ.setdefault('PYSPARK_PYTHON', sys.executable)  # workers take python3 of their PATH otherwise

import pandas  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import node_daemon  # noqa: E402
import shards  # noqa: E402

BATCH, GROUP = 16, 64  # pictures that a worker gets at a time, and that a file has in a row group
INPUT = 'path string, bytes binary'
OUTPUT = INPUT + ', status int, error string'
WRITTEN = {'compression': 'none', 'parquet.enable.dictionary': 'false', 'parquet.block.row.count.limit': GROUP}


def redact(name, job):
    def each(batches):
        client = node_daemon.client(name, job)
        for batch in batches:
            pictures, statuses, errors = zip(*client.redact(map(bytes, batch['bytes'])))
            yield pandas.DataFrame({'path': batch['path'], 'bytes': pictures, 'status': statuses, 'error': errors})
    return each


def reader(folder):
    def read(batches):
        for batch in batches:
            for name in batch['name']:
                for path, data in shards.read(folder, name):
                    yield pandas.DataFrame({'path': [path], 'bytes': [data]})
    return read


def pictures(spark, folder):
    """The frame with the columns path and bytes."""
    if shards.has_parquet(folder):
        return spark.read.parquet(folder).select('path', 'bytes')
    names = [(name,) for name in shards.files(folder)]
    return spark.createDataFrame(names, 'name string').repartition(min(len(names), 1000)).mapInPandas(reader(folder), INPUT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('source', metavar='IN', type=shards.absolute)
    parser.add_argument('target', metavar='OUT', type=shards.absolute)
    parser.add_argument('--job', default='redact?detect=faces')
    given = parser.parse_args()
    if os.path.exists(given.target):
        sys.exit(f'{given.target} is there already')
    builder = SparkSession.builder.appName('blurd').config('spark.sql.execution.arrow.maxRecordsPerBatch', BATCH)
    for name in os.environ:
        if name.startswith('BLURD'):
            builder = builder.config(f'spark.executorEnv.{name}', os.environ[name])
    spark = builder.getOrCreate()
    for module in (node_daemon, shards):
        spark.sparkContext.addPyFile(module.__file__)
    rows = pictures(spark, given.source).mapInPandas(redact(spark.sparkContext.applicationId, given.job), OUTPUT)
    rows.write.options(**WRITTEN).parquet(given.target)
    spark.stop()
    shards.finish(given.target)


if __name__ == '__main__':
    main()
