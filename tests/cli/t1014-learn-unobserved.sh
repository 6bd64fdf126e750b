#!/bin/sh
# cordon learn where no denied lookup is observed, because /dev/fuse is closed to the caller.
. "$(dirname "$0")/lib.sh"
elsewhere cordon-unobserved
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
if can_hide_fuse; then
        closed() { without_fuse env HOME="$D/home" "$@"; }
elif [ ! -w /dev/fuse ]; then
        closed() { env HOME="$D/home" "$@"; }
else
        skip "learn without /dev/fuse" "/dev/fuse cannot be hidden here"
        done_testing
fi
mkdir -p "$D/work" "$D/far" "$D/home/.aws"
echo near >"$D/work/near.txt" && echo other >"$D/work/other.txt" && echo far >"$D/far/far.txt" && echo key >"$D/home/.aws/credentials"
chmod -R a+rX "$D" && cd "$D/work" || exit 1
doors() { closed "$CORDON" learn -n 1 -- "$@" 2>"$T/err" | sed -n 's/^\(read .*[^ ]\) *# seen.*/\1/p'; }

is "a file of the working directory is learned" "$(doors cat near.txt)" "read {work}/near.txt"
is "also when the command line does not name it" "$(doors sh -c 'read -r x <near.txt && echo "$x"')" "read {work}/near.txt"
is "a file elsewhere, by the command line" "$(doors cat "$D/far/far.txt")" "read $D/far/far.txt"
is "what passes so is offered" "$(status closed "$CORDON" learn -n 1 -- cat "$D/far/far.txt")" 0

is "a file elsewhere that nothing names is not learned" "$(status closed "$CORDON" learn -n 1 -- sh -c "read -r x <$D/far/far.txt")" 1
has "and the hint says that the host does not report it" "$(cat "$T/err")" "cannot report blocked lookups"
has "and who says how to mend it" "$(cat "$T/err")" "cordon doctor"
is "a token is not learned by its name" "$(doors cat "$D/home/.aws/credentials")" ""
has "and is reported" "$(cat "$T/err")" "tokens: read $D/home/.aws/credentials"
done_testing
