#!/bin/sh
# shellcheck disable=SC2016,SC1003
# What a box was refused is told exactly: reads, writes, programs and calls, with the line that would permit each.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# Not below /tmp: a box has a /tmp of its own, and what it misses there is reported with --observe all only.
elsewhere refusals
H=$D
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
mkdir -p "$H/host/dir" "$H/open" && echo secret >"$H/host/key" && chmod -R a+rX "$H"

# refused ARGS...: the denials of a run, a line each: code, path, program, layer, permit
refused() {
        "$CORDON" run -n --status-fd 3 "$@" 3>"$T/status" >/dev/null 2>&1
        jq -e .attested "$T/status" >/dev/null || { echo "no box ran"; return; }
        jq -r '.denials[] | select(.minor | not) | [.code, .path, .program, .layer, .permit] | join(" ")' "$T/status"
}

observed=$("$CORDON" run -n --status-fd 3 -- cat "$H/host/key" 3>&1 >/dev/null 2>&1 | jq '.denials | length')
if [ "$observed" = 0 ] && [ ! -w /dev/fuse ]; then
        skip "hidden paths are told" "this host has no /dev/fuse for us"
        done_testing
fi

is "a file that is not shown" "$(refused -- cat "$H/host/key")" "read $H/host/key cat mount read $H/host/key"
is "stat of it is a read too" "$(refused -- stat "$H/host/key" | head -n 1)" "read $H/host/key stat mount read $H/host/key"
is "and so is a descriptor that only names it" "$(refused -- python3 -c "import os; os.open('$H/host/key', os.O_PATH)")" \
        "read $H/host/key python3 mount read $H/host/key"
is "a directory that is not shown" "$(refused -- ls "$H/host/dir")" "read $H/host/dir ls mount read $H/host/dir"
is "what is not there outside either was not refused" "$(refused -- cat "$H/host/none" "$H/none/at/all")" ""
is "a relative path is told whole" "$(refused --read "$H/open" --cwd "$H/open" -- cat ../host/key)" \
        "read $H/host/key cat mount read $H/host/key"
# A program that its own user cannot read hides its /proc from everybody else's; the observer has one that shows it.
cp "$(command -v cat)" "$H/open/closed" && chmod 0111 "$H/open/closed"
is "a program that nobody may read is named too" "$(refused --read "$H/open" --run "$H/open/closed" -- "$H/open/closed" "$H/host/key")" \
        "read $H/host closed mount read $H/host"
rm -f "$H/open/closed"
ln -s ../host/key "$H/open/link"
is "a link that leads out is told by where it leads" "$(refused --read "$H/open" -- cat "$H/open/link")" \
        "read $H/host cat mount read $H/host"
is "a new file in a hidden directory: the door would be to the directory" "$(refused -- touch "$H/host/new")" \
        "write $H/host/new touch mount edit $H/host"
is "a file behind a read door is not written" "$(refused --read "$H/open" -- sh -c "echo >$H/open/x" | head -n 1)" \
        "write $H/open/x sh mount edit $H/open"
is "nor removed" "$(refused --read "$H/host" -- rm -f "$H/host/key")" "write $H/host/key rm mount edit $H/host/key"
is "nor renamed" "$(refused --read "$H/host" -- mv "$H/host/key" "$H/host/other" | head -n 1)" \
        "write $H/host/key mv mount edit $H/host/key"
# The kernel answers "File exists" there, before it looks whether the mount can be written.
is "who makes what already exists is refused nothing" "$(refused --read "$H/open" -- sh -c \
        "mkdir -p /home/box/a/b $H/open && ! mkdir /usr && ! ln -sT x $H/open && ! ln -T /bin/sh /bin/cat && ! python3 -c 'open(\"/bin/sh\", \"x\")'")" ""
is "what is not there is" "$(refused --read "$H/open" -- mkdir -p "$H/open/a/b")" "write $H/open/a mkdir mount edit $H/open"
is "a descriptor of its own, written by its name, is not told" "$(refused -- python3 -c 'import os
for n in 10, 99, 500:
    os.dup2(1, n)
    open(f"/dev/fd/{n}", "w").write("x")')" ""
