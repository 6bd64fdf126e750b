# Names, addresses and ports: what a `net` door lets through, what is refused and told, and that nothing else leaves.
. "$(dirname "$0")/lib-net.sh"

# Prefixes that the host answers for without having each of their addresses on an interface.
ip route add local 11.22.77.0/24 dev lo && ip -6 route add local 2a00:1177::/64 dev lo || fail "the host has prefixes of its own"
for who in root as_user; do
        box $who --net web.test:80 -- curl -sS -m 10 http://web.test/hello
        is "$who: a name that a door names is reached" "$(cat "$T/out")" "GET /hello 0"
        is "$who: and the command's status is its own" $status 0
        is "$who: the result counts the connection" "$(row web.test:80 allow connections)" 1
        is "$who: and says where it led" "$(row web.test:80 allow reach)" public
        ok "$who: bytes are counted both ways" test "$(row web.test:80 allow sent)" -gt 50 -a "$(row web.test:80 allow received)" -gt 50
        is "$who: the broker took its leave" "$(json .net.broker)" "done"
        is "$who: nothing was refused" "$(json '[.denials[] | select(.minor | not)] | length')" 0

        for family in 4 6; do
                box $who --net web.test:80 -- curl "-$family" -sS -m 10 http://web.test/v$family
                is "$who: over IPv$family in the box" "$(cat "$T/out")" "GET /v$family 0"
        done
        box $who --net six.test:80 -- curl -4 -sS -m 10 http://six.test/x
        is "$who: a box that speaks IPv4 reaches a host that has only IPv6" "$(cat "$T/out")" "GET /x 0"
        box $who --net four.test:80 -- curl -6 -sS -m 10 http://four.test/x
        is "$who: and the other way round" "$(cat "$T/out")" "GET /x 0"

        box $who --net '*.wild.test:80' -- sh -c 'curl -sS -m 5 http://deep.sub.wild.test/a; curl -sS -m 5 http://sub.wild.test/b; curl -sS -m 5 http://wild.test/c'
        is "$who: a wildcard covers one or more labels, and not the name itself" "$(cat "$T/out")" "GET /a 0
GET /b 0"
        is "$who: the refused name is told" "$(row 'the name wild.test' deny why)" "no net door for this host name"

        # Below a wildcard the box chooses what is asked for: that leaves also where it connects to nobody.
        box $who --net '*.wild.test:80' --net '*.wild.test:81' -- sh -c 'getent hosts 4711.wild.test >/dev/null; curl -sS -m 5 http://sub.wild.test/b'
        has "$who: a name below a wildcard is asked for outside" "$(lab_names)" 4711.wild.test
        is "$who: and told, though nothing connects there" "$(row 4711.wild.test:80 allow connections)" 0
        is "$who: in the ledger, too" "$($who "$CORDON" ledger --json | jq -r 'select(.target == "4711.wild.test:80") | .result')" "its name was looked up, and nothing more"
        is "$who: and one that is connected to has one row" "$(json '[.net.destinations[] | select(.to | startswith("sub.wild.test"))] | length')$(row sub.wild.test:80 allow connections)" 11

        box $who --net 127.0.0.1:8080 -- curl -sS -m 10 http://127.0.0.1:8080/l
        is "$who: a loopback address that a door names is the host's" "$(cat "$T/out")" "GET /l 0"
        is "$who: and the result says so" "$(row 127.0.0.1:8080 allow reach)" loopback
        box $who --net localhost:8080 -- true
        is "$who: a door to localhost, which is the box's own, does not load, and the host's is named" "$status $(grep -c 'localhost means the box itself; for the host use 127.0.0.1:8080' "$T/err")" "125 1"
        box $who --net localhost:8080 --net 127.0.0.1:8080 -- curl -sS -m 10 http://localhost:8080/n
        is "$who: beside that line it is reached" "$(cat "$T/out")" "GET /n 0"
        box $who --net 11.22.33.44:80 -- curl -sS -m 10 http://11.22.33.44/a
        is "$who: an address that a door names" "$(cat "$T/out")" "GET /a 0"
        box $who --net '[2a00:1111::44]:80' -- curl -sS -m 10 'http://[2a00:1111::44]/a'
        is "$who: an IPv6 address that a door names" "$(cat "$T/out")" "GET /a 0"

        # Refused, and told.
        box $who --net web.test:80 -- curl -sS -m 10 http://11.22.33.44/a
        is "$who: the right host by its number has no door" "$(cat "$T/out")" ""
        is "$who: and is told with the line that would permit it" "$(row 11.22.33.44:80 deny permit)" "net 11.22.33.44:80"
        box $who --net web.test:80 -- curl -sS -m 10 http://web.test:8000/a
        ok "$who: another port has no door" test $status -ne 0
        is "$who: and is told, though nothing listens there" "$(row web.test:8000 deny permit)" "net web.test:8000"
        has "$who: at the end of the run" "$(cat "$T/err")" "hint: --net web.test:8000"
        box $who --net web.test:80 -- curl -sS -m 10 http://four.test/
        is "$who: another name does not exist" $status 6
        is "$who: and is told" "$(row 'the name four.test' deny permit)" "net four.test:443"
        has "$who: by its name alone: nobody knows the port" "$(cat "$T/err")" "blocked: look up four.test by curl (no net door for this host name), 2 times
