#!/bin/sh
# Labels before a run: `cordon policy flow`, lints, and outputs that are endorsed because they can say little.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
labels() { "$CORDON" run --json "$@" 2>&1 >/dev/null </dev/null | tail -n 1 | jq -r '.labels // "none"'; } # OPTION... -- COMMAND
mail='net https://mail.example/inbox/** GET label private:mail untrusted'

# ---- plan ----
printf 'box night\n%s\nread /etc/hostname label private:host\nnet https://mail.example/send POST accepts private:mail\n' "$mail" >night.cordon
"$CORDON" policy flow --json night.cordon >plan.json
is "a plan has the label that a box begins with" "$(jq -r '.[0].begins' plan.json)" private:host
is "and what it may become" "$(jq -r '.[0].may_become' plan.json)" "private:host private:mail untrusted"
is "and what its way out does then" "$(jq -r '.[0].doors[] | select(.door | test("POST")) | .answer + " " + .reason' plan.json)" "deny label-trifecta"
"$CORDON" policy flow night.cordon >plan.txt
is "-p names a policy, as elsewhere" "$("$CORDON" policy flow -p night.cordon)" "$(cat plan.txt)"
has "it proposes three boxes instead" "$(cat plan.txt)" "box night-sender"
echo '{"type":"boolean"}' >facts.schema.json
for part in reader private sender; do
        awk -v p="# $part.cordon" 'index($0, "# ") == 1 { on = index($0, p) == 1 } on' plan.txt >$part.cordon
done
"$CORDON" policy flow --json reader.cordon private.cordon sender.cordon >split.json 2>err || cat err
is "of which none holds all three unattended" "$(jq -r '[.[] | select((.may_become | test("private")) and (.may_become | test("untrusted"))) | .doors[] | select(.answer == "allow") | select(.door | test("label") | not)] | length' split.json)" 0
is "the sender asks a person" "$(jq -r '.[2].doors[] | select(.answer) | .answer' split.json)" ask

printf 'box many\nnet https://out.example/pay GET POST accepts private:mail\nread /etc/hostname label private:host\n' >many.cordon
"$CORDON" policy flow many.cordon >plan.txt
has "it names the method that does most" "$(cat plan.txt)" "
      POST: closed: "
has "and the tags that the door lacks" "$(cat plan.txt)" "permit: accepts private:host; or declassify private:host"
sed -i 's/accepts private:mail/accepts private:mail private:host/' many.cordon
hasnt "which then permit it" "$("$CORDON" policy flow many.cordon)" closed
is "--json has the method" "$("$CORDON" policy flow --json many.cordon | jq -r '.[0].doors[] | select(.answer) | .method + " " + .answer')" "POST allow"

printf 'box asks\nnet https://out.example/pay POST ask\n' >asks.cordon
has "a door that asks is not called open" "$("$CORDON" policy flow asks.cordon)" "a person is asked"
printf '%s\nread /etc/hostname label private:host\nnet https://out.example/a POST declassify private:host private:mail\n' "$mail" >twice.cordon
hasnt "a proposal declassifies a tag once" "$("$CORDON" policy flow twice.cordon)" "declassify private:host private:mail declassify"
has "a wrong word on a net line names the right one" "$("$CORDON" check --net 'http://a.test/** GET accept private:x' 2>&1)" accepts

printf 'read %s label private:x\nnet https://out.example/** GET\n' "$T" >touch.cordon
has "what a box is handed closes a door" "$("$CORDON" policy flow touch.cordon)" "
      closed: "
echo 'rule touch' >>touch.cordon
"$CORDON" policy flow touch.cordon >plan.txt
has "with rule touch it begins with nothing" "$(cat plan.txt)" "begins with no label and may become private:x"
has "says on touching what" "$(cat plan.txt)" "labels the run on touching it"
has "and what is closed then" "$(cat plan.txt)" "open at first, then closed"