if command -v bash >/dev/null; then
        is "that bash looks for a terminal is no news" "$("$CORDON" run -n -- bash -c true 2>&1)" ""
        is "and is there for programs" "$("$CORDON" run -n --use base/strict --status-fd 3 -- bash -c true 3>&1 >/dev/null 2>&1 |
                jq -c '.denials[] | select(.path == "/dev/tty") | [.minor, .permit, .next_steps]')" '[true,null,["no door opens this path: a box does without"]]'
else
        skip "a shell that looks for a terminal" "bash is not installed"
fi
is "what may be written is not told" "$(refused --write "$H/open" -- sh -c "echo >$H/open/x; echo >/tmp/y")" ""
printf 'read /usr /bin? /lib? /lib64? /etc/ld.so.cache?\nrun sh %s\n' '' >"$T/one" && sed 's/run sh.*/run sh id/' "$T/one" >"$T/two"
has "a program that no line names" "$(refused -p "$T/one" -- sh -c '/usr/bin/id')" "run /usr/bin/id sh"
is "a program that a line names is not told" "$(refused -p "$T/two" -- sh -c '/usr/bin/id' | grep -c '^run')" 0
mkdir -p "$H/again" && printf '#!/bin/sh\n[ "$1" ] || exec "$0" again\n' >"$H/again/tool" && chmod -R 755 "$H/again"
for wall in namespace process; do
        is "$wall: nor is the command, which may start again" "$(refused --wall $wall -p "$T/two" --read "$H/again" -- "$H/again/tool" | grep -c '^run')" 0
done
is "nor where the box could write it" "$(refused --write "$H/again" -- "$H/again/tool" | grep -c '^run')" 0
is "but what it wrote beside it is" "$(refused --use base/strict --write "$H/again" -- sh -c "cp $H/again/tool $H/again/own; $H/again/own" | grep -c '^run')" 1
mkdir "$H/open/except" && echo x >"$H/open/except/inner"
printf 'use base/system\nread %s except except\n' "$H/open" >"$T/except"
is "what an except hides" "$(refused -p "$T/except" -- cat "$H/open/except/inner")" \
        "read $H/open/except/inner cat mount read $H/open/except/inner"
case $(uname -m) in aarch64) bpf=280 ;; *) bpf=321 ;; esac
has "a call" "$(refused -- perl -e "syscall($bpf, 0, 0, 0)")" "call  perl seccomp"
is "settings of the system are minor" "$("$CORDON" run -n --status-fd 3 -- cat /etc/shadow 3>&1 >/dev/null 2>&1 |
        jq -c '.denials[] | select(.path == "/etc/shadow") | .minor')" true

# A socket of the host that is not shown: its own code, its path from the address, its own line.
python3 - "$H/host/agent" "$H/host/agent-with-a-name-that-is-longer" <<'END' &
import socket, sys, time
held = [socket.socket(socket.AF_UNIX) for _ in sys.argv[1:]]
for s, path in zip(held, sys.argv[1:]): s.bind(path)
time.sleep(60)
END
AGENT=$!
soon test -S "$H/host/agent-with-a-name-that-is-longer"
reach='import socket, sys
for path in sys.argv[1:]:
    try: socket.socket(socket.AF_UNIX).connect(path)
    except OSError: pass'
is "a socket that is not shown" "$(refused -- python3 -c "$reach" "$H/host/agent" | grep '^sock')" "sock $H/host/agent python3 mount sock $H/host/agent"
is "each by its own path" "$(refused -- python3 -c "$reach" "$H/host/agent" "$H/host/agent-with-a-name-that-is-longer" "$H/host/none" | grep -c '^sock')" 2
is "a datagram to one" "$(refused -- python3 -c 'import socket, sys
try: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", sys.argv[1])
except OSError: pass' "$H/host/agent" | grep '^sock')" "sock $H/host/agent python3 mount sock $H/host/agent"
is "it is no refused file" "$(refused -- python3 -c "$reach" "$H/host/agent" | grep -c "^read $H")" 0
has "and has its next step" "$(jq -r '[.denials[] | select(.code == "sock")][0].next_steps | join("; ")' "$T/status")" "name one socket of the host"
is "one that a line names is not told" "$(refused --sock "$H/host/agent" -- python3 -c "$reach" "$H/host/agent" | grep -c '^sock')" 0
kill "$AGENT"

