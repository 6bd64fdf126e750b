#!/usr/bin/env python3
"""Requests with one fault each, sent from inside a box: bounds.py http|https faults|goods|cuts
Doors: POST /pay where amount=int:1..5000 currency=one:eur|usd memo?=text:80, GET /pay/find where q=text:20 n=int:1..50 only,
POST /pay/mail where to=one:ops@example.org subject=text:120 in body page?=int:1..9 in query only,
POST /pay/team where to=list:2:one:ops@example.org|dev@example.org bcc=none sum?=num:0.01..2500 text?=lines:20 in body. Prints a line for each that was not answered as it must be,
and last how many there were."""
import gzip, socket, ssl, sys
scheme, what = sys.argv[1:3]
FORM, JSON = b'application/x-www-form-urlencoded', b'application/json'

class Line:
    """One connection, as long as it lasts."""
    def __init__(self):
        self.s = None
    def open(self):
        s = socket.create_connection(('web.test', 443 if scheme == 'https' else 80), 10)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.s = ssl.create_default_context().wrap_socket(s, server_hostname='web.test') if scheme == 'https' else s
        self.rest = b''
    def ask(self, pieces, answers=1):
        if not self.s:
            self.open()
        for p in pieces:
            try:
                self.s.sendall(p)
            except OSError:
                break  # refused already: the answer waits
        return [self.answer() for _ in range(answers)]
    def answer(self):
        while True:
            while b'\r\n\r\n' not in self.rest:
                more = self.s.recv(65536)
                if not more:
                    self.s = None
                    return 0, b''
                self.rest += more
            head, self.rest = self.rest.split(b'\r\n\r\n', 1)
            if head.startswith(b'HTTP/1.1 100'):
                continue
            size = [int(l.split(b':')[1]) for l in head.split(b'\r\n') if l.lower().startswith(b'content-length:')][0]
            while len(self.rest) < size:
                self.rest += self.s.recv(65536)
            body, self.rest = self.rest[:size], self.rest[size:]
            if b'connection: close' in head.lower():
                self.s = None
            return int(head.split()[1]), body

def head(target, fields=b'', method=b'POST'):
    return method + b' ' + target + b' HTTP/1.1\r\nHost: web.test\r\n' + fields

def whole(target, body=None, kind=FORM, more=b'', method=b'POST'):
    if body is None:
        return head(target, more, method) + b'\r\n'
    kind = b'Content-Type: ' + kind + b'\r\n' if kind else b''
    return head(target, kind + more + b'Content-Length: %d\r\n' % len(body), method) + b'\r\n' + body

def chunks(target, body, kind=FORM, size=7):
    out = head(target, b'Content-Type: ' + kind + b'\r\nTransfer-Encoding: chunked\r\n') + b'\r\n'
    for i in range(0, len(body), size):
        piece = body[i:i + size]
        out += b'%x\r\n' % len(piece) + piece + b'\r\n'
    return out + b'0\r\n\r\n'

