#!/bin/sh
# Doors to the network, credentials, labels and images through a session: each command finds there what `cordon run` would give it.
# shellcheck disable=SC2015,SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-net.sh"
LAB_ALSO=$(mktemp -d /srv/cordon-session.XXXXXX 2>/dev/null || mktemp -d "$HOME/.cordon-session.XXXXXX") || exit 1
chmod 755 "$LAB_ALSO"
before=$(orphans)
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
get() { printf 'curl -sS -m 10 -o /dev/null -w "%%{http_code} " http://%s 2>/dev/null;' "$1"; }
cd "$T" || exit 1
for who in root as_user; do
        S=d$$-$who
        home=$T/home-$who
        mkdir -m 700 "$home" && [ "$who" = root ] || chown 65533:65533 "$home" 2>/dev/null
        export XDG_CONFIG_HOME="$home"
        run() { $who timeout -k 5 100 "$CORDON" "$@" 9>&- </dev/null; }
        in_s() { run session run "$S" -q "$@" 2>&1; }
        end_s() { run session end "$S" --json >"$T/status" 2>"$T/err"; }
        # same NAME SCRIPT OPTION...: a run and a session with these doors have one output and one status, which is in $T/out.
        same() {
                name=$1 script=$2
                shift 2
                cold=$(run run -q "$@" -- sh -c "$script" >"$T/cold" 2>&1; echo $?; cat "$T/cold")
                run session new "$S" "$@" >/dev/null 2>"$T/err"
                in_s -- sh -c "$script" >"$T/out"
                is "$who: $name: as in a box of its own" "$(echo $?; cat "$T/out" "$T/err")" "$cold"
        }

        # ---- doors to the network ----
        same "net doors" "$(get web.test/here)$(get four.test/there)curl -sS -m 10 -d x=1 -o /dev/null -w %{http_code} http://web.test/here" --net 'http://web.test/** GET'
        is "$who: what it found" "$(cat "$T/out")" "200 000 403"
        is "$who: the next command as well" "$(in_s -- curl -sS -m 10 http://web.test/again)" "GET /again 0"
        lab_anew
        in_s -- sh -c "$(get four.test/)"'curl -sS -m 5 http://11.22.33.80/; getent hosts four.test; true' >/dev/null
        is "$who: nothing of the others leaves" "$(lab_packets | grep -v '^udp 11.22.33.53 53$')" ""
        for i in 1 2; do
                has "$who: a command is told what its request was denied for, the $i. time" "$(run session run "$S" -- curl -sS -m 10 -d x=1 -o /dev/null http://web.test/here 2>&1)" "blocked: POST http://web.test/here"
        done
        run session run "$S" -q --status-fd 5 -- curl -sS -m 10 -d x=1 -o /dev/null http://web.test/here 5>"$T/status"
        is "$who: and so is its result" "$(json '[.denials[] | select(.layer == "egress").count] | join(" ")')" 1
        run session run "$S" -q --status-fd 5 -- true 5>"$T/status"
        is "$who: not what others were" "$(json '[.denials[] | select(.layer == "egress")] | length')" 0
        end_s
        is "$who: requests are in the session's result" "$(row web.test:80 allow requests)" 2
        has "$who: refusals too" "$(json '[.denials[].what] | join(" ")')" four.test

        # ---- a door that asks ----
        run session new "$S" --net 'http://web.test/** POST ask within 1s' >/dev/null
        run session run "$S" --status-fd 5 -- curl -sS -m 10 -d x=1 -o /dev/null http://web.test/here >"$T/out" 2>&1 5>"$T/status"
        has "$who: a command says that it waits for a person" "$(cat "$T/out")" "waiting for approval (1s): POST http://web.test/here; in another terminal: cordon approve "
        is "$who: and that nobody answered" "$(json '[.denials[] | select(.layer == "egress").reason] | join(" ")')" gate-expired
        end_s

        # ---- a credential ----
        if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then
                printf %s "$secret" | $who env XDG_CONFIG_HOME="$home" "$CORDON" vault add gh --env GITHUB_TOKEN
                : >"$T/lab/auth.log"
                same "a credential" 'echo "$GITHUB_TOKEN"; curl -sS -m 10 -H "Authorization: Bearer $GITHUB_TOKEN" http://web.test/api; curl -sS -m 10 http://web.test/echo' --net 'http://web.test/** GET with gh'
                is "$who: the server gets it each time" "$(grep -c "^/api Bearer $secret\$" "$T/lab/auth.log")" 2
                is "$who: the next command has the same placeholder" "$(in_s -- sh -c 'echo "$GITHUB_TOKEN"')" "$(head -n 1 "$T/out")"
                in_s -v --json -- sh -c 'env; cat /proc/self/environ /etc/cordon/*; cat /proc/*/environ' >>"$T/out"
                end_s
                hasnt "$who: the box never has it" "$(tr '\0' '\n' <"$T/out"; cat "$T/status" "$T/err")" Q9zz
        else
                skip "$who: a credential" "cordon-vault is not built here: it needs OpenSSL"
        fi

        # ---- labels ----
        same "labels" "$(get four.test/)$(get web.test/private)$(get four.test/)" --net 'http://web.test/private GET label private:web' --net 'http://four.test/**'
        is "$who: private data does not leave" "$(cat "$T/out")" "200 200 403 "
        is "$who: nor by the next command" "$(in_s -- sh -c "$(get four.test/)")" "403 "
        end_s
        is "$who: the session has the label" "$(json .labels)" private:web
        same "a door that accepts" "$(get web.test/private)$(get four.test/)" --net 'http://web.test/private GET label private:web' --net 'http://four.test/** GET accepts private:web'
        is "$who: it leaves there" "$(cat "$T/out")" "200 200 "
        end_s

        # ---- an image ----
        busybox=$(command -v busybox) && file -L "$busybox" | grep -q static || {
                skip "$who: an image" "no static busybox (package busybox-static)"
                continue
        }
        r=$LAB_ALSO/$who
        mkdir -p "$r/bin" "$r/etc" "$r/usr/lib"
        for p in sh cat ls rm wget; do cp "$busybox" "$r/bin/$p"; done
        echo of-the-image >"$r/etc/os-release"
        [ "$who" = root ] || chown -R 65533:65533 "$r" 2>/dev/null
        same "an image" 'cat /etc/os-release; ls /usr; echo x >/usr/lib/new; rm /etc/os-release; ls /etc/os-release; wget -q -O - http://web.test/image' --image "$r" --net 'http://web.test/** GET'
        has "$who: the image is seen" "$(cat "$T/out")" of-the-image
        has "$who: and the network from it" "$(cat "$T/out")" "GET /image 0"
        is "$who: what a command changed stays in the session" "$(in_s -- sh -c 'cat /usr/lib/new; ls /etc/os-release 2>/dev/null')" x
        end_s
        is "$who: not in the image" "$(cat "$r/etc/os-release"; ls "$r/usr/lib")" of-the-image
done
ok "nothing is left" none_left
done_testing
