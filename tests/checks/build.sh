# Other compilers and the other architecture: no warning in any. Sanitizers: the unit tests under ASan and UBSan.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

# By ccache where it is installed, which repeats the warnings too; a compiler that is named to meson is not used by it otherwise.
[ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH

build() { # DIR OPTIONS...: sets up and builds; warnings are errors
        dir=$1
        shift
        mkdir -p "$dir"
        # Locked, because t0102 installs from one of them.
        flock "$dir" sh -c 'd=$1; shift; { [ -f "$d/build.ninja" ] || meson setup "$d" -Dwerror=true "$@"; } && ninja -C "$d"' _ "$dir" "$@" >"$T/log" 2>&1
}
check() { # NAME DIR OPTIONS...
        name=$1
        shift
        if build "$@"; then pass "$name"; else fail "$name" "$(grep -E "(error|warning):" "$T/log" | head -n 20)"; fi
}

if command -v clang >/dev/null; then
        # One build for clang's warnings and for the sanitizers. Not optimised: it compiles four times as fast, and nothing
        # undefined is optimised away before it is seen.
        CC=clang check "clang with ASan and UBSan: no warning" build-asan --buildtype=debug -Db_sanitize=address,undefined -Db_lundef=false
        # On aarch64 looking for leaks takes three seconds at the end of every process: there those look that read what strangers
        # send, and two tests are left out whose programs cannot be told not to, because they start with no variables.
        leaks='*' slow=
        case $(uname -m) in aarch64) leaks='*/replay_*' slow='test_vault test_ledger_verify' ;; esac
        # Two at a time; those that count control groups one by one. Left out: sanitizers make calls that filters refuse.
        for t in build-asan/tests/unit/test_* build-asan/tests/fuzz/replay_*; do
                case " $slow wall_seccomp_live limit_janitor " in *" ${t##*/test_} "* | *" ${t##*/} "*) continue ;; esac
                [ ! -f "$t" ] || [ ! -x "$t" ] || echo "$t"
        done >"$T/tests"
        ok "there are tests to run under ASan and UBSan" test "$(wc -l <"$T/tests")" -ge 60
        mkdir -p "$T/build-asan/tests/unit" "$T/build-asan/tests/fuzz"
        # Else what C leaves undefined is a line on the standard error of a test that passes.
        export UBSAN_OPTIONS=halt_on_error=1 TEST_SHORT=1
        for lanes in "2 -v" "1 -e"; do
                # shellcheck disable=SC2086
                grep ${lanes#* } /test_limit "$T/tests" | xargs -P ${lanes% *} -I % sh -c '
                        case $1 in $3) ;; *) export ASAN_OPTIONS=detect_leaks=0 ;; esac
                        "$1" >"$2.said" 2>&1; echo $? >"$2.status"' _ % "$T/%" "$leaks"
        done
        while read -r t; do
                if [ "$(cat "$T/$t.status")" = 0 ]; then pass "$(basename "$t") under ASan and UBSan"; else
                        fail "$(basename "$t") under ASan and UBSan" "$(grep -E 'ERROR|runtime error|not ok|^# ' "$T/$t.said" | head -n 20)"
                fi
        done <"$T/tests"
        for t in $slow; do skip "$t under ASan and UBSan" "its programs would look for leaks, for minutes on this machine"; done
        export ASAN_OPTIONS=detect_leaks=1
        is "a box started by a sanitized cordon" "$(build-asan/src/face/cli/cordon run -- echo hello 2>&1)" "hello"
        is "views by a sanitized cordon" "$(build-asan/src/face/cli/cordon doors >/dev/null 2>&1 && echo fine)" "fine"
else
        skip "clang with ASan and UBSan: no warning" "clang is not installed"
fi
case $(uname -m) in x86_64) other=aarch64 ;; *) other=x86_64 ;; esac
if command -v $other-linux-gnu-gcc >/dev/null; then
        check "$other: no warning" "build-$other" --cross-file "tools/cross-$other.ini" --buildtype=plain -Doptimization=2
        has "$other: the program is for it" "$(readelf -h "build-$other/src/face/cli/cordon" | grep Machine:)" "$([ $other = aarch64 ] && echo AArch64 || echo X86-64)"
else
        skip "$other: no warning" "$other-linux-gnu-gcc is not installed"
fi

# The compiler of the wasm wall writes other code there. For all of the core test suite: TEST_CROSS_SPEC=1, a minute.
: "${BUILD:=build}"
emulated() { # COMMAND...: in the build for the other architecture
        program=$1
        shift
        timeout 300 qemu-$other-static -L /usr/$other-linux-gnu "build-$other/tests/unit/$program" "$@"
}
same=
for i in 1 2 3 4; do # as in t2021
        command -v qemu-$other-static wasm-opt python3 >/dev/null && [ -x "build-$other/tests/unit/wasm_dump" ] || break
        python3 -c 'import random, sys; r = random.Random(int(sys.argv[1])); sys.stdout.buffer.write(r.randbytes(4000))' $i >"$T/in"
        wasm-opt "$T/in" -ttf --denan --enable-nontrapping-float-to-int --enable-bulk-memory --enable-simd -o "$T/m.wasm" >/dev/null 2>&1
        "$BUILD/tests/unit/wasm_dump" --exact "$T/m.wasm" >"$T/exact" 2>&1
        emulated wasm_dump --compiler "$T/m.wasm" >"$T/compiled" 2>&1
        if cmp -s "$T/exact" "$T/compiled"; then same="$same same"; else same="$same $i"; fi
done
if [ -z "$same" ]; then
        skip "$other: compiled modules give what the interpreter gives" "qemu-$other-static, wasm-opt or the build for $other is not there"
else
        is "$other: compiled modules give what the interpreter gives" "$same" " same same same same"
        ok "$other: the tests of the compiler pass" emulated test_wasm_compile
fi
suite=${TEST_SUITES:-../shared/suites}/wasm-spec.tar.xz
if [ -n "${TEST_CROSS_SPEC-}" ] && [ -n "$same" ] && tar -xJf "$suite" -C "$T"; then
        is "$other: the compiler passes the core test suite" "$(emulated wasm_spec --compiler "$T"/wasm-spec/*/*.json 2>&1 | tail -n 1)" \
                "52804 passed, 0 failed, 1077 of the text format"
fi
# Last: t0102, which installs from it, has mostly built it by now.
# Without the tests: gcc sees them in the build for the other architecture.
check "gcc: no warning" build-gcc --buildtype=release -Dtests=false
done_testing
