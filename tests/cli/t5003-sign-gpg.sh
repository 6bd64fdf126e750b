#!/bin/sh
# `sign gpg:` and `decrypt gpg:` doors: gpg in a box works with a key of a real gpg-agent outside, and with nothing else of it.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
for p in gpg gpg-agent gpg-connect-agent; do
        command -v $p >/dev/null || { skip "$p" "it is not installed"; done_testing; }
done
cd "$T" || exit 1
# The path of a socket is short.
GNUPGHOME=$(mktemp -d /tmp/cg.XXXXXX) && CORDON_STATE=$T/state && export CORDON_STATE GNUPGHOME
# shellcheck disable=SC2154
trap 'code=$?; gpgconf --kill gpg-agent; remove "$T" "$GNUPGHOME"; exit $code' EXIT
make() { gpg --batch --quiet --passphrase '' "$@" 2>/dev/null; }
make --quick-gen-key 'Alice <alice@test>' ed25519 sign never
print=$(gpg -K --with-colons 2>/dev/null | awk -F: '/^fpr/ { print $10; exit }')
make --quick-add-key "$print" cv25519 encr never
grips=$(gpg -K --with-colons 2>/dev/null | awk -F: '/^grp/ { print $10 }')
sign=$(echo "$grips" | head -n 1) && decrypt=$(echo "$grips" | tail -n 1)
echo data >m && echo secret | gpg -q --trust-model always -e -r alice@test >s 2>/dev/null
# Where the home of gpg is not the default one and /run/user is there, its sockets are below that: not found by cordon.
[ -S "$GNUPGHOME/S.gpg-agent" ] || { skip "a gpg-agent" "it does not listen in its home"; done_testing; }
box() { timeout 60 "$CORDON" run -q --read "$GNUPGHOME/pubring.kbx" "$@" </dev/null 2>&1; }
talk() { # COMMAND...: what the agent in the box answers
        box --sign "gpg:$sign" -- gpg-connect-agent "$@" /bye
}

box --sign "gpg:$sign" --read m -- sh -c 'cp m ~ && cd && gpg -q --armor --detach-sign m && cat m.asc' >m.asc
has "what it signed verifies outside" "$(gpg --verify m.asc m 2>&1)" "Good signature"
shown=$("$CORDON" ledger show)
has "the ledger has it, with the hash" "$shown" "gpg:$sign: signature of the data with hash"
has "and that it was done" "$shown" ": done"
if command -v git >/dev/null; then
        mkdir repo && git init -q repo && box --sign "gpg:$sign" --write repo -- sh -c '
                git config --global user.name A && git config --global user.email alice@test && git config --global user.signingkey '"$print"' &&
                cd '"$T"'/repo && echo x >f && git add f && git commit -q -S -m one' >said
        has "git in the box signs a commit with the key outside" "UG" "$(git -c safe.directory='*' -C repo log --format=%G? -1)"
else
        skip "git" "it is not installed"
fi
has "a sign door does not decrypt" "$(box --sign "gpg:$sign" --read s -- gpg -d s)" "decryption failed"
is "a decrypt door does" "$(box --decrypt "gpg:$decrypt" --read s -- sh -c 'gpg -d s 2>/dev/null')" secret
has "which is recorded" "$("$CORDON" ledger show)" "gpg:$decrypt: decryption of"
hasnt "and does not sign" "$(box --decrypt "gpg:$decrypt" --read m -- sh -c 'cp m ~; cd; gpg -q --armor --detach-sign m; cat m.asc')" "BEGIN PGP"

for c in "GENKEY" "EXPORT_KEY $sign" "IMPORT_KEY" "KEYWRAP_KEY --export" "DELETE_KEY $sign" "PASSWD $sign" "PRESET_PASSPHRASE $sign -1" "GET_PASSPHRASE x" "CLEAR_PASSPHRASE x" "GETVAL a" \
        "PUTVAL a b" "KILLAGENT" "RELOADAGENT" "UPDATESTARTUPTTY" "GET_CONFIRMATION x" "LEARN" "GETEVENTCOUNTER" "XYZ"; do
        has "it is not permitted: ${c%% *}" "$(talk "$c")" "ERR 67109115"
done
has "each is told" "$(talk KILLAGENT >/dev/null; "$CORDON" ledger show)" "gpg-agent: end the agent"
has "another key is not there" "$(talk "SIGKEY $decrypt")" "ERR 67108881"
has "nor listed" "$(talk "HAVEKEY $decrypt")" "ERR 67108881"
has "a hash of the wrong length is none" "$(talk "SIGKEY $sign" "SETHASH 8 00")" "ERR 67109144"
has "nothing signs without a hash" "$(talk "SIGKEY $sign" PKSIGN)" "ERR 67109144"
long=$(printf '%01200d' 0)
is "a line too long ends the connection" "$(box --sign "gpg:$sign" -- python3 -c '
import socket; s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect("/run/cordon/gpg-agent"); s.recv(99); s.sendall(b"NOP '"$long"'")
try: print(s.recv(99))
except ConnectionError: print(bytes())')" "b''"
is "in one piece or in many" "$(box --sign "gpg:$sign" -- python3 -c '
import socket; s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect("/run/cordon/gpg-agent"); s.recv(99)
for b in b"NOP\nNOP\nHAVEKEY '"$sign"'\n": s.sendall(bytes([b]))
got = b""
while got.count(b"\n") < 3: got += s.recv(99)
print(got)')" "b'OK\\nOK\\nOK\\n'"
is "\`max\` ends it" "$(box --sign "gpg:$sign max 1" --read m -- sh -c 'cp m ~; cd; for i in 1 2; do gpg -q -o m.$i --detach-sign m && echo yes; done 2>/dev/null')" yes
is "a key that the agent does not have stops the start" "$(status "$CORDON" run --sign gpg:0000000000000000000000000000000000000000 -- true)" 125
has "with what to do" "$(cat err)" "with-keygrip"
is "so does no agent" "$(GNUPGHOME=$T/none status "$CORDON" run --sign "gpg:$sign" -- true)" 125
ok "the agent outside lives, with its keys" gpg-connect-agent "HAVEKEY $sign" /bye

# ---- a session ----
timeout 60 "$CORDON" session new gpg-$$ --read "$GNUPGHOME/pubring.kbx" --read "$T/s" --read "$T/m" --sign "gpg:$sign" --decrypt "gpg:$decrypt" >out 2>&1
is "a session has both doors" "$?" 0
for i in 1 2; do
        is "run $i of it decrypts" "$(timeout 60 "$CORDON" session run gpg-$$ -- gpg -q -d "$T/s" </dev/null 2>err)" secret
done
timeout 60 "$CORDON" session run gpg-$$ -- gpg -q --armor --detach-sign -o - "$T/m" </dev/null >m.asc 2>err
has "and signs" "$(gpg --verify m.asc m 2>&1)" "Good signature"
ok "it ends" timeout 60 "$CORDON" session end gpg-$$
done_testing
