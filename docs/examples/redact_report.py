#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redact_report.py PHOTO RESULT REPORT [DETECTORS]     hides what is found, and keeps the signed report; BLURD_URL names the daemon"""

import email
import email.policy
import os
import pathlib
import sys

import requests

URL = os.environ.get('BLURD_URL', 'http://localhost:8080')


def parts(answer):
    """{name: bytes} of an answer in parts."""
    head = f'Content-Type: {answer.headers["Content-Type"]}\r\n\r\n'.encode()
    message = email.message_from_bytes(head + answer.content, policy=email.policy.HTTP)
    return {part.get_param('name', header='Content-Disposition'): part.get_payload(decode=True) for part in message.iter_parts()}


def main():
    photo, result, report, *detectors = sys.argv[1:]
    answer = requests.post(f'{URL}/redact', data=pathlib.Path(photo).read_bytes(), timeout=60,
                           params={'detect': ''.join(detectors) or 'faces,text', 'report': 'true'})
    if answer.status_code != 200:
        sys.exit(answer.json()['detail'])
    found = parts(answer)
    pathlib.Path(result).write_bytes(found['answer'])
    pathlib.Path(report).write_bytes(found['report'])


if __name__ == '__main__':
    main()
