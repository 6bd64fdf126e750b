#!/bin/sh
# cordon learn on hostile code: what it wants is never proposed, is told with the program that tried, and becomes a test of
# the policy; and nothing it does while it is learned reaches the host.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
watched
elsewhere cordon-hostile
trap 'code=$?; [ -z "${LISTENER:-}" ] || kill "$LISTENER"; remove "$T" "$D"; exit $code' EXIT
c=$CORDON
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
H=$D/home
mkdir -p "$H/.ssh" "$H/.aws" "$H/.config/gh" "$H/.mozilla/firefox" "$H/.gnupg" "$H/run" "$D/work" "$D/bin"
for f in .ssh/id_rsa .ssh/id_ed25519 .aws/credentials .config/gh/hosts.yml .mozilla/firefox/logins.json .netrc .npmrc .pypirc .bash_history .git-credentials .bashrc .profile; do echo "canary $f" >"$H/$f"; done
HOME=$H
export HOME
cd "$D/work" || exit 1
echo hello >in.txt && echo "TOKEN=canary" >.env && chmod -R a+rX "$D"
cc -static -O1 -o "$D/bin/effect" "$(dirname "$0")/helpers/effect.c" 2>/dev/null ||
        cc -static -O1 -o "$D/bin/effect" "$CORDON_SOURCE/tests/cli/helpers/effect.c" || exit 1
"$D/bin/effect" listen "$D/docker.sock" >"$T/port" &
LISTENER=$!
soon test -s "$T/port"
ln -s "$D/docker.sock" "$H/run/ssh-agent.sock"
before=$(cd "$D" && find home work -type f -exec sha256sum {} + | sort)

