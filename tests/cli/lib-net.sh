# tests/cli/lib-net.sh - sourced by tests of `net` doors: runs the whole test again in namespaces of its own, with an internet
# of its own (helpers/net_lab.py) and its own resolv.conf, then gives:
#   lab_names         every name that the host's resolver was asked for so far
#   lab_packets       every flow that crossed the link to the outside so far
#   lab_anew          from here on: connections of before are not counted
#   trust_lab         from here on the host trusts the authority of the lab's servers (1: it has no file of roots)
#   LAB_ALSO          set to a directory of the test's own outside $T: it goes away too
#   LAB_NGINX         set before: an nginx.conf for 11.22.33.80, nginx.test
#   LAB_GRPC          set before: helpers/grpc_peer.py serves on the same address, ports 50051 (TLS) and 50052
#   LAB_AWS           set before: helpers/aws_peer.py, which checks signatures of AWS, serves there, ports 443 and 80
#   LAB_SSHD          set before: an sshd_config for the same address; its keys are $T/lab/host_key and $T/lab/authorized_keys
#   box WHO ARG...    cordon run as WHO (root, as_user) with --json in $T/json; output in $T/out, $T/err; status in $status
# shellcheck shell=sh
net_needs() {
        for program in python3 ip unshare jq curl openssl; do
                command -v "$program" >/dev/null || { skip "net doors" "$program is not installed"; done_testing; }
        done
}
if [ -z "${CORDON_LAB:-}" ]; then
        # Not yet inside: lib.sh was not sourced either.
        if [ "$(id -u)" -eq 0 ]; then how="-n -m" lab=root; else how="-U -r -n -m" lab=user; fi
        # shellcheck disable=SC2086
        if ! unshare $how true 2>/dev/null; then
                echo "ok 1 - net doors # SKIP this host does not let a test make namespaces"
                echo "1..1"
                exit 0
        fi
        # shellcheck disable=SC2086
        CORDON_LAB=$lab exec unshare $how sh "$0"
fi
. "${NET_LIB:-$(dirname "$0")}/lib.sh"
net_needs
mkdir "$T/lab" && mkfifo "$T/lab/stop"
printf 'nameserver 11.22.33.53\noptions timeout:10 attempts:1\n' >"$T/resolv.conf" # a busy machine may answer late
printf '127.0.0.1 localhost\n' >"$T/hosts"
printf 'hosts: files dns\n' >"$T/nsswitch.conf"
mount --bind "$T/resolv.conf" "$(readlink -f /etc/resolv.conf)" || { skip "net doors" "resolv.conf cannot be replaced here"; done_testing; }
mount --bind "$T/hosts" /etc/hosts
[ ! -e /etc/nsswitch.conf ] || mount --bind "$T/nsswitch.conf" /etc/nsswitch.conf
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=web.test -addext subjectAltName=DNS:web.test,DNS:six.test,DNS:api.github.test,DNS:nginx.test \
        -keyout "$T/lab/key.pem" -out "$T/lab/ca.pem" >/dev/null 2>&1
cat "$T/lab/key.pem" "$T/lab/ca.pem" >"$T/lab/cert.pem"
[ -z "${LAB_NGINX:-}" ] || printf '%s\n' "$LAB_NGINX" >"$T/lab/nginx.conf"
[ -z "${LAB_GRPC:-}" ] || cp "${NET_LIB:-$(dirname "$0")}/helpers/grpc_peer.py" "$T/lab/grpc_peer.py"
if [ -n "${LAB_SSHD:-}" ] && command -v ssh-keygen >/dev/null; then
        printf '%s\nHostKey %s/lab/host_key\nAuthorizedKeysFile %s/lab/authorized_keys\n' "$LAB_SSHD" "$T" "$T" >"$T/lab/sshd.conf" && ssh-keygen -q -t ed25519 -N '' -f "$T/lab/host_key"
fi
[ -z "${LAB_AWS:-}" ] || cp "${NET_LIB:-$(dirname "$0")}/helpers/aws_peer.py" "$T/lab/aws_peer.py"
python3 "${NET_LIB:-$(dirname "$0")}/helpers/net_lab.py" "$T/lab" <"$T/lab/stop" >"$T/lab/log" 2>&1 &
LAB=$!
exec 9>"$T/lab/stop"
# shellcheck disable=SC2154
trap 'code=$?; ${at_end-:}; exec 9>&-; wait $LAB 2>/dev/null; umount -l "$(readlink -f /etc/resolv.conf)" /etc/hosts /etc/nsswitch.conf 2>/dev/null; remove "$T" "${LAB_ALSO:-$T}"; exit $code' EXIT
soon test -e "$T/lab/ready" || { fail "the test's own internet stands" "$(cat "$T/lab/log")"; done_testing; }

lab_names() { sort -u "$T/lab/dns.log" 2>/dev/null; }
# The watcher may lag behind: a packet of our own marks the place up to which it has seen everything.
lab_drain() {
        mark=$(($(cat "$T/lab/mark" 2>/dev/null || echo 40000) + 1))
        echo $mark >"$T/lab/mark"
        tries=0
        until grep -q "^udp 11.22.33.53 $mark\$" "$T/lab/packets"; do
                # Again each time: one that finds its queue full is lost.
                bash -c "echo >/dev/udp/11.22.33.53/$mark" 2>/dev/null
                tries=$((tries + 1))
                [ $tries -lt 500 ] || { echo "the watcher of the link is deaf"; return; }
                sleep 0.02
        done
}
lab_packets() { lab_drain; sort -u "$T/lab/packets" | grep -v '^udp 11\.22\.33\.53 4[0-9]*$'; }
lab_anew() { lab_drain; : >"$T/lab/packets"; }
root() { "$@"; }
# One id is mapped here, and it is the user's; its second round begins with nothing, as another user's does.
[ "$CORDON_LAB" = root ] || as_user() { env CORDON_STATE="$T/state-user" "$@"; }
box() {
        who=$1
        shift
        : >"$T/status" && chmod 666 "$T/status"
        $who timeout 180 "$CORDON" run --status-fd 5 "$@" 5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&-
        status=$?
}
json() { jq -r "$1" <"$T/status" 2>&1; }
# The row of one destination or refusal: row TO VERDICT FIELD
row() { jq -r --arg to "$1" --arg v "$2" "[.net.destinations[] | select(.to == \$to and .verdict == \$v)] | if length == 0 then \"none\" else .[0].$3 end" <"$T/status" 2>&1; }
trust_lab() {
        for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
                [ -f "$f" ] || continue
                cat "$f" "$T/lab/ca.pem" >"$T/lab-roots"
                mount --bind "$T/lab-roots" "$(readlink -f "$f")" && return 0
        done
        return 1
}