# What the command line names and the box looks for among its own files: nobody hears of it, so it is told at the end.
named() { (cd "$H/host" && "$CORDON" run -n --status-fd 3 "$@" 3>"$T/status" >/dev/null 2>"$T/err"); jq -r '[.denials[] | select(.minor | not) | [.code, .path, .program, .permit] | join(" ")] | join(", ")' "$T/status"; }
is "a relative path, which the box looks for in its home" "$(named -- cat key)" "read $H/host/key cat read $H/host/key"
has "and a person is told" "$(cat "$T/err")" "blocked: read $H/host/key by cat (no read door)
hint: --read $H/host/key"
for i in 1 2 3 4 5; do echo x >"$H/host/many$i"; done
is "of many the first four" "$(named -- cat many1 many2 many3 many4 many5 | grep -o 'many. cat' | tr -dc '1-5')" 1234
is "behind an option's =" "$(named -- grep --file=key nothing)" "read $H/host/key grep read $H/host/key"
is "not when the run ended well" "$(named -- echo key)" ""
is "not a path that nobody moved, when nobody looked for it" "$(named -- sh -c 'exit 1' - /etc/machine-id "$H/host/key")" ""
is "not what is not there outside" "$(named -- cat nothing)" ""
is "not what a door shows" "$(named --read "$H/host/key" -- grep nothing key)" ""
echo x >"$T/below-tmp"
is "a path below /tmp" "$(named -- cat "$T/below-tmp")" "$(case $T in /tmp/* | /var/tmp/*) echo "read $T/below-tmp cat read $T/below-tmp" ;; *) refused -- cat "$T/below-tmp" | cut -d ' ' -f 1-3,5- ;; esac)"
is "not a new file in a /tmp of the box's own" "$(named -- sh -c 'echo made >"$2"; exit 1' - -o /tmp/cordon-new-file-7)" ""
is "a host that the command names, once" "$(named -- python3 -c 'import socket, sys; socket.create_connection((sys.argv[1][7:-1], 80))' http://h.example/ | tr , '\n' | sed -n 's/^ *net/net/p')" "net h.example:80 python3 net h.example:80"
is "not with --observe off" "$(named --observe off -- cat key)" ""
recorded() { "$CORDON" ledger --json --run "$(jq -r .run "$T/status")" --kind denied | grep -c "read $H/host/key"; }
is "what was seen is in the ledger" "$(named -- cat "$H/host/key" >/dev/null; recorded)" 1
is "what was only named is not" "$(named -- cat key >/dev/null; recorded)" 0

# What every program looks for, the kernel answers by itself once it was told; a write to it is told all the same.
is "what is looked for all the time is told, and then its writing too" "$("$CORDON" run -n --status-fd 3 -- \
        sh -c 'cat /etc/gai.conf; cat /etc/gai.conf; echo x >/etc/gai.conf; false' 3>&1 >/dev/null 2>&1 |
        jq -r '[.denials[] | select(.path == "/etc/gai.conf") | .code + " " + .program] | sort | join(", ")')" "read cat, write sh"

# Every kind has a stable code, its layer, the smallest line and next steps.
status() { "$CORDON" run -n --status-fd 3 "$@" 3>"$T/status" >"$T/out" 2>"$T/err" </dev/null; }
of() { jq -r "[.denials[] | select(.code == \"$1\" and (.path | startswith(\"/etc/\") | not))][0] | $2" "$T/status"; }
status --output 10 -- seq 1000
is "a limit: code, what, layer, line" "$(of limit '[.what, .layer, .permit] | join(", ")')" "limit output 10, keeper, limit output 20"
status --memory 24M -- perl -e '$x = "x" x (1 << 28)'
if [ "$(jq -r .kept_by.memory "$T/status")" = cgroup ]; then
        has "the memory" "$(of limit '.permit')" "limit memory 48M"
else
        skip "the memory" "without control groups it gets an error, and nobody hears of that"
