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
        # SC1091: lib.sh is not followed; SC2154: its variables come from there.
        # shellcheck disable=SC2046
        shellcheck -S warning -s sh -e SC1091,SC2154,SC2034 $(git ls-files 'tests/*.sh' tests/run tools/deps tools/fuzz bench/run 'examples/*/demo') >"$T/sc" 2>&1
        is "scripts pass shellcheck" "$(head -n 40 "$T/sc")" ""
else
        skip "scripts pass shellcheck" "shellcheck is not installed"
fi
is "no file of src is over 800 lines" "$(wc -l src/*/*.c | awk '$1 > 800 && $2 != "total" { print $2 }')" ""
is "no function of src is over 80 lines" "$(awk '/^\{/ { start = FNR } /^\}$/ { if (FNR - start > 80) print FILENAME ":" start }' src/*/*.c)" ""
is "no banned call" "$(grep -nE '\b(system|popen|atoi|strcpy|strcat|sprintf|gets|strtok)\(' src/*/*.c | grep -v '_r(')" ""
done_testing
