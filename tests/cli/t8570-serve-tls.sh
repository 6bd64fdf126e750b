#!/bin/sh
# `cordon serve --http --tls-cert --tls-key`: TLS by a process of its own, beyond loopback as well; certificates that are exchanged; and what tells a service manager.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
for p in curl jq openssl python3; do command -v $p >/dev/null || { skip "serve with TLS" "$p is missing"; done_testing; }; done
[ -x "$T/libexec/cordon-tls" ] || [ -x "$(dirname "$CORDON")/../libexec/cordon/cordon-tls" ] || { skip "serve with TLS" "cordon-tls is not built"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a
a=$(token a)
make() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$2" -addext "subjectAltName=DNS:boxes.test" -keyout "$T/d/$1.key" -out "$T/d/$1.crt" 2>/dev/null; chmod 644 "$T/d/$1.key" "$T/d/$1.crt"; }
make one first; make two second
ln -s one.crt "$T/d/tls.crt"; ln -s one.key "$T/d/tls.key"
has "a key alone is an error" "$(cordon serve --http 127.0.0.1:0 --tls-key x 2>&1)" "belong together"
has "without TLS only loopback" "$(cordon serve --http 0.0.0.0:0 2>&1)" "--tls-cert"
ln -s two.key "$T/d/other.key"
has "a key of another certificate: it does not start" "$(cordon serve --http 127.0.0.1:0 --tls-cert "$T/d/tls.crt" --tls-key "$T/d/other.key" 2>&1)" "TLS does not start"
has "nor without files" "$(cordon serve --http 127.0.0.1:0 --tls-cert "$T/d/none" --tls-key "$T/d/none" 2>&1)" "TLS does not start"

# a service manager
python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1])
import os; os.chmod(sys.argv[1], 0o777)
while True:
    m = s.recv(4096).decode().replace("\n", " ")
    print(m, flush=True)
    if m.startswith("STOPPING"): break' "$T/d/notify" >"$T/notified" &
manager=$!
pids="$pids $manager"
soon test -S "$T/d/notify"
NOTIFY_SOCKET=$T/d/notify WATCHDOG_USEC=2000000
export NOTIFY_SOCKET WATCHDOG_USEC
serve --http 0.0.0.0:0 --tls-cert "$T/d/tls.crt" --tls-key "$T/d/tls.key" --http-host boxes.test
unset NOTIFY_SOCKET WATCHDOG_USEC
ok "systemd is told when it is ready" soon grep -q -x READY=1 "$T/notified"
ok "and that it lives" soon grep -q -x WATCHDOG=1 "$T/notified"
port=$(sed -n 's,.*https://0.0.0.0:\([0-9]*\)/.*,\1,p' "$T/said")
ok "it says where" test -n "$port"
tls() { # CA PATH [OPTION]...
        t_ca=$1 t_path=$2
        shift 2
        curl -sS --max-time 30 --noproxy '*' --cacert "$T/d/$t_ca.crt" --resolve "boxes.test:$port:127.0.0.1" -H "Host: ${t_host:-boxes.test}" -H "Authorization: Bearer ${t_token:-$a}" "$@" "https://boxes.test:$port$t_path"
}
is "a run over TLS" "$(tls one /v1/runs -H 'Content-Type: application/json' -d '{"argv":["echo","x"]}' | jq -r .stdout)" x
is "without a token: 401" "$(t_token=no tls one /v1/runs -o "$T/body" -w '%{http_code}')" 401
is "another Host: 421" "$(t_host=evil.test tls one /v1/health -o "$T/body" -w '%{http_code}')" 421
ok "another certificate is not trusted" test -z "$(tls two /v1/health 2>/dev/null)"
is "plain HTTP is none" "$(curl -s --max-time 5 --noproxy '*' "http://127.0.0.1:$port/v1/health" | head -c 20)" ""
is "TLS 1.1 is none" "$(tls one /v1/health --tls-max 1.1 2>/dev/null)" ""
head -c 9000000 /dev/urandom >"$T/big"
tls one /v1/files/big -X PUT --data-binary "@$T/big" >/dev/null
is "megabytes in and out" "$(tls one /v1/files/big | sha256sum)" "$(sha256sum <"$T/big")"
is "events" "$(tls one /v1/runs -H 'Accept: text/event-stream' -H 'Content-Type: application/json' -d '{"argv":["sh","-c","echo a; sleep 0.2; echo b"]}' | sed -n 's/^event: //p' | sort -u | xargs)" "end output start"
is "two requests on one connection" "$(tls one /v1/health --next --cacert "$T/d/one.crt" --resolve "boxes.test:$port:127.0.0.1" -H 'Host: boxes.test' -s "https://boxes.test:$port/v1/health" | grep -c '"ok"')" 2
# who connects and says nothing keeps nobody out
mkfifo "$T/hold" && exec 8<>"$T/hold"
python3 -c '
import socket, sys
l = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(100)]
l[0].sendall(b"\x16\x03\x01\x40\x00" + b"\x00" * 100); l[1].sendall(b"GET / HTTP/1.1\r\n\r\n"); print("up", flush=True); sys.stdin.read()' "$port" <"$T/hold" 8>&- >"$T/idle" 2>/dev/null &
pids="${pids-} $!"
is "beside silent connections" "$(tls one /v1/health | jq -r .status)" ok
# exchanged
ln -sf two.crt "$T/d/tls.crt"; ln -sf two.key "$T/d/tls.key"
is "exchanged files count at once" "$(tls two /v1/health | jq -r .status)" ok
ln -sf one.crt "$T/d/tls.crt"
is "that do not fit leave the old ones" "$(tls two /v1/health | jq -r .status)" ok
ln -sf two.crt "$T/d/tls.crt"
helper() { for p in $(cat "/proc/$serve/task/$serve/children"); do [ "$(cat "/proc/$p/comm" 2>/dev/null)" != cordon-tls ] || echo "$p"; done; }
h=$(helper)
ok "it is a process of its own" test -n "$h"
kill -9 "$h"
again() { [ "$(tls two /v1/health 2>/dev/null | jq -r .status)" = ok ]; }
ok "one that is killed is started again" soon again
h=$(helper)
kill -9 "$serve" && soon gone "$serve"
ok "and ends with the server" soon gone "$h"
kill "$manager" 2>/dev/null
done_testing
