#!/bin/sh
# doors, check, why, policy: reading a policy without running anything.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
# The box has a /tmp of its own, so what stands for the caller's home and work must lie elsewhere; neither is touched.
export HOME=/home/somebody
mkdir work
c=$CORDON

# --- the examples of the manual ---
cat >resize.policy <<'END'
box    resize-image
doc    "Resize one picture: one file in, one file out, nothing else."
in     picture  max 40M
out    small    max 40M
limit  time 5s  cpu 5s  memory 256M  procs 1
expect deny read {home}/.ssh/id_ed25519
expect deny net  GET https://example.com/
expect deny run  sh
END
cat >python.policy <<'END'
box    python-tool
doc    "Run a snippet an agent wrote; files only under {work}."
use    base/python3
edit   {work}
limit  time 30s cpu 20s memory 1G procs 32 files 256 disk 256M output 256K
expect allow run  python3
expect deny  net  GET https://example.com/
expect deny  read {home}
END
cat >npm.policy <<'END'
box    npm-install
doc    "Fetch and build dependencies; install hooks run here and reach only the package place."
use    base/node
read   {work}/package.json {work}/package-lock.json
edit   {work}/node_modules {tmp}
env    CI=1 npm_config_cache={tmp}/npm
net    registry.npmjs.org:443  cap 600M
limit  time 10m memory 2G procs 256 disk 3G
expect deny read {work}/.env
expect deny net  GET https://collector.example/
END
cd /opt || exit 1
for p in resize python npm; do
        p="$T/$p"
        is "check accepts the example ${p##*/}" "$(status "$c" check "$p.policy")" 0
        is "doors of ${p##*/}" "$(status "$c" doors -p "$p.policy")" 0
        "$c" policy show --json "$p.policy" >"$p.json" 2>"$T/err"
        ok "policy json of ${p##*/} is JSON" jq -e . "$p.json"
        is "its JSON is accepted wherever a policy is" "$(status "$c" check "$p.json")" 0
        is "the JSON of ${p##*/} has the digest of ${p##*/}" "$("$c" policy digest "$p.json" 2>&1)" "$("$c" policy digest "$p.policy")"
        "$c" policy show "$p.policy" >"$p.shown"
        is "the shown lines of ${p##*/} have the digest of ${p##*/}" "$("$c" policy digest "$p.shown" 2>&1)" "$("$c" policy digest "$p.policy")"
        "$c" policy show "$p.shown" >"$T/shown2"
        ok "showing ${p##*/} again changes nothing" cmp "$p.shown" "$T/shown2"
        is "diff of ${p##*/} with itself is equal" "$("$c" policy diff "$p.policy" "$p.shown")" equal
        is "and 0" "$(status "$c" policy diff "$p.policy" "$p.json")" 0
        ok "the digest of ${p##*/} is 64 hex digits" test "$("$c" policy digest "$p.policy" | grep -Ecx '[0-9a-f]{64}')" = 1
        ok "the expect lines of ${p##*/} are in its JSON" jq -e '.expect | length > 0' "$p.json"
done
cd "$T" || exit 1
out=$("$c" doors -p resize.policy)
has "doors names the box" "$out" resize-image
has "doors names the handle" "$out" "in picture max 40M"
has "doors says what the network is" "$out" "nothing is reachable"
has "doors gives the worst case" "$out" "The worst a hostile guest could do"
ok "doors --json is JSON" sh -c "\"$c\" doors --json -p resize.policy | jq -e .policy.box"
has "doors of a write door tells what it means" "$("$c" doors --write "$T/work")" "$T/work"
has "doors of no policy is the default box" "$("$c" doors)" /usr

