"""Test only: a proxy in front of `cordon mcp --http` that adds the bearer token, for the official conformance suite, which sends
none. All else is as the suite sends it, Host and Origin too, but for the port. add_token.py PORTFILE URL TOKENFILE"""
import http.client
import http.server
import sys
import urllib.parse

PORTFILE, URL, TOKENFILE = sys.argv[1:4]
AT = urllib.parse.urlsplit(URL)
with open(TOKENFILE, encoding="ascii") as f:
    TOKEN = f.read().strip()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        own, theirs = f":{self.server.server_address[1]}", f":{AT.port}"
        to = http.client.HTTPConnection(AT.hostname, AT.port, timeout=60)
        to.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() in ("host", "origin") and value.endswith(own):
                value = value[:-len(own)] + theirs
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                to.putheader(name, value)
        to.putheader("Authorization", "Bearer " + TOKEN)
        if body or self.command == "POST":
            to.putheader("Content-Length", str(len(body)))
        to.endheaders(body)
        answer = to.getresponse()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while part := answer.read1(65536):
            self.wfile.write(part)
            self.wfile.flush()
        to.close()

    do_GET = do_POST = do_DELETE = do


httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(PORTFILE, "w", encoding="ascii") as f:
    f.write(str(httpd.server_address[1]))
httpd.serve_forever()
