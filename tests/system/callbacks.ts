import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { receiver, stack } from './stand.ts';

export function callbacks(): void {
  describe('a carrier callback', () => {
    test('is signed with both secrets while the account rotates', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.picked_up', receiver.url('/signed'));
      const secretsOf = async (method: string, path = '') =>
        ((await carrier.call(method, `/v1/signing-secrets${path}`)).body as { secret: string }[]).map(
          ({ secret }) => secret,
        );
      const before = await secretsOf('GET');
      await carrier.hear('order.picked_up');
      await receiver.untilReceived('/signed', 1);
      const after = await secretsOf('POST', '/rotate');
      expect(after).toEqual([expect.any(String), ...before]);
      await carrier.hear('order.picked_up');
      for (const [index, request] of (await receiver.untilReceived('/signed', 2)).entries()) {
        const headers = request.headers as Record<string, string>;
        const secrets = [before, after][index] ?? [];
        expect(headers['webhook-signature']?.split(' ')).toHaveLength(secrets.length);
        for (const secret of secrets) new Webhook(secret).verify(request.body, headers);
      }
    });

    test('goes nowhere once the subscription was deleted', async () => {
      const [carrier, other] = [await stack.client('carrier'), await stack.client('carrier')];
      await carrier.subscribe('damage.created', receiver.url('/deleted'));
      expect((await carrier.call('DELETE', '/v1/webhooks/damage.created/subscriptions/')).status).toBe(204);
      await carrier.hear('damage.created');
      await other.subscribe('damage.created', receiver.url('/after-deleted'));
      await other.hear('damage.created');
      await receiver.untilReceived('/after-deleted', 1);
      expect(receiver.at('/deleted')).toEqual([]);
    });
  });
}
