# The soak, for a few seconds: random boxes leave nothing; and it is able to say so when something is left.
# alone: counts what is left on the whole machine.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
if ! command -v python3 >/dev/null; then
        skip "the soak" "python3 is not installed"
        done_testing
fi
soak() { timeout 180 tools/soak --program "$CORDON" "$@" 2>&1; }

out=$(soak --seconds 6)
is "six seconds of random boxes leave nothing" "$?:$(echo "$out" | grep LEFT)" "0:"
has "the seed is told" "$out" "soak: seed "
ok "there were several rounds" test "$(echo "$out" | sed -n 's/.*, \([0-9]*\) rounds.*/\1/p')" -ge 2
for kind in process file descriptor mount group netns; do
        out=$(soak --seconds 1 --seed 5 --plant $kind)
        status=$?
        case $out in
        *"can be planted here"*) skip "a $kind that is left is found" "$(echo "$out" | tail -n 1)" ;;
        *) is "a $kind that is left is found" "$status:$(echo "$out" | tail -n 1)" "1:soak: something is left" ;;
        esac
done
a=$(soak --seconds 0 --seed 11 | sed -n 's/.*things (\(.*\)), .*/\1/p')
b=$(soak --seconds 0 --seed 11 | sed -n 's/.*things (\(.*\)), .*/\1/p')
ok "a seed was told its mix" test -n "$a"
is "and repeats it" "$a" "$b"
done_testing
