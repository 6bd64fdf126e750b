#!/bin/sh
# run doors: which programs may start, and that what a box wrote may not.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
mkdir -p door/bin tool
printf '#!/bin/sh\necho script ran "$@"\n' >door/script
printf '#!/usr/bin/python3\nprint("python ran")\n' >door/script.py
printf 'echo plain ran\n' >door/plain
cp /bin/echo door/bin/echo2
cp /bin/echo tool/echo3
chmod 755 door/script door/script.py door/bin/echo2 tool/echo3
chmod -R a+rX door tool
loader=$(readlink -f /lib64/ld-linux-x86-64.so.2 2>/dev/null || readlink -f /lib/ld-linux-aarch64.so.1)
# try PROGRAM ARGUMENT...: starts it from python and prints how that went
try='
import os, sys
try:
    os.execv(sys.argv[1], sys.argv[1:])
except OSError as e:
    print("REFUSED", e.errno, flush=True)
'
for who in root as_user; do
        box() { $who timeout 10 "$CORDON" run -q "$@" </dev/null 2>&1; }
        if [ -x /usr/bin/python3 ]; then
                py() { box --use base/python3 "$@"; }
                is "$who: base/python3 runs python3" "$(py -- python3 -c 'print(6*7)')" 42
                is "$who: and by its path" "$(py -- /usr/bin/python3 -c 'print(6*7)')" 42
                is "$who: with its library" "$(py -- python3 -c 'import json, ssl, sqlite3; print(json.dumps([1]))')" '[1]'
                for program in /bin/sh /usr/bin/env /bin/echo /usr/bin/perl; do
                        out=$(py -- python3 -c "$try" "$program" RAN)
                        hasnt "$who: base/python3 does not run $program" "$out" RAN
                        case $out in
                        *REFUSED*) pass "$who: $program is refused or not there" ;;
                        *) fail "$who: $program is refused or not there" "$out" ;;
                        esac
                done
                out=$(py --read /bin/echo --read /usr/bin/echo -- python3 -c "$try" "$loader" /usr/bin/echo RAN)
                hasnt "$who: ld.so does not run a program that is only readable" "$out" "
