# `cordon mcp wrap --url https://...`: TLS on both sides of the broker, and a server whose certificate nobody trusts.
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here/helpers"
call() {
        timeout 60 python3 -c 'import sys
from mcp_client import Client
c = Client([sys.argv[1], "mcp", "wrap", "--name", "tls", "--url", sys.argv[2]])
print(c.request("tools/list").get("error", {}).get("message", "a result"))
c.end()' "$CORDON" "$1" 2>"$T/err" 9>&-
}
has "a server that is not trusted has no answer" "$(call https://web.test/mcp)" "the server"
trust_lab || { skip "TLS" "this host has no file of roots"; done_testing; }
is "a trusted one was asked: what is no message is not passed on" "$(call https://web.test/mcp)" "the server's answer is neither JSON nor events"
done_testing
