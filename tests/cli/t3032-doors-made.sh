#!/bin/sh
# A write or edit door to a path that does not exist: what is made there follows from its name, and a run that failed over an
# untouched file says how a directory is asked for.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
kind() { if [ -d "$1" ]; then echo directory; elif [ -f "$1" ]; then echo file; else echo nothing; fi; }
cat >table <<'END'
./build directory
build directory
dist/ directory
anything/ directory
.venv directory
node_modules directory
hello file
out.txt file
./out file
build.log file
END
for door in write edit; do
        while read -r path want <&3; do
                got=$("$CORDON" run -q --"$door" "$path" -- sh -c 'if [ -d "$0" ]; then echo directory; elif [ -f "$0" ]; then echo file; fi' "$path" </dev/null)
                is "--$door $path is a $want in the box" "$got" "$want"
                is "and is removed again" "$(kind "$path")" nothing
        done 3<"$T/table"
done
is "a file that was named build stays one" "$(echo text >build && "$CORDON" run -q --write build -- cat build </dev/null)" text
rm -f build
said=$("$CORDON" run --write ./out -- sh -c 'mkdir out' 2>&1 </dev/null)
has "a run that failed says how a directory is asked for" "$said" "./out/"
hasnt "one that wrote the file does not" "$("$CORDON" run --write ./out -- sh -c 'echo x >out; exit 1' 2>&1 </dev/null)" "./out/"
rm -f out
is "a plan names a directory, and makes none" "$("$CORDON" run --plan --write dist -- true | grep -c "bind  *$T/dist rw"):$(kind dist)" 1:nothing
hasnt "nor one that went well" "$("$CORDON" run --write ./out -- true 2>&1 </dev/null)" "./out/"
hasnt "nor for a directory" "$("$CORDON" run --write ./build -- false 2>&1 </dev/null)" "./build/"
has "a file in a directory that is missing: the hint makes it" "$("$CORDON" policy wrap -o no/such/x true 2>&1)" "mkdir -p no/such"
done_testing
