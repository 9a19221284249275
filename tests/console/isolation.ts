import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import type { OpenPage } from '../testing/browser.ts';
import { deliveriesOf } from './deliveries-of.ts';
import { furnish, type Furnished } from './furnished.ts';
import { untilLoaded } from './page-checks.ts';
import { button, dialog, to, untilLive } from './places.ts';
import { putCredentials } from './put-credentials.ts';
import { signedIn } from './signed-in.ts';
import { stack, subscribed } from './stand.ts';
import type { Client } from '../testing/test-stack.ts';

/** Public parts of the other's credentials. */
const CREDENTIALS = ['the-others-gateway.example.com', 'X-Key-Of-The-Other', 'user-of-the-other'] as const;
const ANSWER = 'only-the-receiver-of-the-other-says-so';

export function isolation(): void {
  describe('the console never shows', () => {
    let other: Furnished;
    let reader: Client;
    let sibling: Client;
    beforeAll(async () => {
      other = await furnish('Lone Mesa Transport', (response) => response.writeHead(500).end(ANSWER));
      const [host, name, username] = CREDENTIALS;
      const given = { headers: { [name]: 'a' }, basic: { username, password: 'b' } };
      await putCredentials(other.carrier, host, given);
      reader = (await furnish('Prairie Line Haulage')).carrier;
      sibling = await stack.clientOf(other.carrier.account, 'carrier', 'second');
      await subscribed(sibling, 'order.assigned');
    });

    test('anything of another account, whatever is asked for by its address', async () => {
      const { deliveries, subscriptions, secrets } = await madeFor(other);
      const { carrier, name, order, event, path, rejected } = other;
      const theirs = [
        ...deliveries,
        ...subscriptions,
        ...secrets,
        ...CREDENTIALS,
        path,
        ANSWER,
        name,
        order,
        event,
        rejected.guid,
      ];
      await expectKept([...theirs, carrier.account], other, reader);
    });

    test("anything of another client of the account, but the account's events", async () => {
      const { deliveries, subscriptions } = await madeFor(other);
      await expectKept([...deliveries, ...subscriptions, ...CREDENTIALS, other.path, ANSWER], other, sibling);
    });
  });
}

/** All that is the client's own: guids, and what its notifications are signed with. */
async function madeFor({ carrier }: Furnished) {
  const { rows } = await stack.postgres.query<{ guid: string }>(
    "select guid from waybell.subscriptions where account_guid = $1 and client_id = 'default'",
    [carrier.account],
  );
  const subscriptions = rows.map(({ guid }) => guid);
  const deliveries = (await deliveriesOf(carrier))
    .filter(({ subscription }) => subscriptions.includes(subscription))
    .map(({ delivery }) => delivery);
  expect(Math.min(deliveries.length, subscriptions.length)).toBe(2);
  return { deliveries, subscriptions, secrets: await carrier.signingSecrets() };
}

/** Looks at every page, and at those of what is not the reader's; no answer and no page may hold any of `secret`. */
async function expectKept(secret: readonly string[], other: Furnished, reader: Client): Promise<void> {
  const opened = await signedIn({ token: reader.token });
  const answers = recorded(opened);
  const { page } = opened;
  const asked = [other.delivery, other.order, other.event, other.subscription, other.carrier.account];
  const foreign = [
    `/deliveries/${other.delivery}`,
    ...asked.map((each) => `/timeline?key=${each}`),
    ...asked.map((each) => `/find?text=${each}`),
    `/deliveries?guid=${other.delivery}`,
    `/deliveries?subscription=${other.subscription}`,
    `/deliveries?key=${other.event}`,
  ];
  const own = [
    '/catalog?action=order.created',
    '/secrets',
    '/credentials',
    '/live',
    '/',
    '/deliveries',
    '/missed',
    '/subscriptions',
  ];
  let seen = '';
  for (const address of [...foreign, ...own]) {
    const before = seen;
    await to(page, address);
    await until(`${address} has come`, async () => (seen = await page.locator('#main').innerText()) !== before);
    await untilLoaded(page);
    await answers.settle();
    // Not what was there while it was loading: the next page is to differ from this one.
    seen = await page.locator('#main').innerText();
    // The title shows the searched text, and so does the API's answer.
    const hidden = secret.filter((each) => !address.endsWith(each));
    const told = [...answers.take(), await page.content()];
    expect(hidden.filter((each) => told.some((text) => text.includes(each)))).toEqual([]);
    if (address === '/live') await expectOwnFeed(opened, other, reader, hidden);
  }
  await button(page, /^Actions for/)
    .first()
    .click();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await dialog(page).getByRole('button', { name: 'Preview' }).click();
  await dialog(page)
    .getByText(/to replay/)
    .waitFor();
  await answers.settle();
  const told = [...answers.take(), await page.content()];
  expect(secret.filter((each) => told.some((text) => text.includes(each)))).toEqual([]);
  await opened.untilTrouble(/404/);
}

/** Expects that the reader's feed has its own events, though they happened later, and none of the other's. */
async function expectOwnFeed({ page }: OpenPage, other: Furnished, reader: Client, hidden: readonly string[]) {
  await untilLive(page);
  const theirs = await other.carrier.hear('order.assigned', { payload: { id: Number(other.order) } });
  await reader.hear('order.assigned', { payload: { id: 1 } });
  await page.locator('.feed-line').filter({ hasText: 'delivered' }).first().waitFor();
  const text = await page.content();
  const isOther = reader.account !== other.carrier.account;
  expect([...hidden, ...(isOther ? [theirs.guid] : [])].filter((each) => text.includes(each))).toEqual([]);
}

/** The bodies of all answers but that of the feed, which does not end. */
function recorded({ page }: OpenPage) {
  const bodies: string[] = [];
  let under: Promise<unknown>[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith('/v1/') || pathname === '/v1/live') return;
    const read = response.text().then((body) => bodies.push(body));
    // The page asks for some things again and again: the last of these may end with it.
    read.catch(() => undefined);
    under.push(read);
  });
  return {
    async settle() {
      await Promise.all(under);
      under = [];
    },
    take: () => bodies.splice(0),
  };
}