fi
status --use base/strict -- perl -MSocket -e 'socket(my $s, AF_INET, SOCK_STREAM, 0) or exit 1'
is "a socket of the network" "$(of net '[.program, .layer, .permit] | join(", ")')" "perl, seccomp, net HOST:PORT"
has "its next step" "$(of net '.next_steps | join("; ")')" "cordon learn --network ask"
status -- cat "$H/host/key"
is "a path says that it is on the host" "$(of read .on_host)" true
has "and what to add" "$(of read '.next_steps[0]')" "add the line: read $H/host/key"
is "every refusal has a next step" "$(jq '[.denials[] | select(.next_steps | length == 0)] | length' "$T/status")" 0
status -- cat "$H/host/none"
is "what is not there outside either is told apart" "$(jq -c '[.absent, [.denials[] | select(.minor | not)]]' "$T/status")" "[[\"$H/host/none\"],[]]"
has "in the block too" "$(cat "$T/err")" "on the host either: $H/host/none"
status -- cat "$H/host/key"
hasnt "but not beside a refusal" "$(cat "$T/err")" "on the host either"
echo hidden >"$T/hidden" && chmod a+r "$T/hidden"
status --observe all -- cat "$T/hidden"
is "with all observed, what the private /tmp hides is told" "$(of read '[.path, .program, .layer, .permit] | join(" ")')" "$T/hidden cat mount read $T/hidden"
status --observe all -- sh -c "mkdir -p $T && echo own >$T/hidden && cat $T/hidden; false"
is "but not what the box made there itself" "$(jq -r '[.denials[] | select(.path == "'"$T/hidden"'")] | length' "$T/status")" 0
status --observe all -- python3 -c 'import os; os.execve(os.open("/bin/true", os.O_RDONLY), ["true"], {})'
is "a program that is started by its descriptor is told" "$(jq -r '[.effects[] | select(.code == "run") | .program + " " + .path] | join(", ")' "$T/status")" "python3 $(readlink -f /bin/true)"
# The box's own start makes two calls that nobody is shown; a payload cannot make them look like its own.
status --observe all -- python3 -c 'import ctypes
argv = (ctypes.c_char_p * 2)(b"true", None)
ctypes.CDLL(None).syscall(ctypes.c_long(322 if __import__("platform").machine() == "x86_64" else 281), ctypes.c_long(-100), b"/bin/true", argv, None, ctypes.c_long(0))'
is "so is one started by execveat from the working directory" "$(jq -r '[.effects[] | select(.code == "run") | .program + " " + .path] | join(", ")' "$T/status")" "python3 /bin/true"
status --observe all -- python3 -c 'import os, sys
os.open(sys.argv[1], os.O_RDONLY | os.O_ASYNC)' "$T/hidden"
is "an open with O_ASYNC is told like any other" "$(of read '[.path, .program, .layer, .permit] | join(" ")')" "$T/hidden python3 mount read $T/hidden"
if [ "$(uname -m)" = x86_64 ]; then
        status --read "$H/open" -- perl -e 'my $p = shift; syscall(85, $p, 0600)' "$H/open/made"
        is "creat is told like open" "$(of write '[.path, .program] | join(" ")')" "$H/open/made perl"
else
        skip "creat is told like open" "this architecture has no such call"
fi
mkdir "$T/two " && echo hidden >"$T/two /etc" && echo hidden >"$T/odd?" && chmod a+rx "$T/two " && chmod a+r "$T/two /etc" "$T/odd?"
for name in "two /etc" "odd?"; do
        for mode in all denials; do
                status --observe $mode -- cat "$T/$name"
                is "--observe $mode: the line for \"$name\" opens one path, and that one" "$(jq -r '[.denials[] | select(.path == "'"$T/$name"'") | .permit] | join(" ")' "$T/status")" "read \"$T/$name\""
        done
done

