"""Publishes messages with pika: one JSON object a line on standard input.

{"queue", "body" (base64), "headers", "message_id", "content_type"}
"""
import base64
import json
import os
import sys

import pika

connection = pika.BlockingConnection(pika.URLParameters(os.environ["AMQP_URL"]))
channel = connection.channel()
channel.confirm_delivery()
for line in sys.stdin:
    message = json.loads(line)
    properties = pika.BasicProperties(
        headers=message.get("headers"),
        message_id=message.get("message_id"),
        content_type=message.get("content_type"),
        delivery_mode=2,
    )
    channel.basic_publish(
        exchange="",
        routing_key=message["queue"],
        body=base64.b64decode(message["body"]),
        properties=properties,
        mandatory=True,
    )
connection.close()
