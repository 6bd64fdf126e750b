# The manual, the completions and the documents say what the program does: every verb and option stands in them, the
# examples run, the files and tests they name exist, and nothing boasts.
# shellcheck disable=SC2016,SC2046
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
ROOT=$PWD
PATH=$T:$PATH
export PATH
verbs=$(verbs)
has "help lists verbs" " $(echo "$verbs" | tr '\n' ' ')" " run "

# options VERB: every option of its help, one a line.
# A command that takes doors names where they are listed.
helped() { "$CORDON" help $([ "$1" != run ] || echo -v) $(words "$1") | sed 's/^Doors and limits: as for run.*/@/' | while IFS= read -r line; do [ "$line" = @ ] && "$CORDON" help -v run | sed -n '/^Doors/,/^Options/p' | sed '/^Options/d' || printf '%s\n' "$line"; done; }
options() { helped "$1" | sed -n '/^\(Doors\|Options\)/,$p' | grep -oE '(^|[ ,])(--[a-z]|-[a-zA-Z])[a-z0-9-]*' | tr -d ' ,' | sort -u; }

# ---- the manual ----
if command -v mandoc >/dev/null; then
        is "mandoc finds nothing to warn of" "$(mandoc -Tlint -Wwarning man/*.[1-8] 2>&1 | head -n 20)" ""
        for page in man/*.[1-8]; do
                mandoc -Tascii "$page" | col -b >"$T/$(basename "$page").txt"
        done
        for v in $verbs; do
                help=$("$CORDON" help $(words "$v"))
                p=${help##*man } page=$T/$p.1.txt
                ok "$p(1) is there" test -s "$page"
                ok "cordon(1) names $v" grep -q "$p(1)" "$T/cordon.1.txt"
                # The sentence of a verb stands in its page, in cordon(1) and in the list that has it.
                sentence=$(echo "$help" | sed -n '3s/\.$//p')
                [ "$p" != "cordon-$(echo "$v" | tr _ -)" ] || is "$v has one sentence" "$(sed -n 's/^\.Nd //p' "man/$p.1")/$(grep -A 1 "^\.It Cm $(words "$v")\$" man/cordon.1 | sed -n '2s/:$//p')" "$(echo "$sentence" | tr -d '\140' | sed 's/./\L&/')/$(echo "$sentence" | tr -d '\140')"
                missing=
                for o in $(options "$v"); do
                        grep -qE -- "(^|[^a-z-])$o([^a-z-]|\$)" "$page" || missing="$missing $o"
                done
                is "$p(1) names every option" "$missing" ""
                "$CORDON" $(words "$v") --no-such-option >/dev/null 2>&1 </dev/null
                code=$?
                ok "$p(1) has the status of a wrong option ($code)" sh -c 'sed -n "/^EXIT STATUS/,/^[A-DF-Z]/p" "$1" | grep -qE "(^|[^0-9])$2([^0-9]|\$)|(run|learn)[(]1[)]"' sh "$page" "$code"
        done
        # Dq and Ql take the rest of their line: two of them on one stand in each other.
        is "no quotation begins in another" "$(for f in man/*.[1-8]; do mandoc -Tutf8 "$f" | col -bx | tr '\n' ' ' | LC_ALL=C.UTF-8 grep -oP '\x{201C}[^\x{201D}]{0,80}\x{201C}|\x{2018}[^\x{2019}]{0,80}\x{2018}' | sed "s|^|$f: |"; done)" ""
        is "a section is a word of its own" "$(grep -nE '^\.Xr [^ ]+ [0-9][^ ]' man/*.[1-8])" ""
        # "not built yet" is said of the walls that are not, and of nothing else; a page of tests that is one line is enough.
unbuilt=$("$CORDON" selftest walls -n 1 2>/dev/null | sed -n 's/.*not here: wall `\([a-z]*\)` is not implemented.*/\1/p' | sort -u | tr '\n' ' ')
        is "what is not built yet is not built" "$(for f in man/*.[1-8]; do mandoc -Tascii "$f" | col -bx | tr -s ' \n' '  ' | grep -oE '[^.:;]*not built yet' | grep -oE '\b(process|namespace|wasm|vm)\b' ; done | sort -u | tr '\n' ' ')" "$unbuilt"
