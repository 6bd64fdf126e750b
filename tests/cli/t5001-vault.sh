# Credentials in the vault: in by descriptor, file, command or variable; never out.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
if [ ! -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        skip "the vault" "cordon-vault is not built here: it needs OpenSSL"
        done_testing
fi
XDG_CONFIG_HOME=$T/config HOME=$T
export XDG_CONFIG_HOME HOME
secret=ghp_Q9zzSecretOfTheTestSuite0123456789

printf %s "$secret" | "$CORDON" vault add gh --env GITHUB_TOKEN --ttl 30d >"$T/out" 2>&1
is "add takes it from standard input" "$? $(cat "$T/out")" "0 "
printf '%s\n' "$secret" >"$T/file"
ok "from a file" "$CORDON" vault add by-file --from-file "$T/file" --header 'X-Api-Key: {}' --class test --max-uses 3
TOKEN=$secret "$CORDON" vault add by-env --from-env TOKEN --query key
is "from a variable" "$?" 0
ok "from a command" "$CORDON" vault add --from-command "cat $T/file" by-command --basic robot
printf %s "$secret" | "$CORDON" vault add --body in-body
is "for a body" "$?" 0
rm "$T/file"

out=$("$CORDON" vault ls)
has "list shows a binding" "$out" "header X-Api-Key: {}"
has "and the class" "$out" "by-file              test"
has "and how long" "$out" "30d"
hasnt "but no secret" "$out" "Q9zz"
if command -v jq >/dev/null; then
        is "list for programs" "$("$CORDON" vault ls --json | jq -r '[.[].name] | join(" ")')" "by-command by-env by-file gh in-body"
        is "with the binding" "$("$CORDON" vault ls --json | jq -r '.[] | select(.name == "by-command") | .where + " " + .field')" "basic robot"
else
        skip "list for programs" "jq is not installed"
fi
"$CORDON" vault add second <"$T/out" >"$T/none" 2>&1
is "an empty secret is refused" "$?" 125

# ---- where the secret is not ----
is "nothing under the state directory holds it" "$(grep -rla Q9zz "$T/state" "$T/config")" ""
b64=$(printf %s "$secret" | base64 | cut -c 5-25)
is "nor in base64" "$(grep -rlaF "$b64" "$T/state" "$T/config")" ""
is "only the owner may read it" "$(find "$T/state/vault" "$T/config/cordon" -perm /077)" ""
"$CORDON" vault add 2>"$T/err" extra "$secret"
is "an argument is no way in" "$?" 125

# ---- a program or a place that others can change ----
mkdir "$T/loose" && cp "$CORDON_LIBEXEC/cordon-vault" "$CORDON_LIBEXEC/cordon-review" "$T/loose/"
for mode in 775 757; do
        chmod $mode "$T/loose/cordon-vault"
        printf %s "$secret" | CORDON_LIBEXEC=$T/loose "$CORDON" vault add loose 2>"$T/err"
        is "a program with mode $mode is not started" "$? $(grep -c 'others can change it$' "$T/err")" "125 1"
done
chmod 755 "$T/loose/cordon-vault"
printf %s "$secret" | CORDON_LIBEXEC=$T/loose "$CORDON" vault add loose
is "with mode 755 it is" "$?" 0
"$CORDON" vault rm loose
for mode in 710 701 750; do
        chmod $mode "$T/state"
        "$CORDON" vault ls >"$T/out" 2>"$T/err"
        is "a state directory with mode $mode is refused" "$? $(grep -c 'chmod 700' "$T/err") $(wc -c <"$T/out")" "125 1 0"
done
chmod 700 "$T/state"

# ---- refusals, with the next thing to type ----
printf %s "$secret" | "$CORDON" vault add gh 2>"$T/err"
is "a second one of the same name is refused" "$?" 125
has "with a hint" "$(cat "$T/err")" "cordon vault rotate gh"
printf %s short | "$CORDON" vault add tiny 2>"$T/err"
has "a short secret is refused" "$(cat "$T/err")" "8 to 4096"
"$CORDON" vault add odd --from-command 'echo something-long; exit 3' 2>"$T/err"
is "a command that fails gives no secret" "$?" 125
for args in 'a/b' '.hidden' '--header nonsense x' '--header Host:{} x' '--query a&b x' '--class prod x' '--ttl 5 x' '--max-uses 0 x' \
        '--env 1X x' '--ttl 91d x' '--class test --ttl 366d x' '--for nonsense x' '--for api.test:443 x' '--protect magic x' '--query q --basic u x' '--from-env NOT_SET_ANYWHERE x' '--passphrase-fd 77 x'; do
        # shellcheck disable=SC2086
        printf %s "$secret" | "$CORDON" vault add $args >"$T/out" 2>"$T/err"
        is "vault add $args is refused" "$? $(grep -c 'cordon: error: ' "$T/err") $(grep -c "$secret" "$T/err")" "125 1 0"
done
"$CORDON" vault lst 2>"$T/err"
has "the nearest word is named" "$(cat "$T/err")" 'did you mean `vault ls`?'
"$CORDON" vault rm nothing 2>"$T/err"
is "rm of what is not there" "$?" 125
# Control characters and blanks, which a file of lines or a terminal would take for something else.
for file in 'a b' "$(printf 'a\tb')" "$(printf 'a\033b')" "$(printf 'a\303\251')"; do
        printf %s "$secret" | "$CORDON" vault add odd --box-file "$file" --form '{}' 2>"$T/err"
        is "a file of the box whose name is not plain is refused" "$? $(grep -c 'cordon: error:' "$T/err")" "125 1"
done
printf %s "$secret" | "$CORDON" vault add odd --box-file plain --form "$(printf '{}\033[2J')" 2>"$T/err"
is "and a form that is not plain" "$? $(grep -c 'cordon: error:' "$T/err")" "125 1"
printf %s "$secret" | "$CORDON" vault add odd --box-file plain --form '{}'
is "a plain one is not" "$?" 0
"$CORDON" vault rm odd
# A name with a way through a directory that somebody left there.
mkdir "$T/state/vault/c.a" && echo kept >"$T/state/victim"
"$CORDON" vault rm a/../../victim 2>"$T/err"
is "a name is no path: rm" "$? $(grep -c 'no credential of that name' "$T/err") $(cat "$T/state/victim")" "125 1 kept"
printf %s x | "$CORDON" vault rotate a/../c.gh 2>"$T/err"
is "a name is no path: rotate" "$? $(grep -c 'invalid credential name' "$T/err")" "125 1"
rmdir "$T/state/vault/c.a"

# ---- change and end ----
printf %s another-secret-for-it | "$CORDON" vault rotate gh
is "rotate" "$?" 0
# What a credential is for changes without its secret; everything else needs it.
sealed() { "$CORDON" vault ls --json | jq -c '.[] | select(.name == "gh") | [.expires, .for, .where, .env]'; }
was=$(sealed)
is "rotate --for without a secret" "$("$CORDON" vault rotate gh --for 'https://other.test/** GET' </dev/null 2>&1; echo $?)" 0
is "changes only that" "$(sealed | jq -c '.[1]') $(sealed | jq -c 'del(.[1])')" "[\"https://other.test/** GET\"] $(printf %s "$was" | jq -c 'del(.[1])')"
is "an empty pipe is no secret, and no reason to keep the old one" "$(: | "$CORDON" vault rotate gh --for 'https://third.test/** GET' 2>/dev/null; echo $?) $(sealed | jq -r '.[1][0]')" "125 https://other.test/** GET"
is "without --for a secret is needed" "$("$CORDON" vault rotate gh </dev/null 2>/dev/null; echo $?)" 125
is "with --ttl, too" "$("$CORDON" vault rotate gh --for 'https://third.test/** GET' --ttl 1h </dev/null 2>/dev/null; echo $?)" 125
is "of a credential that is not there" "$("$CORDON" vault rotate none --for 'https://third.test/** GET' </dev/null 2>/dev/null; echo $?)" 125
printf %s another-secret-for-it | "$CORDON" vault rotate gh --for 'https://api.test/** GET'
for o in '--env OTHER' '--header X:{}' '--body' '--max-uses 3' '--class test'; do
        # shellcheck disable=SC2086
        printf %s another-secret-for-it | "$CORDON" vault rotate gh $o 2>"$T/err"
        is "a rotation that would have to change where it stands is refused: $o" "$? $(grep -c 'has no option ' "$T/err")" "125 1"
done
for word in get show delete; do
        "$CORDON" vault "$word" gh 2>"$T/err"
        is "vault $word is answered with what there is" "$? $(grep -cE 'no command prints a secret|vault rm' "$T/err")" "125 1"
done
has "keeps the binding" "$("$CORDON" vault ls)" "GITHUB_TOKEN"
sed -i 's/"class":"test"/"class":"live"/' "$T/state/vault/c.by-file"
printf %s another-secret-for-it | "$CORDON" vault rotate by-file 2>"$T/err"
is "a binding that somebody changed does not open" "$? $(grep -c 'cannot decrypt' "$T/err")" "125 1"
ok "rm of two" "$CORDON" vault rm by-file by-env
hasnt "and they are gone" "$("$CORDON" vault ls)" "by-"env

has "an empty input is no secret" "$("$CORDON" vault add nothing 2>&1 </dev/null)" "empty secret"
# ---- lifetimes: each has one, no longer than its class may live, and what grows is owed ----
life() { "$CORDON" vault ls --json | jq -r --arg n "$1" '.[] | select(.name == $n) | .expires - .created | . / 3600 | floor'; }
if command -v jq >/dev/null; then
        is "a live one lives 90 days if nothing is said" "$(life in-body)" 2160
        has "and the list says so in days" "$("$CORDON" vault ls | grep "^in-body ")" " 90d "
        printf %s "$secret" | "$CORDON" vault add tester --class test
        is "a test one 365" "$(life tester)" 8760
        printf %s "$secret" | "$CORDON" vault add creeping --ttl 1h --for 'https://api.test/repos/** GET' --for '@mail/send POST'
        is "a rotation may change it" "$(for ttl in 2h 3h 4h; do printf %s "$secret" | "$CORDON" vault rotate creeping --ttl $ttl; life creeping; done | xargs)" "2 3 4"
        is "what it is for stays" "$("$CORDON" vault ls --json | jq -c '.[] | select(.name == "creeping") | .for')" '["https://api.test/repos/** GET","@mail/send POST"]'
        "$CORDON" vault audit >"$T/out" 2>&1
        is "three times longer is a debt, and audit says so by its status" "$? $(grep -c 'creeping: its lifetime grew at each of its last three rotations: 1h, 2h, 3h, 4h' "$T/out")" "1 1"
        is "with what to type" "$("$CORDON" vault audit --json | jq -r '.[] | select(.name == "creeping") | .debt + " " + .next_steps[0]')" "growth cordon vault rotate creeping --ttl 1h"
        is "one that is for nothing in particular is told" "$("$CORDON" vault audit --json | jq -r '.[] | select(.name == "tester") | .debt')" unbound
        printf %s "$secret" | "$CORDON" vault rotate creeping --ttl 91d 2>"$T/err"
        is "a rotation cannot pass the class either" "$? $(grep -c 'at most 90d (got 91d)' "$T/err")" "125 1"
        printf 'use none\nnet https://api.test/repos/** GET with creeping\nexpect deny read /etc\n' >"$T/p.cordon"
        has "check warns of growth" "$("$CORDON" check "$T/p.cordon")" "p.cordon:2:5: W130: the credential creeping: its lifetime grew"
        is "for programs, too" "$("$CORDON" check --json "$T/p.cordon" | jq -r '.[] | select(.code == "W130") | .level')" W
        # What would stop a run here and now is told ahead, with its door; nothing is opened for it either.
        told() { "$CORDON" check "$@" | sed -n 's/.*W133: this box cannot start on this host: //p'; }
        is "check: one that is here and for this door is well" "$(told "$T/p.cordon")" ""
        has "one of another class than the stage" "$(told --stage test "$T/p.cordon")" "credential creeping has class live and cannot be used in this stage"
        has "one that is not for this door" "$(told --net 'https://api.test/** GET with creeping')" "credential creeping is not bound to this door: net https://api.test/** GET"
        is "one that is not here, once however many doors name it" \
                "$(told --net 'https://api.test/a with nobodys' --net 'https://api.test/b with nobodys')" \
                'no credential named nobodys; cordon vault ls; cordon vault add nobodys'
        is "where nothing is reached none is needed" "$(told --stage mock --net 'https://api.test/a with nobodys')" ""
        # An entry of before, with no end: audit and check read it in the clear, nobody has to open it.
        cp "$T/state/vault/c.creeping" "$T/kept"
        sed -i '1s/"expires":[0-9]*/"expires":0/' "$T/state/vault/c.creeping"
        "$CORDON" check "$T/p.cordon" >"$T/out" 2>"$T/err"
        is "a lifetime over the class's fails the check" "$? $(grep -c 'E129: the credential creeping: it lives for ever, and class live may live 90d' "$T/err")" "125 1"
        has "with what to type" "$(cat "$T/err")" "cordon vault rotate creeping --ttl 90d"
        cp "$T/kept" "$T/state/vault/c.creeping"
        is "a rotation in step ends the debt" "$(printf %s "$secret" | "$CORDON" vault rotate creeping --ttl 1h; "$CORDON" vault audit --json | jq -r '[.[] | select(.debt == "growth")] | length')" 0
        sed -i '1s#/repos/#/#' "$T/state/vault/c.creeping"
        printf %s "$secret" | "$CORDON" vault rotate creeping 2>"$T/err"
        is "a scope that somebody widened does not open" "$? $(grep -c 'cannot decrypt' "$T/err")" "125 1"
        ok "rm of those" "$CORDON" vault rm creeping tester
        "$CORDON" check "$T/p.cordon" >"$T/out" 2>&1
        is "a credential that is not here is no fault of the policy" "$? $(grep -c 'W133.*no credential named creeping' "$T/out")" "0 1"
else
        skip "lifetimes" "jq is not installed"
fi

# ---- a passphrase ----
CORDON_STATE=$T/state2
export CORDON_STATE
echo 'correct horse' >"$T/pass"
printf %s "$secret" | "$CORDON" vault add gh --protect passphrase --passphrase-fd 9 9<"$T/pass"
is "a vault with a passphrase" "$?" 0
echo 'wrong horse' >"$T/wrong"
printf %s "$secret" | "$CORDON" vault add two --passphrase-fd 9 9<"$T/wrong" 2>"$T/err"
is "does not open with another" "$? $(grep -cE 'cannot (open|decrypt)' "$T/err")" "125 1"
printf %s "$secret" | setsid "$CORDON" vault add two 2>"$T/err"
has "and says how to give it without a terminal" "$(cat "$T/err")" "--passphrase-fd"
has "list needs none" "$("$CORDON" vault ls)" "gh"
if [ -x "$CORDON_LIBEXEC/cordon-egress" ] && "$CORDON" run -q --net 'https://web.test/**' -- true 2>/dev/null; then
        door='https://web.test/** GET with gh'
        setsid "$CORDON" run --net "$door" -- echo ran >"$T/out" 2>"$T/err" </dev/null
        is "a run without a terminal says how to give it" "$? $(cat "$T/out") $(grep -c -e '--passphrase-fd 9 9<' "$T/err")" "125  1"
        setsid "$CORDON" run -q --passphrase-fd 9 --net "$door" -- echo ran >"$T/out" 2>"$T/err" </dev/null 9<"$T/pass"
        is "and takes it like that" "$? $(cat "$T/out" "$T/err")" "0 ran"
        setsid "$CORDON" run -q --passphrase-fd 9 --net "$door" -- echo ran >"$T/out" 2>"$T/err" </dev/null 9<"$T/wrong"
        is "but not another" "$? $(cat "$T/out") $(grep -cE 'cannot (open|decrypt)' "$T/err")" "125  1"
        "$CORDON" run -q --passphrase-fd 99 --net "$door" -- echo ran >"$T/out" 2>&1
        has "a descriptor that is not open" "$? $(cat "$T/out")" "125 cordon: error: --passphrase-fd 99 is not a descriptor that is open for reading"
        setsid "$CORDON" run -q --passphrase-fd 9 --net "$door" -- sh -c 'ls -l /proc/self/fd; cat <&9' >"$T/out" 2>&1 </dev/null 9<"$T/pass"
        hasnt "the box has neither" "$(cat "$T/out")" horse
else
        skip "a run with a passphrase" "cordon-egress is not built here, or no box with a net door starts"
fi
# Whoever gives up at the question keeps a terminal that shows what is typed.
if cc -O1 -o "$T/term" "$(dirname "$0")/helpers/term.c" -lutil; then
        on() { script=$1; shift; printf '%b' "$script" | TERM=xterm "$T/term" 33 101 "$@" | tr -d '\r' >"$T/out"; }
        for key in 003 034 004; do
                on "expect passphrase\npause 200\nsend \\\\$key\nwait\n" "$CORDON" vault add gone
                has "key $key at the passphrase ends it" "$(cat "$T/out")" "STATUS 125"
                has "and the terminal is as before" "$(cat "$T/out")" COOKED
                on "expect passphrase\nsend correct horse\\\\n\nexpect secret\npause 200\nsend \\\\$key\nwait\n" "$CORDON" vault add gone
                has "key $key at the secret ends it" "$(cat "$T/out")" "STATUS 125"
                has "and the terminal is as before" "$(cat "$T/out")" COOKED
        done
        on 'expect passphrase\npause 200\nsend \\003\nwait\n' "$CORDON" run --net 'https://web.test/** GET with gh' -- echo ran
        hasnt "Ctrl-C at the passphrase of a run starts nothing" "$(cat "$T/out")" ran
        has "and the terminal is as before" "$(cat "$T/out")" COOKED
        on 'expect passphrase\npause 200\nsend \\032\\177correct horse\\n\nexpect secret\nsend typed-secret-1\\n\nwait\n' "$CORDON" vault add stopped
        has "Ctrl-Z does not stop it in the middle of a question" "$(cat "$T/out")" "STATUS 0"
        has "and the secret is there" "$("$CORDON" vault ls)" stopped
        has "and the terminal is as before" "$(cat "$T/out")" COOKED
        hasnt "what is typed is never shown" "$(cat "$T/out")" "typed-secret"
        hasnt "nothing half-made is there" "$("$CORDON" vault ls)" gone
        "$CORDON" vault rm stopped
else
        fail "the terminal compiles"
fi

# ---- a disk that is full when the first key is made ----
cat >"$T/full.sh" <<'END'
cordon=$1 at=$2
mkdir -m 700 "$at" && mount -t tmpfs -o size=4k,mode=700 full "$at" || exit 77
export XDG_CONFIG_HOME="$at" CORDON_STATE="$at-state"
head -c 4096 /dev/zero >"$at/full"
printf %s secret-of-the-test | "$cordon" vault add first
echo "$?, left: $(find "$at" -type f ! -name full)"
rm "$at/full"
printf %s secret-of-the-test | "$cordon" vault add first
echo "then $?"
END
how=-m
[ "$(id -u)" -eq 0 ] || how='-U -r -m'
# shellcheck disable=SC2086
unshare $how sh "$T/full.sh" "$CORDON" "$T/full" >"$T/out" 2>"$T/err"
if [ $? -eq 77 ]; then
        skip "where the disk is full" "this host does not let a test mount"
else
        has "where the disk is full there is no key file" "$(cat "$T/err")" "vault.key cannot be made: No space left on device"
        is "and nothing of it is left, which would stand in the way" "$(cat "$T/out")" "125, left: 
then 0"
fi

# ---- a call that fails ----
if strace -f -o /dev/null true 2>/dev/null; then
        CORDON_STATE=$T/faulty
        printf %s "$secret" | "$CORDON" vault add rotated
        cp "$T/faulty/vault/c.rotated" "$T/old"
        faulty() { CORDON_LEDGER=off timeout -k 1 60 strace -f -qq -o /dev/null -e trace="${1%%:*}" -e inject="$1" "$CORDON" vault "$2" "$3"; }
        printf %s "${secret}x" | faulty fsync:error=EIO:when=2 rotate rotated 2>"$T/err"
        is "a secret that did not come to the disk is not stored" "$? $(head -n 1 "$T/err")" "125 cordon: error: the credential rotated cannot be stored: Input/output error"
        ok "and the old one is still there" cmp "$T/old" "$T/faulty/vault/c.rotated"
        printf %s "$secret" | faulty fsync:error=EIO:when=2 add added 2>"$T/err"
        is "one that was not stored is not there" "$?:$(find "$T/faulty/vault" ! -name key ! -name c.rotated -type f)" "125:"
        faulty getdents64:error=EIO:when=1 list --json >"$T/out" 2>"$T/err"
        is "a list that cannot be read is not empty" "$?:$(grep -c 'the vault cannot be read: ' "$T/out")" 125:1
        CORDON_STATE=$T/state
else
        skip "a call of the vault's fails" "strace is not installed, or may not trace here"
fi

# ---- while it works: cordon-vault can be looked into by nobody, and its death ends the verb ----
# As an ordinary user: whatever belongs to root in /proc shows that it is not dumpable.
mkdir -m 700 "$T/user" && [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$T/user"
mkfifo -m 666 "$T/fifo"
chmod 666 "$T/fifo"
as_user "$T/cordon" vault add slow --key-file "$T/user/vault.key" <"$T/fifo" >"$T/out" 2>"$T/err" &
verb=$!
exec 8>"$T/fifo"
child=
found() { for p in $verb $(pgrep -P "$verb"); do child=$(pgrep -x -P "$p" cordon-vault) && return; done; return 1; }
closed() { [ "$(awk '/Max core/ { print $5, $6 }' "/proc/$child/limits")" = "0 0" ] && [ "$(stat -c %u "/proc/$child/environ")" = 0 ]; }
soon found && soon closed
is "its core would be empty" "$(awk '/Max core/ { print $5, $6 }' "/proc/$child/limits")" "0 0"
is "it is not dumpable: its /proc belongs to root" "$(stat -c %u "/proc/$child/environ" "/proc/$verb/environ" | head -n 1)" 0
ok "what can be dumped belongs to its user" test "$(as_user sh -c 'stat -c %u /proc/self/environ')" != 0 -o "$(id -u)" -ne 0
is "nothing but its name is in its arguments" "$(tr '\0' ' ' <"/proc/$child/cmdline")" "cordon-vault "
kill -9 "$child"
wait "$verb"
is "killed, it ends the verb at once" "$? $(grep -c 'ended before its work was done' "$T/err")" "125 1"
exec 8>&-
is "and no entry is left" "$(find "$T"/state-user/vault "$T"/state2/vault -name 'c.slow' 2>/dev/null)" ""
printf %s "$secret" | as_user "$T/cordon" vault add slow --key-file "$T/user/vault.key"
is "the next one works" "$?" 0
ok "and has its entry there" test -n "$(find "$T"/state-user/vault "$T"/state2/vault -name 'c.slow' 2>/dev/null)"
is "and leaves nothing half-written" "$(find "$T"/state-user/vault "$T"/state2/vault -name '.*' -type f 2>/dev/null)" ""

# ---- one that is removed while its next secret is read stays removed ----
gone() { env CORDON_STATE="$T/state-gone" XDG_CONFIG_HOME="$T/config-gone" timeout 30 "$CORDON" "$@"; }
printf %s "$secret" | gone vault add leaked
gone vault rotate leaked <"$T/fifo" >"$T/out" 2>"$T/err" &
verb=$!
exec 8>"$T/fifo"
printf %s "$secret" >&8
# It reads when it has opened its entry: none of this is left in the pipe then.
taken() { python3 -c 'import fcntl, struct, sys, termios; sys.exit(struct.unpack("i", fcntl.ioctl(8, termios.FIONREAD, bytes(4)))[0])'; }
soon taken
gone vault rm leaked
is "a credential is removed while it is rotated" "$?" 0
(trap '' PIPE; printf 9 >&8) 2>/dev/null
exec 8>&-
wait $verb
is "the rotation fails, and does not bring it back" "$? $(grep -c 'was removed meanwhile' "$T/err") $(ls -A "$T/state-gone/vault")" "125 1 key"
printf %s "$secret" | gone vault add leaked && printf %s "${secret}9" | gone vault rotate leaked
is "one that is there is rotated, and nothing beside it is left" "$? $(ls -A "$T/state-gone/vault" | tr '\n' ' ')" "0 c.leaked key "

# ---- a binding that is another one by the time the secret opens ----
if [ -x "$CORDON_LIBEXEC/cordon-egress" ]; then
        bound() { env CORDON_STATE="$T/state-bound" XDG_CONFIG_HOME="$T/config-bound" timeout 30 "$CORDON" "$@"; }
        printf %s "$secret" | bound vault add narrow --for 'https://web.test/repos/** GET'
        door='https://web.test/** GET with narrow'
        e=$T/state-bound/vault/c.narrow
        bound run -q --stage live --net "$door" -- echo ran >"$T/out" 2>"$T/err"
        is "what it is for binds" "$? $(cat "$T/out") $(grep -c 'is not bound to this door' "$T/err")" "125  1"
        mv "$e" "$T/good" && mkfifo -m 600 "$e"
        sed '1s/"for":\[[^]]*\]/"for":[]/' "$T/good" >"$T/forged"
        (timeout 20 cat "$T/forged" >"$e"; sleep 1; timeout 20 cat "$T/good" >"$e") &
        writer=$!
        bound run -q --stage live --net "$door" -- echo ran >"$T/out" 2>"$T/err"
        is "and what counts is what the secret is sealed with, not what was read before" "$? $(cat "$T/out") $(grep -c 'is not bound to this door' "$T/err")" "125  1"
        wait "$writer"
        rm "$e" && mv "$T/good" "$e"
else
        skip "what it is for binds" "cordon-egress is not built here"
fi

# ---- as an ordinary user ----
if [ "$(id -u)" -eq 0 ]; then
        has "an ordinary user has a vault of their own" "$(as_user "$T/cordon" vault list)" "slow"
        as_user env CORDON_STATE="$T/state" "$T/cordon" vault list >"$T/out" 2>&1
        is "but not another's" "$?" 125
fi
"$CORDON_LIBEXEC/cordon-vault" 2>"$T/err"
is "by itself cordon-vault does nothing" "$? $(grep -c 'cordon vault add' "$T/err")" "125 1"
done_testing
