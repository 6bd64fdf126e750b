#!/bin/sh
# What a report has room for. Names that exist nowhere crowd out no denial, denials of one kind none of another, and
# nothing what a tripwire waits for; what found no room is counted by its kind. A flood that could hide it trips the wire.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
watched
elsewhere crowded
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
cd "$D" || exit 1
mkdir host && for i in $(seq 100); do echo "$i" >"host/f$i"; done
mkdir host/.ssh && echo key >host/.ssh/id_rsa && chmod -R a+rX "$D"
cat >"$T/flood.py" <<'EOF'
import os, socket, sys, time
def sock(path):
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(path)
    finally: s.close()
def run(path):
    try: os.posix_spawn(path, [path], {})
    except FileNotFoundError: pass
ways = {"read": lambda p: os.stat(p), "write": lambda p: os.close(os.open(p, os.O_WRONLY | os.O_CREAT)), "run": run, "sock": sock}
def each(names, way):
    for name in names:
        try: ways[way](name)
        except OSError: pass
def host(to):
    s = socket.socket()
    s.settimeout(2)
    try: s.connect((to, 80))
    except OSError: pass
for word in sys.argv[1:]:
    way, _, rest = word.partition("=")
    count, _, form = rest.partition(":")
    if way == "host": host(rest)
    elif way == "name":
        for i in range(int(count)):
            try: socket.getaddrinfo(form % i if "%" in form else form, 80)
            except OSError: pass
    elif way == "canary":
        try: socket.getaddrinfo(os.environ["BACKUP_API_TOKEN"] + ".invalid", 80)
        except OSError: pass
    elif way == "say": # a box that is to be stopped is, meanwhile
        time.sleep(int(count))
        print(form, flush=True)
    else: each([form % i if "%" in form else form for i in range(int(count))], way)
EOF
chmod 644 "$T/flood.py"
box() { "$CORDON" run -q --status-fd 3 --use base/python3 --read "$T/flood.py" "$@" 3>"$T/status" >"$T/out" 2>"$T/err" </dev/null; code=$?; }
flood() { options=$1; shift; box $options -- python3 "$T/flood.py" "$@"; }
has_row() { jq -e --arg p "$1" '[.denials[].path] | index($p) != null' <"$T/status" >/dev/null; }
field() { jq -c "$1" <"$T/status"; }
key=$D/host/.ssh/id_rsa

# ---- absent names and denials ----
for way in read write run; do
        flood "" "$way=1000:/none%d/x" "read=1:$D/host/f1" "read=1:$key"
        ok "$way: a thousand absent names crowd out no denial" has_row "$D/host/f1"
        ok "$way: and no secret" has_row "$key"
        is "$way: no denial is lost; absent ones are counted" "$(field '[.denials_lost, (.absent | length), .lost.absent > 900]')" "[0,16,true]"
        flood "--trip secrets" "$way=9000:/none%d/x" "read=1:$key" say=60:survived
        is "$way: nine thousand hide no secret from a tripwire" "$code $(cat "$T/out")" "125 "
        has "$way: which names it" "$(cat "$T/err")" "id_rsa was denied"
        flood "--trip doors" "$way=9000:/none%d/x" say=60:survived
        is "$way: and what could hide a denial trips the wire for doors" "$code $(cat "$T/out")" "125 "
        flood "" "$way=9000:/none%d/x" "read=1:$key"
        is "$way: what is lost is counted by its kind" "$(field "[.denials_lost > 1000, .lost.$way > 1000]")" "[true,true]"
done
flood "--trip secrets" "read=9000:/none%d/.ssh/id_rsa" say=60:survived
is "a flood of names of secrets trips the wire itself" "$code $(cat "$T/out")" "125 "
flood "" "read=9000:/none%d/.ssh/id_rsa"
is "without a tripwire it is counted" "$(field '.lost.secret > 1000')" true
flood "--trip all" "read=300:/none%d/x" say=0:survived
is "what an ordinary program looks for trips nothing" "$code $(cat "$T/out")" "0 survived"
flood "" "sock=5000:/none%d/x" "read=1:$key"
ok "sockets that exist nowhere crowd out nothing" has_row "$key"

# ---- denials among themselves ----
flood "" "read=99:$D/host/f%d" "read=1:$key" host=192.0.2.1
ok "a hundred denied files do not crowd out a secret" has_row "$key"
is "or the network" "$(field '[.denials[].code] | index("net") != null')" true
is "the files beyond the room are counted" "$(field '.lost.read > 20')" true
flood "--net example.invalid:443 --trip canaries" "name=300:h%d.invalid" canary= say=60:survived
is "three hundred denied hosts hide no canary" "$code $(cat "$T/out")" "125 "
has "which the alarm says" "$(cat "$T/err")" canary
flood "--net example.invalid:443" "name=300:h%d.invalid"
is "denied hosts beyond the room are counted" "$(field '[.lost.net > 100, .denials_lost == .lost.net]')" "[true,true]"
box -- sh -c 'cd /tmp && touch a && cp -p a b && chmod 600 b && : >>b; : >"" || true'
is "calls on a descriptor, or on nothing, are not lost paths" "$(field .denials_lost)" 0

# ---- seen and denied: an observed box ----
flood "--observe all" "read=5000:/none%d/x" "read=1:$key"
ok "an observed box keeps its denials" has_row "$key"

# ---- learn ----
said=$(cd "$D" && "$CORDON" learn --max-runs 30 -- perl -e 'for my $i (1 .. 600) { $n++ if -e "/none$i/x" } open(my $f, "<", $ARGV[0]) or exit 3; print <$f>' "$D/host/f7" 2>&1)
has "learn finds the file behind six hundred absent names" "$said" f7

# ---- a blocked host is named also when the script ends well ----
ends_well() { CORDON_LEDGER=off "$CORDON" run "$@" </dev/null 2>&1 >/dev/null; }
connect='import socket
s = socket.socket(); s.settimeout(2)
try: s.connect(("192.0.2.1", 80))
except OSError: pass'
look='import socket
try: socket.getaddrinfo("h" + "ost.invalid", 80)
except OSError: pass'
has "an address, without net doors" "$(ends_well -- python3 -c "$connect")" "blocked: connect to 192.0.2.1:80"
has "and with others" "$(ends_well --net example.invalid:443 -- python3 -c "$connect")" "blocked: connect to 192.0.2.1:80"
has "a name, without net doors" "$(ends_well -- python3 -c "$look")" "blocked: network by python3"
has "and with others" "$(ends_well --net example.invalid:443 -- python3 -c "$look")" "blocked: look up host.invalid"
has "before a program that was not found" "$(ends_well --use base/strict --use base/python3 -- python3 -c "$connect
import os
try: os.execv('$D/host/f1', ['x'])
except OSError: pass")" "network"
done_testing
