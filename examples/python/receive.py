"""Receives notifications on the port given, and prints each that is genuine and new."""
import json, os, sys
from datetime import datetime, timezone
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

# Those of your client, for all its subscriptions: two while one is replaced by the other.
secrets = [Webhook(secret) for secret in os.environ["SIGNING_SECRETS"].replace(",", " ").split()]
seen = set()  # keep these in your database, in the transaction that does the work


def is_genuine(headers, body):
    lower = {name.lower(): value for name, value in headers.items()}
    for secret in secrets:
        try:
            secret.verify(body, lower)
            return True
        except WebhookVerificationError:
            pass
    return False


def time_of(text):
    # fromisoformat takes +0000, without a colon, from Python 3.11 on
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z").astimezone(timezone.utc)


def handle(notification):
    at = notification.get("occurred_at") or notification["action_date"]  # of carriers; of shippers
    print(notification["action"], "at", time_of(at).isoformat(), notification, flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        if self.headers.get("X-Webhook-Test") == "true":
            print("a test", self.headers["webhook-id"], flush=True)  # nothing happened that it tells of
        elif self.headers["webhook-id"] not in seen:
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
