# SPDX-License-Identifier: MIT
"""TLS on the port: the same answers, and deadlines for handshakes, too."""

import concurrent.futures
import pathlib
import socket
import ssl
import subprocess
import time
import warnings

import pytest

import certificates
import daemon
import pictures
import wire
from certificates import BODY, Secure, answer, context, launch
from problems import check_problem

pytestmark = certificates.needed
LARGE = pictures.jpeg(pictures.noise(700, 500))  # as PNG the answer has a megabyte
HALF_HELLO = bytes.fromhex('16030100f8010000f40303') + bytes(40)
OLD = (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)


@pytest.fixture(scope='module')
def shared_tls(pair):
    with launch(pair, '--max-body', '1MiB') as own:
        yield own


@pytest.fixture
def secure(shared_tls, pair):
    """secure(): a new connection to the shared daemon."""
    opened = []

    def connect(**more):
        opened.append(Secure(shared_tls.port, 30 * daemon.SLOW, context(pair), **more))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()
    assert shared_tls.process.poll() is None


# --- the same as without ---------------------------------------------------------------------
@pytest.mark.parametrize('version', (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3))
def test_the_same_picture(shared_tls, pair, server, version):
    with Secure(shared_tls.port, 30 * daemon.SLOW, context(pair, version, version)) as one:
        found = [answer(one) for _ in range(3)]  # on one connection
    assert [each.status for each in found] == [200] * 3
    assert {each.body for each in found} == {server.post('/blur?sigma=3', BODY).content}


def test_many_at_once(shared_tls, pair):
    def work(_):
        with Secure(shared_tls.port, 60 * daemon.SLOW, context(pair)) as one:
            return [answer(one).status for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        assert [status for found in pool.map(work, range(48)) for status in found] == [200] * 192


def test_a_body_in_small_pieces(secure):
    one = secure()
    message = wire.message('POST', '/blur?sigma=3', BODY)
    for i in range(0, len(message), 977):
        one.send(message[i:i + 977])
    assert one.answer().status == 200


def test_pipelined(secure):
    """No poll reports bytes that the TLS library has already decrypted."""
    one, count = secure(), 60
    one.send(wire.message('POST', '/blur?sigma=1', pictures.small_png()) * count)
    assert [one.answer().status for _ in range(count)] == [200] * count


def test_100_continue(secure):
    one = secure()
    one.send(wire.message('POST', '/blur?sigma=3', headers=['Expect: 100-continue', f'Content-Length: {len(BODY)}'], length=False))
    assert one.answer().status == 100
    one.send(BODY)
    assert one.answer().status == 200


@pytest.mark.parametrize('how', ('declared', 'far too long', 'chunked'))
def test_413_arrives(secure, how):
    for _ in range(20):
        one, body = secure(), bytes(1500 << 10 if how != 'far too long' else 9 << 20)
        if how == 'chunked':
            one.send(wire.message('POST', '/blur?sigma=3', headers=['Transfer-Encoding: chunked'], length=False) + wire.chunked(body))
        else:
            one.send(wire.message('POST', '/blur?sigma=3', body))
        check_problem(one.answer(), 'body-too-large')


def test_a_slow_reader(secure, server):
    """More than the socket's buffers hold, taken in small pieces."""
    one, target = secure(receive_buffer=4096), '/blur?sigma=0.3&format=png'
    one.send(wire.message('POST', target, LARGE))
    for _ in range(20):
        time.sleep(0.02)
        one.buffer += one.socket.recv(2000)
    found = one.answer()
    assert found.status == 200 and len(found.body) > 900_000
    assert found.body == server.post(target, LARGE).content


# --- refused handshakes --------------------------------------------------------------------------
def test_plain_http_on_the_tls_port(shared_tls, secure):
    assert shared_tls.raw(wire.message('GET', '/livez')) == []
    assert answer(secure()).status == 200


def test_a_handshake_on_the_plain_port(server):
    with server.connect() as connection:
        connection.send(bytes.fromhex('16030100051603010000') + bytes(300) + b'\r\n\r\n')
        found = connection.answers()
    assert [each.status for each in found] in ([], [400])
    assert server.get('/livez').status_code == 200


@pytest.mark.parametrize('version', OLD, ids=lambda version: version.name)
def test_old_versions_are_refused(shared_tls, version):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)
        using = context(None, version, version)
    using.set_ciphers('ALL:@SECLEVEL=0')
    with pytest.raises((ssl.SSLError, ConnectionError)) as caught:
        Secure(shared_tls.port, 10 * daemon.SLOW, using)
    assert 'NO_PROTOCOLS' not in str(caught.value), 'the client did not even try'


