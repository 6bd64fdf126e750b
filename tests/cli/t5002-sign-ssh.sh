#!/bin/sh
# `sign ssh:` doors: one key of a real ssh-agent signs for a box, which gets neither the key nor anything else of the agent.
# shellcheck disable=SC2016,SC2086
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
for p in ssh-agent ssh-add ssh-keygen; do
        command -v $p >/dev/null || { skip "$p" "it is not installed"; done_testing; }
done
cd "$T" || exit 1
CORDON_STATE=$T/state && export CORDON_STATE
cp "$here/helpers/agent_client.py" "$T/client.py" && chmod 644 "$T/client.py"
ssh-keygen -q -t ed25519 -N '' -C alice@laptop -f k && ssh-keygen -q -t ed25519 -N '' -C other -f k2
eval "$(ssh-agent -a "$T/agent")" >/dev/null
# shellcheck disable=SC2154
trap 'code=$?; kill "$SSH_AGENT_PID"; remove "$T"; exit $code' EXIT
ssh-add -q k k2
print=$(ssh-keygen -lf k.pub | cut -d ' ' -f 2) && other=$(ssh-keygen -lf k2.pub | cut -d ' ' -f 2)
echo data >m && printf 'alice %s\n' "$(cat k.pub)" >signers
# box ARGUMENT...: both streams of a run
box() { timeout 60 "$CORDON" run -q "$@" </dev/null 2>&1; }
client() { box --sign "$1" --read client.py -- sh -c 'python3 client.py "$SSH_AUTH_SOCK" "$@"' sh $2; }

# ---- what works ----
is "the box sees the key of the door alone" "$(box --sign ssh:alice@laptop -- ssh-add -l | cut -d ' ' -f 2,3)" "$print alice@laptop"
is "by its fingerprint too" "$(box --sign "ssh:$print" -- ssh-add -l | wc -l)" 1
is "and of two doors both" "$(box --sign ssh:alice@laptop --sign ssh:other -- ssh-add -l | wc -l)" 2
"$CORDON" run --sign ssh:alice@laptop --read k.pub --read m -- sh -c 'cp k.pub m ~ && cd && ssh-keygen -q -Y sign -n git -f k.pub m && cat m.sig' >m.sig 2>err
ok "what it signed verifies outside" sh -c 'ssh-keygen -Y verify -f signers -I alice -n git -s m.sig <m'
shown=$("$CORDON" ledger show)
has "the ledger has it, with what it was for" "$shown" "ssh:$print: signature for \"git\""
has "and that it was done" "$shown" ": done"
ok "the ledger verifies" "$CORDON" ledger verify
if command -v git >/dev/null; then
        mkdir repo && git init -q repo && box --sign ssh:alice@laptop --read k.pub --write repo -- sh -c '
                git config --global user.name A && git config --global user.email a@b && git config --global gpg.format ssh &&
                git config --global user.signingkey '"$T"'/k.pub && cd '"$T"'/repo && echo x >f && git add f && git commit -q -S -m one' >said
        is "git in the box signs a commit with the key outside" "$(git -c safe.directory='*' -c gpg.ssh.allowedSignersFile="$T/signers" -c gpg.format=ssh -C repo log --format=%G? -1)" G
else
        skip "git" "it is not installed"
fi
is "a login is read as one" "$(client ssh:alice@laptop login)" 14
has "with its user and session" "$("$CORDON" ledger show)" 'login as "root" for ssh-connection'