GOOD = b'amount=50&currency=eur'
LONG = GOOD + b'&x=' + b'y' * (65536 - len(GOOD) - 3)
PARTS = b'--B\r\nContent-Disposition: form-data; name="amount"\r\n\r\n50\r\n--B--\r\n'
FAULTS = [  # what, the parameter that the refusal must name, the request
    ('wrong integer', 'amount', whole(b'/pay', b'amount=9000&currency=eur')),
    ('wrong integer, JSON', 'amount', whole(b'/pay', b'{"amount":9000,"currency":"eur"}', JSON)),
    ('negative', 'amount', whole(b'/pay', b'amount=-50&currency=eur')),
    ('wraps at 32 bits', 'amount', whole(b'/pay', b'amount=4294967346&currency=eur')),
    ('wraps at 64 bits', 'amount', whole(b'/pay', b'{"amount":18446744073709551666,"currency":"eur"}', JSON)),
    ('exponent', 'amount', whole(b'/pay', b'{"amount":5e3,"currency":"eur"}', JSON)),
    ('fraction', 'amount', whole(b'/pay', b'{"amount":50.0,"currency":"eur"}', JSON)),
    ('sign', 'amount', whole(b'/pay', b'amount=%2B50&currency=eur')),
    ('hexadecimal', 'amount', whole(b'/pay', b'amount=0x32&currency=eur')),
    ('leading zero', 'amount', whole(b'/pay', b'amount=050&currency=eur')),
    ('white space', 'amount', whole(b'/pay', b'amount=50%0a&currency=eur')),
    ('wrong enum', 'currency', whole(b'/pay', b'amount=50&currency=chf')),
    ('enum in capitals', 'currency', whole(b'/pay', b'{"amount":50,"currency":"EUR"}', JSON)),
    ('missing', 'amount', whole(b'/pay', b'currency=eur')),
    ('missing, no body', 'amount', whole(b'/pay')),
    ('misrouted', 'currency', whole(b'/pay', b'{"amount":50,"currency":"50"}', JSON)),
    ('twice', 'amount', whole(b'/pay', GOOD + b'&amount=51')),
    ('twice, JSON', 'amount', whole(b'/pay', b'{"amount":50,"currency":"eur","amount":9000}', JSON)),
    ('twice, JSON, escaped', 'amount', whole(b'/pay', b'{"amount":50,"currency":"eur","\\u0061mount":9000}', JSON)),
    ('query and body', 'amount', whole(b'/pay?amount=9000', GOOD)),
    ('query and body, both good', 'amount', whole(b'/pay?amount=50', GOOD)),
    ('query and JSON', 'amount', whole(b'/pay?amount=50', b'{"amount":9000,"currency":"eur"}', JSON)),
    ('escaped name', 'amount', whole(b'/pay?%61mount=9000', GOOD)),
    ('PHP array', 'amount', whole(b'/pay', GOOD + b'&amount[]=9000')),
    ('PHP array, numbered', 'amount', whole(b'/pay', GOOD + b'&amount%5B0%5D=9000')),
    ('PHP space', 'amount', whole(b'/pay', GOOD + b'&+amount=9000')),
    ('Rails object', 'amount', whole(b'/pay', GOOD + b'&amount[value]=9000')),
    ('capitals', 'amount', whole(b'/pay', b'{"amount":50,"currency":"eur","Amount":9000}', JSON)),
    ('Spring default', 'amount', whole(b'/pay?!amount=9000', GOOD)),
    ('semicolon', 'amount', whole(b'/pay?x=1;amount=9000', GOOD)),
    ('string for integer', 'amount', whole(b'/pay', b'{"amount":"50","currency":"eur"}', JSON)),
    ('array', 'amount', whole(b'/pay', b'{"amount":[50],"currency":"eur"}', JSON)),
    ('object', 'amount', whole(b'/pay', b'{"amount":{"$gt":0},"currency":"eur"}', JSON)),
    ('null', 'amount', whole(b'/pay', b'{"amount":null,"currency":"eur"}', JSON)),
    ('control character', 'memo', whole(b'/pay', GOOD + b'&memo=a%00b'.replace(b'%00', b'%0d%0a'))),
    ('long text', 'memo', whole(b'/pay', GOOD + b'&memo=' + b'x' * 81)),
    ('no type', 'amount', whole(b'/pay', GOOD, None)),
    ('other type', 'amount', whole(b'/pay', GOOD, b'text/plain')),
    ('two types', 'amount', whole(b'/pay', GOOD, FORM, b'Content-Type: ' + JSON + b'\r\n')),
    ('JSON said to be a form', 'amount', whole(b'/pay?amount=50&currency=eur', b'{"amount":9000}')),
    ('multipart', 'amount', whole(b'/pay', PARTS, b'multipart/form-data; boundary=B')),
    ('compressed', 'amount', whole(b'/pay', gzip.compress(GOOD), FORM, b'Content-Encoding: gzip\r\n')),
    ('said to be compressed', 'amount', whole(b'/pay', GOOD, FORM, b'Content-Encoding: deflate\r\n')),
    ('UTF-16', 'amount', whole(b'/pay', '{"amount":50,"currency":"eur"}'.encode('utf-16-le'), JSON)),
    ('UTF-16, said so', 'amount', whole(b'/pay', '{"amount":9000}'.encode('utf-16'), JSON + b'; charset=utf-16')),
    ('UTF-7', 'amount', whole(b'/pay', GOOD, FORM + b'; charset=utf-7')),
    ('byte order mark', 'amount', whole(b'/pay', b'\xef\xbb\xbf{"amount":50,"currency":"eur"}', JSON)),
    ('not UTF-8', 'amount', whole(b'/pay', GOOD + b'&x=%ff')),
    ('NUL', 'amount', whole(b'/pay', GOOD + b'&x=a%00')),
    ('half a surrogate', 'amount', whole(b'/pay', b'{"amount":50,"currency":"eur","x":"\\ud800"}', JSON)),
    ('trailing garbage', 'amount', whole(b'/pay', b'{"amount":50,"currency":"eur"}{"amount":9000}', JSON)),
    ('too deep', 'amount', whole(b'/pay', b'{"amount":50,"currency":"eur","x":' + b'[' * 40 + b']' * 40 + b'}', JSON)),
    ('64 KiB and one', 'amount', whole(b'/pay', LONG + b'y')),
    ('64 KiB and one, chunked', 'amount', chunks(b'/pay', LONG + b'y', FORM, 4096)),
    ('wrong integer, chunked', 'amount', chunks(b'/pay', b'amount=9000&currency=eur')),
    ('wrong integer, one byte a chunk', 'amount', chunks(b'/pay', b'{"amount":9000,"currency":"eur"}', JSON, 1)),
    ('another parameter', 'bcc', whole(b'/pay/mail', b'to=ops@example.org&subject=x&bcc=eve@example.org')),
    ('another recipient', 'to', whole(b'/pay/mail', b'to=eve@example.org&subject=x')),
    ('two recipients', 'to', whole(b'/pay/mail', b'to=ops@example.org,eve@example.org&subject=x')),
    ('in the query, must be in the body', 'to', whole(b'/pay/mail?to=ops@example.org', b'subject=x')),
    ('in a query without a body', 'subject', whole(b'/pay/mail?to=ops@example.org&subject=x')),
    ('in the body, must be in the query', 'page', whole(b'/pay/mail', b'to=ops@example.org&subject=x&page=2')),
    ('in JSON, must be in the query', 'page', whole(b'/pay/mail', b'{"to":"ops@example.org","subject":"x","page":2}', JSON)),
    ('a list with a stranger', 'to', whole(b'/pay/team', b'{"to":["ops@example.org","eve@example.org"]}', JSON)),
    ('a list in a list', 'to', whole(b'/pay/team', b'{"to":[["ops@example.org"]]}', JSON)),
    ('too long a list', 'to', whole(b'/pay/team', b'{"to":["ops@example.org","dev@example.org","ops@example.org"]}', JSON)),
    ('no list', 'to', whole(b'/pay/team', b'{"to":"ops@example.org"}', JSON)),
    ('an empty list', 'to', whole(b'/pay/team', b'{"to":[]}', JSON)),
    ('a stranger behind a name twice', 'to', whole(b'/pay/team', b'to=ops@example.org&to=eve@example.org')),
    ('half of a list in the query', 'to', whole(b'/pay/team?to=ops@example.org', b'to=dev@example.org')),
    ('a blind copy', 'bcc', whole(b'/pay/team', b'{"to":["ops@example.org"],"bcc":["eve@example.org"]}', JSON)),
    ('a blind copy in capitals', 'bcc', whole(b'/pay/team', b'{"to":["ops@example.org"],"BCC":"eve@example.org"}', JSON)),
    ('a blind copy in the query', 'bcc', whole(b'/pay/team?bcc=eve@example.org', b'to=ops@example.org')),
    ('a cent too much', 'sum', whole(b'/pay/team', b'{"to":["ops@example.org"],"sum":2500.01}', JSON)),
    ('an amount in another form', 'sum', whole(b'/pay/team', b'{"to":["ops@example.org"],"sum":2.5e2}', JSON)),
    ('escape codes in lines', 'text', whole(b'/pay/team', b'{"to":["ops@example.org"],"text":"a\\n\\u001b[2J"}', JSON)),
    ('query of a GET', 'n', whole(b'/pay/find?q=x&n=51', method=b'GET')),
    ('body of a GET', 'n', whole(b'/pay/find?q=x', b'n=51', method=b'GET')),
    ('escape codes', 'currency', whole(b'/pay', b'amount=50&currency=%1b%5d0%3bowned%07')),
]
GOODS = [
    ('form', GOOD, whole(b'/pay', GOOD)),
    ('form, other order, more', b'x=1&currency=usd&memo=a+b%20c&amount=1', whole(b'/pay', b'x=1&currency=usd&memo=a+b%20c&amount=1')),
    ('JSON', b'{ "amount" : 5000,\n"currency":"eur"}\r\n', whole(b'/pay', b'{ "amount" : 5000,\n"currency":"eur"}\r\n', JSON)),
    ('+json', b'{"amount":1,"currency":"eur"}', whole(b'/pay', b'{"amount":1,"currency":"eur"}', b'application/vnd.x+json; charset=utf-8')),
    ('query and body apart', b'currency=eur', whole(b'/pay?amount=50', b'currency=eur')),
    ('chunks', GOOD, chunks(b'/pay', GOOD, FORM, 3)),
    ('64 KiB', LONG, whole(b'/pay', LONG)),
    ('64 KiB in chunks', LONG, chunks(b'/pay', LONG, FORM, 1000)),
    ('expected', GOOD, whole(b'/pay', GOOD, FORM, b'Expect: 100-continue\r\n')),
    ('mail', b'to=ops%40example.org&subject=hi', whole(b'/pay/mail', b'to=ops%40example.org&subject=hi')),
    ('mail, each in its place', b'to=ops%40example.org&subject=hi', whole(b'/pay/mail?page=2', b'to=ops%40example.org&subject=hi')),
    ('a list', b'{"to":["dev@example.org","ops@example.org"],"sum":98.70,"text":"a\\n\\tb\\r\\n"}', whole(b'/pay/team', b'{"to":["dev@example.org","ops@example.org"],"sum":98.70,"text":"a\\n\\tb\\r\\n"}', JSON)),
    ('a list in a form', b'to=ops%40example.org&to=dev%40example.org&cc=x', whole(b'/pay/team', b'to=ops%40example.org&to=dev%40example.org&cc=x')),
    ('search', b'', whole(b'/pay/find?q=cats&n=50', method=b'GET')),
]