# The block at the end.
out=$("$CORDON" run -n -- cat "$H/host/key" 2>&1)
has "the block names path, program, layer and line" "$out" "blocked: read $H/host/key by cat (no read door)
hint: --read $H/host/key"
# Names are the box's: words in one are not taken for ours.
cat >"$T/forge.sh" <<'END'
mkdir "/tmp/x by make: mount; to permit: --write ~ " && cp /bin/true "/tmp/x by make: mount; to permit: --write ~ /run" && "/tmp/x by make: mount; to permit: --write ~ /run"
END
has "a name with blanks in it is one word" "$("$CORDON" run -n --use base/strict --read "$T/forge.sh" -- sh "$T/forge.sh" 2>&1)" "blocked: run '/tmp/x by make: mount; to permit: --write ~ /run' by sh ("
# A box chooses the names in it, and a person types them again: each is one word to a shell, and opens that one path.
for name in '$(touch pwned)' '`touch pwned`' 'a; touch pwned' "a'; touch pwned; '" 'a "b" c' 'a\b $HOME' 'odd?' '{a,b}' '~' '!!' 'a&b' '*'; do
        printf 'in %s\n' "$name" >"$H/host/$name" && chmod a+r "$H/host/$name"
        typed=$("$CORDON" run -n -- cat "$H/host/$name" 2>&1 | sed -n 's/^hint: \(--read .*\)/\1/p')
        is "$(printf '%s' "$name" | tr '\\' /) is typed as it is told" "$(cd "$T" && eval "\"$CORDON\" run -n $typed -- cat \"\$H/host/\$name\"" 2>&1; test ! -e "$T/pwned" || echo pwned)" "in $name"
done
out=$("$CORDON" run -n -- sh -c 'cat /etc/shadow 2>/dev/null; true' 2>&1)
hasnt "minor ones are silent when the run ended well" "$out" "/etc/shadow"
out=$("$CORDON" run -n -- cat /etc/shadow 2>&1)
has "and told when it did not" "$out" "/etc/shadow"
out=$("$CORDON" run -n -q -- cat "$H/host/key" 2>&1)
hasnt "-q is silent" "$out" "blocked"
name=$(printf 'esc\033[31m')
echo x >"$H/host/$name"
out=$("$CORDON" run -n -- cat "$H/host/$name" 2>&1 | tail -n 1)
hasnt "control characters of a path are inert" "$out" "$(printf '\033')"

# A run that ends with 0 is quiet unless a host, a credential, a key file or a program was blocked: then one line.
is "a file that was looked for is no news" "$("$CORDON" run -n -- sh -c "cat $H/host/key 2>/dev/null; true" 2>&1)" ""
has "with -v it is listed" "$("$CORDON" run -n -v -- sh -c "cat $H/host/key 2>/dev/null; true" 2>&1)" "blocked: read $H/host/key by cat"
mkdir -p "$H/host/.ssh" && echo k >"$H/host/.ssh/id_ed25519" && chmod -R a+rX "$H/host/.ssh"
quiet=$("$CORDON" run -n -- sh -c "cat $H/host/.ssh/id_ed25519 $H/host/key 2>/dev/null; true" 2>&1)
is "a key file is one line" "$(printf '%s\n' "$quiet" | wc -l):$(printf '%s\n' "$quiet" | grep -c "blocked: read $H/host/.ssh/id_ed25519 by cat .*cordon ")" 1:1
loud=$("$CORDON" run -n -- sh -c "for i in 1 2 3 4 5; do cat $H/host/many\$i; done; cat $H/host/key $H/host/.ssh/id_ed25519 $H/host/dir; false" 2>&1)
is "a run that fails lists five at most, then a count" "$(printf '%s\n' "$loud" | grep -c '^cordon: blocked: '):$(printf '%s\n' "$loud" | grep -c 'more blocked: ')" 5:1
# Hints are never to keys, homes, directories of the system or metadata services; each reason is a code.
reason() { status "$@"; jq -r '[.denials[] | select((.minor and (.path | test("^/run/new|/root") | not)) or .code == "call" or .reason == "socket" | not) | .reason + " " + (.permit // "-")][0]' "$T/status"; }
is "a key gets no hint" "$(reason -- cat "$H/host/.ssh/id_ed25519")" "keys -"
is "the directory of keys gets none" "$(reason -- ls "$H/host/.ssh")" "keys -"
is "a home gets none" "$(reason -- ls /root)" "home -"
is "nor does a new file in one" "$(reason -- touch /root/new-7)" "home -"
is "nor a directory of the system" "$(reason -- sh -c 'echo x >/run/new-7')" "system -"
is "a read-only file is that" "$(reason --read "$H/open" -- rm -f "$H/open/except/inner")" "read-only edit $H/open/except/inner"
is "the metadata service gets none" "$(reason -- perl -e 'exit 1' http://169.254.169.254/latest)" "metadata -"
is "a host that the command names gets its line" "$(reason -- perl -e 'exit 1' https://api.example.com:8443/x)" "no-door net api.example.com:8443"
is "a host behind a door does not" "$(reason --net api.example.com:8443 -- perl -e 'exit 1' https://api.example.com:8443/x)" null
# What is made where no door leads is lost, and that is printed.
has "a file that is lost" "$(cd "$H/host" && "$CORDON" run -n -- touch made-here 2>&1)" "lost: made-here was in the box's private home"
has "with the door that keeps it" "$(cd "$H/host" && "$CORDON" run -n -- touch made-here 2>&1)" "hint: --edit ."
hasnt "behind the door it is not" "$(cd "$H/host" && "$CORDON" run -n --edit . -- touch made-here 2>&1)" "lost:"
is "settings of programs are no news" "$(cd "$H/host" && "$CORDON" run -n -- sh -c 'mkdir ~/.cache; touch ~/.rc /tmp/x' 2>&1)" ""

