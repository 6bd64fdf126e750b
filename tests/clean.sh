# tests/clean.sh - sourced first by tests/run and tests/cli/lib.sh: begins the script anew without what its caller happened to
# have and a verdict must not depend on: ignored signals (nohup), variables (DISPLAY, XDG_*, LANG, proxies), umask, a closed
# standard input, other open descriptors, a low soft limit of open files. What tests are told stays.
if [ -z "${TEST_CLEAN-}" ] && [ -r "$0" ]; then
        umask 022
        # shellcheck disable=SC3045
        ulimit -S -n 1024 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
        : "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}" "${PATH:=/usr/local/bin:/usr/bin:/bin}"
        case :$PATH: in *:/usr/sbin:*) ;; *) PATH=$PATH:/usr/sbin:/sbin ;; esac
        set -- sh "$0" "$@"
        for kept in PATH HOME USER LOGNAME TERM TMPDIR BUILD CORDON CORDON_SOURCE CORDON_GOLDEN CCACHE_DIR CCACHE_NOHASHDIR TEST_FUSE TEST_LANES TEST_SUITES DIFFERENTIAL_FROM DIFFERENTIAL_ROUNDS SERVE_CALLS SERVE_SECONDS WORK_SEEDS; do
                eval "value=\${$kept-}"
                # shellcheck disable=SC2154
                [ -z "$value" ] || set -- "$kept=$value" "$@"
        done
        exec env -i --default-signal TEST_CLEAN=1 "$@" </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
fi
