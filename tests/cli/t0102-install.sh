#!/bin/sh
# `make install` into an empty tree: everything is there, belongs together, and a stranger can build against it.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
root() { "$@"; }
# Build directories that are not those under test: the prefix is theirs. checks/build looks at the same one for warnings, so
# it is locked; and at low priority, because others are timed beside this.
D=$T/tree B=$repo/build-gcc
mkdir -p "$B"
install() { flock "$B" nice -n 10 make -s -C "$repo" install BUILD=build-gcc SETUP="-Dwerror=true --buildtype=release -Dtests=false" "$@"; }
ok "make install succeeds" install DESTDIR="$D" PREFIX=/usr
[ "$FAILED" -eq 0 ] || done_testing # nothing to look at
lib=$(dirname "$(find "$D" -name libcordon.so)")
# there NAME PATH
there() { ok "$1 is installed" test -s "$2"; }
there "the program" "$D/usr/bin/cordon"
there "the header" "$D/usr/include/cordon.h"
there "the shared library" "$lib/libcordon.so.1"
there "the static library" "$lib/libcordon.a"
there "the pkg-config file" "$lib/pkgconfig/cordon.pc"
for page in "$repo"/man/*.[1-8]; do
        [ -f "$page" ] || continue
        section=${page##*.}
        there "$(basename "$page")" "$(find "$D/usr/share/man/man$section" -name "$(basename "$page")*" 2>/dev/null | head -n 1)"
done
for shell in bash zsh fish; do
        there "completion for $shell" "$(find "$D/usr/share" -path "*$shell*" -name '*cordon*' 2>/dev/null | head -n 1)"
done
is "nothing is installed outside the prefix" "$(cd "$D" && find . -mindepth 1 -maxdepth 1)" ./usr
is "nothing that belongs to the build or the tests is" "$(find "$D" -name 'libcordon-core*' -o -name 'test_*' -o -name 'risky-parser' -o -name parse-record)" ''
is "no file is writable by others" "$(find "$D" -type f -perm /022)" ''
is "no program is setuid or has capabilities" "$(find "$D" -type f -perm /6000; getcap -r "$D" 2>/dev/null)" ''
hasnt "the program is static: it needs no loader" "$(readelf -lW "$D/usr/bin/cordon")" 'Requesting program interpreter'
hasnt "the build directory is in no run path" "$(readelf -d "$lib/libcordon.so.1")" PATH
chmod -R a+rX "$T/tree"
for who in root as_user; do
        is "$who: the installed program runs a box" "$($who "$D/usr/bin/cordon" run -- echo hello 2>&1)" hello
done
# The programs that are started beside a box are found from there, with nothing that names them.
there "the ledger's program" "$D/usr/libexec/cordon/cordon-ledger"
is "which signs for the installed program" "$(unset CORDON_LIBEXEC; "$D/usr/bin/cordon" log verify | tail -n 1)" "nothing that is sealed was changed, removed, reordered or added"
there "the program of init" "$D/usr/libexec/cordon/cordon-init"
there "the attacks' program" "$D/usr/libexec/cordon/cordon-selftest"
is "which attacks for the installed program" "$(unset CORDON_LIBEXEC; "$D/usr/bin/cordon" selftest breakout --list | grep -c .)" "$("$CORDON" selftest breakout --list | grep -c .)"
hasnt "and is static" "$(readelf -lW "$D/usr/libexec/cordon/cordon-selftest")" 'Requesting program interpreter'
for program in egress vault; do
        layer=$([ $program = egress ] && echo "net broker" || echo vault)
        if [ -x "$CORDON_LIBEXEC/cordon-$program" ]; then
                there "cordon-$program" "$D/usr/libexec/cordon/cordon-$program"
                found=$(unset CORDON_LIBEXEC; "$D/usr/bin/cordon" doctor --json | jq -r --arg l "$layer" '.[] | select(.layer == $l) | .state + " " + .detail')
                has "and it is found" "$found" "$D/usr/bin/../libexec/cordon/cordon-$program "
                has "and works" "$found" "yes "
        else
                skip "cordon-$program is installed" "it is not built here: it needs OpenSSL"
        fi
done
version=$("$D/usr/bin/cordon" version)

# ---- a stranger builds against it ----
if command -v pkg-config >/dev/null; then
        PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$D
        export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
        is "pkg-config knows the version of the program" "cordon $(pkg-config --modversion cordon)" "$version"
        is "its prefix is the one that was asked for" "$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=prefix cordon)" /usr
        cp -r "$repo/examples/risky-parser" "$T/risky-parser"
        # PKG_CONFIG_ALLOW_SYSTEM_*: the tree is not the system's.
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
        export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS PKG_CONFIG_ALLOW_SYSTEM_LIBS
        out=$(cd / && unset BUILD && LD_LIBRARY_PATH=$lib sh "$T/risky-parser/run" 2>&1)
        is "an example compiles by pkg-config and runs" $? 0
        has "and its parser crashes in the box alone" "$out" 'the parser was killed by a signal (11); walls: namespace, probed from inside'
        # shellcheck disable=SC2046
        ok "it links statically, too" ${CC:-cc} -static -o "$T/static" "$T/risky-parser/risky-parser.c" $(pkg-config --static --cflags --libs cordon)
        ${CC:-cc} -o "$T/parse-record" "$T/risky-parser/parse-record.c"
        has "and works then" "$("$T/static" "$T/parse-record" "$T/risky-parser/good.txt" 2>&1)" 'record: world'
else
        skip "an example compiles by pkg-config and runs" "pkg-config is not installed"
fi

# ---- another prefix from the same build directories ----
touch "$T/now"
ok "another prefix needs no other build directory" install DESTDIR="$T/other" PREFIX=/opt/cordon
is "and compiles one file of the library and one of the program again" "$(find "$B" "$B-musl" -name '*.o' -newer "$T/now" | sed 's,.*/,,')" "src_base_host_program.c.o
src_base_host_program.c.o"
there "the program under the other prefix" "$T/other/opt/cordon/bin/cordon"
is "the pkg-config file names it" "$(sed -n 's/^prefix=//p' "$(find "$T/other" -name cordon.pc)")" /opt/cordon
done_testing
