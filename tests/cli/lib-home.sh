# tests/cli/lib-home.sh - sourced after lib.sh by tests with files that a box is shown or not:
#   D      a directory of the test's own that is not below /tmp, where a box has files of its own; it goes away too
#   HOME   $D/home; the test is in $D/work
#   PATH   as in a box: no shims
#   c      the program
# shellcheck shell=sh
elsewhere cordon-home
# shellcheck disable=SC2154
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
c=$CORDON
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=$D/home
export PATH HOME
mkdir -p "$D/home" "$D/work" && cd "$D/work" || exit 1
