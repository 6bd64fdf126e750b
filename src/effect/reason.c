/* SPDX-License-Identifier: MIT */
/* effect/reason.c - every reason, with its stable name for scripts and its text for users. */
#include "effect/effect.h"

static const struct {
        const char *name, *text;
} reasons[] = {
        [REASON_NONE] = { "none", "" },

        [REASON_NO_DOOR] = { "no-door", "no door covers this" },
        [REASON_READ_ONLY] = { "read-only", "read-only" },
        [REASON_EXCEPTED] = { "excepted", "hidden by an `except`" },
        [REASON_NOT_RUN] = { "not-run", "no run door for this program" },
        [REASON_WRITABLE] = { "writable", "files a box can write cannot be executed" },
        [REASON_HOST] = { "host", "no net door for this host" },
        [REASON_PORT] = { "port", "no net door for this port" },
        [REASON_METHOD] = { "method", "method not allowed by the door" },
        [REASON_URL_PATH] = { "url-path", "path not allowed by the door" },
        [REASON_SCHEME] = { "scheme", "door allows the other scheme (http or https)" },
        [REASON_PARAMETER] = { "parameter", "parameter not allowed by `where`" },
        [REASON_EXPIRED] = { "expired", "door expired (`until`)" },

        [REASON_KEYS] = { "keys", "private keys; no hint on purpose" },
        [REASON_TOKENS] = { "tokens", "tokens or passwords; no hint on purpose" },
        [REASON_PASSWORDS] = { "passwords", "passwords; no hint on purpose" },
        [REASON_HISTORY] = { "history", "personal history; no hint on purpose" },
        [REASON_START] = { "start-file", "the host runs this file by itself; no hint on purpose" },
        [REASON_AGENT] = { "agent", "agent socket, acts as you; no hint on purpose" },
        [REASON_HOST_FILES] = { "host-files", "host data or configuration; no hint on purpose" },
        [REASON_KERNEL] = { "kernel", "kernel interface; no door exists" },
        [REASON_HOME] = { "home", "whole home directory; choose a part of it" },
        [REASON_SYSTEM] = { "system", "system directory" },
        [REASON_METADATA] = { "metadata",
                              "cloud metadata service, gives out credentials; no hint on purpose" },
        [REASON_PRIVATE] = { "private", "private network address or name" },
        [REASON_TUNNEL] = { "tunnel", "DNS name long enough to carry data" },
        [REASON_PROTOCOL] = { "protocol", "only TCP can leave a box" },
        [REASON_ODD_NAME] = { "odd-name", "file name cannot be written in a policy" },
        [REASON_DEVICE] = { "device", "host device" },
        [REASON_DOT_PATH] = { "dot-path", "dot file in your home" },
        [REASON_LINK_OUT] = { "link-out", "symlink that leaves the project" },
        [REASON_TOO_WIDE] = { "too-wide", "door would cover your home or /" },
        [REASON_NO_LINE] = { "no-line", "no policy line allows this" },
        [REASON_NETWORK] = { "network", "no net door" },
        [REASON_UNKNOWN] = { "unknown", "unknown reason" },

        [REASON_CALL] = { "call", "system call not available in a box" },
        [REASON_NAMESPACE] = { "namespace", "boxes cannot create namespaces" },
        [REASON_LOCAL] = { "local", "no `local` line" },
        [REASON_SOCKET] = { "socket", "no net door" },
        [REASON_LOOPBACK] = { "loopback",
                              "the box's localhost is not the host's; the host has a server on this port" },
        [REASON_OWN_PROGRAM] = { "own-program", "this box can write the file, so it cannot execute it" },
        [REASON_TOO_LARGE] = { "too-large", "EXDEV: directory too large to rename behind an edit door (5,000 "
                                            "entries, 64 levels, 64 MB)" },
        [REASON_MOUNTED] = { "mounted", "EXDEV: contains an `except` or another door" },
        [REASON_NOT_OWNED] = { "not-owned", "EXDEV: contains files that you may not move" },
        [REASON_GROUP] = { "group",
                           "group is not your primary group, the only one an edit door maps without root" },
        [REASON_COUNTERS] = { "counters", "kernel counters show the whole machine; measure outside the box, "
                                          "or trace with `local trace`" },
        [REASON_WATCH] = { "watch", "a box can watch what it can change and changes behind its `read` doors; "
                                    "not opens, and no directory with a hidden name" },
        [REASON_NAME] = { "name", "no net door for this host name" },
        [REASON_AGENT_REQUEST] = { "agent-request", "agent request other than use of the key" },
        [REASON_INIT_MESSAGE] = { "init-message", "unexpected message from cordon-init; the box was ended" },
        [REASON_BROKER_DIED] = { "broker-died", "network broker exited before the box" },

        [REASON_MALFORMED_NAME] = { "malformed-name", "invalid character in the host name" },
        [REASON_UNRESOLVED] = { "unresolved", "host name does not resolve" },
        [REASON_RESOLVER_BUSY] = { "resolver-busy", "too many name lookups at once" },
        [REASON_RESOLVER_GONE] = { "resolver-gone", "cordon-resolver exited; names cannot be resolved" },
        [REASON_TOO_MANY_NAMES] = { "too-many-names", "too many different host names" },
        [REASON_GUARDED_ADDRESS] = { "guarded-address", "name resolves to a guarded address" },
        [REASON_NO_ANSWER] = { "no-answer", "no answer" },
        [REASON_NO_ANSWER_IN_TIME] = { "no-answer-in-time", "timed out" },
        [REASON_NO_ROUTE] = { "no-route", "no route there" },
        [REASON_NO_PORTS] = { "no-ports", "no local port left" },
        [REASON_NO_ROOM] = { "no-room", "no descriptors or memory for another connection" },
        [REASON_BACK_OFF] = { "back-off", "8 failures in a row; retries are paused" },
        [REASON_TOO_MANY_FLOWS] = { "too-many-connections", "too many connections from this box" },
        [REASON_NO_MEMORY] = { "no-memory", "out of memory" },
        [REASON_MOCK_BYTES] = { "mock-bytes", "stage mock answers HTTP requests only" },
        [REASON_MOCK_NOTHING] = { "mock-nothing", "stage mock connects to nothing" },
        [REASON_BOX_ENDED] = { "box-ended", "the box ended" },

        [REASON_LIMIT_EFFECTS] = { "limit-effects", "limit `effects` reached" },
        [REASON_LIMIT_RATE] = { "limit-rate", "limit `rate` reached for this hour" },
        [REASON_LIMIT_EGRESS] = { "limit-egress", "limit `egress` reached" },
        [REASON_LIMIT_INGRESS] = { "limit-ingress", "limit `ingress` reached" },
        [REASON_CAP_HOUR] = { "cap-hour", "hourly `cap` of the door reached" },
        [REASON_CAP] = { "cap", "`cap` of the door reached" },
        [REASON_CAP_OUT] = { "cap-out", "outgoing `cap` of the door reached" },
        [REASON_CAP_IN] = { "cap-in", "incoming `cap` of the door reached" },
        [REASON_LEDGER] = { "ledger", "ledger cannot record it" },
        [REASON_GATE_DENIED] = { "gate-denied", "denied by a person" },
        [REASON_GATE_EXPIRED] = { "gate-expired", "not approved in time" },
        [REASON_GATE_WITHDRAWN] = { "gate-withdrawn", "cancelled before it was approved" },
        [REASON_GATE_DRIFTED] = { "gate-drifted", "differs from what was approved" },
        [REASON_GATE_TOO_LONG] = { "gate-too-long", "body over 64 KiB, too long to review" },
        [REASON_GATE_UNCLEAR] = { "gate-unclear", "cannot be displayed exactly for review" },
        [REASON_GATE_FULL] = { "gate-full", "too many pending approvals" },
        [REASON_GATE_GONE] = { "gate-gone", "approvals are unavailable" },
        [REASON_LABEL_SECRECY] = { "label-secrecy", "run holds private data that the door does not accept" },
        [REASON_LABEL_TRIFECTA] = { "label-trifecta", "run holds untrusted text and private data that the "
                                                      "door does not accept" },
        [REASON_LABEL_ACTION] = { "label-action", "run has read untrusted text; a person must approve" },
        [REASON_LABEL_DECLASSIFY] = { "label-declassify",
                                      "run holds private data; a person must approve its release" },

        [REASON_NOT_TLS] = { "not-tls", "no TLS ClientHello on port 443" },
        [REASON_SNI_ENCRYPTED] = { "sni-encrypted", "ClientHello uses ECH, which hides the host name" },
        [REASON_SNI_EARLY_DATA] = { "sni-early-data", "ClientHello with early data (0-RTT)" },
        [REASON_SNI_MISSING] = { "sni-missing", "ClientHello without SNI" },
        [REASON_SNI_OTHER] = { "sni-other", "SNI names another host" },
        [REASON_SNI_MALFORMED] = { "sni-malformed", "malformed ClientHello" },
        [REASON_SNI_NOT_FIRST] = { "sni-not-first", "first TLS record is not a ClientHello" },
        [REASON_SNI_ENDLESS] = { "sni-endless", "too much data after the ClientHello" },

        [REASON_NOT_HTTP] = { "not-http", "neither HTTP nor TLS" },
        [REASON_HTTP2_MALFORMED] = { "http2-malformed", "HTTP/2 protocol error" },
        [REASON_HEADER_FOLDED] = { "header-folded", "folded header line" },
        [REASON_HEADER_COUNT] = { "header-count", "more than 256 header lines" },
        [REASON_HEADER_NAME] = { "header-name", "invalid header name" },
        [REASON_HEADER_BYTE] = { "header-byte", "control character in a header" },
        [REASON_LINE_END] = { "line-end", "line does not end in CR LF" },
        [REASON_LENGTH_AND_CODING] = { "length-and-coding", "both Content-Length and Transfer-Encoding" },
        [REASON_LENGTH_TWICE] = { "length-twice", "duplicate Content-Length or Transfer-Encoding" },
        [REASON_CODING] = { "coding", "Transfer-Encoding other than chunked" },
        [REASON_LENGTH] = { "length", "invalid Content-Length" },
        [REASON_CONNECTION_NAMES] = { "connection-names", "Connection names more than 64 headers" },
        [REASON_HEAD_TOO_LONG] = { "head-too-long", "request or response head too long" },
        [REASON_REQUEST_LINE] = { "request-line", "malformed request line" },
        [REASON_HTTP_VERSION] = { "http-version", "HTTP version is not 1.0 or 1.1" },
        [REASON_BODY_UNCLEAR] = { "body-unclear", "Connection lists a header that frames the body" },
        [REASON_HOST_COUNT] = { "host-count", "not exactly one Host header" },
        [REASON_EXPECTATION] = { "expectation", "Expect other than 100-continue" },
        [REASON_STATUS_LINE] = { "status-line", "malformed status line" },
        [REASON_STATUS_BYTE] = { "status-byte", "control character in the status line" },
        [REASON_METHOD_UNKNOWN] = { "method-unknown", "unsupported HTTP method" },
        [REASON_WEBSOCKET] = { "websocket", "malformed WebSocket upgrade" },
        [REASON_QUERY_BYTE] = { "query-byte", "invalid character in the query" },
        [REASON_QUERY_NUL] = { "query-nul", "%00 in the query" },
        [REASON_TARGET] = { "target", "request target is not a path or URL of this server" },
        [REASON_TARGET_OTHER] = { "target-other", "request target names another server" },
        [REASON_TARGET_NO_PATH] = { "target-no-path", "request target has no path" },
        [REASON_PATH_TOO_LONG] = { "path-too-long", "path too long" },
        [REASON_PATH_SEGMENTS] = { "path-segments", "too many path segments after %2F" },
        [REASON_PATH_MALFORMED] = { "path-malformed", "malformed path" },
        [REASON_HOST_HEADER] = { "host-header", "Host header names another server" },
        [REASON_CHUNK_SIZE] = { "chunk-size", "invalid chunk size" },
        [REASON_CHUNK_EXTENSION] = { "chunk-extension",
                                     "chunk extension too long or with a control character" },
        [REASON_CHUNK_TRAILER] = { "chunk-trailer", "trailer too long or with a control character" },
        [REASON_CHUNK_LINE_END] = { "chunk-line-end", "chunk size line does not end in CR LF" },
        [REASON_CHUNK_LENGTH] = { "chunk-length", "chunk longer than its stated size" },
        [REASON_TRAILER_LINE_END] = { "trailer-line-end", "trailer line does not end in CR LF" },
        [REASON_CHUNKED] = { "chunked", "malformed chunked body" },
        [REASON_READ_TWICE] = { "read-twice", "held request cannot be parsed again" },

        [REASON_DESTINATION] = { "destination", "Destination header is not a path of this server" },
        [REASON_DESTINATION_DOOR] = { "destination-door", "Destination not allowed by the door" },
        [REASON_METHOD_HEADER] = { "method-header", "header overrides the method" },
        [REASON_PATH_HEADER] = { "path-header", "header overrides the path" },
        [REASON_SOURCE_HEADER] = { "source-header", "header refers to a second resource, which no door "
                                                    "allows with this credential" },
        [REASON_SOURCE_UNCLEAR] = { "source-unclear", "header or parameter refers to a second resource, and "
                                                      "it is unclear which" },
        [REASON_METHOD_COOKIE] = { "method-cookie", "cookie overrides the method" },
        [REASON_METHOD_PARAMETER] = { "method-parameter", "parameter overrides the method" },
        [REASON_ESCAPED_SLASH] = { "escaped-slash", "%2F within the path of the door, which a server may "
                                                    "read as another path" },
        [REASON_NO_PLACE] = { "no-place", "URL belongs to no place in stage test" },
        [REASON_PLACE_NOWHERE] = { "place-nowhere", "place has no URL in this stage" },
        [REASON_NOT_RECORDED] = { "not-recorded", "no recorded answer for this request (stage mock)" },

        [REASON_PLACEHOLDER_IN_NAME] = { "placeholder-in-name", "credential placeholder in the host name" },
        [REASON_PLACEHOLDER_IN_BODY] = { "placeholder-in-body", "credential placeholder in the body" },
        [REASON_PLACEHOLDER] = { "placeholder", "credential placeholder in the wrong place" },
        [REASON_OWN_PLACEHOLDER] = { "own-placeholder",
                                     "placeholder of the door's credential in the wrong place" },
        [REASON_BODY_PACKED] = { "body-packed",
                                 "body is compressed in a way that cannot be searched for secrets" },
        [REASON_CANARY] = { "canary", "a canary value was sent" },
        [REASON_CREDENTIAL_NOT_LOADED] = { "credential-not-loaded", "credential of the door is not loaded" },
        [REASON_CREDENTIAL_EXPIRED] = { "credential-expired", "credential of the door has expired" },
        [REASON_CREDENTIAL_USED_UP] = { "credential-used-up",
                                        "credential used `--max-uses` times in this run" },
        [REASON_SECRET_REMOVED] = { "secret-removed", "secret removed from the response" },
        [REASON_SIGV4_PRESIGNED] = { "sigv4-presigned", "presigned URL; the door signs requests only" },
        [REASON_SIGV4_ALGORITHM] = { "sigv4-algorithm", "signature algorithm is not AWS4-HMAC-SHA256" },
        [REASON_SIGV4_CHUNKS] = { "sigv4-chunks",
                                  "chunk-signed body; use an unsigned or fully signed payload" },
        [REASON_SIGV4_SCOPE] = { "sigv4-scope", "AWS region and service unknown" },
        [REASON_SIGV4_LENGTH] = { "sigv4-length", "body over 4 MiB without x-amz-content-sha256" },

        [REASON_TLS_SERVER] = { "tls-server", "TLS handshake with the server failed" },
        [REASON_TLS_CLIENT] = { "tls-client", "TLS handshake with the box failed" },
        [REASON_TLS_NAME] = { "tls-name", "TLS cannot be inspected for this name" },
        [REASON_TLS_BROKE] = { "tls-broke", "TLS connection failed" },
        [REASON_SERVER_CLOSED] = { "server-closed", "server unreachable" },
        [REASON_SERVER_SILENT] = { "server-silent", "server closed the connection without a response" },
        [REASON_SERVER_HTTP1] = { "server-http1", "server does not support HTTP/2, required for gRPC" },
        [REASON_ANSWER_CUT] = { "answer-cut", "incomplete response" },
        [REASON_ANSWER_FORM] = { "answer-form", "response failed the door's `as` check" },
        [REASON_ANSWER_MALFORMED] = { "answer-malformed", "malformed response" },
        [REASON_ANSWER_UPGRADE] = { "answer-upgrade", "unrequested protocol upgrade by the server" },
        [REASON_ANSWER_PROVISIONAL] = { "answer-provisional", "only 1xx responses from the server" },
        [REASON_ANSWER_COMPRESSED] = { "answer-compressed",
                                       "compressed response cannot be searched for secrets" },
        [REASON_ANSWER_DAMAGED] = { "answer-damaged", "corrupt compressed response" },
        [REASON_ANSWER_BREAKS_OFF] = { "answer-breaks-off", "truncated compressed response" },
        [REASON_ANSWER_UNREAD] = { "answer-unread", "built without decompression" },
        [REASON_ANSWER_TAIL] = { "answer-tail", "data after the end of the compressed response" },
        [REASON_CLIENT_CUT] = { "client-cut", "incomplete request" },
        [REASON_CLIENT_LEFT] = { "client-left", "client disconnected during the response" },
        [REASON_CLIENT_LEFT_EARLY] = { "client-left-early", "client disconnected before the response" },
};
_Static_assert(sizeof reasons / sizeof *reasons == REASON__COUNT, "a row for each reason");

