#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays collector.example on loopback: appends what is sent to it to a file. Writes its port to another, then serves."""
import http.server
import os
import sys

port_file, loot_file = sys.argv[1:3]


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open(loot_file, "ab") as f:
            f.write(body + b"\n")
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
with open(port_file + ".new", "w", encoding="ascii") as f:
    f.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
