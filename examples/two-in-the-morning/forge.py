#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays a forge on loopback: wants a token, writes down each request with the token it came with. Its error page is a
careless one and says who asked. Writes its port to a file, then serves."""
import http.server
import os
import sys

port_file, log_file, ticket_file = sys.argv[1:4]


class Forge(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body):
        with open(log_file, "a", encoding="utf-8") as f:
            f.write(f"{self.command} {self.path} {self.headers.get('Authorization', '-')}\n")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/issues/4711":
            with open(ticket_file, "rb") as f:
                self.answer(200, f.read())
        else:
            self.answer(404, f"nothing for {self.headers.get('Authorization')}".encode())

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(201, b"thank you")

    def do_DELETE(self):
        self.answer(204, b"")

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Forge)
with open(port_file + ".new", "w", encoding="ascii") as f:
    f.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
