# Static analysis: gcc -fanalyzer, cppcheck, clang-tidy. What they find is an error.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
flags="-std=gnu17 -D_GNU_SOURCE -DCORDON_VERSION='\"0\"' -Isrc -Iinclude -I${BUILD:-build}/src"

# Left out: the two files that only special builds compile, with options that are not set here. wall/hooks.c
# breaks a start on purpose (tests/hooked); cli/heap.c is the allocator itself (-Dprogram_only). And the code of the other machine.
case $(uname -m) in x86_64) other=aarch64 ;; *) other=x86_64 ;; esac
sources() {
        git ls-files 'src/*.c' | grep -v -e '^src/wall/hooks\.c$' -e '^src/face/cli/heap\.c$' -e "^src/wall/wasm/compile/$other/"
}
# What was analysed before is not analysed again: a file that expands to the same text, comments included, for the same
# tools, gets the same answer. The memory is the user's own, ten thousand names of empty files; without it all are analysed.
memory=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/cordon-analyse
(umask 077 && mkdir -p "$memory") 2>/dev/null && [ -O "$memory" ] || memory=
tools=$({ gcc --version; cppcheck --version; clang-tidy --version; cat .clang-tidy "$0"; } 2>&1 | sha256sum | cut -c1-16)
name() { # FILES...: for each its name in the memory, and the file
        for f; do
                echo "$({ echo "$tools $f" && eval "gcc $flags -E -dD -C -P \"\$f\""; } 2>/dev/null | sha256sum | cut -c1-40) $f"
        done
}
sources >"$T/sources"
if [ -n "$memory" ]; then
        # shellcheck disable=SC2046
        name $(cat "$T/sources") >"$T/names"
        find "$memory" -type f -mtime +30 -delete
        while read -r n f; do [ -e "$memory/$n" ] || echo "$f"; done <"$T/names" >"$T/sources"
fi
echo "# $(wc -l <"$T/sources") of $(sources | wc -l) files changed since they were last analysed"
# Two cores: files go through in two streams.
each() { # COMMAND: runs it on every source, two at a time, and prints what they said
        xargs -r -P 2 -n 6 sh -c "$1" _ <"$T/sources" 2>&1
}
is "gcc -fanalyzer finds nothing" "$(each "for f; do gcc $flags -O1 -fanalyzer -Wno-analyzer-fd-leak -c -o /dev/null \"\$f\"; done" | grep -E '(warning|error):' | head -n 20)" ""
if command -v cppcheck >/dev/null; then
        is "cppcheck finds nothing" "$([ ! -s "$T/sources" ] || cppcheck -q -j 2 --std=c11 --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem -D__x86_64__ -D_GNU_SOURCE -Isrc -Iinclude --file-list="$T/sources" 2>&1 | head -n 20)" ""
else
        skip "cppcheck finds nothing" "cppcheck is not installed"
fi
if command -v clang-tidy >/dev/null; then
        is "clang-tidy finds nothing" "$(each "clang-tidy --quiet \"\$@\" -- $flags" | grep -E 'warning:|error:' | head -n 20)" ""
else
        skip "clang-tidy finds nothing" "clang-tidy is not installed"
fi
if [ -n "$memory" ] && [ "$FAILED" -eq 0 ] && command -v cppcheck clang-tidy >/dev/null; then
        (cd "$memory" && cut -d' ' -f1 "$T/names" | xargs -r touch)
fi
done_testing
