# SPDX-License-Identifier: MIT
"""The form of every error answer (RFC 9457)."""

import json

TITLES = {  # slug -> status
    'bad-parameter': 400, 'bad-request': 400, 'corrupt-image': 400, 'unauthorized': 401, 'not-found': 404,
    'method-not-allowed': 405, 'timeout': 408, 'body-too-large': 413, 'target-too-long': 414,
    'unsupported-image': 415, 'limit-exceeded': 422, 'no-region': 422, 'not-verified': 422, 'headers-too-large': 431, 'transfer-encoding': 501,
    'overloaded': 503, 'too-many-requests': 429}
PREFIX = 'urn:blurd:problem:'


def check_problem(answer, slug, parameter=None, says=None):
    """Works on answers of `requests` and of wire.py; returns the body."""
    raw = hasattr(answer, 'header')
    status = answer.status if raw else answer.status_code
    body = answer.body if raw else answer.content
    header = answer.header if raw else answer.headers.get
    assert status == TITLES[slug], (status, body[:300])
    assert header('Content-Type') == 'application/problem+json'
    assert header('Cache-Control') == 'no-store'
    assert header('X-Request-Id')
    problem = json.loads(body)
    assert problem['type'] == PREFIX + slug, problem
    assert problem['status'] == status and problem['title']
    assert problem['detail'] and '\n' not in problem['detail'], problem
    assert problem['request_id'] == header('X-Request-Id')
    assert problem.get('parameter') == parameter, problem
    assert set(problem) <= {'type', 'title', 'status', 'detail', 'parameter', 'request_id'}
    if says:
        assert says in problem['detail'], problem
    return problem


def check_late(ask, tries=30):
    """`ask` sends work that outlasts the time limit by itself: that is 422. Where other programs had the cores meanwhile, and took more
    than a tenth of the limit, it is 503, and is asked again. Returns the last answer."""
    for _ in range(tries):
        answer = ask()
        if answer.status_code != TITLES['overloaded']:
            check_problem(answer, 'limit-exceeded', says='longer than the time limit')
            break
        check_problem(answer, 'overloaded')
    return answer
