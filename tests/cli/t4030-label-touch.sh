#!/bin/sh
# First touch: with `rule touch` a labelled place is shut until the box opens it, and then labels the run.
. "$(dirname "$0")/lib-net.sh"
get() { printf 'curl -sS -o /dev/null -w "%%{http_code} " http://%s;' "$1"; }
mkdir "$T/w" "$T/w/hr" "$T/w/pub" && echo secret >"$T/w/hr/a" && echo open >"$T/w/pub/b" && ln -s ../hr/a "$T/w/pub/link"
ln -s "$T/w" "$T/other" && chmod -R a+rX "$T/w"
policy() { # LINE...
        printf 'use base/system\nread %s\n' "$T/w" >"$T/policy"
        printf '%s\n' "$@" 'net http://four.test/**' 'rule touch' >>"$T/policy"
}
hr="read $T/w/hr label private:hr"
run() { box root --time 60s --policy "$T/policy" -- sh -c "cd $T/w; $1"; }
labels() { json '.labels // "none"'; }

policy "$hr"
run "cat pub/b; ls; $(get four.test/)"
is "a run that touches nothing has no label" "$(tr '\n' ' ' <"$T/out") $(labels)" "open hr pub 200  none"
run "$(get four.test/)cat hr/a; $(get four.test/)"
is "one that opens a labelled file has its label, and from then on only" "$(tr '\n' ' ' <"$T/out") $(labels)" "200 secret 403  private:hr"
for way in "cat $T/w/hr/a" 'cat pub/../hr/a' 'cat pub/link' 'cd hr; cat a' 'ls hr' 'stat hr/a' 'test -f hr/a' 'cat /proc/self/cwd/hr/a' \
        "python3 -c 'import os; os.open(\"hr\", os.O_PATH)'" 'test -x hr' \
        "python3 -c 'import os; d = os.open(\"hr\", os.O_PATH); print(os.read(os.open(\"a\", 0, dir_fd=d), 9))'" "python3 -c 'import os; os.chdir(\"hr\"); open(\"a\")'" \
        "python3 -c 'import os; print(os.read(os.open(\"a\", 0, dir_fd=os.open(\"hr\", 0)), 9))'" 'exec 9<hr; cat /proc/self/fd/9/a'; do
        run "$way >/dev/null && echo found"
        is "$way" "$(cat "$T/out") $(labels)" "found private:hr"
done
run 'for i in 1 2 3 4 5 6 7 8; do cat hr/a & done; wait'
is "several that wait for one place all get it" "$(sort -u "$T/out") $(wc -l <"$T/out") $(labels)" "secret 8 private:hr"
has "the touch is in the ledger with its label" "$("$CORDON" ledger --json 2>/dev/null | grep '"touched"')" private:hr
run 'python3 - <<E
import ctypes, os, threading
libc = ctypes.CDLL(None)
name = ctypes.create_string_buffer(b"pub/b", 64)
over, got = [], set()
def swap():
    while not over:
        ctypes.memmove(name, b"hr/a\0", 5)
        ctypes.memmove(name, b"pub/b\0", 6)
t = threading.Thread(target=swap)
t.start()
for _ in range(300):
    fd = libc.open(name, 0)
    if fd >= 0:
        got.add(os.read(fd, 6))
        os.close(fd)
over.append(1)
t.join()
print("read" if b"secret" in got else "none")
E'
case "$(cat "$T/out") $(labels)" in
"read private:hr" | "none "*) pass "a task that exchanges its path gets nothing without the label" ;;
*) fail "a task that exchanges its path gets nothing without the label" "$(cat "$T/out") $(labels)" ;;
esac

# ---- stamped files ----
echo stamped >"$T/w/pub/s" && chmod 644 "$T/w/pub/s"
"$CORDON" label add "$T/w/pub/s" private:stamp untrusted >/dev/null
policy
run "cat pub/b; $(get four.test/)"
is "a stamped file below a door is shut as well" "$(tr '\n' ' ' <"$T/out") $(labels)" "open 200  none"
run "cat pub/s pub/b; $(get four.test/)"
is "and labels when it is opened" "$(tr '\n' ' ' <"$T/out") $(labels)" "stamped open 403  private:stamp untrusted"

# ---- what cannot be shut labels from the start ----
ln "$T/w/pub/s" "$T/w/pub/s2"
run true
is "a file with two names does" "$(labels)" "private:stamp untrusted"
rm "$T/w/pub/s2"
policy "read $T/other"
run true
is "one that another door leads to does" "$(labels)" "private:stamp untrusted"
policy "write $T/w/pub"
run true
is "one that the box can write does" "$(labels)" "private:stamp untrusted"
printf 'use base/system\nread %s\nread %s label private:hr\nrule touch\nwall process\n' "$T/w" "$T/w/hr" >"$T/policy"
if "$CORDON" run -q --policy "$T/policy" -- true 2>/dev/null; then
        is "all do behind the process wall" "$("$CORDON" run -q --policy "$T/policy" --status-fd 3 -- true 3>&1 | jq -r .labels)" "private:hr private:stamp untrusted"
else
        skip "all do behind the process wall" "it cannot be raised here"
fi
done_testing
