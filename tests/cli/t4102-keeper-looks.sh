# What the keeper looks at outside, because a box named it: looked at, and not opened.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
        skip "what a box named is not opened" "python3 is not installed"
        done_testing
fi
cat >"$T/try.py" <<'END'
import os, sys
print("BEGAN")
link = sys.argv[1] + "/program"
try:
    os.execv(link, [link])  # nothing is there yet: told as a program that was looked for
except OSError:
    os.symlink(sys.argv[2], link)
END
chmod 644 "$T/try.py"
for who in root as_user; do
        [ "$who" = as_user ] || who=
        name=${who:-root}
        mkdir -m 755 "$T/$name" "$T/$name/open" "$T/$name/closed" && mkfifo "$T/$name/closed/pipe"
        [ "$(id -u)" -ne 0 ] || [ "$name" = root ] || chown -R 65533:65533 "$T/$name"
        timeout 60 sh -c 'echo precious >"$1"' - "$T/$name/closed/pipe" &
        writer=$!
        $who "$CORDON" run -q --observe all --write "$T/$name/open" --read "$T/try.py" -- python3 "$T/try.py" "$T/$name/open" "$T/$name/closed/pipe" >"$T/out" 2>"$T/err"
        is "$name: a box leaves a link where it looked for a program" "$? $(cat "$T/out") $(readlink "$T/$name/open/program")" "0 BEGAN $T/$name/closed/pipe"
        is "$name: and nobody took from the pipe that it leads to" "$(timeout 10 cat "$T/$name/closed/pipe")" precious
        kill "$writer" 2>/dev/null
        wait "$writer" 2>/dev/null
done
done_testing