# Observing is a report: the walls are the same with and without.
for mode in off calls denials; do
        is "a hidden file answers ENOENT with --observe $mode" \
                "$("$CORDON" run -n -q --observe $mode -- cat "$H/host/key" 2>&1)" "cat: $H/host/key: No such file or directory"
        is "the root has the same names with --observe $mode" "$("$CORDON" run -n -q --observe $mode -- sh -c 'ls -A / /etc /dev; cat /etc/passwd; readlink /bin')" \
                "$("$CORDON" run -n -q --observe off -- sh -c 'ls -A / /etc /dev; cat /etc/passwd; readlink /bin')"
        ok "nothing can be made in it with --observe $mode" "$CORDON" run -n -q --observe $mode -- \
                sh -c '! mkdir /x 2>/dev/null && ! touch /etc/x 2>/dev/null && ! rm /etc/passwd 2>/dev/null && ! ln -s a /b 2>/dev/null'
done
is "--observe off tells nothing" "$(refused --observe off -- cat "$H/host/key")" ""
has "an unknown mode is refused" "$("$CORDON" run --observe some -- true 2>&1)" "--observe takes"
# What watches has the box's id and a number in it: Landlock's scope keeps a box from ending it, or init, which sends its signals.
root_of() { "$CORDON" run -n --observe denials "$@" -- awk '$5 == "/" { print $8 }' /proc/self/mountinfo 2>/dev/null; }
for given in '' ' without landlock'; do
        is "a box$given cannot end what watches it" "$(refused --wall "namespace$given" -- perl -e "kill 9, -1, grep { \$_ != \$\$ } 2 .. 20; -e '$H/host/key'")" "read $H/host/key perl mount read $H/host/key"
        is "its root$given is what watches" "$(root_of --wall "namespace$given")" fuse
done
is "a thousand looks at one path are told once" "$(refused -- perl -e "for (1..1000) { -e '$H/host/key' }" | grep -c key)" 1
is "ten thousand hidden paths do not stop the box" "$("$CORDON" run -n -q --status-fd 3 -- perl -e 'for (1..10000) { -e "/hidden/$_" } print "done"' 3>/dev/null)" "done"
# The observer reads the payload's memory: none of it may be a page that the observer itself must fill.
is "a name in a page of the box's own root does not stop who watches" \
        "$("$CORDON" run -n -q --time 8s --observe denials -- python3 -c "$(cat "$(dirname "$0")/helpers/own_page.py")" 2>&1)" "went on"
is "as an ordinary user too" "$(as_user "$CORDON" run -n --status-fd 3 -- cat "$H/host/key" 3>&1 >/dev/null 2>&1 |
        jq -r '.denials[] | select(.minor | not) | .code + " " + .path')" "read $H/host/key"

