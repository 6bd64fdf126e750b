# SPDX-License-Identifier: MIT
"""The tools of one suite over HTTP, on a free port of 127.0.0.1. GET /TOOL?name=value for tools that read, POST /TOOL with a JSON
object for effects. The world is an object of this process: no request can reset it or read its journal."""
import http.server
import json
import threading
import urllib.parse

from world import Refused, World


def typed(tool, query):
    """A query has strings alone: the schema says what they are. A list is a name that is repeated."""
    out = {}
    for name, values in urllib.parse.parse_qs(query, keep_blank_values=True).items():
        schema = json.dumps(tool.properties.get(name, {}))
        v = values if tool.is_list(name) else values[0]
        out[name] = int(v) if '"integer"' in schema and isinstance(v, str) else v
    return out


class ToolServer:
    def __init__(self, suite):
        self.suite, self.world, self.lock = suite, None, threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.serve(self, "GET")

            def do_POST(self):
                outer.serve(self, "POST")

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def begin(self, texts):
        with self.lock:
            self.world = World(self.suite, texts)

    def journal(self):
        with self.lock:
            return list(self.world.journal)

    def serve(self, request, method):
        url = urllib.parse.urlsplit(request.path)
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        code, answer = 400, None
        try:
            tool = self.suite.tools.get(url.path.strip("/"))
            if not tool or tool.method != method:
                raise Refused("no such tool by this method")
            args = typed(tool, url.query) if method == "GET" else json.loads(body)
            with self.lock:
                code, answer = 200, self.world.call(tool.name, args)
        except (Refused, ValueError, TypeError, KeyError) as e:
            answer = str(e)

        text = json.dumps(answer, ensure_ascii=False).encode()
        request.send_response(code)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)
