#!/bin/sh
# What people type who come from other tools: never taken for something else, always answered with what to type.
. "$(dirname "$0")/lib.sh"
c=$CORDON
hint() { sed -n 's/^cordon: hint: //p' "$T/err"; }

# ---- options of docker, bwrap, firejail, deno: from the table itself, so that a new row is tested too ----
table=$(dirname "$0")/../../src/face/cli/habits.c
sed -n 's/^ *{ "\(-[^"]*\)",.*/\1/p' "$table" >"$T/typed"
ok "the table has rows" test "$(wc -l <"$T/typed")" -ge 40
there_is() { ! "$c" run "$1" 2>&1 | grep -q "has no option"; }
bad=''
is "an option that there is is told from one that is not" "$(there_is --disk && echo yes) $(there_is --disc || echo no)" "yes no"
while read -r typed; do
        [ "$(status "$c" run "$typed" x -- true)" = 125 ] || bad="$bad $typed:ran"
        [ "$(sed -n 1p "$T/err")" = "cordon: error: \`cordon run\` has no option $typed" ] || bad="$bad $typed:unsaid"
        [ "$(hint | wc -l)" = 1 ] || bad="$bad $typed:no-hint"
        for named in $(hint | sed 's,sh -c,,' | grep -oE -- '(^|[ `])--?[a-z]+' | tr -d ' `'); do
                there_is "$named" || bad="$bad $typed:names:$named"
        done
done <"$T/typed"
is "each is refused, said as it was typed, and its hint names options that there are" "$bad" ""
is "docker's -v" "$(status "$c" run -v /tmp:/tmp -- true)" 125
has "is answered with the doors for files" "$(hint)" "--read PATH"
is "docker's -i is taken" "$(status "$c" run -i -- true)" 0
is "docker's -p PORT:PORT" "$(status "$c" run -p 8080:80 -- true)" 125
has "is answered as --publish is" "$(hint)" "$("$c" run --publish 8080:80 -- true 2>&1 | sed -n 's/.*hint: //p')"
is "two words that need quotes" "$(status "$c" run --limit renew 3 -- true):$(hint)" "125:use --limit 'renew 3'"
is "and a type of output" "$(status "$c" run --stdout as json -- true):$(hint)" "125:use --stdout 'as json'"
is "one word of them" "$(status "$c" run --stdout as -- true):$(hint)" "125:use --stdout 'as TYPE [max SIZE]'"
for v in run diff "selftest breakout"; do
        # shellcheck disable=SC2086
        ok "help -v describes $v" "$c" help -v $v
done
has "help shows the quotes" "$("$c" help -v run)" '--stdout "as TYPE"'
is "bwrap's --ro-bind" "$(status "$c" run --ro-bind / / -- true)" 125
has "is answered with --read" "$(hint)" "--read PATH"
is "who wants no network is not told to open one" "$(status "$c" run --no-net -- true):$(hint | grep -c 'did you mean')" 125:0
is "who wants to wait is told how" "$(status "$c" wait x):$(hint | grep -c 'cordon logs -f')" 125:1
is "what is only like one is not taken for it" "$(status "$c" run --volumes-of x -- true):$(hint)" '125:`cordon help run` lists them'
is "a verb without doors has no such hints" "$(status "$c" ps -v):$(hint)" '125:`cordon help ps` lists them'
sed -n 's/^ *{ "\([a-z]*\)", "\(-[^"]*\)",.*/\1 \2/p; s/^ *{ "\([a-z]*\)", "\(-[^"]*\)"$/\1 \2/p' "$table" >"$T/elsewhere"
ok "other verbs have rows" test "$(wc -l <"$T/elsewhere")" -ge 10
bad=''
while read -r verb typed; do
        [ "$(status "$c" "$verb" "$typed" x)" = 125 ] || bad="$bad $verb:$typed:ran"
        [ "$(sed -n 1p "$T/err")" = "cordon: error: \`cordon $verb\` has no option $typed" ] || bad="$bad $verb:$typed:unsaid"
        case $(hint) in 'did you mean'* | *'lists them' | '') [ "$verb" = stop ] || bad="$bad $verb:$typed:no-hint" ;; esac
done <"$T/elsewhere"
is "each of these is refused with a hint, too" "$bad" ""

# ---- verbs ----
sed -n '/^} verbs\[\] = {/,/^};/s/^ *{ "\([a-z]*\)",.*/\1/p' "$table" >"$T/verbs"
ok "verbs have rows" test "$(wc -l <"$T/verbs")" -ge 20
bad=''
while read -r typed; do
        [ "$(status "$c" "$typed" x)" = 125 ] || bad="$bad $typed:ran"
        case $(hint) in *'did you mean'* | *'lists the commands'* | '') bad="$bad $typed:no-hint" ;; esac
        for named in $(hint | grep -oE 'cordon [a-z]+' | cut -d ' ' -f 2); do
                "$c" help "$named" >/dev/null 2>&1 || bad="$bad $typed:names:$named"
        done
