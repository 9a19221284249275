import { withConstants } from '@waybell/runtime/gone-settings';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { until } from '@waybell/runtime/testing/until';
import { clockSettings, rightClocks, setClocks } from '../testing/clocks.ts';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { carrierOf, expectOn, publicAddress, stack, untilServed, waitsFor, type Carrier } from './stand.ts';

const OFF_MS = 600_000;

/** A receiver that takes what is signed, and not long ago. */
async function careful(): Promise<Carrier> {
  const carrier = await carrierOf(publicAddress(22));
  const [secret = ''] = await carrier.client.signingSecrets();
  carrier.answer((response, { headers, body }) => {
    let status = 200;
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    } catch {
      status = 401;
    }
    response.writeHead(status).end();
  });
  return carrier;
}

export function wrongClocks(): void {
  describe.each([
    ['behind', -OFF_MS],
    ['ahead', OFF_MS],
  ])('a deliverer whose clock is 10 minutes %s', (_, offMs) => {
    afterEach(rightClocks);

    test('is not ready, names both clocks, and switches none off that looks at the time', async () => {
      await using _settings = await stack.withSettings('deliverer', { ...clockSettings, CLOCK_LIMIT: '30s' });
      const carrier = await careful();
      await carrier.hear();
      await untilServed([carrier], 1);

      setClocks(offMs);
      await carrier.hear();
      const told = await until('it names both clocks', async () => {
        const what = await waitsFor('deliverer');
        return what !== undefined && /clock/.test(what) && what;
      });
      expect(told.match(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g)).toHaveLength(2);
      await carrier.hear();
      await until('it is still so', () => waitsFor('deliverer'));
      await expectOn([carrier]);

      rightClocks();
      await untilServed([carrier], 3);
      await expectOn([carrier]);
    });
  });

  describe('a process that starts with a wrong clock', () => {
    test.each(['deliverer', 'event-router', 'subscription-api'])(
      'is not ready, and is by itself once it is right: %s',
      async (name) => {
        const service = stack.stack.service(name);
        const { env } = service.spec;
        await service.stop();
        setClocks(OFF_MS);
        service.spec.env = { ...env, ...withConstants({ ...clockSettings, CLOCK_LIMIT: '30s' }) };
        const started = service.start();
        await until('it waits for its clock', async () => (await waitsFor(name))?.includes('clock'));
        rightClocks();
        await started;
        service.spec.env = env;
        await service.restart();
      },
    );
  });

  describe('attempts of a deliverer whose clock is behind', () => {
    test('are found by the event that they are of', async () => {
      // A wrong clock is accepted: reports about it must be right nevertheless.
      await using _settings = await stack.withSettings('deliverer', { ...clockSettings, CLOCK_LIMIT: '0s' });
      setClocks(-OFF_MS);
      const carrier = await carrierOf(publicAddress(23));
      const { guid } = (await carrier.hear()) as { guid: string };
      await untilServed([carrier], 1);
      await until('the attempt is told', async () => /delivered/.test((await runWaybell(stack, ['why', guid])).stdout));
      rightClocks();
    });
  });
}
