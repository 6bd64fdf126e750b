#!/bin/sh
# Labels follow the bytes: a table of the ways into a box, a table of the ways out of one, and each with each.
# shellcheck disable=SC2086,SC2154,SC2016
. "$(dirname "$0")/lib.sh"
elsewhere cordon-ways
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
test=$(realpath "$0")
cd "$D" || exit 1
shown() { "$CORDON" label show --json "$@" | jq -r '.[].labels'; }
label_of_result() { tail -n 1 | jq -r '.labels // "none"'; }

# What strangers wrote, in a file that a box gets the bytes of in each of these ways: NAME|OPTION...|COMMAND|STDIN
printf '#!/bin/sh\nexit 0\n' >script && chmod 755 script
mkdir plain tree tree/deep moved work out
cp script tree/deep/script && echo x >work/file
echo '{"method":"GET","url":"http://a.test/","status":200,"headers":[],"body":"x"}' >answers
printf 'place api live http://a.test/\nplace api test http://127.0.0.1:9/\n' >places
for f in script tree/deep/script answers places; do "$CORDON" label add "$f" untrusted; done
mv tree moved/tree
mkdir -p labelled/deep && echo x >labelled/deep/x && "$CORDON" label add labelled untrusted && mv labelled renamed
"$CORDON" run -q --read script --edit work -- sh -c "echo y >work/file"
overlay=$(cd work && "$CORDON" diff --list --json | jq -r '.[0].run // .overlays[0].run')
copied() { cp --preserve=xattr script plain/copy 2>/dev/null && [ "$(shown plain/copy)" = untrusted ]; }
ways_in() {
        cat <<END
a read door|--read $D/script|true|/dev/null
an edit door|--edit $D/script|true|/dev/null
a run door|--run $D/script --run true|true|/dev/null
the command|--run any|$D/script|/dev/null
standard input|--run any|true|$D/script
an in handle|--in data --handle data=$D/script|true|/dev/null
an overlay|--edit $D/work --on $overlay|true|/dev/null
a directory that was moved|--read $D/moved|true|/dev/null
below a labelled directory that was moved|--read $D/renamed/deep/x|true|/dev/null
recorded answers|--net http://a.test/** --stage mock --answers $D/answers|true|/dev/null
addresses of places|--net @api/** --stage test --places $D/places|true|/dev/null
END
        ! copied || echo "a copy with its attribute|--read $D/plain|true|/dev/null"
}
each_way_in() { # FUNCTION: with $in $options $command $stdin
        ways_in >"$T/ways"
        while IFS='|' read -r in options command stdin <&4; do "$1"; done 4<"$T/ways"
}
begins() { echo "$in: $("$CORDON" run -q --json $options -- $command 2>&1 >/dev/null <"$stdin" | label_of_result)"; }
each_way_in begins >"$T/begins"
is "what comes in by any way labels the run" "$(grep -v ': untrusted$' "$T/begins")" ""

# ---- ways out: each a function that runs with $options and prints the label of what is left outside ----
run() { "$CORDON" run -q $options "$@" -- $command <"$stdin"; }
reader() { "$CORDON" run -q --json -- cat 2>&1 >/dev/null | label_of_result; }
to_a_file() { run >out/stdout; shown out/stdout; }
to_a_file_by_stderr() { run 2>out/stderr >/dev/null; shown out/stderr; }
to_a_box() { run | reader; }
to_a_box_by_stderr() { { run 2>&1 >/dev/null; } | reader; }
by_a_write_door() { mkdir -p out/door && run --write "$D/out/door" && shown out/door; }
by_an_out_handle() { run --out result --handle result=out/handle && shown out/handle; }
by_a_write_file() { [ -e out/file ] || echo old >out/file; run --write "$D/out/file" >/dev/null && shown out/file; rm -f out/file; }
ways_out="to_a_file to_a_file_by_stderr to_a_box to_a_box_by_stderr by_a_write_door by_an_out_handle by_a_write_file"
each_way_out() {
        for way in $ways_out; do
                rm -rf out && mkdir out
                echo "$in $way: $("$way" 2>&1)"
        done
}
each_way_in each_way_out >"$T/leaves"
is "and goes out by any way with it" "$(grep -v ': untrusted$' "$T/leaves")" ""
is "all ways in and out were tried" "$(wc -l <"$T/leaves")" "$(($(wc -l <"$T/ways") * $(echo $ways_out | wc -w)))"

# ---- one by one: what a run leaves in our own state, and what is made of it ----
id=$("$CORDON" run -q --detach --read script -- echo hello)
soon sh -c "'$CORDON' logs $id | grep -q hello && ! '$CORDON' ps | grep -q $(short "$id")"
"$CORDON" logs "$id" >logs && is "kept output has it" "$(cat logs) $(shown logs)" "hello untrusted"
"$CORDON" diff "$overlay" >changes && is "what is printed of changes has it" "$(shown changes)" untrusted
"$CORDON" apply "$overlay" --as-patch patch >/dev/null 2>&1 && is "a patch has it" "$(shown patch)" untrusted
copy=$("$CORDON" run -q --json --edit work --on "$overlay" --copy --keep -- true 2>&1 | jq -r .work.layer)
is "a copy has it" "$("$CORDON" run -q --json --edit work --on "$copy" -- true 2>&1 | label_of_result)" untrusted
"$CORDON" discard "$copy" >/dev/null 2>&1
is "what is discarded is forgotten" "$(grep -c "work/$copy" "$CORDON_STATE/labels/index")" 0
"$CORDON" session new --name "one$$" --read script --edit work >"$T/session" 2>&1
"$CORDON" session run "one$$" -- true >from-session 2>/dev/null
is "what a session prints has it" "$(shown from-session)" untrusted
"$CORDON" session fork "one$$" --name "two$$" >"$T/fork" 2>&1 && "$CORDON" session run "two$$" -- true >from-fork
is "a fork of it has it" "$(shown from-fork)" untrusted
for s in "one$$" "two$$"; do "$CORDON" session end "$s" >/dev/null 2>&1; done

# ---- a file that changed on the host meanwhile: kept, labelled ----
echo old >file && mkdir sync
"$CORDON" run --read script --write file --write sync -- \
        sh -c "echo new >$D/file; echo >$D/sync/ready; until [ -e $D/sync/go ]; do sleep 0.05; done" 2>"$T/err" &
soon test -e sync/ready && echo host >>file && touch sync/go && wait $!
kept=$(sed -n 's,^.*hint: .* is ,,p' "$T/err")
is "the box's version of a file that changed on the host has it" "$(shown "${kept:-none}")" untrusted
echo old >first
is "our own stamp is no change of the file" "$(status "$CORDON" run -q --read script --write first -- sh -c "echo new >$D/first") $(cat first) $(shown first)" "0 new untrusted"

# ---- a script that an untrusted run left ----
mkdir left && "$CORDON" run -q --read script --write left -- sh -c "printf '#!/bin/sh\nexit 0\n' >$D/left/next && chmod 755 $D/left/next"
printf 'use base/system\nrun any\n' >"$T/policy"
is "it does not act unasked as the next command" "$("$CORDON" run -q --json -p "$T/policy" -- "$D/left/next" 2>&1 | label_of_result)" untrusted

# ---- stock doors: the index alone, because the host's own files are not changed here ----
printf '{"path":"/usr/share/zoneinfo","dev":0,"ino":0,"born":0,"label":"private:stock","run":""}\n' >>"$CORDON_STATE/labels/index"
is "what a stock door shows labels the run" "$("$CORDON" run -q --json -- true 2>&1 | label_of_result)" private:stock

# ---- images: a directory, and one in the store ----
mkdir -p image/bin && echo 'int main(void) { return 0; }' >t.c
if cc -static -o image/bin/t t.c 2>/dev/null; then
        "$CORDON" label add image untrusted
        is "the image labels the run" "$("$CORDON" run -q --json --image "$D/image" -- /bin/t 2>&1 | label_of_result)" untrusted
else
        skip "the image labels the run" "no static programs are made here"
fi

if file -L "$(command -v busybox)" 2>/dev/null | grep -q static && python3 "$(dirname "$test")/helpers/image.py" tool "$D/archive"; then
        "$CORDON" label add archive private:archive
        "$CORDON" image add "$D/archive" >"$T/said" 2>&1
        is "so does one that was made from a labelled archive" "$("$CORDON" run -q --json --image "$D/archive" -- tool 2>&1 | label_of_result)" private:archive
        hasnt "and the next one that is made does not" "$("$CORDON" label show)" images/new
else
        skip "so does one that was made from a labelled archive" "no static busybox"
fi

# ---- envelopes ----
printf 'private\n' >own && "$CORDON" label add own private:own && sed -i '/private:stock/d' "$CORDON_STATE/labels/index"
"$CORDON" run -q --read own --stdout 'as text' -- cat own >said
"$CORDON" output wrap said >envelope
is "an envelope has the labels of the run, and is a box's" "$(jq -c .labels envelope)" '["private:own","untrusted"]'
ok "and is verified against the ledger" "$CORDON" output verify envelope
done_testing
