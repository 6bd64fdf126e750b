# Doors that see requests: judged by method and path, in the clear and inside TLS, with the host's roots and the box's own
# authority.
. "$(dirname "$0")/lib-net.sh"
bundle=
for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
        [ ! -f "$f" ] || { bundle=$f; break; }
done
if [ -z "$bundle" ]; then
        skip "doors that see requests" "this host has no file of roots"
        done_testing
fi
cat "$bundle" "$T/lab/ca.pem" >"$T/roots"
# hello.py CONNECT-TO NAME PIECE [PORT]: sends a real hello for NAME in pieces; was anything answered?
cat >"$T/hello.py" <<'END'
import socket, ssl, sys
to, name, piece = sys.argv[1], sys.argv[2], int(sys.argv[3])
port = int(sys.argv[4]) if len(sys.argv) > 4 else 443
i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
c = ssl.create_default_context().wrap_bio(i, o, server_hostname=name)
try: c.do_handshake()
except ssl.SSLWantReadError: pass
hello = o.read()
s = socket.create_connection((to, port), 5)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
try:
    for k in range(0, len(hello), piece): s.sendall(hello[k:k + piece])
    print("answered" if s.recv(100) else "refused")
except OSError: print("refused")
END
chmod 644 "$T/hello.py"
# send_all.py PATH: sends 8 MB before it reads, as simple clients do.
cat >"$T/send_all.py" <<'END'
import socket, sys
s = socket.create_connection(("web.test", 80), 20)
s.sendall(b"POST %s HTTP/1.1\r\nHost: web.test\r\nContent-Length: 8388608\r\n\r\n" % sys.argv[1].encode())
for _ in range(128): s.sendall(bytes(65536))
said = b""
while more := s.recv(65536): said += more
print(said.split(b"\r\n")[0].decode(), said.split(b"\r\n\r\n")[1].decode().strip())
END
# stay.py SECONDS: a refused client that does not go; is it still listened to then?
cat >"$T/stay.py" <<'END'
import socket, sys, time
s = socket.create_connection(("web.test", 80), 20)
s.sendall(b"POST /b HTTP/1.1\r\nHost: web.test\r\nContent-Length: 8388608\r\n\r\n")
while s.recv(65536): pass
try:
    until = time.time() + float(sys.argv[1])
    while sys.argv[2:] and time.time() < until: s.sendall(b"more"), time.sleep(0.1)
    time.sleep(max(0, until - time.time()))
    for _ in range(5): s.sendall(b"more"), time.sleep(0.1)
    print("listened to")
except OSError: print("left")
END
# stay_many.py: 520 refused clients of which none goes; how many were answered?
cat >"$T/stay_many.py" <<'END'
import socket
said, stay = [], []
for _ in range(520):
    s = socket.create_connection(("web.test", 80), 20)
    stay.append(s)
    try:
        s.sendall(b"POST /b HTTP/1.1\r\nHost: web.test\r\nContent-Length: 8388608\r\n\r\n")
        said.append(s.recv(12))
    except OSError: pass