is "every page that is referred to is there" "$(sed -n 's/^\.Xr \(cordon[^ ]*\|libcordon\) \([0-9]\).*/man\/\1.\2/p' man/*.[1-8] | sort -u | while read -r f; do [ -f "$f" ] || echo "$f"; done)" ""
        is "every page is installed" "$(for f in man/*.[1-8]; do grep -q "'$(basename "$f")'" man/meson.build || echo "$f"; done)" ""
else
        skip "the manual" "mandoc is not installed"
fi
if command -v groff >/dev/null; then
        is "every line of the manual can be broken" "$(groff -t -K utf8 -mandoc -rLL=78n -rLT=78n -wbreak -Tutf8 man/*.[1-8] 2>&1 >/dev/null | grep 'break line')" ""
else
        skip "every line of the manual can be broken" "groff is not installed"
fi
# Variables of test builds are no one else's; what the host is, and where scratch files go, is no setting of ours.
variables=$(grep -rhoE '(getenv\(|context_(get|path)\([a-z>-]+, )"[A-Z_]+"\)' src | grep -oE '[A-Z_]{2,}' | sort -u |
        grep -vxE 'CORDON_(ALLOC|KNOCKOUT|SABOTAGE|STEP|WORK_STEP)|KUBERNETES_SERVICE_HOST|TMPDIR')
is "cordon(1) names every variable that is looked at" "$(for v in $variables; do grep -qE "^\.It Ev .*\b$v\b" man/cordon.1 || echo "$v"; done)" ""
is "and no other" "$(sed -n 's/^\.It Ev //p' man/cordon.1 | tr -d ',' | tr -s ' ' '\n' | sort -u)" "$variables"
ok "there are variables" test "$(echo "$variables" | wc -l)" -ge 8
functions=$(grep -oE '\bcordon_[a-z_]+\(' include/cordon.h | tr -d '(' | sort -u)
is "libcordon(3) names every function" "$(for f in $functions; do grep -q "^\.F[no] $f\b" man/libcordon.3 || echo "$f"; done)" ""
if command -v mandoc >/dev/null; then
        awk '/^CORDON_API/ { on = 1 } on { print } /;/ { on = 0 }' include/cordon.h | sed 's|/\*.*||; s/CORDON_API//' | tr -d ' \n' | tr ';' '\n' | sort >"$T/header"
        sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' "$T/libcordon.3.txt" | tr -d ' \t\n' | sed 's/.*<cordon.h>//; s/DESCRIPTION$//' | tr ';' '\n' | sort >"$T/synopsis"
        is "libcordon(3) declares each as the header does" "$(diff "$T/header" "$T/synopsis")" ""
        ok "there are declarations" test "$(wc -l <"$T/header")" -ge 70
else
        skip "libcordon(3) declares each as the header does" "mandoc is not installed"