const char *effect_reason_name(enum effect_reason r)
{
        return (unsigned) r < REASON__COUNT ? reasons[r].name : "unknown";
}

void effect_put_why(struct buf *out, enum effect_reason r, const char *detail)
{
        bool whole = r == REASON_PARAMETER && detail[0]; /* it names the parameter, which is enough */
        buf_printf(out, "%s%s%s", whole ? "" : effect_reason_text(r), detail[0] && !whole ? ": " : "",
                   detail);
}

enum effect_reason effect_reason_find(struct span name)
{
        for (unsigned r = REASON_NONE + 1; r < REASON__COUNT; r++)
                if (span_is(name, reasons[r].name))
                        return (enum effect_reason) r;
        return REASON_NONE;
}

bool effect_reason_is_placeholder(enum effect_reason r)
{
        return r == REASON_PLACEHOLDER_IN_NAME || r == REASON_PLACEHOLDER_IN_BODY || r == REASON_PLACEHOLDER;
}

bool effect_reason_is_credential(enum effect_reason r)
{
        return effect_reason_is_placeholder(r) || r == REASON_OWN_PLACEHOLDER || r == REASON_CANARY ||
               r == REASON_CREDENTIAL_NOT_LOADED || r == REASON_CREDENTIAL_EXPIRED ||
               r == REASON_CREDENTIAL_USED_UP;
}

const char *effect_reason_text(enum effect_reason r)
{
        return (unsigned) r < REASON__COUNT ? reasons[r].text : "";
}
