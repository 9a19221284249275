import { beforeAll, describe, expect, test } from '@jest/globals';
import { revokeToken } from '@waybell/subscription-api/tokens';
import { until } from '@waybell/runtime/testing/until';
import { furnish, type Furnished } from './furnished.ts';
import { button, rowOf, to } from './places.ts';
import { putCredentials } from './put-credentials.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, operatorToken, stack } from './stand.ts';
import { untilGone, untilReads } from './page-checks.ts';

const isAsked = ({ pathname }: URL) => pathname.startsWith('/v1/');
const isTimeline = ({ pathname }: URL) => pathname === '/v1/timeline';

/** The API's answer to too many requests. */
const tooOften = {
  status: 429,
  headers: { 'content-type': 'application/problem+json', 'retry-after': '2' },
  body: JSON.stringify({
    type: 'urn:waybell:problem:too-many-requests',
    title: 'Too many requests',
    status: 429,
    detail: 'more than 300 requests in a minute',
    instance: 'urn:uuid:5e0e6ddc-37ad-4f6d-9c0a-7c2b4a3f1d55',
  }),
};

export function states(): void {
  describe('the console', () => {
    let known: Furnished;
    beforeAll(async () => {
      known = await furnish('Prairie Line Haulage');
    });

    test('signs out when the token is revoked, says why, and keeps nothing of what it showed', async () => {
      const { account } = known.carrier;
      const { token } = await stack.clientOf(account, 'carrier');
      const { page, untilTrouble } = await signedIn({ token });
      await to(page, `/deliveries/${known.delivery}`);
      await page.getByText(/^Attempt 4$/).waitFor();
      await revokeToken(stack.postgres, token);
      await page.getByRole('link', { name: 'Secrets' }).click();
      await page.getByRole('alert').filter({ hasText: 'access token' }).waitFor();
      await page.getByLabel('Access token').waitFor();
      const kept = await page.content();
      const left = [known.delivery, known.path, known.order, account.slice(0, 8), token];
      expect(left.filter((each) => kept.includes(each))).toEqual([]);
      await untilReads(() => page.getByLabel('Access token').inputValue(), '');
      await untilTrouble(/401/);
    });

    test('says of a service that stands still since when it does not answer, with what comes of it', async () => {
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      const service = stack.stack.service('deliverer');
      const row = page.getByRole('table', { name: 'Services' }).getByRole('row').filter({ hasText: 'deliverer' });
      const banner = page.getByRole('list', { name: 'Needs a person' });
      const untilTold = (what: string, isTold: () => Promise<boolean>) =>
        until(what, async () => {
          await button(page, 'Refresh').click();
          return isTold();
        });
      await service.signal('SIGSTOP');
      try {
        await untilTold('it is told', () => banner.getByText(/deliverer does not answer since/).isVisible());
        await row.getByText('does not answer').waitFor();
        await untilGone(row.getByText('running'));
        await untilTold('the cause is told in place of its effect', () =>
          banner.getByText(/deliverer does not answer since .*: its \d+ queues have no consumer/).isVisible(),
        );
        await untilGone(banner.getByText(/queues without a consumer/));
      } finally {
        await service.signal('SIGCONT');
      }
      await untilTold('it runs', () => page.getByText('Every service runs').isVisible());
      await row.getByText('running').waitFor();
    });

    test('says that it asked too often, and goes on by itself', async () => {
      const { page, untilTrouble } = await signedIn({ token: known.carrier.token });
      let refused = 0;
      await page.route(isTimeline, async (route) => {
        if ((refused += 1) <= 3) await route.fulfill(tooOften);
        else await route.fallback();
      });
      await to(page, `/timeline?key=${known.order}`);
      await page.getByText('Too many requests').waitFor();
      await page.getByText(/^Trying again in/).waitFor();
      await button(page, /given up/).waitFor();
      await untilGone(page.getByText('Too many requests'));
      await untilTrouble(/429/);
    });

    test('says that there is no answer, and goes on by itself once there is', async () => {
      const { page, untilTrouble } = await signedIn({ token: known.carrier.token });
      await page.route(isAsked, async (route) => route.abort('connectionrefused'));
      await to(page, `/timeline?key=${known.order}`);
      await page.getByText('No connection').waitFor();
      await page.unroute(isAsked);
      await button(page, /given up/).waitFor();
      await untilGone(page.getByText('No connection'));
      await untilTrouble(/^failed .*ERR_CONNECTION_REFUSED/);
      await untilTrouble(/^console .*ERR_CONNECTION_REFUSED/);
    });

    test('keeps what it showed while there is no answer', async () => {
      const { page, untilTrouble } = await signedIn({ token: known.carrier.token });
      await rowOf(page, 'order.created').waitFor();
      await page.route(isAsked, async (route) => route.abort('connectionrefused'));
      await page.getByText('No connection').first().waitFor();
      await untilReads(() => rowOf(page, 'order.created').count(), 1);
      await page.unroute(isAsked);
      await until('it is not said any more', async () => (await page.getByText('No connection').count()) === 0);
      await untilTrouble(/ERR_CONNECTION_REFUSED/);
    });

    test('tells an empty account how to begin', async () => {
      const { token } = await anAccount('shipper');
      const { page } = await signedIn({ token });
      await page.getByText('No subscriptions yet.').waitFor();
      await untilReads(() => page.getByRole('main').getByRole('link', { name: 'catalog' }).count(), 1);
      await to(page, '/secrets');
      await button(page, 'Show').waitFor();
      await to(page, '/credentials');
      await page.getByText('No credentials yet.').waitFor();
      await to(page, '/live');
      await page.getByText('Nothing has happened yet.').waitFor();
      await to(page, '/timeline?key=4711');
      await page.getByText('Nothing found').waitFor();
    });

    test('shows who may only read nothing that writes', async () => {
      const { page } = await signedIn({ token: known.carrier.tokens.read });
      const buttons = async (sign: string | RegExp) => {
        await page.getByText(sign).first().waitFor();
        const names = await page.locator('#main').getByRole('button').allTextContents();
        // Buttons that only sort a table, or open a part, change nothing.
        return names.filter((name) => !/^(Copy|Show|[▸▾])|↕$/.test(name));
      };
      expect(await buttons(known.path)).toEqual([]);
      await to(page, '/subscriptions');
      expect(await buttons(known.path)).toEqual([]);
      await to(page, '/subscriptions?subscribe=order.created');
      expect(await buttons(known.path)).toEqual([]);
      await untilGone(page.getByRole('dialog'));
      await to(page, '/secrets');
      expect(await buttons('Secrets need an access token')).toEqual([]);
      await putCredentials(known.carrier, 'gateway.example.com', { headers: { 'X-Api-Key': 'a' } });
      await to(page, '/credentials?host=gateway.example.com');
      expect(await buttons('X-Api-Key')).toEqual([]);
      await untilGone(page.getByRole('dialog'));
      await to(page, `/deliveries/${known.delivery}`);
      expect(await buttons(/^Attempt 4$/)).toEqual([]);
      await to(page, '/catalog?action=order.created');
      await page.getByRole('tab', { name: 'Fields' }).waitFor();
      await untilGone(page.locator('#main').getByRole('link', { name: 'Subscribe' }));
    });

    test('says what a token lacks that may only write', async () => {
      const { page, untilTrouble } = await signedIn({ token: known.carrier.tokens.write });
      await page.getByRole('alert').filter({ hasText: 'webhooks:read' }).first().waitFor();
      await to(page, '/secrets');
      await button(page, 'Show').first().waitFor();
      await to(page, `/timeline?key=${known.order}`);
      await page.getByRole('alert').filter({ hasText: 'webhooks:read' }).waitFor();
      await untilTrouble(/403/);
    });
  });
}