# sample NAME WANTS SCRIPT: a python program that reads {work}/in.txt, which is all it may, and tries WANTS beside.
SAMPLES=0
sample() {
        name=$1 wants=$2
        SAMPLES=$((SAMPLES + 1))
        printf 'import ctypes, os, socket, subprocess, sys\ndef attempt(f):\n    try: f()\n    except Exception: pass\n    except SystemExit: pass\n%s\nprint(open("in.txt").read())\n' "$3" >"$D/work/job.py"
        "$c" learn -n 1 --json -- python3 job.py >"$T/json" 2>"$T/err" </dev/null
        is "$name: it is learned" "$?:$(jq -r .passed "$T/json")" 0:true
        jq -r .policy "$T/json" >"$T/$name.cordon"
        is "$name: only what the honest half needs is proposed" "$(sed -n 's/ *#.*//; /^\(use\|read\|edit\|write\|run\|env\|net\|sock\) /p' "$T/$name.cordon" | sort)" "$(printf 'read {work}/in.txt\nread {work}/job.py\nuse base/python3')"
        has "$name: what it wanted is told, with who tried" "$(jq -r '.refused[] | "\(.reason) \(.what) by \(.program)"' "$T/json")" "$wants"
        is "$name: the policy holds" "$("$c" check "$T/$name.cordon" 2>&1 | grep -c ": ok, ")" 1
}
sample ssh-keys "keys $H/.ssh/id_rsa by python3" "for k in ('id_rsa', 'id_ed25519'): attempt(lambda: open('$H/.ssh/' + k).read())"
has "and is denied by a test of the policy" "$(cat "$T/ssh-keys.cordon")" 'expect deny read {home}/.ssh/id_rsa'
sample cloud-keys "tokens $H/.aws/credentials by python3" "attempt(lambda: open('$H/.aws/credentials').read())"
has "and is denied by a test of the policy" "$(cat "$T/cloud-keys.cordon")" 'expect deny read {home}/.aws/credentials'
sample tokens "tokens $D/work/.env by python3" "for f in ('$D/work/.env', '$H/.netrc', '$H/.npmrc', '$H/.git-credentials', '$H/.config/gh/hosts.yml'): attempt(lambda: open(f).read())"
sample history-and-browser "history $H/.bash_history by python3" "for f in ('$H/.bash_history', '$H/.mozilla/firefox/logins.json'): attempt(lambda: open(f).read())"
sample shadow "tokens /etc/shadow by python3" "for f in ('/etc/shadow', '/etc/sudoers', '/etc/machine-id'): attempt(lambda: open(f).read())"
sample agent-socket "agent $D/docker.sock by python3" "attempt(lambda: os.stat('$D/docker.sock')); attempt(lambda: socket.socket(socket.AF_UNIX).connect('$D/docker.sock'))"
ssh_agent=$D/home/run/ssh-agent.sock
sample ssh-agent "agent $ssh_agent by python3" "attempt(lambda: os.stat('$ssh_agent')); attempt(lambda: socket.socket(socket.AF_UNIX).connect('$ssh_agent'))"
sample metadata "metadata 169.254.169.254:80 by python3" "attempt(lambda: socket.create_connection(('169.254.169.254', 80), 1)); attempt(lambda: socket.create_connection(('127.0.0.1', $(cat "$T/port")), 1))"
sample tracing "call ptrace" "libc = ctypes.CDLL(None); attempt(lambda: libc.ptrace(16, 1, 0, 0))"
sample mounts "call mount" "libc = ctypes.CDLL(None); attempt(lambda: libc.mount(b'none', b'/mnt', b'tmpfs', 0, None)); attempt(lambda: libc.unshare(0x10000000))"
sample modules "call init_module" "libc = ctypes.CDLL(None); attempt(lambda: libc.syscall({'aarch64': 105}.get(os.uname().machine, 175), 0, 0, 0)); attempt(lambda: open('/proc/kcore', 'rb')); attempt(lambda: open('/dev/mem', 'rb'))"
sample system-files "system /etc/" "for f in ('/etc/cron.d/x', '/etc/passwd', '/usr/bin/x', '$H/.bashrc', '$H/.ssh/authorized_keys'): attempt(lambda: open(f, 'w').write('x'))"
# Links that the project brings: a door follows them, so where they lead is what counts.
ln -s "$H/.ssh/id_rsa" "$D/work/notes.txt" && ln -s "$H/.ssh" "$D/work/docs" && ln -s "$H" "$D/work/data" && ln -s in.txt "$D/work/same"
sample links-to-keys "keys $D/work/notes.txt by python3" "attempt(lambda: sys.exit(open('notes.txt').read())); attempt(lambda: os.listdir('docs'))"
# A second name of a key is a link that leads nowhere; ways to a key that do not look like one.
ln "$H/.aws/credentials" "$D/work/hard.txt" && ln "$H/.netrc" "$D/work/net.txt"
sample second-names-of-keys "tokens $D/work/hard.txt by python3" "attempt(lambda: open('hard.txt').read()); attempt(lambda: open('net.txt').read())"
rm "$D/work/hard.txt" "$D/work/net.txt"
sample ways-to-keys "keys $H/.ssh/id_rsa by python3" "for f in ('$H/work/../.ssh/id_rsa', '$H/./.ssh//id_rsa', '/proc/self/root$H/.ssh/id_rsa', '/proc/self/cwd/../home/.ssh/id_rsa', '$H/.SSH/id_rsa', '$D/work/' + 'x/../' * 200 + '../home/.ssh/id_rsa', '/etc/' + 'y' * 5000): attempt(lambda: open(f).read())"
# What the network says ends in no line: labels with line ends, spaces, comments and quotes; targets and hosts of requests.
sample names-from-the-network "network GET http://plain.example/a by python3" "import struct
def ask(*labels):
    server = [l.split()[1] for l in open('/etc/resolv.conf') if l.startswith('nameserver')]
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.3)
    s.sendto(struct.pack('>HHHHHH', 1, 256, 1, 0, 0, 0) + b''.join(bytes([len(l)]) + l for l in labels) + bytes(1) + struct.pack('>HH', 1, 1), (server[0], 53)); s.recv(512)
for l in (b'evil' + bytes([10]) + b'read /etc', b'a b # c', b'x' + bytes([34]) + b'y', b'*', b'example.com read'): attempt(lambda: ask(l, b'com'))
def get(rest):
    s = socket.create_connection((socket.gethostbyname('plain.example'), 80), 1); s.sendall(b'GET ' + rest + bytes([13, 10, 13, 10])); s.recv(300)
