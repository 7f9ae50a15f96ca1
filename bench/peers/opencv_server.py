# SPDX-License-Identifier: MIT
"""OpenCV behind Python's own HTTP server: POST /blur?sigma=S with a JPEG or PNG, GET /livez. As little as a service in
Python can be; for bench/cold_start.py. PORT is in the environment."""

import http.server
import os
import urllib.parse

import cv2
import numpy


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def reply(self, body, media):
        self.send_response(200)
        self.send_header('Content-Type', media)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(f'OpenCV {cv2.__version__}, numpy {numpy.__version__}'.encode(), 'text/plain')

    def do_POST(self):
        sigma = float(urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)['sigma'][0])
        data = self.rfile.read(int(self.headers['Content-Length']))
        picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
        picture = cv2.GaussianBlur(picture, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
        png = data[:1] == b'\x89'
        body = cv2.imencode('.png' if png else '.jpg', picture, [] if png else [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()
        self.reply(body, 'image/png' if png else 'image/jpeg')

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
