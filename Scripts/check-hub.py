"""Compares skein with Python's huggingface_hub over one fake Hub: check-hub.py SKEIN FAKE_HUB DIRECTORY."""
import hashlib, json, os, subprocess, sys

skein, fake, directory = sys.argv[1:]
hub = subprocess.Popen([sys.executable, fake, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
port, _, digest = hub.stdout.readline().split()
os.environ.update(HF_ENDPOINT="http://127.0.0.1:" + port, HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_PROGRESS_BARS="1")
from huggingface_hub import __version__, hf_hub_download, snapshot_download

PATTERNS = ["*.json", "*.safetensors"]
PARTIAL = 1_000_000


def pull(cache, name, offline=False):
    environment = dict(os.environ, HF_HUB_CACHE=cache, HF_HUB_OFFLINE="1" if offline else "0")
    done = subprocess.run([skein, "pull", "o/" + name], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def tree(cache):
    """Files of the cache, and what they hold or where they lead; without locks and what only one of them writes."""
    found = {}
    for folder, folders, files in os.walk(cache):
        folders[:] = [f for f in folders if f not in (".locks", ".no_exist", ".skein", "trees")]
        for name in files:
            path = os.path.join(folder, name)
            if name in ("CACHEDIR.TAG", ".gitignore"):
                continue
            if os.path.islink(path):
                found[os.path.relpath(path, cache)] = os.readlink(path)
            else:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, cache)] = hashlib.sha256(file.read()).hexdigest()
    return found


def sent():
    with open(directory + "/log") as log:
        return sum(json.loads(line)["sent"] for line in log)


def half(cache, weights):
    """A cache in which the download of the weights was broken off."""
    os.makedirs(cache + "/models--o--cdn/blobs")
    with open(cache + "/models--o--cdn/blobs/" + digest + ".incomplete", "wb") as file:
        file.write(weights[:PARTIAL])


ours, theirs = directory + "/ours", directory + "/theirs"
for name in ("ok", "cdn"):
    path = pull(ours, name)
    assert path == snapshot_download("o/" + name, cache_dir=ours, local_files_only=True), path
    assert hf_hub_download("o/" + name, "config.json", cache_dir=ours, local_files_only=True) == path + "/config.json"
    there = snapshot_download("o/" + name, cache_dir=theirs, allow_patterns=PATTERNS)
    before = sent()
    assert pull(theirs, name, offline=True) == there
    assert sent() == before
    print(f"{name}: skein and huggingface_hub {__version__} find what the other downloaded")
assert tree(ours) == tree(theirs), (tree(ours), tree(theirs))
print(f"both caches have the same {len(tree(ours))} files and links")

with open(ours + "/models--o--cdn/blobs/" + digest, "rb") as file:
    weights = file.read()
# A newer one (2.4.0) begins again, and leaves what it finds.
continuing = __version__.startswith("0.")
for who, download in (("skein", lambda cache: pull(cache, "cdn")),
                      ("huggingface_hub", lambda cache: snapshot_download("o/cdn", cache_dir=cache, allow_patterns=PATTERNS))):
    if who != "skein" and not continuing:
        continue
    cache = directory + "/half-" + who
    half(cache, weights)
    before = sent()
    download(cache)
    moved = sent() - before
    assert tree(cache) == {k: v for k, v in tree(ours).items() if "--cdn" in k}, tree(cache)
    assert moved < len(weights) - PARTIAL + 100_000, moved
    print(f"{who} continues a partial download: {moved:,} bytes were sent of {len(weights):,}")
hub.stdin.close()
hub.wait()

# Over TLS. libcurl believes the system's authorities alone, so the own one is mounted over them.
def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=directory)


key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test")
openssl("req", *key, "-keyout", "server.pem", "-out", "server.csr", "-subj", "/CN=localhost")
with open(directory + "/names", "w") as file:
    file.write("subjectAltName=DNS:localhost")
openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2", "-extfile", "names", "-out", "server.crt")
with open(directory + "/server.pem", "a") as file, open(directory + "/server.crt") as certificate:
    file.write(certificate.read())
hub = subprocess.Popen([sys.executable, fake, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                       env=dict(os.environ, FAKE_HUB_TLS=directory + "/server.pem"))
port, _, digest = hub.stdout.readline().split()


def over_tls(name, host="localhost", trusted=True):
    mount = 'mount --bind "$0" /etc/ssl/certs/ca-certificates.crt && ' if trusted else ""
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", mount + 'exec "$@"', directory + "/ca.pem", skein, "pull", "o/" + name],
        env=dict(os.environ, HF_ENDPOINT=f"https://{host}:{port}", HF_HUB_CACHE=directory + "/tls", HF_TOKEN="hf_good"),
        capture_output=True, text=True)


done = over_tls("ok")
assert done.returncode == 0, done.stderr
with open(done.stdout.splitlines()[-1] + "/model.safetensors", "rb") as file:
    assert hashlib.sha256(file.read()).hexdigest() == digest
for problem, arguments in (("SSL certificate problem", dict(trusted=False)), ("no alternative certificate", dict(host="127.0.0.1"))):
    done = over_tls("token", **arguments)
    assert done.returncode == 69 and problem in done.stderr and "hf_good" not in done.stderr, done.stderr
done = over_tls("cdn")
assert done.returncode == 69 and "redirects from https to http" in done.stderr, done.stderr
hub.stdin.close()
hub.wait()
print("over TLS: downloaded; an unknown authority, another host's certificate and a redirect to http are refused")