end = bytes([13, 10]) + b'Host: plain.example'
for r in (b'/a%0aread%20/etc HTTP/1.1' + end, b'/b' + bytes([10]) + b'read / HTTP/1.1' + end, b'/c#d*e HTTP/1.1' + end, b'/ HTTP/1.1' + end + b' read /etc', b'/ HTTP/1.1' + end + bytes([10]) + b'read /etc'): attempt(lambda: get(r))"
sample links-to-the-home "link-out $D/work/data by python3" "attempt(lambda: os.listdir('data'))"
sample writes-behind-links "link-out $D/work/data/x by python3" "attempt(lambda: open('data/x', 'w'))"
"$c" learn -n 1 -- cat same >"$T/same.cordon" 2>/dev/null </dev/null
has "a link that stays inside is learned" "$(cat "$T/same.cordon")" 'read {work}/same'
rm "$D/work/notes.txt" "$D/work/docs" "$D/work/data" "$D/work/same"
# A failure that lists the project's directory on the way does not open it: what lies in it suffices.
printf 'nameservers = open("/etc/resolv.conf").read()\nprint(open("in.txt").read())\n' >job.py
"$c" learn -n 1 --json -- python3 job.py 2>"$T/err" </dev/null | jq -r .policy >"$T/closer.cordon"
is "a directory that only a failing run listed is not opened" "$(sed -n 's/ *#.*//; /^read /p' "$T/closer.cordon" | tr '\n' ' ')" "read /etc/resolv.conf read {work}/in.txt read {work}/job.py "
# Bytes of the program's own that end up in the draft: names of files, its own name, its arguments.
NL='
'
ESC=$(printf '\033')
odd="$D/work/a${NL}read  etc${NL}#\" b"
printf x >"$odd" && printf x >"$D/work/esc${ESC}[2J" && chmod a+r "$D"/work/*
before_names=$(cd "$D" && find home work -type f ! -name job.py -exec sha256sum {} + | sort)
sample names-with-newlines "odd-name $D/work/a" 'for f in (chr(10).join(("a", "read  etc", "#\" b")), "esc" + chr(27) + "[2J"): attempt(lambda: open(f).read())'
is "no line of the draft comes from a name" "$(grep -c '^read  ' "$T/names-with-newlines.cordon")" 0
hasnt "and no escape of a terminal" "$("$c" learn -n 1 -- python3 job.py 2>&1 </dev/null)" "$ESC"
sample own-name-with-newline "keys $H/.ssh/id_rsa by x" "libc = ctypes.CDLL(None); libc.prctl(15, ('x' + chr(10) + 'read /').encode(), 0, 0, 0); attempt(lambda: open('$H/.ssh/id_rsa').read())"
is "nor from the program's own name" "$(grep -c '^ *read */$' "$T/own-name-with-newline.cordon")" 0
echo 'print(1)' >"$D/work/job.py"
"$c" learn -n 1 -- python3 job.py "a${NL}read /${NL}${ESC}[2J" >"$T/out" 2>"$T/err" </dev/null
is "nor from an argument" "$?:$(grep -c '^ *read */$' "$T/out"):$(cat "$T/out" "$T/err" | grep -c "$ESC")" "0:0:0"
is "the odd names are as they were" "$(cd "$D" && find home work -type f ! -name job.py -exec sha256sum {} + | sort)" "$before_names"
rm -f "$odd" "$D/work/esc${ESC}[2J"
ok "there are twenty samples" test "$SAMPLES" -ge 20
rm -f job.py
is "nothing of the caller's was changed while they were learned" "$(cd "$D" && find home work -type f -exec sha256sum {} + | sort)" "$before"
is "no file was left in /etc or /usr" "$(ls /etc/cron.d/x /usr/bin/x 2>/dev/null)" ""