fi
box_options=$(sed -n '/^typedef enum cordon_option/,/^} cordon_option/p' include/cordon.h | grep -oE '^ +CORDON_[A-Z_]+')
is "libcordon(3) names every option of a box" "$(for o in $box_options; do grep -qw "Dv $o" man/libcordon.3 || echo "$o"; done)" ""
codes=$(sed -n '/code_names/,/};/p' src/base/err.c | grep -oE '"[a-z]+"' | tr -d '"' | grep -vE 'none|unknown')
is "cordon-errors(7) names every code" "$(for c in $codes; do grep -q "^\.It Li $c\$" man/cordon-errors.7 || echo "$c"; done)" ""
members=$(grep -ohE '(buf_member(_int|_bool|_json)?\(out, |put_(ms|code|names)\()"[a-z_]+"' src/run/keeper/result_json.c | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u)
is "cordon-run(1) or cordon-net(7) names every member of the result" "$(for m in $members; do grep -hE '^\.(It )?(Li|Pq)' man/cordon-run.1 man/cordon-net.7 | grep -qw "$m" || echo "$m"; done)" ""
ok "there are members" test "$(echo "$members" | wc -l)" -ge 40
answers=$(grep -ohE '\\"[a-z_]+\\":|buf_member\(out, "[a-z_]+"|door_json\("[a-z]+"' src/run/api/api_why.c | grep -oE '"?[a-z_]+\\?":?$' | tr -d '\\":' | sort -u)
is "cordon-why(1) names every member of an answer" "$(for m in $answers; do grep -qE "^\.(It )?(Li|Pq).*\b$m\b" man/cordon-why.1 || echo "$m"; done)" ""
ok "there are members of an answer" test "$(echo "$answers" | wc -l)" -ge 20
fields=$({ sed -n '/^int record_encode/,/^}/p' src/ledger/write/record_json.c; grep -rhoE 'ledger_more_(text|number)\([^"]*"[a-z-]+"' src; grep -hoE 'put_key\(out, "[a-z]+"' src/ledger/write/record_json.c; } | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u)
is "cordon-ledger(5) names every field of a record" "$(for m in $fields; do grep -hE '^\.(It )?Li' man/cordon-ledger.5 | grep -qE -- "(^|[^a-z-])$m([^a-z-]|\$)" || echo "$m"; done)" ""
ok "there are fields" test "$(echo "$fields" | wc -l)" -ge 40
is "cordon-errors(7) names every lint, and no other" "$(sed -n 's/^\.It \([EW]1[0-9][0-9]\)$/\1/p' man/cordon-errors.7 | sort)" "$(grep -rohE '\b[EW]1[0-9][0-9]\b' src --include='*.c' | sort -u)"
is "and every reason of why, and no other" "$(sed -n '/^\.Sh REASONS/,/^\.Sh LINTS/s/^\.It Li //p' man/cordon-errors.7 | sed 's/ , /\n/g' | sort)" "$({ sed -n 's/^ *\[REASON_[A-Z0-9_]*\] = { "\([a-z0-9-]*\)".*/\1/p' src/effect/reason.c | grep -vx none; grep -oE '"nowhere"' src/run/api/api_why.c; } | tr -d '"' | sort)"
is "and every step" "$(sed -n '/^\.Sh STEPS/,/^\.Sh COMMON/p' man/cordon-errors.7 | grep -oE '\b[0-9]+ ' | tr -d ' \n')" "$(seq -s '' "$(sed -n '/^enum wall_step/,/^}/p' src/wall/internal.h | grep -c 'STAGE_[A-MO-Z]\|STAGE_NET')")"
layers=$(sed -n '/layer_names\[\]/,/};/p' $(git ls-files "src/wall/*.c") | grep -oE '= "[a-z-]+"' | tr -d '= "')
is "cordon-walls(7) names every layer" "$(for l in $layers; do grep -qE "(^|[^a-z-])$l([^a-z-]|\$)" man/cordon-walls.7 || echo "$l"; done)" ""
bombs=$("$CORDON" selftest bombs nosuch 2>&1 | sed -n 's/.*there are: //p')
is "cordon-bombs(1) names every bomb, in its order" "$(sed -n '/^The bombs are/,$s/^\.It Li \([a-z-]*\)$/\1/p' man/cordon-selftest-bombs.1 | tr '\n' ' ')" "$bombs "
words=$(sed -n '/ kinds\[\] = {/,/};/p; / phases\[\] = {/,/};/p' src/ledger/write/record_json.c | grep -oE '"[a-z]+"' | tr -d '"' | grep -v none | awk '!seen[$0]++' | tr '\n' ' ')
is "cordon-ledger(1) and its completion name every kind and phase" "$(for w in $words; do sed -n '/^\.It Fl -kind/,/^\.It Fl -target/p' man/cordon-ledger.1 | grep -qw "$w" || echo "$w"; done)$("$CORDON" __complete log --kind "" | cut -f 1 | grep -vx unknown | tr '\n' ' ')" "$words"
is "cordon.policy(5) names every stock policy" "$("$CORDON" policy stock | while read -r s; do grep -q "Li $s\$" man/cordon.policy.5 || echo "$s"; done)" ""

# Caps that people meet, as src/base/limits.h and src/base/grant.h have them.
while read -r cap page before after; do
        n=$(sed -n "s/^ *$cap = \([0-9]*\).*/\1/p" src/base/limits.h src/base/grant.h)
        ok "$page names $cap, $n" sh -c 'tr "\n" " " <"man/$1" | grep -q -e "$2 *$3 *$4"' sh "$page" "$before" "${n:-none}" "$after"
