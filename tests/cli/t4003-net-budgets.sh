# Budgets, ends and deaths: what cuts a connection, that it is cut at the byte, and that nothing hangs.
. "$(dirname "$0")/lib-net.sh"
cc -O1 -o "$T/client" "$(dirname "$0")/helpers/net_client.c" -lpthread && chmod 755 "$T/client" || fail "the helper compiles"
sink() { tail -n 1 "$T/lab/sink.log" 2>/dev/null; }

# names.py: asks for 600 names and more, until one is answered, as those are that cannot wait: of what comes while the broker is
# held up some is lost. Does an open connection still carry something?
cat >"$T/names.py" <<'END'
import socket, struct, time
open_one = socket.create_connection(("11.22.33.44", 7), 5)
ask = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ask.setblocking(False)
answered = False
for i in range(6000):
    name = b"".join(bytes([len(part)]) + part for part in (b"n%d" % i, b"mute", b"test"))
    ask.sendto(struct.pack(">6H", i, 256, 1, 0, 0, 0) + name + bytes([0, 0, 1, 0, 1]), ("198.18.0.1", 53))
    if i % 20 == 0: time.sleep(0.02)
    try: answered = len(ask.recv(512)) > 0 or answered
    except BlockingIOError: pass
    if i > 600 and answered: break
open_one.settimeout(10)
open_one.sendall(b"still\n")
print(open_one.recv(100).decode().strip())
END
# leaves.py HOW: asks a server that never answers 520 times and leaves each time; may another host still be reached? Or
# leaves in the middle of an answer, or does not live to see it.
cat >"$T/leaves.py" <<'END'
import os, socket, struct, sys, time
def ask(path, port=80):
    s = socket.create_connection(("web.test", port), 10)
    s.sendall(b"GET %s HTTP/1.1\r\nHost: web.test%s\r\nConnection: close\r\n\r\n" % (path, b":%d" % port if port != 80 else b""))
    return s