def test_weak_ciphers_are_refused(shared_tls):
    using = context(None, None, ssl.TLSVersion.TLSv1_2)
    for weak in ('AES128-SHA', 'ECDHE-ECDSA-AES128-SHA', 'AES256-GCM-SHA384', 'DHE-RSA-AES128-GCM-SHA256'):
        using.set_ciphers(weak + ':@SECLEVEL=0')
        with pytest.raises((ssl.SSLError, ConnectionError)):
            Secure(shared_tls.port, 10 * daemon.SLOW, using)


def test_renegotiation_is_refused(shared_tls, secure):
    """The client asks for a second handshake on the connection; it gets none."""
    client = subprocess.Popen(['openssl', 's_client', '-connect', f'127.0.0.1:{shared_tls.port}', '-tls1_2'],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    time.sleep(0.5 * daemon.SLOW)
    client.stdin.write(b'R\n')
    client.stdin.flush()
    time.sleep(0.5 * daemon.SLOW)
    try:
        client.stdin.write(b'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')
        client.stdin.flush()
        time.sleep(0.3)
        client.stdin.close()
    except OSError:
        pass
    output = client.stdout.read()
    client.wait(20)
    assert b'RENEGOTIATING' in output and b'HTTP/1.1 200' not in output
    assert answer(secure()).status == 200


# --- deadlines --------------------------------------------------------------------------------------
def test_half_handshakes(pair, say):
    """Hundreds that begin a handshake and stop; a good client beside them is served."""
    count, deadline = 300, 1.0 * daemon.SLOW
    with launch(pair, '--header-timeout', f'{int(deadline * 1000)}ms') as own:
        begin = time.monotonic()
        stuck = [wire.Wire(own.port, 20 * daemon.SLOW) for _ in range(count)]
        for i, one in enumerate(stuck):
            one.send(HALF_HELLO[:(i * 7) % len(HALF_HELLO)])
        times = []
        while time.monotonic() - begin < deadline:
            before = time.monotonic()
            with Secure(own.port, 20 * daemon.SLOW, context(pair)) as good:
                assert answer(good).status == 200
            times.append(time.monotonic() - before)
        for one in stuck:
            assert one.answers() == []
        ended = time.monotonic() - begin
        for one in stuck:
            one.close()
        assert daemon.eventually(lambda: own.metrics()['blurd_connections_open'] <= 1)
        numbers = own.metrics()
    say(f'{count} half handshakes: all closed after {ended:.2f} s (deadline {deadline:g} s); {len(times)} pictures beside them, '
        f'{max(times) * 1000:.0f} ms at most')
    assert ended < deadline + 2 * daemon.SLOW and times
    assert numbers['blurd_connections_late_total'] + numbers['blurd_connections_shed_total'] >= count


def processor_seconds(pid):
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in pathlib.Path(f'/proc/{pid}/task').iterdir()) / 1e9


