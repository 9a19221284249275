import { describe, expect, test } from '@jest/globals';
import {
  carriers,
  carrierOf,
  expectOn,
  hear,
  INSIDE,
  INSIDE_IPV6,
  looking,
  moveTo,
  names,
  OWN_INSIDE,
  OWN_PREFIX,
  OWN_PUBLIC,
  PORT,
  PUBLIC_IPV6,
  publicAddress,
  receiver,
  stack,
  startAgain,
  translated,
  untilForgotten,
  untilOthersWouldBeOff,
  untilServed,
} from './stand.ts';

const PUBLIC = publicAddress(10);

export function translatedAddresses(): void {
  describe('a host whose addresses are translated, or partly inside,', () => {
    test.each([
      ['a public address, and the same one by NAT64', [PUBLIC, translated(PUBLIC)], [PUBLIC, translated(PUBLIC)]],
      ['a public address by NAT64 alone', [translated(PUBLIC)], [translated(PUBLIC)]],
      ['a public address, and one inside by NAT64', [PUBLIC, translated(INSIDE)], [PUBLIC]],
      ['an address inside, and a public one by NAT64', [INSIDE, translated(PUBLIC)], [translated(PUBLIC)]],
      ['a public address, and one inside', [INSIDE, PUBLIC], [PUBLIC]],
      ['a public address, and a unique local one', [PUBLIC, INSIDE_IPV6], [PUBLIC]],
      ['a public address of IPv6, and one inside', [INSIDE, PUBLIC_IPV6], [PUBLIC_IPV6]],
    ])('is called where that is permitted: %s', async (_, addresses, permitted) => {
      const carrier = await carrierOf(...addresses);
      await carrier.hear();
      await carrier.hear();
      await untilServed([carrier], 2);
      await expectOn([carrier]);
      for (const { to } of receiver.at(carrier.path)) expect(permitted).toContain(to);
    });

    test('is refused, and never called, where NAT64 leads inside, though the prefix itself is allowed', async () => {
      await using _settings = await looking({ CALLBACK_ALLOW_NETWORKS: '64:ff9b::/96' });
      moveTo('inside.translated.test', translated(INSIDE));
      const { call } = await stack.client('carrier');
      for (const host of ['inside.translated.test', `[${translated(INSIDE)}]`]) {
        const body = { callback_url: `http://${host}:${PORT}/inside` };
        expect(await call('POST', '/v1/webhooks/order.created/subscriptions/', body)).toMatchObject({ status: 422 });
      }
      const carrier = await carrierOf(PUBLIC);
      moveTo(carrier.host, translated(INSIDE));
      await untilForgotten();
      await carrier.hear();
      await carrier.untilOff();
      expect(receiver.at(carrier.path).map(({ to }) => to)).not.toContain(translated(INSIDE));
    });
  });

  describe('a host behind a NAT64 of the operator', () => {
    test('is judged by the address inside', async () => {
      await using _settings = await looking({ CALLBACK_NAT64_PREFIXES: OWN_PREFIX });
      const carrier = await carrierOf(OWN_PUBLIC);
      await carrier.hear();
      await untilServed([carrier], 1);
      moveTo('inside.own.test', OWN_INSIDE);
      const body = { callback_url: `http://inside.own.test:${PORT}/` };
      const { call } = await stack.client('carrier');
      expect(await call('POST', '/v1/webhooks/order.created/subscriptions/', body)).toMatchObject({ status: 422 });
      moveTo(carrier.host, OWN_INSIDE);
      await untilForgotten();
      await carrier.hear();
      await carrier.untilOff();
      expect(receiver.at(carrier.path).map(({ to }) => to)).toEqual([OWN_PUBLIC]);
    });
  });

  describe('a resolver that lies about all hosts', () => {
    test.each([
      ['leads inside', () => [INSIDE]],
      ['leads nowhere', () => ['0.0.0.0', '::']],
      ['translates what is inside', () => [translated(INSIDE)]],
      ['knows none of them', () => undefined],
    ])('switches none off, and all is delivered once it tells the truth: it %s', async (_, lie) => {
      await startAgain('deliverer');
      const all = await carriers(8);
      await hear(all);
      await untilServed(all, 1);

      const truth = new Map(names);
      for (const { host } of all) {
        const addresses = lie();
        if (addresses === undefined) names.delete(host);
        else moveTo(host, ...addresses);
      }
      await untilForgotten();
      await hear(all);
      await untilOthersWouldBeOff();
      await expectOn(all);
      expect(receiver.received.filter(({ to }) => to === INSIDE || to === translated(INSIDE))).toEqual([]);

      for (const [host, said] of truth) names.set(host, said);
      await untilServed(all, 2);
      await expectOn(all);
    });
  });
}
