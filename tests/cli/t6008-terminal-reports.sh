# A box with a terminal of its own: no clipboard, no title, no report but those that full-screen programs need; on a
# terminal of the test, and in a real one (tmux).
# shellcheck disable=SC2086,SC2059
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cc -O1 -o "$T/term" "$here/helpers/term.c" -lutil || { fail "the terminal compiles"; done_testing; }
esc=$(printf '\033')
left() { printf 'wait\n' | TERM=xterm "$T/term" 33 101 "$CORDON" run -q -t -- printf "$1" | tr -d '\r' | head -n 1 | tr -d '\000-\010\016-\032\034-\037'; }
for s in '\005' '\033[21t' '\033[20t' '\033[18t' '\033[22;0t' '\033]0;?\a' '\033]2;x\033\\' '\033]10;?\a' '\033]4;1;?\a' '\033]52;c;?\a' '\033]52;c;aGk=\a' '\302\23552;c;aGk=\302\234' '\033]1337;x\a' '\033]777;notify;a;b\a' \
        '\033P$q"p\033\\' '\033P+q544e\033\\' '\033[>0q' '\033_Gx\033\\' '\033^x\033\\' '\033[5i' '\033[?996n' '\033Z'; do
        is "$s does not reach the terminal" "$(left "a${s}b")" "ab"
done
for s in '\033[c' '\033[6n'; do
        has "$s does, and its answer is waited for" "$(left "a${s}b")" "b${esc}[5n"
done
if command -v tmux >/dev/null; then
        tm() { tmux -S "$T/tmux" -f /dev/null "$@"; }
        cat >"$T/job" <<END
printf '\033]52;c;bWluZQ==\a\033]2;mine\a'
"$CORDON" run -q -t -- printf '\033]52;c;c3RvbGVu\a\033]2;stolen\a\033]0;stolen\a\033[21tseen\n'
sleep 100
END
        tm new-session -d -x 80 -y 24 "sh $T/job" \; set -g set-clipboard on 2>/dev/null
        seen() { tm capture-pane -p | grep -q seen; }
        if soon seen; then
                hasnt "tmux: the box sets no title" "$(tm display-message -p '#{pane_title}')" "stolen"
                hasnt "tmux: and writes no clipboard" "$(tm list-buffers -F '#{buffer_sample}' 2>/dev/null)" "stolen"
        else
                fail "the box prints in tmux" "$(tm capture-pane -p)"
        fi
        tm kill-server 2>/dev/null
else
        skip "the same in tmux" "tmux is not installed"
fi
done_testing
