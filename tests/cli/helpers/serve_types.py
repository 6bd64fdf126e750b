"""serve_types.py API DIR - what a server answered, against what /v1/openapi.json says. Each file of DIR is one answer: its first line is METHOD ROUTE
STATUS, the rest its body. Members that the description does not have are errors as well; records of a ledger may have further ones."""
import json, os, sys
import jsonschema

api = json.load(open(sys.argv[1]))
schemas = api["components"]["schemas"]
for name, s in schemas.items():
    if name not in ("Record",):
        s["additionalProperties"] = False

untyped, routes, seen = [], set(), set()
def look(where, s):
    if s.get("type") == "object" and not s.get("properties") and not s.get("additionalProperties") and "description" not in s:
        untyped.append(where)
    for v in list(s.values()):
        if isinstance(v, dict):
            look(where, v)
for path, methods in api["paths"].items():
    for method, op in methods.items():
        for status, answer in op["responses"].items():
            for kind, c in answer.get("content", {}).items():
                look(f"{method} {path} {status}", c.get("schema", {}))
                if kind == "application/json":
                    routes.add(f"{method.upper()} {path}")
for name, s in schemas.items():
    look(name, s)
for u in sorted(set(untyped)):
    print("untyped:", u)

for f in sorted(os.listdir(sys.argv[2])):
    head, _, body = open(os.path.join(sys.argv[2], f)).read().partition("\n")
    method, path, status = head.split()
    op = api["paths"][path][method.lower()]
    content = op["responses"].get(status, op["responses"]["default"])["content"]
    if "application/json" not in content and status[0] == "2":
        continue
    schema = (content.get("application/json") or content["application/problem+json"])["schema"]
    seen.add(f"{method} {path}")
    try:
        jsonschema.Draft202012Validator({**schema, "components": api["components"]}).validate(json.loads(body))
    except Exception as e:
        print(f"{head}: {str(e).splitlines()[0][:200]} at {list(getattr(e, 'path', []))}")
print("not seen:", " ".join(sorted(r.replace(" ", "_") for r in routes - seen)))
