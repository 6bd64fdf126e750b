# grpc_peer.py serve ADDRESS PORT CERT|-: a gRPC server without generated code: bytes in, bytes out.
# grpc_peer.py call HOST:PORT tls|plain WHAT...: its client; prints one line for each WHAT.
import sys
from concurrent import futures

import grpc


def serve(address, port, cert):
    def unary(request, context):
        context.set_trailing_metadata((('x-said', dict(context.invocation_metadata()).get('authorization', 'nobody')),))
        return b'<' + request + b'>'

    def chat(requests, context):  # an answer to each before the next comes
        for r in requests:
            yield b'[' + r + b']'

    def fail(request, context):
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, 'not so')

    rows = {'/lab.Echo/Unary': grpc.unary_unary_rpc_method_handler(unary),
            '/lab.Echo/Chat': grpc.stream_stream_rpc_method_handler(chat),
            '/lab.Echo/Fail': grpc.unary_unary_rpc_method_handler(fail),
            '/lab.Admin/Drop': grpc.unary_unary_rpc_method_handler(unary)}

    class Lab(grpc.GenericRpcHandler):
        def service(self, details):
            return rows.get(details.method)

    server = grpc.server(futures.ThreadPoolExecutor(8), options=[('grpc.max_receive_message_length', 1 << 26)])
    server.add_generic_rpc_handlers((Lab(),))
    at = '%s:%s' % (address, port)
    if cert == '-':
        server.add_insecure_port(at)
    else:
        pem = open(cert, 'rb').read()
        server.add_secure_port(at, grpc.ssl_server_credentials([(pem, pem)]))
    server.start()
    print('up', flush=True)
    sys.stdin.read()
    server.stop(0)


def chat(channel):
    """Each message is sent only when the answer to the one before it is here."""
    import queue
    q = queue.Queue()
    call = channel.stream_stream('/lab.Echo/Chat')(iter(q.get, None))
    got = []
    for i in range(5):
        q.put(b'%d' % i)
        got.append(next(call).decode())
    q.put(None)
    rest = [m for m in call]
    return ''.join(got) + ' %d %s' % (len(rest), call.code().name)


def call(to, how, whats):
    options = [('grpc.max_receive_message_length', 1 << 26)]
    if how == 'tls':
        import os
        roots = open(os.environ.get('SSL_CERT_FILE', '/etc/ssl/certs/ca-certificates.crt'), 'rb').read()
        channel = grpc.secure_channel(to, grpc.ssl_channel_credentials(roots), options=options)
    else:
        channel = grpc.insecure_channel(to, options=options)
    for what in whats:
        try:
            if what == 'chat':
                print(what, chat(channel), flush=True)
                continue
            path = {'drop': '/lab.Admin/Drop', 'fail': '/lab.Echo/Fail'}.get(what, '/lab.Echo/Unary')
            body = b'x' * 3000000 if what == 'big' else b'hello'
            meta = (('authorization', 'Bearer box'),) if what == 'key' else None
            r, c = channel.unary_unary(path).with_call(body, timeout=60, metadata=meta)
            print(what, r.decode() if len(r) < 100 else len(r), c.code().name, dict(c.trailing_metadata()).get('x-said'), flush=True)
        except grpc.RpcError as e:
            print(what, e.code().name, e.details(), flush=True)


if sys.argv[1] == 'serve':
    serve(*sys.argv[2:5])
else:
    call(sys.argv[2], sys.argv[3], sys.argv[4:])
