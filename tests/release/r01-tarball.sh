#!/bin/sh
# The static tarball: every program in it is static, and the first box runs where nothing but a shell is installed, with any libc.
. "$(dirname "$0")/../cli/lib.sh"
cd "$CORDON_SOURCE" || exit 1
machine=$(uname -m)
ok "make dist makes it" make -s dist DIST="$T/dist"
ok "its digests are right" sh -c "cd $T/dist && sha256sum -c --quiet SHA256SUMS"
mkdir "$T/any" && tar -C "$T/any" -xzf "$T/dist/cordon-$machine.tar.gz"
is "it unpacks to one directory and one link" "$(find "$T/any" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | paste -s -d ' ')" "cordon cordon-$machine"
is "each program that cordon has is in it" "$(cd "$T/any/cordon-$machine/libexec/cordon" && find . -name 'cordon-*' -printf '%f\n' | sort | paste -s -d ' ')" \
        "$(cd "$CORDON_LIBEXEC" && find . -name 'cordon-*' ! -name cordon-bwrap -printf '%f\n' | sort | paste -s -d ' ')"
is "none needs a loader" "$(find "$T/any" -type f -exec sh -c 'readelf -lW "$1" 2>/dev/null | grep -q "program interpreter" && echo "$1"' _ {} \;)" ""
unset CORDON_LIBEXEC
for who in "" as_user; do
        chmod -R a+rX "$T" && chmod 755 "$T"
        is "${who:-root}: ./cordon run" "$(cd "$T/any" && $who ./cordon run -- echo hello 2>&1)" hello
done
ok "the attacks of breakout are held" sh -c "cd $T/any && ./cordon selftest breakout >$T/out 2>&1"
is "the ledger is signed" "$(cd "$T/any" && ./cordon ledger verify 2>&1 | tail -n 1)" "nothing that is sealed was changed, removed, reordered or added"
jq -r '.files[] | .checksums[1].checksumValue + "  " + .fileName' "$T/dist/cordon-$machine.spdx.json" >"$T/sums"
ok "the bill of materials names each program by its digest" sh -c "cd $T/any/cordon-$machine && sha256sum -c --quiet $T/sums && test \$(wc -l <$T/sums) -ge 12"
ok "and the packages that are linked" jq -e '[.packages[].name] | contains(["openssl", "zlib", "musl"])' "$T/dist/cordon-$machine.spdx.json"

# A step of a workflow: the doors and the script are the workflow's, cordon comes by its digest.
sum=$(sed -n "s,  ./cordon-$machine.tar.gz,,p" "$T/dist/SHA256SUMS")
step() { (mkdir -p "$T/runner" "$T/job" && cd "$T/job" && RUNNER_TEMP=$T/runner TARBALL=$T/dist/cordon-$machine.tar.gz SHA256=$1 DOORS='--edit .' SCRIPT=$2 sh "$CORDON_SOURCE/contrib/github/step" 2>&1); }
has "a step runs in a box" "$(step "$sum" 'cat /etc/shadow || echo in a box')" "in a box"
is "and not by another file" "$(step "$(echo x | sha256sum | cut -d ' ' -f 1)" 'echo ran' | grep -c -x ran)" 0

# A root with one static shell: no libc, no package.
root=$T/root
mkdir -p "$root/bin" "$root/usr/bin" "$root/proc" "$root/tmp" "$root/dev" "$root/etc"
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh cat echo; do ln -s busybox "$root/bin/$name"; ln -s ../../bin/busybox "$root/usr/bin/$name"; done
cp -r "$T/any/cordon" "$T/any/cordon-$machine" "$root/"
in_root() { unshare -m sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && cd "$1" && shift && exec chroot . "$@"' _ "$root" "$@"; }
if [ "$(id -u)" -eq 0 ] && in_root /bin/echo fine >/dev/null 2>&1; then
        is "a box in a root without any libc" "$(in_root ./cordon run --ledger off -- /bin/busybox echo hello 2>&1)" hello
else
        skip "a box in a root without any libc" "no other root can be entered here"
fi
done_testing
