# Requests that servers read in two ways, and requests that honest clients send and few proxies let through: to Python's http.server and nginx.
# shellcheck disable=SC2016,SC2089,SC2090
LAB_NGINX='
user root; daemon off; worker_processes 1; master_process off; pid nginx.pid; error_log nginx.err warn;
events { worker_connections 64; }
http {
        access_log off; client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp; default_type text/plain;
        server { listen 11.22.33.80:80; server_name nginx.test; location / { return 200 "$request_method $uri $args\n"; } }
}'
export LAB_NGINX
. "$(dirname "$0")/lib-net.sh"
PATH=$PATH:/usr/sbin:/sbin
python3 "$(dirname "$0")/helpers/unread_server.py" "$T/lab" >"$T/unread.err" 2>&1 &
UNREAD=$!
soon test -e "$T/lab/unread.port" || { fail "Python's http.server stands" "$(cat "$T/unread.err")"; kill $UNREAD; done_testing; }
port=$(cat "$T/lab/unread.port")
seen() { cut -d ' ' -f 2- "$T/lab/unread.log" | tr '\n' ';'; }
# Sends what it is given, one argument after the other, each behind the answer to the one before it, on one connection.
cat >"$T/say.py" <<'PY'
import socket, sys
c = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
f = c.makefile('rb')
for text in sys.argv[3:]:
    c.sendall(text.encode().decode('unicode_escape').encode('latin1'))
    line, length, keep = f.readline(), 0, []
    while line.startswith(b'HTTP/1.1 100 '):
        f.readline()
        line = f.readline()
    while len(h := f.readline()) > 2:
        length = int(h.split(b':')[1]) if h.lower().startswith(b'content-length:') else length
        keep += [h.strip().decode()] if h.lower().startswith(b'connection:') else []
    body = b'' if text.startswith('HEAD') else f.read(length)
    print(line.split()[1].decode() if line else 'gone', *keep, body.decode().strip())
PY
chmod 644 "$T/say.py" && chmod 755 "$T"
say() { box "$who" --read "$T/say.py" "$@"; }
hidden='DELETE /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n'
for who in root as_user; do
        door="--net http://127.0.0.1:$port/ok/**"
        for method in GET HEAD DELETE OPTIONS; do
                : >"$T/lab/unread.log"
                # shellcheck disable=SC2086
                say --net "http://127.0.0.1:$port/ok/** DELETE GET HEAD OPTIONS" -- python3 "$T/say.py" 127.0.0.1 "$port" \
                        "$method /ok/1 HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nContent-Length: 39\r\n\r\n$hidden" "GET /ok/2 HTTP/1.1\r\nHost: 127.0.0.1:$port\r\n\r\n"
                is "$who: what stands in the body of $method is not taken for a request" "$(seen)" "$method /ok/1 Connection=close;GET /ok/2;"
                is "$who: and the request behind it has its own answer" "$(tail -n 1 "$T/out")" "200 GET /ok/2"
        done
        : >"$T/lab/unread.log"
        say --net "http://127.0.0.1:$port/ok/** GET" -- python3 "$T/say.py" 127.0.0.1 "$port" \
                "GET /ok/1 HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nTransfer-Encoding: chunked\r\n\r\n27\r\n$hidden\r\n0\r\n\r\n" "GET /ok/2 HTTP/1.1\r\nHost: 127.0.0.1:$port\r\n\r\n"
        is "$who: nor what comes in chunks" "$(seen)" "GET /ok/1 Connection=close;GET /ok/2;"
        : >"$T/lab/unread.log"
        say --net "http://127.0.0.1:$port/ok/** GET" -- python3 "$T/say.py" 127.0.0.1 "$port" \
                "GET /ok/1 HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\nDELETE /ok/2 HTTP/1.1\r\nHost: 127.0.0.1:$port\r\n\r\n"
        is "$who: what is pipelined is judged by itself" "$(seen)" "GET /ok/1;"

        # An address in a URL door licenses no name.
        : >"$T/lab/unread.log"
        box $who --net "http://127.0.0.1:$port/ok/** GET" --net "http://loop.test:$port/** GET" -- curl -sS -m 10 -o /dev/null -w '%{http_code}' "http://loop.test:$port/secret"
        is "$who: a URL door at an address does not let a name lead there: 403" "$(cat "$T/out") $(seen)" "403 "
        is "$who: and the line that would is named" "$(row "GET http://loop.test:$port/secret" deny permit)" "net 127.0.0.1:$port"
        box $who --net "127.0.0.1:$port" --net "http://loop.test:$port/** GET" -- curl -sS -m 10 "http://loop.test:$port/name"
        is "$who: a door address:port does" "$(cat "$T/out")" "GET /name"

        # Honest clients.
        : >"$T/lab/unread.log"
        # shellcheck disable=SC2086
        box $who $door -- curl -sS -m 10 --http2 "http://127.0.0.1:$port/ok/h2c"
        is "$who: curl --http2 in the clear" "$(cat "$T/out") $(seen)" "GET /ok/h2c GET /ok/h2c;"
        if command -v java >/dev/null && [ "$who" = root ]; then
                cat >"$T/Get.java" <<'JAVA'
