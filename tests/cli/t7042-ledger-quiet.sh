#!/bin/sh
# `-q` silences, and records no less: each kind of record and of denial, made by one run without it and by one with it, as root and as an
# ordinary user. A row that makes no record of its kind is a failure.
# shellcheck disable=SC2016,SC2086
. "$(dirname "$0")/lib-net.sh"
cd "$T" || exit 1
[ -x "$CORDON_LIBEXEC/cordon-egress" ] || { skip "quiet runs" "cordon-egress is not built here"; done_testing; }
echo text >in.txt && echo text >given && chmod 644 in.txt given
mkdir -m 777 w
"$CORDON" label add in.txt private:in >/dev/null && as_user "$CORDON" label add in.txt private:in >/dev/null
cat >calls.py <<'P'
import ctypes, os, socket, sys
way = sys.argv[1]
try:
    if way == 'call': ctypes.CDLL(None).reboot(0)
    elif way == 'socket': socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    elif way == 'sock': socket.socket(socket.AF_UNIX).connect('/run/dbus/none')
    elif way == 'bytes':
        s = socket.create_connection(('web.test', 7001), timeout=20)
        s.sendall(b'x')
        s.shutdown(socket.SHUT_WR)
        while s.recv(100): pass
    elif way == 'name': socket.getaddrinfo('nobody.invalid', 80)
except OSError: pass
P
chmod 644 calls.py
# NAME KIND PHASE | OPTIONS | COMMAND: what has to be among its records
cat >rows <<'W'
read file denied||cat /etc/shadow /root/.ssh/id_rsa /usr/none
write file denied||touch /usr/x
exec exec denied|--use base/strict --run /bin/sh|sh -c /usr/bin/id
call exec denied|--use base/python3 --read $T/calls.py|python3 $T/calls.py call
packet exec denied|--use base/python3 --read $T/calls.py|python3 $T/calls.py socket
name net denied|--use base/python3 --read $T/calls.py|python3 $T/calls.py name
host net denied||curl -sS -m 5 http://web.test:81/x
path net denied|--net 'http://web.test/ok/** GET'|curl -sS -m 10 http://web.test/no
method net denied|--net 'http://web.test/** GET'|curl -sS -m 10 -d x http://web.test/x
sent request outcome|--net 'http://web.test/** POST'|curl -sS -m 10 -d x http://web.test/x
bytes net outcome|--net web.test:7001 --use base/python3 --read $T/calls.py|python3 $T/calls.py bytes
refused request outcome|--net 'http://web.test:8001/** GET'|curl -sS -m 10 http://web.test:8001/x
used file outcome|--observe all --write $T/w|sh -c 'echo 1 >made'
open file claim|--read $T/given|cat $T/given
labelled file claim|--read $T/in.txt|cat $T/in.txt
in handle outcome|--in doc --handle doc=given|cat
out handle outcome|--out res --handle res=w/res|sh -c 'echo x >"$CORDON_OUT_RES"'
time limit outcome|--time 300ms|sleep 20
output limit outcome|--limit 'output 1K'|seq 100000
exit end end||sh -c 'exit 7'
signal end end||sh -c 'kill -9 $$'
absent end end||/nonexistent
said output outcome||sh -c 'echo said; echo oops >&2'
W
# told NAME: its records, without what differs from run to run
told() { $who "$CORDON" ledger --json --box "$1" | jq -r '[.kind, .phase, .door // "", .target // "", .result // "", (.count // 1), .reach // "", .more.end // "", .more.reason // "", .more.effect // "", .more.labels // "", .more.stopped // "", (.more // {} | keys | join(","))] | join("|")' | sort; }
# made NAME OPTION...: what the row does, under that name
made() {
        name=$1
        shift
        rm -f w/made w/res
        eval "$who timeout 60 \"\$CORDON\" run \"\$@\" --name $name $options -- $command" >"$T/out" 2>"$T/err" </dev/null 9>&-
}
for who in root as_user; do
        while IFS='|' read -r what options command; do
                # shellcheck disable=SC2086
                set -- $what
                row=$1 kind=$2 phase=$3
                if [ "$row" = read ] && ! $who test -w /dev/fuse; then
                        skip "$who, $row" "hidden paths are not told: /dev/fuse is not for this user"
                        continue
                fi
                made "loud-$row"
                told "loud-$row" >loud.txt
                if ! cut -d '|' -f 1,2 loud.txt | grep -q -x -F "$kind|$phase"; then
                        fail "$who, $row: a run makes such a record" "$(cut -d '|' -f 1,2,4 loud.txt | tr '\n' ';')" "$(tail -n 3 "$T/err")"
                        continue
                fi
                made "quiet-$row" -q
                is "$who, $row: -q records the same" "$(told "quiet-$row" | diff loud.txt - | head -n 5)" ""
                is "$who, $row: and is silent" "$(grep -v '^curl' "$T/err" | grep -c '^cordon: blocked')" 0
        done <rows
done
done_testing
