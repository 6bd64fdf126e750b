#!/bin/sh
# shellcheck disable=SC2016
# An agent of several providers, and a gateway: one address for all of them. A door whose key does not fit there is left out with a
# note, and the agent starts; `vault rotate --for` moves a key without its secret.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
[ -x "$CORDON_LIBEXEC/cordon-vault" ] || { skip "agents" "cordon-vault is not built here: it needs OpenSSL"; done_testing; }
for program in python3 curl jq; do
        command -v $program >/dev/null || { skip "agents" "$program is not installed"; done_testing; }
done
elsewhere gateway
pids=
# shellcheck disable=SC2086
trap 'code=$?; [ -z "$pids" ] || kill $pids; remove "$T" "$D"; exit $code' EXIT
mkdir -p "$D/bin" "$D/home/p" "$D/api"
echo 'All done.' >"$D/api/last"
python3 "$here/helpers/mock_api.py" "$D/api" </dev/null >"$D/api/log" 2>&1 &
pids=$!
soon test -e "$D/api/port" || { fail "the server of the test stands"; done_testing; }
gate=http://127.0.0.1:$(cat "$D/api/port")
printf '#!/bin/sh\nenv | sed -n "s/\\(_API_KEY\\)=.*/\\1/p" | sort | tr "\\n" " "\n[ -z "${ANTHROPIC_BASE_URL-}" ] || curl -sS -m 20 -o /dev/null -H "x-api-key: $ANTHROPIC_API_KEY" -d {} "$ANTHROPIC_BASE_URL/v1/messages"\n' >"$D/bin/opencode"
chmod 755 "$D/bin/opencode"
cd "$D/home/p" || exit 1
agent() { env HOME="$D/home" XDG_CONFIG_HOME="$D/home/.config" PATH="$D/bin:$PATH" "$@" </dev/null 2>"$T/err"; }
out=$(agent ANTHROPIC_API_KEY=sk-ant-0123456789 OPENAI_API_KEY=sk-open-0123456789 timeout 120 "$CORDON" agent opencode)
if grep -q network "$T/err"; then
        skip "agents" "net doors do not work here: $(head -n 1 "$T/err")"
        done_testing
fi
is "two providers, no gateway: both keys" "$out" "ANTHROPIC_API_KEY OPENAI_API_KEY "
is "and no note" "$(grep -c 'note: no door' "$T/err")" 0

# name | variables | keys in the box | notes
while IFS='|' read -r name variables keys notes <&3; do
        # shellcheck disable=SC2086
        is "$name" "$(agent $variables timeout 120 "$CORDON" agent opencode)|$(grep -c 'note: no door' "$T/err")" "$keys|$notes"
done 3<<END
a gateway for a key that is not for it: the other stays|ANTHROPIC_BASE_URL=$gate|OPENAI_API_KEY |1
the other way round|OPENAI_BASE_URL=$gate/v1|ANTHROPIC_API_KEY |1
END
agent OPENAI_BASE_URL="$gate/v1" ANTHROPIC_BASE_URL="$gate" "$CORDON" agent opencode >"$T/out"
is "no key fits: it does not start, and says what to type" "$? $(grep -c 'cordon vault rotate anthropic --for' "$T/err")" "125 1"
is "a key is moved without its secret" "$("$CORDON" vault rotate anthropic --for "$gate/**" </dev/null 2>&1; echo $?)" 0
is "then it fits" "$(agent ANTHROPIC_BASE_URL="$gate" "$CORDON" agent opencode)" "ANTHROPIC_API_KEY OPENAI_API_KEY "
is "and it is the same key" "$(jq -r '.headers["x-api-key"]' "$D/api/requests" | tail -n 1)" sk-ant-0123456789
is "a key that was moved does not stop another at the usual address" "$(agent "$CORDON" agent opencode)|$(grep -c 'note: no door' "$T/err")" "OPENAI_API_KEY |1"
is "one address for both: the key that fits goes there" "$(agent ANTHROPIC_BASE_URL="$gate" OPENAI_BASE_URL="$gate/v1" "$CORDON" agent opencode)|$(grep -c 'note: no door' "$T/err")" "ANTHROPIC_API_KEY |1"
"$CORDON" vault rotate openai --for "$gate/**" </dev/null
is "both fit: one request has one key, the first" "$(agent ANTHROPIC_BASE_URL="$gate" OPENAI_BASE_URL="$gate/v1" "$CORDON" agent opencode)|$(grep -c 'note: no door' "$T/err")" "ANTHROPIC_API_KEY |1"
is "nothing of a key is in a note" "$(grep -c 0123456789 "$T/err")" 0
done_testing
