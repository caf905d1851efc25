"""A Hub on loopback for tests: fake_hub.py DIRECTORY [FILE]. Prints its port, and that of a second server, the "storage".

Every repository o/NAME has the same files; NAME chooses what goes wrong. Requests are logged in DIRECTORY/log as JSON lines.
FILE is served as the weights; without it they are 3,000,000 bytes made from SHA-256. Ends with its standard input.
FAKE_HUB_TLS names a file with a certificate and its key: the Hub, not the storage, then speaks TLS.
"""
import hashlib, json, os, re, socketserver, ssl, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIRECTORY = sys.argv[1]
SIZE = 3_000_000
WEIGHTS = b"".join(hashlib.sha256(str(i).encode()).digest() for i in range(SIZE // 32 + 1))[:SIZE]
if len(sys.argv) > 2:
    with open(sys.argv[2], "rb") as file:
        WEIGHTS = file.read()
# Names of repositories with an adapter, and its files among those of FILES.
ADAPTERS = {"adapter": ["README.md", "adapter_config.json", "adapter_model.safetensors", "tokenizer.json"],
            "both": ["adapter_config.json", "adapter_model.safetensors", "config.json", "model.safetensors", "tokenizer.json"],
            "bare": ["adapter_model.safetensors", "tokenizer.json"], "pickle": ["adapter_config.json", "adapter_model.bin"]}
FILES = {"config.json": b'{"model_type": "llama"}', "tokenizer.json": b'{"version": "1.0"}', "README.md": b"hello\n",
         "generation_config.json": b"", "model.safetensors": WEIGHTS, "q/a b.gguf": WEIGHTS[:1000],
         "adapter_config.json": b'{"peft_type": "LORA"}', "adapter_model.safetensors": WEIGHTS[:2000], "adapter_model.bin": b"no"}
TEXT = b"Temporary Redirect. Redirecting to another place, which is a text for people. " * 5
LINKED = {"model.safetensors", "q/a b.gguf", "adapter_model.safetensors"}
# How many requests for the weights stop in their middle.
STALLS = {"stall": 20, "once": 1}
COMMIT = "c0ffee" * 6 + "beef"
count, lock = {}, threading.Lock()


def etag(name):
    data = FILES[name]
    return hashlib.sha256(data).hexdigest() if name in LINKED else hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def times(key):
    with lock:
        count[key] = count.get(key, 0) + 1
        return count[key]


class Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, sent):
        with lock, open(DIRECTORY + "/log", "a") as out:
            out.write(json.dumps({"storage": self.server is storage, "method": self.command, "path": self.path, "sent": sent,
                                  "range": self.headers.get("Range"), "token": "Authorization" in self.headers}) + "\n")

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        # Before it is sent: who has all of it, as its head where there is no body, may look into the log at once.
        self.note(len(body))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status, code=None, extra=()):
        self.answer(status, b"no", ([("X-Error-Code", code)] if code else []) + list(extra))

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        try:
            self.serve()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve(self):
        from urllib.parse import unquote, urlsplit
        path = unquote(urlsplit(self.path).path)
        if self.server is storage:
            return self.bytes(*re.fullmatch(r"/blob/([^/]*)/(.*)", path).groups())
        api = re.fullmatch(r"/api/models/o/([^/]*)/(revision|tree)/(.*)", path)
        if api:
            return self.api(*api.groups())
        cached = re.fullmatch(r"/api/resolve-cache/models/o/([^/]*)/([^/]*)/(.*)", path)
        found = cached or re.fullmatch(r"/o/([^/]*)/resolve/([^/]*)/(.*)", path)
        if not found:
            return self.refuse(404, "RepoNotFound")
        name, _, file = found.groups()
        if file not in FILES:
            return self.refuse(404, "EntryNotFound")
        if not self.allowed(name):
            return
        headers = [("X-Repo-Commit", COMMIT)]
        if file in LINKED:
            headers += [("X-Linked-Etag", '"%s"' % etag(file)), ("X-Linked-Size", str(len(FILES[file])))]
        if name in ("cdn", "whole", "loop") and file in LINKED:
            where = self.path if name == "loop" else "http://127.0.0.1:%d/blob/%s/%s?sig=x" % (storage.server_port, name, file.replace(" ", "%20"))
            return self.answer(302, TEXT, headers + [("Location", where)])
        if name in ("ok", "small") and file not in LINKED and not cached:
            # As the real Hub: small files stand elsewhere on the same host.
            return self.answer(307, TEXT, headers + [("Location", "/api/resolve-cache/models/o/%s/%s/%s" % found.groups())])
        if name == "small" and self.command == "GET" and times(file) <= 2:
            return self.answer(503, TEXT)
        if self.command == "HEAD":
            return self.answer(200, b"", headers + [("ETag", '"%s"' % etag(file))], length=len(FILES[file]))
        self.bytes(name, file)

    def allowed(self, name):
        if name == "token" and self.headers.get("Authorization") != "Bearer hf_good":
            return self.refuse(401)
        if name == "gated":
            return self.refuse(403, "GatedRepo")
        if name == "forbidden":
            return self.answer(403, TEXT)
        if name == "basic":
            return self.refuse(401, extra=[("WWW-Authenticate", 'Basic realm="x"')])
        return True

    def api(self, name, kind, revision):
        if name == "missing":
            return self.refuse(401, "RepoNotFound")
        if revision not in ("main", "v1", COMMIT):
            return self.refuse(404, "RevisionNotFound")
        if not self.allowed(name):
            return
        if name == "busy" and times("busy") <= 3:
            return self.refuse(429, extra=[("Retry-After", "1")]) if count["busy"] == 1 else self.refuse(500)
        if name == "trap":
            return self.answer(200, b"{}", length=(1 << 63) - 1)
        if name == "down":
            return self.refuse(503)
        if name == "hang":
            return time.sleep(60)
        if name == "headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                self.wfile.write(b"X-A: " + b"a" * 1000 + b"\r\n")
        if name == "body":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            while True:
                self.wfile.write(b"[" * 65536)
        if kind == "revision":
            info = {"id": "o/" + name, "sha": COMMIT, "siblings": [{"rfilename": f} for f in FILES]}
            return self.answer(200, json.dumps(info).encode(), [("Content-Type", "application/json")])
        entries = [{"type": "directory", "path": "q", "oid": COMMIT, "size": 0}]
        for file, data in FILES.items():
            if name in ADAPTERS and file not in ADAPTERS[name] or name not in ADAPTERS and file.startswith("adapter_"):
                continue
            entry = {"type": "file", "path": file, "size": len(data), "oid": etag(file)[:40]}
            if file in LINKED:
                entry["lfs"] = {"oid": etag(file), "size": len(data), "pointerSize": 130}
            entries.append(entry)
        if name == "dots":
            entries.append({"type": "file", "path": "../../../evil.json", "size": 1, "oid": COMMIT})
        if name == "bidi":
            entries.append({"type": "file", "path": "a\u202egguf.gguf", "size": 1, "oid": COMMIT})
        if name == "gguf":
            entries = [e for e in entries if e["path"].endswith("gguf")]
        headers = [("Content-Type", "application/json")]
        if name == "pages" and "cursor" not in self.path:
            headers.append(("Link", '<http://%s%s&cursor=2>; rel="next"' % (self.headers["Host"], self.path)))
            entries = entries[:3]
        elif name == "twenty" and "page=19" not in self.path:
            page = int(self.path.partition("page=")[2] or 0) + 1
            headers.append(("Link", '<http://%s%s&page=%d>; rel="next"' % (self.headers["Host"], self.path.partition("&")[0], page)))
            entries = entries[:3]
        elif name == "endless":
            headers.append(("Link", '<http://%s%s>; rel="next"' % (self.headers["Host"], self.path)))
        self.answer(200, json.dumps(entries).encode(), headers)

    def bytes(self, name, file):
        data = FILES[file]
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        fault = name if file == "model.safetensors" else ""
        if fault == "portal":
            return self.answer(200, TEXT)
        if fault in ("norange", "whole"):
            asked = None
        if fault == "r416":
            return self.refuse(416)
        start = int(asked[1]) if asked else 0
        end = min(int(asked[2] or len(data)) + 1 if asked and asked[2] else len(data), len(data))
        if asked and start >= len(data):
            return self.refuse(416)
        body = data[start:end]
        if fault == "wrongalways" or fault == "wrongonce" and times("wrongonce") == 1:
            body = bytes([body[0] ^ 1]) + body[1:]
        length, sent = len(body), len(body)
        if fault == "cut":
            sent = min(sent, 700_000)
        if fault == "dribble":
            end, length, sent = start + 1, 1, 1
        if fault == "empty":
            sent = 0
        if fault == "short":
            length = sent = max(1, sent // 2)
        if fault == "long":
            length += 1000
        if fault == "over":
            body, length, sent, asked = data + b"x" * 10, len(data) + 10, len(data) + 10, None
        stalls = fault in STALLS and times(fault) <= STALLS[fault]
        if stalls:
            sent = min(sent, 60_000 + 1_000 * count[fault])
        self.send_response(206 if asked else 200)
        if asked:
            offset = start + 1 if fault == "otherrange" else start
            self.send_header("Content-Range", "bytes %d-%d/%d" % (offset, end - 1, len(data)))
        if fault == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        elif fault != "nolength":
            self.send_header("Content-Length", str(length))
        if fault == "nolength":
            self.send_header("Connection", "close")
        self.end_headers()
        self.note(sent)
        if fault == "chunked":
            for i in range(0, len(body), 50_000):
                part = body[i:i + 50_000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.wfile.write(body[:sent])
        self.wfile.flush()
        if stalls:
            # Until the client is gone.
            self.connection.settimeout(60)
            try:
                self.connection.recv(1)
            except OSError:
                pass
        if sent != length or fault in ("nolength", "long") or stalls:
            self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


hub, storage = Server(("127.0.0.1", 0), Hub), Server(("127.0.0.1", 0), Hub)
if "FAKE_HUB_TLS" in os.environ:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["FAKE_HUB_TLS"])
    hub.socket = context.wrap_socket(hub.socket, server_side=True)
for server in (hub, storage):
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(hub.server_port, storage.server_port, hashlib.sha256(WEIGHTS).hexdigest(), flush=True)
sys.stdin.read()
