#!/bin/sh
# The mistakes of a first day: each gets one clear sentence and the next thing to type, and nothing is run in vain.
. "$(dirname "$0")/lib.sh"
watched
elsewhere cordon-first-day
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
cd "$D" || exit 1
c=$CORDON
said() { "$c" "$@" 2>&1 </dev/null; }
said_in() { "$c" "$@" 2>&1; }
echo hello >in.txt

# --- new, and what comes after it ---
has "a policy without a door" "$(said policy new -o mine.cordon)" "wrote mine.cordon; next: cordon check mine.cordon"
has "a policy without its ending is found" "$(said check mine)" "did you mean mine.cordon?"
has "by run too" "$(said run -p mine -- true)" "did you mean mine.cordon?"
has "a program that no door shows is told with the lines that would" "$(said run -p mine.cordon -- echo hi)" "add \`use base/system\` for all programs"
has "one that is nowhere is not" "$(said run -p mine.cordon -- no-such-program)" "no such program in the box or on this host"
has "nor is a path" "$(said run -- ./no-such-program)" "the file does not exist on this host either"
has "a link to nowhere is one" "$(ln -s no-such-program dangling && said run --read . -- ./dangling)" "it is a link to what is not on this host"
has "a file of this directory is named by ./" "$(: >tool.sh && said run --read . -- tool.sh)" "use ./tool.sh"
has "a directory that was meant for a door is one" "$(mkdir -p some && said run --read . some -- ls)" "this is a directory"
# An empty variable of a shell leaves an option without its value.
has "-- is no value" "$(said run --read -- ls)" "--read requires an argument (got --)"
has "nor is another option" "$(said run --read --write . -- ls)" "hint: if that is meant: --read=--write"
is "and --json still is one" "$("$CORDON" check --work --json 2>/dev/null | jq -r '.[0].text')" "option --work requires an argument (got --json)"
has "glued to it, it is one" "$(said run --read=-- -- ls)" "$PWD/-- does not exist on this host"
has "a script of the network is fetched first" "$(said run --script https://example.org/install.sh)" "hint: fetch it first"
has "a stock policy that is none" "$(said policy stock nosuch)" "hint: \`cordon policy stock\` lists them"

# --- check ---
is "check of nothing is an error" "$(said check >/dev/null; echo $?)" 125
has "and asks for a policy" "$(said check)" "which policy? For example: cordon check task.cordon"
is "doors on the command line are a policy" "$(said check --read in.txt | sed 's/, .*//')" "policy: ok"
is "--json may come last" "$(said check mine.cordon --json)" "[]"
printf '{"read": ["x"]}' >wrong.json
has "a door at the top of the JSON" "$(said check wrong.json)" 'doors stand in a list'
printf 'wall process\nsock /srv/s\n' >wall.cordon
has "a door that the wall cannot hold is told before a run" "$(said check wall.cordon)" "W132: the process wall does not support a \`sock\`"
printf 'read %s\nexpect deny read {home}\n' "$CORDON_STATE" >both.cordon
said run -p both.cordon -- true >"$T/run.said"
ok "a door into cordon's own state does not start" grep -q "error: both.cordon:1:6: .*state" "$T/run.said"
is "check refuses it in the very words" "$(said check both.cordon)" "$(cat "$T/run.said")"
is "with its status" "$(said check both.cordon >/dev/null; echo $?)" 125
is "a socket beside a directory is no trouble" "$(printf 'sock /srv/s?\nread {work}\nexpect deny read {home}\n' | said_in check /dev/stdin | sed 's/, .*//')" "/dev/stdin: ok"
printf 'read {work}/later\nexpect deny read {home}\n' >later.cordon
has "what is not there yet is told" "$(said check later.cordon)" "W133: this box cannot start on this host: later.cordon:1:6: $D/later does not exist on this host; use \`read $D/later?\` if it may be missing"
long=$D/$(printf '%0120d' 0)/$(printf '%060d' 0)
has "with all of a long name, twice" "$(said check --read "$long")" "$long does not exist on this host; use \`--read $long?\` if it may be missing"
odd=$D/$(printf 'odd\342\200\256')
mkdir "$odd" && hasnt "and nothing that turns the line around" "$(said check --work "$odd" --read later)" "$(printf '\342\200\256')"
is "and is no error: a policy may be for another host" "$(said check later.cordon >/dev/null; echo $?)" 0
is "for programs too" "$(said check --json later.cordon | jq -r '.[].code')" W133
ok "nothing is told once it is there" sh -c 'mkdir later && ! "$1" check later.cordon | grep W133 && rmdir later' sh "$c"
hasnt "where a place leads is the run's business" "$(printf 'net @api/v1/** GET\nexpect deny read {home}\n' | said_in check /dev/stdin)" W133
is "a check makes no state directory" "$(HOME=$D/home; mkdir "$HOME" && env -u CORDON_STATE -u XDG_STATE_HOME HOME="$HOME" "$c" check --read "$HOME" >/dev/null 2>&1; ls -A "$HOME")" ""
is "nor does a plan" "$(env -u CORDON_STATE -u XDG_STATE_HOME HOME="$D/home" "$c" run --plan --read "$D/home" -- true >/dev/null 2>&1; ls -A "$D/home")" ""