# --- why ---
is "why: an allowed effect gives 0" "$(status "$c" why read /usr/bin/env)" 0
has "why: and says allow" "$(cat out)" allow
has "why: and by which door" "$(cat out)" base/system
is "why: a denied effect gives 1" "$(status "$c" why read "/home/somebody/.ssh/id_rsa")" 1
has "why: and says deny" "$(cat out)" deny
has "why: and the line that would permit it" "$(cat out)" "read /home/somebody/.ssh/id_rsa"
has "why: and the layer that refuses" "$(cat out)" mount
is "why: with that line it is allowed" "$(status "$c" why --read "/home/somebody/.ssh/id_rsa?" read "/home/somebody/.ssh/id_rsa")" 0
is "why: write is not read" "$(status "$c" why --read /opt write /opt/x)" 1
is "why: a write door allows write" "$(status "$c" why --write /opt write /opt/x)" 0
is "why: a write door allows read" "$(status "$c" why --write /opt read /opt/x)" 0
is "why: .. does not lead out of a door" "$(status "$c" why --read /usr/share read /usr/share/../../home/somebody/x)" 1
is "why: a prefix of a name is not a door" "$(status "$c" why --use none --read /opt read /optional)" 1
is "why: an argument is one path, spaces and all" "$(status "$c" why --read '/two words?' read '/two words/x')" 0
is "why: quotes, comments and backslashes in it are its own" "$(for n in '/two words/a "b" \c' '/two words/#' "/two words/it's"; do status "$c" why --read '/two words?' read "$n"; done | tr -d "\n")" 000
is "why: as in a policy it stands in quotes" "$(status "$c" why --read '/two words?' read '"/two words/x"'):$(status "$c" why --read '/two words?' 'read "/two words/x"')" 0:0
is "why: without them it is two" "$(status "$c" why --read '/two words?' 'read /two words/x')" 125
is "why: a request may be one argument" "$(status "$c" why --net 'https://x.example/** GET' net 'GET https://x.example/')" 0
is "why: run sh by default" "$(status "$c" why run sh)" 0
is "why: run sh in base/python3" "$(status "$c" why --use base/python3 run sh)" 1
is "why: run python3 in base/python3" "$(status "$c" why --use base/python3 run python3)" 0
is "why: no network" "$(status "$c" why net GET https://example.com/)" 1
is "why: an effect that is none gives 125" "$(status "$c" why fly /moon)" 125
is "why: nothing gives 125" "$(status "$c" why)" 125
"$c" why --json read /etc/shadow >out
is "why --json: the answer" "$(jq -r .answer <out)" deny
is "why --json: a stable code" "$(jq -r .code <out)" no-door
ok "why --json: next steps" jq -e '.next_steps|length > 0' out
"$c" why --json read /usr/bin/env >out
is "why --json: allow" "$(jq -r .answer <out)" allow
# one table of secrets: what the attack suite looks for, `why` knows as well
sed -n '/Below every home/,/no other home is listed/p' "$CORDON_SOURCE/src/selftest/probe/try_secrets.c" | grep -oE '"[^"]+"' | tr -d '"' | grep -v -e /tmp/ -e ' ' -e ^mount, >places
ok "the attack suite knows 80 places" test "$(wc -l <places)" -ge 80
while read -r place; do
        case $place in /*) ;; *) place=/home/somebody/$place ;; esac
        "$c" why --json read "$place" | grep -q '"sensitive":"' || echo "$place"
done <places >unknown
is "every place that the attack suite looks at is known as sensitive" "$(cat unknown)" ""
# why and run agree
for path in /usr/bin/env /etc/shadow /tmp /root /home/somebody /proc/self/status /dev/null /var/log; do
        "$c" why read "$path" >/dev/null 2>&1
        said=$?
        "$c" run -q -- test -r "$path" </dev/null >/dev/null 2>&1
        is "why and run agree about reading $path" $said $?
done
for path in /tmp/x /usr/x /etc/x /home/box/x /dev/null; do
        "$c" why write "$path" >/dev/null 2>&1
        said=$?
        "$c" run -q -- sh -c "echo >>$path" </dev/null >/dev/null 2>&1
        got=$?
        is "why and run agree about writing $path" $said $((got > 0))
done

# --- diff ---
printf 'read /usr\n' >a
printf 'read /usr /opt?\n' >b
printf 'read /opt?\nlimit time 1s\n' >d
is "diff: wider" "$("$c" policy diff a b | tail -n 1)" wider
is "diff: wider is 1" "$(status "$c" policy diff a b)" 1
is "diff: narrower" "$("$c" policy diff b a | tail -n 1)" narrower
is "diff: crossing" "$("$c" policy diff a d | tail -n 1)" crossing
has "diff: names the door" "$("$c" policy diff a b)" "+ read /opt"
printf 'read /usr\nlimit time 5s\n' >e
is "diff: a smaller limit is narrower" "$("$c" policy diff a e | tail -n 1)" narrower
printf 'read /usr /usr/bin\n' >f
is "diff: a door inside a door is equal" "$("$c" policy diff a f | tail -n 1)" equal

printf 'use none\nedit /srv/x except a ask\n' >asks && "$c" policy show --json asks >asks.json
is "an edit door that asks is the same from JSON" "$("$c" policy show asks.json)" "$("$c" policy show asks)"
# --- stock ---
"$c" policy stock | grep / >names
has "stock lists base/system" "$(cat names)" base/system
while read -r name; do
        is "the stock policy $name holds" "$(status "$c" check --use "$name")" 0
        is "the stock policy $name can be shown" "$(status "$c" policy show "$name")" 0
        hasnt "the stock policy $name opens no home" "$("$c" policy show "$name")" /home
        case $name in agent/* | base/image) continue ;; esac # they do not start without a credential (t8011), or without an image (t3040)
        is "a box with $name starts" "$(status "$c" run -q --use "$name" -- /bin/true)" 0
        # Written out, it is the same policy: the libraries can be mapped, though no line says `use` any more.
        printf 'use %s\nrun true\n' "$name" >used
        "$c" policy show --json used >used.json
        "$c" policy show used >used.shown
        is "$name written out as JSON starts" "$(status "$c" run -q -p used.json -- /bin/true)" 0
        is "$name written out as lines starts" "$(status "$c" run -q -p used.shown -- /bin/true)" 0
        is "and its plan is the same" "$("$c" run --plan -p used.shown -- /bin/true | sed 's/ idmap//')" \
                "$("$c" run --plan -p used -- /bin/true | sed 's/ idmap//')"
done <names
printf 'use base/loader\nrun true\nread /usr/lib/x86_64-linux-gnu? /usr/lib/aarch64-linux-gnu? /lib64?\n' >used
is "an own line beside a stock line takes nothing away" "$(status "$c" run -q -p used -- /bin/true)" 0
is "a stock policy that does not exist gives 125" "$(status "$c" policy stock base/nothing)" 125

# --- errors: file, line, column ---
bad() { # bad NAME TEXT PLACE WORD
        printf %b "$2" >bad.policy
        is "$1 gives 125" "$(status "$c" check bad.policy)" 125
        has "$1 is told with its place" "$(cat err)" "cordon: error: bad.policy:$3:"
        has "$1 is told with a reason" "$(cat err)" "$4"
        is "$1 runs nothing" "$("$c" run -p bad.policy -- echo RAN 2>/dev/null </dev/null)" ''
}
bad "an unknown word" 'box x\n  raed /usr\n' 2:3 raed
bad "a word twice" 'box a\nbox b\n' 2:1 duplicate
bad "a NUL" 'read /usr\0000x\n' 1:10 NUL
bad "invalid UTF-8" 'read /\0377\n' 1:7 UTF-8
bad "a control character" 'read /a\0033b\n' 1:8 control
bad "an unknown limit" 'limit tme 3s\n' 1:7 time
bad "a limit without a value" 'limit time\n' 1 missing
bad "a number that is none" 'limit memory lots\n' 1:14 lots
bad "an open quote" 'read "/usr\n' 1:6 quote
bad "an unknown stock policy" '\n\nuse base/pyton3\n' 3:5 base/python3
bad "a stray token" 'wall namespace please\n' 1:16 please
bad "an unknown wall" 'wall brick\n' 1:6 brick
bad "a handle type that is none" 'in x as movie\n' 1 movie
bad "an expect that does not hold" 'use base/system\nexpect allow read /etc/shadow\n' 2:1 '/etc/shadow'
bad "a deny that does not hold" 'read /etc\nexpect deny read /etc/shadow\n' 2:1 '/etc/shadow'
printf 'read /opt until 2001-01-01\n' >old.policy
is "a door whose date is past is closed" "$(status "$c" why -p old.policy read /opt/x)" 1
printf 'use base/system\nread /opt until 2001-01-01\n' >old.policy
is "and not seen by a box" "$(status "$c" run -q -p old.policy -- ls /opt)" 2
printf 'read /opt until 2999-01-01\n' >new.policy
is "a door whose date is to come is open" "$(status "$c" why -p new.policy read /opt/x)" 0
printf 'read /opt until 2024-02-30\n' >new.policy
is "a date that is none gives 125" "$(status "$c" check new.policy)" 125
bad "windows line ends" 'read /usr\r\n' 1:10 'Unix line ends'
bad "a root that there is not" 'read {project}/x\n' 1:6 'use {work}, {home} or {tmp}'
bad "a type of handles that there is not" 'in x as video\n' 1:9 'it is binary, text, json, jsonl'
bad "a byte order mark" '\0357\0273\0277read /usr\n' 1:1 'without a byte order mark'
odd=$(printf 'odd\033[2J\nforged\342\200\256.cordon')
printf 'use none\nexpect deny read {home}\n' >"$odd"
has "the name of a file is inert where its policy holds" "$("$c" check "$odd")" 'odd\x1b[2J\x0aforged\u{202e}.cordon: ok, policy '
has "an empty name is told as such" "$("$c" check '' 2>&1)" 'error: a file whose name is empty: '
# bad_place NAME LINE PLACE WORD
bad_place() {
        printf '%s\n' "$2" >bad.places
        is "$1 gives 125" "$(status "$c" check --places bad.places --net '@api/x GET')" 125
        has "$1 is told with its place" "$(cat err)" "cordon: error: bad.places:$3:"
        has "$1 is told with what to write" "$(grep '^cordon: hint:' err)" "$4"
}
bad_place "a stage that there is not" 'place api prod https://a.example/' 1:11 'it is live or test'
bad_place "a stage with a slip" 'place api tset https://a.example/' 1:11 'did you mean "test"?'
bad_place "the stage mock" 'place api mock https://a.example/' 1:11 'remove the line'
bad_place "a URL without a path" 'place api live https://a.example' 1:16 'with a slash at its end'
printf 'use base/system\nraed /x\n' >bad.cordon
for where in bad.cordon "-p bad.cordon"; do
        # shellcheck disable=SC2086
        is "check --json of what does not load ($where)" "$("$c" check --json $where 2>err | jq -c '.[] | [.code, .level, .file, .line, .column, .text, .hint]') $(grep -c 'bad.cordon:2:1: unknown word' err)" \
                '["policy","E","bad.cordon",2,1,"unknown word \"raed\"","did you mean \"read\"?"] 1'
done
is "of a flag, which has no line" "$("$c" check --json --read '' 2>/dev/null | jq -c '.[] | [.file, .line, .text]')" '["policy",0,"--read: empty path"]'
# A name that begins as a place in a file does is a name.
cp bad.cordon ':1' && cp bad.cordon ':2:3'
for where in :1 :2:3; do
        is "of a file with a colon ($where)" "$(timeout 10 "$c" check --json $where 2>/dev/null | jq -c '.[] | [.file, .line, .text]')" "[\"$where\",2,\"unknown word \\\"raed\\\"\"]"
done
is "of two, one list each" "$("$c" check --json bad.cordon base/system 2>/dev/null | jq -s -c 'map(map(.level) | unique)' )" '[["E"],["W"]]'
printf 'use base/system\nread /srv "/opt/a b"\nlimit time 5s\n' >wide.cordon
printf 'use base/system\nread /srv\n' >less.cordon
is "policy diff for programs" "$("$c" policy diff --json less.cordon wide.cordon; echo $?)" '{"order":"crossing","changes":[{"sign":"+","text":"read \"/opt/a b\""},{"sign":"-","text":"limit time 5s, was 1h: narrower"}]}
1'
is "of two that are the same" "$("$c" policy diff less.cordon less.cordon --json; echo $?)" '{"order":"equal","changes":[]}
0'
is "the digest has no --json" "$(status "$c" policy digest --json less.cordon)" 125
printf '{"read": 3}' >bad.json
is "JSON of the wrong shape gives 125" "$(status "$c" check bad.json)" 125
printf '{"doors":[{"raed":"/usr"}]}' >bad.json
is "JSON with an unknown word gives 125" "$(status "$c" check bad.json)" 125
printf '{"box":"a","box":"b"}' >bad.json
is "JSON with a key twice gives 125" "$(status "$c" check bad.json)" 125
printf '{"box":"a"' >bad.json
is "JSON that breaks off gives 125" "$(status "$c" check bad.json)" 125
is "a policy that is not there gives 125" "$(status "$c" check none.policy)" 125
is "a directory as a policy gives 125" "$(status "$c" check work)" 125
is "several policies, one bad: 125" "$(status "$c" check a bad.policy b)" 125
head -c 1100000 /dev/zero | tr '\0' '#' >huge.policy
is "a policy over 1M gives 125" "$(status "$c" check huge.policy)" 125
awk 'BEGIN { printf "read /"; for (i = 0; i < 9000; i++) printf "a"; print "" }' >long.policy
is "a line over 8K gives 125" "$(status "$c" check long.policy)" 125
printf 'box self\nuse ./self.policy\n' >self.policy
is "a policy that uses itself gives 125" "$(status "$c" check self.policy)" 125
# --- lints ---
has "check warns of a container engine's socket" "$("$c" check --sock /var/run/docker.sock? 2>&1)" W
has "check warns of a secret-looking variable" "$("$c" check --env AWS_SECRET_ACCESS_KEY 2>&1)" W
ok "check --json is JSON" sh -c "\"$c\" check --json --env AWS_SECRET_ACCESS_KEY | jq -e 'length > 0'"
# --- doors whose mechanism is missing stop the start: they are never silently absent ---
is "an edit door that cannot be held stops the start, or works" "$("$c" run -q --edit "$T/work" -- sh -c "echo x >$T/work/planted" </dev/null >/dev/null 2>&1; test -e work/planted && echo written)" ''
# A pipe is read to its end, as <(...) of a shell asks for; one that nobody writes to is no empty policy.
# shellcheck disable=SC2016 # for the inner shell
has "a policy comes through a pipe" "$(bash -c '"$0" policy show <(sleep 0.2; echo box piped)' "$CORDON" 2>&1)" "box piped"
: | "$CORDON" policy show /dev/stdin >out 2>&1
is "and not from one without a writer" "$? $(head -n 1 out)" "125 cordon: error: /dev/stdin: nothing was written to this pipe"

# --- --work: asked from another directory, the answer is that of the box ---
mkdir -p "$T/there/build" "$T/elsewhere" && echo in >"$T/there/in" && echo other >"$T/elsewhere/in"
printf 'use base/system\nread {work}\nwrite ./build\nexpect allow write {work}/build/x\nexpect deny write {work}/in\n' >"$T/there/t.cordon"
printf 'read {work}\nexpect allow read /var/lib/x\nexpect deny read /home/x\n' >"$T/there/lib.cordon"
away() { (cd "$T/elsewhere" && "$CORDON" "$@" 2>&1); }
has "check --work holds what expect lines say of {work}" "$(away check --work "$T/there" ../there/t.cordon)" "t.cordon: ok"
has "and of other paths" "$(away check --work /var/lib ../there/lib.cordon)" "lib.cordon: ok"
is "which without it do not hold here" "$(away check ../there/lib.cordon >out; echo $?)" 125
has "with doors of the command line too" "$(away check --work ../there --read '{work}' --expect "allow read $T/there/in")" ": ok, "
has "doors --work names the paths of there" "$(away doors --work ../there ../there/t.cordon)" "write $T/there/build"
has "relative ones too, as run has them" "$(away doors --work ../there --read .)" "read $T/there "
has "why --work: by which door" "$(away why --work "$T/there" -p ../there/t.cordon read "$T/there/in")" "read $T/there"
is "its status is the answer" "$(away why --work "$T/there" -p ../there/t.cordon write "$T/there/in" >/dev/null; echo $?)" 1
is "{work} in the effect is the same" "$(away why --work="$T/there" --json -p ../there/t.cordon read '{work}/in' | jq -r .answer)" allow
is "it is what run does" "$(away run -q --no-stdin --ledger off --work ../there -p ../there/t.cordon -- cat "$T/there/in")" in
for verb in "check ../there/t.cordon" "doors ../there/t.cordon" "why -p ../there/t.cordon read /x"; do
        # shellcheck disable=SC2086
        has "$verb: a directory that is not there is told" "$(away $verb --work /no/such; echo $?)" "--work /no/such: No such file or directory"
done
has "check --work alone asks which policy" "$(away check --work ../there; echo $?)" "which policy?"

# --- --stage and --places: what the broker of that run would do ---
printf 'place bank live https://bank.example/v1/\nplace bank test http://sandbox.example:8080/\nplace shop live https://shop.example/\n' >places
printf '@bank/pay POST where n=int:1..5' >door
staged() { "$CORDON" "$1" --stage "$2" --places places --net "$(cat door)" --net '@shop/** GET' "$3" "$4" "$5" 2>&1; }
is "why: the URL of a place is asked of its doors" "$(staged why test net POST 'https://bank.example/v1/pay?n=5')" "allow  net POST https://bank.example/v1/pay?n=5
door   --net: net @bank/pay POST where n=int:1..5
leads  http://sandbox.example:8080/pay, in the stage test"
has "as the place has it in the stage live" "$(staged why live net POST '@bank/pay?n=5')" "leads  https://bank.example/v1/pay, in the stage live"
has "in the stage mock nothing is reached" "$(staged why mock net POST 'https://bank.example/v1/pay?n=5')" "leads  nowhere: the stage mock reaches nothing, and recorded exchanges answer"
has "denied: what the door to the place lacks" "$(staged why test net POST 'https://bank.example/v1/pay?n=6')" "why    parameter: parameter n is 6, and the door permits 1 to 5"
has "and the line that would permit it" "$(staged why test net POST 'https://bank.example/v1/pay?n=6')" "permit net @bank/pay POST where n=int:1..6"
is "without places the URL is a stranger's" "$("$CORDON" why --json --net "$(cat door)" net POST 'https://bank.example/v1/pay?n=5' | jq -r .code)" host
is "a place without a URL in the stage leads nowhere" "$(staged why test net GET https://shop.example/x | sed -n 2p)" "why    nowhere: no line of a places file says where @shop leads in the stage test"
is "for programs" "$("$CORDON" why --json --stage test --places places --net '@shop/** GET' net GET @shop/x | jq -r '.answer + " " + .code') $("$CORDON" why --json --stage test --places places --net '@bank/** GET' net GET @bank/x | jq -r .leads)" "deny nowhere http://sandbox.example:8080/x"
has "doors tells where places lead" "$(staged doors test --net '@bank/x GET' --json | jq -c '[.stage, .places[]]')" '["test",{"name":"bank","asked":"https://bank.example/v1/","leads":"http://sandbox.example:8080/"},{"name":"shop","asked":"https://shop.example/","leads":null}]'
has "in words" "$("$CORDON" doors --stage test --places places --net @bank/x --net @shop/x)" "Places, in the stage test:
- @bank is asked for at https://bank.example/v1/ and leads to http://sandbox.example:8080/.
- @shop is asked for at https://shop.example/ and leads nowhere."
hasnt "and nothing of places where none were given" "$("$CORDON" doors --net @bank/x)" "Places,"
has "check: edit and write of one path" "$("$CORDON" check --edit "$T" --write "$T")" "W143: $T has both \`edit\` and \`write\`"
has "doors: edit and write of one path" "$("$CORDON" doors --edit "$T" --write "$T" | grep "edit $T")" "no effect: the \`write\` door of this path holds"
hasnt "check: not of a path below" "$("$CORDON" check --edit "$T" --write "$T/below")" W143
has "run says it, too" "$("$CORDON" run --no-stdin --edit "$T" --write "$T" -- true 2>&1)" "\`write\` wins, and changes reach the host at once"
has "check: a place that the file does not name" "$("$CORDON" check --stage test --places places --net @other/x)" "W133: this box cannot start on this host: --net: no places file defines @other for the stage test"
hasnt "one that it names" "$("$CORDON" check --places places --net @bank/x)" "W133"
has "check: a place that leads nowhere in the stage" "$("$CORDON" check --stage test --places places --net @shop/x)" "--net: W139: @shop leads nowhere in the stage test, so every request to it is refused: \`place shop test https://HOST/\` in the places file says where"
is "for programs, one note a door" "$("$CORDON" check --json --stage test --places places --net @shop/x --net @bank/x --net '@shop/y GET' | jq -r '[.[] | select(.code == "W139")] | length')" 2
for stage in live mock; do
        hasnt "nothing is told in the stage $stage" "$("$CORDON" check --stage "$stage" --places places --net @shop/x)" "W139"
done
# As the broker: of the doors that cover a request, the most particular one, which brings the credential.
broad='https://bank.example/** POST' narrow='https://bank.example/v1/pay POST'
taken() { "$CORDON" why "$@" net POST https://bank.example/v1/pay | sed -n 's/^door   --net: net //p'; }
is "why: an exact path before a tail, a place before the URL above it" "$(taken --net "$broad" --net "$narrow"), $(taken --places places --net "$broad" --net '@bank/pay POST')" "$narrow, @bank/pay POST"
is "also where the tail comes first" "$(taken --net bank.example:443 --net "$broad"), $(taken --places places --net '@bank/** POST' --net "$narrow")" "$broad, $narrow"
for verb in "check --net @bank/x" "doors --net @bank/x" "why --net @bank/x net @bank/x"; do
        # shellcheck disable=SC2086
        set -- $verb
        v=$1 && shift
        has "$v: a stage that there is not" "$("$CORDON" "$v" --stage prod "$@" 2>&1; echo $?)" "--stage takes live, test or mock"
        has "$v: a file that is not there" "$("$CORDON" "$v" --places /no/such "$@" 2>&1; echo $?)" "/no/such: No such file"
done
has "check --places alone asks which policy" "$("$CORDON" check --places places --stage=test 2>&1)" "which policy?"

# --- check: doors of the command line beside files, stock policies ---
printf 'expect deny read /usr\nuse base/system\n' >fails.policy && printf 'use base/system\nexpect deny read /srv\n' >holds.policy
is "a policy of -p is held, too, where a file stands beside it" "$(status "$c" check -p fails.policy holds.policy)" 125
is "each is told" "$("$c" check -p holds.policy holds.policy 2>&1 | cut -d , -f 1 | tr '\n' ' ')" "policy: ok holds.policy: ok "
is "how to look is no door" "$("$c" check --work . --json -- holds.policy)" "$("$c" check --json holds.policy)"
is "check takes a stock policy by its name" "$(status "$c" check base/git)" 0
# --- where a lint points to ---
printf 'use base/system\n' >only-use.policy && : >empty.policy
for f in only-use.policy empty.policy; do
        has "$f: the line that is missing is missed in that file" "$("$c" check "$f" 2>&1)" "$f:1:1: W120: "
done
# --- an own policy is pinned by the digest of its text ---
mkdir -p "$T/pins/cordon" "$T/pinned" && echo 'read /usr/share' >"$T/pins/cordon/mine.cordon" && printf 'use base/system mine\nexpect deny read /x\n' >"$T/pinned/p.cordon"
pinned() { XDG_CONFIG_HOME=$T/pins "$CORDON" "$@" 2>&1; }
line=$(pinned check "$T/pinned/p.cordon" | sed -n 's/.*W142: .*pin it: `\(use mine sha256:[0-9a-f]*\)`.*/\1/p')
is "check prints the line that pins an own policy" "$line" "use mine sha256:$(sha256sum <"$T/pins/cordon/mine.cordon" | cut -d' ' -f1)"
printf 'use base/system\n%s\nexpect deny read /x\n' "$line" >"$T/pinned/p.cordon"
hasnt "pinned it holds without that note" "$(pinned check "$T/pinned/p.cordon")" W142
is "and runs" "$(pinned run -q -p "$T/pinned/p.cordon" -- echo ran)" ran
echo 'write /usr/share' >>"$T/pins/cordon/mine.cordon"
out=$(pinned run -p "$T/pinned/p.cordon" -- true)
is "once it has changed nothing runs" $? 125
has "and the new line is there to be typed" "$out" "hint: review the change, then pin it: \`use mine sha256:$(sha256sum <"$T/pins/cordon/mine.cordon" | cut -d' ' -f1)\`"
done_testing
