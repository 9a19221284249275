"""Subscribes, switches on what it has, lists it, and reads the delivery log, by the clients that were generated into folders beside."""

import sys
from importlib import import_module
from uuid import UUID

interface, api_url, token, action = sys.argv[1:]
generated = import_module(interface)


def operation(path):
    return import_module(f"{interface}.api.{path}").sync


models = import_module(f"{interface}.models")
callback_url = "https://hooks.test/a"
client = generated.AuthenticatedClient(base_url=api_url, token=token)

if interface == "shipper":
    name, body = models.ShipperActionName(action), models.ShipperSubscribeRequest(callback_url)
    subscription = operation("shipper_interface.subscribe_shipper")(name, client=client, body=body).data.object_
else:
    name, body = models.CarrierActionName(action), models.CarrierSubscribeRequest(callback_url)
    subscription = operation("carrier_interface.subscribe_carrier")(name, client=client, body=body)
print("subscribed", subscription.action, len(subscription.verification_token))


def data(answer):
    """What carriers get as the answer, shippers get in it."""
    return answer.data if interface == "shipper" else answer


desired = models.PutSubscriptionsBody(callback_url=callback_url, actions=[action], is_active=True)
for put in data(operation("subscriptions.put_subscriptions")(client=client, body=desired)).objects:
    print("put", put.action, put.result)

for each in data(operation("subscriptions.list_subscriptions")(client=client)).objects:
    change = models.ChangeSubscriptionBody(is_active=True)
    changed = data(operation("subscriptions.change_subscription")(each.guid, client=client, body=change))
    changed = changed.object_ if interface == "shipper" else changed
    print("on", changed.action, str(changed.is_active).lower())

statuses = [models.ListDeliveriesStatusItem.EXHAUSTED, models.ListDeliveriesStatusItem.DROPPED]
for each in data(operation("delivery_log.list_deliveries")(client=client, status=statuses)).objects:
    print("delivery", each.guid, each.action, each.status, each.attempts[0].reason)

problem = operation("delivery_log.get_delivery")(UUID(int=0), client=client)
print("problem", problem.status, problem.type_)