# ---- what does not ----
blob=$(cut -d ' ' -f 2 k2.pub | base64 -d | od -An -tx1 | tr -d ' \n')
is "a key that no door names does not sign" "$(client ssh:alice@laptop "foreign $blob")" 5
"$CORDON" run --status-fd 5 --sign ssh:alice@laptop --read client.py -- sh -c 'python3 client.py "$SSH_AUTH_SOCK" foreign '"$blob"'; exit 1' >/dev/null 2>&1 5>result
is "which is told with the line that permits it" "$(jq -r '.denials[] | select(.effect == "sign" or .kind == "sign" or .code == "sign") | .permit // .line' result)" "sign ssh:$other"
is "nothing but list and sign is answered" "$(client ssh:alice@laptop kinds)" "{5}"
is "and the agent has its keys still" "$(ssh-add -l | wc -l)" 2
has "each is told" "$("$CORDON" ledger show)" "ssh-agent: remove all keys"
for row in "oversize closed" "zero closed" "fragments 12" "pipeline 200" "unread waits" "bind 5 1" "leave 14" "crowd 12"; do
        is "a hostile client: ${row%% *}" "$(client ssh:alice@laptop "${row%% *}")" "${row#* }"
done
is "a hostile client: lengths that lie" "$(client ssh:alice@laptop inner | sort -u)" closed
is "\`max\` ends it" "$(client 'ssh:alice@laptop max 3' 'many 2000')" "3 1997"
is "limit effects too" "$(box --sign ssh:alice@laptop --limit 'effects 5' --read client.py -- sh -c 'python3 client.py "$SSH_AUTH_SOCK" many 20')" "5 15"
is "a key that the agent does not have stops the start" "$(status "$CORDON" run --sign ssh:nobody -- true)" 125
has "with what to do" "$(cat err)" "ssh-add -l"
is "so does an agent that is not there" "$(SSH_AUTH_SOCK=$T/none status "$CORDON" run --sign ssh:other -- true)" 125
is "without the door there is no agent" "$(box -- sh -c 'ssh-add -l; echo "${SSH_AUTH_SOCK-none}"' | tail -n 1)" none
is "the process wall refuses it" "$(status "$CORDON" run --wall process --sign ssh:other -- true)" 125
for wrong in ssh: other ssh:SHA256:x gpg:12 "ssh:a b"; do
        is "no door: sign $wrong" "$(status "$CORDON" run --sign "$wrong" -- true)" 125
done
is "sock ssh-agent is no door" "$(status "$CORDON" run --sock ssh-agent -- true)" 125
has "but a hint" "$(cat err)" "sign ssh:KEY"

# ---- in a session ----
S=sign-$$
in_s() { timeout 60 "$CORDON" session run "$S" -- "$@" 2>&1 </dev/null; }
timeout 60 "$CORDON" session new "$S" --sign 'ssh:alice@laptop max 2' --read client.py >/dev/null
has "a command of a session is told what its agent denies" "$(in_s ssh-add -D)" "blocked: ssh-agent: remove all keys"
has "\`max\` counts in the whole session" "$(in_s sh -c 'python3 client.py "$SSH_AUTH_SOCK" many 1'; in_s sh -c 'python3 client.py "$SSH_AUTH_SOCK" many 2; exit 1')" "blocked: sign ssh:$print"
timeout 60 "$CORDON" session end "$S" 2>/dev/null

# ---- ask ----
(timeout 60 "$CORDON" run --sign 'ssh:alice@laptop ask' --read client.py -- sh -c 'python3 client.py "$SSH_AUTH_SOCK" many 2' >asked 2>asked.err </dev/null) &
soon sh -c '[ "$(python3 "$1" items | jq ".items | length")" = 1 ]' _ "$here/helpers/approver.py"
python3 "$here/helpers/approver.py" view >shown
has "with \`ask\` a person is shown key and bytes" "$(cat shown)" "ssh:$print (alice@laptop)"
is "says yes" "$(python3 "$here/helpers/approver.py" --tty yes "challenge=\"$(jq -r .item.id shown | tail -c 5)\"" | jq -r .state)" approved
soon sh -c '[ "$(python3 "$1" items | jq ".items | length")" = 1 ]' _ "$here/helpers/approver.py"
python3 "$here/helpers/approver.py" no >/dev/null
wait
is "or no, each time" "$(cat asked)" "1 1"
done_testing