hint: --net four.test:443
hint: port 443 is a guess"
        has "$who: for programs, too" "$(json '.denials[] | select(.path == "four.test") | .next_steps[0]')" "add the line: net four.test:443, with the port that is meant: only the name was asked for"
        # By TCP: questions one behind another, one in pieces, one that is too long; the code and the count of answers to each.
        box $who --net web.test:80 -- python3 -c 'import socket, struct, time
def ask(name, kind): return b"\1\2\1\0\0\1\0\0\0\0\0\0" + b"".join(bytes([len(p)]) + p for p in name.split(b".")) + bytes([0, 0, kind, 0, 1])
def put(name, kind=1): return struct.pack(">H", len(ask(name, kind))) + ask(name, kind)
def take():
    a = f.read(struct.unpack(">H", f.read(2))[0])
    print(a[3] & 15, a[7], end=", ")
s = socket.create_connection(("9.9.9.9", 53), 5)
f = s.makefile("rb")
s.sendall(put(b"web.test") + put(b"four.test") + put(b"web.test", 15) + put(b"4.3.2.1.in-addr.arpa", 12) + put(b"11.22.33.44"))
for _ in range(5): take()
for b in put(b"web.test"):
    s.sendall(bytes([b])); time.sleep(0.002)
take()
s.sendall(b"\377\377" + ask(b"web.test", 1))
try: print(len(f.read(2)))
except OSError: print(0)'
        is "$who: names are also told by TCP, as often as one asks" "$(cat "$T/out")" "0 1, 3 0, 0 0, 3 0, 3 0, 0 1, 0"
        is "$who: what is refused there is told" "$(row 'the name four.test' deny why)" "no net door for this host name"
        is "$who: but not the names of numbers, which libraries ask for by themselves" "$(json '[.net.destinations[] | select(.to | contains("arpa"))] | length')" 0
        box $who --net web.test:80 --net four.test:443 -- curl -sS -m 10 http://four.test/
        is "$who: with that line the next refusal names the port" "$(row four.test:80 deny permit)" "net four.test:80"
        box $who --net web.test:80 -- sh -c 'exec 3<>/dev/udp/11.22.33.44/80; echo x >&3; sleep 0.2'
        box $who --net web.test:80 -- bash -c 'echo x >/dev/udp/11.22.33.44/8000'
        is "$who: UDP does not leave, and is told" "$(row 'UDP to 11.22.33.44:8000' deny why)" "only TCP can leave a box"
        box $who --net web.test:80 -- curl -sS -m 10 http://127.0.0.1:9/
        ok "$who: the loopback in the box is the box's own" test $status -eq 7
        box $who --net dead.test:80 --net closed.test:7999 -- sh -c 'curl -sS -m 5 http://closed.test:7999/'
        is "$who: a host that refuses is a failure, not a refusal of ours" "$(row closed.test:7999 failed why)" "no answer"
        has "$who: which a person is told, who sees no more than a reset" "$(cat "$T/err")" "cordon: not reached:
  closed.test:7999 (no answer)"
        is "$who: so no denial" "$(json '[.denials[] | select(.minor | not)] | length')" 0
        box $who --net nowhere.test:80 -- curl -sS -m 5 http://nowhere.test/
        is "$who: a name that does not resolve outside is told" "$(row nowhere.test:80 failed why)" "host name does not resolve"
        is "$who: and does not exist for the program" "$status $(grep -c 'Could not resolve host' "$T/err")" "6 1"
        box $who --net 'http://nowhere.test/**' -- curl -sS -m 5 http://nowhere.test/
        has "$who: where requests are seen, the answer says so" "$(cat "$T/out")" "host name does not resolve"
        has "$who: and the result" "$(row nowhere.test:80 failed why)" "host name does not resolve"
        box $who --net nowhere.test:80 --net web.test:80 -- python3 -c 'import socket, time
