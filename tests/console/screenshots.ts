import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { repository } from '@waybell/stack/stack-folder';
import type { Behaviour } from '../testing/receiver.ts';
import { anOrder, furnish, type Furnished } from './furnished.ts';
import { aDeliveredEvent, openLog } from './log-of-stand.ts';
import { untilLoaded } from './page-checks.ts';
import { button, openCorrection, to, untilLive } from './places.ts';
import { signedIn } from './signed-in.ts';
import { apiUrl, browser, operatorToken, receiver, stack, subscribed } from './stand.ts';

const MOST_BYTES = 200_000;
const HOUR_MS = 3_600_000;

/** An answer as a proxy gives it before a receiver that is away. */
const unavailable: Behaviour = (response) =>
  response
    .writeHead(503, { 'content-type': 'application/json' })
    .end('{"error":"upstream_unavailable","message":"dispatch-service has no healthy instance"}');

export function screenshots(): void {
  describe('the pictures of the documentation', () => {
    const isKept = process.env['WAYBELL_SCREENSHOTS'] !== undefined;
    let known: Furnished;
    let folder: string;
    beforeAll(async () => {
      folder = isKept ? join(repository, 'docs/console') : await mkdtemp(join(tmpdir(), 'waybell-screenshots-'));
      await mkdir(folder, { recursive: true });
      known = await furnish('Prairie Line Haulage', unavailable);
      await logADay(known);
    });
    afterAll(async () => {
      if (!isKept && folder) await rm(folder, { recursive: true, force: true });
    });

    const expectTaken = async (page: Page, name: string) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await untilLoaded(page);
      const path = join(folder, `${name}.png`);
      await page.mouse.move(0, 0);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
      const { size } = await stat(path);
      expect(size).toBeGreaterThan(5_000);
      expect(size).toBeLessThan(MOST_BYTES);
    };

    const asClient = async () => {
      const { page } = await signedIn({ token: known.carrier.token, timezone: 'America/Chicago' });
      await withPlainAddresses(page, known);
      return page;
    };

    const asOperator = async () => {
      const opened = await signedIn({ token: await operatorToken(), at: 'operator', timezone: 'America/Chicago' });
      await withPlainAddresses(opened.page, known);
      return opened;
    };

    test('show the sign-in', async () => {
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'America/Chicago' });
      await page.goto('/console');
      await page.getByLabel('Access token').waitFor();
      await expectTaken(page, 'sign-in');
    });

    test('show the overview of a client, with what is off', async () => {
      const page = await asClient();
      await to(page, '/');
      await page.getByText('switched off').first().waitFor();
      await expectTaken(page, 'overview');
    });

    test('show deliveries', async () => {
      const page = await asClient();
      await to(page, '/deliveries');
      await page.getByText('given up').first().waitFor();
      await page.getByText(`WB-${known.order}`).first().waitFor();
      await expectTaken(page, 'deliveries');
    });

    test('show a delivery', async () => {
      const page = await asClient();
      await to(page, `/deliveries/${known.delivery}`);
      await page.getByText('Attempt 4').first().waitFor();
      await expectTaken(page, 'delivery');
    });

    test('show subscriptions, what is off first', async () => {
      const page = await asClient();
      await to(page, '/subscriptions');
      await page.getByText('https://hooks.prairieline.example/').first().waitFor();
      await page.getByText('switched off').first().waitFor();
      await expectTaken(page, 'subscriptions');
    });

    test('show how one subscribes to several actions', async () => {
      const page = await asClient();
      await to(page, '/subscriptions');
      await button(page, 'Subscribe').first().click();
      await page.getByRole('searchbox', { name: 'Search actions' }).fill('order.*');
      await page.getByRole('checkbox', { name: /^order\.picked_up/ }).check();
      await expectTaken(page, 'subscribe');
    });

    test('show what was missed, counted', async () => {
      const page = await asClient();
      const [since, until] = [wallClockMs() - 24 * HOUR_MS, wallClockMs()].map((at) => new Date(at).toISOString());
      await to(page, `/missed?${new URLSearchParams({ since: since ?? '', until: until ?? '' }).toString()}`);
      await page.getByRole('table').getByText('order.created').waitFor();
      await expectTaken(page, 'missed');
    });

    test('show what happens now', async () => {
      const page = await asClient();
      await to(page, '/live');
      await untilLive(page);
      await happen(known);
      await page.getByText('order.delivered').first().waitFor();
      await expectTaken(page, 'live');
    });

    test('show the catalog', async () => {
      const page = await asClient();
      await to(page, '/catalog?action=order.created');
      await page.getByRole('tab', { name: 'Example' }).click();
      await page
        .getByLabel(/^Example/)
        .first()
        .waitFor();
      await expectTaken(page, 'catalog');
    });

    test('show where a rejected event is corrected', async () => {
      const opened = await asOperator();
      const { page } = opened;
      await openCorrection(page, known, opened);
      await expectTaken(page, 'correct');
    });

    test('show the overview of operators', async () => {
      const { page } = await asOperator();
      await to(page, '/');
      await page.getByRole('heading', { name: 'Services' }).waitFor();
      await expectTaken(page, 'operator-overview');
    });

    test('show the audit log', async () => {
      const { page } = await asOperator();
      await to(page, '/audit');
      await page.getByText(known.name).first().waitFor();
      await expectTaken(page, 'audit');
    });
  });
}

/** Logs a client's day, with one bar for each hour. */
async function logADay({ carrier, subscription }: Furnished): Promise<void> {
  await using log = await openLog();
  const now = wallClockMs();
  const others = await stack.subscriptionAt(receiver.url((await subscribed(carrier, 'order.updated')).path));
  for (let hour = 1; hour < 24; hour += 1) {
    const at = now - hour * HOUR_MS;
    await log.partitions.ensure([at]);
    const busy = 6 + Math.round(5 * Math.sin(hour / 3.4));
    const records = Array.from({ length: busy }, () => [
      ...aDeliveredEvent({ carrier, subscription, action: 'order.created', at }),
      ...aDeliveredEvent({ carrier, subscription: others, action: 'order.updated', at }),
    ]).flat();
    await log.write(records);
  }
}

/** Some events of every kind, one of which needs a second attempt. */
async function happen({ carrier }: Furnished): Promise<void> {
  const { path } = await subscribed(carrier, 'order.delivered', 503);
  const about = () => {
    const order = anOrder();
    return { payload: { id: order, number: `WB-${order}`, status: 'new' } };
  };
  await carrier.hear('order.delivered', about());
  await receiver.untilReceived(path, 1);
  receiver.answer(path, 200);
  for (const action of ['order.assigned', 'order.updated', 'order.picked_up', 'order.assigned', 'order.created'])
    for (let times = 0; times < 2; times += 1) await carrier.hear(action, about());
}

/** Shows the receivers of these tests, which are on this machine, by addresses as integrators have them. */
async function withPlainAddresses(page: Page, known: Furnished): Promise<void> {
  const { origin } = new URL(receiver.url('/plain'));
  const plain = (text: string) =>
    text
      .replaceAll(`${origin}${known.path}`, 'https://hooks.prairieline.example/waybell/orders')
      .replaceAll(new RegExp(`${origin}/[0-9a-f-]{36}`, 'g'), 'https://hooks.prairieline.example/waybell/status')
      .replaceAll('127.0.0.1', '203.0.113.24');
  await page.route(
    ({ pathname }) => pathname.startsWith('/v1/') && pathname !== '/v1/live',
    async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: plain(await response.text()) });
    },
  );
}
