#!/bin/sh
# What people type who come from other tools: never taken for something else, always answered with what to type.
. "$(dirname "$0")/lib.sh"
c=$CORDON
status() { "$@" >"$T/out" 2>"$T/err" </dev/null; echo $?; }
hint() { sed -n 's/^cordon: hint: //p' "$T/err"; }

# ---- options of docker, bwrap, firejail, deno: from the table itself, so that a new row is tested too ----
table=$(dirname "$0")/../../src/cli/habits.c
sed -n 's/^ *{ "\(-[^"]*\)",.*/\1/p' "$table" >"$T/typed"
ok "the table has rows" test "$(wc -l <"$T/typed")" -ge 40
there_is() { ! "$c" run "$1" 2>&1 | grep -q "has no option"; }
bad=''
is "an option that there is is told from one that is not" "$(there_is --disk && echo yes) $(there_is --disc || echo no)" "yes no"
while read -r typed; do
        [ "$(status "$c" run "$typed" x -- true)" = 125 ] || bad="$bad $typed:ran"
        [ "$(sed -n 1p "$T/err")" = "cordon: error: \`cordon run\` has no option $typed" ] || bad="$bad $typed:unsaid"
        [ "$(hint | wc -l)" = 1 ] || bad="$bad $typed:no-hint"
        for named in $(hint | grep -oE -- '(^|[ `])--?[a-z]+' | tr -d ' `'); do
                there_is "$named" || bad="$bad $typed:names:$named"
        done
done <"$T/typed"
is "each is refused, said as it was typed, and its hint names options that there are" "$bad" ""
is "docker's -v" "$(status "$c" run -v /tmp:/tmp -- true)" 125
has "is answered with the doors for files" "$(hint)" "--read PATH"
is "docker's -it" "$(status "$c" run -it -- true)" 125
has "is answered with -t" "$(hint)" "\`-t\`"
is "bwrap's --ro-bind" "$(status "$c" run --ro-bind / / -- true)" 125
has "is answered with --read" "$(hint)" "--read PATH"
is "what is only like one is not taken for it" "$(status "$c" run --volumes-of x -- true):$(hint)" '125:`cordon help run` lists them'
is "a verb without doors has no such hints" "$(status "$c" ps -v):$(hint)" '125:`cordon help ps` lists them'
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
done_testing
