#!/bin/sh
# Labels: what a run has read decides what may leave through which door. web.test is where private data and foreign text come
# from; the others are where they must not go.
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
approver="python3 $here/helpers/approver.py"
private='http://web.test/private GET label private:web'
foreign='http://web.test/foreign GET label untrusted'
get() { printf 'curl -sS -o /dev/null -w "%%{http_code} " http://%s;' "$1"; }
post() { printf 'curl -sS -o /dev/null -w "%%{http_code} " -d x=1 http://%s;' "$1"; }
reasons() { jq -r '[.denials[].reason | select(startswith("label") or startswith("gate"))] | unique | join(" ")' <"$T/status"; }
run() { # SCRIPT OPTION...
        script=$1
        shift
        box root --time 60s "$@" -- sh -c "$script"
}

# ---- flow ----
run "$(get four.test/)$(get web.test/private)$(get four.test/)$(get web.test/private)" --net "$private" --net 'http://four.test/**'
is "private data does not leave through a door that does not accept it" "$(cat "$T/out")" "200 200 403 200 "
is "the reason is a code" "$(reasons)" label-secrecy
has "and a hint says what opens it" "$(cat "$T/err")" "to ask a person each time"
is "the result has the label" "$(json .labels)" private:web
hasnt "a run that read nothing has none" "$(box root --net 'http://four.test/**' -- curl -sS -o /dev/null http://four.test/; cat "$T/status")" '"labels"'
run "$(get web.test/private)$(get four.test/)$(post four.test/echo)" --net "$private" --net 'http://four.test/** GET POST accepts private:web'
is "it does through one that accepts it" "$(cat "$T/out")" "200 200 200 "
run "$(get web.test/private)$(get four.test/)" --net "$private" --net 'four.test:80'
is "bytes that nobody reads are an outflow" "$(cat "$T/out") $(reasons)" "200 000  label-secrecy"
lab_anew
run "$(get web.test/private)curl -sS -o /dev/null http://secret.wild.test/" --net "$private" --net 'http://*.wild.test/**'
hasnt "so is a name that the box chose" "$(lab_names)" secret.wild.test
run "$(get web.test/private)$(post web.test/private)" --net "$private" --net 'http://web.test/private POST label private:web'
is "a source gets its own data back, but no action with it" "$(cat "$T/out") $(reasons)" "200 403  label-secrecy"

# ---- handed over ----
echo secret >"$T/file" && chmod 644 "$T/file"
printf 'use base/system\nread %s label private:file\nnet http://four.test/**\nnet http://web.test/** accepts private:file\n' "$T/file" >"$T/policy"
run "$(get four.test/)$(get web.test/)" --policy "$T/policy"
is "a run is labelled by what it is handed" "$(cat "$T/out") $(json .labels)" "403 200  private:file"
printf 'env KEY=1 label private:key\nsock /run/none.sock?\n' >"$T/policy"
is "a socket of the host must accept all that may be read" "$(status "$CORDON" run --policy "$T/policy" -- true)" 125
has "and the message says which" "$(cat "$T/err")" "accepts private:key"

# ---- untrusted ----
run "$(post four.test/echo)$(get web.test/foreign)$(get four.test/)" --net "$foreign" --net 'http://four.test/** GET POST'
is "foreign text does not keep a run from reading" "$(cat "$T/out")" "200 200 200 "
acts() { # DOOR OPTION...
        door=$1
        shift
        run "$(get web.test/foreign)$(post four.test/echo)" --net "$foreign" --net "$door" "$@"
}
acts 'http://four.test/** POST ask labelled within 1s'
is "but from acting without a person" "$(cat "$T/out") $(reasons)" "200 403  gate-expired"
acts 'http://four.test/** POST accepts untrusted'
is "unless the door accepts it" "$(cat "$T/out")" "200 200 "
acts 'http://four.test/** POST reach self'
is "or reaches nobody else" "$(cat "$T/out")" "200 200 "
acts 'http://four.test/echo POST where x=int:1..5 in body accepts untrusted' --net 'http://four.test/echo POST where y?=int:1..5 ask within 1s'
is "of two doors it is enough if one permits" "$(cat "$T/out")" "200 200 "
run "$(get web.test/foreign)$(get four.test/)" --net "$foreign" --net 'http://four.test/** GET reach public ask labelled within 1s'
is "a request that reaches others is an action whatever its method" "$(cat "$T/out")" "200 403 "

(acts 'http://four.test/** POST ask labelled within 40s') &
$approver --wait 1 view >"$T/shown"
is "the envelope has the label" "$(jq -r .envelope.labels "$T/shown")" untrusted
has "and a person sees why it asks" "$(jq -r .text "$T/shown")" "has read untrusted text"
$approver --tty yes >/dev/null
wait $!
is "approved, it leaves" "$(cat "$T/out")" "200 200 "

# ---- all three ----
three() { run "$(get web.test/private)$(get web.test/foreign)$(post four.test/echo)" --net "$private" --net "$foreign accepts private:web" "$@"; }
three --net 'http://four.test/** POST'
is "private data, foreign text and a way out do not meet" "$(cat "$T/out") $(reasons)" "200 200 403  label-trifecta"
three --net 'http://four.test/** POST ask labelled within 1s' --rule two
is "under rule two a person is asked" "$(cat "$T/out") $(reasons)" "200 200 403  gate-expired"
run "$(get web.test/private)$(post four.test/echo)" --net "$private" --net 'http://four.test/** POST' --rule two
is "two of the three may meet" "$(cat "$T/out")" "200 200 "
three --net 'http://four.test/** POST ask within 1s'
is "no approval lifts a flow that no door accepts" "$(reasons)" "label-trifecta"

# ---- declassify ----
(run "$(get web.test/private)$(post four.test/echo)" --net "$private" --net 'http://four.test/** POST declassify private:web ask labelled within 40s') &
$approver --wait 1 view >"$T/shown"
is "to declassify is asked, with the tag" "$(jq -r .envelope.labels "$T/shown")" private:web
is "and a high risk" "$(jq -r .item.risk "$T/shown")" high
id=$(jq -r .item.id "$T/shown")
$approver --tty yes "challenge=\"$(printf %s "$id" | tail -c 4)\"" >"$T/answer"
wait $!
is "approved, it leaves once" "$(cat "$T/out")" "200 200 "
has "the approval is recorded" "$("$CORDON" ledger --kind gate | tail -n 2)" consumed

# ---- while the label rises ----
mkfifo "$T/pipe" && chmod 666 "$T/pipe"
run "(echo first; sleep 1; $(get web.test/private) echo secret; sleep 2; echo more) | curl -sS -o /dev/null -w '%{http_code}' -T - -m 30 http://four.test/echo" --net "$private" --net 'http://four.test/echo PUT'
hasnt "a body that is under way is cut when the run reads private data" "$(cat "$T/out")" 200
is "with the reason" "$(reasons)" label-secrecy
done_testing