# --- why ---
has "another word for an effect" "$(said why execute ls)" 'did you mean "run"?'
has "connect" "$(said why connect example.com:443)" 'did you mean "net"?'
has "no effect at all" "$(said why in.txt)" "an effect is read, write, run, net, env, sock, sign, decrypt, dev or tool"
has "two paths" "$(said why read in txt)" "a name with spaces stands in quotes"
is "--json may come last in why" "$(said why read in.txt --json | jq -r .answer)" deny
is "also behind doors" "$(said why --read in.txt read in.txt --json | jq -r .answer)" allow
has "a program that the host has not" "$(said why run no-such-program)" "this host has no such program"
is "for programs too" "$(said why --json run no-such-program | jq -c .on_host)" false
has "a path that the host has not" "$(said why read "$D/nothing")" "this host has no such path"
hasnt "nothing is said of one that it has" "$(said why read in.txt)" "this host"
hasnt "nor of the box's own files" "$(said why read /tmp/nothing)" "this host"

# --- doors that are not there, and words that are none ---
has "the parent of a file to write is to be made" "$(said run --write "$D/nothing/new" -- true)" "hint: its directory does not exist either: create it first, or use \`--write $D/nothing/new?\`"
has "docker's way of writing a mount" "$(said run --read "$D/in.txt:ro" -- true)" "hint: a door is one path, the same inside as outside"
has "and with two paths" "$(said run --read "$D/in.txt:/data" -- true)" "hint: a door is one path"
has "single quotes in a policy" "$(printf "read '/srv/a b'\\n" | said_in run -p /dev/stdin -- true)" "hint: only double quotes hold"
has "a line that goes on in the next" "$(printf 'read /usr \\\n  /opt\n' | said_in run -p /dev/stdin -- true)" "hint: lines cannot be continued"
has "a variable in a policy" "$(printf 'read $HOME/x\n' | said_in run -p /dev/stdin -- true)" "hint: no variable is expanded here: {work} and {home}"
has "a policy called -" "$(said check -)" "hint: a policy from standard input is called /dev/stdin"
has "a wall that there is not" "$(said check --wall docker)" "hint: it is auto, namespace, process or wasm"
has "a word that is near none" "$(printf 'allow x\n' | said_in check /dev/stdin)" "hint: a line starts with a word such as read, edit, write"
has "a word alone" "$(printf 'env\n' | said_in check /dev/stdin)" "hint: use \`env NAME[=VALUE]...\`"
has "a path that is missing" "$(printf 'read\n' | said_in check /dev/stdin)" "hint: use \`read PATH...[except SUB...]\`"
has "a limit is told as it was typed" "$(said run --time 5 -- true)" 'error: --time: invalid value "5" for `limit time`'
has "memory without a unit" "$(said run --memory 512 -- true)" 'error: --memory: `limit memory 512` is too small to start anything'
for path in /dev/tty /proc/sys/kernel/hostname /boot/x; do
        hasnt "no line is proposed that would be refused: $path" "$(said why write "$path")" "permit edit"
        has "it would be" "$(said check --edit "$path")" "E126"
done
hasnt "nor at the end of a run" "$(said run -- sh -c 'echo x >/dev/tty; false')" "edit /dev/tty"

