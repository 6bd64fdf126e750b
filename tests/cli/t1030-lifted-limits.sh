#!/bin/sh
# shellcheck disable=SC2086
# `limit KEY none` lifts a limit: a warning for every key and every way to write it, an error in policies of tenants (t8520).
. "$(dirname "$0")/lib.sh"
codes() { "$CORDON" check "$@" 2>&1 | grep -c W153; }

keys="time cpu memory procs files disk output egress ingress effects rate"
export XDG_CONFIG_HOME="$T/config"
own=$T/config/cordon/own.cordon
mkdir -p "$T/config/cordon"
printf 'use none\n' >"$T/n"
is "these are all limits" "$("$CORDON" policy show --json "$T/n" | jq -r '.limit | keys[]')" "$(printf '%s\n' $keys | sort)"
for k in $keys; do
        printf 'use none\nlimit %s none\n' "$k" >"$own"
        is "limit $k none is flagged" "$(codes "$own")" 1
        "$CORDON" policy show --json "$own" >"$T/json"
        is "limit $k in JSON, as a number" "$(codes "$T/json")" 1
        printf 'use own\n' >"$T/using"
        is "limit $k of a policy that is used" "$(codes "$T/using")" 1
        printf 'use own\nlimit %s %s\n' "$k" "$("$CORDON" policy show --json "$T/n" | jq -r ".limit.$k")" >"$T/using"
        is "limit $k stated again" "$(codes "$T/using")" 0
done
printf 'use none\nlimit time 5m renew none\n' >"$own"
is "renewals have a number" "$(status "$CORDON" check "$own")" 125
done_testing