print(said.count(b"HTTP/1.1 403"))
END
chmod 644 "$T/send_all.py" "$T/stay.py" "$T/stay_many.py"
http="--net http://web.test/a/**"
https="--net https://web.test/a/**"
for who in root as_user; do
        box $who --net 'http://web.test/a/** GET' -- sh -c 'for u in a/x b a/../b a/%2e%2e/b A/x; do curl -sS -m 10 --path-as-is http://web.test/$u; done; curl -sS -m 5 -d x http://web.test/a/x'
        is "$who: what the door covers, and nothing else" "$(grep -c '^GET /a/x 0$' "$T/out") $(grep -c '^GET' "$T/out")" "1 1"
        is "$who: a refused path is told with its line" "$(row 'GET http://web.test/b' deny permit)" "net http://web.test/b GET"
        is "$who: a refused method, too" "$(row 'POST http://web.test/a/x' deny permit)" "net http://web.test/a/x POST"
        is "$who: requests are counted" "$(row web.test:80 allow requests)" 1
        box $who $http -- sh -c 'curl -sS -m 10 http://web.test/a/1 http://web.test/a/2 http://web.test/b http://web.test/a/3'
        is "$who: one connection, four requests, three through" "$(row web.test:80 allow requests) $(grep -c '^GET /a/' "$T/out")" "3 3"
        box $who $http -- sh -c 'for u in a/@scope%2fname a%2fx a/..%2fb; do curl -sS -m 10 --path-as-is http://web.test/$u; done'
        is "$who: an escaped slash below a door goes as it came, and nowhere else" "$(grep '^GET' "$T/out")" "GET /a/@scope%2Fname 0"
        box $who $http -- curl -sS -m 10 -H 'X-HTTP-Method-Override: DELETE' http://web.test/a/x
        is "$who: a header that asks for another method is refused" "$(row 'GET http://web.test/a/x' deny why)" "header overrides the method"
        box $who $http -- curl -sS -m 10 -H 'Host: four.test' http://web.test/a/x
        hasnt "$who: another Host is refused" "$(cat "$T/out")" "GET /a/x"
        lab_anew
        box $who $http -- bash -c 'exec 3<>/dev/tcp/web.test/80; printf "SSH-2.0-x\r\n\r\n" >&3; head -c 12 <&3'
        hasnt "$who: what is no request does not go through" "$(lab_packets)" "tcp "
        is "$who: it is answered" "$(cat "$T/out" | tr -d '\r')" "HTTP/1.1 400"

        # An answer that comes before all was sent reaches a client that reads it afterwards; who does not go is left.
        box $who --net 'http://web.test/early/** POST' --read "$T/send_all.py" -- python3 "$T/send_all.py" /early/x
        is "$who: a server's early answer reaches a client that still sends" "$(cat "$T/out" "$T/err")" "HTTP/1.1 413 Too Much enough"
        box $who $http --read "$T/send_all.py" -- python3 "$T/send_all.py" /b
        is "$who: a refusal does, too" "$(head -n 1 "$T/out")" "HTTP/1.1 403 Forbidden cordon: path not allowed by the door"
        is "$who: and what was dropped went nowhere: it is on no account" "$([ "$(row web.test:80 allow sent)" -lt 4194304 ] && echo yes)" yes
        box $who $http --read "$T/stay.py" -- sh -c "python3 '$T/stay.py' 1 & python3 '$T/stay.py' 7 & wait"
        is "$who: a silent client is left after some seconds" "$(sort "$T/out")" "left
listened to"
        [ "$who" = as_user ] || box $who $http --read "$T/stay.py" -- sh -c "python3 '$T/stay.py' 20 talks & python3 '$T/stay.py' 33 talks & wait"
        [ "$who" = as_user ] || is "$who: and one that talks on, after half a minute" "$(sort "$T/out")" "left
