#!/bin/sh
# cordon policy new: a policy without a door.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
mkdir work && cd work || exit 1
c=$CORDON
is "new writes a policy" "$(status "$c" policy new -o my-task.cordon)" 0
ok "it is there" test -s my-task.cordon
is "it loads without a lint" "$("$c" check my-task.cordon | sed 's/, policy .*//')" "my-task.cordon: ok"
is "its box has the name" "$(sed -n 's/^box *//p' my-task.cordon)" my-task
is "it opens no door at all" "$("$c" policy show --json my-task.cordon | jq -c .doors)" "[]"
for effect in "read /usr/bin/env" "read $T/work/x" "write $T/work/x" "run sh" "net GET https://example.com/" "env SECRET" "sock /run/x"; do
        # shellcheck disable=SC2086
        is "it denies $effect" "$(cd / && status "$c" why -p "$T/work/my-task.cordon" $effect)" 1
done
is "a dynamic program does not start behind it" "$(status "$c" run -q -p my-task.cordon -- /bin/true)" 127
cp my-task.cordon before
is "a second time is refused" "$(status "$c" policy new -o my-task.cordon)" 125
has "and said" "$(cat "$T/err")" "already exists"
ok "and the file is untouched" cmp before my-task.cordon
ln -s "$T/elsewhere" link.cordon
is "a symbolic link is not followed" "$(status "$c" policy new -o link.cordon):$(test -e "$T/elsewhere" && echo written)" "125:"
is "a name that no box can have is not taken" "$(status "$c" policy new -o other.policy):$(sed -n 's/^box *//p' other.policy)" 0:other
is "-o - prints it" "$("$c" policy new -o - | sed -n 's/^box *//p')" box
is "as does none" "$("$c" policy new | sed -n 's/^box *//p')" box
is "a name that is none becomes another" "$("$c" policy new -o "./-x y" && sed -n 's/^box *//p' "./-x y"; rm "./-x y")" box
is "nothing else was written" "$(ls)" "$(printf 'before\nlink.cordon\nmy-task.cordon\nother.policy')"
if [ "$(id -u)" -ne 0 ] || command -v setpriv >/dev/null; then
        mkdir -m 555 "$T/closed"
        is "a directory that is closed gives 125" "$(cd "$T/closed" && status as_user "$c" policy new -o x)" 125
else
        skip "a directory that is closed" "no setpriv"
fi
# A policy is there whole or not at all; one that was learned is not lost.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
        mkdir "$T/full"
        # shellcheck disable=SC2016
        unshare -m sh -c 'mount -t tmpfs -o size=4k full "$1" && cd "$1" && head -c 4096 /dev/zero >all; shift; "$@"' sh "$T/full" \
                sh -c '"$1" policy new -o x; echo $?; "$1" learn -o y -- true; echo $?; "$1" policy wrap -o z true; echo $?; ls' sh "$c" >"$T/out" 2>"$T/err"
        is "a full disk leaves nothing behind" "$(sed '/^[a-z]* /d; /^$/d; /^#/d' "$T/out" | tr '\n' ' ')" "125 125 125 all "
        is "and says so, each time" "$(grep -c ': [xyz].*: No space left on device$' "$T/err")" 3
        has "what was learned is printed then" "$(cat "$T/out")" "box true"
        has "and that is said" "$(cat "$T/err")" "what was learned is on standard output instead"
else
        skip "a full disk" "no mount here"
fi
# every commented-out line is a line of the language
sed -n 's/^#   \(use\|read\|edit\|write\|run\|env\|net\) /\1 /p' my-task.cordon | sed 's/   *\(all program\|or base\|changes\).*//' >lines
ok "the comments show lines" test "$(wc -l <lines)" -ge 8
is "and each of them is right" "$(status "$c" check lines)" 0
done_testing
