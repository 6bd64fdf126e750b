# Static analysis: gcc -fanalyzer, cppcheck, clang-tidy. What they find is an error.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
flags="-std=gnu17 -D_GNU_SOURCE -DCORDON_VERSION='\"0\"' -Isrc -Iinclude -I${BUILD:-build}/src"

# Left out: the two files that only special builds compile, with options that are not set here. wall/hooks.c
# breaks a start on purpose (tests/hooked); cli/heap.c is the allocator itself (-Dprogram_only). And the code of the other machine.
case $(uname -m) in x86_64) other=aarch64 ;; *) other=x86_64 ;; esac
sources() {
        git ls-files 'src/*.c' | grep -v -e '^src/wall/hooks\.c$' -e '^src/cli/heap\.c$' -e "^src/wasm/compile/$other/"
}
# Two cores: files go through in two streams.
each() { # COMMAND: runs it on every source, two at a time, and prints what they said
        sources | xargs -P 2 -n 6 sh -c "$1" _ 2>&1
}
is "gcc -fanalyzer finds nothing" "$(each "for f; do gcc $flags -O1 -fanalyzer -Wno-analyzer-fd-leak -c -o /dev/null \"\$f\"; done" | grep -E '(warning|error):' | head -n 20)" ""
if command -v cppcheck >/dev/null; then
        is "cppcheck finds nothing" "$(sources | cppcheck -q -j 2 --std=c11 --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem -D__x86_64__ -D_GNU_SOURCE -Isrc -Iinclude --file-list=- 2>&1 | head -n 20)" ""
else
        skip "cppcheck finds nothing" "cppcheck is not installed"
fi
if command -v clang-tidy >/dev/null; then
        is "clang-tidy finds nothing" "$(each "clang-tidy --quiet \"\$@\" -- $flags" | grep -E 'warning:|error:' | head -n 20)" ""
else
        skip "clang-tidy finds nothing" "clang-tidy is not installed"
fi
done_testing
