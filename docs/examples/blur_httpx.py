#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""blur_httpx.py PHOTO RESULT [SIGMA]     blurs a picture, asynchronously; BLURD_URL names the daemon"""

import asyncio
import os
import pathlib
import sys

import httpx

URL = os.environ.get('BLURD_URL', 'http://localhost:8080')


async def blur(client, picture, sigma):
    for _ in range(6):
        answer = await client.post('/blur', content=picture, params={'sigma': sigma})
        if answer.status_code != 503:
            break
        await asyncio.sleep(int(answer.headers.get('Retry-After', 1)))  # overloaded: later
    if answer.status_code != 200:
        problem = answer.json()
        sys.exit(f'{problem["title"]}: {problem["detail"]} (request {problem["request_id"]})')
    return answer.content


async def main():
    photo, result, *sigma = sys.argv[1:]
    async with httpx.AsyncClient(base_url=URL, timeout=60) as client:
        pathlib.Path(result).write_bytes(await blur(client, pathlib.Path(photo).read_bytes(), *sigma or ['8']))


asyncio.run(main())
