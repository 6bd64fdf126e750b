#!/bin/sh
# `cordon serve --http` is not held up: a policy of thousands of lines is checked at once, and clients that do not read their answers
# make room for others.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")

# ---- the checks of a large policy: each took seconds of processor time, more than this allows, and the square of its lines ----
lines() { awk -v form="$1" 'BEGIN { print "box b"; for (i = 0; i < 4000; i++) printf form "\n", i }'; }
for form in 'tool t%d' 'net h%d.example.com:443' 'net https://a.example.com/p%d GET' 'net *.h%d.example.com:443' 'read /srv/d%d/x' 'edit /srv/d%d' \
        'net https://a.example.com/p%d GET label private:a accepts private:b'; do
        lines "$form" >"$T/policy"
        is "4000 lines of: $form" "$(prlimit --cpu=1 "$CORDON" check "$T/policy" >/dev/null 2>&1; echo $?)" 0
done

# ---- places ----
command -v curl >/dev/null && command -v python3 >/dev/null || { skip "clients that read nothing" "curl or python3 is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a
serve
cat >"$T/unread.py" <<'P'
import resource, socket, sys, time

resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(tries):
    for _ in range(tries):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(20)
        try:
            s.connect(sys.argv[1])
            return s
        except BlockingIOError:  # its queue is full
            s.close()
            time.sleep(0.02)
    return None


held = []
for _ in range(300):  # more than there are places; each asks for more than its socket holds, and reads nothing
    s = connect(50)
    if not s:
        break
    try:
        s.send(request * 40)
    except OSError:
        pass
    held.append(s)
late = connect(500)
try:
    late.settimeout(15)  # the others are given up after twenty seconds
    late.send(request)
    print(late.recv(12).decode())
except (AttributeError, OSError):
    print("no place")
P
is "300 that read nothing, and one that does" "$($who timeout 120 python3 "$T/unread.py" "$S" 2>&1 | tail -n 1)" "HTTP/1.1 200"
is "then all is as before" "$(up >/dev/null && echo up)" up
done_testing
