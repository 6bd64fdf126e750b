# The generated tables of src/output are what tools/unicode-table makes of Debian's unicode-data.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
data=/usr/share/unicode/extracted/DerivedGeneralCategory.txt
here=$(sed -n '1s/.*-\([0-9]*\.[0-9]*\)\..*/\1/p' "$data" 2>/dev/null)

check_table() { # FILE ARGUMENT...
        file=$1
        shift
        ours=$(sed -n '1s/.*Unicode \([0-9.]*\)\. .*/\1/p' "$file")
        if [ -z "$here" ]; then
                skip "$file is what the tool makes" "unicode-data is not installed"
        elif [ "$here" != "$ours" ]; then
                skip "$file is what the tool makes" "unicode-data here is of Unicode $here, the table of $ours"
        else
                python3 tools/unicode-table "$@" >"$T/made"
                ok "$file is what the tool makes" cmp "$T/made" "$file"
        fi
}
check_table src/output/unicode.inc
check_table src/output/category.inc categories
sed '3d' src/output/unicode.inc >"$T/other"
is "a table that lacks a line is found" "$(cmp -s "$T/other" src/output/unicode.inc; echo $?)" 1
done_testing
