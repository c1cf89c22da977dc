# SPDX-License-Identifier: MIT
"""A server on loopback that wants a token, for the tests that reach one by a credential.

It has a certificate of an authority that the system does not know, which a credential names (`ca`). Its answer has
what it was sent only where that was wrong."""

import http.server
import secrets
import ssl
import subprocess
import threading

NAME = "api.test"


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)


class Tokens:
    """What it knows, with the name of each; a request with another gets a 401."""

    def __init__(self, directory):
        self.known, self.saw, self.lock = {}, [], threading.Lock()
        self.ca = f"{directory}/authority.pem"
        key, request, leaf = (f"{directory}/{name}" for name in ("leaf.key", "leaf.csr", "leaf.pem"))
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        openssl("req", "-x509", *curve, "-days", "30", "-subj", "/CN=test", "-keyout", f"{directory}/authority.key",
                "-out", self.ca, "-addext", "keyUsage=critical,keyCertSign")
        openssl("req", *curve, "-subj", f"/CN={NAME}", "-keyout", key, "-out", request)
        with open(f"{directory}/leaf.ext", "w") as file:
            file.write(f"subjectAltName=DNS:{NAME}\nextendedKeyUsage=serverAuth\n")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", f"{directory}/authority.key",
                "-CAcreateserial", "-days", "20", "-extfile", f"{directory}/leaf.ext", "-out", leaf)
        tokens = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                scheme, _, token = self.headers.get("Authorization", "").partition(" ")
                name = tokens.known.get(token) if scheme == "Bearer" else None
                with tokens.lock:
                    tokens.saw.append(name)
                body = f"welcome {name}".encode() if name else b"who are you"
                self.send_response(200 if name else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(leaf, key)
        context.set_alpn_protocols(["http/1.1"])
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.host = f"{NAME}:{self.port}"
        self.rule = f"https://{self.host}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def token(self, name):
        """A new one, that is known by this name."""
        token = "ghp_" + secrets.token_hex(18)
        self.known[token] = name
        return token

    def network(self):
        """Of a configuration: the way to it."""
        return f'[network]\nallow = ["{self.rule}"]\nhosts = {{ "{NAME}" = "127.0.0.1" }}\n'

    def credential(self, name, source, more=""):
        """Of a configuration: one that is read there, and whose authority is that of the server."""
        return (f'[[network.credential]]\nname = "{name}"\nhost = "{self.host}"\n'
                f'header = "Authorization: Bearer {{secret}}"\nsecret = {source}\nca = "{self.ca}"\n{more}')

    def code(self, verifies=True):
        """Python that asks it; where nobody stands between, its certificate may be one that the box does not trust."""
        context = "None" if verifies else "ssl._create_unverified_context()"
        return ("import ssl, urllib.request as u, urllib.error as e\n"
                f"try:\n    said = u.urlopen('{self.rule}/v1/x', context={context}).read().decode()\n"
                "except e.HTTPError as error:\n    said = error.read().decode()\nsaid")