t = time.time()
try: socket.create_connection(("nowhere.test", 80), 5)
except socket.gaierror: pass
print(time.time() - t < 3, socket.create_connection(("web.test", 80), 5).fileno() > 2)'
        is "$who: at once, and others are not held up" "$(cat "$T/out")" "True True"
        box $who --net eyes.test:80 -- curl -sS -m 10 http://eyes.test/e
        is "$who: the first address that answers is taken" "$(cat "$T/out")" "GET /e 0"

        # Where a name must not lead, unless the policy names the number.
        for name in loop loop6 zero meta alimeta link priv priv2 cgn multi broad doc nat64 sixto4 teredo ula mapped own own6 prefix prefix6; do
                box $who --net $name.test:9 -- curl -sS -m 10 http://$name.test:9/
                is "$who: $name.test reaches nothing" "$(cat "$T/out")" ""
                has "$who: $name.test is told with its address" "$(row $name.test:9 deny reason)" "guarded-address"
        done
        box $who --net loop.test:8080 -- curl -sS -m 10 http://loop.test:8080/
        is "$who: the line that would permit it is the number's" "$(row loop.test:8080 deny permit)" "net 127.0.0.1:8080"
        box $who --net loop.test:8080 --net 127.0.0.1:8080 -- curl -sS -m 10 http://loop.test:8080/n
        is "$who: with that line it is reached" "$(cat "$T/out")" "GET /n 0"
        box $who --net rebind.test:8080 -- sh -c 'for i in 1 2 3 4; do curl -sS -m 5 http://rebind.test:8080/$i; done; true'
        first=$(json '[.net.destinations[] | .address // .why] | join(" ")')
        box $who --net rebind.test:8080 -- sh -c 'for i in 1 2 3 4; do curl -sS -m 5 http://rebind.test:8080/$i; done; true'
        is "$who: a name that leads to the host's loopback the next time reaches nothing there, either time" "$(cat "$T/out")" ""
        has "$who: and one of the two was refused for it" "$first $(json '[.net.destinations[] | .why // ""] | join(" ")')" "name resolves to a guarded address: loopback"
        box $who --net mixed.test:80 -- curl -sS -m 10 http://mixed.test/m
        is "$who: of a mixed answer only the public address is used" "$(cat "$T/out")" "GET /m 0"
        is "$who: and that one is named" "$(row mixed.test:80 allow address)" 11.22.33.44
done

# A name with a byte that would end it early is told whole, and one of two labels in one is not called the door's.
box root --net web.test:80 -- python3 -c '
import socket, struct
for first in (b"four.test\0", b"web.test", b"x" * 60):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3); s.connect(("198.19.255.1", 53))
    labels = [first] * 3 + [b"web", b"test"] if first[0] == 120 else [first] if first == b"web.test" else [first, b"web", b"test"]
    s.send(struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l for l in labels) + b"\0" + struct.pack(">HH", 1, 1)); s.recv(512)'
