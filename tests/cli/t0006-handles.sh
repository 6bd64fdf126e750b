#!/bin/sh
# in and out handles: the host opens, the box gets a copy, and what goes out is checked.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
# box ARGUMENT...: exit code in $code, output in out, errors in err
box() { $who "$CORDON" run -q "$@" >out 2>err </dev/null; code=$?; }

for who in root as_user; do
        D="$T/$who"
        mkdir -p "$D/dir"
        echo 'hello handle' >"$D/in"
        head -c 5000 /dev/zero >"$D/big"
        echo '{"a":[1,2]}' >"$D/json"
        echo '{"a":' >"$D/badjson"
        printf 'caf\351' >"$D/latin"
        printf '\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\001\000\000\000\001\010\000\000\000\000:~\233U\000\000\000\012IDATx\234c`\000\000\000\002\000\001H\257\244q\000\000\000\000IEND\256B`\202' >"$D/png"
        printf 'RIFF\010\0\0\0WEBPVP8 ' >"$D/webp"
        printf 'RIFF\100\0\0\0WAVEfmt ' >"$D/wave"
        echo neighbour >"$D/neighbour"
        chmod -R a+rX "$D"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$D"

        box --in doc --handle "doc=$D/in" -- sh -c 'cat "$CORDON_IN_DOC"'
        is "$who: an in handle is read by its variable" "$code:$(cat out)" "0:hello handle"
        box --in doc --handle "doc=$D/in" -- sh -c 'cat <&3'
        is "$who: and as descriptor 3" "$code:$(cat out)" "0:hello handle"
        box --in a --in b --handle "a=$D/in" --handle "b=$D/json" -- sh -c 'cat "$CORDON_IN_B" "$CORDON_IN_A"; ls /proc/self/fd | tr "\n" " "'
        is "$who: two handles, each its own" "$(head -n 2 out | tr '\n' ' ')" '{"a":[1,2]} hello handle '
        box --in a-b --handle "a-b=$D/in" -- sh -c 'cat "$CORDON_IN_A_B"'
        is "$who: a dash in its name is an underscore in its variable" "$code:$(cat out)" "0:hello handle"
        box --in a-b --in a_b --handle "a-b=$D/in" --handle "a_b=$D/json" -- echo RAN
        is "$who: two that would have one variable do not start" "$code:$(cat out):$(head -n 1 err)" "125::cordon: error: two lines would both set CORDON_IN_A_B"
        box --in doc --out doc --handle "doc=$D/in" -- echo RAN
        is "$who: nor two of one name, for which --handle could only name one file" "$code:$(cat out):$(head -n 1 err)" "125::cordon: error: \`in doc\` and \`out doc\` have one name"
        is "$who: which check says, too" "$($who "$CORDON" check --in doc --out doc 2>&1 | head -n 1)" "cordon: error: \`in doc\` and \`out doc\` have one name"
        box --in doc --handle "doc=$D/in" -- sh -c 'echo x >"$CORDON_IN_DOC"; echo x >/proc/self/fd/3; echo x >&3'
        ok "$who: an in handle cannot be written" test $code -ne 0
        is "$who: nor reopened for writing: the host's file is what it was" "$(cat "$D/in")" 'hello handle'
        box --in doc --handle "doc=$D/in" -- sh -c "cat $D/neighbour; cat /proc/self/fd/3/../neighbour; ls $D"
        hasnt "$who: a handle is no way to its neighbours" "$(cat out)" neighbour
        hasnt "$who: nor to its path" "$($who "$CORDON" run -q --in doc --handle "doc=$D/in" -- readlink /proc/self/fd/3 </dev/null)" "$D"
        box --in doc --handle "doc=$D/in" -- perl -e 'open(H, "+<&=3"); for (0, 9999) { print truncate(H, $_) ? "CHANGED " : "held " }'
        is "$who: it is neither cut nor made longer" "$(cat out)" "held held "
        box --in doc -- true
        is "$who: a handle with nothing behind it gives 125" $code 125
        has "$who: and says what to type" "$(cat err)" '--handle doc=FILE'
        box --in doc --handle "doc=$D" -- sh -c 'echo RAN'
        is "$who: a directory is no handle" "$code:$(cat out)" "125:"
        has "$who: and it says why" "$(cat err)" "is a directory: a box could climb out of it"
        box --handle "doc=$D/in" -- true
        is "$who: a handle that no line names is refused" $code 125
        box --in doc --handle "doc=$D/none" -- sh -c 'echo RAN'
        is "$who: a missing in file is refused" "$code:$(grep -c RAN out)" 125:0
        ok "$who: and is not made" test ! -e "$D/none"
        rm -f "$D/none"
        box --in doc --handle "doc=$D/dir" -- true
        is "$who: a directory is refused" $code 125
        has "$who: with the reason" "$(cat err)" directory

        # --- size and type of what goes in ---
        box --in 'doc max 4K' --handle "doc=$D/big" -- sh -c 'echo RAN'
        is "$who: an in file over its max is refused" "$code:$(grep -c RAN out)" 125:0
        has "$who: and the max is told" "$(cat err)" max
        box --in 'doc max 5000' --handle "doc=$D/big" -- sh -c 'wc -c <&3'
        is "$who: an in file of exactly its max is taken" "$code:$(cat out)" 0:5000
        for pair in json:json:0 json:badjson:125 json:in:125 text:in:0 text:latin:125 image:png:0 image:webp:0 image:wave:125 image:in:125 binary:latin:0; do
                type=${pair%%:*}
                file=${pair#*:}
                box --in "doc as $type" --handle "doc=$D/${file%:*}" -- true
                is "$who: ${file%:*} as $type gives ${pair##*:}" $code "${pair##*:}"
        done

        # --- out ---
        [ "$who" = root ] || chmod 777 "$D"
        rm -f "$D/out"
        box --out res --handle "res=$D/out" -- sh -c 'echo result >"$CORDON_OUT_RES"'
        is "$who: an out handle is written after a good end" "$code:$(cat "$D/out")" 0:result
        echo before-that-is-longer >"$D/out"
        box --out res --handle "res=$D/out" -- sh -c 'echo new >"$CORDON_OUT_RES"'
        is "$who: an out file that was there is replaced" "$code:$(cat "$D/out")" 0:new
        echo before >"$D/out"
        box --out res --handle "res=$D/out" -- sh -c 'echo bad >"$CORDON_OUT_RES"; exit 3'
        is "$who: a bad end writes nothing" "$code:$(cat "$D/out")" 3:before
        box --time 2s --out res --handle "res=$D/out" -- sh -c 'echo bad >"$CORDON_OUT_RES"; sleep 15'
        is "$who: nor does a limit" "$code:$(cat "$D/out")" 124:before
        box --out 'res max 100' --handle "res=$D/out" -- sh -c 'head -c 101 /dev/zero >"$CORDON_OUT_RES"'
        is "$who: more than max writes nothing" "$code:$(cat "$D/out")" 125:before
        box --out 'res max 100' --handle "res=$D/out" -- sh -c 'head -c 100 /dev/zero >"$CORDON_OUT_RES"'
        is "$who: exactly max is written" "$code:$(wc -c <"$D/out")" 0:100
        echo before >"$D/out"
        box --out 'res as json' --handle "res=$D/out" -- sh -c 'echo "{" >"$CORDON_OUT_RES"'
        is "$who: what is not json writes nothing" "$code:$(cat "$D/out")" 123:before
        box --out 'res as json' --handle "res=$D/out" -- sh -c 'echo "{}" >"$CORDON_OUT_RES"'
        is "$who: what is json is written" "$code:$(cat "$D/out")" '0:{}'
        # As a tree, twelve megabytes of numbers would be four hundred: in the memory of whoever called.
        # shellcheck disable=SC3045
        (ulimit -v 200000; box --out 'res max 16M as json' --handle "res=$D/out" -- sh -c '{ printf "["; yes 1, | tr -d "\n" | head -c 12000000; printf "1]"; } >"$CORDON_OUT_RES"'; echo $code >code)
        is "$who: nor does looking at it take much memory" "$(cat code):$(wc -c <"$D/out")" 0:12000003
        rm -f "$D/fresh"
        box --out res --handle "res=$D/fresh" -- sh -c 'exit 3'
        ok "$who: a bad end makes no file either" test ! -e "$D/fresh"
        rm -f "$D/fresh"
        box --in doc --out res --handle "doc=$D/in" --handle "res=$D/out" -- sh -c 'tr a-z A-Z <"$CORDON_IN_DOC" >"$CORDON_OUT_RES"'
        is "$who: in and out together" "$code:$(cat "$D/out")" "0:HELLO HANDLE"
        box --wall process --in doc --out res --handle "doc=$D/in" --handle "res=$D/out" -- sh -c 'cat <&3 >&4'
        is "$who: handles behind the process wall" "$code:$(cat "$D/out")" "0:hello handle"
        box --out res --handle "res=$D/out" -- sh -c 'cp /bin/echo /proc/self/fd/3 && chmod 755 /proc/self/fd/3; /proc/self/fd/3 RAN'
        hasnt "$who: an out handle is not executable" "$(cat out)" RAN
        rm -f "$D/later"
        box -d --out res --handle "res=$D/later" -- sh -c 'echo late >"$CORDON_OUT_RES"'
        soon test -e "$D/later"
        is "$who: a detached box's out file gets its name, too" "$code:$(cat "$D/later")" 0:late
        # --- what becomes of a handle is told to programs, too ---
        mkdir -p "$D/going" && chmod 777 "$D/going"
        box --json --write "$D" --out res --handle "res=$D/going/res" -- sh -c "echo x >&3; rmdir $D/going"
        is "$who: an out file that cannot be named is no good end" "$code:$(tail -n 1 err | jq -r '.end, .error.code, (.run | length > 9)' | tr '\n' ' ')" "125:failed io true "
        box --json --in doc --handle "doc=$D/none" -- true
        is "$who: an in file that is not there" "$code:$(tail -n 1 err | jq -r '[.end, .error.code, .error.errno] | @csv')" '125:"failed","door",2'
        box --json --out res --handle "res=$D/none/res" -- true
        is "$who: a directory that is not there" "$code:$(tail -n 1 err | jq -r '[.end, .error.code, .error.errno] | @csv')" '125:"failed","door",2'
        box --json --handle "doc=$D/in" -- true
        is "$who: a handle that no line names" "$code:$(tail -n 1 err | jq -r '[.end, .error.code] | @csv')" '125:"failed","usage"'
        # --- what an earlier box left where a later one's result goes ---
        echo victim >"$D/victim"
        for to in "$D/victim" /dev/null "$D/nowhere" /dev/full; do
                rm -f "$D/left" && ln -s "$to" "$D/left"
                [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -h 65533:65533 "$D" "$D/left" "$D/victim"
                box --out res --handle "res=$D/left" -- sh -c 'echo result >&3'
                is "$who: a link to ${to##*/} is replaced, not written through" "$code:$(stat -c %F "$D/left"):$(cat "$D/left")" "0:regular file:result"
        done
        is "$who: and what it led to is as it was" "$(cat "$D/victim"):$(ls "$D/nowhere" 2>/dev/null)" victim:
        rm -f "$D/left" && ln -s victim "$D/left"
        box --in doc --handle "doc=$D/left" -- sh -c 'cat <&3'
        is "$who: nor is a link read" "$code:$(cat out)" 125:
        has "$who: which is said, with what it leads to" "$(cat err)" "name that: $(readlink -f "$D/victim")"
        ln -sfn nowhere "$D/left"
        box --in doc --handle "doc=$D/left" -- sh -c 'cat <&3'
        has "$who: or that it leads nowhere" "$code:$(cat err)" "125:cordon: error: --handle doc=$D/left: it is a symbolic link, and a box may have made it
cordon: hint: its target does not exist"
        # --- who could not read what is replaced does not read the new one ---
        for mode in 600:600 644:644 400:600 777:644; do
                rm -f "$D/private.out" && echo old >"$D/private.out" && chmod ${mode%:*} "$D/private.out"
                [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown 65533:65533 "$D/private.out"
                (umask 022 && box --out res --handle "res=$D/private.out" -- sh -c 'echo result >&3')
                is "$who: what replaces a file of mode ${mode%:*}" "$(stat -c %a "$D/private.out"):$(cat "$D/private.out")" "${mode#*:}:result"
        done
        rm -f "$D/private.out"
        (umask 027 && box --out res --handle "res=$D/private.out" -- sh -c 'echo result >&3')
        is "$who: a new one is for whom new files are" "$(stat -c %a "$D/private.out")" 640
        # --- what the box itself does to the directory, behind a door of its own ---
        rm -rf "$D/door" "$D/private" && mkdir -p "$D/door/out" "$D/private" && echo safe >"$D/private/config"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$D/door" "$D/private"
        box --write "$D/door" --out res --handle "res=$D/door/out/config" -- sh -c "echo result >&3; mv $D/door/out $D/door/old; ln -s $D/private $D/door/out"
        is "$who: a result does not go where the box made its directory lead" "$code:$(cat "$D/private/config"):$(ls -A "$D/private")" "125:safe:config"
        has "$who: and that is said" "$(cat err)" "door/out/config: its directory was moved while the box ran"
done
# /dev/shm is no place of the kernel's: a door can lie in it.
shm=$(mktemp -d /dev/shm/cordon-test.XXXXXX) && ln -s /dev/null "$shm/left"
"$CORDON" run -q --out res --handle "res=$shm/left" -- sh -c 'echo result >&3' </dev/null
is "nor in /dev/shm" "$(stat -c %F "$shm/left"):$(cat "$shm/left")" "regular file:result"
rm -rf "$shm"
# A program behind a `sock` door may hold what a handle brings: nobody changes it while it is looked at and written.
for how in keep map; do
        python3 "$here/helpers/holder.py" "$T/holder.$how" hold $how >/dev/null 2>&1 &
        holder=$!
        soon test -S "$T/holder.$how"
        echo old >"$T/result.$how"
        said=$("$CORDON" run -q --sock "$T/holder.$how" --out "res max 1M as json" --handle "res=$T/result.$how" -- python3 -c "$(cat "$here/helpers/holder.py")" "$T/holder.$how" send 3 2>&1)
        kill $holder 2>/dev/null
        eval "said_$how=\$said"
done
is "a handle that somebody else holds is written" "$said_keep$(cat "$T/result.keep")" '{"a": 1}'
has "one that somebody else can still change is not" "$said_map$(cat "$T/result.map")" "the handle res is in use outside the box; nothing was written"
has "and the file is as it was" "$(cat "$T/result.map")" old
is "/dev/stdout, a link that no box can make, is written" "$("$CORDON" run -q --out res --handle res=/dev/stdout -- sh -c 'echo result >&3' </dev/null)" result
is "/dev/stdin is read" "$(echo given | "$CORDON" run -q --in doc --handle doc=/dev/stdin -- sh -c 'cat <&3')" given
# A link on the way was there before: it is followed, and told where it leads out of the workspace.
mkdir -p "$T/space/in" "$T/beside" && ln -s ../beside "$T/space/out" && ln -s in "$T/space/same"
leads() { (cd "$T/space" && "$CORDON" run "$@" --out res --handle "res=$to" -- sh -c 'echo result >&3' 2>&1 </dev/null); }
to=out/file
is "a directory that a link leads out of the workspace is told" "$(leads)" "cordon: note: out/file leads out of the workspace by a link, to $T/beside"
is "not with -q" "$(leads -q)" ""
to=$T/space/out/file
has "by its whole path, too" "$(leads)" "leads out of the workspace"
to=same/file
is "one that stays in it is not" "$(leads)$(to=../beside/file && leads)" ""
echo elsewhere >"$T/beside/doc" && echo here >"$T/space/in/doc"
reads() { (cd "$T/space" && "$CORDON" run "$@" --in doc --handle "doc=$from" -- sh -c 'cat <&3' 2>&1 </dev/null); }
from=out/doc
is "of what is read, too" "$(reads)" "cordon: note: out/doc leads out of the workspace by a link, to $T/beside/doc
elsewhere"
is "but for -q" "$(reads -q)" elsewhere
from=same/doc
is "not of what stays in it" "$(reads)$(from=../beside/doc && reads)" hereelsewhere
# On a filesystem whose files all have names the old one is written over, and may have been longer.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
        mkdir -p "$T/named" && echo "a longer result than the next" >"$T/named/out"
        strace -f -qq -o /dev/null -P "$T/named" -e trace="?open,openat" -e inject="?open,openat":error=EOPNOTSUPP:when=1 "$CORDON" run -q --out res --handle "res=$T/named/out" -- sh -c 'echo short >&3' </dev/null
        is "of an old result nothing is left behind the new one" "$(cat "$T/named/out")" short
else
        skip "of an old result nothing is left behind the new one" "strace may not trace here"
fi
# As an ordinary user: root's own name of it was replaced.
echo before >"$T/said" && chmod 666 "$T/said"
as_user "$CORDON" run -q --out res --handle res=/dev/stdout -- sh -c 'echo result >&3' </dev/null >>"$T/said" 2>"$T/err"
is "also where it is a file, behind what stands there" "$(cat "$T/said" "$T/err")" "before
result"
# A pipe with a name, which a box behind a write door can make: nobody waits for who holds it, or for who does not.
mkdir -p "$T/left" && chmod 777 "$T/left"
"$CORDON" run -q --write "$T/left" -- mkfifo "$T/left/pipe" </dev/null
ok "a box leaves a pipe behind" test -p "$T/left/pipe"
chmod 666 "$T/left/pipe"
refuses() { # NAME ARGUMENT...: with and without somebody at its other end
        name=$1 && shift
        timeout 20 "$CORDON" "$@" >out 2>err </dev/null
        is "$name: a pipe that nobody holds is refused" "$? $(grep -c "left/pipe: is a FIFO; refusing to read it (a box may have created it)" err)" "125 1"
        exec 9<>"$T/left/pipe"
        timeout 20 "$CORDON" "$@" >out 2>err </dev/null 9>&-
        is "$name: so is one that somebody holds" "$? $(grep -c "left/pipe: is a FIFO" err)" "125 1"
        exec 9>&-
}
refuses "an in handle" run -q --in doc --handle "doc=$T/left/pipe" -- true
has "an in handle: what to type" "$(cat err)" "hint: if it is yours, open it yourself: --handle doc=/dev/fd/9 9<$T/left/pipe"
refuses "an out handle" run -q --out res --handle "res=$T/left/pipe" -- true
has "an out handle: what to type" "$(cat err)" "--handle res=/dev/fd/9 9>$T/left/pipe"
refuses "a policy" check "$T/left/pipe"
refuses "the policy of tighten" policy tighten -p "$T/left/pipe" -- true
refuses "places" run --places "$T/left/pipe" -- true
refuses "input of learn" learn --input "$T/left/pipe" -- true
refuses "a checkpoint" log verify --checkpoint "$T/left/pipe"
refuses "a proof" log verify --proof "$T/left/pipe"
refuses "a secret" vault add token --from-file "$T/left/pipe"
"$CORDON" run -q --name kept -- true </dev/null
refuses "a report" log report kept --html "$T/left/pipe"
id=$("$CORDON" ledger --json --box kept --kind end | jq -r .id)
"$CORDON" ledger proof "$id" >proof
is "a key" "$(timeout 20 "$CORDON" ledger verify --proof proof --key "$T/left/pipe" >out 2>&1; echo $?)" 125
is "one's own pipe is read by its descriptor" "$({ echo given >"$T/left/pipe" & } && "$CORDON" run -q --in doc --handle doc=/dev/fd/9 -- sh -c 'cat <&3' 9<"$T/left/pipe")" given
is "also when the writer is gone" "$(exec 9<>"$T/left/pipe" && echo late >&9 && exec 8<"$T/left/pipe" 9>&- && timeout 20 "$CORDON" run -q --in doc --handle doc=/dev/fd/8 -- sh -c 'cat <&3')" late
is "and the policy of tighten from <(...)" "$(bash -c '"$0" policy tighten -p <(sleep 0.3; echo "use base/system") -- true >out 2>&1; echo $?' "$CORDON")" 0

# - is no file and no stream.
for option in "run --in doc --handle doc=- -- true" "vault add token --from-file -" "learn --input - -- true"; do
        # shellcheck disable=SC2086
        is "- is refused: $option" "$(cd "$T/left" && : >./- && status "$CORDON" $option)" 125
        has "with what it could mean" "$(cat "$T/err")" "is called /dev/stdin"
done
is "learn -o - writes to standard output" "$(cd "$T/left" && rm -f ./- && "$CORDON" learn -n 1 -o - -- true 2>/dev/null | grep -c '^box')$(ls "$T/left")" 1pipe
is "and so does wrap" "$(cd "$T/left" && "$CORDON" policy wrap -o - true | head -n 1)$(ls "$T/left")" "#!/bin/shpipe"
done_testing
