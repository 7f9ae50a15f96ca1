# SPDX-License-Identifier: MIT
"""Certificates for a daemon with TLS, made by openssl when a test needs them, and clients that speak TLS."""

import shutil
import ssl
import subprocess

import pytest

import daemon
import pictures
import wire

needed = pytest.mark.skipif(not shutil.which('openssl'), reason='no openssl to make certificates with')
BODY = pictures.png(pictures.photograph(120, 90))
AUTHORITY = '''[ca]
default_ca = all
[all]
database = {folder}/index
new_certs_dir = {folder}
serial = {folder}/serial
default_md = sha256
policy = any
[any]
commonName = supplied
'''


def openssl(*arguments):
    subprocess.run(['openssl', *map(str, arguments)], check=True, capture_output=True, stdin=subprocess.DEVNULL)


class Pair:
    """A self-signed certificate for localhost and its key, as files."""

    def __init__(self, folder, name='one', expired=False, rsa=False):
        self.certificate, self.key = folder / f'{name}.crt', folder / f'{name}.key'
        kind = ('rsa:2048',) if rsa else ('ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1')
        subject = ('-nodes', '-keyout', self.key, '-subj', f'/CN={name}', '-addext', 'subjectAltName=DNS:localhost')
        if not expired:
            openssl('req', '-x509', '-newkey', *kind, *subject, '-days', 2, '-out', self.certificate)
            return
        request, authority = folder / f'{name}.csr', folder / f'{name}.cnf'
        authority.write_text(AUTHORITY.format(folder=folder))
        (folder / 'index').write_text('')
        (folder / 'serial').write_text('01\n')
        openssl('req', '-newkey', *kind, *subject, '-out', request)
        openssl('ca', '-batch', '-selfsign', '-config', authority, '-in', request, '-keyfile', self.key, '-notext',
                '-out', self.certificate, '-startdate', '20200101000000Z', '-enddate', '20200201000000Z')

    def options(self):
        return '--tls-cert', self.certificate, '--tls-key', self.key

    def replace(self, other):
        """This pair's files get the other's contents, in one step each, as tools that renew do it."""
        for mine, new in (self.certificate, other.certificate), (self.key, other.key):
            copy = mine.with_suffix('.new')
            copy.write_bytes(new.read_bytes())
            copy.replace(mine)


def context(pair=None, lowest=None, highest=None):
    """A client's; it trusts that certificate alone, without one any."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if pair:
        made.load_verify_locations(pair.certificate)
    else:
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if lowest:
        made.minimum_version = lowest
    if highest:
        made.maximum_version = highest
    return made


class Secure(wire.Wire):
    """One connection with TLS."""

    def __init__(self, port, timeout, using, receive_buffer=None):
        super().__init__(port, timeout, receive_buffer)
        try:
            self.socket = using.wrap_socket(self.socket, server_hostname='localhost')
        except BaseException:
            self.socket.close()
            raise

    def name(self):
        """The certificate's CN."""
        return dict(part[0] for part in self.socket.getpeercert()['subject'])['commonName']


def launch(pair, *options):
    """A daemon with TLS on its port and a plain one for admins."""
    own = daemon.Daemon(*pair.options(), '--gpus', 'none', '--admin-listen', '127.0.0.1', '--admin-port', 0, *options)
    own.admin = int(own.wait_for_line(r'health and metrics on port (\d+)').group(1))
    own.metrics = lambda: own.metrics_of(own.admin)
    return own


def answer(connection, body=BODY, target='/blur?sigma=3', headers=(), **more):
    connection.send(wire.message('POST', target, body, headers, **more))
    return connection.answer()
