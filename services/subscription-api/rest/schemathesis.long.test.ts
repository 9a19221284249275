import { beforeAll, describe, expect, test } from '@jest/globals';
import { signUp, startApi, type TestApi } from '../testing/api.ts';
import { logDelivery } from '../testing/logged-delivery.ts';
import { installSchemathesis, runSchemathesis } from '../testing/schemathesis.ts';

const SECONDS = Number(process.env['SCHEMATHESIS_SECONDS'] ?? 180);
/** There to end a test that will never pass. */
const LIMIT_MS = (SECONDS + 600) * 1_000;
const SUBSCRIBE = {
  shipper: '/v1/public/webhooks/order.created/subscribe',
  carrier: '/v1/webhooks/order.created/subscriptions/',
};

const ENDED = { shipper: 'order.removed', carrier: 'damage.deleted' };

beforeAll(installSchemathesis, LIMIT_MS);

/** A client that is subscribed, and a delivery of it that was given up. */
async function aClient(api: TestApi, interfaceName: keyof typeof SUBSCRIBE) {
  const { guid: account, token } = await signUp(api, { interface: interfaceName });
  await api.ask('POST', SUBSCRIBE[interfaceName], { token, body: { callback_url: 'https://hooks.test/a' } });
  const { postgres } = api.store;
  const { rows } = await postgres.query('select guid from waybell.subscriptions where account_guid = $1', [account]);
  const what = { account, interface: interfaceName, mark: 'x', subscription: String(rows[0].guid) };
  const { delivery } = await logDelivery(postgres, what);
  return { account, token, delivery, ended: ENDED[interfaceName] };
}

/** In the place of the deliverer: what is tried out has its answer. */
function answerTests({ store: { postgres } }: TestApi): AsyncDisposable {
  let isOver = false;
  const answer = async () => {
    while (!isOver) {
      const { rows } = await postgres.query(
        `with asked as (delete from delivery_log.sendings where why = 'test' and not is_retried returning event, account, interface, subscription)
         select *, pg_sleep(0.05) from asked right join (select 1) as always on true`,
      );
      for (const { event, account, interface: interfaceName, subscription } of rows)
        if (event !== null)
          await logDelivery(postgres, {
            event,
            account,
            interface: interfaceName,
            subscription,
            mark: 'x',
            byHand: 'test',
          });
    }
  };
  const answering = answer();
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await answering;
    },
  };
}

describe.each(['shipper', 'carrier'] as const)('the API of a %s', (interfaceName) => {
  test(
    'answers whatever Schemathesis asks as openapi.json tells, and is asked to resend and to replay',
    async () => {
      await using api = await startApi({ interfaces: [interfaceName] });
      await using _answering = answerTests(api);
      const { account: _, ...whose } = await aClient(api, interfaceName);
      const client = { port: api.port, ...whose };
      // First, as all operations together may take longer than there is time for.
      await runSchemathesis({ ...client, tag: 'Resend and replay', seconds: SECONDS / 8 });
      await runSchemathesis({ ...client, seconds: (SECONDS * 3) / 8 });
      const { rows } = await api.store.postgres.query(
        `select exists (select from delivery_log.sendings where replay is null) as resent,
           exists (select from delivery_log.replays) as replayed`,
      );
      expect(rows).toEqual([{ resent: true, replayed: true }]);
    },
    LIMIT_MS,
  );
});

describe('the API of operators', () => {
  test(
    'answers whatever Schemathesis asks for a client as admin-openapi.json tells',
    async () => {
      await using api = await startApi();
      await using _answering = answerTests(api);
      const { account, delivery, ended } = await aClient(api, 'carrier');
      const { token } = await signUp(api, { interface: 'shipper', scopes: ['admin'] });
      const asked = { port: api.admin.port, token, delivery, ended, actingFor: account };
      const told = await runSchemathesis({ ...asked, tag: 'For a client', seconds: SECONDS / 4 });
      // It ends with 1 where anything fails.
      expect(told).toMatch(/Fuzzing[^]*\d+ passed/);
    },
    LIMIT_MS,
  );
});
