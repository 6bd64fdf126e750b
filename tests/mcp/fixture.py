"""A server with the tools, resources and prompts that the conformance suite asks for, on standard streams, both eras. It stands
behind `cordon mcp wrap --http`, which is what is tested."""
import base64
import hashlib
import json
import sys
import time
import zlib

META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
SEED = b"of this fixture"


def png():
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


IMAGE = base64.b64encode(png()).decode()
SOUND = base64.b64encode(b"RIFF" + (36).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little") + b"\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()
PICTURE = {"type": "image", "data": IMAGE, "mimeType": "image/png"}
SCHEMA = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
          "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
          "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}, "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                         "phone": {"type": "string"}, "email": {"type": "string"}},
          "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
          "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
          "then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": False}


class Refused(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


def send(message):
    sys.stdout.write(json.dumps(dict({"jsonrpc": "2.0"}, **message)) + "\n")
    sys.stdout.flush()


def tell(method, **params):
    send({"method": method, "params": params})


LATER, ASKED = [], [0]


def next_message():
    if LATER:
        return LATER.pop(0)
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def ask(method, **params):
    """A request of the older era to the client."""
    ASKED[0] += 1
    number = f"fixture-{ASKED[0]}"
    send({"id": number, "method": method, "params": params})
    while True:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        got = json.loads(line)
        if got.get("id") == number and "method" not in got:
            return got.get("result") or {"action": "cancel", "content": {}}
        LATER.append(got)


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def form(message, properties):
    return {"mode": "form", "message": message, "requestedSchema": {"type": "object", "properties": properties, "required": list(properties)}}


def elicit(message, **properties):
    return {"method": "elicitation/create", "params": form(message, properties)}


def sample(words, most):
    return {"method": "sampling/createMessage", "params": {"messages": [{"role": "user", "content": {"type": "text", "text": words}}], "maxTokens": most}}


NAME, ROOTS = {"name": {"type": "string"}}, {"method": "roots/list", "params": {}}


def sign(what):
    return what + "." + hashlib.sha256(SEED + what.encode()).hexdigest()


def required(requests, state=None):
    return {"resultType": "input_required", "inputRequests": requests, **({"requestState": sign(state)} if state else {})}


def rounds(params, requests, state=None):
    """None: all responses are there, and the state is ours."""
    got = params.get("inputResponses")
    if state and got is not None and params.get("requestState") != sign(state):
        raise Refused(-32602, "requestState is not one of this server")
    have = got if isinstance(got, dict) else {}
    if all(isinstance(have.get(k), dict) and ("action" not in have[k] or isinstance(have[k].get("content", {}), dict)) for k in requests):
        return None
    return required(requests, state)


def logging(_, meta):
    for i, words in enumerate(("Tool execution started", "Tool processing data", "Tool execution completed")):
        time.sleep(0.05 if i else 0)
        if not meta.get(META + "protocolVersion") or meta.get(META + "logLevel"):
            tell("notifications/message", level="info", data=words)
    return text("done")


def progress(_, meta):
    for i in (0, 50, 100):
        time.sleep(0.05 if i else 0)
        if "progressToken" in meta:
            tell("notifications/progress", progressToken=meta["progressToken"], progress=i, total=100)
    return text("done")


def completed(got):
    return text(f"Elicitation completed: action={got.get('action')}, content={json.dumps(got.get('content'))}")


def multi_round(p):
    state = p.get("requestState")
    if state == sign("second") and "step2" in (p.get("inputResponses") or {}):
        return text("all steps are done")
    if state == sign("first") and "step1" in (p.get("inputResponses") or {}):
        return required({"step2": elicit("Step 2: What is your favorite color?", color={"type": "string"})}, "second")
    return required({"step1": elicit("Step 1: What is your name?", **NAME)}, "first")


def elicitation(p):
    got = rounds(p, {"user_name": elicit("What is your name?", **NAME)})
    name = got or p["inputResponses"]["user_name"].get("content", {}).get("name")
    return got or (text(f"Hello, {name}!") if isinstance(name, str) else required({"user_name": elicit("What is your name?", **NAME)}))


def capabilities(p, meta):
    can = meta.get(META + "clientCapabilities", {})
    return required({k: v for k, v in (("name", elicit("What is your name?", **NAME)), ("words", sample("Say it", 10))) if v["method"].split("/")[0] in can})


def missing(_, meta):
    if "sampling" not in meta.get(META + "clientCapabilities", {}):
        raise Refused(-32021, "the client has no sampling", {"requiredCapabilities": {"sampling": {}}})
    return text("it has")


MANY = {"user_name": elicit("What is your name?", **NAME), "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
CONFIRM = {"confirm": elicit("Please confirm", ok={"type": "boolean"})}
DEFAULTS = {"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30}, "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}, "verified": {"type": "boolean", "default": True}}
TITLED = [{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]
THREE = ["option1", "option2", "option3"]
ENUMS = {"untitledSingle": {"type": "string", "enum": THREE}, "titledSingle": {"type": "string", "oneOf": TITLED},
         "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
         "untitledMulti": {"type": "array", "items": {"type": "string", "enum": THREE}}, "titledMulti": {"type": "array", "items": {"anyOf": TITLED}}}
EMBEDDED = {"uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content."}
MIXED = {"uri": "test://mixed-content-resource", "mimeType": "application/json", "text": '{"test":"data","value":123}'}
STRING = {"type": "string"}
TOOLS = {  # name: (properties, function of params and _meta)
    "test_simple_text": ({}, lambda p, m: text("This is a simple text response for testing.")),
    "test_image_content": ({}, lambda p, m: {"content": [PICTURE]}),
    "test_audio_content": ({}, lambda p, m: {"content": [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]}),
    "test_embedded_resource": ({}, lambda p, m: {"content": [{"type": "resource", "resource": EMBEDDED}]}),
    "test_multiple_content_types": ({}, lambda p, m: {"content": [{"type": "text", "text": "Multiple content types test:"}, PICTURE, {"type": "resource", "resource": MIXED}]}),
    "test_tool_with_logging": ({}, logging), "test_logging_tool": ({}, logging), "test_tool_with_progress": ({}, progress),
    "test_error_handling": ({}, lambda p, m: dict(text("This tool intentionally returns an error for testing"), isError=True)),
    "test_sampling": ({"prompt": STRING}, lambda p, m: text("LLM response: " + str(ask("sampling/createMessage", **sample(p["arguments"]["prompt"], 100)["params"])))),
    "test_elicitation": ({"message": STRING}, lambda p, m: text("User response: " + str(ask("elicitation/create", **form(
        p["arguments"]["message"], {"username": dict(STRING, description="User's response"), "email": dict(STRING, description="User's email address")}))))),
    "test_elicitation_sep1034_defaults": ({}, lambda p, m: completed(ask("elicitation/create", **form("Defaults", DEFAULTS)))),
    "test_elicitation_sep1330_enums": ({}, lambda p, m: completed(ask("elicitation/create", **form("Choices", ENUMS)))),
    "test_missing_capability": ({}, missing),
    "test_streaming_elicitation": ({}, lambda p, m: elicitation(p)),
    "test_input_required_result_elicitation": ({}, lambda p, m: elicitation(p)),
    "test_input_required_result_sampling": ({}, lambda p, m: rounds(p, {"capital_question": sample("What is the capital of France?", 100)}) or text(
        str(p["inputResponses"]["capital_question"].get("content")))),
    "test_input_required_result_list_roots": ({}, lambda p, m: rounds(p, {"client_roots": ROOTS}) or text(json.dumps(p["inputResponses"]["client_roots"]))),
    "test_input_required_result_request_state": ({}, lambda p, m: rounds(p, CONFIRM, "confirm") or text("state-ok")),
    "test_input_required_result_multiple_inputs": ({}, lambda p, m: rounds(p, MANY, "many") or text("all are there")),
    "test_input_required_result_multi_round": ({}, lambda p, m: multi_round(p)),
    "test_input_required_result_tampered_state": ({}, lambda p, m: rounds(p, CONFIRM, "tampered") or text("state-ok")),
    "test_input_required_result_capabilities": ({}, capabilities),
    "json_schema_2020_12_tool": (SCHEMA, lambda p, m: text("ok")),
}
CONTEXT = {"user_context": elicit("What context should the prompt use?", context=STRING)}


def said(*contents):
    return {"messages": [{"role": "user", "content": c} for c in contents]}


def words(value):
    return {"type": "text", "text": value}


PROMPTS = {
    "test_simple_prompt": ([], lambda p, a: said(words("This is a simple prompt for testing."))),
    "test_prompt_with_arguments": (["arg1", "arg2"], lambda p, a: said(words(f"Prompt with arguments: arg1='{a.get('arg1')}', arg2='{a.get('arg2')}'"))),
    "test_prompt_with_embedded_resource": (["resourceUri"], lambda p, a: said({"type": "resource", "resource": {
        "uri": a.get("resourceUri"), "mimeType": "text/plain", "text": "Embedded resource content for testing."}}, words("Please process the embedded resource above."))),
    "test_prompt_with_image": ([], lambda p, a: said(PICTURE, words("Please analyze the image above."))),
    "test_input_required_result_prompt": ([], lambda p, a: rounds(p, CONTEXT) or said(words(json.dumps(p["inputResponses"]["user_context"])))),
}
RESOURCES = {"test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
             "test://static-binary": {"mimeType": "image/png", "blob": IMAGE},
             "test://watched-resource": {"mimeType": "text/plain", "text": "watched"}}


def read_resource(params, _):
    uri = params.get("uri", "")
    part = uri.split("/")
    if uri in RESOURCES:
        return {"contents": [dict(RESOURCES[uri], uri=uri)]}
    if uri.startswith("test://template/") and len(part) == 5 and part[4] == "data":
        data = json.dumps({"id": part[3], "templateTest": True, "data": f"Data for ID: {part[3]}"})
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": data}]}
    raise Refused(-32602, "Resource not found", {"uri": uri})


def call(params, meta):
    if params.get("name") not in TOOLS:
        raise Refused(-32602, "unknown tool")
    return TOOLS[params["name"]][1](params, meta)


def get_prompt(params, _):
    if params.get("name") not in PROMPTS:
        raise Refused(-32602, "unknown prompt")
    return PROMPTS[params["name"]][1](params, params.get("arguments") or {})


def schema(properties):
    return properties if "$schema" in properties else {"type": "object", "properties": properties, **({"required": list(properties)} if properties else {})}


CAN = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}, "logging": {}}
CAN_MODERN = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
METHODS = {
    "initialize": lambda p, m: {"protocolVersion": "2025-11-25", "capabilities": CAN, "serverInfo": {"name": "fixture", "version": "1"}},
    "server/discover": lambda p, m: {"supportedVersions": [MODERN], "capabilities": CAN_MODERN},
    "ping": lambda p, m: {}, "logging/setLevel": lambda p, m: {}, "resources/subscribe": lambda p, m: {}, "resources/unsubscribe": lambda p, m: {},
    "completion/complete": lambda p, m: {"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": False}},
    "tools/list": lambda p, m: {"tools": [{"name": n, "description": f"Fixture {n}", "inputSchema": schema(t[0])} for n, t in sorted(TOOLS.items())]},
    "tools/call": call,
    "resources/list": lambda p, m: {"resources": [{"uri": u, "name": u[7:], "description": "Fixture", "mimeType": r["mimeType"]} for u, r in sorted(RESOURCES.items())]},
    "resources/templates/list": lambda p, m: {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template", "description": "Fixture"}]},
    "resources/read": read_resource,
    "prompts/list": lambda p, m: {"prompts": [{"name": n, "description": "Fixture", "arguments": [{"name": a, "description": a, "required": True} for a in t[0]]}
                                              for n, t in sorted(PROMPTS.items())]},
    "prompts/get": get_prompt,
}
ONLY_OLD = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
KEPT = ["server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"]


def answer(method, params):
    meta = params.get("_meta") or {}
    version = meta.get(META + "protocolVersion")
    if version and version != MODERN:
        raise Refused(-32022, "this revision is not served", {"supported": [MODERN], "requested": version})
    if version and META + "clientCapabilities" not in meta:
        raise Refused(-32602, "_meta has no clientCapabilities")
    if method not in METHODS or (version and method in ONLY_OLD) or (method == "server/discover" and not version):
        raise Refused(-32601, "no such method")
    value = METHODS[method](params, meta)
    if version:
        value = dict({"resultType": "complete"}, **value)
        value["_meta"] = {META + "serverInfo": {"name": "fixture", "version": "1"}}
        if method in KEPT:
            value.update(ttlMs=1000, cacheScope="private")
    return value


while True:
    asked = next_message()
    if asked is None:
        break
    if "id" not in asked or "method" not in asked:
        continue
    try:
        send({"id": asked["id"], "result": answer(asked["method"], asked.get("params") or {})})
    except Refused as e:
        send({"id": asked["id"], "error": e.error})
