# tests/cli/helpers/serve.sh - sourced by the tests of `cordon serve --http`, after lib.sh.
# Where R names a directory, it is that of the resident, which needs one that is not also the configuration: then boxes are parked.
#   tenant NAME...        makes tenants of $who
#   token NAME [SCOPES]   prints a new token
#   serve [OPTION]...     starts the server at the socket $S, and waits until it answers; its pid is in $serve
#   http METHOD PATH TOKEN [CURL OPTION]...   prints the body; answered() prints the status
#   run TOKEN JSON [CURL OPTION]...           POST /v1/runs
pids=""
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; for p in $pids; do soon gone "$p"; done; remove "$T"; exit $code' EXIT
mkdir "$T/d" && chmod 777 "$T/d"
S=$T/d/http
: "${who:=as_user}"
root() { "$@"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
cordon() { $who env XDG_CONFIG_HOME="$C" XDG_RUNTIME_DIR="${R:-$C}" timeout -k 5 60 "$CORDON" "$@" </dev/null; }
configure() { # a directory of $who's own
        C=$T/config.$who
        mkdir -m 700 "$C" && { [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$C"; }
}
tenant() { for n; do cordon serve tenant new "$n" 2>"$T/err" || cat "$T/err"; done; }
token() { cordon serve token new --tenant "$1" ${2:+--scopes "$2"} 2>/dev/null; }
up() { curl -sS --max-time 5 --unix-socket "$S" http://localhost/v1/health; }
serve() {
        rm -f "$T/d/pid"
        $who env XDG_CONFIG_HOME="$C" XDG_RUNTIME_DIR="${R:-$C}" sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$T/d/pid" "$CORDON" serve --http "unix:$S" "$@" >"$T/said" 2>&1 </dev/null &
        soon up || cat "$T/said"
        serve=$(cat "$T/d/pid")
        pids="$pids $serve"
}
http() {
        h_method=$1 h_path=$2 h_token=$3
        shift 3
        curl -sS --max-time 60 --unix-socket "$S" -X "$h_method" -H "Authorization: Bearer $h_token" -w '%{stderr}%{http_code}' "$@" "http://localhost$h_path" 2>"$T/status"
}
run() {
        h_token=$1 h_body=$2
        shift 2
        http POST /v1/runs "$h_token" -H 'Content-Type: application/json' -d "$h_body" "$@"
}
answered() { cat "$T/status"; }
