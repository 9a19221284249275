"""Publishes events, one JSON object a line of standard input, and prints the guid of each that the broker has confirmed."""
import json, os, sys, time

import pika
from pika.exceptions import AMQPError

REFUSALS = "ACCESS_REFUSED", "NOT_ALLOWED", "PRECONDITION_FAILED"  # user, password, virtual host, rights, size
channel = None


def connect():
    address = pika.URLParameters(os.environ["AMQP_URL"])
    address.blocked_connection_timeout = 60  # a broker in an alarm takes nothing: do not wait for it for ever
    opened = pika.BlockingConnection(address).channel()
    opened.exchange_declare("waybell.events", "topic", passive=True)  # throws where there is no line yet
    opened.confirm_delivery()  # from now on basic_publish waits, and throws what the broker refuses
    return opened


def publish(body):
    """Returns once the event is safe. Until then the same bytes are sent again: Waybell recognises them by their guid."""
    global channel
    event = json.loads(body)
    properties = pika.BasicProperties(content_type="application/json", delivery_mode=2, message_id=event["guid"])
    while True:
        try:
            channel = channel or connect()
            channel.basic_publish("waybell.events", f'{event["interface"]}.{event["action"]}', body, properties)
            return event["guid"]
        except (AMQPError, OSError) as error:
            if any(answer in str(error) for answer in REFUSALS):
                sys.exit(f"refused by the broker, and next time too: {error}")
            print(f'{event["guid"]} is not confirmed, and sent again: {error!r}', file=sys.stderr)
            channel = None
            time.sleep(1)


for line in sys.stdin.buffer:
    print(publish(line.strip()), flush=True)
