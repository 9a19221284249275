"""Receives notifications on the port given, and prints each that is genuine and new."""
import hmac, json, os, sys
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

secrets = [Webhook(secret) for secret in os.environ["SIGNING_SECRETS"].split()]  # two while one is replaced by another
token = os.environ["VERIFICATION_TOKEN"]
seen = set()  # keep these in your database, in the transaction that does the work


def is_genuine(headers, body):
    if not hmac.compare_digest(headers.get("X-Service-Verification-Token", "").encode(), token.encode()):
        return False
    lower = {name.lower(): value for name, value in headers.items()}
    for secret in secrets:
        try:
            secret.verify(body, lower)
            return True
        except WebhookVerificationError:
            pass
    return False


def handle(notification):
    print(notification["action"], notification, flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            # Numbers to the digit: an id may exceed 2^53, and 0.10 is not a binary fraction.
            handle(json.loads(body, parse_float=Decimal))
            seen.add(self.headers["webhook-id"])  # not before: what fails comes again, and must not count as seen then
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
