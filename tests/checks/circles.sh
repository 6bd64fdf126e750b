# Within src/ no two files need each other, straight or around others: every folder can be read from the ground up.
# Asked of the objects, so that it is about what is called, not about what is included. And what one file alone needs is static.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"

needs() { # DIR: "FILE FILE" a line: the first calls the second. A name that several programs define is none of these.
        find "$1" -name '*.c.o' ! -path '*/tests/*' ! -path '*/examples/*' | sort >"$T/objects"
        xargs nm -A <"$T/objects" | awk '
        { file = $1; sub(/:.*/, "", file); kind = $(NF - 1); name = $NF }
        kind ~ /^[TDBRVC]$/ { if (name in of && of[name] != file) several[name] = 1; of[name] = file }
        kind == "U" { asks[file " " name] = 1 }
        END { for (a in asks) { split(a, p, " "); if (p[2] in of && !(p[2] in several) && of[p[2]] != p[1]) print p[1], of[p[2]] } }' |
                sort -u
}
circles() { # what tsort calls a loop, without its own words
        tsort 2>&1 >/dev/null | sed -n 's/^tsort: //; /input contains a loop/!p' | tr '\n' ' '
}
needs "$BUILD" >"$T/needs"
ok "files need each other's names ($(wc -l <"$T/needs") pairs)" test "$(wc -l <"$T/needs")" -gt 1000
is "no two files need each other" "$(circles <"$T/needs")" ""

# What nobody else needs, no test either, is no name of the whole: it is static. What main() starts and cordon.h has is asked from outside.
alone() { # DIR: each name that is defined for others and asked for by none
        find "$1" -name '*.o' | sort >"$T/objects"
        xargs nm -A <"$T/objects" | awk '
        { file = $1; sub(/:.*/, "", file); kind = $(NF - 1); name = $NF }
        kind ~ /^[TDBRVC]$/ && file !~ /\/(tests|examples)\// { of[name] = file }
        kind ~ /^[Uwv]$/ { asked[name] = 1; sub(/^__(real|wrap)_/, "", name); asked[name] = 1 }
        END { for (n in of) if (!(n in asked) && n !~ /^(cordon_.*|main|_.*)$/) { f = of[n]; sub(/.*\//, "", f); print f ": " n } }' | sort
}
# The code of the other machine is not compiled here: what it names is asked for.
case $(uname -m) in aarch64) other=x86_64 ;; *) other=aarch64 ;; esac
alone_here() { alone "$1" | while read -r where name; do grep -qrwF -- "$name" "src/wall/wasm/compile/$other" || echo "$where $name"; done; }
is "what one file alone needs is static" "$(alone_here "$BUILD")" ""

# One process keeps many boxes for many callers: what changes hangs from a box, a ledger or a context. Left are facts about the
# machine that are found out once, texts that nobody changes, and what a child alone touches.
shared() { # OBJECT...: variables that are one for the process
        for o; do objdump -t "$o" | awk -v f="$(basename "$o")" '/ O \.t?(bss|data)[ \t]/ { n = $NF; sub(/\.[0-9]*$/, "", n); print f ": " n }'; done | sort
}
known='write_crc.c.o: use_hardware|base_hash.c.o: fast_blocks|read_table_hash.c.o: (key|once)|tree_look.c.o: asked|check_check.c.o: (system|loader|image)_name|read_use.c.o: loader|plan_steps.c.o: lost'
objects=$(find "$BUILD/libcordon-core.a.p" -name 'src_*.o' | grep -E '/src_(keeper|api|limit|work|ledger|plan|policy|learn|base|context|host|store|vault|wire|wall_linux_wall)_' | grep -v work_journal_crash_step)
ok "there are objects to look at" test "$(echo "$objects" | wc -l)" -gt 150
# shellcheck disable=SC2086
is "boxes of one process share no variable" "$(shared $objects | grep -vE "$known")" ""

# The check can fail.
mkdir "$T/x"
printf 'int a(void); int b(void); int a(void) { return b(); }\n' >"$T/x/a.c"
printf 'int a(void); int b(void); int b(void) { return a(); }\n' >"$T/x/b.c"
for f in a b; do cc -O0 -c -o "$T/x/$f.c.o" "$T/x/$f.c"; done
printf 'int lonely(void); int lonely(void) { return 0; }\n' >"$T/x/c.c" && cc -O0 -c -o "$T/x/c.c.o" "$T/x/c.c"
printf 'static int count; int next(void); int next(void) { static int more = 1; return count++ + more++; }\n' >"$T/d.c" && cc -O0 -c -o "$T/d.c.o" "$T/d.c"
is "a variable of the process is found" "$(shared "$T/d.c.o" | tr '\n' ' ')" "d.c.o: count d.c.o: more "
is "a name that nobody needs is found" "$(alone "$T/x")" "c.c.o: lonely"
has "two files that need each other are found" "$(needs "$T/x" | circles)" "a.c.o"
done_testing