import java.net.URI;
import java.net.http.*;
public class Get { public static void main(String[] a) throws Exception {
  HttpResponse<String> r = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofString());
  System.out.println(r.statusCode() + " " + r.body().trim()); } }
JAVA
                if (cd "$T" && javac Get.java) >"$T/javac" 2>&1; then
                        # shellcheck disable=SC2046,SC2086
                        box $who $door --read "$T/Get.class" $(printf -- '--read %s ' /etc/java-*) --limit 'procs 200' --limit 'memory 4G' -- java -cp "$T" Get "http://127.0.0.1:$port/ok/java"
                        is "$who: java's HttpClient as it comes" "$(cat "$T/out")" "200 GET /ok/java"
                else
                        skip "$who: java's HttpClient" "no javac"
                fi
        fi
        # shellcheck disable=SC2086
        say $door -- python3 "$T/say.py" 127.0.0.1 "$port" "GET /ok/1 HTTP/1.0\r\nHost: 127.0.0.1:$port\r\nConnection: keep-alive\r\n\r\n" "GET /ok/2 HTTP/1.0\r\nHost: 127.0.0.1:$port\r\n\r\n"
        is "$who: a connection of HTTP/1.0 is kept when it is asked for" "$(tr '\n' ';' <"$T/out")" "200 Connection: keep-alive GET /ok/1;200 Connection: close GET /ok/2;"
        if command -v nginx >/dev/null; then
                for path in '/p/a*b' '/p/a%2Ab' '/p/[1]|2' '/p/%5B1%5d%7c2' '/p/{x}^`"<>' '/p/%7Bx%7D%5E%60%22%3C%3E'; do
                        curl -gsS -m 10 "http://11.22.33.80$path" >"$T/want"
                        box $who --net 'http://nginx.test/p/**' -- curl -gsS -m 10 "http://nginx.test$path"
                        is "$who: nginx sees $path as without a box" "$(cat "$T/out")" "$(cat "$T/want")"
                        box $who --net 'http://nginx.test/q/**' -- curl -gsS -m 10 -o /dev/null -w '%{http_code}' "http://nginx.test$path"
                        is "$who: and elsewhere it is refused" "$(cat "$T/out")" 403
                done
                for query in 'a=\x`y' 'a="b"' 'a=<b>|[c]'; do
                        curl -gsS -m 10 "http://11.22.33.80/p/x?$query" >"$T/want"
                        box $who --net 'http://nginx.test/p/**' -- curl -gsS -m 10 "http://nginx.test/p/x?$query"
                        is "$who: nginx sees the query $query as without a box" "$(cat "$T/out")" "$(cat "$T/want")"
                done
        else
                skip "$who: odd characters" "nginx is not installed"
        fi
done
kill $UNREAD
wait $UNREAD 2>/dev/null
done_testing
