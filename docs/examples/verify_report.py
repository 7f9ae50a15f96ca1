#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verify_report.py KEYS REPORT ANSWER [INPUT]     checks signature and files without blurd, by PyNaCl, and prints the report;
KEYS has lines of `blurd --report-public-key`"""

import base64
import hashlib
import json
import pathlib
import sys

import nacl.exceptions
import nacl.signing

TYPE = 'application/vnd.blurd.redaction+json'


def verify(keys, envelope, answer, original=None):
    """Returns the report, or raises ValueError."""
    envelope = json.loads(envelope)
    text = base64.b64decode(envelope['payload'], validate=True)
    signature, = envelope['signatures']
    trusted = dict(line.split() for line in keys.splitlines() if line and not line.startswith('#'))
    key = nacl.signing.VerifyKey(base64.b64decode(trusted[signature['keyid']]))
    if envelope['payloadType'] != TYPE:
        raise ValueError('it is no report')
    key.verify(b'DSSEv1 %d %s %d %s' % (len(TYPE), TYPE.encode(), len(text), text), base64.b64decode(signature['sig'], validate=True))
    report = json.loads(text)
    for name, data in (('answer', answer), ('input', original)):
        if data is not None and hashlib.sha256(data).hexdigest() != report[name]['sha256']:
            raise ValueError(f'the report is about another {name}')
    return report


if __name__ == '__main__':
    try:
        print(json.dumps(verify(pathlib.Path(sys.argv[1]).read_text(), *(pathlib.Path(name).read_bytes() for name in sys.argv[2:])), indent=1))
    except (ValueError, KeyError, nacl.exceptions.BadSignatureError) as error:
        sys.exit(f'not verified: {error!r}')
