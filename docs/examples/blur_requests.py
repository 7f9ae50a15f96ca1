#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""blur_requests.py PHOTO RESULT [SIGMA]     blurs a picture; BLURD_URL names the daemon"""

import os
import pathlib
import sys
import time

import requests

URL = os.environ.get('BLURD_URL', 'http://localhost:8080')


def blur(session, picture, sigma):
    for _ in range(6):
        answer = session.post(f'{URL}/blur', data=picture, params={'sigma': sigma}, timeout=60)
        if answer.status_code != 503:
            break
        time.sleep(int(answer.headers.get('Retry-After', 1)))  # overloaded: later
    if answer.status_code != 200:
        problem = answer.json()
        sys.exit(f'{problem["title"]}: {problem["detail"]} (request {problem["request_id"]})')
    return answer.content


def main():
    photo, result, *sigma = sys.argv[1:]
    with requests.Session() as session:  # one connection for all pictures
        pathlib.Path(result).write_bytes(blur(session, pathlib.Path(photo).read_bytes(), *sigma or ['8']))


main()