RAN"
                ok "$who: it said nothing as a program" test "$(echo "$out" | grep -c '^RAN$')" -eq 0
                out=$(py --read /usr/bin/echo -- python3 -c "$try" /usr/bin/echo RAN)
                has "$who: a program that is only readable does not run" "$out" REFUSED
                is "$who: a run door lets it" "$(py --run /usr/bin/echo -- python3 -c "$try" /usr/bin/echo RAN)" RAN
                is "$who: a run door by name lets it" "$(py --run echo -- python3 -c "$try" /usr/bin/echo RAN)" RAN
                has "$who: another program it does not" "$(py --run echo -- python3 -c "$try" /usr/bin/printf RAN)" REFUSED
                out=$(py -- python3 -c 'import os, shutil
shutil.copy("/usr/bin/python3", "/tmp/p")
os.chmod("/tmp/p", 0o755)
try: os.execv("/tmp/p", ["p", "-c", "print(\"RAN\")"])
except OSError as e: print("REFUSED", e.errno)')
                has "$who: a copy of python does not run" "$out" "REFUSED 13"
                out=$(py -- python3 -c 'import os
try:
    fd = os.memfd_create("x", 0)
    os.write(fd, open("/usr/bin/python3", "rb").read())
    os.execve(fd, ["p", "-c", "print(\"RAN\")"], {})
except OSError as e: print("REFUSED", e.errno)')
                has "$who: python in a memory file does not run" "$out" "REFUSED"
                is "$who: a named command runs where no line covers it" "$(py -- /bin/echo RAN)" RAN
                is "$who: sh as the named command starts, its children do not" "$(py -- sh -c 'echo builtin; /bin/echo RAN' | grep -c RAN)" 0
                is "$who: an interpreter of a script must be a run door too" "$(py --read "$T/door" -- "$T/door/script" | grep -c 'script ran')" 0
                is "$who: a python script in a read door" "$(py --read "$T/door" --run "$T/door/script.py" -- "$T/door/script.py")" "python ran"
        else
                skip "$who: base/python3" "no /usr/bin/python3 here"
        fi
        # --- run any, scripts, directories ---
        is "$who: by default any program of the host" "$(box -- sh -c '/bin/echo RAN')" RAN
        is "$who: a script in a read door" "$(box --read "$T/door" -- "$T/door/script" arg)" "script ran arg"
        is "$who: a program in a read door, called by another" "$(box --read "$T/door" -- sh -c "$T/door/bin/echo2 RAN")" RAN
        is "$who: a file without its bit gives 126" "$(box --read "$T/door" -- "$T/door/plain" >/dev/null; echo $?)" 126
        is "$who: sh reads it as a script" "$(box --read "$T/door" -- sh "$T/door/plain")" "plain ran"
        is "$who: run any said openly" "$(printf 'use base/system\nrun any\nread %s\n' "$T/door" >p; chmod 644 p; box -p p -- sh -c "$T/door/bin/echo2 RAN")" RAN
        printf 'use base/loader\nrun sh\nread %s/tool\n' "$T" >p
        out=$(box -p p -- sh -c "echo BEGAN; $T/tool/echo3 RAN")
        never "$who: without run any, a program in a read door does not run" "$out" "RAN"
        printf 'use base/loader\nrun sh %s/tool/\nread %s/tool\n' "$T" "$T" >p
        is "$who: run DIR/ lets all below it" "$(box -p p -- sh -c "$T/tool/echo3 RAN")" RAN
        printf 'use base/loader\nrun sh\nrun %s/tool/echo3\n' "$T" >p
        is "$who: run PATH makes it visible" "$(box -p p -- sh -c "$T/tool/echo3 RAN")" RAN
        printf 'use base/loader\nrun sh no-such-thing\n' >p
        is "$who: a run door that is not there gives 125" "$(box -p p -- sh -c true >/dev/null; echo $?)" 125
        printf 'use base/loader\nrun sh no-such-thing?\n' >p
        is "$who: unless it may be missing" "$(box -p p -- sh -c 'echo fine')" fine
        # --- write doors ---
        w="$T/w.$who"
        mkdir -p "$w"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown 65533:65533 "$w"
        never "$who: what is written in a write door does not run" "$(box --use base/strict --write "$w" -- sh -c "echo BEGAN; cp /bin/echo $w/x; $w/x RAN; $loader $w/x RAN")" RAN
        is "$who: in the default box it does" "$(box --write "$w" -- sh -c "cp /bin/echo $w/x; $w/x RAN")" RAN
        has "$who: a flag narrows" "$(box --run ls -- cat /etc/passwd; echo $?)" "blocked: run cat (no \`run\` line covers it)
cordon: hint: --run cat
126"
        is "$who: what it names starts" "$(box --run ls -- ls -d /usr)" /usr
        has "$who: and nothing else" "$(box --run sh -- sh -c 'ls /usr')" "ermission denied"
        is "$who: an own run any stays" "$(box --run ls --run any -- sh -c 'cp /bin/echo /tmp/x; /tmp/x RAN')" RAN
        is "$who: run DIR/ over the write door lets it" "$(box --write "$w" --run "$w/" --run sh --run cp -- sh -c "cp /bin/echo $w/y; $w/y RAN")" RAN
        never "$who: and only there" "$(box --write "$w" --run "$w/" --run sh --run cp -- sh -c 'echo BEGAN; cp /bin/echo /tmp/z; /tmp/z RAN')" RAN
        # --- use none ---
        has "$who: use none sees no program" "$(box --use none -- sh -c 'echo RAN')" "cannot start sh: No such file or directory"
        is "$who: run-script runs one file" "$($who "$CORDON" run --script -q "$T/door/script" one two </dev/null 2>&1)" "script ran one two"
        has "$who: run-script loses no argument" "$($who "$CORDON" run --script -q "$T/door/script" $(seq 5000) </dev/null 2>&1)" "the command has 500"
        is "$who: run-script needs no execute bit" "$($who "$CORDON" run --script -q "$T/door/plain" </dev/null 2>&1)" "plain ran"
        # shellcheck disable=SC2059
        script() { printf "$1" >"$T/door/$2" && chmod 644 "$T/door/$2" && $who "$CORDON" run --script -q "$T/door/$2" one </dev/null 2>&1; }
        is "$who: without one its first line tells what runs it" "$(script '#!/usr/bin/env python3\nimport sys; print(sys.argv[1])\n' noname)" one
        is "$who: with its argument" "$(script '#! /bin/sh  -x \ntrue $1\n' traced.py)" "+ true one"
        is "$who: one that is not here does not" "$(script '#!/usr/bin/no-such-sh\necho by name $1\n' named.sh)" "by name one"
        is "$who: nor does one that is cut off, or empty" "$(script '#!/bin/cat' cut.sh)$(script '#!\necho $1\n' empty.sh)" one
        printf '#!/bin/sh\necho SHOWN\n' >"$T/door/tool" && chmod 755 "$T/door/tool"
        is "$who: a stranger's first line shows no program of yours to the box" "$(script "#!$T/door/tool\necho by name \$1\n" hostile)" "by name one"
done

# A program of the 32-bit kin of this machine may be run, and does nothing: its first call ends it, also one that is harmless, and
# io_uring_setup, whose number is the same everywhere. Behind a mount that runs nothing the filter is never asked.
mkdir foreign
if python3 "$here/helpers/foreign.py" 20 foreign/getpid && python3 "$here/helpers/foreign.py" 425 foreign/uring && { foreign/getpid; [ $? -eq 1 ]; } 2>/dev/null; then
        for who in root as_user; do
                for wall in namespace process; do
                        for program in getpid uring; do
                                $who "$CORDON" run -q --wall $wall --read "$T/foreign" -- "$T/foreign/$program" >out 2>&1 </dev/null
                                is "$who, $wall: a foreign program dies of its first call: $program" $? 159
                        done
                done
        done
else
        skip "a foreign program dies of its first call" "this host runs none"
fi

# A library that is a link through /etc/alternatives, as libblas is: made here, in a mount namespace of the test's own.
library=$(for f in /usr/lib/*-linux-gnu/libz.so.1 /usr/lib64/libz.so.1; do [ ! -e "$f" ] || readlink -f "$f"; done | head -n 1)
mkdir alternatives packages && chmod 755 alternatives packages
ln -s "$library" alternatives/cordon-test.so
ln -s /etc/alternatives/cordon-test.so packages/libcordontest.so
ln -s "$T/door/plain" alternatives/cordon-person
through='mount --bind "$1/alternatives" /etc/alternatives && mount --bind "$1/packages" /usr/lib/python3/dist-packages || { echo "no mounts"; exit; }
shift; exec "$@"'
for who in root as_user; do
        mine="unshare -Urm"
        [ "$who" = as_user ] || mine="unshare -m"
        if ! $who $mine true 2>/dev/null || [ ! -d /usr/lib/python3/dist-packages ] || [ ! -d /etc/alternatives ] || [ -z "$library" ]; then
                skip "$who: a library behind /etc/alternatives" "no $mine, no python3, no libz or no /etc/alternatives"
                continue
        fi
        inside() { $who $mine sh -c "$through" sh "$T" timeout 10 "$CORDON" run -q --use base/python3 -- python3 -c "$1" </dev/null 2>&1; }
        load='import ctypes; print(ctypes.CDLL("/usr/lib/python3/dist-packages/libcordontest.so").zlibVersion is not None)'
        is "$who: a library behind /etc/alternatives is loaded" "$(inside "$load")" True
        has "$who: and what a link there leads to needs its door as before" "$(inside 'print("BEGAN", flush=True); open("/etc/alternatives/cordon-person")')" "BEGAN
Traceback"
done
# A directory of programs that is a link, and one of its programs as the command.
mkdir "$T/tools" && ln -s tools "$T/linked" && printf '#!/bin/sh\necho ran\n' >"$T/tools/it" && chmod 755 "$T" "$T/tools" "$T/tools/it"
for each in root:namespace as_user:namespace root:process as_user:process; do
        who=${each%:*}
        is "$each: a program of a linked directory runs by its name there" "$($who "$CORDON" run -q --wall "${each#*:}" --run "$T/linked/" --run sh -- "$T/linked/it" 2>&1 </dev/null)" ran
done
# A program behind a chain of links, as a virtual environment has it: those behind a door are followed in the box, and one may lead
# through what no door shows.
mkdir -p "$T/venv/bin" "$T/env/3.11.2/bin" && ln -s 3.11.2 "$T/env/3.11" && ln -s tool-3.11 "$T/env/3.11.2/bin/tool3"
printf '#!/bin/sh\necho ran\n' >"$T/env/3.11.2/bin/tool-3.11" && ln -s tool3 "$T/venv/bin/tool" && ln -s "$T/env/3.11/bin/tool3" "$T/venv/bin/tool3"
cp /bin/sh "$T/env/3.11.2/bin/shell" && ln -s "$T/env/3.11/bin/shell" "$T/venv/bin/shell" && printf '#!%s\necho read\n' "$T/venv/bin/shell" >"$T/venv/bin/script"
chmod -R a+rX,u+w "$T/venv" "$T/env" && chmod 755 "$T/venv/bin/script" "$T/env/3.11.2/bin"/*
for who in root as_user; do
        chain() { $who "$CORDON" run -q --read "$T/venv" "$@" 2>&1 </dev/null; }
        out=$(chain -- "$T/venv/bin/tool")
        is "$who: a link that leads through what is hidden does not start" $? 127
        has "$who: where it leads is told, and the door that is missing" "$out" "hint: it is a link to $T/env/3.11.2/bin/tool-3.11, and no door shows where it leads through: add \`read $T/env/3.11/bin/tool3\`, or a directory above that"
        is "$who: which is enough" "$(chain --read "$T/env/3.11/bin/tool3" -- "$T/venv/bin/tool")" ran
        is "$who: and so is a directory above" "$(chain --read "$T/env" -- "$T/venv/bin/tool")" ran
        has "$who: of an interpreter, too" "$(chain -- "$T/venv/bin/script")" "hint: its interpreter is a link to $T/env/3.11.2/bin/shell, and no door shows where it leads through: add \`read $T/env/3.11/bin/shell\`"
        is "$who: which starts it" "$(chain --read "$T/env/3.11/bin/shell" -- "$T/venv/bin/script")" read
        is "$who: one that leads straight there starts without" "$(ln -sf ../../env/3.11.2/bin/tool-3.11 "$T/venv/bin/straight" && chain -- "$T/venv/bin/straight")" ran
done
# A program of a stock policy that is a link, in a directory of programs that is shown whole.
mkdir -p "$T/all" && printf '#!/bin/sh\necho ran\n' >"$T/all/it-1" && chmod 755 "$T/all/it-1" && ln -s it-1 "$T/all/it" && chmod 755 "$T/all"
for who in root as_user; do
        is "$who: a program that is a link in a directory of programs starts" "$($who "$CORDON" run -q --run "$T/all/it" --run "$T/all/" --run sh -- "$T/all/it" 2>&1 </dev/null)" ran
done
done_testing