is "a NUL in a name hides nothing of it" "$(row 'the name four.test\x00.web.test' deny why)" "invalid character in the host name"
is "a dot inside a label is no dot between two" "$(row 'the name web.test' deny why)" "invalid character in the host name"
x=$(printf 'x%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60)
is "and a long one is told with a line that names it whole" "$(row "the name $x.$x.$x.web.test" deny permit)" "net $x.$x.$x.web.test:443"

# Only the names of doors were ever asked for outside.
hasnt "no refused name was passed on" "$(lab_names)" evil
box root --net web.test:80 -- sh -c 'for i in 1 2 3; do getent hosts secret-$i.evil.test; getent hosts web.test.evil.test; done; getent hosts web.test'
ok "the box got its own answer" grep -q web.test "$T/out"
hasnt "a name is no way out" "$(lab_names)" evil
before=$(lab_packets | wc -l)
box root --net web.test:80 -- bash -c 'for p in 1 22 25 53 443 7999; do (echo x >/dev/tcp/11.22.33.44/$p); (echo x >/dev/udp/11.22.33.44/$p); (echo x >/dev/tcp/9.9.9.9/$p); done; true' 2>/dev/null
is "not one packet left for what no door names" "$(lab_packets | wc -l)" "$before"
is "the outside saw the servers that doors named, the name server, and nothing else" \
        "$(lab_packets | grep -v -e '^tcp 11.22.33.44 \(80\|7999\|8080\)$' -e '^tcp 2a00:1111::44 80$' -e '^udp 11.22.33.53 53$' -e '^tcp \(11.22.33.99\|2a00:1111::99\) 80$')" ""

# Who was refused: known where the command was the only program, and not guessed where there were others.
refused_by() { json "[.denials[] | select(.layer == \"egress\") | .code + \" by \" + .program] | unique | join(\", \")"; }
box root --net web.test:80 -- curl -sS -m 2 http://web.test:81/
is "the one program of a box is named with what the broker refused" "$(refused_by)" "net by curl"
has "a person is told too" "$(cat "$T/err")" "by curl (no net door for this port)"
box root --net web.test:80 -- python3 -c 'import socket
try: socket.getaddrinfo("other.test", 80)
except OSError: pass'
is "a name that no door names" "$(refused_by)" "net by python3"
box root --net 'http://web.test/data/** GET' -- curl -sS -m 2 -X POST http://web.test/data/1
is "a request" "$(refused_by)" "net by curl"
has "with the line that has its method, also if the command succeeds" "$(cat "$T/err")" "hint: --net 'http://web.test/data/1 POST'"
box root --net web.test:80 -- sh -c 'id >/dev/null; curl -sS -m 2 http://web.test:81/; true'
is "with several programs nobody is named" "$(refused_by)" "net by "
box root --observe calls --net web.test:80 -- curl -sS -m 2 http://web.test:81/
is "nor where starts are not observed" "$(refused_by)" "net by "
# A box without `net` doors has its loopback and no other interface.
box root -- sh -c 'curl -sS -m 2 http://11.22.33.44/; cat /sys/class/net/*/address 2>/dev/null | wc -l'
is "without a door there is no network" "$(cat "$T/out")" 0
is "and no broker" "$(json '.net // "none"')" none
has "what it could not reach is told with the word that opens it" "$(json '.denials[].permit')" "net 11.22.33.44:80"
# What cannot be held is refused at the start.
box root --wall process --net web.test:80 -- true
is "the process wall holds no net door" $status 125
has "and says so" "$(cat "$T/err")" "the process wall does not support a \`net\` door"
CORDON_LIBEXEC=/nonexistent box root --net web.test:80 -- true
is "without the broker nothing starts" $status 125
has "and says which program is missing" "$(cat "$T/err")" "cordon-egress is not installed"
box root --read /etc --net web.test:80 -- true
is "nor does a box with all of the host's /etc, where names and roots of its own must stand" "$status $(grep -c 'E136: boxes with a `net` door have a private /etc' "$T/err")" "125 1"
box root --read /etc/ssl --read /etc/hosts --net web.test:80 -- curl -sS -m 10 http://web.test/etc
is "parts of it do no harm" "$(cat "$T/out")" "GET /etc 0"
# What the doctor says of it is so.
doctor() { "$CORDON" doctor --json | jq -r --arg l "$1" '.[] | select(.layer == $l) | .state + " " + (.mend // "")'; }
is "the doctor: the link" "$(doctor 'net link')" "yes "
is "the broker" "$(doctor 'net broker')" "yes "
mkdir "$T/none" "$T/broken" && for d in none broken; do cp "$CORDON_LIBEXEC/cordon-review" "$T/$d/"; done
is "without it" "$(CORDON_LIBEXEC=$T/none doctor 'net broker')" "weak unset CORDON_LIBEXEC"
printf '#!/bin/sh\necho "$0: error while loading shared libraries: libssl.so.3: cannot open shared object file: No such file or directory" >&2\nexit 127\n' >"$T/broken/cordon-egress" && chmod 755 "$T/broken/cordon-egress"
is "one whose library is missing" "$(CORDON_LIBEXEC=$T/broken doctor 'net broker')" "weak sudo apt-get install libssl3"
printf '#!/bin/sh\nexit 0\n' >"$T/broken/cordon-egress"
is "one that is none of ours" "$(CORDON_LIBEXEC=$T/broken doctor 'net broker')" "weak sudo make install"
roots=$(doctor 'net roots')
: >"$T/empty"
for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
        [ ! -f "$f" ] || mount --bind "$T/empty" "$(readlink -f "$f")"
done
is "without roots it says so" "$(doctor 'net roots')" "weak sudo apt-get install ca-certificates"
for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
        [ ! -f "$f" ] || umount "$(readlink -f "$f")" 2>/dev/null
done
is "and they are there again" "$(doctor 'net roots')" "$roots"
# What crossed stands in the ledger, also what was permitted.
"$CORDON" ledger --json >"$T/ledger" 2>"$T/err"
has "each destination is a record" "$(jq -r 'select((.kind == "net" or .kind == "request") and .phase == "outcome") | .target' "$T/ledger")" web.test
has "and each refusal of the broker" "$(jq -r 'select(.kind == "net" and .phase == "denied") | .layer // .more.layer' "$T/ledger")" egress
done_testing
