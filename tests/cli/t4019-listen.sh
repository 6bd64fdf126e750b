#!/bin/sh
# `listen` doors: a port of the host's loopback leads to a server in the box, nothing else does, and connections are recorded.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
get() { python3 -c 'import sys, urllib.request as u; sys.stdout.write(u.urlopen("http://%s/%s" % (sys.argv[1], sys.argv[2]), timeout=20).read().decode())' "$@" 2>&1; }
cat >server.py <<'END'
import http.server, os, sys
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        if self.path == "/end": os._exit(0)
        body = b"x" * 300000 if self.path == "/big" else b"pong"
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
class V6(http.server.HTTPServer):
    address_family = 10
server = V6(("::1", int(sys.argv[1])), H) if len(sys.argv) > 2 else http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H)
print("ready", flush=True); server.serve_forever()
END
if ! "$CORDON" run -q --wall namespace -- true 2>/dev/null; then
        skip "listen doors" "no namespace wall here"
        done_testing
fi
# serve NAME LISTEN ARGUMENTS...: a server in a box, until it said that it is ready
serve() {
        name=$1 door=$2
        shift 2
        rm -f "$name.out"
        "$CORDON" run -q --wall namespace --name "$name" --read server.py --listen "$door" -- python3 server.py "$@" >"$name.out" 2>"$name.err" </dev/null &
        soon grep -q ready "$name.out"
}
port=$(free_port)
serve same "$port" "$port"
is "the host reaches the server" "$(get "127.0.0.1:$port" a)" pong
is "by the name localhost" "$(get "localhost:$port" a)" pong
is "a large answer comes whole" "$(get "127.0.0.1:$port" big | wc -c | tr -d ' ')" 300000
python3 - "$port" >many <<'END'
import socket, sys, threading
ok = []
def one():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30); s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    data = b""
    while True:
        more = s.recv(4096)
        if not more: break
        data += more
    ok.append(data.endswith(b"pong"))
t = [threading.Thread(target=one) for _ in range(20)]
[x.start() for x in t]; [x.join() for x in t]
print(ok.count(True))
END
is "twenty at once" "$(cat many)" 20
has "another box cannot listen at the same port" "$("$CORDON" run --wall namespace --listen "$port" -- true 2>&1)" "listen $port"
is "which is an error of its own" "$(status "$CORDON" run -q --wall namespace --listen "$port" -- true)" 125
others=$(python3 - "$port" <<'END'
import socket, sys
def tries(where):
    try:
        s = socket.create_connection((where, int(sys.argv[1])), 2); s.close(); return "reached"
    except OSError: return "no"
try: own = socket.gethostbyname(socket.gethostname())
except OSError: own = "127.0.1.1"
print(tries(own) if not own.startswith("127.0.0.1") else "no")
END
)
is "other addresses of the host do not lead to it" "$others" no
get "127.0.0.1:$port" end >/dev/null
wait
ok "the end of the box closes the port" test "$(get "127.0.0.1:$port" a | grep -c refused)" -ge 1
record=$("$CORDON" ledger --json --box same | jq -c 'select(.door // "" | startswith("listen"))')
is "the connections are recorded" "$(echo "$record" | jq -r '.kind + " " + .phase + " " + .target')" "net outcome 127.0.0.1:$port"
ok "with their number and bytes" test "$(echo "$record" | jq '.count >= 23 and .bytes > 300000')" = true

outer=$(free_port)
serve other "$outer:7070" 7070
is "the port inside may be another" "$(get "127.0.0.1:$outer" a)" pong
get "127.0.0.1:$outer" end >/dev/null
wait
serve six "$outer:7070" 7070 v6
is "a server at ::1 is reached too" "$(get "127.0.0.1:$outer" a)" pong
get "127.0.0.1:$outer" end >/dev/null
wait
first=$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)
if [ -w /proc/sys/net/ipv4/ip_unprivileged_port_start ] || ! grep -q ' /proc/sys ro' /proc/self/mountinfo; then
        serve low "$outer:80" 80
        is "a server in the box has the ports below 1024" "$(get "127.0.0.1:$outer" a)" pong
        get "127.0.0.1:$outer" end >/dev/null
        wait
        bound='import socket; s = socket.socket(); s.bind(("127.0.0.1", 80)); print("bound")'
        is "an ordinary user's too" "$(as_user "$CORDON" run -q --wall namespace -- python3 -c "$bound" 2>&1)" bound
        is "one with net doors too" "$("$CORDON" run -q --wall namespace --net example.com:443 -- python3 -c "$bound" 2>&1)" bound
        is "the host's stay as they were" "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" "$first"
else
        skip "a server in the box has the ports below 1024" "/proc/sys is read-only here"
fi
if [ "$first" -gt 80 ]; then
        has "a low port of the host needs root, and another port is named" "$(as_user "$CORDON" run --wall namespace --listen 80 -- true 2>&1)" "--listen 8080:80"
else
        skip "a low port of the host needs root" "here it does not"
