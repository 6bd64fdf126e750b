#!/bin/sh
# The manifests of contrib/kubernetes without a cluster: kubectl decodes them by type (a wrong type fails, a field that it does not know is
# dropped), so every line of a manifest must come out again. tests/engines/podman.sh runs them as pods.
# shellcheck disable=SC1091,SC2016,SC2317
here=$(cd "$(dirname "$0")/../cli" && pwd)
. "$here/lib.sh"
cd "$T" || exit 1
command -v kubectl >/dev/null || { skip kubernetes "no kubectl: tools/deps engines installs it"; done_testing; }
manifests=${CORDON_SOURCE:-$here/../..}/contrib/kubernetes
decode() { HOME=$T KUBECONFIG=$T/none timeout 30 kubectl set image --local -f "$1" '*=checked' -o yaml; }
# lines FILE: its keys and scalars, one a line, in one spelling: without lists' dashes, quotes, comments and lists in one line
lines() { sed -e '/^ *#/d' -e 's/^[ -]*//' -e 's/"//g' -e '/image:/d' -e '/\[.*\]/d' -e '/^---/d' -e '/: {}$/d' -e '/^$/d' "$1" | sort -u; }
# An older kubectl does not know these.
known=$(kubectl version --client -o json 2>/dev/null | jq -r '.clientVersion.minor' | tr -dc 0-9)
new=' '
[ "${known:-0}" -ge 25 ] || new='^hostUsers:'
for f in "$manifests"/*.yaml; do
        file=$(basename "$f")
        # The last document has the pod; a ConfigMap before it has no image to set.
        awk '/^---/ { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }' "$f" >one.yaml
        is "$file decodes" "$(decode one.yaml >out.yaml 2>err; echo $?:"$(cat err)")" 0:
        lines one.yaml >wanted
        lines out.yaml >got
        is "$file: no field is unknown" "$(comm -23 wanted got | grep -v -E "$new")" ""
        sed 's/runAsUser: 1000/runAsUser: nobody/' one.yaml >wrong.yaml
        ok "$file: a wrong type is found" sh -c '! HOME=$1 KUBECONFIG=$1/none kubectl set image --local -f "$1/wrong.yaml" "*=checked" -o yaml' sh "$T"
        is "$file: no capability is added, none escalates" "$(grep -c -e 'privileged: true' -e ' add:' -e 'allowPrivilegeEscalation: true' -e 'hostPID' -e hostPath "$f"):$(grep -c 'allowPrivilegeEscalation: false' "$f")" 0:1
done
done_testing
