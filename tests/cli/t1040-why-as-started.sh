#!/bin/sh
# `cordon why` knows what a start would make: the labels that files carry, the image below the doors, the private directory
# around a file behind a `write` door, and doors whose bytes nobody reads. Each answer is compared with a box, or with the
# door that a run has.
. "$(dirname "$0")/lib.sh"
elsewhere cordon-why-started
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
cd "$T" || exit 1 # a question about a path below {work} is one about the host's file
code() { "$CORDON" why --json "$@" 2>"$T/err" | sed 's/^{"effect":"[^"]*","answer":"\([a-z]*\)","code":"\([a-z-]*\)".*/\1 \2/'; }

# ---- labels that files carry ----
export CORDON_STATE="$T/state"
mkdir "$T/docs" && echo text >"$T/docs/mail" && echo text >"$T/plain"
"$CORDON" label add "$T/docs/mail" private:mail >"$T/log" 2>&1
out='net https://out.example/** GET'
printf 'read %s\n%s\n' "$T/plain" "$out" >"$T/p"
is "a run with a plain file searches" "$(code -p "$T/p" net GET https://out.example/)" "allow covered"
for door in "read $T/docs/mail" "read $T/docs" "edit $T/docs" "write $T/docs/mail"; do
        printf '%s\n%s\n' "$door" "$out" >"$T/p"
        is "${door%% *} of a labelled file, or of what holds one, keeps it in" "$(code -p "$T/p" net GET https://out.example/)" "deny label-secrecy"
done
has "and why says what it holds" "$("$CORDON" why -p "$T/p" net GET https://out.example/)" "the run holds private:mail: from its start"
printf 'rule touch\nread %s\n%s\n' "$T/docs" "$out" >"$T/p"
is "with rule touch it begins without" "$(code -p "$T/p" net GET https://out.example/)" "allow covered"
has "and may come to hold it" "$("$CORDON" why -p "$T/p" net GET https://out.example/)" "while  the run holds private:mail: refused"
is "an index that is broken stops the answer" "$(echo '{' >>"$T/state/labels/index"; status "$CORDON" why -p "$T/p" net GET https://out.example/)" 125
rm -rf "$T/state"

# ---- doors whose bytes nobody reads ----
printf 'net https://mail.example/** GET label untrusted\nnet git.example:443\n' >"$T/p"
is "a request in bytes that nobody reads asks as the bytes do" \
        "$(code -p "$T/p" net GET https://git.example/ after untrusted) $(code -p "$T/p" net git.example:443 after untrusted)" "ask covered ask covered" # label-action
is "also when the run begins so" "$(printf 'env KEY=1 label untrusted\nnet git.example:443\n' >"$T/p"; code -p "$T/p" net GET https://git.example/)" "ask covered"

# ---- writes beside a file behind a `write` door ----
# Each answer is held against a box: `allow` and the write works, or `deny` and it does not.
agree() { # OPTIONS PATH...
        opts=$1 wrong=
        shift
        for at; do
                # shellcheck disable=SC2086
                said=$(code $opts write "$at")
                # shellcheck disable=SC2086
                did=$("$CORDON" run -q $opts -- sh -c "echo x >>$at && echo WROTE" 2>/dev/null)
                case ${said%% *}$did in allowWROTE | deny) ;; *) wrong="$wrong $at: $said, ${did:-refused}" ;; esac
        done
        is "why and a box agree: $(echo "$opts" | sed "s|$D/||g")" "$wrong" ""
}
chmod 755 "$D" && mkdir -p "$D/d/sub" "$D/e" && echo 1 >"$D/d/f" && echo 2 >"$D/d/s" && echo 3 >"$D/d/sub/y" && ln -s d "$D/l"
chmod -R a+rwX "$D/d" "$D/e"
set -- "$D/d/f" "$D/d/new" "$D/d/s" "$D/d/sub/x" "$D/d/sub/y" "$D/l/f" "$D/l/new" "$D/e/x" "$D/top"
for o in "--write $D/d/f" "--write $D/d/made" "--write $D/l/f" "--write $D/d/f?" "--write $D/d/f --read $D/d/sub" \
        "--write $D/d/f --read $D/d/sub/y" "--write $D/d/f --write $D/d/sub/y" "--write $D/d/f --read $D" "--edit $D/d/f" "--read $D/d/f"; do
        agree "$o" "$@"
done

# ---- an image ----
busybox=$(command -v busybox) && file -L "$busybox" | grep -q static || {
        skip "an image" "no static busybox (package busybox-static)"
        done_testing
}
r=$D/root
mkdir -p "$r/bin" "$r/etc" "$r/usr/bin" "$r/opt/app" "$r/var/tmp"
cp "$busybox" "$r/bin/busybox" && cp "$busybox" "$r/opt/sh" && ln -s ../../bin/busybox "$r/usr/bin/env" && ln -s usr/bin "$r/ubin"
ln -s busybox "$r/bin/sh" && ln -s busybox "$r/bin/test"
echo root:x:0:0:root:/root:/bin/sh >"$r/etc/passwd" && echo x >"$r/etc/os-release" && echo x >"$r/opt/app/f"
printf '#!/bin/sh\n' >"$r/entry" && printf '#!/no/such\n' >"$r/bin/broken" && chmod 755 "$r/entry" "$r/bin/broken" && echo x >"$r/bin/plain"
printf 'root %s\nuse base/strict\n' "$r" >"$T/strict"
judge() { # OPTIONS WORD PATH...
        opts=$1 word=$2 wrong=
        shift 2
        for at; do
                case $word in
                read) try="[ -e $at ] && echo OK" ;;
                write) try="echo >>$at && echo OK" ;;
                run) try="$at -c : && echo OK" ;;
                esac
                # shellcheck disable=SC2086
                said=$(code $opts "$word" "$at")
                # shellcheck disable=SC2086
                did=$("$CORDON" run -q $opts -- sh -c "$try" 2>/dev/null)
                case ${said%% *}$did in allowOK | deny) ;; *) wrong="$wrong $at: $said, ${did:-refused}" ;; esac
        done
        is "$word: why and a box agree: $(echo "$opts" | sed "s|$D/||g;s|$T/||g")" "$wrong" ""
}
for o in "--image $r" "-p $T/strict" "--image $r --read $D/d" "-p $T/strict --read $D/d" "--image $r --write $D/d/f"; do
        judge "$o" read /etc/os-release /etc/passwd /etc/hosts /etc/nsswitch.conf /etc/resolv.conf /etc/shadow /usr /usr/bin/env /usr/share "$D/d/f" /opt/app/f
        judge "$o" write /etc/os-release /etc/passwd /usr/new /usr/none/x /new /opt/app/f /ubin/new /tmp/x "$D/d/f" "$D/d/new"
        judge "$o" run sh /bin/sh /opt/sh /entry /bin/broken /bin/plain broken /bin/none none /usr/bin/python3
done
is "a program whose interpreter the image lacks: that is the gap" "$("$CORDON" why --json --image "$r" run /bin/broken | sed 's/.*"opens":"\([^"]*\)".*/\1/')" /no/such
is "no line lets a program run that the image lacks" "$("$CORDON" why --json --image "$r" run none | grep -c '"next_steps":\[\]')" 1
is "of an image that is not there nothing is said" "$(status "$CORDON" why --image "$D/none" read /etc/os-release)" 125
is "and what does not depend on it is" "$(status "$CORDON" why --image "$D/none" env HOME)" 0
done_testing