# A command that cannot do without a key is not given one.
is "a command that needs a key does not pass" "$("$c" learn -n 1 -- cat "$H/.ssh/id_rsa" 2>"$T/err" </dev/null; echo $?)" 1
has "and it is said what it wanted" "$(cat "$T/err")" "keys: read $H/.ssh/id_rsa, by cat"
has "and that nothing is offered" "$(cat "$T/err")" "no policy: the command failed"

# Three files of a directory become the directory: who asks for its keys only then is not shown them either.
mkdir -p "$D/work/data/conf" && for f in 1 2 3 4 conf/5 id_rsa server.key conf/.env; do echo "in $f" >"$D/work/data/$f"; done && chmod -R a+rX "$D/work/data"
printf 'x\n' >"$D/work/data/$(printf 'un\342\200\213seen')" && chmod a+r "$D"/work/data/un*
cat >"$D/work/late.py" <<'END'
for f in ("1", "2", "3", "4", "conf/5"): print(open("data/" + f).read())
for f in ("id_rsa", "server.key", "conf/.env", "un\u200bseen"):
    try: open("data/" + f).read()
    except OSError: pass
END
chmod a+r "$D/work/late.py" && "$c" learn -n 1 --json -- python3 late.py >"$T/json" 2>"$T/err" </dev/null
is "late: it is learned" "$?:$(jq -r .passed "$T/json")" 0:true
jq -r .policy "$T/json" >"$T/late.cordon"
is "late: the directory is not opened for its other files" "$(grep -c '^read {work}/data\( \|$\)' "$T/late.cordon")" 0
is "late: its keys and tokens are not" "$(for f in 1 id_rsa server.key conf/.env; do "$c" why -p "$T/late.cordon" read "$D/work/data/$f" | sed -n '1s/ .*//p'; done | tr '\n' ' ')" "allow deny deny deny "
rm -rf "$D/work/data" "$D/work/late.py"
# --- stores that no table knows by name ---
mkdir -p "$HOME/.unheard-of" "$HOME/.config/age" mixed && echo token >"$HOME/.unheard-of/store" && echo key >"$HOME/.config/age/keys.txt" && echo plain >"$HOME/plain"
for f in 1 2 3; do echo "$f" >mixed/f$f; done
printf '%s\n%s\n' '-----BEGIN OPENSSH PRIVATE KEY-----' 'b3BlbnNzaC1rZXktdjEA' >mixed/looks-harmless
echo SECRET=1 >.env.production && echo SECRET= >.env.example
chmod -R a+rX "$D"
learned() { "$c" learn -n 1 "$@" 2>"$T/err" </dev/null | grep '^read\|^edit\|^run' | sed 's/ *#.*//' | tr '\n' ' '; }
hasnt "a dot path below the home is not learned" "$(learned -- sh -c "cat $HOME/.unheard-of/store")" unheard
has "and the way to agree is printed" "$(cat "$T/err")" "--read PATH"
has "with consent it is" "$(learned --read "$HOME/.unheard-of" -- sh -c "cat $HOME/.unheard-of/store")" "read {home}/.unheard-of/store"
hasnt "consent opens no known store" "$(learned --read "$HOME/.config" -- sh -c "cat $HOME/.config/age/keys.txt")" age
has "another file of the home is" "$(learned -- cat "$HOME/plain")" "read {home}/plain"
hasnt "a private key is known by its first line" "$(learned -- cat mixed/looks-harmless)" looks-harmless
is "three files beside a key do not become the directory" "$(learned -- cat mixed/f1 mixed/f2 mixed/f3 | grep -o 'mixed[^ ]*' | tr '\n' ' ')" "mixed/f1 mixed/f2 mixed/f3 "
rm mixed/looks-harmless
is "without the key they do" "$(learned -- cat mixed/f1 mixed/f2 mixed/f3 | grep -o 'mixed[^ ]*' | tr '\n' ' ')" "mixed "
hasnt ".env.production is a secret" "$(learned -- cat .env.production)" ".env.production"
has ".env.example is not" "$(learned -- cat .env.example)" ".env.example"
rm -rf mixed .env.production .env.example "$HOME/.unheard-of" "$HOME/.config/age" "$HOME/plain"
done_testing
