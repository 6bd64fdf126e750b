#!/bin/sh
# A command that fails because the box does not see what it reads is told what it will write, too: with the hints of the first
# try the second works. Never a home, keys or a directory of the system.
. "$(dirname "$0")/lib.sh"
watched
elsewhere cordon-hints
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
root() { "$@"; }
whos="root as_user"
[ "$(id -u)" -eq 0 ] || whos=as_user
# prepare: a project and a home, new for each command
prepare() {
        remove "$D/h" && mkdir -p "$D/h/p/d" "$D/h/.ssh" && cd "$D/h/p" && seq 5 >a && seq 3 >b && echo x >d/f && echo KEY >"$D/h/.ssh/id_rsa"
        printf 'int main(void) { return 0; }\n' >a.c && seq 3 >"$D/h/c"
        [ "$(id -u)" -ne 0 ] || [ "$who" = root ] || chown -R 65533:65533 "$D/h"
}
# twice COMMAND: types it, then with the options of the hints; $hints, $code
twice() {
        err=$(eval "$who env HOME=\"$D/h\" \"$CORDON\" run -- $1" 2>&1 >/dev/null </dev/null)
        hints=$(printf '%s\n' "$err" | sed -n 's/^hint: \(--.*\)/\1/p' | paste -s -d ' ')
        eval "$who env HOME=\"$D/h\" \"$CORDON\" run -q $hints -- $1" >/dev/null 2>"$T/second" </dev/null
        code=$?
}
for who in $whos; do
        while IFS='|' read -r typed want check; do
                prepare
                twice "$typed"
                is "$who: the hints for \`$typed\`" "$(printf '%s' "$hints" | sed "s,$D/h/p,.,g")" "$want"
                is "$who: make it work" "$code" 0
                ok "$who: and do it" sh -c "$check"
        done <<'ROWS'
cp a new|--write ./new --read ./a|cmp a new
cp a b|--write ./b --read ./a|cmp a b
cp -r d e|--edit .|test ! -e e
cp -r d/f e|--write ./e --read ./d/f|cmp d/f e
sort -o out a|--write ./out --read ./a|test -s out
sort -r -o a a|--write ./a|test "$(head -n 1 a)" = 5
dd if=a of=new status=none|--write ./new --read ./a|cmp a new
mv a new|--edit .|test -e a
gzip a|--edit .|test -e a
rm -r d|--edit .|test -e d
touch d/x|--edit ./d|test ! -e d/x
ROWS
        prepare
        cd "$D/h" || exit 1
        twice "mv c e"
        is "$who: no hint opens the home" "$hints" ""
        twice "cp c .ssh/id_rsa"
        hasnt "$who: or keys" "$hints" .ssh
        cd "$D/h/p" || exit 1
        twice "cp a /usr/bin/x"
        hasnt "$who: or a directory of the system" "$hints" /usr
        twice "grep -c 9 a new"
        is "$who: what is no output is not written" "$(printf '%s' "$hints" | sed "s,$D/h/p,.,g")" "--read ./a"
        # An option, a pattern or a form behind -o is no file.
        for form in "-o 9" "-e 9 -o BatchMode=yes" "-e 9 -o pid,comm" "-e 9 -o yaml" "-e 9 --output=json"; do
                twice "grep $form a"
                is "$who: nor what is behind $form" "$(printf '%s' "$hints" | sed "s,$D/h/p,.,g")" "--read ./a"
        done
        twice "cat -o ./new a"
        is "$who: a path is" "$(printf '%s' "$hints" | sed "s,$D/h/p,.,g")" "--read ./a --write ./new"
done
done_testing
