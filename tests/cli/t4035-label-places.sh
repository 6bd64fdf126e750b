#!/bin/sh
# The label of a place in the places file: every door that leads there has it.
. "$(dirname "$0")/lib-net.sh"
get() { printf 'curl -sS -m 20 -o /dev/null -w "%%{http_code} " http://%s;' "$1"; }
printf '%s\n' 'place mail live http://web.test/private/ label private:mail' 'place mail test http://four.test:8000/mirror/' >"$T/places" && chmod 644 "$T/places"
while IFS='|' read -r name door more want; do
        # shellcheck disable=SC2086
        box root --net "$door" --net 'http://four.test/**' --places "$T/places" $more -- sh -c "$(get four.test/)$(get web.test/private/x)$(get four.test/)" </dev/null
        is "$name" "$(cat "$T/out")$(json '.labels // "none"')" "$want"
done <<END
a door to the place has its label|@mail/** GET||200 200 403 private:mail
so has a door to its URL|http://web.test/private/** GET||200 200 403 private:mail
and a wider one|http://web.test/** GET||200 200 403 private:mail
not one beside it|http://web.test/other GET||200 403 200 none
END
has "why knows of it" "$("$CORDON" why --net '@mail/** GET' --places "$T/places" net GET http://web.test/private/x 2>&1)" private:mail
echo 'place mail live http://web.test/ label secret' >"$T/bad"
has "another word is refused with its place" "$("$CORDON" run --net '@mail/** GET' --places "$T/bad" -- true 2>&1)" "takes private:NAME or untrusted, not secret"
echo 'place mail live http://web.test/ private:x' >"$T/bad"
has "and so is one without label" "$("$CORDON" run --net '@mail/** GET' --places "$T/bad" -- true 2>&1)" "label LABEL"
done_testing
