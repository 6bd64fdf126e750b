# tests/vm/sum.awk - adds up the TAP on a machine's console, a program at a time; the last line is "sums P F S".
# A program that breaks off has failed, and so has a machine that does not come to its end.
/^=== begin / { name = $3; ok = skip = bad = 0; plan = -1; text = ""; open = 1; after = 0; held = ""; next }
/^=== fact / { sub(/^=== fact /, ""); print "     " $0; next }
/^=== end / {
        if (!bad && ($4 != 0 || plan != ok)) {
                bad = 1
                text = text held "     broke off: status " $4 ", " plan " planned, " ok " ok\n"
        }
        printf "%s %s: %d%s %ss\n", bad ? "FAIL" : "ok  ", name, ok - skip, skip ? " (" skip " skipped)" : "", $5
        printf "%s", text
        P += ok - skip; F += bad; S += skip; open = 0
        next
}
/^=== done/ { finished = 1; next }
!open { next }
/^ok .*# SKIP/ { ok++; held = ""; skip++; sub(/^ok [0-9]* - /, ""); sub(/# SKIP/, ": "); text = text "     skipped " $0 "\n"; next }
/^ok / { ok++; after = 0; held = ""; next }
/^not ok / { bad++; after = 1; text = text held "     " $0 "\n"; held = ""; next }
/^1\.\.[0-9]/ { plan = substr($0, 4) + 0; next }
# Why a test failed stands before its line in the unit tests, and behind it in scripts.
/^# / { if (after) text = text "     " $0 "\n"; else held = held "     " $0 "\n" }
END {
        if (open) { print "FAIL " name ": the machine ended within it"; F++ }
        if (!finished) { print "FAIL the machine did not come to its end"; F++ }
        print "sums", P + 0, F + 0, S + 0
}