# What a box made itself and may not start is told as that, not as something that is nowhere.
is "a program that the box made" "$(refused --use base/strict -- sh -c 'cp /bin/true /tmp/own-program-7; /tmp/own-program-7')" "run /tmp/own-program-7 sh mount "
is "is not said to be missing" "$(jq -c '[(.denials[] | select(.path == "/tmp/own-program-7").on_host), (.absent | index("/tmp/own-program-7"))]' "$T/status")" "[false,null]"
has "and it is said how it can be" "$("$CORDON" run -n --use base/strict -- sh -c 'cp /bin/true /tmp/own-program-7; /tmp/own-program-7' 2>&1)" "hint: --run PATH, or --run DIR/"
is "one that it did not make is missing" "$(refused -- sh -c '/tmp/no-program-7')$(jq -c '.absent | index("/tmp/no-program-7") != null' "$T/status")" true
mkdir -m 777 "$H/made"
is "where a run line lets it start nothing is told" "$(refused --write "$H/made" --run "$H/made/" --run sh --run cp -- sh -c "cp /bin/true $H/made/own; $H/made/own")$(jq .exit "$T/status")" 0
printf 'use base/system\nwrite %s\nrun sh cp mkdir %s/later/?\n' "$H/made" "$H/made" >"$T/late.policy"
for wall in namespace process; do
        rm -rf "$H/made/later"
        is "$wall: behind a run line that named nothing at the start it does not, and that is told" "$(refused --wall $wall -p "$T/late.policy" -- sh -c "mkdir -p $H/made/later; cp /bin/true $H/made/later/own; $H/made/later/own")" "run $H/made/later/own sh $([ $wall = process ] && echo landlock || echo mount) "
done

# A program whose link leads through a directory that no door shows: what is missing is the directory, which is no program.
mkdir -p "$H/chain/hidden/bin" "$H/shown" && printf '#!/bin/sh\necho ran\n' >"$H/chain/hidden/bin/tool" && chmod 755 "$H/chain/hidden/bin/tool" && ln -s "$H/chain/hidden/bin/tool" "$H/shown/tool"
is "what leads to a program is read" "$(refused --read "$H/shown" -- sh -c "$H/shown/tool")" "read $H/chain sh mount read $H/chain"
is "and that door is enough" "$("$CORDON" run -n -q --read "$H/shown" --read "$H/chain" -- sh -c "$H/shown/tool")" ran

# The process wall hides no names: a file can be read by where a door's link leads, and that is no refusal.
ln -s "$H/host" "$H/by-link"
is "what a linked door shows is not told as refused" "$(refused --wall process --read "$H/by-link" -- cat "$H/host/key")$(jq .exit "$T/status")" 0
is "what it does not show is" "$(refused --wall process --read "$H/by-link" -- sh -c "echo x >$H/host/key; cat $H/open/x" | tr '\n' ' ' | cut -d ' ' -f 1-2)" "write $H/host/key"
is "behind the other wall it is hidden, and told" "$(refused --read "$H/by-link" -- cat "$H/host/key" | cut -d ' ' -f 1-2)" "read $H/host/key"

# With all observed, what nothing refused is told too, each once.
"$CORDON" run -n -q --observe all --status-fd 3 --read "$H/open" --write "$H/host" -- \
        sh -c "cat $H/open/link $H/open/none; cat $H/host/key $H/host/key >$H/host/copy; id" 3>"$T/status" >/dev/null 2>&1
effects=$(jq -r '.effects[] | [.code, .path, .program] | join(" ")' "$T/status")
is "a file that was read" "$(printf '%s\n' "$effects" | grep -c "^read $H/host/key cat$")" 1
is "a file that was written" "$(printf '%s\n' "$effects" | grep -c "^write $H/host/copy sh$")" 1
is "a program that was started" "$(printf '%s\n' "$effects" | grep -c "^run /usr/bin/id sh$")" 1
is "nothing of it without all" "$("$CORDON" run -n -q --status-fd 3 -- id 3>&1 >/dev/null 2>&1 | jq 'has("effects")')" false
is "all, in the process wall" "$("$CORDON" run -n -q --wall process --observe all --status-fd 3 -- id 3>&1 >/dev/null 2>&1 |
        jq -r '[.effects[] | select(.code == "read")] | length > 0')" true
is "what a device takes is no refusal" "$(refused -- sh -c 'echo x >/dev/null; echo x >/dev/zero; echo x 2>/dev/null >/dev/full; true')" ""
done_testing
