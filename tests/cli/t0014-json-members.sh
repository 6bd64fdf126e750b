#!/bin/sh
# Every member of what a verb says with --json stands in its page of the manual, or in the page that this one names for it.
. "$(dirname "$0")/lib.sh"
man=$CORDON_SOURCE/man
c=$CORDON
XDG_CONFIG_HOME=$T/config
export XDG_CONFIG_HOME
mkdir -m 700 "$XDG_CONFIG_HOME"
# told NAME PAGES FILTER COMMAND...: of the JSON that the command says, through the filter, no member is missing in these pages.
who=
told() {
        name=$1 pages=$2 filter=$3 missing=
        shift 3
        $who "$c" "$@" 2>"$T/err" | jq "$filter" >"$T/json"
        for m in $(jq -rn '[inputs | .. | objects | keys[]] | unique[]' "$T/json"); do
                found=
                for page in $pages; do grep -hE '^\.(It )?(Li|Pq)' "$man/$page" | grep -qw -- "$m" && found=1; done
                [ -n "$found" ] || missing="$missing $m"
        done
        jq -en '[inputs | .. | objects | keys[]] != []' "$T/json" >/dev/null || missing=" it has none: $(cat "$T/err")"
        is "every member of $name stands in ${pages%% *}" "$missing" ""
}
mkdir "$T/w" "$T/w/p" && cd "$T/w" || exit 1
echo one >p/file && echo two >p/gone && mkdir p/dir && echo three >p/dir/moved
printf 'box job\nuse base/system\nread {work}/p {work}/other?\nnet https://api.example.com/** GET until 2099-01-01\nexpect deny read {home}\n' >job.cordon
printf 'place api live https://api.example.com/\nplace api test https://test.example.com/\n' >places

told doors cordon-doors.1 'del(.policy)' doors --json job.cordon
told "doors with places" cordon-doors.1 'del(.policy)' doors --json --stage test --places places --net '@api/** GET'
told check cordon-policy-check.1 . check --json --read "$T/w" --env API_TOKEN=x
told "check of what does not hold" cordon-policy-check.1 . check --json --net nonsense
told "why not" cordon-why.1 . why --json read /etc/shadow
told "why not, beside a door" cordon-why.1 . why --json --read /usr write /usr/new
told "why, by a door" cordon-why.1 . why --json run no-such-program
told "why, by what every box has" cordon-why.1 . why --json write /tmp/new
told "why, through a place" cordon-why.1 . why --json --stage test --places places --net '@api/** GET' net GET https://api.example.com/x
told "policy diff" cordon-policy.1 . policy diff --json job.cordon base/system
told advise cordon-policy-new.1 . policy new --json resize an image
told doctor cordon-doctor.1 . doctor --json
told walls cordon-selftest-walls.1 . selftest walls -n 1 --json
who=
told bombs cordon-selftest-bombs.1 . selftest bombs --json fork
told breakout cordon-selftest-breakout.1 . selftest breakout --json --only "no key can be added"
told claims cordon-selftest-claims.1 . selftest claims --json

# Layers: something added, changed, deleted, moved, linked, flagged; with a name that is not UTF-8.
"$c" run -q --edit p -- sh -c 'cd p; echo more >>file; rm gone; mv dir/moved there; ln file second; ln -s /etc out; printf "\0" >"$(printf "odd\377")"; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit'
told diff cordon-diff.1 . diff --json
has "which has a name in hex" "$("$c" diff --json)" '"path_hex":"6f6464ff"'
told "diff --list" cordon-diff.1 . diff --list --json
told apply "cordon-apply.1 cordon-diff.1" . apply --json
told undo "cordon-undo.1 cordon-apply.1 cordon-diff.1" . undo --json
echo other >p/file
told "apply of what is in the way" "cordon-apply.1 cordon-diff.1" . apply --json
told "apply that fails" "cordon-apply.1 cordon-diff.1" . apply --json nosuch
told discard "cordon-discard.1 cordon-apply.1 cordon-diff.1" . discard --json --yes

# The state of what a killed run left.
"$c" run -q --edit p -- sh -c 'cd p; echo x >new; mkdir -p .git/hooks; echo x >.git/hooks/pre-push; echo READY; sleep 60' >"$T/ready" 2>&1 &
keeper=$!
soon grep -q READY "$T/ready"
kill -9 $keeper
wait $keeper 2>/dev/null
state=running
for _ in $(seq 200); do [ "$state" = running ] || break; sleep 0.1; state=$("$c" diff --list --json | jq -r '.[0].state'); done
is "a layer says that its run was killed" "$state" killed
is "and waits from then on" "$("$c" diff --list --json | jq -r '.[0].state')" waiting
"$c" discard --yes >/dev/null 2>&1

# The ledger, and what is made of it.
for _ in 1 2 3; do "$c" run --observe all -p job.cordon -- cat p/file /etc/shadow "$T/w/job.cordon" >/dev/null 2>&1; done
told diagnose cordon-policy-fit.1 . policy fit --json job.cordon
told learn cordon-learn.1 . learn -n 1 --json -- cat p/file
told tighten cordon-learn.1 . policy tighten -n 1 --json -p job.cordon -- cat p/file
id=$("$c" log --json --kind end | jq -r .id | tail -n 1)
told log cordon-ledger.5 'del(.more)' ledger --json
told trace cordon-ledger-trace.1 'map(del(.record) + {record: 0})' log trace --json "$id"
told verify cordon-ledger-verify.1 . ledger verify --json
"$c" log proof "$id" >proof
told "verify --proof" cordon-ledger-verify.1 . log verify --json --proof proof
told "log --ledger" cordon-ledger.1 'del(.record) + {record: 0}' log --json --from "$CORDON_STATE"

printf 'a secret of the tests' | tr ' ' _ | "$c" vault add key --env KEY
told "vault list" cordon-vault.1 . vault list --json
told "vault audit" cordon-vault.1 . vault audit --json
"$c" run -d --name "members-$$" -- sleep 60 >/dev/null
told ps cordon-ps.1 . ps --json
told inspect cordon-ps.1 . ps --json "members-$$"
"$c" stop -k "members-$$"
done_testing
