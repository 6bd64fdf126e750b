#!/bin/sh
# What is typed first, without a door or with the wrong one: no false green, and the hint that is printed works.
. "$(dirname "$0")/lib.sh"
elsewhere cordon-guesses
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
cd "$D" || exit 1
c=$CORDON
said() { "$c" "$@" 2>&1 </dev/null; }
err() { "$c" "$@" 2>&1 >/dev/null </dev/null; }
note="cordon: note: the current directory is not in the box
hint: --read ."

# --- the directory that a command is about, and the box does not show ---
is "an empty directory has nothing to miss" "$(err run ls)" ""
echo hello >in.txt
is "ls is told that it lists another one" "$(err run ls)" "$note"
is "with the hint it lists this one" "$(said run --read . ls)" in.txt
is "of another directory nothing is said" "$(err run ls /usr)" ""
is "nor of one that a door shows" "$(err run --read in.txt -- ls)" ""
is "a dot is this directory" "$(err run -- du -s .)" "$note"
is "a command that is about none says nothing" "$(err run -- echo hi)" ""
is "nor with -q" "$(err run -q -- ls)" ""
has "one that fails is told" "$(err run -- sh -c 'exit 3')" "$note"
for own in 'perl -we die' 'node -p foo' 'node --eval foo' 'python3 -Ic 1/0'; do
        # shellcheck disable=SC2086
        hasnt "not one whose program is in its words: $own" "$(err run -- $own)" "not in the box"
done
# (module (func (export "_start") unreachable))
printf '\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000\007\012\001\006_start\000\000\012\005\001\003\000\000\013' >trap.wasm
hasnt "nor a module that traps" "$(err run -- trap.wasm)" "not in the box"
rm trap.wasm
hasnt "not with a door: who names one knows" "$(err run --read in.txt -- sh -c 'exit 3')" "not in the box"
hasnt "nor with a policy" "$(printf 'use base/system\n' >p.cordon; err run -p p.cordon -- sh -c 'exit 3')" "not in the box"
if command -v python3 >/dev/null; then
        printf 'import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.fail()\n' >test_a.py
        has "no test found is no success" "$(said run -- python3 -m unittest)" "$note"
        is "with the hint it fails" "$(said run --read . -- python3 -m unittest | grep -c '^FAILED')" 1
        is "python alone lists its directory, and that says nothing" "$(err run -- python3 -c 'import json')" ""
fi
is "in a home of one's own the hint is another" "$(HOME=$D err run ls | tail -n 1)" "hint: start it in its own directory, with --read ."

# --- a limit is no door ---
full=$(err run --disk 1M -- dd if=/dev/zero of=/tmp/full bs=1M count=5 status=none)
has "a full disk is told as a limit" "$full" "limits reached: disk
hint: --disk 2M"
hasnt "and not as a door" "$full" blocked
is "with the hints it works" "$(err run --disk 16M -- dd if=/dev/zero of=/tmp/x bs=1M count=5 status=none)" ""

# --- what ends with the box ---
has "a repository in the private home is lost, and that is said" "$(err run -- mkdir .git)" "lost: .git was"
has "so is what the command names" "$(err run -- mkdir .cfg)" "lost: .cfg was"
is "caches are not" "$(err run -- sh -c 'mkdir "$HOME/.$1"' sh cache)" ""

# --- words of other tools, and units ---
while IFS='|' read -r typed want; do
        # shellcheck disable=SC2086
        has "$typed" "$(err run $typed -- true)" "hint: $want"
done <<'ROWS'
--with token|a credential goes with a door: `--net 'https://HOST/** GET with NAME'`
--port 8080|`--listen PORT`
-it|leave out -t
--net=none|a box has no network by default
--net=all|no door opens every host
--limit none|say which limit: `limit time none`
--memory 100m|use 100M
--memory 512|use 512M
--disk 1gb|use 1G
--time 5|use 5s
ROWS
is "--rm is taken, as docker has it" "$(said run --rm -- echo hi)" hi
has "a command in quotes is one word" "$(err run "echo hi")" "hint: the whole command is quoted as one word; remove the quotes, or: cordon run sh -c 'echo hi'"
has "also with a path in it" "$(err run "ls /usr")" "quoted as one word"
has "an option takes one value" "$(: >b.txt; err run --read in.txt b.txt cat in.txt)" "an option takes one value (\`--read A --read B\`)"
has "options stand before the command" "$(err run ls --read .)" "note: --read was passed to the command; put cordon's options before it"

