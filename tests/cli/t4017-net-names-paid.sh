# Names below a wildcard are words of the box's own: they are paid for as what it sends. And what some servers read before, or as, a TLS hello
# does not carry another name past a door that moves bytes.
. "$(dirname "$0")/lib-net.sh"
cat >"$T/ask.py" <<'PY'
import socket, sys
for i in range(int(sys.argv[1])):
    try:
        socket.getaddrinfo('%s%02d.wild.test' % ('x' * 38, i), 80, socket.AF_INET)
    except OSError:
        pass
PY
cat >"$T/say.py" <<'PY'
import socket, sys
c = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
try:
    c.sendall(bytes.fromhex(sys.argv[3]))
    print('answered' if c.recv(100) else 'closed')
except OSError:
    print('reset')
PY
chmod 644 "$T/ask.py" "$T/say.py" && chmod 755 "$T"
# below PID NAME: a process of this name that PID or one of its children started; its pid in $found
below() {
        for p in /proc/[0-9]*; do
                [ "$(cat "$p/comm" 2>/dev/null)" = "$2" ] || continue
                found=${p#/proc/} up=$found
                while [ "${up:-0}" -gt 1 ] && [ "$up" != "$1" ]; do up=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$up/status" 2>/dev/null); done
                [ "$up" = "$1" ] && return 0
        done
        return 1
}
# Many connections at once that hold what a door with bounds has to read whole: refused or answered, and the broker lives.
cat >"$T/many.py" <<'PY'
import socket, sys
held, said = [], 0
for i in range(500):
    c = socket.create_connection((sys.argv[1], 80), 60)
    c.sendall(b'POST /pay/x HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 900000\r\n\r\n' % sys.argv[1].encode())
    c.setblocking(False)
    try:
        while True:
            c.send(b'x' * 65536)
    except OSError:
        held.append(c)
for c in held:
    c.close()
c = socket.create_connection((sys.argv[1], 80), 60)
c.sendall(b'GET /after HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' % sys.argv[1].encode())
print(c.makefile().read().splitlines()[-1])
PY
chmod 644 "$T/many.py"
for who in root as_user; do
        box $who --net 'http://web.test/pay/** POST where a=int:1..5' --net 'http://web.test/after GET' --read "$T/many.py" -- python3 "$T/many.py" web.test
        is "$who: 500 connections that fill what they may, and one behind them" "$(cat "$T/out")" "GET /after 0"
        : >"$T/lab/dns.log"
        box $who --net '*.wild.test:80' --limit 'egress 100' --read "$T/ask.py" -- python3 "$T/ask.py" 20
        is "$who: of 20 names of 50 bytes two are within a budget of 100" "$(lab_names | grep -c '^x.*\.wild\.test')" 2
        is "$who: the next is refused, and says why" "$(row "the name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx02.wild.test" deny why)" 'limit `egress` reached'
        : >"$T/lab/dns.log"
        box $who --net '*.wild.test:80 cap 120/out' --read "$T/ask.py" -- python3 "$T/ask.py" 20
        is "$who: nor does a door's cap let more out" "$(lab_names | grep -c '^x.*\.wild\.test')" 2
        box $who --net web.test:80 --limit 'egress 100' -- python3 -c 'import socket; print(len(socket.getaddrinfo("web.test", 80)) > 0)'
        is "$who: a name that the policy has itself costs nothing" "$(cat "$T/out")" True
        # An alert, then a hello for another host; and a hello in a record of version 2.1.
        for bytes in 150301000201001603010005010000010000 160201000501000001 150900000202; do
                box $who --net web.test:80 --read "$T/say.py" -- python3 "$T/say.py" web.test 80 $bytes
                is "$who: $bytes does not leave" "$(cat "$T/out")" reset
                is "$who: and is told" "$(row web.test:80 deny why)" "first TLS record is not a ClientHello"
        done

        # The resolver runs libraries that nobody here chose: it has a filter, and names still resolve (above).
        $who "$CORDON" run --net web.test:80 -- sleep 60 >/dev/null 2>&1 </dev/null 9>&- &
        child=$!
        soon below $child cordon-resolver || fail "$who: cordon-resolver runs"
        is "$who: cordon-resolver has a filter of calls, and no new privileges" "$(sed -n 's/^\(Seccomp\|NoNewPrivs\):[[:space:]]*//p' "/proc/$found/status" | tr '\n' ' ')" "1 2 "
        soon below $child cordon-egress || fail "$who: cordon-egress runs"
        is "$who: the broker's memory has an end of its own" "$(sed -n 's/^Max data size *\([0-9]*\) *\([0-9]*\).*/\1 \2/p' "/proc/$found/limits")" "134217728 134217728"
        kill $child
        wait $child 2>/dev/null
done
done_testing
