"""A model's API on loopback, played from a script: mock_api.py DIRECTORY. Speaks as Anthropic's messages, OpenAI's responses and chat
completions, and Gemini's generateContent, streamed or not. The first answer calls the agent's shell tool with the text of DIRECTORY/turn;
once a tool's result comes back, the answer is the text of DIRECTORY/last. Writes its port to DIRECTORY/port, and to DIRECTORY/requests one
JSON object for each request: path, headers, body."""
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOP = sys.argv[1]


def text_of(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        return f.read()


def shell_tool(tools):
    """The name of the tool that runs shell commands, and its arguments."""
    command = text_of("turn")
    for name, properties in tools:
        if name in ("Bash", "bash"):
            return name, {"command": command, "description": "look around"}
        if name == "run_shell_command":
            return name, {"command": command, "description": "look around"}
        if name == "exec_command":
            return name, {"cmd": command}
        if name in ("shell", "local_shell"):
            return name, {"command": ["bash", "-lc", command]}
        if name == "shell_command":
            return name, {"command": command}
        if name == "run_commands" and "commands" in properties:
            return name, {"commands": [command]}
        if "command" in properties:
            return name, {"command": command}
    return None, None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, body):
        with open(os.path.join(TOP, "requests"), "a", encoding="utf-8") as f:
            f.write(json.dumps({"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}) + "\n")

    def send(self, body, kind="application/json", code=200):
        body = body.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def events(self, rows, named=True):
        text = ""
        for row in rows:
            text += (f"event: {row['type']}\n" if named else "") + "data: " + json.dumps(row) + "\n\n"
        self.send(text, "text/event-stream")

    def do_GET(self):
        self.note("")
        self.send(json.dumps({"data": [], "models": [], "object": "list"}))

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        self.note(raw)
        try:
            body = json.loads(raw)
        except ValueError:
            self.send("{}")
            return
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens") or path.endswith(":countTokens"):
            self.send(json.dumps({"input_tokens": 10, "totalTokens": 10}))
        elif path.endswith("/messages"):
            self.anthropic(body)
        elif path.endswith("/responses"):
            self.answer_responses(body)
        elif path.endswith("/chat/completions"):
            self.chat(body)
        elif "enerateContent" in path:
            self.gemini(body, "stream" in path)
        else:
            self.send("{}")

    def anthropic(self, body):
        answered = "tool_result" in json.dumps(body.get("messages", []))
        name, arguments = shell_tool([(t.get("name"), (t.get("input_schema") or {}).get("properties", {})) for t in body.get("tools") or []])
        call = name and not answered
        block = {"type": "tool_use", "id": "toolu_01", "name": name, "input": arguments} if call else {"type": "text", "text": text_of("last")}
        message = {"id": "msg_01", "type": "message", "role": "assistant", "model": body.get("model", "m"), "content": [block],
                   "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 10}}
        if not body.get("stream"):
            self.send(json.dumps(message))
            return
        start = dict(block, input={}) if call else dict(block, text="")
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)} if call else {"type": "text_delta", "text": block["text"]}
        self.events([
            {"type": "message_start", "message": dict(message, content=[], stop_reason=None)},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 10}},
            {"type": "message_stop"}])

    def answer_responses(self, body):
        answered = "function_call_output" in json.dumps(body.get("input", []))
        name, arguments = shell_tool([(t.get("name"), (t.get("parameters") or {}).get("properties", {})) for t in body.get("tools") or []])
        if name and not answered:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": json.dumps(arguments), "status": "completed"}
        else:
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text_of("last"), "annotations": []}]}
        whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": body.get("model", "m"), "output": [item],
                 "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                           "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}}
        if not body.get("stream"):
            self.send(json.dumps(whole))
            return
        rows = [{"type": "response.created", "response": dict(whole, status="in_progress", output=[])},
                {"type": "response.output_item.added", "output_index": 0, "item": dict(item, status="in_progress")}]
        if item["type"] == "message":
            rows += [{"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0,
                      "part": {"type": "output_text", "text": "", "annotations": []}},
                     {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text_of("last")},
                     {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 0, "content_index": 0, "text": text_of("last")}]
        else:
            rows += [{"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": item["arguments"]},
                     {"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 0, "arguments": item["arguments"]}]
        rows += [{"type": "response.output_item.done", "output_index": 0, "item": item}, {"type": "response.completed", "response": whole}]
        for i, row in enumerate(rows):
            row["sequence_number"] = i
        self.events(rows)

    def chat(self, body):
        answered = any(m.get("role") == "tool" for m in body.get("messages", []))
        tools = [t.get("function", {}) for t in body.get("tools") or []]
        name, arguments = shell_tool([(t.get("name"), (t.get("parameters") or {}).get("properties", {})) for t in tools])
        message = {"role": "assistant", "content": text_of("last")}
        if name and not answered:
            message = {"role": "assistant", "content": None, "tool_calls": [
                {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]}
        end = "tool_calls" if "tool_calls" in message else "stop"
        common = {"id": "c1", "created": 1, "model": body.get("model", "m")}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        if not body.get("stream"):
            self.send(json.dumps(dict(common, object="chat.completion", usage=usage, choices=[{"index": 0, "message": message, "finish_reason": end}])))
            return
        rows = [dict(common, object="chat.completion.chunk", choices=[{"index": 0, "delta": message, "finish_reason": None}]),
                dict(common, object="chat.completion.chunk", choices=[{"index": 0, "delta": {}, "finish_reason": end}], usage=usage)]
        self.send("".join("data: " + json.dumps(r) + "\n\n" for r in rows) + "data: [DONE]\n\n", "text/event-stream")

    def gemini(self, body, stream):
        choice = None
        answered = "functionResponse" in json.dumps(body.get("contents", []))
        tools = [d for t in body.get("tools") or [] for d in t.get("functionDeclarations", [])]
        name, arguments = shell_tool([(t.get("name"), (t.get("parametersJsonSchema") or t.get("parameters") or {}).get("properties", {})) for t in tools])
        if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":  # which model shall answer
            name, choice = None, {"reasoning": "short", "model_choice": "flash", "complexity_reasoning": "short", "complexity_score": 10}
        part = {"functionCall": {"name": name, "args": arguments}} if name and not answered else {"text": json.dumps(choice) if choice else text_of("last")}
        whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}}
        if stream:
            self.events([dict(whole)], named=False)
        else:
            self.send(json.dumps(whole))


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(os.path.join(TOP, "port.new"), "w", encoding="ascii") as out:
    out.write(str(server.server_address[1]))
os.rename(os.path.join(TOP, "port.new"), os.path.join(TOP, "port"))
server.serve_forever()
