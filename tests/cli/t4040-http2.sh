#!/bin/sh
# HTTP/2 behind URL doors: curl, python and gRPC in a box get it when they want it, each stream is decided as a request of HTTP/1.1
# is, and servers of either version are reached. What a hostile client does with it: t4041.
# shellcheck disable=SC2016,SC2089,SC2090
LAB_NGINX='
user root; daemon off; worker_processes 1; master_process off; pid nginx.pid; error_log nginx.err warn;
events { worker_connections 1024; }
http {
        access_log nginx.log; client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
        default_type text/plain; client_max_body_size 100m;
        server {
                listen 11.22.33.80:80; listen 11.22.33.80:443 ssl http2; server_name nginx.test; ssl_certificate cert.pem; ssl_certificate_key key.pem; root www;
                location /files/ { sendfile on; }
                location /who { return 200 "you are $http_authorization\n"; }
                location / { return 200 "$request_method $request_uri $server_protocol $http_cookie\n"; }
        }
}'
export LAB_NGINX
py=/usr/bin/python3 # whose modules are Debian's
if $py -c 'import grpc' 2>/dev/null; then export LAB_GRPC=yes; fi
. "$(dirname "$0")/lib-net.sh"
PATH=$PATH:/usr/sbin:/sbin
ldd "$CORDON_LIBEXEC/cordon-egress" 2>/dev/null | grep -q nghttp2 || { skip "HTTP/2" "this build has no libnghttp2"; done_testing; }
command -v nginx >/dev/null || { skip "HTTP/2" "nginx is not installed"; done_testing; }
curl --version | grep -q HTTP2 || { skip "HTTP/2" "this curl does not speak it"; done_testing; }
trust_lab || { skip "HTTP/2" "this host has no file of roots"; done_testing; }
mkdir -p "$T/lab/www/files" "$T/lab/tmp" && head -c 5000000 /dev/urandom >"$T/lab/www/files/big" && chmod -R a+rX "$T/lab/www"
soon curl -sS -m 5 -o /dev/null http://11.22.33.80/up
u=https://nginx.test
for who in root as_user; do
        # --- curl ---
        box $who --net "$u/** GET HEAD" --net "$u/put/** POST" -- curl -sS -m 60 -w '%{http_version} %{http_code}\n' -H 'Cookie: a=1; b=2' $u/x?y=1
        is "$who: a client that offers HTTP/2 gets it, and so does the server" "$(cat "$T/out")" "GET /x?y=1 HTTP/2.0 a=1; b=2
2 200"
        box $who --net "$u/** GET" -- curl -sS -m 60 --http1.1 -w '%{http_version}\n' $u/x
        is "$who: one that wants HTTP/1.1 gets that, with the server as well" "$(cat "$T/out")" "GET /x HTTP/1.1 
1.1"
        box $who --net "http://nginx.test/** GET" -- curl -sS -m 60 --http2-prior-knowledge -w '%{http_version}\n' http://nginx.test/x
        is "$who: with prior knowledge, without TLS, from a server that has HTTP/1.1" "$(cat "$T/out")" "GET /x HTTP/1.1 
2"
        box $who --net "https://web.test/** GET" -- curl -sS -m 60 -o /dev/null -w '%{http_version} %{http_code}\n' https://web.test/small
        is "$who: and with TLS" "$(cat "$T/out")" "2 200"
        box $who --net "$u/files/** GET" -- sh -c "curl -sS -m 100 --parallel --parallel-max 8 $(for i in 1 2 3 4 5 6 7 8; do printf '%s -o /tmp/%s ' $u/files/big $i; done); cat /tmp/1 /tmp/8 | sha256sum; cat /tmp/* | wc -c"
        is "$who: eight streams at once are whole" "$(cat "$T/out")" "$(cat "$T/lab/www/files/big" "$T/lab/www/files/big" | sha256sum)
40000000"
        is "$who: over one connection of the box" "$(row nginx.test:443 allow connections)" 1
        is "$who: and each is counted" "$(row nginx.test:443 allow requests)" 8
        box $who --net "$u/put/** POST" -- sh -c "head -c 3000000 /dev/zero | curl -sS -m 60 --data-binary @- -o /dev/null -w '%{http_version} %{http_code} %{size_upload}\n' $u/put/x"
        is "$who: a body goes up" "$(cat "$T/out")" "2 200 3000000"

        # --- refusals ---
        box $who --net "$u/ok GET" -- curl -sS -m 60 -D - $u/ok -o /dev/null --next -sS -m 60 -w '%{http_version} %{http_code}\n' $u/other --next -sS -m 60 -X DELETE -w '%{http_code}\n' $u/ok
        has "$who: a stream that no door covers is answered as ever" "$(cat "$T/out")" "cordon: path not allowed by the door