def faults():
    line = Line()
    for name, parameter, request in FAULTS:
        (status, text), = line.ask([request])
        if status != 403 or not text.startswith(b'cordon: parameter %s ' % parameter.encode()):
            print('not refused as it must be:', name, status, text)
        if any(c < 32 and c != 10 for c in text):
            print('not inert:', name, text)
    return len(FAULTS)

def goods():
    line = Line()
    for name, body, request in GOODS:
        (status, text), = line.ask([request])
        if (status, text) != (200, body):
            print('did not pass as it came:', name, status, text[:200])
    answers = line.ask([GOODS[0][2] + FAULTS[0][2] + GOODS[5][2]], 3)  # one behind the other
    if [a[0] for a in answers] != [200, 403, 200] or answers[2][1] != GOOD:
        print('out of step:', answers)
    return len(GOODS) + 2

def cuts():
    """Two requests in chunks, each sent in two pieces, cut at every byte."""
    line, n = Line(), []
    for request, want in ((chunks(b'/pay', GOOD, FORM, 5), 200), (chunks(b'/pay', b'amount=9000&currency=eur', FORM, 5), 403)):
        for at in range(1, len(request)):
            (status, text), = line.ask([request[:at], request[at:]])
            n.append(status)
            if status != want or (want == 200 and text != GOOD):
                print('cut at', at, status, text)
    return '%d passed, %d refused' % (n.count(200), n.count(403))

print({'faults': faults, 'goods': goods, 'cuts': cuts}[what]())
