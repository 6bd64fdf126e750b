#!/bin/sh
# Debian's packages: built from a fresh clone, without errors of lintian, installed in a root of their own, tried as autopkgtest would, as
# root and as an ordinary user, and removed: nothing is left.
. "$(dirname "$0")/../cli/lib.sh"
cd "$CORDON_SOURCE" || exit 1
command -v dpkg-buildpackage lintian debootstrap >/dev/null || { skip "Debian's packages" "dpkg-dev, lintian or debootstrap is not installed" && done_testing; }
git clone -q . "$T/cordon"
ok "dpkg-buildpackage" sh -c "cd $T/cordon && dpkg-buildpackage -us -uc >$T/log 2>&1"
is "lintian finds no error" "$(lintian --fail-on none "$T"/*.changes 2>/dev/null | grep '^E:')" ""
ok "the symbols of libcordon are the stated ones" test -s "$T/cordon/debian/libcordon1.symbols"
hasnt "none is missing or new" "$(cat "$T/log")" "dpkg-gensymbols: warning"
R=$T/root
if [ "$(id -u)" -ne 0 ] || ! debootstrap --variant=minbase --include=ca-certificates,gcc,libc6-dev,pkgconf,python3,jq bookworm "$R" >"$T/log" 2>&1; then
        skip "the packages install" "no fresh root can be made here: $(tail -n 1 "$T/log")" && done_testing
fi
cp "$T"/*.deb "$T/cordon/debian/tests/smoke" "$R/tmp/"
in_root() { unshare -m -p -f --kill-child sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" && exec chroot "$@"' _ "$R" "$@"; }
(cd "$R" && find . -xdev \( -path ./var -o -path ./tmp -o -path ./proc -o -path ./root \) -prune -o -print | sort) >"$T/before"
ok "they install" in_root sh -c 'dpkg -i /tmp/*.deb' >"$T/log" 2>&1
ok "the smoke test passes as root" in_root sh /tmp/smoke
ok "and as an ordinary user" in_root setpriv --reuid=1234 --regid=1234 --clear-groups env HOME=/tmp sh /tmp/smoke
ok "they are removed" in_root dpkg --purge python3-cordon libcordon-dev libcordon1 cordon-serve cordon >"$T/log" 2>&1
is "and nothing is left" "$(cd "$R" && find . -xdev \( -path ./var -o -path ./tmp -o -path ./proc -o -path ./root \) -prune -o -print | sort | diff "$T/before" - | grep '^[<>]')" ""
done_testing
