# receiver.py DIR: an HTTP server on a free port, which it writes to DIR/port; each POST becomes DIR/N, with its path and
# headers in DIR/N.head. The first is answered with 503 if DIR/busy exists, and DIR/busy goes.
import http.server
import os
import sys

where = sys.argv[1]
count = 0


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["Content-Length"]))
        busy = os.path.join(where, "busy")
        if os.path.exists(busy):
            os.unlink(busy)
            self.send_response(503)
        else:
            count += 1
            with open(os.path.join(where, "%d.head" % count), "w") as f:
                f.write("%s\n%s" % (self.path, self.headers))
            with open(os.path.join(where, ".new"), "wb") as f:
                f.write(body)
            os.rename(os.path.join(where, ".new"), os.path.join(where, str(count)))
            self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
with open(os.path.join(where, ".port"), "w") as f:
    f.write(str(server.server_port))
os.rename(os.path.join(where, ".port"), os.path.join(where, "port"))
server.serve_forever()
