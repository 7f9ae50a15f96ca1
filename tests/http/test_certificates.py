# SPDX-License-Identifier: MIT
"""Certificates and keys of a daemon with TLS: which are taken, and how they are replaced while it runs."""

import concurrent.futures
import os
import signal

import pytest

import certificates
import daemon
import pictures
from certificates import Pair, Secure, answer, context, launch, openssl

pytestmark = certificates.needed


@pytest.fixture(scope='module')
def others(tmp_path_factory):
    folder = tmp_path_factory.mktemp('others')
    return {'two': Pair(folder, 'two', rsa=True), 'expired': Pair(folder, 'expired', expired=True)}


@pytest.mark.parametrize('case,says', (
    ('no key', 'tls_key is empty'), ('no certificate', 'tls_cert is empty'), ('wrong key', 'is not that of the certificate'),
    ('expired', 'has expired'), ('missing', 'cannot read the certificate'), ('garbage', 'no certificate chain'),
    ('key in place of certificate', 'no certificate chain'), ('certificate in place of key', 'no private key')))
def test_a_start_that_cannot_be(pair, others, tmp_path, case, says):
    garbage = tmp_path / 'garbage'
    garbage.write_bytes(bytes(range(256)))
    certificate, key = {
        'no key': (pair.certificate, ''), 'no certificate': ('', pair.key), 'wrong key': (pair.certificate, others['two'].key),
        'expired': (others['expired'].certificate, others['expired'].key), 'missing': (tmp_path / 'none', pair.key),
        'garbage': (garbage, pair.key), 'key in place of certificate': (pair.key, pair.key),
        'certificate in place of key': (pair.certificate, pair.certificate)}[case]
    code, _, log = daemon.run('--port', 0, '--gpus', 'none', '--tls-cert', certificate, '--tls-key', key)
    assert code == 78 and says in log


@pytest.mark.parametrize('which,what', (('certificate', 'certificate'), ('key', 'key')))
@pytest.mark.parametrize('kind', ('pipe', 'large'))
def test_what_cannot_be_read_to_its_end(pair, tmp_path, which, what, kind):
    path = tmp_path / kind
    os.mkfifo(path) if kind == 'pipe' else path.write_bytes(b'-' * (1 << 20) + b'-')
    files = {'certificate': pair.certificate, 'key': pair.key, which: path}
    code, _, log = daemon.run('--port', 0, '--gpus', 'none', '--tls-cert', files['certificate'], '--tls-key', files['key'])
    says = {'pipe': 'it is not a regular file', 'large': 'it is larger than 1048576 bytes'}[kind]
    assert code == 78 and f'cannot read the {what} file {path}: {says}' in log


def reload(own):
    before = own.metrics()
    own.signal(signal.SIGHUP)
    names = 'blurd_reloads_total', 'blurd_reload_failures_total'
    changed = daemon.eventually(lambda: [n for n in names if own.metrics()[n] != before[n]])
    return changed == [names[0]]


def test_certificates_are_replaced(tmp_path, others):
    used = Pair(tmp_path, 'used')
    first = context()
    with launch(used) as own:
        def name_now(pair):
            with Secure(own.port, 20 * daemon.SLOW, context(pair)) as one:
                return one.name()
        with Secure(own.port, 20 * daemon.SLOW, first) as old:
            assert answer(old).status == 200
            original = Pair(tmp_path, 'copy')
            original.certificate.write_bytes(used.certificate.read_bytes())
            original.key.write_bytes(used.key.read_bytes())
            for bad in (others['expired'], None):
                if bad:
                    used.replace(bad)
                else:  # a certificate whose key has not come yet
                    used.certificate.write_bytes(others['two'].certificate.read_bytes())
                assert not reload(own)
                assert own.wait_for_line('nothing is changed')
                assert name_now(original) == 'used'
            used.replace(others['two'])
            assert reload(own) and name_now(others['two']) == 'two'
            assert answer(old).status == 200, 'a connection from before goes on'


@pytest.mark.parametrize('which', ('certificate', 'key'))
def test_a_pipe_in_place_of_a_file(tmp_path, which):
    """A reload does not wait until somebody writes to it."""
    used = Pair(tmp_path, 'used')
    using, path = context(used), getattr(used, which)
    with launch(used) as own:
        path.unlink()
        os.mkfifo(path)
        assert not reload(own)
        assert own.wait_for_line(f'nothing is changed: cannot read the {which} file .*: it is not a regular file')
        with Secure(own.port, 20 * daemon.SLOW, using) as one:
            assert answer(one).status == 200


def test_reloads_under_load(tmp_path, others):
    """Handshakes while certificates change: each gets one or the other, whole."""
    used, other = Pair(tmp_path, 'used'), others['two']
    first = Pair(tmp_path, 'first')
    with launch(used) as own:
        def work(_):
            with Secure(own.port, 30 * daemon.SLOW, context()) as one:
                return answer(one, pictures.small_png()).status
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            done = [pool.submit(work, i) for i in range(100)]
            for i in range(10):
                used.replace(first if i % 2 else other)
                assert reload(own)
            assert {each.result() for each in done} == {200}


def test_openssl_takes_the_chain(tmp_path, pair):
    """Two certificates in the file, the second the first one's issuer."""
    ca, leaf = Pair(tmp_path, 'ca'), Pair(tmp_path, 'leaf')
    request, signed = tmp_path / 'leaf.csr', tmp_path / 'signed.crt'
    openssl('req', '-new', '-key', leaf.key, '-subj', '/CN=leaf', '-out', request)
    openssl('x509', '-req', '-in', request, '-CA', ca.certificate, '-CAkey', ca.key, '-CAcreateserial', '-days', 2, '-out', signed)
    leaf.certificate.write_bytes(signed.read_bytes() + ca.certificate.read_bytes())
    using = context(ca)
    using.check_hostname = False
    with launch(leaf) as own, Secure(own.port, 20 * daemon.SLOW, using) as one:
        assert one.name() == 'leaf' and answer(one).status == 200
