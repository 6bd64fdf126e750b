#!/bin/sh
# contrib/: the schema and the syntax files name exactly the words of the language, no more and no fewer.
. "$(dirname "$0")/lib.sh"
cd "$CORDON_SOURCE" || exit 1
c=$CORDON
schema=contrib/policy.schema.json vim=contrib/vim/syntax/cordon.vim tm=contrib/vscode/syntaxes/cordon.tmLanguage.json
lines() { tr -s ' |\n' '\n' | sed '/^$/d' | sort; }

page=$("$c" help -v run | sed -e ':a' -e '$!{N;ba' -e '}' -e 's/\n \{10,\}/ /g') # a row goes on in lines of its own
words=$(echo "$page" | sed -n '/^Doors/,/^$/s/^  --\([a-z]*\) .*/\1/p' | grep -vx trace | sed "s/^image$/root/" | lines) # --trace is short for --local trace, and --image adds `root`
has "help tells the words" "$words" expect
limits=$(echo "$page" | sed -n 's/^  --limit "KEY VALUE"  *//p' | lines)
walls=$(echo "$page" | sed -n 's/^  --wall NAME .*: //p' | lines)
methods=$(sed -n '/const methods\[\]/,/};/p' src/policy/read/net_methods.c | grep -oE '"[A-Z]+"' | tr -d '"' | lines)
effects=$(sed -n '/} effects\[\]/,/};/p' src/policy/decide/effect_parse.c | grep -oE 'EFFECT_[A-Z]+' | sed 's/EFFECT_//' | tr 'A-Z' 'a-z' | lines)
types=$(sed -n '/const types\[\]/,/};/p' src/policy/show/policy_names.c | grep -oE '"[a-z]+"' | tr -d '"' | lines)
layers=$(sed -n '/without_row without\[\]/,/};/p' src/policy/show/policy_names.c | grep -oE '"[a-z]+"' | tr -d '"' | lines)
keywords=$(sed -n '/const keywords\[\]/,/};/p' src/policy/read/token.c | grep -oE '"[a-z]+"' | tr -d '"' | lines)
for list in "$limits" "$walls" "$methods" "$effects" "$types" "$layers" "$keywords"; do
        ok "a list of the language was found: $(echo "$list" | head -n 2 | tr '\n' ' ')" test "$(echo "$list" | wc -l)" -ge 2
done
# What a door object may hold beside its word: the table of src/policy/json_in.c.
sed -n '/} extras\[\]/,/};/s/^ *{ "\([a-z]*\)", "\([^"]*\)".*/\1 \2/p' src/policy/read/json_in.c | while read -r key fits; do
        for w in $fits; do echo "$w $key"; done
done | sort >"$T/extras"

# --- the schema ---
ok "the schema is JSON" jq -e . "$schema"
door_words=$(echo "$words" | grep -vxE 'box|root|doc|use|limit|local|rule|wall|warm|expect|stdout|stderr') # {"out":"stdout"}
is "the schema has every door" "$(jq -r '.properties.doors.items.oneOf[].title' "$schema" | lines)" "$door_words"
is "each door's own word is what it requires" "$(jq -r '.properties.doors.items.oneOf[].required[0]' "$schema" | lines)" "$door_words"
is "the schema has every other word, doors and without" "$(jq -r '.properties|keys[]' "$schema" | lines)" "$({ echo "$words" | grep -xE 'box|root|doc|use|limit|local|rule|wall|warm|expect'; echo doors; echo without; } | lines)"
is "each door has exactly its keys" "$(jq -r '.properties.doors.items.oneOf[] | .title as $w | .properties | keys[] | select(. != $w) | "\($w) \(.)"' "$schema" | sort)" "$(cat "$T/extras")"
is "the schema has every limit" "$(jq -r '.properties.limit.properties|keys[]' "$schema" | lines)" "$limits"
is "the schema has every wall" "$(jq -r '.properties.wall.enum[]' "$schema" | lines)" "$walls"
is "the schema has every layer that can be given up" "$(jq -r '.properties.without.items.enum[]' "$schema" | lines)" "$layers"
is "the schema has every method" "$(jq -r '.properties.doors.items.oneOf[]|select(.title=="net").properties.methods.items.enum[]' "$schema" | lines)" "$methods"
is "the schema has every handle type" "$(jq -r '.properties.doors.items.oneOf[]|select(.title=="in").properties.as.pattern' "$schema" | grep -oE '[a-z]+' | sort -u)" "$types"
is "the schema has every effect" "$(jq -r '.properties.expect.items.pattern' "$schema" | sed 's/.*(read/read/; s/).*//' | lines)" "$effects"

