import { describe, expect, test } from '@jest/globals';
import {
  carrierAt,
  carrierOf,
  expectOn,
  INSIDE,
  looking,
  moveTo,
  nameServer,
  names,
  NAME_SERVER,
  PORT,
  publicAddress,
  receiver,
  resolveBy,
  stack,
  untilForgotten,
  untilServed,
} from './stand.ts';
import { shared } from '@waybell/runtime/testing/shared';

/** The address of every name in the search list. */
const STRANGER = publicAddress(20);
const SEARCHED = ['hooks', 'api'].flatMap((name) => [
  `${name}.partner.test.corp.test`,
  `${name}.prtner.test.corp.test`,
]);

/** Both services that look names up, with this in resolv.conf, until the end of that. */
async function searching(options: string, settings: Record<string, string> = {}): Promise<AsyncDisposable> {
  resolveBy({ servers: [NAME_SERVER], more: ['search corp.test', `options ${options}`] });
  for (const name of SEARCHED) moveTo(name, STRANGER);
  const changed = await looking(settings);
  return {
    async [Symbol.asyncDispose]() {
      resolveBy({ servers: [NAME_SERVER] });
      await changed[Symbol.asyncDispose]();
    },
  };
}

export function searchLists(): void {
  describe('a search list', () => {
    test('is for names without a dot, where addresses inside are allowed', async () => {
      await using _searching = await searching('ndots:1', { CALLBACK_ALLOW_NETWORKS: `${INSIDE}/32` });
      moveTo('hooks.corp.test', INSIDE);
      const carrier = await carrierAt(`http://hooks:${PORT}`);
      await carrier.hear();
      await untilServed([carrier], 1);
      expect(receiver.at(carrier.path).map(({ to }) => to)).toEqual([INSIDE]);
    });
  });

  describe.each(['ndots:5', 'ndots:1'])('a search list with a wildcard, and %s,', (options) => {
    shared(() => searching(options));

    test('leads no callback to a stranger, whatever becomes of its name', async () => {
      const carrier = await carrierOf(publicAddress(21));
      moveTo(`${carrier.host}.corp.test`, STRANGER);
      await carrier.hear();
      await carrier.untilAsked(1);
      await expectOn([carrier]);
      for (const said of ['failure', undefined] as const) {
        if (said === undefined) names.delete(carrier.host);
        else names.set(carrier.host, said);
        await untilForgotten();
        await carrier.hear();
      }
      await carrier.untilOff();
      expect(receiver.at(carrier.path).map(({ to }) => to)).not.toContain(STRANGER);
      expect(nameServer.asked).not.toContain(`${carrier.host}.corp.test`);
    });

    test('makes no name that is mistyped one that there is', async () => {
      const { call } = await stack.client('carrier');
      const body = { callback_url: `http://hooks.prtner.test:${PORT}/` };
      expect(await call('POST', '/v1/webhooks/order.created/subscriptions/', body)).toMatchObject({ status: 422 });
    });
  });
}
