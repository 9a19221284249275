import { connect as connectTcp } from 'node:net';
import { createServer } from 'node:tls';
import { once } from 'node:events';
import { describe, test } from '@jest/globals';
import { anEvent, type PublishedEvent } from '../testing/event.ts';
import { authority, carrierOf, expectOn, moveTo, publicAddress, stack, untilServed } from './stand.ts';

const BROKER = 'broker.test';
const BROKER_ADDRESS = publicAddress(35);
const BROKER_PORT = 5671;

const utf16le = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
const CLOUD_EVENT = 'application/cloudevents+json';

function cloudEvent({ guid, interface: side, action, occurred_at: time }: PublishedEvent, data: object): Buffer {
  const attributes = { specversion: '1.0', id: guid, source: '/tms', type: `${side}.${action}`, time };
  return Buffer.from(JSON.stringify({ ...attributes, ...data }));
}

const WAYS: [string, (event: PublishedEvent) => { body: Buffer; contentType?: string }][] = [
  ['UTF-8 with a mark', (event) => ({ body: Buffer.from(`\uFEFF${JSON.stringify(event)}`) })],
  ['UTF-16, the low byte first', (event) => ({ body: utf16le(JSON.stringify(event)) })],
  ['UTF-16, the high byte first', (event) => ({ body: utf16le(JSON.stringify(event)).swap16() })],
  [
    'a CloudEvent with data in base64',
    (event) => {
      const { parties, payload } = event;
      const data = Buffer.from(JSON.stringify({ parties, payload })).toString('base64');
      return { body: cloudEvent(event, { data_base64: data }), contentType: CLOUD_EVENT };
    },
  ],
  [
    'a CloudEvent with data as text',
    (event) => {
      const { parties, payload } = event;
      return { body: cloudEvent(event, { data: JSON.stringify({ parties, payload }) }), contentType: CLOUD_EVENT };
    },
  ],
];

export function oddEncodings(): void {
  describe('an event in another encoding', () => {
    test.each(WAYS)('is understood: %s', async (_, encode) => {
      const carrier = await carrierOf(publicAddress(34));
      const parties = { carrier: carrier.client.account };
      const event = anEvent({ interface: 'carrier', action: 'order.created', parties });
      const { body, contentType } = encode(event);
      const extra = contentType === undefined ? {} : { contentType };
      await stack.upstream.publishRaw('carrier.order.created', body, event.guid, extra);
      await untilServed([carrier], 1);
      await expectOn([carrier]);
    });
  });

  describe('an authority of RabbitMQ in one line', () => {
    test('is understood', async () => {
      moveTo(BROKER, BROKER_ADDRESS);
      const plain = new URL(stack.brokerUrl);
      const server = createServer(authority.issue({ name: BROKER }), (socket) => {
        const broker = connectTcp(Number(plain.port), plain.hostname);
        for (const each of [socket, broker]) each.on('error', () => undefined);
        socket.pipe(broker).pipe(socket);
      }).listen(BROKER_PORT, BROKER_ADDRESS);
      await once(server, 'listening');
      await using opened = new AsyncDisposableStack();
      opened.defer(() => void server.close());
      const { env } = stack.stack.service('deliverer').spec;
      const url = env['AMQP_URL']?.replace(/^amqp:/, 'amqps:').replace(plain.host, `${BROKER}:${BROKER_PORT}`) ?? '';
      opened.use(
        await stack.withSettings('deliverer', {
          AMQP_URL: url,
          TLS_CA: authority.cert.trim().replaceAll('\n', '\\n'),
          // The test's own authority would vouch for it otherwise.
          NODE_EXTRA_CA_CERTS: '',
        }),
      );
      const carrier = await carrierOf(publicAddress(34));
      await carrier.hear();
      await untilServed([carrier], 1);
    });
  });
}
