#!/bin/sh
# cordon policy wrap: a script in front of a parser. What a call names is shown and nothing else; crashes stay inside; every word
# of the script is quoted.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib-home.sh"
mkdir "$HOME/.ssh" "$D/bin"
before=$(orphans)

# --- the script ---
is "a script is written" "$(status "$c" policy wrap -o "$D/bin/show" cat)" 0
ok "it is executable" test -x "$D/bin/show"
ok "a shell takes it" sh -n "$D/bin/show"
real=$(readlink -f "$c")
has "it names cordon by its path" "$(cat "$D/bin/show")" "exec '$real' 'run'"
has "and the program" "$(cat "$D/bin/show")" "-- '$(command -v cat)' \"\$@\""
is "it is never written over" "$(status "$c" policy wrap -o "$D/bin/show" cat)" 125
has "and that is said" "$(cat "$T/err")" "already exists"
is "without -o it goes to standard output" "$("$c" policy wrap cat)" "$(cat "$D/bin/show")"
is "a wrapper is not wrapped" "$(status "$c" policy wrap "$D/bin/show")" 125
is "nor found in PATH before the program" "$(cp "$D/bin/show" "$D/bin/cat"; PATH=$D/bin:$PATH "$c" policy wrap cat)" "$(cat "$D/bin/show")"
rm "$D/bin/cat"
is "no program gives 125" "$(status "$c" policy wrap)" 125
is "one that is not there gives 125" "$(status "$c" policy wrap no-such-program)" 125
is "arguments come from the call" "$(status "$c" policy wrap cat -n)" 125
is "a door that does not load gives 125" "$(status "$c" policy wrap --raed x cat)" 125
is "a policy that does not let it run gives 125" "$(printf 'use base/loader\nrun ls\n' >"$T/p"; status "$c" policy wrap -p "$T/p" cat)" 125
has "with the line that would" "$(cat "$T/err")" "run $(command -v cat)"
printf 'use base/system\nlimit time 20s\n' >policy.cordon
"$c" policy wrap -p policy.cordon --read ./shared -o "$D/bin/by-policy" cat
mkdir shared && echo shared >shared/file && echo one >in.txt && chmod -R a+rX .
has "paths that are relative here are absolute in it" "$(cat "$D/bin/by-policy")" "'-p' '$D/work/policy.cordon' '--read' '$D/work/shared'"
is "so that it works from elsewhere" "$(cd / && "$D/bin/by-policy" "$D/work/in.txt" "$D/work/shared/file" | tr '\n' ' ')" "one shared "
is "options in every form give the same script" "$("$c" policy wrap -qo "$T/f1" --time=9s -p"$D/work/policy.cordon" cat; "$c" policy wrap -q --script="$T/f2" --time 9s -p policy.cordon cat; cmp "$T/f1" "$T/f2" && grep -c "'--time' '9s' '-p' '$D/work/policy.cordon' --arg-files -q -- " "$T/f1")" 1
has "help has examples" "$("$c" policy wrap --help)" "pdftotext report.pdf -"
has "for convert" "$("$c" policy wrap --help)" "convert photo.png"
has "for tar" "$("$c" policy wrap --help)" "untar -C ./unpacked"

# --- what a call shows ---
show=$D/bin/show
echo two >other.txt && echo key >"$HOME/.ssh/id_rsa" && echo t >.env && ln -s "$HOME/.ssh/id_rsa" notes.txt && chmod -R a+rX "$D"
is "a file that is named is shown" "$("$show" in.txt 2>/dev/null)" one
is "by its absolute path, too" "$("$show" "$D/work/in.txt" 2>/dev/null)" one
is "and from above" "$("$show" ../work/in.txt 2>/dev/null)" one
is "several, each" "$("$show" in.txt other.txt 2>/dev/null | tr '\n' ' ')" "one two "
is "standard input passes through" "$(echo piped | "$show" 2>/dev/null)" piped
is "the program's own status passes through" "$(status "$show" nothing)" 1
"$c" policy wrap -q --time 20s -o "$D/bin/sh-in" sh
printf 'for f in "$@"; do cat "$f"; done\n' >each.sh
is "what is not named is not there" "$(echo "cat $D/work/other.txt || echo hidden" >ask.sh; "$D/bin/sh-in" ask.sh 2>/dev/null)" hidden
is "what is shown cannot be written" "$(echo 'echo x >in.txt || echo read-only' >ask.sh; "$D/bin/sh-in" ask.sh in.txt 2>/dev/null):$(cat in.txt)" "read-only:one"
is "a directory is not shown" "$(echo 'ls "$1" 2>/dev/null | wc -l' >ask.sh; "$D/bin/sh-in" ask.sh shared 2>/dev/null)" 0
"$c" policy wrap -q --dirs -o "$D/bin/sh-dirs" sh
is "unless it is asked for" "$("$D/bin/sh-dirs" ask.sh shared 2>/dev/null)" 1
is "what begins with a dash shows nothing" "$(echo dash >-in.txt; echo 'cat ./-in.txt || echo hidden' >ask.sh; "$D/bin/sh-in" ask.sh -in.txt 2>/dev/null)" hidden
for f in "$HOME/.ssh/id_rsa" .env notes.txt; do
        is "$(basename "$f") is refused, and nothing is started" "$(status "$show" in.txt "$f"):$(cat "$T/out")" "125:"
        has "with a sentence" "$(cat "$T/err")" "is not shown to the box"
