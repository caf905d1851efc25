"""An MLflow server on loopback for tests: fake_mlflow.py DIRECTORY. Prints its port; ends with its standard input.

Keeps what it is told in DIRECTORY/store.json. The files DIRECTORY/down, /garbage, /hang, /long, /refuse and /trap make it close
connections, answer with garbage, say nothing, send without end, answer 403, and announce 2^63 - 1 bytes; /notes adds
800 kB of tags to each answer. Authorization headers are appended to DIRECTORY/authorization.
"""
import json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

DIRECTORY = sys.argv[1]
STORE = f"{DIRECTORY}/store.json"
lock = threading.Lock()
store = {"experiments": {}, "runs": {}}


def is_on(name):
    return os.path.exists(f"{DIRECTORY}/{name}")


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value, length=None):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def handle_one(self, body):
        with open(f"{DIRECTORY}/authorization", "a") as file:
            file.write(self.headers.get("Authorization", "none") + "\n")
        if is_on("down"):
            self.close_connection = True
            return
        if is_on("garbage"):
            return self.answer(200, b"<html>Please log in</html>")
        if is_on("refuse"):
            return self.answer(403, {"error_code": "PERMISSION_DENIED", "message": "not\x1byou"})
        if is_on("trap"):
            self.close_connection = True
            return self.answer(200, b"{}", (1 << 63) - 1)
        if is_on("long"):
            return self.answer(200, b'{"x": "' + b"y" * 10_000_000 + b'"}')
        if is_on("hang"):
            while is_on("hang"):
                time.sleep(0.05)
            self.close_connection = True
            return
        url = urlparse(self.path)
        with lock:
            status, value = self.act(url.path.removeprefix("/api/2.0/mlflow/"), parse_qs(url.query), body)
            with open(STORE + ".new", "w") as file:
                json.dump(store, file)
            os.replace(STORE + ".new", STORE)
        if is_on("notes"):
            value["tags"] = [{"key": f"note {number}", "value": "x" * 8000} for number in range(100)]
        self.answer(status, value)

    def act(self, name, query, body):
        missing = 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such thing"}
        if name == "experiments/get-by-name":
            found = store["experiments"].get(query["experiment_name"][0])
            return (200, {"experiment": {"experiment_id": found}}) if found else missing
        if name == "experiments/create":
            return 200, {"experiment_id": store["experiments"].setdefault(body["name"], str(len(store["experiments"])))}
        if name == "runs/create":
            key = f"run{len(store['runs'])}"
            tags = {tag["key"]: tag["value"] for tag in body["tags"]}
            store["runs"][key] = {"tags": tags, "params": {}, "metrics": [], "status": "RUNNING", "name": body["run_name"]}
            return 200, {"run": {"info": {"run_id": key}}}
        if name == "runs/search":
            wanted = body["filter"].split("'")[1]
            found = [key for key, run in store["runs"].items() if run["tags"].get("skein.key") == wanted]
            return 200, {"runs": [{"info": {"run_id": key}} for key in found]}
        run = store["runs"].get(body.get("run_id") if body else query.get("run_id", [None])[0])
        if run is None:
            return missing
        if name == "runs/get":
            last = {}
            for metric in run["metrics"]:
                last[metric["key"]] = max(last.get(metric["key"], 0), metric["step"])
            metrics = [{"key": key, "step": str(step)} for key, step in last.items()]
            return 200, {"run": {"info": {"run_id": "x"}, "data": {"metrics": metrics}}}
        if name == "runs/log-batch":
            run["metrics"] += body["metrics"]
            run["params"].update({param["key"]: param["value"] for param in body["params"]})
            run["tags"].update({tag["key"]: tag["value"] for tag in body["tags"]})
            return 200, {}
        if name == "runs/update":
            run["status"] = body["status"]
            return 200, {"run_info": {}}
        return missing

    def do_GET(self):
        self.handle_one(None)

    def do_POST(self):
        self.handle_one(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
