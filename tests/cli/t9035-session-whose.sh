#!/bin/sh
# Two commands at once in a session: each is told what its own requests were denied for, and nothing of the other's.
# shellcheck disable=SC2015,SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-net.sh"
before=$(orphans)
post() { printf 'curl -sS -m 10 -d x=1 -o /dev/null http://web.test/%s;' "$1"; }
cd "$T" || exit 1
run() { timeout -k 5 100 "$CORDON" "$@" 9>&- </dev/null; }
told() { jq -r '[.denials[] | select(.layer == "egress") | "\(.count) \(.path)"] | sort | join(",")' "$T/$1"; }
up() { soon test -e "$T/go/$1"; }
mkdir -p "$T/go"
S=w$$
run session new "$S" --net 'http://web.test/** GET' --net 'http://four.test/** GET ask within 1s' --read "$T/go" --write "$T/go" >/dev/null 2>"$T/err" || fail "a session" "$(cat "$T/err")"
# one NAME SCRIPT: a command of its own keeper, which runs until $T/go/end exists.
one() {
        run session run "$S" --status-fd 5 -- sh -c "$2 touch $T/go/$1; until [ -e $T/go/end ]; do sleep 0.1; done" >"$T/$1.out" 2>&1 5>"$T/$1" &
}
one quiet ''
quiet=$!
up quiet && ok "the first command runs" || fail "the first command runs" "$(cat "$T/quiet.out")"
one a "$(post of-a)$(post of-a)getent hosts name-of-a.test; curl -sS -m 10 -o /dev/null http://four.test/asks;"
a=$!
up a
one b "$(post of-b)setsid sh -c '$(post of-b-in-a-session-of-its-own)';"
b=$!
up b
run session run "$S" -q --status-fd 5 -- sh -c "(sleep 1; $(post left-behind) touch $T/go/left) >/dev/null 2>&1 &" 5>"$T/short"
up left
id=$(jq -r .session "$T/short")
owns=$(find /sys/fs/cgroup -path "*/cordon-$id/run-*" 2>/dev/null)
touch "$T/go/end"
wait $quiet $a $b
if [ -z "$owns" ]; then
        skip "two commands at once" "no control group of v2 can be made here"
else
        is "a command that asked for nothing is told of nothing" "$(told quiet)" ""
        is "the first one's own" "$(told a)" "1 http://four.test/asks,2 http://web.test/of-a,2 name-of-a.test"
        is "the second one's own, also in a session of its own" "$(told b)" "1 http://web.test/of-b,1 http://web.test/of-b-in-a-session-of-its-own"
        is "who waits for a person is told so" "$(grep -l 'waiting for approval' quiet.out a.out b.out)" a.out
        is "what a command left behind is nobody else's" "$(told short)" ""
fi
run session end "$S" --json >"$T/session"
is "the session has them all" "$(told session)" "1 http://four.test/asks,1 http://web.test/left-behind,1 http://web.test/of-b,1 http://web.test/of-b-in-a-session-of-its-own,2 http://web.test/of-a,2 name-of-a.test"
for one in a b; do
        "$CORDON" ledger --json --run "$(jq -r .run "$T/$one")" --kind denied >"$T/ledger" 2>&1
        is "the ledger has of $one what it was told" "$(grep -o 'http://web.test/of-[ab]' "$T/ledger" | sort -u)" "http://web.test/of-$one"
done
is "its control groups are gone" "$(find /sys/fs/cgroup -name "cordon-$id" 2>/dev/null)" ""
ok "nothing is left" none_left
done_testing
