#!/bin/sh
# Images in the store: added, used, listed and removed; the same as root and as an ordinary user.
. "$(dirname "$0")/lib.sh"
busybox=$(command -v busybox) && file -L "$busybox" | grep -q static || {
        skip "images" "no static busybox (package busybox-static)"
        done_testing
}
make_image() { python3 "$(dirname "$0")/helpers/image.py" "$@"; }
m=$T/images
mkdir -m 755 "$m"
# shellcheck disable=SC2046
make_image $(for kind in tool gzip outer-gzip layout outer-link bad-user other-machine no-image two-images odd-tags; do echo "$kind $m/$kind"; done) ||
        fail "the images are made"
zstd=yes
command -v zstd >/dev/null && make_image zstd "$m/zstd" || zstd=
whos="root as_user"
[ "$(id -u)" -eq 0 ] || whos=as_user
for who in $whos; do
        S=$(state_of $who)
        cordon() { if [ $who = root ]; then "$CORDON" "$@"; else as_user "$CORDON" "$@"; fi; }
        out=$(cordon image add "$m/tool" 2>&1 </dev/null)
        has "$who: an archive of docker save is added" "$out" "sha256:"
        id=$(printf '%s' "$out" | sed -n 's/^\(sha256:[0-9a-f]*\) .*/\1/p')
        is "$who: its program runs, by the archive" "$(cordon run -q --image "$m/tool" -- tool 2>&1)" "tool 1.0"
        is "$who: by its id" "$(cordon run -q --image "$id" -- tool 2>&1)" "tool 1.0"
        is "$who: and by its own command" "$(cordon run -q --image "$m/tool" 2>&1)" "tool 1.0"
        is "$who: a relative path in a policy" "$(cd "$m" && printf 'root ./tool\n' >"$T/p.cordon" && cordon run -q -p "$T/p.cordon" -- tool 2>&1)" "tool 1.0"
        is "$who: user and group are its own" "$(cordon run -q --image "$m/tool" -- sh -c 'id -u; id -g; id -un' 2>&1 | tr '\n' ' ')" "33 44 web "
        is "$who: --root overrides" "$(cordon run -q --root --image "$m/tool" -- id -u 2>&1)" 0
        is "$who: so is the working directory" "$(cordon run -q --image "$m/tool" -- pwd 2>&1)" /srv/app
        is "$who: --cwd overrides" "$(cordon run -q --cwd / --image "$m/tool" -- pwd 2>&1)" /
        is "$who: and the environment" "$(cordon run -q --image "$m/tool" -- sh -c 'echo $TOOL $PATH $HOME' 2>&1)" "yes /bin /srv"
        is "$who: env overrides" "$(cordon run -q --env TOOL=mine --image "$m/tool" -- sh -c 'echo $TOOL' 2>&1)" mine
        is "$who: whiteouts are applied" "$(cordon run -q --image "$m/tool" -- sh -c 'ls /old; ls /etc/gone' 2>&1 | head -n 1)" upper
        hasnt "$who: of files as well" "$(cordon run -q --image "$m/tool" -- ls /etc 2>&1)" gone
        is "$who: the outer gzip is the same image" "$(cordon image add --json "$m/outer-gzip" 2>&1 | jq -r '.id[0:19]')" "$id"
        is "$who: by the name in the archive" "$(cordon run -q --image tool:1 -- tool 2>&1)" "tool 1.0"
        names() { cordon image ls --json | jq -r ".[] | select(.id|startswith(\"$1\")) | .from | sort | join(\" \")"; }
        is "$who: three names lead to it" "$(names "$id")" "$m/outer-gzip $m/tool tool:1"
        odd=$(cordon image add --json "$m/odd-tags" 2>&1 | jq -r .id)
        is "$who: names that are none, and one that is taken, are left out" "$(names "$odd")" "$m/odd-tags good.example:5000/a/tool:odd"
        is "$who: which still leads where it led" "$(names "$id")" "$m/outer-gzip $m/tool tool:1"
        is "$who: rm takes the name" "$(cordon image rm good.example:5000/a/tool:odd && names "$odd")" ""
        is "$who: a run gives none" "$(cordon run -q --image "$m/odd-tags" -- tool 2>&1) $(names "$odd")" "tool 1.0 $m/odd-tags"
        cordon image rm "$odd"
        is "$who: gzip layers in several members" "$(cordon run -q --image "$m/gzip" -- tool 2>&1)" "tool 1.0"
        is "$who: an OCI layout" "$(cordon run -q --image "$m/layout" 2>&1)" "tool 1.0"
        is "$who: a layer that is a link to another" "$(cordon run -q --image "$m/outer-link" -- tool 2>&1)" "tool 1.0"
        if [ "$zstd" ]; then is "$who: zstd layers" "$(cordon run -q --image "$m/zstd" 2>&1)" "tool 1.0"; else skip "$who: zstd layers" "no zstd"; fi
        for kind in bad-user other-machine no-image two-images; do
                is "$who: $kind is refused" "$(cordon image add "$m/$kind" >/dev/null 2>&1; echo $?)" 125
        done
        has "$who: the plan has the image's digest" "$(cordon run --plan --image "$m/tool" -- tool 2>&1)" "images/${id#sha256:}"
        has "$who: doors says it" "$(cordon doors --image "$m/tool" 2>&1)" "Root: the image $m/tool"
        is "$who: a name that nobody resolves" "$(if [ $who = root ]; then set -- env; else set -- as_user env; fi; "$@" PATH=/nowhere "$CORDON" run --image no-such-image:1 -- ls >/dev/null 2>&1; echo $?)" 125
        is "$who: an id that is not there" "$(cordon run --image sha256:0123456789ab -- ls >/dev/null 2>&1; echo $?)" 125
        is "$who: nothing unfinished is left" "$(find "$S/images" -maxdepth 1 -name 'new*' | wc -l)" 0
        is "$who: no set-id bit, device or foreign owner" "$(find "$S/images" \( -perm /7000 -o -type b -o -type c -o -type p -o -type s \) | wc -l)" 0

        # In use, and then not.
        run=$(cordon run -d --image "$m/tool" -- sleep 60 2>&1)
        is "$who: ls says that a box uses it" "$(cordon image ls --json | jq -r ".[] | select(.id|startswith(\"$id\")) | .in_use")" true
        is "$who: rm refuses" "$(cordon image rm "$id" >/dev/null 2>"$T/err"; echo $?)" 125
        has "$who: and says why" "$(cat "$T/err")" "a box uses the image"
        cordon image prune --all >/dev/null
        is "$who: prune leaves it" "$(cordon image ls --json | jq length)" 1
        cordon stop -k "$run" >/dev/null 2>&1
        is_free() { [ "$(cordon image ls --json | jq -r '.[0].in_use')" = false ]; }
        soon is_free
        has "$who: rm --all hints at prune" "$(cordon image rm --all 2>&1)" "cordon image prune --all"
        is "$who: then rm removes it" "$(cordon image rm "$id" 2>&1; cordon image ls)" ""
        is "$who: and its names" "$(find "$S/images" -name 'ref-*' | wc -l)" 0

        # Two at once, and a killed one.
        cordon image add "$m/tool" >/dev/null 2>&1 & first=$!
        cordon image add "$m/tool" >/dev/null 2>&1 & second=$!
        wait $first
        code=$?
        wait $second
        is "$who: two at once both succeed" "$code $?" "0 0"
        is "$who: and make one" "$(cordon image ls --json | jq length)" 1
        for delay in 0.01 0.03 0.06 0.1; do
                cordon image rm "$id" >/dev/null 2>&1
                setsid sh -c 'exec "$@"' sh env CORDON_STATE="$S" "$CORDON" image add "$m/tool" >/dev/null 2>&1 & pid=$!
                sleep "$delay"
                kill -9 $pid 2>/dev/null
                wait $pid 2>/dev/null
        done
        [ $who = root ] || [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 "$S"
        is "$who: after a kill the image is whole or not there" "$(cordon run -q --image "$m/tool" -- tool 2>&1)" "tool 1.0"
        cordon image prune >/dev/null
        is "$who: and nothing else is" "$(find "$S/images" -maxdepth 1 -name 'new*' | wc -l)" 0

        # An archive that changes is another image; what nothing leads to is pruned.
        cp "$m/tool" "$m/changing"
        cordon image add "$m/changing" >/dev/null 2>&1
        cp "$m/gzip" "$m/changing"
        is "$who: an archive that changed is unpacked again" "$(cordon run -q --image "$m/changing" -- pwd 2>&1)" /home/box
        is "$who: prune counts" "$(rm "$m/changing"; cordon image prune --json)" '{"removed":1}'
        cordon image prune --all >/dev/null
done
is "a mistyped path" "$("$CORDON" run --image "$T/nope.tar" -- true 2>&1)" "cordon: error: $T/nope.tar: No such file or directory"
mkdir "$T/plain" && echo 1 >"$T/plain/file" && tar -C "$T/plain" -cf "$T/plain.tar" .
has "a tar of a root directory has a hint" "$("$CORDON" run --image "$T/plain.tar" -- true 2>&1)" "tar -xf FILE -C root"
is "unknown words have a hint" "$(status "$CORDON" image pull x)" 125
has "with the right one" "$(cat "$T/err")" add
done_testing
