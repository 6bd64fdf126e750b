# Unmodified programs reach what a door names: no proxy variable, no library, no wrapper.
. "$(dirname "$0")/lib-net.sh"
here=$(dirname "$0")
mkdir "$T/lab/git" && git init -q "$T/lab/work" 2>/dev/null && (cd "$T/lab/work" && echo one >a && git add a && git -c user.name=t -c user.email=t@t commit -qm m) 2>/dev/null &&
        git clone -q --bare "$T/lab/work" "$T/lab/git/r.git" 2>/dev/null && git -C "$T/lab/git/r.git" update-server-info
chmod -R a+rX "$T/lab"
cc -O1 -o "$T/client" "$here/helpers/net_client.c" -lpthread && chmod 755 "$T/client" || fail "the helper compiles"
cc -O1 -static -o "$T/client-static" "$here/helpers/net_client.c" -lpthread 2>/dev/null && chmod 755 "$T/client-static"
door="--net web.test:80 --net web.test:443 --net web.test:7 --net web.test:7001 --net web.test:7002"
# run NAME WANT COMMAND...
run() {
        name=$1 want=$2
        shift 2
        # shellcheck disable=SC2086
        box $who $door --limit 'procs 200' --read "$T/client" --read "$T/lab/ca.pem" -- "$@"
        is "$who: $name" "$(cat "$T/out" | tail -n 1)" "$want"
        [ "$status" -eq 0 ] || fail "$who: $name ends well" "status $status" "$(cat "$T/err")"
}
have() { command -v "$1" >/dev/null || { skip "$who: $1" "not installed"; return 1; }; }
for who in root as_user; do
        run "curl" "GET /c 0" curl -sS http://web.test/c
        run "curl over TLS" "GET /c 0" curl -sS --cacert "$T/lab/ca.pem" https://web.test/c
        run "curl posts" "POST /c 3" curl -sS -d abc http://web.test/c
        have wget && run "wget" "GET /w 0" wget -q -O - http://web.test/w
        have wget && run "wget over TLS" "GET /w 0" wget -q -O - --ca-certificate="$T/lab/ca.pem" https://web.test/w
        run "python urllib" "GET /u 0" python3 -c 'import urllib.request as u; print(u.urlopen("http://web.test/u").read().decode().strip())'
        if "$CORDON" run -- python3 -c 'import requests' 2>/dev/null; then
                run "python requests, 200 on 16 threads" "200" python3 -c '
import requests, concurrent.futures as f
print(sum(f.ThreadPoolExecutor(16).map(lambda i: requests.get("http://web.test/%d" % i).text == "GET /%d 0\n" % i, range(200))))'
        else
                skip "$who: python requests" "not installed where a box sees it"
        fi
        run "python asyncio, 100 at once" "100" python3 -c '
import asyncio
async def one(i):
    r, w = await asyncio.open_connection("web.test", 80)
    w.write(b"GET /%d HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n" % i)
    return (await r.read()).endswith(b"GET /%d 0\n" % i)
async def main():
    print(sum(await asyncio.gather(*[one(i) for i in range(100)])))
asyncio.run(main())'
        run "python happy eyeballs" "GET" python3 -c '
import asyncio
async def main():
    r, w = await asyncio.open_connection("web.test", 80, happy_eyeballs_delay=0.1)
    w.write(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"); print((await r.read()).split(b"\r\n\r\n")[1].split()[0].decode())
asyncio.run(main())'
        run "python subprocess (vfork)" "GET /s 0" python3 -c 'import subprocess as s; print(s.run(["curl","-sS","http://web.test/s"],capture_output=True,text=True).stdout.strip())'
        have node && run "node fetch, 100 at once" "100" node -e '
Promise.all([...Array(100).keys()].map(i => fetch("http://web.test/" + i).then(r => r.text()).then(t => t == "GET /" + i + " 0\n"))).then(a => console.log(a.filter(Boolean).length))'
        have node && run "node c-ares" "198.18.0.1" node -e 'require("dns").resolve4("web.test", (e, a) => console.log(e || a[0]))'
        have perl && run "perl" "GET /p 0" perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("web.test:80") or die; print $s "GET /p HTTP/1.0\r\nConnection: close\r\n\r\n"; @l = <$s>; print $l[-1]'
        run "bash /dev/tcp" "GET /b 0" bash -c 'exec 3<>/dev/tcp/web.test/80; printf "GET /b HTTP/1.1\r\nConnection: close\r\n\r\n" >&3; tail -n 1 <&3'
        [ ! -d "$T/lab/git/r.git" ] || run "git clone" "one" sh -c 'cd /tmp && git clone -q http://web.test/git/r.git c && cat c/a'
        for how in blocking nonblocking epoll-first threads vfork peer; do
                run "C, $how" "" "$T/client" web.test 7 $how
        done
        run "C, half-close goes through both ways" "" "$T/client" web.test 7001 half-close
        run "C, a reset comes through as one" "" "$T/client" web.test 7002 reset
        if [ -x "$T/client-static" ]; then
                box $who --net web.test:7 -- "$T/client-static" web.test 7 blocking
                is "$who: a static program" "$status $(cat "$T/out")" "0 "
        else
                skip "$who: a static program" "this compiler cannot link one"
        fi
        # 64 MB each way.
        run "64 MB down" 67108864 sh -c 'curl -sS http://web.test/bytes/67108864 | wc -c'
        is "$who: and counted" "$([ "$(row web.test:80 allow received)" -ge 67108864 ] && echo yes)" yes
        run "64 MB up" "POST /up 67108864" sh -c 'head -c 67108864 /dev/zero | curl -sS -H "Expect:" -H "Transfer-Encoding:" -T - -X POST -H "Content-Length: 67108864" http://web.test/up'
        # The box's own servers.
        run "a server of the box's own, at every address" "yes" sh -c 'python3 -m http.server 8123 >/dev/null 2>&1 & for i in $(seq 200); do curl -s -m 5 -o /dev/null http://127.0.0.1:8123/ && break; sleep 0.1; done; curl -sS -m 5 http://127.0.0.1:8123/ >/dev/null && curl -sS -m 5 "http://198.19.255.2:8123/" >/dev/null && echo yes; kill $!'
        run "and on a port that a door has" "yes" python3 -c '
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", 7001)); s.listen()
c = socket.create_connection(("127.0.0.1", 7001)); print("yes")'
done
done_testing
