# What a box prints to the caller's terminal: colours stay, nothing else is live; with a terminal of its own, what
# full-screen programs need passes, but no clipboard, no title, no report. Files and pipes get every byte.
# shellcheck disable=SC2086
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cc -O1 -o "$T/term" "$here/helpers/term.c" -lutil || { fail "the terminal compiles"; done_testing; }
chmod 755 "$T/term"
root() { "$@"; }
on() { # SCRIPT COMMAND...: on a terminal; all that was written to it is in out
        script=$1
        shift
        printf '%b' "$script" | $who env TERM=xterm "$T/term" 33 101 "$@" | tr -d '\r' >out
}
esc=$(printf '\033')
hostile='\033[31mred\033[0m \033]52;c;aGk=\a|\033]0;owned\a|\033[2J|\302\2332J|\033P+q544e\033\\|\342\200\256|\360\237\221\215|end\n'
for who in root as_user; do
        on 'wait\n' "$CORDON" run -q -T -- printf "$hostile"
        has "$who: without a terminal of its own a box's colours pass" "$(cat out)" "${esc}[31mred${esc}[0m"
        has "$who: and each thing that is cut leaves a mark" "$(cat out)" "<ESC]52>|<ESC]0>|<ESC[2J>|<ESC[2J>|<ESCP+q544e>|<U+202E>|"
        is "$who: nothing else is live" "$(tr -dc '\033' <out | wc -c)" 2
        on 'wait\n' "$CORDON" run -q -t -- printf "$hostile"
        hasnt "$who: with one no clipboard write passes" "$(cat out)" "${esc}]52"
        hasnt "$who: nor a title" "$(cat out)" "owned"
        hasnt "$who: nor a question for its capabilities" "$(cat out)" "+q544e"
        has "$who: what a full-screen program needs does" "$(cat out)" "${esc}[2J"
        $who "$CORDON" run -q -- printf "$hostile" >bytes 2>/dev/null </dev/null
        is "$who: what is no terminal gets every byte" "$(od -An -tx1 <bytes)" "$(printf "$hostile" | od -An -tx1)"
        $who "$CORDON" run -q --json -- true 2>result </dev/null
        is "$who: the result counts what was cut" "$(jq .terminal_cuts result)" 0
done
# An answer that is under way when the box ends is not typed into the caller's shell.
cat >ask.py <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp("sh", ["sh", "-c", '"$0" run -q -t -- printf "\\033[6n"; stty -echo -icanon min 0 time 5; x=$(cat); printf "LEFT<%s>" "$(printf %s "$x" | tr -dc A-Za-z0-9)"', sys.argv[1]])
seen = b""
while b"LEFT<" not in seen or b">" not in seen.split(b"LEFT<")[1]:
    if not select.select([fd], [], [], 60)[0]:
        break
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    seen += got
    for question, answer in ((b"\033[6n", b"\033[12;34R"), (b"\033[5n", b"\033[0n")):
        for _ in range(got.count(question)):
            os.write(fd, answer)
print("LEFT<" + seen.split(b"LEFT<")[-1].decode(errors="replace"))
END
is "answers of the terminal are drained at the end" "$(timeout 100 python3 ask.py "$CORDON" | tr -d '\r\n')" "LEFT<>"
done_testing
