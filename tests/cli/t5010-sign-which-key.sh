#!/bin/sh
# A `sign ssh:COMMENT` door is one key: of two keys with that comment none is taken, and what the agent gets later is no key of the door.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
for p in ssh-agent ssh-add ssh-keygen; do
        command -v $p >/dev/null || { skip "$p" "it is not installed"; done_testing; }
done
cd "$T" || exit 1
CORDON_STATE=$T/state && export CORDON_STATE
for k in one two three; do ssh-keygen -q -t ed25519 -N '' -C both -f $k; done
print() { ssh-keygen -lf "$1.pub" | cut -d ' ' -f 2; }
ssh-keygen -q -t ed25519 -N '' -C "$(print one)" -f liar
eval "$(ssh-agent -a "$T/agent")" >/dev/null
# shellcheck disable=SC2154
trap 'code=$?; kill "$SSH_AGENT_PID"; remove "$T"; exit $code' EXIT
listed() { timeout 60 "$CORDON" run -q --sign "$1" -- ssh-add -l 2>/dev/null </dev/null | cut -d ' ' -f 2; }

ssh-add -q one two
is "two keys of one comment stop the start" "$(status "$CORDON" run --sign ssh:both -- true)" 125
for k in one two; do has "the message has the fingerprint of $k" "$(cat err)" "$(print $k)"; done
is "so does a policy file" "$(printf 'use base/system\nsign ssh:both\n' >p; status "$CORDON" run -p p -- true)" 125
for k in one two; do is "by its fingerprint $k is one key" "$(listed "ssh:$(print $k)")" "$(print $k)"; done
ssh-add -q -d two
is "one key of that comment starts" "$(listed ssh:both)" "$(print one)"

# while the box runs
mkdir d
timeout 60 "$CORDON" run -q --sign ssh:both --read d -- sh -c 'ssh-add -l; until [ -e d/go ]; do sleep 0.1; done; ssh-add -l' >said 2>&1 </dev/null &
run=$!
soon grep -q both said
ssh-add -q three
: >d/go
wait "$run"
is "a key that comes later is not the door's" "$(cut -d ' ' -f 2 said | sort -u)" "$(print one)"
ssh-add -q -d three

# comments that look like fingerprints
ssh-add -q liar
is "a comment is no fingerprint" "$(listed "ssh:$(print one)")" "$(print one)"
ssh-add -q -d one
is "also when the key is away" "$(status "$CORDON" run --sign "ssh:$(print one)" -- true)" 125

# a certificate of the key is the key
ssh-keygen -q -t ed25519 -N '' -C ca -f ca
for kind in ed25519 rsa ecdsa; do
        ssh-keygen -q -t $kind -N '' -C "c-$kind" -f "c-$kind" && ssh-keygen -q -s ca -I me -n root "c-$kind.pub" 2>/dev/null && ssh-add -q "c-$kind"
        is "with a certificate of $kind the agent has two entries" "$(ssh-add -l | grep -c "$(print "c-$kind")")" 2
        is "and the door of that comment one key" "$(listed "ssh:c-$kind" | sort -u)" "$(print "c-$kind")"
        is "by which the box has both" "$(listed "ssh:$(print "c-$kind")" | wc -l)" 2
done
done_testing
