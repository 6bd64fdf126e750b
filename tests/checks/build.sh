# Other compilers and the other architecture: no warning in any. Sanitizers: the unit tests under ASan and UBSan.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

build() { # DIR OPTIONS...: sets up and builds; warnings are errors
        dir=$1
        shift
        { [ -f "$dir/build.ninja" ] || meson setup "$dir" -Dwerror=true "$@"; } >"$T/log" 2>&1 && ninja -C "$dir" >>"$T/log" 2>&1
}
check() { # NAME DIR OPTIONS...
        name=$1
        shift
        if build "$@"; then pass "$name"; else fail "$name" "$(grep -E "(error|warning):" "$T/log" | head -n 20)"; fi
}

check "gcc: no warning" build-gcc --buildtype=release
if command -v clang >/dev/null; then
        CC=clang check "clang: no warning" build-clang --buildtype=release
        CC=clang check "clang with ASan and UBSan: no warning" build-asan -Db_sanitize=address,undefined -Db_lundef=false
        for t in build-asan/tests/unit/test_* build-asan/tests/fuzz/replay_*; do
                [ -f "$t" ] && [ -x "$t" ] || continue
                case $t in *seccomp_live* | *limit_janitor*) continue ;; esac # sanitizers make calls that filters refuse
                if "$t" >"$T/asan" 2>&1; then pass "$(basename "$t") under ASan and UBSan"; else
                        fail "$(basename "$t") under ASan and UBSan" "$(grep -E 'ERROR|runtime error|not ok|^# ' "$T/asan" | head -n 20)"
                fi
        done
        export ASAN_OPTIONS=detect_leaks=1
        is "a box started by a sanitized cordon" "$(build-asan/src/cli/cordon run -- echo hello 2>&1)" "hello"
        is "views by a sanitized cordon" "$(build-asan/src/cli/cordon doors >/dev/null 2>&1 && echo fine)" "fine"
else
        skip "clang: no warning" "clang is not installed"
fi
case $(uname -m) in x86_64) other=aarch64 ;; *) other=x86_64 ;; esac
if command -v $other-linux-gnu-gcc >/dev/null; then
        check "$other: no warning" "build-$other" --cross-file "tools/cross-$other.ini" --buildtype=release
        has "$other: the program is for it" "$(file -b "build-$other/src/cli/cordon" 2>/dev/null || readelf -h "build-$other/src/cli/cordon")" "$([ $other = aarch64 ] && echo 64 || echo X86-64)"
else
        skip "$other: no warning" "$other-linux-gnu-gcc is not installed"
fi
done_testing
