# A server as the world has them: nginx, with TLS and HTTP/2, compression, chunks, ranges, redirects, keep-alive and large files, and
# unmodified clients in a box, through doors that see requests and through doors that do not.
# shellcheck disable=SC2016,SC2089,SC2090
LAB_NGINX='
user root; daemon off; worker_processes 1; master_process off; pid nginx.pid; error_log nginx.err warn;
events { worker_connections 1024; }
http {
        access_log nginx.log; client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
        gzip on; gzip_types *; gzip_min_length 1; default_type text/plain; keepalive_requests 10000; client_max_body_size 100m;
        server {
                listen 11.22.33.80:80; listen 11.22.33.80:443 ssl http2; server_name nginx.test; ssl_certificate cert.pem; ssl_certificate_key key.pem; root www;
                location /files/ { sendfile on; }
                location /who { add_header X-Said $http_authorization always; return 200 "you are $http_authorization\n"; }
                location /denied { return 401 "not $http_authorization\n"; }
                location /away { return 302 http://collector.test/?t=$http_authorization; }
                location /put { client_body_in_file_only on; dav_methods PUT; return 201 "took $content_length\n"; }
                location / { return 200 "$request_method $uri $server_protocol\n"; }
        }
        server { listen 11.22.33.80:443 ssl; server_name other.nginx.test; ssl_certificate cert.pem; ssl_certificate_key key.pem; location / { return 200 "another tenant\n"; } }
}'
export LAB_NGINX
. "$(dirname "$0")/lib-net.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v nginx >/dev/null || { skip "nginx as the server" "nginx is not installed"; done_testing; }
trust_lab || { skip "nginx as the server" "this host has no file of roots"; done_testing; }
mkdir -p "$T/lab/www/files" "$T/lab/tmp" && head -c 20000000 /dev/urandom >"$T/lab/www/files/big" && seq 1 100000 >"$T/lab/www/files/text"
git init -q "$T/lab/work" 2>/dev/null && (cd "$T/lab/work" && echo one >a && git add a && git -c user.name=t -c user.email=t@t commit -qm m) 2>/dev/null &&
        git clone -q --bare "$T/lab/work" "$T/lab/www/files/r.git" 2>/dev/null && git -C "$T/lab/www/files/r.git" update-server-info
chmod -R a+rX "$T/lab/www"
curl -sS -m 5 http://11.22.33.80/up >"$T/out" 2>&1
is "nginx stands" "$(cat "$T/out")" "GET /up HTTP/1.1"
[ "$(cat "$T/out")" = "GET /up HTTP/1.1" ] || { cat "$T/lab/nginx.err" "$T/lab/log" >&2; done_testing; }
big=$(sha256sum <"$T/lab/www/files/big") text=$(sha256sum <"$T/lab/www/files/text")
have() { command -v "$1" >/dev/null || { skip "$who, $how: $1" "not installed"; return 1; }; }
# through NAME WANT COMMAND...: the last line of what it prints
through() {
        name=$1 want=$2
        shift 2
        # shellcheck disable=SC2086
        box $who $door --limit 'procs 200' -- "$@"
        is "$who, $how: $name" "$(tail -n 1 "$T/out")" "$want"
        [ "$status" -eq 0 ] || fail "$who, $how: $name ends well" "status $status" "$(tail -n 5 "$T/err")"
}
for who in root as_user; do
        for how in requests bytes; do
                door="--net https://nginx.test/** --net http://nginx.test/**"
                # node trusts no file of the system, only what it is told to
                [ $how = requests ] || door="--net nginx.test:443 --net nginx.test:80 --env NODE_EXTRA_CA_CERTS=/etc/cordon/ca-bundle.pem"
                proto=HTTP/2.0
                [ $how = bytes ] || ldd "$CORDON_LIBEXEC/cordon-egress" | grep -q nghttp2 || proto=HTTP/1.1
                through "curl" "GET /c $proto" curl -sS -m 10 https://nginx.test/c
                through "curl, compressed" "$text" sh -c 'curl -sS -m 10 --compressed https://nginx.test/files/text | sha256sum'
                through "curl, 20 MB over TLS" "$big" sh -c 'curl -sS -m 60 https://nginx.test/files/big | sha256sum'
                through "curl, 20 MB in the clear" "$big" sh -c 'curl -sS -m 60 http://nginx.test/files/big | sha256sum'
                through "curl, a range" "$(head -c 2000 "$T/lab/www/files/text" | tail -c 1000 | sha256sum)" sh -c 'curl -sS -m 10 -r 1000-1999 https://nginx.test/files/text | sha256sum'
                through "curl, HEAD" "$(wc -c <"$T/lab/www/files/big")" sh -c "curl -sS -m 10 -I http://nginx.test/files/big | tr -d '\r' | sed -n 's/^[Cc]ontent-[Ll]ength: //p'"
                through "curl, a chunked upload" "200" sh -c 'seq 1 50000 | curl -sS --http1.1 -m 20 -o /dev/null -w "%{http_code}\n" -X POST -H "Transfer-Encoding: chunked" --data-binary @- https://nginx.test/up'
                through "curl, 200 requests on one connection" "200 1" sh -c 'curl -sS -m 30 -o /dev/null -w "%{num_connects}\n" "https://nginx.test/[1-200]" | awk "{ n++; c += \$1 } END { print n, c }"'
                have wget && through "wget" "$big" sh -c 'wget -q -O - https://nginx.test/files/big | sha256sum'
                through "python urllib" "GET /u HTTP/1.1" python3 -c 'import urllib.request as u; print(u.urlopen("https://nginx.test/u").read().decode().strip())'
                if "$CORDON" run -- python3 -c 'import requests' 2>/dev/null; then
                        through "python requests, a session, gzip, 8 threads" 200 python3 -c '
import requests, concurrent.futures as f
s = requests.Session()
print(sum(f.ThreadPoolExecutor(8).map(lambda i: s.get("https://nginx.test/%d" % i).text == "GET /%d HTTP/1.1\n" % i, range(200))))'
                else
                        skip "$who, $how: python requests" "not installed where a box sees it"
                fi
                through "python asyncio over TLS, 50 at once" 50 python3 -c '
import asyncio, ssl
async def one(i):
    r, w = await asyncio.open_connection("nginx.test", 443, ssl=ssl.create_default_context(), server_hostname="nginx.test")
    w.write(b"GET /%d HTTP/1.1\r\nHost: nginx.test\r\nConnection: close\r\n\r\n" % i)
    d = await r.read(); w.close()
    return d.endswith(b"GET /%d HTTP/1.1\n" % i)
async def main(): print(sum(await asyncio.gather(*[one(i) for i in range(50)])))
asyncio.run(main())'
                have node && through "node fetch (undici), 100 at once" 100 node -e '
Promise.all([...Array(100).keys()].map(i => fetch("https://nginx.test/" + i).then(r => r.text()).then(t => t.startsWith("GET /" + i + " ")))).then(a => console.log(a.filter(Boolean).length))'
                have node && through "node https, keep-alive, a body that streams" "$text" sh -c 'node -e "
const https = require(\"https\"), agent = new https.Agent({ keepAlive: true });
https.get(\"https://nginx.test/files/text\", { agent }, r => { r.pipe(process.stdout); r.on(\"end\", () => agent.destroy()) })" | sha256sum'
                [ ! -d "$T/lab/www/files/r.git" ] || through "git clone over TLS" one sh -c 'cd /tmp && git clone -q https://nginx.test/files/r.git c && cat c/a'
        done
        # Another tenant of the same address: neither kind of door leads there.
        for door in https://nginx.test/** nginx.test:443; do
                box $who --net "$door" -- curl -sS -m 5 -k --connect-to other.nginx.test:443:nginx.test:443 https://other.nginx.test/
                hasnt "$who: $door is no door to another tenant by its name in the hello" "$(cat "$T/out")" tenant
        done
        box $who --net 'https://nginx.test/**' -- curl -sS -m 5 -H 'Host: other.nginx.test' https://nginx.test/
        hasnt "$who: nor by its Host" "$(cat "$T/out")" tenant
done

# ---- with a credential, and a server that reflects it in a body, a header, an error and a redirect ----
if [ ! -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        skip "nginx and credentials" "cordon-vault is not built here: it needs OpenSSL"
        done_testing
fi
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
export XDG_CONFIG_HOME="$T/config"
mkdir -m 700 "$T/config"
printf %s "$secret" | "$CORDON" vault add gh --env TOKEN >/dev/null 2>&1
: >"$T/lab/collector.log"
box root --net 'https://nginx.test/** GET with gh' --net 'http://collector.test/** GET' -- sh -c 'for u in who denied; do curl -sS -m 10 -i --compressed -H "Authorization: Bearer $TOKEN" https://nginx.test/$u; done; curl -sS -m 10 -i -L -H "Authorization: Bearer $TOKEN" https://nginx.test/away'
is "every answer came" "$(grep -c -e '^you are ' -e '^not ' -e '^HTTP/.* 302' "$T/out")" 3
is "and none has the secret, in a body, a header, an error or a redirect" "$(grep -c Q9zz "$T/out")" 0
is "the redirect was followed, and carried nothing" "$(grep -c GET "$T/lab/collector.log") $(grep -c -e Q9zz -e ghp_ "$T/lab/collector.log")" "1 0"
has "nginx itself knows it" "$(curl -sS -m 5 -H "Authorization: $secret" http://11.22.33.80/who)" Q9zz
done_testing