done <<END
POLICY_MAX_LINE cordon.policy.5 and bytes a line
POLICY_MAX_LINES cordon.policy.5 MB, lines
POLICY_MAX_DOORS cordon.policy.5 most doors
POLICY_MAX_USE_DEPTH cordon.policy.5 uses, deep
HANDLES_MAX cordon.policy.5 doors, handles
GRANTS_MAX cordon.policy.5 handles, credentials
ARGV_MAX cordon-run.1 most words
DENIALS_OF_FILES cordon-run.1 most different
DENIALS_OF_REST cordon-run.1 kept, others
DENIALS_OF_ALARMS cordon-run.1 and more of secrets
ABSENT_MAX cordon-run.1 most are kept
EFFECTS_MAX cordon-run.1 the that are kept
NET_PORTS_MAX cordon-net.7 ; different ports
NET_LOCALS_MAX cordon-net.7 and addresses
NET_REACHED_MAX cordon-net.7 the that are kept
NET_DENIED_MAX cordon-net.7 beyond (224
ANSWERS_MAX_LINES cordon.places.5 and exchanges
END
limits=$("$CORDON" policy show base/loader | sed -n 's/^limit //p')
is "cordon.policy(5) has every limit with its default" "$(sed -n 's/^\.It Li \([a-z]*\) Ta \([0-9][^ ]*\) Ta .*/\1 \2/p' man/cordon.policy.5)" "$limits"
is "a name of a box that is longer than cordon-run(1) says is refused" "$("$CORDON" run --name "$(printf '%061d' 0)" -- true 2>&1 | head -n 1)" "cordon: error: a name has letters, digits, \`_\`, \`.\` and \`-\`, at most 60"
# VERB OPTION LEAST MOST: what is beyond is refused, with these numbers, and they stand in the page.
while read -r verb option least most; do
        bad=
        for n in $((least - 1)) $((most + 1)); do
                case $("$CORDON" $(words "$verb") "$option=$n" -- true 2>&1) in *"takes "*"$least"*" to $most"*) ;; *) bad="$bad $n" ;; esac
        done
        grep -qE "\b$least to $most\b" "man/cordon-$(echo "$verb" | tr _ -).1" || bad="$bad page"
        is "$verb $option takes $least to $most, and its page says so" "$bad" ""
done <<END
run --canary-share 1 100
run --canary-bound 1 1000
learn --runs 1 64
learn --max-runs 1 100000
policy_tighten --runs 1 64
policy_tighten --max-runs 1 100000
selftest_walls --runs 1 1000
stop --time 0 3600
ledger --last 1 1000000
policy_fit --last 1 1000000
END

