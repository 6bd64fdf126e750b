# No code reads prose: what a sentence means is a code beside it (src/effect/reason.c), so that a message can be reworded
# and nothing else changes.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

# A member that holds words for people, compared with a literal or searched. "" asks only whether there are words.
words='(->|\.)(what|why|hint|permit|detail)\b'
reads() { # FILE...: each line that compares such a member with words of its own
        grep -nE "(strstr|strcasestr)\([^;]*$words|\b(strcmp|strncmp|strcasecmp|strncasecmp|span_is|span_starts|is)\([^;\"]*${words}[^;\"]*\"[^\"]" "$@" /dev/null
}
git ls-files 'src/*.c' 'src/*.h' 2>/dev/null | grep . >"$T/files" || find src -name '*.[ch]' >"$T/files"
is "no code reads what it tells people" "$(reads $(cat "$T/files"))" ""

# Every reason has one name and one text, each once.
names=$(sed -n 's/^ *\[REASON_[A-Z_]*\] = { "\([a-z-]*\)".*/\1/p' src/effect/reason.c)
ok "reasons are in the table ($(echo "$names" | wc -l))" test "$(echo "$names" | wc -l)" -gt 100
is "no name of a reason is used twice" "$(echo "$names" | sort | uniq -d)" ""

# A comment is a sentence with a subject: it does not begin with a preposition or `What`, nor end in an idiom that hides its noun.
fragments() { # FILE...
        grep -nE '/\* (Of|By|One whose|What|Who)\b|\b(is none|of its own|any more)\.? *\*/' "$@" /dev/null
}
rooms="src/base src/broker src/effect src/face/bridge src/face/bwrap src/face/front src/face/mcp src/files src/ledger src/output src/policy src/selftest src/wall"
# shellcheck disable=SC2086
git ls-files $rooms 2>/dev/null | grep '\.[ch]$' >"$T/rooms" || find $rooms -name '*.[ch]' >"$T/rooms"
is "no comment is a fragment, in the rooms that were read for it" "$(fragments $(cat "$T/rooms"))" ""

# The check can fail.
printf 'if (strstr(d->what, "the Host header")) f();\nif (strncmp(r->why, "a placeholder", 13) == 0) f();\nif (strcmp(a->why, b->why) == 0 || d->permit[0]) f();\n' >"$T/x.c"
is "a sentence that is read is found" "$(reads "$T/x.c" | grep -c .)" 2
printf '/* Of the first row. */\n/* The box has one\n * of its own. */\n/* The first of its rows. */\n' >"$T/y.c"
is "a comment that is a fragment is found" "$(fragments "$T/y.c" | grep -c .)" 2
done_testing