fi
"$CORDON" run -q --wall namespace --listen "$outer" -- sleep 60 >/dev/null 2>&1 </dev/null &
keeper=$!
soon sh -c "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", $outer), 5)' 2>/dev/null"
ok "a port without a server closes the connection" test "$(get "127.0.0.1:$outer" a | wc -c)" -gt 0
kill -9 "$keeper"
wait "$keeper" 2>/dev/null
free() { python3 -c 'import socket, sys; s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()' "$1"; }
ok "a keeper that was killed leaves no listener" soon free "$outer"

# --- budgets: not a byte more than the limit, however many connections ask for it, and nothing is open behind it ---
cat >talk.py <<'END'
import select, socket, sys
s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(64); print("ready", flush=True)
way, got, held = sys.argv[2], 0, []
while True:
    ready = select.select([0, s], [], [])[0]
    if 0 in ready: break
    c = s.accept()[0]; c.settimeout(5); held.append(c)
    try:
        if way == "out": c.sendall(b"x" * 16000); c.close()
        while way == "in":
            more = c.recv(65536); got += len(more)
            if not more: break
    except OSError: pass
print("got", got, flush=True)
END
cat >ask.py <<'END'
import socket, sys
n = 0
for i in range(20):
    try:
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
        if sys.argv[2] == "in": s.sendall(b"x" * 16000); s.shutdown(1)
        while True:
            b = s.recv(65536)
            if not b: break
            n += len(b)
    except OSError: pass
print(n)
END
# talk WAY OPTIONS...: a server in a box until fd 7 closes; its keeper is $keeper
talk() {
        way=$1
        shift
        rm -f go && mkfifo go
        "$@" "$CORDON" run --wall namespace --read talk.py --listen "$outer" --limit "egress 1000" --limit "ingress ${ingress:-1000}" -- \
                python3 talk.py "$outer" "$way" <go >talk.out 2>talk.err &
        keeper=$!
        exec 7>go
        soon grep -q ready talk.out
}
hush() { exec 7>&- && wait "$keeper"; }
outer=$(free_port)
talk out env
is "limit egress: that many bytes leave, over all connections" "$(timeout 60 python3 ask.py "$outer" out)" 1000
ok "then the port is closed" soon free "$outer"
hush
has "and the limit is named" "$(cat talk.err)" "egress"
talk in env
timeout 60 python3 ask.py "$outer" in >/dev/null
ok "limit ingress: the port is closed when it is used up" soon free "$outer"
hush
is "that many bytes came in" "$(grep got talk.out)" "got 1000"

# --- a keeper has nothing to do for connections that are stuck or cannot be accepted ---
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
ingress=1G
talk hold env
python3 - "$outer" <<'END'
import socket, struct, sys
for i in range(8):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); s.settimeout(0.3)
    try:
        while True: s.send(b"x" * 1048576)
    except TimeoutError: pass
    s.setsockopt(1, 13, struct.pack("ii", 1, 0)); s.close()
END
first=$(ticks "$keeper")
sleep 1
ok "clients that reset while the server reads nothing cost the keeper nothing" test $(($(ticks "$keeper") - first)) -lt $(($(getconf CLK_TCK) / 3))
hush
if strace -o /dev/null true 2>/dev/null; then
        talk hold strace -qq -o accepted -e trace=accept4 -e inject=accept4:error=EMFILE
        python3 -c 'import socket, sys, time; s = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); time.sleep(1)' "$outer"
        hush
        ok "who cannot be accepted is tried again" test "$(grep -c INJECTED accepted)" -ge 2
        ok "and not without a pause" test "$(grep -c INJECTED accepted)" -lt 200
else
        skip "who cannot be accepted is tried again, with a pause" "strace cannot trace here"
fi

# An answer of init that is lost is nobody else's: it is init's first message that fails here.
serve lost "$outer:7070" 7070
keeper=$!
init=$(tr ' ' '\n' <"/proc/$keeper/task/$keeper/children" | while read -r p; do grep -q cordon-init "/proc/$p/comm" && echo "$p"; done)
: >lost.trace
strace -qq -p "$init" -o lost.trace -e trace=sendmsg -e inject=sendmsg:error=EAGAIN:when=1 2>strace.err &
tracer=$!
is_traced() { grep -q "^TracerPid:[[:space:]]*$tracer\$" "/proc/$init/status"; }
attached() { is_traced || ! kill -0 "$tracer"; }
soon attached
if is_traced; then
        get "127.0.0.1:$outer" a >first.out &
        first=$!
        ok "an answer is lost" soon grep -q INJECTED lost.trace
        is "the next client has its own" "$(get "127.0.0.1:$outer" b)" pong
        wait "$first"
        hasnt "and the one before has none" "$(cat first.out)" pong
        kill "$tracer"
else
        skip "an answer of init that is lost is nobody else's" "strace cannot trace init here"
fi
get "127.0.0.1:$outer" end >/dev/null
wait "$keeper"

for bad in 0 65536 x 80:x 080 1:2:3 ''; do
        is "--listen '$bad' is refused" "$(status "$CORDON" run -q --listen "$bad" -- true)" 125
done
has "doors names it" "$("$CORDON" doors --listen 8080:80)" "listen 8080:80"
echo "listen 8080:80" >listen.cordon
has "its JSON has the same door" "$("$CORDON" policy show --json listen.cordon)" '8080:80'
done_testing
