#!/bin/sh
# Every probe of the attack table on this kernel: as root, as root inside, as an ordinary user. None escapes.
# The whole of tests/escape has more boxes; here are those that every kernel can hold.
# shellcheck disable=SC2317
. "$(dirname "$0")/../cli/lib.sh"
cd "$T" || exit 1
abi=$("$CORDON" doctor | sed -n 's/.*landlock *ABI \([0-9]*\).*/\1/p')
mkdir home && chown 65533:65533 home

# each LABEL COMMAND...
each() {
        label=$1
        shift
        "$@" >json 2>err </dev/null
        status=$?
        count() { grep -c "\"outcome\":\"$1\"" json; }
        is "$label: the attack runs and nothing got through" "$status $(tail -n 2 err)" "0 "
        is "$label: no probe says ESCAPED" "$(sed -n 's/.*{"probe":"\([^"]*\)".*"outcome":"ESCAPED".*"reason":"\([^"]*\)".*/\1: \2/p' json)" ""
        ok "$label: $(count held) held, $(count granted) granted, $(count not-promised) not promised, $(count cannot-tell) cannot tell" \
                test "$(count held)" -ge 250
        sed -n 's/.*{"probe":"\([^"]*\)".*"outcome":"\(cannot-tell\|not-promised\)".*"reason":"\([^"]*\)".*/# \2 \1: \3/p' json
}
user() { as_user env HOME="$T/home" "$@"; }
each "root" "$CORDON" selftest breakout --json
each "root, root inside" "$CORDON" selftest breakout --json --root
each "user" user "$CORDON" selftest breakout --json
each "user, root inside" user "$CORDON" selftest breakout --json --root
if [ "${abi:-0}" -ge 4 ]; then
        each "user, process wall" user "$CORDON" selftest breakout --json --wall process
else
        "$CORDON" run --wall process -- true >out 2>err
        is "the process wall is refused without Landlock ABI 4" $? 125
        has "with a reason" "$(cat err)" "Landlock ABI"
fi
# Files of root on tmpfs as doors: a kernel before 6.3 cannot map ids there.
mkdir /run/door && echo content >/run/door/file
out=$("$CORDON" run -q --read /run/door -- cat /run/door/file 2>&1)
case $out in
content) pass "a door of root on tmpfs opens" ;;
*"cannot map ids"*) skip "a door of root on tmpfs opens" "it is refused with a hint: $(echo "$out" | head -n 1)" ;;
*) fail "a door of root on tmpfs opens or is refused with a reason" "$out" ;;
esac
done_testing
