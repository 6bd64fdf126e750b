# shellcheck disable=SC2046
# A folder of src/ includes itself and lower layers only; the faces see cordon.h and base/, nothing else.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

check_layers() { # ROOT: prints each wrong include
        awk -v faces="face/cli face/front face/mcp face/oci face/serve selftest face/bwrap" '
        BEGIN { n = split(faces, f, " "); for (i = 1; i <= n; i++) face[f[i]] = 1 }
        FILENAME ~ /tools\/layers$/ { if ($0 !~ /^#/) { level++; for (i = 1; i <= NF; i++) layer[$i] = level } next }
        function folder_of(path, p, two) { # the longest that is a layer: wall/kinds before wall
                split(path, p, "/"); two = p[1] "/" p[2]
                return two in layer ? two : p[1]
        }
        FNR == 1 { folder = FILENAME; sub(/.*\/src\//, "", folder); folder = folder_of(folder)
                   if (!(folder in layer)) print FILENAME ": folder " folder " is not in tools/layers" }
        /^#include "/ {
                to = $2; gsub(/"/, "", to)
                if (to == "cordon.h") next
                t = folder_of(to); door = t; sub(/.*\//, "", door)
                if (!(t in layer)) print FILENAME ":" FNR ": unknown folder in " to
                else if (t != folder && layer[t] >= layer[folder]) print FILENAME ":" FNR ": " folder " includes " to
                else if (folder in face && t != folder && t != "base" && !(folder == "face/cli" && (t == "base/host" || t == "face/mcp" || t == "face/serve")) && !((folder == "face/front" || folder == "face/serve" || folder == "face/mcp") && (t == "broker/http1" || t == "face/front")) && !(folder == "selftest" && (t == "face/cli" || t == "face/serve"))) print FILENAME ":" FNR ": a face includes " to
                else if (t != folder && to != t "/" door ".h" && t != "base") print FILENAME ":" FNR ": past the door of " t ": " to
        }' tools/layers $(find "$1/src" -name "*.[ch]")
}
wrong=$(check_layers "$PWD")
is "every include goes down" "$wrong" ""

# The check itself can fail: a tree with four wrong files.
mkdir -p "$T/src/base" "$T/src/policy" "$T/src/wall/plan" "$T/src/nowhere"
echo '#include "policy/policy.h"' >"$T/src/base/up.c"
echo '#include "wall/plan/internal.h"' >"$T/src/policy/up.c"
echo '#include "policy/internal.h"' >"$T/src/wall/plan/past.c"
echo '#include "base/err.h"' >"$T/src/nowhere/x.c"
is "wrong includes are found, one in each file" "$(check_layers "$T" | sed 's/:.*//' | sort -u | wc -l)" 4
# The environment is the caller's: a face or a main() passes it down as a context. Hooks are in no program of ours.
reads_environment() { grep -vE '^src/(face|selftest)/|/main\.c$|^src/wall/hooks\.c$|^src/files/work/journal/crash_step\.c$' | xargs grep -nE '\b(secure_)?getenv *\(|\benviron\b'; }
is "only faces and main.c read the environment" "$(git ls-files 'src/*.[ch]' | reads_environment)" ""
echo 'const char *h = getenv("HOME");' >"$T/src/wall/plan/reads.c"
has "a file that reads it is found" "$(echo "$T/src/wall/plan/reads.c" | reads_environment)" HOME
# Code outside wall/ asks for features (wall_has) and names no kind of wall. `auto` is a word of policies.
kinds() { xargs grep -nE '\bWALL_(PROCESS|NAMESPACE|WASM|VM)\b'; }
is "no wall kind is named outside wall" "$(git ls-files 'src/*.[ch]' | grep -v '^src/wall/' | kinds)" ""
ok "the search finds them within" test "$(git ls-files 'src/wall/*.[ch]' | kinds | wc -l)" -gt 5
done_testing