has "doors says so too" "$("$CORDON" doors -p touch.cordon)" "labels the run when it is touched"

# A source that is also sent to: the proposal reads it in one box and sends in another.
for methods in 'GET POST' ''; do
        printf 'box both\nnet https://mail.example/** %s label private:mail untrusted\n' "$methods" >both.cordon
        "$CORDON" policy flow both.cordon >plan.txt
        hasnt "[$methods] the reader does not send" "$(sed -n '/^box both-reader/,/^out facts/p' plan.txt)" POST
        has "[$methods] the sender has a way out" "$(sed -n '/^box both-sender/,$p' plan.txt)" "
net https://mail.example/** POST"
done
has "a URL without methods takes POST" "$("$CORDON" policy flow --json both.cordon | jq -r '.[0].doors[].method')" POST
printf 'box rpc\nnet https://mail.example/** POST label private:mail untrusted\n' >both.cordon
has "without one the proposal says so" "$("$CORDON" policy flow both.cordon)" "state where the message goes"
rm -f facts.schema.json && "$CORDON" check -p reader.cordon 2>err
has "a schema that is missing has a hint" "$(cat err)" "hint: write there what it may say"

# A plan of three boxes is what the ledger has afterwards.
mkdir a b
printf 'use base/system\nbox one\nenv KEY=1 label private:k\nwrite %s/a\n' "$T" >one.cordon
printf 'use base/system\nbox two\nread %s/a\nwrite %s/b\n' "$T" "$T" >two.cordon
printf 'use base/system\nbox three\nread %s/b\n' "$T" >three.cordon
want=$("$CORDON" policy flow --json one.cordon two.cordon three.cordon | jq -r '[.[].may_become] | join(",")')
for box in one two three; do "$CORDON" run -q -p $box.cordon -- true; done
is "the plan of a workflow is what the ledger has" "$("$CORDON" ledger --json --kind end | jq -rs '[.[] | .labels // .more.labels] | join(",")')" "$want"

# ---- lints ----
printf '%s\nnet https://out.example/** POST accepts private:mail untrusted\n' "$mail" >bad.cordon
has "all three with nobody there do not load" "$("$CORDON" check -p bad.cordon 2>&1)" E146
printf '%s\nnet https://out.example/** POST accepts private:mail untrusted ask\n' "$mail" >good.cordon
hasnt "with a person they do" "$("$CORDON" check -p good.cordon 2>&1)" E146
printf '%s\nnet https://out.example/** GET accepts private:mail\n' "$mail" >get.cordon
has "an address is a way out" "$("$CORDON" check -p get.cordon 2>&1)" W147

# ---- endorse ----
echo '{"type":"object","properties":{"ok":{"type":"boolean"},"n":{"type":"integer","minimum":0,"maximum":7}},"required":["ok","n"],"additionalProperties":false}' >small.json
echo '{"type":"object","properties":{"text":{"type":"string","maxLength":20}},"additionalProperties":false}' >text.json
endorse() { # SCHEMA BITS OUTPUT
        printf 'use base/system\nenv KEY=1 label untrusted\nout facts as json(%s/%s) endorse %s\n' "$T" "$1" "$2" >e.cordon
        rm -f facts
        "$CORDON" run -q -p e.cordon --handle facts=facts -- sh -c "printf '%s' '$3' >\"\$CORDON_OUT_FACTS\"" 2>err </dev/null
        "$CORDON" label show --json facts | jq -r '.[].labels'
}
is "an output that says 4 bits loses untrusted" "$(endorse small.json 4 '{ "n" : 3, "ok":true}')" ""
is "and is written anew" "$(cat facts)" '{"n":3,"ok":true}'
is "one that could say more keeps it" "$(endorse small.json 3 '{"n":3,"ok":true}')" untrusted
is "so does free text, however short" "$(endorse text.json 100 '{"text":"obey"}')" untrusted
is "endorse needs a schema" "$(status "$CORDON" check --out 'x as json endorse')" 125
done_testing
