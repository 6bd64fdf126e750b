# Answers that a server compresses though it was asked not to, through a door with a credential: read, searched and handed
# on plain, or refused with the reason.
. "$(dirname "$0")/lib-net.sh"
if [ ! -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        skip "compressed answers" "cordon-vault is not built here: it needs OpenSSL"
        done_testing
fi
if ! grep -aq 'corrupt compressed response' "$CORDON_LIBEXEC/cordon-egress"; then
        skip "compressed answers" "this build is without zlib: they are refused"
        done_testing
fi
cat >"$T/ask.py" <<'END'
# ask.py HOST PATH... - the requests at once over one connection; prints each status, head and body, and how it ended.
import http.client, socket, sys
c = http.client.HTTPConnection(sys.argv[1], 80, timeout=20)
for path in sys.argv[2:]:
    try:
        c.request('GET', path, headers={'Accept-Encoding': 'gzip, deflate, br'})
        r = c.getresponse()
        print(r.status, r.getheader('Content-Encoding'), r.getheader('Content-Length'), r.getheader('ETag'), r.getheader('Accept-Ranges'))
        n, last = 0, b''
        try:
            while (b := r.read(65536)):
                n, last = n + len(b), (last + b)[-400:]
            print('whole', n, last.decode('latin1').strip())
        except (http.client.HTTPException, OSError) as e:
            print('cut', type(e).__name__, n, last[-200:])
    except (http.client.HTTPException, OSError) as e:
        print('failed', type(e).__name__)
END
cat >"$T/ask10.py" <<'END'
import socket, sys
s = socket.create_connection((sys.argv[1], 80), 20)
s.sendall(b'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' % (sys.argv[2].encode(), sys.argv[1].encode()))
got = b''
try:
    while (b := s.recv(65536)):
        got += b
    print('end', got.split(b'\r\n\r\n', 1)[1].decode('latin1').strip()[-300:])
except ConnectionResetError:
    print('reset')
END
chmod 644 "$T/ask.py" "$T/ask10.py"
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
shown() { cat "$T/out" "$T/status" "$T/err"; }
# In any of its clothings: as it is, the middle of it in base64 at three offsets, in hex.
leaks() { shown | grep -cE "Q9zz|UTl6e|E5eno|ROXp6|51397a7a"; }
for who in root as_user; do
        home=$T/home-$who
        mkdir -m 700 "$home" && [ "$who" = root ] || chown 65533:65533 "$home" 2>/dev/null
        export XDG_CONFIG_HOME="$home"
        printf %s "$secret" | $who env XDG_CONFIG_HOME="$home" "$CORDON" vault add gh --env GITHUB_TOKEN >"$T/out" 2>&1
        door="http://web.test/** GET with gh"
        ask() { box $who --net "$door" --read "$T/ask.py" -- python3 "$T/ask.py" web.test "$@"; }

        for what in gzip/whole x-gzip/whole deflate/whole raw/whole gzip/chunked deflate/chunked gzip/close gzip/members gzip/error gzip/big; do
                ask "/packed/$what"
                code=200
                [ "$what" != gzip/error ] || code=500
                is "$who: $what comes plain" "$(head -n 1 "$T/out")" "$code None None W/\"1\" None"
                is "$who: $what is whole, and its secret starred" "$(grep -c "^whole .*did you not?" "$T/out") $(grep -o 'you said Bearer \*\*\*' "$T/out") $(leaks)" "1 you said Bearer *** 0"
                has "$who: $what: that is told" "$(json '[.net.destinations[].why] | join(" ")')" "secret removed from the response"
        done
        is "$who: the server was asked not to" "$(cut -d' ' -f2 "$T/lab/packed.log" | sort -u)" identity
        ask /packed/gzip/whole /packed/deflate/chunked /x /packed/gzip/big /x
        is "$who: one connection goes on through all of them" "$(grep -c ^whole "$T/out") $(grep -c 'GET /x 0' "$T/out") $(leaks)" "5 2 0"

        for what in "compress/whole=compressed response cannot" "br/whole=corrupt" "gzip/lie=corrupt"; do
                ask "/packed/${what%%=*}"
                is "$who: ${what%%=*} is refused" "$(head -n 1 "$T/out" | cut -d' ' -f1) $(leaks)" "502 0"
                has "$who: ${what%%=*}: with the reason" "$(cat "$T/out")" "${what#*=}"
                has "$who: ${what%%=*}: which is told" "$(json '[.net.destinations[].why] | join(" ")')" "${what#*=}"
        done
        for what in "gzip/cut=truncated" "gzip/trailing=data after the end" "gzip/damaged=corrupt" "gzip/early=incomplete response"; do
                ask "/packed/${what%%=*}"
                is "$who: ${what%%=*} never looks whole" "$(grep -c "^whole.*did" "$T/out") $(grep -cE '^(cut|failed|502)' "$T/out") $(leaks)" "0 1 0"
                has "$who: ${what%%=*}: the reason is told" "$(json '[.net.destinations[].why] | join(" ")')" "${what#*=}"
        done
        box $who --net "$door" --read "$T/ask10.py" -- python3 "$T/ask10.py" web.test /packed/gzip/whole
        is "$who: for HTTP/1.0 it ends with the connection" "$(grep -c '^end you said Bearer \*\*\*.*did you not?' "$T/out") $(leaks)" "1 0"
        box $who --net "$door" --read "$T/ask10.py" -- python3 "$T/ask10.py" web.test /packed/gzip/cut
        is "$who: and if that is not all, with a reset" "$(cat "$T/out") $(leaks)" "reset 0"

        # A bomb: what the box would get is what is counted.
        box $who --net "$door" --limit 'ingress 3M' --read "$T/ask.py" -- python3 "$T/ask.py" web.test /packed/gzip/bomb
        ok "$who: a bomb is held to the limit" test "$(sed -n 's/^cut [^ ]* \([0-9]*\) .*/\1/p' "$T/out")" -le 3145728
        is "$who: which is named" "$(json '.limits_hit | join(" ")') $(row "GET http://web.test/packed/gzip/bomb" deny why)" "ingress limit \`ingress\` reached"
        is "$who: and used up" "$(json '[.net.destinations[] | select(.verdict == "allow") | .received] | add')" 3145728
        box $who --net "$door cap 2M" --read "$T/ask.py" -- python3 "$T/ask.py" web.test /packed/gzip/bomb
        ok "$who: so does a door's cap" test "$(sed -n 's/^cut [^ ]* \([0-9]*\) .*/\1/p' "$T/out")" -le 2097152
        is "$who: which is told" "$(row "GET http://web.test/packed/gzip/bomb" deny why)" "\`cap\` of the door reached"
done

# In TLS: an end that is none is told by what is missing there, too.
export XDG_CONFIG_HOME="$T/home-root"
if trust_lab; then
        box root --net "https://web.test/** GET with gh" -- curl -sS -m 20 https://web.test/packed/gzip/whole https://web.test/packed/deflate/chunked
        is "in TLS: unpacked and starred" "$(grep -o 'you said Bearer \*\*\*' "$T/out" | uniq -c | tr -s ' ') $(leaks)" " 2 you said Bearer *** 0"
        box root --net "https://web.test/** GET with gh" -- sh -c 'curl -sS -m 20 --http1.0 https://web.test/packed/gzip/whole >/dev/null; echo $?; curl -sS -m 20 --http1.0 --no-alpn https://web.test/packed/gzip/cut >/dev/null; echo $?'
        is "in TLS: what is cut does not end well, for HTTP/1.0 either" "$(tr '\n' ' ' <"$T/out")" "0 56 "
else
        skip "in TLS" "this host has no file of roots"
fi

# Without limits it is the box's time that it takes, and nobody's memory: the broker's stays where it was.
cat >"$T/slow.py" <<'END'
import socket, sys, time
s = socket.create_connection(('web.test', 80), 20)
s.sendall(b'GET /packed/gzip/bomb HTTP/1.1\r\nHost: web.test\r\n\r\n')
n = 0
while n < 300 << 20:
    n += len(s.recv(1 << 20))
time.sleep(1)
print(n >= 300 << 20, flush=True)
sys.stdin.read()
END
chmod 644 "$T/slow.py"
: >"$T/slow" && mkfifo "$T/looked"
timeout 120 "$CORDON" run --net "http://web.test/** GET with gh" --limit 'ingress 20G' --read "$T/slow.py" -- python3 "$T/slow.py" >"$T/slow" 2>"$T/slow-err" <"$T/looked" 9>&- &
run=$!
exec 8>"$T/looked" # it goes on until the broker has been looked at
for _ in $(seq 240); do [ -s "$T/slow" ] && break; sleep 0.5; done # as long as the run may take
most=0
for p in $(ps -e -o pid=,comm= | awk '$2 == "cordon-egress" { print $1 }'); do
        [ "$(readlink "/proc/$p/ns/net")" = "$(readlink /proc/self/ns/net)" ] || continue # another's
        m=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status")
        [ "${m:-0}" -le "$most" ] || most=$m
done
is "300 MB of a bomb come through where they may" "$(cat "$T/slow" "$T/slow-err")" True
ok "and the broker has not grown by them ($most KiB)" test "$most" -gt 0 -a "$most" -lt 32768
exec 8>&-
wait $run
done_testing