listened to"

        box $who $http --limit 'files 2048' --read "$T/stay_many.py" -- python3 "$T/stay_many.py"
        is "$who: who is answered and stays takes no place from others" "$(cat "$T/out")" 520

        # Inside TLS: the server's certificate is of the test's own authority, which the host trusts only from here on.
        box $who $https -- curl -sS -m 10 https://web.test/a/x
        hasnt "$who: a server that the host does not trust is not spoken to" "$(cat "$T/out")" "GET /a/x"
        mount --bind "$T/roots" "$(readlink -f "$bundle")"
        box $who $https -- sh -c 'curl -sS -m 10 https://web.test/a/x; curl -sS -m 10 https://web.test/b'
        is "$who: a request inside TLS" "$(head -n 1 "$T/out")" "GET /a/x 0"
        is "$who: is judged, too" "$(row 'GET https://web.test/b' deny permit)" "net https://web.test/b GET"
        ! command -v wget >/dev/null || { box $who $https -- wget -q -O - https://web.test/a/w; is "$who: wget trusts the box's authority" "$(cat "$T/out")" "GET /a/w 0"; }
        box $who $https -- python3 -c 'import urllib.request as u; print(u.urlopen("https://web.test/a/p").read().decode().strip())'
        is "$who: python does" "$(cat "$T/out")" "GET /a/p 0"
        ! command -v node >/dev/null || { box $who $https -- node -e 'fetch("https://web.test/a/n").then(r => r.text()).then(t => console.log(t.trim()))'; is "$who: node does" "$(cat "$T/out")" "GET /a/n 0"; }
        box $who $https -- curl -sS -m 10 -H 'Host: six.test' https://web.test/a/x
        hasnt "$who: fronting: another Host inside TLS is refused" "$(cat "$T/out")" "GET /a/x"
        box $who $https -- curl -sS -m 10 --connect-to six.test:443:web.test:443 https://six.test/a/x
        hasnt "$who: fronting: another name in the hello is refused" "$(cat "$T/out")" "GET /a/x"
        box $who $https -- curl -sS -m 10 http://web.test:443/a/x
        hasnt "$who: a clear request on a door for TLS is refused" "$(cat "$T/out")" "GET /a/x"
        box $who $https -- sh -c 'curl -sS -m 20 https://web.test/a/x >/dev/null; head -c 8388608 /dev/zero | curl -sS -m 20 --data-binary @- https://web.test/a/up'
        is "$who: 8 MB up, inside TLS" "$(cat "$T/out")" "POST /a/up 8388608"
        box $who --net 'https://web.test/bytes/**' -- sh -c 'curl -sS -m 30 https://web.test/bytes/33554432 | wc -c'
        is "$who: 32 MB down, inside TLS" "$(cat "$T/out")" 33554432
        box $who --net 'https://web.test/** GET cap 2/h' -- sh -c 'curl -sS -m 5 https://web.test/1 https://web.test/2 https://web.test/3'
        is "$who: a cap for the hour counts requests" "$(grep -c '^GET /[123]' "$T/out")" 2
        has "$who: and tells" "$(row 'GET https://web.test/3' deny why)" "cap"
        box $who --net 'https://web.test/** cap 1M' -- sh -c 'curl -sS -m 10 https://web.test/bytes/4000000 | wc -c'
        ok "$who: a cap on bytes cuts a request" test "$(cat "$T/out")" -lt 1048577
        box $who --net web.test:443 -- curl -sS -m 10 https://web.test/raw
        is "$who: a raw door leaves TLS alone" "$(cat "$T/out")" "GET /raw 0"
        box $who -v --net 'http://web.test/**' -- curl -sS -m 10 http://web.test/odd/lf
        has "$who: an answer that could be read in two ways is not passed on" "$(cat "$T/out")" "cordon: malformed response: line does not end in CR LF"
        has "$who: and a person is told why" "$(cat "$T/err")" "web.test:80 (malformed response: line does not end in CR LF)"
        # A changed policy is held against a run that was: what would be refused now, what would pass.
        box $who --net 'http://web.test/a/** GET POST' --net web.test:7 -- bash -c 'curl -sS -m 10 http://web.test/a/1 -d x http://web.test/a/2; curl -sS -m 10 http://web.test/b; curl -sS http://four.test/; echo >/dev/tcp/web.test/7'
        then=$(json .run)
        against() { $who "$CORDON" check --json --against "$then" "$@" 2>&1; }
        is "$who: the same policy changes nothing" "$(against --net 'http://web.test/a/** GET POST' --net web.test:7 | jq -c '[.refused, .permitted]')" '[[],[]]'
        is "$who: a narrower one would refuse" "$(against --net 'http://web.test/a/** GET' | jq -c '[(.refused | sort), .permitted]')" '[["POST http://web.test/a/1","POST http://web.test/a/2"],[]]'
        is "$who: a wider one would let through" "$(against --net 'http://web.test/** GET POST' --net web.test:7 | jq -c '[.refused, .permitted]')" '[[],["GET http://web.test/b"]]'
        is "$who: a name that was not there would be" "$(against --net 'http://web.test/a/** GET POST' --net web.test:7 --net four.test:80 | jq -c '[.refused, .permitted]')" '[[],["the name four.test"]]'
        printf 'place web live http://web.test/a/\n' >"$T/places" && chmod 644 "$T/places"
        is "$who: doors to places are judged where the file says what they are" "$(against --places "$T/places" --net '@web/1 POST' | jq -c '[.refused | sort]') $(against --net '@web/1 POST' | jq -c .refused)" '[["POST http://web.test/a/2","web.test:7"]] []'
        $who "$CORDON" check --net 'http://four.test/**' --against "$then" >"$T/out" 2>&1
        is "$who: and the status says that a run would be refused something" "$? $(grep -c '^refused now: web.test:7$' "$T/out")" "1 1"
        $who "$CORDON" check --net 'http://web.test/**' --against no-such-run >"$T/out" 2>&1
        is "$who: a run that is not there" $? 125
        # WebSocket is a word of its own: GET alone does not open one, and what would is told.
        ws='import socket, sys
s = socket.create_connection(("web.test", 80), 5); s.settimeout(5)
s.sendall(b"GET /a/ws HTTP/1.1\r\nHost: web.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
print(s.recv(4096).split(b"\r\n")[0].decode()); s.sendall(b"\x81\x85\0\0\0\0hello"); print(s.recv(4096) == b"\x81\x05hello")'
        box $who --net 'http://web.test/a/** GET' -- python3 -c "$ws"
        is "$who: a WebSocket is no GET" "$(head -n 1 "$T/out")" "HTTP/1.1 403 Forbidden"
        is "$who: and the line that would permit it names it" "$(row 'WEBSOCKET http://web.test/a/ws' deny permit)" "net http://web.test/a/ws WEBSOCKET"
        box $who --net "$(row 'WEBSOCKET http://web.test/a/ws' deny permit | cut -d' ' -f2-)" -- python3 -c "$ws"
        is "$who: with it, it is open both ways" "$(cat "$T/out")" "HTTP/1.1 101 Switching Protocols
True"
        # What was looked at is told: TLS that begins in the middle, as of mail servers, is bytes to us.
        box $who --net web.test:443 --net 'http://web.test/** GET' --net web.test:7 -- bash -c 'curl -sSk -m 10 https://web.test/raw http://web.test/x; exec 3<>/dev/tcp/web.test/7; printf "STARTTLS\r\n" >&3; head -n 1 <&3'
        is "$who: how much was looked at is told" "$(row web.test:443 allow seen) $(row web.test:80 allow seen) $(row web.test:7 allow seen)" "hello requests bytes"
        # A raw door leaves TLS alone, but the hello must name the door's host: many hosts share an address.
        box $who --net web.test:443 -- curl -sS -m 10 --connect-to six.test:443:web.test:443 https://six.test/raw
        hasnt "$who: fronting: another name in the hello is refused at a raw door" "$(cat "$T/out")" "GET /raw"
        is "$who: and told" "$(row web.test:443 deny why)" "SNI names another host"
        is "$who: with the line of that host" "$(row web.test:443 deny permit)" "net six.test:443"
        box $who --net web.test:443 -- sh -c 'echo | openssl s_client -connect web.test:443 -noservername 2>&1 | grep -c "BEGIN CERT"'
        is "$who: a hello without a name is refused at port 443" "$(cat "$T/out") $(row web.test:443 deny why)" "0 ClientHello without SNI"
        box $who --net web.test:443 --read "$T/hello.py" -- python3 "$T/hello.py" web.test web.test 1
        is "$who: a hello in single bytes goes through" "$(cat "$T/out")" "answered"
        box $who --net web.test:443 --read "$T/hello.py" -- python3 "$T/hello.py" web.test six.test 1
        is "$who: and is judged, in single bytes" "$(cat "$T/out") $(row web.test:443 deny permit)" "refused net six.test:443"
        box $who --net web.test:443 -- curl -sS -m 10 http://web.test:443/clear
        is "$who: what is no hello is refused at port 443" "$(row web.test:443 deny why)" "no TLS ClientHello on port 443"
        box $who --net web.test:7 -- bash -c 'exec 3<>/dev/tcp/web.test/7; echo hello >&3; head -n 1 <&3'
        is "$who: and goes through at another port" "$(cat "$T/out")" hello
        box $who --net web.test:7 --read "$T/hello.py" -- python3 "$T/hello.py" web.test six.test 9 7
        is "$who: where a hello for another host does not" "$(cat "$T/out") $(row web.test:7 deny permit)" "refused net six.test:7"
        box $who --net 'https://loop.test/**' -- curl -sS -m 5 -k https://loop.test/
        has "$who: a name that leads to the loopback is refused here, too" "$(json '[.net.destinations[] | select(.verdict == "deny") | .why] | join("; ")')" "loopback"
        umount "$(readlink -f "$bundle")"
done
done_testing