def test_half_handshakes_cost_little(pair, say):
    """libmicrohttpd 0.9.75 would ask about them all the time (server/http/handshake_backoff.h)."""
    with launch(pair, '--header-timeout', '30s', '--event-threads', 1) as own:
        stuck = [wire.Wire(own.port, 20) for _ in range(200)]
        for one in stuck:
            one.send(HALF_HELLO)
        time.sleep(0.2)
        before, begin = processor_seconds(own.process.pid), time.monotonic()
        time.sleep(1)
        share = (processor_seconds(own.process.pid) - before) / (time.monotonic() - begin)
        with Secure(own.port, 20 * daemon.SLOW, context(pair)) as good:
            begin = time.monotonic()
            good.send(wire.message('POST', '/blur?sigma=0.3&format=png', LARGE))
            assert len(good.answer().body) > 900_000
            took = time.monotonic() - begin
        for one in stuck:
            one.close()
    say(f'200 half handshakes: {share * 100:.0f} % of a core; a megabyte beside them took {took * 1000:.0f} ms')
    assert share < 0.4


def test_a_slow_body_is_closed_without_plain_text(pair):
    """A 408 in the clear would be garbage in the middle of the client's stream."""
    with launch(pair, '--body-timeout', '300ms') as own:
        with Secure(own.port, 20 * daemon.SLOW, context(pair)) as one:
            one.send(wire.message('POST', '/blur?sigma=3', BODY)[:-10])
            try:
                assert one.answer() is None
            except ssl.SSLEOFError:
                pass  # the connection ended; any other error would be of bytes that are no TLS
        assert daemon.eventually(lambda: own.metrics()['blurd_connections_late_total'] == 1)


def test_the_end_does_not_wait_for_idle_clients(pair):
    with launch(pair) as own:
        with Secure(own.port, 20 * daemon.SLOW, context(pair)) as one:
            assert answer(one).status == 200
            begin = time.monotonic()
            own.signal()
            assert own.wait() == 0
            assert time.monotonic() - begin < 3 * daemon.SLOW


def said_all(plain, using, message, with_fin):
    """What comes back after a message with close_notify directly behind it."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = using.wrap_bio(incoming, outgoing, server_hostname='localhost')

    def until_done(call, *arguments):
        while True:
            try:
                return call(*arguments)
            except ssl.SSLWantReadError:
                plain.send(outgoing.read())
                incoming.write(plain.socket.recv(1 << 16)) or incoming.write_eof()

    until_done(tls.do_handshake)
    tls.write(message)
    with pytest.raises(ssl.SSLWantReadError):  # it would wait for the other side's
        tls.unwrap()
    plain.send(outgoing.read())
    if with_fin:
        plain.socket.shutdown(socket.SHUT_WR)
    received = b''
    try:
        while True:
            received += until_done(tls.read, 1 << 16)
    except ssl.SSLZeroReturnError:
        return received


@pytest.mark.parametrize('with_fin', (False, True))
def test_a_client_that_has_closed_its_side_gets_its_answer(pair, server, with_fin):
    """It reads on, and the end of its side is no reset. One of four is at work, the others wait."""
    target = '/median?radius=20'
    using, wanted = context(pair), server.post(target, LARGE).content

    def ask(_):
        with wire.Wire(own.port, 30 * daemon.SLOW) as plain:
            return said_all(plain, using, wire.message('POST', target, LARGE), with_fin).partition(b'\r\n\r\n')

    with launch(pair, '--workers', 1) as own, concurrent.futures.ThreadPoolExecutor(4) as pool:
        for head, _, body in pool.map(ask, range(4)):
            assert head.startswith(b'HTTP/1.1 200') and body == wanted


def test_a_client_that_leaves(shared_tls, pair):
    for _ in range(20):
        one = Secure(shared_tls.port, 20 * daemon.SLOW, context(pair))
        one.send(wire.message('POST', '/blur?sigma=30', BODY))
        one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
        one.close()
    assert daemon.eventually(lambda: shared_tls.metrics()['blurd_requests_in_flight'] <= 1)  # that of the question
    assert shared_tls.process.poll() is None