done
is "one that is meant can be said" "$("$c" run -q --read .env --arg-files -- cat .env)" t
for name in "it's" 'a $HOME b' 'star*' 'what?' '"quoted"' 'back\slash' '`id`' '{work}' 'a;b&c|d' 'ünïcode' '#hash' 'x=y'; do
        printf '%s\n' "$name" >"$name"
        is "a file called $name is shown as it is called" "$("$show" "$name" 2>/dev/null)" "$name"
done
newline=$(printf 'new\nline')
echo x >"$newline"
is "a newline in a name is refused" "$(status "$show" "$newline")" 125
has "with a sentence, in which it is inert" "$(cat "$T/err")" 'new\x0aline: its name has control characters'
mkdir -p real/sub && echo inner >real/file && echo outer >file && ln -s real/sub link && chmod -R a+rX .
is "a name that means two files is refused" "$(status "$show" link/../file)" 125

# --- a script is a program too: it starts its interpreter, which starts others ---
printf '#!/bin/sh\necho "script: $(cat "$1")"\n' >"$D/bin/script" && chmod 755 "$D/bin/script"
is "a script outside the system's programs runs" "$("$c" policy wrap -q -o "$D/bin/wrapped" "$D/bin/script"; "$D/bin/wrapped" in.txt)" "script: one"
is "by a line that shows it, so that the programs it calls run" "$(grep -c -- "--read '$D/bin/script'" "$D/bin/wrapped")" 1
is "with a list of programs, by one that names it" "$("$c" policy wrap -q --run sh --run cat -o "$D/bin/listed" "$D/bin/script"; "$D/bin/listed" in.txt)" "script: one"
is "a list without its interpreter is refused" "$(status "$c" policy wrap --run cat "$D/bin/script")" 125
is "why knows that" "$("$c" why --json --run "$D/bin/script" run "$D/bin/script" | sed 's/.*"answer":"\([a-z]*\)","code":"\([a-z-]*\)".*/\1 \2/')" "deny not-run"
has "and a box that does not start says it" "$("$c" run --run "$D/bin/script" -- "$D/bin/script" 2>&1)" "--run /bin/sh"

# --- the archive of the manual ---
mkdir unpacked && chmod 777 unpacked && tar -cf got.tar in.txt other.txt && chmod a+r got.tar
"$c" policy wrap -q --write ./unpacked -o "$D/bin/untar" tar
is "an archive is unpacked where a door lets it" "$("$D/bin/untar" -C ./unpacked -xf got.tar 2>/dev/null; cat unpacked/in.txt)" one
mkdir elsewhere && chmod 777 elsewhere
is "and nowhere else" "$("$D/bin/untar" -C ./elsewhere -xf got.tar >/dev/null 2>&1; ls elsewhere)" ""
rm -rf unpacked elsewhere got.tar

