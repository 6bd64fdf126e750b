#!/bin/sh
# Results of `cordon mcp` and `cordon mcp wrap` pass all stages of cordon-output: secrets, canaries, marks; or nothing passes.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
root() { "$@"; }
elsewhere mcp-checked
mkdir "$D/broken" && cp "$CORDON_LIBEXEC"/* "$D/broken/" && printf '#!/bin/sh\nexit 0\n' >"$D/broken/cordon-output"
chmod 755 "$D" "$D/broken" "$D/broken"/*
for who in root as_user; do
        mkdir -p "$D/$who/work"
        chmod 777 "$D/$who" "$D/$who/work"
        cp "$here/helpers/mcp_checked.py" "$D/$who/work/server.py"
        printf 'a -----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY----- b\n' >"$D/$who/work/key"
        : >"$D/$who/work/tok-R4nd0mValueOfThisTest77"
        chmod 644 "$D/$who/work"/*
        as="$who env PYTHONDONTWRITEBYTECODE=1 BROKEN=$D/broken XDG_CONFIG_HOME=$D/$who/config CORDON_STATE=$D/$who/state"
        $as "$CORDON" vault canary "$D/$who/work/canary" 2>"$T/err" || cat "$T/err"
        $as timeout -k 5 120 python3 "$here/helpers/mcp_checked.py" "$CORDON" "$D/$who" >"$T/said" 2>"$T/err" </dev/null
        is "$who: the client ends well" "$? $(grep -A9 Traceback "$T/err" | tail -n 3)" "0 "
        retell "$who" "$T/said"
done
remove "$D"
done_testing
