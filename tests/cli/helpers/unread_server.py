#!/usr/bin/env python3
# tests/cli/helpers/unread_server.py DIR - Python's own http.server with keep-alive, as it comes: it leaves the body of a request unread and takes
# it for the next request. DIR/unread.port has its port on 127.0.0.1; DIR/unread.log each request: its connection, method, target and the headers
# that tests ask about.
import http.server, os, sys

where = sys.argv[1]
log = open(os.path.join(where, 'unread.log'), 'a', buffering=1)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def answer(self):
        seen = ['%s=%s' % (n, self.headers[n]) for n in ('Range', 'Upgrade', 'Authorization', 'Connection') if n in self.headers]
        log.write(' '.join([str(self.client_address[1]), self.command, self.path] + seen) + '\n')
        out = ('%s %s\n' % (self.command, self.path)).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(out)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(out)
    do_GET = do_HEAD = do_DELETE = do_OPTIONS = do_POST = do_PUT = answer
    def log_message(self, *a):
        pass

s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
with open(os.path.join(where, 'unread.new'), 'w') as f:
    f.write(str(s.server_address[1]))
os.rename(os.path.join(where, 'unread.new'), os.path.join(where, 'unread.port'))
s.serve_forever()
