# tests/cli/helpers/aws_peer.py ADDRESS PORT CERT|- - a server that takes requests signed as AWS has it (Signature Version 4), and
# checks them by itself: one key, given in the file `aws.key` as ID:SECRET or ID:SECRET:TOKEN. Objects of S3 are kept in memory; every other
# request is answered with an empty object, STS with an identity. `aws.log` has METHOD PATH SERVICE VERDICT of each.
import datetime, hashlib, hmac, http.server, ssl, sys, urllib.parse

objects = {}


def key():
    parts = open('aws.key').read().strip().split(':')
    return parts[0], parts[1], parts[2] if len(parts) > 2 else None


def quote(text, safe):
    return urllib.parse.quote(text, safe=safe + '-_.~')


def canonical_query(query):
    pairs = [p.partition('=') for p in query.split('&') if p]
    return '&'.join('%s=%s' % p for p in sorted((quote(urllib.parse.unquote_to_bytes(a), ''), quote(urllib.parse.unquote_to_bytes(b), '')) for a, _, b in pairs))


# None, or what is wrong with the request.
def fault(method, target, headers, body):
    ident, secret, token = key()
    value = headers.get('Authorization', '')
    if not value.startswith('AWS4-HMAC-SHA256 '):
        return 'unsigned'
    parts = dict(p.strip().split('=', 1) for p in value[len('AWS4-HMAC-SHA256 '):].split(','))
    who, day, region, service, end = parts['Credential'].split('/')
    if who != ident or end != 'aws4_request':
        return 'id'
    if headers.get('X-Amz-Security-Token') != token:
        return 'token'
    date = headers['X-Amz-Date']
    at = datetime.datetime.strptime(date, '%Y%m%dT%H%M%SZ').replace(tzinfo=datetime.timezone.utc)
    if not date.startswith(day) or abs((datetime.datetime.now(datetime.timezone.utc) - at).total_seconds()) > 300:
        return 'date'
    names = parts['SignedHeaders'].split(';')
    if 'host' not in names or any(n.lower().startswith('x-amz-') and n.lower() not in names for n in headers):
        return 'names'
    path, _, query = target.partition('?')
    path = quote(urllib.parse.unquote_to_bytes(path), '/') if service == 's3' else quote(path, '/')
    digest = headers.get('X-Amz-Content-Sha256') or hashlib.sha256(body).hexdigest()
    if service == 's3' and 'X-Amz-Content-Sha256' not in headers:
        return 'hash-missing'
    if len(digest) == 64 and digest != hashlib.sha256(body).hexdigest():
        return 'hash'
    lines = ''.join('%s:%s\n' % (n, ','.join(' '.join(v.split()) for v in headers.get_all(n))) for n in names)
    text = '\n'.join([method, path, canonical_query(query), lines, parts['SignedHeaders'], digest])
    scope = '/'.join([day, region, service, end])
    k = b'AWS4' + secret.encode()
    for part in (day, region, service, end):
        k = hmac.new(k, part.encode(), hashlib.sha256).digest()
    to_sign = '\n'.join(['AWS4-HMAC-SHA256', date, scope, hashlib.sha256(text.encode()).hexdigest()])
    return None if hmac.compare_digest(hmac.new(k, to_sign.encode(), hashlib.sha256).hexdigest(), parts['Signature']) else 'signature'


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *a):
        pass

    def body(self):
        if self.headers.get('Transfer-Encoding') != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length') or 0))
        all = b''
        while True:
            n = int(self.rfile.readline(), 16)
            all += self.rfile.read(n)
            self.rfile.readline()
            if n == 0:
                return all

    def answer(self, status, text, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace('_', '-'), value)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(text)

    def any(self):
        body = self.body()
        bad = fault(self.command, self.path, self.headers, body)
        scope = self.headers.get('Authorization', '').split('/')
        service = scope[3] if len(scope) > 3 else '-'
        with open('aws.log', 'a') as log:
            log.write('%s %s %s %s\n' % (self.command, self.path, service, bad or 'good'))
        if bad:
            # As AWS does: the answer shows the key and the text that was signed.
            self.answer(403, ('<Error><Code>SignatureDoesNotMatch</Code><Message>%s</Message><AWSAccessKeyId>%s</AWSAccessKeyId></Error>' % (bad, key()[0])).encode())
        elif self.path.startswith('/redirect'):
            self.answer(307, b'', Location='https://web.test/redirected')
        elif self.path.startswith('/echo'):
            self.answer(200, str(self.headers).encode() + open('aws.key', 'rb').read())
        elif service == 's3' and self.command == 'PUT':
            objects[self.path] = body
            self.answer(200, b'', ETag='"%s"' % hashlib.md5(body).hexdigest())
        elif service == 's3' and self.path.split('?')[0] in objects:
            self.answer(200, objects[self.path.split('?')[0]], Content_Type='binary/octet-stream')
        elif service == 'sts':
            self.answer(200, b'<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/x</Arn>'
                        b'<UserId>x</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>', Content_Type='text/xml')
        else:
            self.answer(200, b'{}', Content_Type='application/x-amz-json-1.0')

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = any


server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Server)
if sys.argv[3] != '-':
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(sys.argv[3])
    server.socket = ctx.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