done <"$T/verbs"
is "each is refused, and its hint names verbs that there are" "$bad" ""
is "docker's exec is of sessions" "$(status "$c" exec "box$$" sh):$(hint)" "125:cordon session ls; if it ended: cordon ledger show box$$"
# The tree of verbs: 26 of them in six groups, four permanent synonyms, and a hint for every other old name.
"$c" help >"$T/tree"
is "help lists 26 verbs in six groups" "$(sed -n '/^Run$/,/^`cordon/p' "$T/tree" | grep -c '^  [a-z]') $(grep -xE 'Run|Review|Understand|Record|Set up|Operate' "$T/tree" | tr '\n' ,)" "26 Run,Review,Understand,Record,Set up,Operate,"
is "synonyms are what they stand for" "$(for s in 'exec=session run' log=ledger check=policy\ check version=--version; do "$c" help "${s%%=*}" | sed -n "s/^usage: cordon ${s#*=}\\( .*\\)*$/ok/p"; done | tr '\n' ' ')" "ok ok ok ok "
is "they are no rows, and complete once typed in full" "$(grep -cE '^  (exec|log|check|version) ' "$T/tree") $("$c" __complete lo | cut -f 1 | tr '\n' ' ')$("$c" __complete log | cut -f 1 | tr '\n' ' ')" "0 logs logs log "
bad=''
while read -r old new; do
        # shellcheck disable=SC2046
        [ "$(status "$c" $(echo "$old" | tr _ ' ') x)" = 125 ] || bad="$bad $old:ran"
        case $(hint) in *"cordon $(echo "$new" | tr _ ' ')"*) ;; *) bad="$bad $old:$(hint)" ;; esac
        # shellcheck disable=SC2046
        "$c" $(echo "$new" | tr _ ' ') --help >/dev/null 2>&1 || bad="$bad $new:not-there"
done <<'END'
fork run
renew session_renew
incident approve_incident
label_stamp label_add
plan policy_flow
log_field ledger_target
log_reached ledger_reach
log_night ledger
log_rotate ledger_rotate-key
log_react ledger_note
out output_quote
out_check output
output_envelope output_wrap
policy_json policy_show
policy_from policy_import
policy_list policy_stock
pool serve_pool
END
is "an old name is an error that names the new one" "$bad" ""
for g in session vault image label policy output serve_pool selftest; do
        # shellcheck disable=SC2046
        [ "$("$c" $(words "$g"))" = "$("$c" help $(words "$g"))" ] || bad="$bad $g"
done
is "a group alone prints its page" "$bad" ""
is "a program in the place of a verb" "$(status "$c" python3 x.py):$(hint)" "125:\`cordon help\` lists commands; to run a program: cordon run -- python3"
is "a verb that is misspelt is still found" "$(status "$c" stpo x):$(hint)" "125:did you mean \`stop\`?"
status "$c" logs >/dev/null
has "logs without a name asks for one" "$(cat "$T/err")" "error: name "
is "and points to its own help" "$(hint)" "see \`cordon help logs\`"
is "an option that it has not is no name" "$(status "$c" logs --nothing x):$(sed -n 1p "$T/err")" "125:cordon: error: \`cordon logs\` has no option --nothing"
is "discard --all drops nothing" "$(status "$c" discard --all):$(sed -n 1p "$T/err")" "125:cordon: error: \`cordon discard\` has no option --all"
is "a slip of the finger still finds the nearest" "$(status "$c" run --raed . -- true):$(hint)" "125:did you mean --read?"

# ---- letters in a row ----
is "letters in a row are options each" "$("$c" run -nq -- sh -c 'cat; echo over' </dev/null)" over
printf 'box b\nuse base/system\n' >"$T/p.cordon"
is "the last of them may take an argument" "$("$c" run -qp "$T/p.cordon" -- echo in)" in
is "one that is none is named" "$(status "$c" run -qx -- true):$(sed -n 1p "$T/err")" \
        '125:cordon: error: `cordon run` has no option -x'
is "a long option still takes no argument it does not want" "$(status "$c" run --quiet=yes -- true)" 125

# ---- a policy without -p ----
is "doors takes a file as check does" "$("$c" doors "$T/p.cordon")" "$("$c" doors -p "$T/p.cordon")"
is "and says when there is none" "$(status "$c" doors "$T/none"):$(cat "$T/out")" 125:

# ---- what is typed, often by a program, reaches no terminal as it is ----
esc=$(printf 'x\033[31m\342\200\256y')
while read -r words; do
        # shellcheck disable=SC2086
        set -- $words
        i=$# && while [ "$i" -gt 0 ]; do
                word=$1 && shift && i=$((i - 1))
                case $word in *X) word=${word%X}$esc ;; esac
                set -- "$@" "$word"
        done
        status "$c" "$@" >/dev/null </dev/null
        is "$words: an error is told, of plain characters" "$(grep -c '^cordon: error: ' "$T/err") $(tr -d '\n -~' <"$T/err" | wc -c)" "1 0"
done <<'END'
X
run --status-fd X -- true
run --read X -- true
run --net X -- true
run --handle a=X --in a -- true
run -p X -- true
run -- X
check X
policy X
vault X
ps X
stop X
diff X
selftest breakout --only X
help X
END
is "all that begins with the program's name goes that way, but for a stack too small for it" "$(grep -n '"cordon: \(error\|hint\)' "$(dirname "$0")"/../../src/face/cli/*.c | grep -vc "limit of the stack\|ulimit -s")" 0
has "a question to the ledger that is misspelled" "$("$CORDON" ledger reprot 2>&1)" 'did you mean `ledger report`?'
has "a stock policy that is misspelled" "$("$CORDON" policy stock base/pyton3 2>&1)" "did you mean base/python3?"
has "also as a policy" "$("$CORDON" run -p base/pyton3 -- true 2>&1)" "did you mean base/python3?"
has "the policies that there are" "$("$CORDON" policy list 2>&1)" 'cordon policy stock'
has "the tasks that there are" "$("$CORDON" policy new pytohn 2>&1)" 'cordon policy new --list'
done_testing