# --- quoting ---
odd="$D/it's \$HOME \`id\` \"q\"
second line"
mkdir -p "$odd" && cp "$real" "$odd/cordon" && chmod -R a+rX "$odd"
is "cordon itself in an odd place" "$("$odd/cordon" policy wrap -o "$D/bin/odd" cat; "$D/bin/odd" in.txt 2>/dev/null)" one
ok "its script is taken by a shell" sh -n "$D/bin/odd"
tool="$D/bin/it's a \$(touch ran) tool"
cp "$(command -v cat)" "$tool" && chmod 755 "$tool"
is "a program with an odd name" "$("$c" policy wrap -q -o "$D/bin/odd2" "$tool"; "$D/bin/odd2" in.txt)" one
ok "nothing of its name was run" test ! -e ran
"$c" policy wrap -q --env 'GREETING=$(touch ran) `id` '"it's" -o "$D/bin/odd3" sh
echo 'printf "%s\n" "$GREETING"' >ask.sh
is "a value with a dollar sign" "$("$D/bin/odd3" ask.sh 2>/dev/null)" '$(touch ran) `id` '"it's"
has "a program whose name has a newline is refused in a sentence" "$(cp "$tool" "$D/bin/$newline"; "$c" policy wrap "$D/bin/$newline" 2>&1)" "cordon: error: "

# --- a parser with every fault, and files that meet them ---
if ! command -v cc >/dev/null; then
        skip "a parser that crashes" "there is no compiler"
        done_testing
fi
cc -O1 -w -static -o "$D/bin/parser" "$here/helpers/parser.c" || { fail "the parser compiles"; done_testing; }
mkdir corpus && cd corpus || exit 1
for word in segv abort divide trap stack loop memory fork flood net; do echo "$word" >"$word.doc"; done
echo hello >good.doc && : >empty.doc && head -c 3000 /dev/urandom >noise.doc
printf 'look %s\n' "$HOME/.ssh/id_rsa" >keys.doc
printf 'look %s/corpus/good.doc\n' "$D/work" >sibling.doc
printf 'look /etc/shadow\n' >shadow.doc
chmod -R a+rX .
"$c" policy wrap --time 3s --cpu 20s --memory 128M --procs 16 --output 1M -o "$D/bin/parse" "$D/bin/parser"
ls -lR "$D" >"$T/was"
is "a good file is parsed" "$("$D/bin/parse" good.doc 2>/dev/null)" hello
is "an empty one is the parser's own failure" "$(status "$D/bin/parse" empty.doc)" 1
for case in "segv 139" "abort 134" "divide 136" "stack 139"; do
        is "${case% *}: the crash stays inside, and the status is its signal's" "$(status "$D/bin/parse" "${case% *}.doc")" "${case#* }"
done
got=$(status "$D/bin/parse" trap.doc)
case $got in 132 | 133) pass "trap: so it is" ;; *) fail "trap: so it is" "$got" ;; esac
for case in "loop time" "flood output"; do
        is "${case% *}: a limit ends it" "$(status "$D/bin/parse" "${case% *}.doc")" 124
        has "and is named" "$(cat "$T/err")" "limit \`${case#* }\` reached"
done
got=$(status "$D/bin/parse" memory.doc)
case $got in 124 | 134 | 137) pass "memory: it does not get more than its limit ($got)" ;; *) fail "memory: it does not get more than its limit" "$got" "$(cat "$T/err")" ;; esac
if [ "$got" = 124 ]; then
        has "and that is said" "$(cat "$T/err")" memory
else
        skip "and that is said" "without control groups it gets an error, and nobody hears of that"
fi
is "fork: they end with the box" "$(status "$D/bin/parse" fork.doc)" 124
ok "and none is left" sh -c "! pgrep -f '^$D/bin/parser'"
got=$(status "$D/bin/parse" noise.doc)
ok "noise: it ends by itself, or by a signal ($got)" test "$got" -ne 125
is "net: there is none" "$(status "$D/bin/parse" net.doc):$(cat "$T/out")" "4:no network"
for f in keys sibling shadow; do
        is "$f: who takes the parser over reads nothing outside" "$(status "$D/bin/parse" "$f.doc"):$(cat "$T/out")" "3:not seen"
done
is "as an ordinary user: a crash" "$(status as_user "$D/bin/parse" segv.doc)" 139
is "a limit" "$(status as_user "$D/bin/parse" loop.doc)" 124
is "and nothing outside" "$(status as_user "$D/bin/parse" sibling.doc):$(cat "$T/out")" "3:not seen"
is "outside it would" "$("$D/bin/parser" sibling.doc)" "seen: hello"
is "nothing outside has changed" "$(ls -lR "$D" | diff - "$T/was" && echo same)" same
ok "no control group is left" none_left
done_testing