# --- a box that is over ---
said run --name over -- true >/dev/null
has "its name leads to the record" "$(said logs over)" "\`cordon ledger --box over\`"
has "which has it" "$(said log --box over)" "exited 0"
run=$(said log --json --box over --kind start | jq -r .run)
has "so does its id" "$(said ps "$run")" "\`cordon ledger --run $run\`"
has "and stop's" "$(said stop over)" "\`cordon ledger --box over\`"
if command -v gcc >/dev/null; then
        echo 'int main(void) { return 0; }' >x.c
        hasnt "a program that another directory of PATH has is not told to be missing" "$(said run --write . -- sh -c 'gcc -o x x.c; false')" "looked for"
        has "one that none has is" "$(said run -- env no-such-program)" "does not exist on the host either: /"
fi
if command -v make >/dev/null; then
        mkdir -p build && printf 'check:\n\tcp /bin/true build/t\n\tbuild/t\nbroken:\n\tfalse\n' >Makefile
        is "what it builds runs" "$(said run --read . --write build -- make -s check; echo $?)" 0
        rm -f build/t
        built() { said run --use base/strict --read . --write build "$@"; }
        ok "make does not try what it may not run, so that no refusal is heard of" sh -c '! printf %s "$1" | grep -q "run .*build/t by"' sh "$(built -- make check)"
        has "it is told what to name" "$(built -- make check)" "note: files the box can write cannot be executed"
        hasnt "with the line it is not told" "$(built --run build/ --run make --run sh -- make broken)" "may not run"
        is "and it runs" "$(built --run build/ --run make --run sh --run cp -- make -s check; echo $?)" 0
        rm -f build/t
        has "a program that it is to make is told how to name" "$(built --run build/t -- make check)" "hint: what a box makes runs from a directory that is named: \`--run $PWD/build/\`"
        has "so is a directory" "$(built --run build/new/ -- make check)" "hint: make it first"
        has "a line that named nothing at the start opened nothing, and that is told" \
                "$(said run --edit . --run './build/new/?' --run sh --run mkdir --run cp -- sh -c 'mkdir build/new; cp /bin/true build/new/t; build/new/t')" "this box can write the file, so it cannot execute it"
        hasnt "nor where nothing can be written" "$(said run --read . -- make broken)" "may not run"
        hasnt "nor when all went well" "$(built -- make -n check)" "may not run"
fi

# --- advise ---
is "an option after the words" "$(said policy new csv --json | jq -r .task)" parse-csv
has "a letter is told as a letter" "$(said policy new -x csv)" "has no option -x"
has "download a file" "$(said policy new download a file)" "box    fetch-url"

# --- learn and tighten ---
echo mine >there
has "a file that is there is told before anything runs" "$(said learn -o there -- cat in.txt)" "there already exists"
hasnt "and nothing ran" "$(said learn -o there -- cat in.txt)" "boxes"
is "it is as it was" "$(cat there)" mine
has "a directory that is not there too" "$(said learn -o nowhere/x -- cat in.txt)" "mkdir -p nowhere"
hasnt "and then nothing ran either" "$(said learn -o nowhere/x -- cat in.txt)" "boxes"
is "a link that leads nowhere is there" "$(ln -s nothing link && said learn -o link -- cat in.txt | head -n 1)" "cordon: error: link already exists"
has "a command that fails is told what to try" "$(said learn -n 1 -- false)" "does it succeed outside a box?"
hasnt "and is not said to have passed" "$(said learn -n 1 -- false)" "runs passed"
has "one door is one door" "$(said learn -n 1 -- cat in.txt)" "1 door tried"
has "tighten's example works as it stands" "$(said policy tighten)" "cordon policy tighten -p task.cordon -- ls"

# --- where a program is run from ---
is "without HOME" "$(env -u HOME "$c" learn -n 1 -- cat in.txt 2>/dev/null </dev/null | grep -c '^read {work}/in.txt')" 1
is "in the root directory" "$(cd / && "$c" learn -n 1 -- true >/dev/null 2>&1 </dev/null; echo $?)" 0
mkdir -m 555 "$D/closed"
is "with a state directory that cannot be made" "$(as_user env CORDON_STATE="$D/closed/state" "$c" run -q -- echo ran 2>&1 </dev/null)" ran
for verb in "policy new --list" "why read in.txt" "doors" "check mine.cordon" "learn -n 1 -- true"; do
        # shellcheck disable=SC2086
        is "\`$verb\` into a full pipe is an error" "$("$c" $verb >/dev/full 2>/dev/null </dev/null; echo $?)" 125
done
done_testing