# --- a stranger's script ---
printf '#!/bin/sh\necho installed\n' >install.sh
script="cordon run --script"
has "by its name" "$(err run install.sh)" "hint: \`$script install.sh\`"
has "by its path" "$(err run ./install.sh)" "hint: \`$script ./install.sh\`"
hasnt "nobody is told to make it executable" "$(err run ./install.sh)" chmod
is "to a shell, that is the first hint" "$(err run sh install.sh | grep -m 1 '^hint')" "hint: $script install.sh"
is "and it works" "$(said run --script install.sh)" installed

# --- hosts ---
if command -v curl >/dev/null && command -v python3 >/dev/null; then
        python3 -c '
import http.server, os, sys
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Quiet)
open(sys.argv[1] + ".new", "w").write(str(s.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
s.serve_forever()' "$T/port" &
        server=$!
        trap 'code=$?; kill $server; remove "$T" "$D"; exit $code' EXIT
        soon test -s "$T/port"
        port=$(cat "$T/port")
        url=http://localhost:$port/in.txt
        is "the host's localhost has one hint" "$(err run -- curl -s "$url" | grep -c '^hint')" 1
        is "which is the address" "$(err run -- curl -s "$url" | grep '^hint')" "hint: --net 127.0.0.1:$port"
        is "and works" "$(said run --net "127.0.0.1:$port" -- curl -s "$url")" hello
        has "a door to the name is told how to be written" "$(err run --net "localhost:$port" -- true)" "hint: use 127.0.0.1:$port"
        has "so is a URL" "$(err run --net "http://localhost:$port/**" -- true)" "hint: use http://127.0.0.1:$port/**"
        has "a name behind a URL door to the address has a hint" "$(err run --net "http://127.0.0.1:$port/** GET" -- curl -s "$url")" "hint: use 127.0.0.1 in the command, or --net 127.0.0.1:$port"
        has "a credential keeps port and scheme" "$(err run --net "127.0.0.1:$port with token" -- true)" "use http://127.0.0.1:$port/**"
        has "a host that the words name is told, also when all ends well" "$(err run -- sh -c 'curl -s https://host.example/; true')" "blocked: connect to host.example:443"
        strict() { err run --use base/strict "$@"; }
        has "so is the network, in a strict box" "$(strict -- sh -c 'curl -s https://192.0.2.1/; true')" "blocked: "
        is "sockets of one program are told once" "$(strict -v -- sh -c 'curl -s https://host.example/; curl -s http://192.0.2.1/; true' | grep -c 'blocked: network')" 1
fi
is "settings that an interpreter looks for are no cause" "$(err run --read in.txt -- python3 -c 'raise SystemExit(3)' | grep -c /etc)" 0
hasnt "nor is the directory, of a program that stands in its words" "$(err run -- python3 -c 'raise SystemExit(3)')" "this directory"

# --- where nobody may watch paths ---
if [ "$(id -u)" -eq 0 ]; then
        blind() { unshare -m sh -c 'mount --bind /dev/null /dev/fuse; exec "$@"' sh "$@" 2>&1 </dev/null; }
        [ -c /dev/fuse ] || blind() { "$@" 2>&1 </dev/null; }
elif [ ! -w /dev/fuse ]; then
        blind() { "$@" 2>&1 </dev/null; }
fi
if command -v blind >/dev/null && blind true; then
        chmod 755 "$D"
        has "a file that the command names is told" "$(cd / && blind "$c" run -- cat "$D/in.txt")" "blocked: read $D/in.txt by cat (no read door)
hint: --read $D/in.txt"
        has "also in a script" "$(cd / && blind "$c" run -- sh -c "cat <$D/in.txt")" "hint: --read $D/in.txt"
        hasnt "what the box has is not" "$(blind "$c" run -- sh -c 'cat /etc/hosts /usr /proc/version /dev/null; ls / /usr; false')" blocked
        hasnt "nor what a door shows" "$(blind "$c" run --read in.txt -- sh -c 'cat "$1"; false' sh "$D/in.txt")" "blocked: "
        mkdir -p h/.ssh && echo KEY >h/.ssh/id_rsa
        hasnt "keys get no hint" "$(HOME=$D/h blind "$c" run -- cat "$D/h/.ssh/id_rsa")" hint:
        hasnt "nor does a whole home" "$(HOME=$D/h blind "$c" run -- cat "$D/h")" "--read"
        has "a failure that nobody can explain is told as such" "$(blind "$c" run --read in.txt -- sh -c 'exit 3')" "this host cannot report blocked paths"
        is "a success is not" "$(blind "$c" run -- true)" ""
else
        skip "paths that nobody watches" "/dev/fuse is there for everybody, and only root can hide it"
fi
done_testing