2 403"
        has "$who: by its method too, on the same connection" "$(cat "$T/out")" "cordon: method not allowed by the door
403"
        is "$who: it is reported" "$(row "GET $u/other" deny why)" "path not allowed by the door"
        is "$who: and the server heard of the first alone" "$(tail -n 1 "$T/lab/nginx.log" | grep -c ' /ok ')" 1
        box $who --net "$u/pay POST where amount=int:1..50" -- curl -sS -m 60 -d amount=7 $u/pay --next -sS -m 60 -d amount=700 -w '%{http_code}\n' $u/pay
        has "$who: bounds hold for a body in frames" "$(cat "$T/out")" "POST /pay HTTP/2.0"
        has "$who: beyond them it is refused" "$(cat "$T/out")" "
403"
        box $who --net "$u/x GET" -- sh -c "head -c 3000000 /dev/zero | curl -sS -m 60 --data-binary @- -w '%{http_code}\n' $u/x"
        is "$who: a long one that is refused is heard out, and answered" "$(cat "$T/out")" "cordon: method not allowed by the door
403"
        box $who --net "$u/** GET" -- curl -sS -m 60 -H 'Host: other.test' -w '%{http_code}\n' $u/x
        has "$who: another authority than the connection's is refused" "$(cat "$T/out")" "421"
        box $who --net "$u/files/** GET cap 300K/in" -- curl -sS -m 60 -o /dev/null -w '%{http_code}\n' $u/files/big
        ok "$who: a cap cuts a stream" test "$status" -ne 0
        box $who --limit 'egress 20K' --net "$u/put/** POST" -- sh -c "head -c 300000 /dev/zero | curl -sS -m 60 --data-binary @- -w '%{http_code}\n' $u/put/x"
        hasnt "$who: and the box's own budget" "$(cat "$T/out")" "POST"

        # --- python ---
        if $py -c 'import httpx, h2' 2>/dev/null; then
                box $who --net "$u/** GET" -- $py -c "
import httpx, ssl
with httpx.Client(http2=True, verify=ssl.create_default_context()) as c:
    r = [c.get('$u/%d' % i) for i in range(20)]
    print(r[0].http_version, sum(x.status_code == 200 for x in r), r[19].text.split()[1])"
                is "$who: python (httpx)" "$(cat "$T/out")" "HTTP/2 20 /19"
        else
                skip "$who: python (httpx)" "python3-httpx or python3-h2 is not installed"
        fi
done

# --- gRPC ---
if [ -z "${LAB_GRPC:-}" ]; then
        skip "gRPC" "python3-grpcio is not installed"
        done_testing
fi
cp "$(dirname "$0")/helpers/grpc_peer.py" "$T/peer.py" && chmod 644 "$T/peer.py"
for who in root as_user; do
        for how in tls:https:50051 plain:http:50052; do
                scheme=${how#*:} port=${how##*:} how=${how%%:*}
                scheme=${scheme%:*}
                box $who --read "$T/peer.py" --limit 'procs 200' --net "$scheme://nginx.test:$port/lab.Echo/** POST" -- \
                        $py "$T/peer.py" call "nginx.test:$port" "$how" unary chat fail big drop unary
                is "$who: gRPC, $how: calls, streams both ways, statuses; a method without a door is denied" "$(cat "$T/out")" "unary <hello> OK nobody
chat [0][1][2][3][4] 0 OK
fail FAILED_PRECONDITION not so
big 3000002 OK nobody
drop PERMISSION_DENIED cordon: path not allowed by the door
unary <hello> OK nobody"
                is "$who: gRPC, $how: and reported" "$(row "POST $scheme://nginx.test:$port/lab.Admin/Drop" deny why)" "path not allowed by the door"
        done
        box $who --read "$T/peer.py" --limit 'procs 200' --net "https://web.test/** POST" -- $py "$T/peer.py" call web.test:443 tls unary
        has "$who: gRPC to a server that has HTTP/1.1 only says so" "$(cat "$T/out")" "UNAVAILABLE cordon: server does not support HTTP/2, required for gRPC"
done
done_testing
