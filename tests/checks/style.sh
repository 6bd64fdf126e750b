# shellcheck disable=SC2046 # no name of a source has a blank
# Formatting by the repository's own rules; scripts by shellcheck; functions stay readable.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
if command -v clang-format >/dev/null; then
        git ls-files 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' 'examples/*.[ch]' >"$T/sources"
        ok "there are files to look at" test "$(wc -l <"$T/sources")" -gt 300
        xargs -P 2 -n 40 clang-format --dry-run -Werror <"$T/sources" 2>&1 | sed -n 's/^\([^ :]*\):.*/\1/p' | sort -u >"$T/unformatted"
        is "every file is formatted (clang-format -i FILE)" "$(cat "$T/unformatted")" ""
else
        skip "every file is formatted" "clang-format is not installed"
fi
if command -v shellcheck >/dev/null; then
        # SC1091: lib.sh is not followed; SC2154: its variables come from there; SC2046: names of our files have no blanks.
        # shellcheck disable=SC2046
        shellcheck -S warning -s sh -e SC1091,SC2154,SC2034,SC2046 $(git ls-files 'tests/*.sh' tests/run tools/deps tools/fuzz bench/run 'examples/*/demo') >"$T/sc" 2>&1
        is "scripts pass shellcheck" "$(head -n 40 "$T/sc")" ""
else
        skip "scripts pass shellcheck" "shellcheck is not installed"
fi
is "no file of src is over 800 lines" "$(git ls-files "src/*.c" | xargs wc -l | awk '$1 > 800 && $2 != "total" { print $2 }')" ""
is "no function of src is over 80 lines" "$(awk '/^\{/ { start = FNR } /^\}$/ { if (FNR - start > 80) print FILENAME ":" start }' $(git ls-files "src/*.c"))" ""
# A name finds one file.
twice() { sed 's,.*/,,' | grep -vxE 'main\.c|internal\.h|meson\.build' | sort | uniq -d; }
is "no file name stands twice in src" "$(git ls-files 'src/*.[ch]' | twice)" ""
is "a name that stands twice is found" "$(printf 'src/a/x.c\nsrc/b/x.c\nsrc/a/main.c\nsrc/b/main.c\n' | twice)" "x.c"
is "no banned call" "$(grep -nE '\b(system|popen|atoi|strcpy|strcat|sprintf|gets|strtok)\(' $(git ls-files "src/*.c") | grep -v '_r(')" ""
done_testing