# ---- examples ----
# A block behind a line `.\" run` is run line by line in one shell and must print what it shows; `...` stands for
# anything up to the end of a line.
awk -v dir="$T" '
FNR == 1 { armed = inside = 0 }
/^\.\\" run$/ { armed = 1; next }
armed && /^\.Bd / { inside = 1; armed = 0; n++; name = FILENAME; sub(/.*\//, "", name); out = sprintf("%s/ex-%03d", dir, n); print name ":" FNR >(out ".name"); next }
inside && /^\.Ed/ { inside = 0; close(out ".sh"); close(out ".want"); close(out ".name"); next }
inside { gsub(/\\e/, "\\"); gsub(/\\&/, "") }
inside && /^\$ / { print "st=$?; echo \"$ @\"; (exit $st)" >(out ".sh"); here = /<</; print substr($0, 3) >(out ".sh"); print "$ @" >(out ".want"); next }
inside && here { print >(out ".sh"); if ($0 == "END") here = 0; next }
inside { print >(out ".want") }' man/*.[1-8]
found=0
for script in "$T"/ex-*.sh; do
        [ -f "$script" ] || continue
        found=$((found + 1))
        ex=${script%.sh}
        dir=$(mktemp -d "$T/dir.XXXXXX")
        (cd "$dir" && sh "$script" >"$ex.got" 2>&1 </dev/null)
        # Lines that end in ... are compared up to there.
        awk 'NR == FNR { want[FNR] = $0; next } { w = want[FNR]; if (w ~ /\.\.\.$/ && index($0, substr(w, 1, length(w) - 3)) == 1) print w; else print }' "$ex.want" "$ex.got" >"$ex.same"
        name="the example at $(cat "$ex.name") does what it shows"
        if cmp -s "$ex.want" "$ex.same"; then pass "$name"; else fail "$name" "$(diff "$ex.want" "$ex.same" | head -n 20)"; fi
done
ok "there are examples" test "$found" -ge 10
if command -v cc >/dev/null && [ -f "${BUILD:-build}/libcordon-core.a" ]; then
        sed -n '/^#include <cordon.h>/,/^\.Ed/p' man/libcordon.3 | sed '/^\.Ed/d; s/\\e/\\/g' >"$T/example.c"
        ok "the example of libcordon(3) compiles as C99" cc -std=c99 -Wall -Werror -Iinclude "$T/example.c" "${BUILD:-build}/libcordon-core.a" -o "$T/example"
        is "and prints" "$("$T/example" 2>&1)" hello
else
        skip "the example of libcordon(3)" "no compiler, or the library is not built"
fi

# ---- completions ----
if command -v bash >/dev/null; then ok "bash takes its completion" bash -n completions/cordon.bash; fi
if command -v zsh >/dev/null; then ok "zsh takes its completion" zsh -n completions/_cordon; else skip "zsh takes its completion" "zsh is not installed"; fi
if command -v fish >/dev/null; then ok "fish takes its completion" fish -n completions/cordon.fish; else skip "fish takes its completion" "fish is not installed"; fi
offered() { "$CORDON" __complete "$@" 2>&1 | cut -f 1; } # WORD...: what could stand at their end, one a line
missing='' extra=''
limits=$("$CORDON" __complete run --limit "" | cut -f 1 | sed 's/^/--/')
for v in $verbs; do
        offered $(words "$v") - | sort -u >"$T/offered"
        { options "$v" && printf '%s\n' -h --help; } | sort -u >"$T/options"
        missing="$missing$(comm -13 "$T/offered" "$T/options" | sed "s/^/ $v:/")"
        extra="$extra$(comm -23 "$T/offered" "$T/options" | grep -vxF -e -- -e "$limits" | sed "s/^/ $v:/")"
done
is "every option of each command completes" "$missing" ""
is "and no other" "$extra" ""
is "every command completes" "$(for v in $verbs; do set -- $(words "$v"); offered "$@" | grep -qx "$(words "$v" | sed 's/.* //')" || echo "$v"; done)" ""
is "every kind that --flagged takes completes" "$(offered apply --flagged "" | sort)" "$(sed -n 's/^ *\[FLAG_[A-Z_]*\] = { "\([a-z-]*\)".*/\1/p' src/files/work/flags/flags.c | grep -vx special | sort)"
is "what stands behind the option's = completes" "$(offered run --observe=d; offered run --read=x; offered run --handle in=x)" "--observe=denials
@files
@files"
is "a command completes itself, also behind --" "$("$CORDON" __complete run ls -; "$CORDON" __complete run --read . -- ls "")" "$(printf '@command\t2\n@command\t5')"
is "a value takes no option's place" "$(offered run --name "")$(offered nosuch --x "")$("$CORDON" __complete)" ""
if command -v bash >/dev/null; then
        ln -sf "$CORDON" "$T/cordon"
        cat >"$T/complete" <<'EOF'
. completions/cordon.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_cordon
printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
EOF
        is "bash completes a file behind = and behind a letter" "$(bash "$T/complete" cordon run --read = READ; bash "$T/complete" cordon run -pREAD)" "README.md -pREADME.md "
        is "bash completes a file of the command" "$(bash "$T/complete" cordon run -- cat READ)" "README.md "
        mkdir -p "$T/one" "$T/two" && for d in one two; do cp "$T/complete" "$T/$d/cordon-twice" && chmod +x "$T/$d/cordon-twice"; done
        is "bash names a program of two directories once" "$(PATH=$T/one:$T/two:$PATH bash "$T/complete" cordon run cordon-tw)" "cordon-twice "
        is "bash completes a directory" "$(bash "$T/complete" cordon run --work exa)" "examples "
        is "bash completes a second word" "$(bash "$T/complete" cordon selftest br)" "breakout "
        is "bash completes a bomb" "$(bash "$T/complete" cordon selftest bombs zi)" "zip "
        is "bash completes a mode behind =" "$(bash "$T/complete" cordon run --observe = d)" "denials "
        is "bash completes a mode of --observe" "$(bash "$T/complete" cordon run --observe d)" "denials "
        is "bash completes the wall of a bomb" "$(bash "$T/complete" cordon selftest bombs --wall pro)" "process "
        is "bash completes a verb" "$(bash "$T/complete" cordon ru)" "run "
        is "bash completes a door" "$(bash "$T/complete" cordon run --rea)" "--read "
        is "bash completes a stock policy" "$(bash "$T/complete" cordon run --use base/p)" "base/python3 "
        is "bash completes a wall" "$(bash "$T/complete" cordon run --wall n)" "namespace "
        "$CORDON" run -d --name "docs-$$-test" -- sleep 30 >"$T/id"
        is "bash completes a running box" "$(bash "$T/complete" cordon stop "docs-$$-t")" "docs-$$-test "
        is "bash completes its run id" "$(bash "$T/complete" cordon logs "$(cat "$T/id")")" "$(cat "$T/id") "
        "$CORDON" stop -k "docs-$$-test"
fi

# ---- documents ----
design="ARCHITECTURE.md CONTRIBUTING.md $(echo docs/design/*.md)"
for f in README.md SPECIFICATION.md NEWS.md SECURITY.md $design; do ok "$f is there" test -s "$f"; done
ok "ARCHITECTURE.md has at most 140 lines" test "$(wc -l <ARCHITECTURE.md)" -le 140
ok "README.md has at most 160 lines" test "$(wc -l <README.md)" -le 160
# shellcheck disable=SC2086
{
        is "every file that the design names is there" "$(grep -ohE '`(src|include|tests|tools|man|completions|contrib|docs|bench|examples)/[A-Za-z0-9_./-]+`' $design | tr -d '\140' | grep -vE 'NAME|NNN' | sort -u | while read -r f; do [ -e "$f" ] || echo "$f"; done)" ""
        is "every function that the design names is there" "$(grep -ohE '`[a-z0-9_]+\(\)`' $design | tr -d '\140()' | sort -u | while read -r f; do grep -rqw "$f" src include tests || echo "$f"; done)" ""
        is "every page that a document links to is there" "$(for f in $design SECURITY.md; do grep -oE '\]\([^):]+\)' "$f" | tr -d '()]' | while read -r l; do [ -e "$(dirname "$f")/$l" ] || echo "$f: $l"; done; done)" ""
}
is "every folder of src stands in ARCHITECTURE.md" "$(for d in src/*/; do grep -q "^| \`$(basename "$d")\` |" ARCHITECTURE.md || echo "$d"; done)" ""
is "every test that SPECIFICATION.md names is there" "$(grep -oE '`(tests/)?[a-z]*/?[A-Za-z0-9_-]+\.(sh|c|tbl)`' SPECIFICATION.md | tr -d '\140' | sort -u | while read -r f; do [ -e "$f" ] || echo "$f"; done)" ""
is "every promise names a test or says that it is pending" "$(grep -E '^\| *[A-Z]+[0-9]+ ' SPECIFICATION.md | grep -vE '`tests/|test pending')" ""
ok "there are promises" test "$(grep -cE '^\| *[A-Z]+[0-9]+ ' SPECIFICATION.md)" -ge 40

# ---- no boasting ----
# Whole words; what stands in quotes in a document is another's, as is git's safe.directory. Comments and #include lines of src are not user-visible.
boast='\b(secure|safe|unbreakable)\b'
is "no string of src boasts" "$(grep -nEi "\"[^\"]*$boast" $(git ls-files "src/*.[ch]" "src/*.inc") include/*.h | grep -vE ':[0-9]+: *(/\*|\*|#include)|\[safe\]' | grep -Ei "\"[^\"]*${boast}[^\"]*\"")" ""
is "no help text boasts" "$({ "$CORDON" help; for v in $verbs; do "$CORDON" help $(words "$v"); done; } | grep -Ei "$boast")" ""
is "no page or document boasts" "$(sed 's/"[^"]*"//g' README.md man/*.[1-8] | grep -vF safe.directory | grep -Ei "$boast")" ""

# ---- plain words ----
# The worst of what nobody says or searches for; CONTRIBUTING.md has the words to use. `told` is part of names of attempts and files in src.
foreign='there is no verb|is no option|whoever|also where|for want of'
is "no string of src has a foreign phrase" "$(grep -nE "\"[^\"]*\b($foreign|(is|are|was|were) told)\b" $(git ls-files "src/*.[ch]" "src/*.inc") | grep -vE ':[0-9]+: *(/\*|\*|#include)' | sed 's,/\*.*,,' | grep -E "\"[^\"]*\b($foreign|(is|are|was|were) told)\b")" ""
{ "$CORDON" help; for v in $verbs; do "$CORDON" help $(words "$v"); done; } >"$T/helps"
is "no help, page, README or promise has one" "$(grep -nEi "\b($foreign|told|tells|somebody)\b" "$T/helps" README.md SPECIFICATION.md man/*.[1-8])" ""
[ "$ROOT" = "$PWD" ] || exit 1
done_testing
