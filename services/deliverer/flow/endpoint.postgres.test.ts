import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { endpointKey } from './endpoint.ts';
import { PostgresStand } from '@waybell/line/waiting-room/testing/waiting-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => PostgresStand.start(12));
describe('of an account and a URL', () => {
  test('Postgres and the deliverer make the same room', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uuid(), fc.webUrl({ withQueryParameters: true }), async (account, callbackUrl) => {
        const [row] = await stand.sql(`select encode(uuid_send(waybell.room_of($1, $2)), 'hex') as room`, [
          account,
          callbackUrl,
        ]);
        expect(row).toEqual({ room: endpointKey({ account, callbackUrl }).endpoint });
      }),
    );
  });
});
