#!/bin/sh
# Where AppArmor restricts user namespaces: the profile of `make install` covers the programs that make them and parses, the script
# that installs it leaves alone what it must, and a start that is denied names the command that allows it.
# shellcheck disable=SC2016,SC2034
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
repo=$here/../..
sed 's,@BINDIR@,/opt/my tools/bin,; s,@LIBEXECDIR@,/opt/my tools/libexec,' "$repo/contrib/apparmor/cordon.in" >profile
ok "the paths of the profile are quoted" grep -q '"/opt/my tools/bin/cordon{,-bwrap}"' profile
parse() { apparmor_parser --skip-kernel-load --skip-cache "$1"; }
if ! command -v apparmor_parser >/dev/null; then
        skip "the profile parses" "apparmor is not installed"
elif [ -e /etc/apparmor.d/abi/4.0 ]; then
        ok "the profile parses" parse profile
else
        sed '/^abi/d; /^ *userns,/d' profile >older
        ok "the profile parses, less what this parser is too old for" parse older
        skip "the rule userns parses" "apparmor_parser is older than 4.0"
fi

# The script: not for a package, not for a host without AppArmor, not for a parser that does not know the rule.
mkdir -p prefix/share bin sys/apparmor && echo 'syntax error' >prefix/share/profile
printf '#!/bin/sh\necho "$@" >>%s/parsed\nexit 1\n' "$T" >bin/apparmor_parser && chmod 755 bin/apparmor_parser
load() { env MESON_INSTALL_PREFIX="$T/prefix" PATH="$T/bin:$PATH" "$@" sh "$repo/contrib/apparmor/load" share/profile; }
before=$(cksum /etc/apparmor.d/cordon 2>&1)
ok "a package's installation loads nothing" load DESTDIR=/somewhere SECURITYFS="$T/sys"
ok "nor one to a host without AppArmor" load SECURITYFS="$T/none"
is "and the parser was not asked" "$(cat parsed 2>/dev/null)" ''
if [ "$(id -u)" -eq 0 ]; then
        load SECURITYFS="$T/sys" >said 2>&1
        is "an older parser is no error" "$?:$(grep -c 'does not know the rule userns' said)" 0:1
else
        skip "an older parser is no error" "only root installs for all"
fi
is "the host's profile is what it was" "$(cksum /etc/apparmor.d/cordon 2>&1)" "$before"

# A host that restricts them, as far as a test can make one: the setting, and a filter that denies namespaces.
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
        skip "a start that is denied names the command" "no setting of the kernel can be covered here"
        done_testing
fi
compile container
restricted() {
        unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel && cd /proc/sys/kernel
                echo 1 >apparmor_restrict_unprivileged_userns && cd "$1" && chmod a+rx . && shift && exec setpriv --reuid 65533 --regid 65533 --clear-groups \
                env HOME=/nonexistent CORDON_STATE="$CORDON_STATE-user" ./container "$@"' sh "$T" "$@" 2>&1 </dev/null
}
exe=$(readlink -f "$CORDON")
out=$(restricted "$CORDON" run --wall namespace -- echo RAN)
has "a start that is denied says so" "$out" "does not let us make namespaces"
case $exe in
*["%{}[]*?\\'\""]*) has "with the setting to change" "$out" "hint: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" ;;
*) if [ -e /etc/apparmor.d/cordon ] || [ ${#exe} -gt 60 ]; then
        has "with a command that allows it" "$out" "hint: "
else
        has "with the profile that allows it" "$out" "profile cordon \"$exe{,-bwrap}\" flags=(unconfined) { userns, }"
fi ;;
esac
has "doctor has the same" "$(restricted "$CORDON" doctor)" "AppArmor restricts user namespaces for this program"
done_testing
