import { once } from 'node:events';
import { createServer } from 'node:http';
import { createPublisher, JsonNumber } from '@waybell/publisher';
import { createReceiver } from '@waybell/receiver';

/** Publishes an event, and ends once its notification has come: both ends on the Node that runs this. */
const { AMQP_URL = '', ACCOUNT = '', SIGNING_SECRETS = '', PORT = '' } = process.env;

const publisher = createPublisher({ url: AMQP_URL });
const receiver = createReceiver({
  interface: 'carrier',
  secrets: SIGNING_SECRETS.split(','),
  async handle(notification) {
    if (notification.action !== 'order.updated') return;
    console.log('received', notification.guid, String(notification.data['id']), String(notification.data['price']));
    await publisher.close();
    server.close();
  },
});
const server = createServer(receiver.node).listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');
const { guid } = await publisher.publish({
  interface: 'carrier',
  action: 'order.updated',
  parties: { carrier: ACCOUNT },
  payload: { id: 9_007_199_254_740_993n, price: new JsonNumber('0.10000000000000000001') },
});
console.log('published', guid);