def leave(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
if sys.argv[1] == "many":
    for _ in range(520): s = ask(b"/x", 7003); time.sleep(0.005); leave(s)
    print(ask(b"/x").recv(15).decode())
else:
    s = ask(b"/bytes/90000000" if sys.argv[1] == "half" else b"/x", 80 if sys.argv[1] == "half" else 7003)
    time.sleep(1)
    if sys.argv[1] == "dies": os._exit(0)
    leave(s), time.sleep(0.5)
END
# busy.py: 400 uploads at once, as fast as they are taken, and an end in their middle.
cat >"$T/busy.py" <<'END'
import os, select, socket, time
poll, by_number = select.poll(), {}
for _ in range(400):
    s = socket.create_connection(("web.test", 80), 20)
    s.sendall(b"POST /a HTTP/1.1\r\nHost: web.test\r\nContent-Length: 9999999999\r\n\r\n")
    s.setblocking(False), poll.register(s, select.POLLOUT), by_number.update({s.fileno(): s})
end, block = time.time() + 3, b"aaa&" * (1 << 18)
while time.time() < end:
    for number, _ in poll.poll(100):
        try: by_number[number].send(block)
        except BlockingIOError: pass
os._exit(0)
END
chmod 644 "$T/names.py" "$T/leaves.py" "$T/busy.py"

# told FILTER: of the last run's effects on the network that are over, as the ledger has them
told() { $who "$CORDON" ledger --json 2>/dev/null | jq -c --arg run "$(json .run)" 'select(.run == $run and .phase == "outcome" and (.kind == "net" or .kind == "request"))' | jq -r "$1"; }

# A door that closes, at the next full minute; the rest of the test runs meanwhile.
now=$(date +%s)
closes=$(((now / 60 + 1) * 60))
[ $((closes - now)) -ge 15 ] || closes=$((closes + 60))
timeout 150 "$CORDON" run --status-fd 5 --net "web.test:7005 until $(date -u -d "@$closes" +%Y-%m-%dT%H:%MZ)" --read "$T/client" -- \
        "$T/client" web.test 7005 hold 5>"$T/closing.status" >"$T/closing" 2>&1 </dev/null 9>&- &
closing=$!
timeout 150 "$CORDON" run --status-fd 5 --net "http://web.test/** until $(date -u -d "@$closes" +%Y-%m-%dT%H:%MZ)" -- \
        sh -c 'curl -sS -m 120 -o /dev/null --limit-rate 1M http://web.test/bytes/900000000; echo "curl $?"; curl -sS -m 5 http://web.test/after' \
        5>"$T/closing2.status" >"$T/closing2" 2>&1 </dev/null 9>&- &
closing2=$!

printf 'use base/system\nnet http://web.test/** GET\n' >"$T/usual-net" && chmod 644 "$T/usual-net"
for who in root as_user; do
        box $who --net web.test:7003 --limit 'egress 1M' --read "$T/client" -- "$T/client" web.test 7003 flood
        has "$who: limit egress stops the sender" "$(cat "$T/out")" "stopped "
        hasnt "$who: it does not send for ever" "$(cat "$T/out")" never
        has "$who: the limit is named" "$(json '.limits_hit | join(" ")')" egress
        is "$who: and counted to the byte" "$(row web.test:7003 allow sent)" 1048576
        ok "$who: no more than that arrives, and it does not look whole" soon sh -c 'tail -n 1 "$1" | grep -q reset' sh "$T/lab/sink.log"
        ok "$who: at most the limit arrived" test "$(sink | cut -d' ' -f1)" -le 1048576
        is "$who: the refusal is told" "$(row web.test:7003 deny why)" "limit \`egress\` reached"

        box $who --net web.test:7003 --limit 'egress 1M' --limit 'output 1K' --read "$T/client" -- sh -c "$T/client web.test 7003 flood >/dev/null; yes"
        is "$who: of two limits the ledger has the one that ended it, and the one that was only reached" "$($who "$CORDON" ledger --json 2>/dev/null | jq -r --arg run "$(json .run)" 'select(.run == $run and .kind == "limit") | .target + ": " + .result' | sort | tr '\n' ' ')" "egress: reached output: ended the run "

        box $who --net 'web.test:7004 cap 3M' --read "$T/client" -- "$T/client" web.test 7004 drain
        is "$who: a door's cap counts what comes in, to the byte" "$(row web.test:7004 allow received)" 3145728
        ok "$who: and no more reaches the program" test "$(cat "$T/out")" -le 3145728
        is "$who: told" "$(row web.test:7004 deny why)" "\`cap\` of the door reached"
        box $who --net 'web.test:7004 cap 1M' --net web.test:80 --read "$T/client" -- sh -c "$T/client web.test 7004 drain >/dev/null; $T/client web.test 7004 drain >/dev/null; curl -sS http://web.test/x"
        is "$who: another door has its own" "$(cat "$T/out")" "GET /x 0"

        # One way only: the other is as free as before.
        box $who --net 'web.test:7004 cap 2M/in' --read "$T/client" -- "$T/client" web.test 7004 drain
        is "$who: a cap for what comes in counts that, to the byte" "$(row web.test:7004 allow received) $(row web.test:7004 deny why)" \
                "2097152 incoming \`cap\` of the door reached"
        box $who --net 'web.test:7003 cap 1M/out' --read "$T/client" -- "$T/client" web.test 7003 flood
        is "$who: a cap for what goes out likewise" "$(row web.test:7003 allow sent) $(row web.test:7003 deny why)" \
                "1048576 outgoing \`cap\` of the door reached"
        box $who --net 'web.test:7004 cap 1K/out cap 3M/in' --read "$T/client" -- "$T/client" web.test 7004 drain
        is "$who: a cap for what goes out does not count what comes in" "$(row web.test:7004 allow received)" 3145728

        # Through a door that sees requests: what came along with a head, in a connection that had no door yet or another one.
        posts='import socket
for i in range(5):
    s = socket.create_connection(("web.test", 80))
    s.sendall(b"POST /%d HTTP/1.1\r\nHost: web.test\r\nContent-Length: 800\r\nConnection: close\r\n\r\n" % i + b"a" * 800)
    print(s.makefile("rb").read().decode().splitlines()[-1])'
        box $who --net 'http://web.test/** POST cap 2K/out' -- python3 -c "$posts"
        is "$who: a cap for what goes out counts requests to the byte" "$(sort "$T/out" | uniq -c | sed 's/^ *//')" "1 POST /0 800
1 POST /1 800
3 cordon: outgoing \`cap\` of the door reached"
        box $who --net 'http://web.test/** POST cap 1K' -- python3 -c "$posts"
        is "$who: one for both ways likewise" "$(sort "$T/out" | uniq -c | sed 's/^ *//')" "1 POST /0 800
4 cordon: \`cap\` of the door reached"
        box $who --net 'http://web.test/free POST' --net 'http://web.test/capped POST cap 1K/out' -- python3 -c 'import socket
s = socket.create_connection(("web.test", 80))
s.sendall(b"".join(b"POST %s HTTP/1.1\r\nHost: web.test\r\nContent-Length: 2000\r\n\r\n" % p + b"a" * 2000 for p in (b"/free", b"/capped")))
print(s.makefile("rb").read().decode())'
        has "$who: on one connection each request is on its own door's account" "$(cat "$T/out")" "POST /free 2000"
        has "$who: also one that came with another door's" "$(cat "$T/out")" "outgoing \`cap\` of the door reached"
        hasnt "$who: and none of it arrives" "$(cat "$T/out")" "POST /capped"

        # What comes in, all doors together: a door's cap does not widen it, and a second door is no second budget.
        box $who --net 'web.test:7004 cap 8M' --ingress 2M --read "$T/client" -- "$T/client" web.test 7004 drain
        is "$who: limit ingress is kept to the byte" "$(row web.test:7004 allow received)" 2097152
        ok "$who: and no more reaches the program" test "$(cat "$T/out")" -le 2097152
        is "$who: its refusal is told" "$(row web.test:7004 deny why)" "limit \`ingress\` reached"
        is "$who: it is named in the result" "$(json '.limits_hit | join(" ")')" ingress
        has "$who: with the line that gives more" "$(json '[.denials[] | select(.code == "limit") | .permit] | join(" ")')" "limit ingress 4M"
        has "$who: and at the end of the run" "$(cat "$T/err")" "limits reached: ingress"
        is "$who: and in the ledger" "$($who "$CORDON" ledger --json 2>/dev/null | jq -r --arg run "$(json .run)" 'select(.run == $run and .kind == "limit") | .target')" ingress
        box $who --net web.test:7004 --net 'http://web.test/** GET' --limit 'ingress 1M' --read "$T/client" -- \
                sh -c "$T/client web.test 7004 drain >/dev/null; curl -sS -m 5 http://web.test/x"
        hasnt "$who: nothing comes in through another door then" "$(cat "$T/out")" "GET /x"
        box $who --net 'http://web.test/** GET' --limit 'ingress 1M' -- sh -c 'curl -sS -m 9 http://web.test/bytes/3000000 | wc -c'
        ok "$who: an answer is cut at it" test "$(cat "$T/out")" -le 1048576
        is "$who: and counted to the byte" "$(json '[.net.destinations[] | select(.verdict == "allow") | .received] | add')" 1048576

        # To the byte: what just fits passes whole and is no refusal; one byte less does not.
        head='POST /exact HTTP/1.1\r\nHost: web.test\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n'
        ask="exec 3<>/dev/tcp/web.test/80; printf '$head' >&3; sleep 0.2; head -c 1000 /dev/zero >&3; sleep 0.3; cat <&3"
        whole=$(($(printf "$head" | wc -c) + 1000))
        box $who --net 'http://web.test/** POST' --limit "egress $whole" -- bash -c "$ask"
        has "$who: a request that just fits is answered" "$(cat "$T/out")" "POST /exact 1000"
        is "$who: and no limit was reached" "$(json '.limits_hit | join(" ")') $(row 'POST http://web.test/exact' deny why)" " none"
        box $who --net 'http://web.test/** POST' --limit "egress $((whole - 1))" -- bash -c "$ask"
        hasnt "$who: one byte less, and it is not" "$(cat "$T/out")" "POST /exact 1000"
        is "$who: which is told" "$(json '.limits_hit | join(" ")')" egress
        ask="exec 3<>/dev/tcp/web.test/80; printf 'GET /exact HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n' >&3; cat <&3"
        whole=$(printf 'GET /exact HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n' | wc -c)
        box $who --net 'http://web.test/** GET' --limit "egress $whole" -- bash -c "$ask"
        has "$who: so is one without a body" "$(cat "$T/out"):$(json '.limits_hit | join(" ")'):" "GET /exact 0::"
        length=$(wc -c <"$T/out")
        answer=$(json '[.net.destinations[] | select(.verdict == "allow") | .received] | add')
        box $who --net 'http://web.test/** GET' --limit "ingress $answer" -- bash -c "$ask"
        is "$who: an answer that just fits is whole" "$(wc -c <"$T/out")" "$length"
        is "$who: and no limit was reached by it" "$(json '.limits_hit | join(" ")')" ""
        box $who --net 'http://web.test/** GET' --limit "ingress $((answer - 1))" -- bash -c "$ask"
        is "$who: of one byte less its last is missing" "$(wc -c <"$T/out")" $((length - 1))
        is "$who: and the limit is named" "$(json '.limits_hit | join(" ")')" ingress

        box $who --net web.test:80 --net 'http://web.test:8000/** GET' --rate 3/h -- \
                sh -c 'for i in 1 2; do curl -s -m 5 http://web.test/$i; curl -s -m 5 http://web.test:8000/$i; done; true'
        is "$who: limit rate, all doors together" "$(json '[.net.destinations[] | select(.why == "limit `rate` reached for this hour") | .connections] | add')" 1
        has "$who: named" "$(json '.limits_hit | join(" ")')" rate

        box $who --net 'web.test:80 cap 3/h' -- sh -c 'for i in 1 2 3 4 5; do curl -s -m 5 http://web.test/$i; done; true'
        is "$who: a cap for the hour lets so many through" "$(wc -l <"$T/out")" 3
        ok "$who: and refuses the rest" test "$(row web.test:80 deny connections)" -ge 2
        box $who --net web.test:80 --limit 'effects 2' -- sh -c 'for i in 1 2 3 4; do curl -s -m 5 http://web.test/$i; done; true'
        is "$who: limit effects, the same for all doors" "$(wc -l <"$T/out")" 2
        has "$who: named" "$(json '.limits_hit | join(" ")')" effects

        # A host that fails is asked a bounded number of times.
        box $who --net closed.test:7999 --net web.test:80 -- sh -c 'for i in $(seq 1 40); do curl -s -m 5 http://closed.test:7999/; done; curl -s -m 5 http://web.test/other; true'
        # It is left alone for five seconds, then tried once more: forty calls can take longer where the machine is busy.
        more=$(($(json '.wall_ms | floor') / 5000))
        seen=$(row closed.test:7999 failed connections)
        ok "$who: of 40 calls to a host that fails it sees 8, and one more each 5 seconds ($seen)" test "$seen" -ge 8 -a "$seen" -le $((8 + more))
        ok "$who: the rest end at once, and say why" test "$(json '[.net.destinations[] | select(.why == "8 failures in a row; retries are paused")][0].connections')" -ge $((32 - more))
        is "$who: others are served" "$(cat "$T/out")" "GET /other 0"

        # Who never asked does not say that nobody answers: this machine's own want of ports has its own words.
        range=$(cat /proc/sys/net/ipv4/ip_local_port_range)
        echo 50000 50001 >/proc/sys/net/ipv4/ip_local_port_range
        box $who --net four.test:7005 -- bash -c 'exec 3<>/dev/tcp/four.test/7005; exec 4<>/dev/tcp/four.test/7005; sleep 0.5; exec 5<>/dev/tcp/four.test/7005; read -r -t 5 -u 5'
        echo "$range" >/proc/sys/net/ipv4/ip_local_port_range
        is "$who: a port that is wanting is not called the host's silence" "$(row four.test:7005 failed why)" "no local port left"

        # A policy on trial that closes a door of the usual one, whether it has others or none.
        for doors in 'net web.test:8000' '' 'net http://web.test/other'; do
                printf 'use base/system\n# %s\n%s\n' "$who" "$doors" >"$T/trial" && chmod 644 "$T/trial"
                box $who --canary "$T/trial" --canary-share 100 -p "$T/usual-net" -- sh -c 'curl -s -m 5 http://web.test/x; true'
                has "$who: a trial with '$doors' went badly" "$(cat "$T/err")" "which the usual policy permits"
                box $who --canary "$T/trial" --canary-share 100 -p "$T/usual-net" -- curl -s -m 5 http://web.test/x
                is "$who: the next run has the usual doors" "$(cat "$T/out")" "GET /x 0"
        done

        # What failed stands once in the ledger, whether it had an intent or not, and says whom it would have reached.
        for try in 'named closed.test:7999 http://closed.test:7999/' 'named http://closed.test:7999/** http://closed.test:7999/' \
                'self 127.0.0.1:1 http://127.0.0.1:1/' 'self http://127.0.0.1:1/** http://127.0.0.1:1/'; do
                # shellcheck disable=SC2086
                set -- $try
                box $who --net "$2" -- curl -s -m 5 "$3"
                is "$who: a vain try at $2 is one record" "$(told '[.count // 1] | add') $(told .reach)" "1 $1"
        done
        # How much was looked at stands with each effect, also where it has an intent of its own.
        for try in 'bytes web.test:7 exec_3<>/dev/tcp/web.test/7;echo_x_>&3;read_-r_y_<&3' 'hello web.test:443 curl_-sk_-m_5_https://web.test/' \
                'requests http://web.test/**_POST curl_-s_-m_5_-d_x_http://web.test/'; do
                # shellcheck disable=SC2086
                set -- $try
                box $who --net "$(echo "$2" | tr _ ' ')" -- bash -c "$(echo "$3" | tr _ ' ')"
                is "$who: seen of $2: $1" "$(told .more.seen | sort -u)" "$1"
        done
        # A private address that a door names is the network's one shares, with an intent or without.
        box $who --net 10.0.0.9:80 -- curl -s -m 5 http://10.0.0.9/
        is "$who: a private address is a tenant's" "$(told .reach | sort -u)" tenant

        # The end of the run.
        : >"$T/lab/hold.log" && : >"$T/status" && chmod 666 "$T/status" && mkfifo "$T/go" && chmod 666 "$T/go"
        $who "$CORDON" run --net web.test:7005 --limit 'output 1K' --read "$T/client" -- sh -c "$T/client web.test 7005 hold & read -r _; yes" >"$T/out" 2>"$T/err" <>"$T/go" 9>&- &
        soon grep -q open "$T/lab/hold.log"
        echo >"$T/go"
        wait $!
        is "$who: the end of a run ends its connections" $? 124
        rm "$T/go"
        ok "$who: also outside" soon grep -q -e reset -e end "$T/lab/hold.log"

        # A broker that is killed. (The output of the run before says "held", too: away with it.)
        : >"$T/out"
        : >"$T/status" && chmod 666 "$T/status"
        $who timeout 100 "$CORDON" run --status-fd 5 --net web.test:7005 --net web.test:80 --read "$T/client" -- \
                sh -c "at=\$(getent ahostsv4 web.test | { read -r a _; echo \$a; }); $T/client web.test 7005 hold
                        curl -sS -m 30 http://web.test/; echo name \$?; curl -sS -m 30 --resolve web.test:80:\$at http://web.test/; echo address \$?" 5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&- &
        run=$!
        soon grep -q held "$T/out"
        broker=$(ps -eo pid=,ppid=,comm= | awk -v top=$run '{ up[$1] = $2; name[$1] = $3 }
                END { for (p in name) { q = p; while (name[p] == "cordon-egress" && q in up && q != top) q = up[q]; if (q == top && p != top) print p } }')
        kill -9 $broker
        wait $run
        has "$who: when the broker dies, what is open is reset" "$(cat "$T/out")" "Connection reset by peer"
        # 6: the name leads nowhere. 7: refused. A time-out (28) would be a box that hangs.
        is "$who: new connections are refused, and nothing hangs" "$(grep -e '^name' -e '^address' "$T/out" | tr '\n' ' ')" "name 6 address 7 "
        is "$who: the result says so" "$(json .net.broker)" died
        has "$who: and so does the end of the run" "$(cat "$T/err")" "network broker exited before the box"

        # The resolver dies alone: what waits for a name, and what comes later, is told what happened; what is open stays.
        mkfifo "$T/go" && : >"$T/out" && : >"$T/status" && : >"$T/lab/dns.log" && chmod 666 "$T/status" "$T/go"
        printf 'nameserver 11.22.33.53\noptions timeout:30 attempts:1\n' >"$T/resolv.conf" # mute.test is waited for
        # shellcheck disable=SC2016
        $who "$CORDON" run -v --status-fd 5 --net 'http://mute.test/**' --net 'http://four.test/**' --net six.test:80 --net web.test:7 -- bash -c \
                'exec 4<>/dev/tcp/web.test/7; curl -sS -m 90 http://mute.test/ & echo up; read -r _
                 curl -sS -m 10 http://four.test/; curl -sS -m 10 http://six.test/; echo "curl $?"; echo still >&4; head -n 1 <&4; wait' \
                5>"$T/status" >"$T/out" 2>"$T/err" <>"$T/go" 9>&- &
        run=$!
        soon grep -q up "$T/out"
        soon grep -q mute.test "$T/lab/dns.log"
        resolver=$(ps -eo pid=,ppid=,comm= | awk -v top=$run '{ up[$1] = $2; name[$1] = $3 }
                END { for (p in name) { q = p; while (name[p] == "cordon-resolver" && name[up[p]] == "cordon-egress" && q in up && q != top) q = up[q]; if (q == top && p != top) print p } }')
        kill -9 $resolver
        soon grep -q gone "$T/out"
        printf 'nameserver 11.22.33.53\noptions timeout:10 attempts:1\n' >"$T/resolv.conf"
        has "$who: when the resolver dies, who waits for a name is told so" "$(cat "$T/out")" "cordon-resolver exited; names cannot be resolved"
        echo >"$T/go"
        wait $run
        rm "$T/go"
        is "$who: and who comes later; nothing hangs" "$(grep -c 'cordon-resolver exited' "$T/out") $(grep -c '^curl 6$' "$T/out")" "2 1"
        has "$who: what is open goes on" "$(cat "$T/out")" still
        is "$who: the result says what happened" "$(row six.test:80 failed why)" "cordon-resolver exited; names cannot be resolved"
        has "$who: and so does the end of the run" "$(cat "$T/err")" "six.test:80 (cordon-resolver exited; names cannot be resolved)"

        # Names that nobody answers for, more than can wait: what is open goes on, and the end of the run is told.
        printf 'nameserver 11.22.33.99\noptions timeout:30 attempts:1\n' >"$T/resolv.conf"
        box $who -v --net '*.mute.test:443' --net 11.22.33.44:7 --read "$T/names.py" -- python3 "$T/names.py"
        printf 'nameserver 11.22.33.53\noptions timeout:10 attempts:1\n' >"$T/resolv.conf"
        is "$who: names without an answer hold up nothing else" "$(cat "$T/out")" still
        is "$who: nor the end of the run" "$(json .net.broker)" "done"
        has "$who: which tells of them" "$(cat "$T/err")" ".mute.test:443 (too many name lookups at once)"

        # A client that left before its answer holds no place, and what it asked for counts.
        box $who --net 'http://web.test/** GET' --net 'http://web.test:7003/** GET' --read "$T/leaves.py" -- python3 "$T/leaves.py" many
        is "$who: who left is waited for no more" "$(cat "$T/out")" "HTTP/1.1 200 OK"
        for how in half dies; do
                box $who --net 'http://web.test/** GET' --net 'http://web.test:7003/** GET' --read "$T/leaves.py" -- python3 "$T/leaves.py" $how
                is "$who: a request counts where its client $how" "$(jq -c '[.net.destinations[] | .verdict, .requests]' <"$T/status")" '["allow",1]'
        done

        # A broker with its hands full hears the end of the run: its last words are there.
        box $who --stage mock --net 'http://web.test/** POST' --limit 'files 2048' --read "$T/busy.py" -- python3 "$T/busy.py"
        is "$who: however much is sent, the end is heard" "$(json .net.broker) $(row web.test:80 allow connections)" "done 400"

        # Many at once.
        box $who --net web.test:7 --limit 'files 2048' --read "$T/client" -- "$T/client" web.test 7 many
        is "$who: 512 connections at once, and no more" "$(cat "$T/out")" 512
        is "$who: the others are told" "$(row web.test:7 deny why)" "too many connections from this box"
done

# What comes between the look at an empty connection and the next read is over the budget, too. strace holds the broker there
# for a second: the last byte comes in its middle.
if strace -f -o /dev/null true 2>/dev/null; then
        : >"$T/status"
        strace -f -qq -o /dev/null -e trace=recvfrom -e inject=recvfrom:delay_exit=1000000 "$CORDON" run -q --ledger off --status-fd 5 --net 'web.test:7 cap 1K/out' -- \
                bash -c 'exec 3<>/dev/tcp/web.test/7; echo >&3; read -r _ <&3; sleep 2; head -c 1023 /dev/zero >&3; sleep 1.5; printf y >&3; sleep 3' 5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&-
        is "not a byte goes out over a cap, whenever it comes" "$(row web.test:7 allow sent)" 1024
else
        skip "not a byte goes out over a cap, whenever it comes" "strace cannot trace here"
fi

# The keeper is killed: the broker goes with it, and the box too.
: >"$T/out"
"$CORDON" run --net web.test:7005 --read "$T/client" -- "$T/client" web.test 7005 hold >"$T/out" 2>&1 </dev/null 9>&- &
run=$!
soon grep -q held "$T/out"
below() { ps -eo pid=,ppid=,comm= | awk -v up="$1" '$2 == up { print $1 ":" $3 }' | while read -r x; do echo "$x"; below "${x%%:*}"; done; }
family=$(below $run)
has "the broker is a child of the keeper" "$family" cordon-egress
has "and the resolver of the broker" "$family" cordon-resolver
kill -9 $run
wait $run 2>/dev/null
for p in $family; do
        ok "a killed keeper leaves no process of its own ($p)" soon sh -c "! kill -0 ${p%:*} 2>/dev/null"
done

# A run that ends by itself waits for no slow close, and leaves nobody either: the resolver, who has it, ends alone.
: >"$T/out"
"$CORDON" run --net web.test:7005 --read "$T/client" --limit 'time 5s' -- "$T/client" web.test 7005 hold >"$T/out" 2>&1 </dev/null 9>&- &
run=$!
soon grep -q held "$T/out"
family=$(below $run)
wait $run
has "the resolver was there" "$family" cordon-resolver
for p in $family; do
        ok "an ended run leaves no process ($p)" soon sh -c "! kill -0 ${p%:*} 2>/dev/null"
done

# A host that gives few descriptors: what there is none for is refused at once and told, and nobody spins.
cat >"$T/crowd.py" <<'END'
import os, socket, sys
held = []
for _ in range(2): os.fork()  # four processes
try:
    for _ in range(80): held.append(socket.create_connection(("web.test", 80), 10))
    held[-1].settimeout(3)
    held[-1].recv(1)
except TimeoutError: sys.exit(0)
except OSError: print("refused", flush=True)
try:
    while True: os.wait()
except ChildProcessError: pass
END
chmod 644 "$T/crowd.py"
# shellcheck disable=SC3045
(ulimit -n 200 && box root --net 'http://web.test/**' --read "$T/crowd.py" -- python3 "$T/crowd.py")
is "a connection for which no descriptor is left is refused" "$(sort -u "$T/out") $(row web.test:80 deny why)" "refused no descriptors or memory for another connection"

# More doors than listeners.
i=0
while [ $i -lt 257 ]; do echo "net web.test:$((1000 + i))"; i=$((i + 1)); done >"$T/many.cordon"
"$CORDON" run --policy "$T/many.cordon" -- true >"$T/out" 2>"$T/err"
is "257 ports are refused at the start" $? 125
has "with a reason" "$(cat "$T/err")" "more different ports"
sed -i '$d' "$T/many.cordon"
{ echo "use base/system"; cat "$T/many.cordon"; } >"$T/most.cordon"
"$CORDON" run --policy "$T/most.cordon" -- true >"$T/out" 2>"$T/err" 9>&-
is "256 are not" "$? $(cat "$T/err")" "0 "

wait $closing
is "a door that closes cuts what is open" "$(head -n 2 "$T/closing")" "held
Connection reset by peer"
ok "and not before its time" test "$(date +%s)" -ge $closes
is "told" "$(jq -r '[.net.destinations[] | select(.verdict == "deny")][0].why' <"$T/closing.status")" "door expired (\`until\`)"
wait $closing2
ok "a door that sees requests cuts one in its middle" grep -q -x -e 'curl 18' -e 'curl 56' "$T/closing2"
hasnt "and lets no other begin" "$(cat "$T/closing2")" "GET /after"
is "told, too" "$(jq -r '[.net.destinations[] | select(.verdict == "deny")][0].why' <"$T/closing2.status")" "door expired (\`until\`)"
done_testing