if command -v python3 >/dev/null; then
        valid() { python3 tests/cli/helpers/json_schema.py "$schema" "$@"; }
        mkdir "$T/json"
        # every stock policy, every advised one, every golden one that loads, those of the examples, and a learned one
        { "$c" policy stock | awk '{ print $1 }'; ls tests/golden/*.in examples/*/*.policy; } >"$T/list"
        "$c" policy new --list | while read -r task; do "$c" policy new "$task" >"$T/advise-$task" && echo "$T/advise-$task"; done >>"$T/list"
        (cd "$T" && mkdir w && cd w && echo x >in && "$c" learn -n 1 -- cat in 2>/dev/null </dev/null >"$T/learned") && echo "$T/learned" >>"$T/list"
        stock=0 golden=0 advised=0
        while read -r p; do
                to=$T/json/$(echo "$p" | tr / _).json
                "$c" policy show --json "$p" >"$to" 2>/dev/null || { rm -f "$to"; continue; }
                case $p in base/*) stock=$((stock + 1)) ;; tests/golden/*) golden=$((golden + 1)) ;; *advise-*) advised=$((advised + 1)) ;; esac
        done <"$T/list"
        is "the JSON of every policy fits the schema" "$(valid "$T"/json/*.json 2>&1)" ""
        ok "all stock policies ($stock), golden ones ($golden) and advised ones ($advised) were tried" test "$stock" -ge 5 -a "$golden" -ge 12 -a "$advised" -ge 20
        ok "and what was learned" test -s "$T/json/$(echo "$T/learned" | tr / _).json"
        for bad in '{"raed":1}' '{"doors":[{"raed":"/x"}]}' '{"doors":[{"read":"/x","methods":["GET"]}]}' '{"limit":{"tme":"1s"}}' '{"wall":"brick"}' '{"without":["landlock"]}' '{"doors":[{"net":"a:1","methods":[]}]}' '{"doors":[{"read":7}]}' '{"expect":["allow nothing"]}' '{"doors":[{"net":"https://a.test/","where":[]}]}' '{"doors":[{"net":"https://a.test/","where":["a=inte:1..2"]}]}' '{"doors":[{"net":"https://a.test/","where":["a=bool","a=bool"]}]}'; do
                echo "$bad" >"$T/bad.json"
                is "both refuse $bad" "$(valid "$T/bad.json" >/dev/null 2>&1 && echo schema; "$c" check "$T/bad.json" >/dev/null 2>&1 && echo cordon)" ""
        done
else
        skip "policies fit the schema" "python3 is not installed"
fi

# --- the syntax files ---
vim_list() { sed -n "s/^syntax match $1 .*%(\([a-zA-Z|\\\\]*\)\\\\)\\\\>\".*/\1/p" "$vim" | tr -d '\\' | lines; }
is "vim colours every word" "$(vim_list cordonWord)" "$words"
is "vim colours every limit" "$(vim_list cordonLimit)" "$limits"
is "vim colours every wall" "$(vim_list cordonWall)" "$walls"
is "vim colours every method" "$(vim_list cordonMethod)" "$methods"
is "vim colours every keyword" "$(sed -n 's/^syntax keyword cordonKeyword //p' "$vim" | lines)" "$keywords"
is "vim colours every effect" "$(sed -n 's/^syntax keyword cordonEffect \(.*\) contained/\1/p' "$vim" | lines)" "$effects"
ok "the grammar is JSON" jq -e . "$tm"
ok "the extension is JSON" jq -e . contrib/vscode/package.json
ok "its configuration is JSON" jq -e . contrib/vscode/language-configuration.json
ok "the grammar is where the extension says" test -f "contrib/vscode/$(jq -r '.contributes.grammars[0].path' contrib/vscode/package.json)"
tm_list() { jq -r ".patterns[]|select(.name==\"$1\").match" "$tm" | sed 's/.*(?:\([^)]*\)).*/\1/' | lines; }
is "the grammar has every word" "$(tm_list keyword.control.cordon)" "$words"
is "the grammar has every keyword" "$(tm_list keyword.other.cordon)" "$keywords"
is "the grammar has every method" "$(tm_list constant.language.method.cordon)" "$methods"
if command -v vim >/dev/null; then
        printf '# a comment\nread {work} except .env\nexpect deny net GET https://x.example/\nnosuch word\n' >"$T/a.cordon"
        group() { # LINE COLUMN: the group vim gives the character there
                vim -N -u NONE -es -c "set runtimepath^=contrib/vim" -c "syntax on" -c "runtime! ftdetect/*.vim" -c "edit $T/a.cordon" -c "set filetype=cordon" \
                        -c "call writefile([synIDattr(synID($1, $2, 1), 'name')], '$T/group')" -c "qa!" >/dev/null 2>&1 </dev/null
                cat "$T/group"
        }
        is "vim sees a comment" "$(group 1 3)" cordonComment
        is "vim sees a word" "$(group 2 2)" cordonWord
        is "vim sees a root" "$(group 2 7)" cordonRoot
        is "vim sees a keyword" "$(group 2 14)" cordonKeyword
        is "vim sees an answer" "$(group 3 9)" cordonAnswer
        is "vim sees a method" "$(group 3 17)" cordonMethod
        is "vim gives a wrong word no colour" "$(group 4 2)" ""
else
        skip "vim takes the syntax file" "vim is not installed"
fi
done_testing
