import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aFurnishedCarrier, furnish, untilOff, untilStatus, type Furnished } from './furnished.ts';
import { aDeliveredEvent, openLog } from './log-of-stand.ts';
import { untilLoaded, untilReads } from './page-checks.ts';
import { to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { scrollToEnd } from './ten-thousand.ts';
import { aDelivered, anExhausted } from '@waybell/delivery-log/testing/log-stand';
import { anAccount, operatorToken, receiver, subscribed } from './stand.ts';
import { counting } from './steps.ts';

const PAGE_SIZE = 50;
const TIMELINE_PAGE_SIZE = 100;
/** Number of deliveries that one look of the API reads. */
const LOOKED_AT = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Common tasks of users, and their numbers of steps. */
export function deliveryTasks(): void {
  describe('the console', () => {
    test('leads in two steps from something failed to why, and to what helps', async () => {
      const known = await aFurnishedCarrier();
      const { page, count } = counting((await signedIn({ token: known.carrier.tokens.read })).page);
      await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
      await rows(page).filter({ hasText: 'given up' }).getByRole('link').first().click();
      const delivery = page.getByRole('article', { name: `Delivery ${known.delivery}` });
      await delivery.getByText('the receiver, or a proxy before it, failed').first().waitFor();
      await delivery.getByText("Look in the receiver's log for the error.").first().waitFor();
      await delivery.getByLabel('Response to attempt 4', { exact: true }).waitFor();
      expect(count()).toBeLessThanOrEqual(2);
      // The last attempt is open, and no other.
      await untilReads(() => delivery.locator('pre[aria-label^="Response to attempt"]').count(), 1);
      const { carrier, subscription, order } = known;
      await logMany({ carrier, subscription, order }, TIMELINE_PAGE_SIZE);
      await delivery.getByRole('link', { name: order, exact: true }).click();
      await page.getByRole('heading', { name: `Timeline of ${order}` }).waitFor();
      const entries = page.locator('.long-list li');
      await until('all of its timeline is there, which is more than one page', async () => {
        await scrollToEnd(page);
        return Number(await entries.first().getAttribute('aria-setsize')) > TIMELINE_PAGE_SIZE;
      });
    });

    test('tells an operator in four steps what a client missed on a day', async () => {
      const { carrier, name } = await aFurnishedCarrier();
      const { page, count } = counting((await signedIn({ token: await operatorToken(), at: 'operator' })).page);
      await page.getByRole('searchbox').first().fill(name);
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Missed' }).first().click();
      await page.getByText('Acting for').waitFor();
      await page.getByRole('button', { name: 'Yesterday' }).click();
      await page.getByText('Nothing was missed in this period.').waitFor();
      expect(count()).toBeLessThanOrEqual(4);
      expect(page.url()).toContain(`#/clients/${carrier.account}/default/missed`);
    });
  });
}

export function deliveries(): void {
  describe('the list of deliveries', () => {
    let known: Furnished;
    beforeAll(async () => {
      known = await furnish(`Prairie Line Haulage ${randomUUID().slice(0, 8)}`);
    });

    test('is filtered by what its address says, which shows a colleague the same', async () => {
      const { page } = await signedIn({ token: known.carrier.token });
      await to(page, '/deliveries');
      await untilRows(page, 2);
      await page.getByRole('button', { name: 'Given up' }).click();
      await untilRows(page, 1);
      await page.getByRole('button', { name: 'Delivered' }).click();
      await untilRows(page, 2);
      await page.getByLabel('Action').selectOption('order.created');
      await page.getByLabel('Endpoint').fill(receiver.url(known.path));
      await page.keyboard.press('Enter');
      await page.getByLabel('Key').fill(known.order);
      await page.getByRole('button', { name: 'Last hour' }).click();
      await untilRows(page, 1);
      await untilReads(() => rows(page).innerText(), expect.stringContaining(known.order));
      const { hash } = new URL(page.url());
      const words = [
        'status=exhausted',
        'delivered',
        'action=order.created',
        'endpoint=',
        `key=${known.order}`,
        'since=',
      ];
      expect(words.filter((word) => !hash.includes(word))).toEqual([]);
      const other = await signedIn({ token: known.carrier.tokens.read });
      await to(other.page, hash.slice(1));
      await untilRows(other.page, 1);
      const seen = await rows(page).innerText();
      await untilReads(() => rows(other.page).innerText(), seen);
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await untilRows(page, 2);
    });

    test('says which filters there are where none matches, and loosens one', async () => {
      const { page } = await signedIn({ token: known.carrier.token });
      await to(page, `/deliveries?status=waiting&subscription=${known.subscription}`);
      await page.getByText('No delivery matches all of these filters.').waitFor();
      await page.getByRole('button', { name: 'Remove Status' }).click();
      await untilRows(page, 1);
    });

    test('takes a number from its address to the last digit', async () => {
      const { page } = await signedIn({ token: known.carrier.token });
      const number = '12345678901234567890';
      await to(page, `/deliveries?key=${number}`);
      await page.getByText('No delivery matches all of these filters.').waitFor();
      await untilReads(() => page.getByLabel('Key').inputValue(), number);
    });

    test('goes on by a button', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.assigned');
      await logMany({ carrier, subscription }, PAGE_SIZE + 10);
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/deliveries');
      await untilRows(page, PAGE_SIZE);
      await page.getByRole('button', { name: 'Show more' }).click();
      await untilRows(page, PAGE_SIZE + 10);
      await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    });

    test('searches further back by a button where it has found nothing so far', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.assigned');
      await logMany({ carrier, subscription }, 2 * LOOKED_AT);
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/deliveries?status=waiting');
      await page.getByText('None found so far.').waitFor();
      const further = page.getByRole('button', { name: 'Search further back' });
      const nothing = page.getByText('No delivery matches all of these filters.');
      await until('it has come to the end', async () => {
        if (await further.isEnabled({ timeout: 1_000 }).catch(() => false)) await further.click();
        return nothing.isVisible();
      });
    });

    test('is that of all accounts to an operator, by account and client', async () => {
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/deliveries?account=${known.carrier.account}`);
      await untilRows(page, 2);
      await untilReads(() => rows(page).first().innerText(), expect.stringContaining(known.name));
      await page.getByLabel('Client').fill('another');
      await page.keyboard.press('Enter');
      await page.getByText('No delivery matches all of these filters.').waitFor();
      await page.getByRole('button', { name: 'Remove Client' }).click();
      await rows(page).filter({ hasText: 'given up' }).getByRole('link').first().click();
      await page.getByRole('article', { name: `Delivery ${known.delivery}` }).waitFor();
    });

    test('is narrowed down by the name of an account, whose guid the address has', async () => {
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, '/deliveries');
      await page.locator('datalist option').first().waitFor({ state: 'attached' });
      await page.getByLabel('Account', { exact: true }).fill(known.name.toLowerCase());
      await page.keyboard.press('Enter');
      await untilRows(page, 2);
      expect(page.url()).toContain(`account=${known.carrier.account}`);
      await untilReads(() => page.getByLabel('Account', { exact: true }).inputValue(), known.name);
    });

    test('is where the first digits of a guid, a subscription and a host lead', async () => {
      const { page } = await signedIn({ token: known.carrier.token });
      const search = async (text: string) => {
        await page.getByRole('searchbox').first().fill(text);
        await page.keyboard.press('Enter');
      };
      await search(known.delivery.slice(0, 8));
      await page.getByRole('article', { name: `Delivery ${known.delivery}` }).waitFor();
      await search(known.subscription.slice(0, 8));
      await untilRows(page, 1);
      await search(new URL(receiver.url(known.path)).host);
      await untilRows(page, 2);
      await search(known.order);
      await page.getByRole('heading', { name: `Timeline of ${known.order}` }).waitFor();
    });
  });

  test('a delivery that was sent again a day later shows both attempts, and the times of both to one scale', async () => {
    const carrier = await anAccount('carrier');
    const { subscription } = await subscribed(carrier, 'order.assigned');
    const delivery = await resentAfterADay({ carrier, subscription });
    const { page } = await signedIn({ token: carrier.token });
    await to(page, `/deliveries/${delivery}`);
    const axis = page.getByRole('list', { name: 'Attempts in time' });
    await axis.getByText('24 h').waitFor();
    const places = await axis.locator('.mark').evaluateAll(leftsOf);
    expect(places).toHaveLength(3);
    expect(Math.min(...places.slice(1).map((left, before) => left - (places[before] ?? left)))).toBeGreaterThan(60);
    await page.getByRole('button', { name: 'Attempt 1' }).click();
    const bars = page.locator('.timing .bar');
    await bars.nth(1).waitFor();
    const filled = await bars.evaluateAll(filledOf);
    expect(filled.map((share) => Math.round(share * 10))).toEqual([10, 1]);
  });

  describe('what was missed', () => {
    test('is counted over all actions, leads to what it counts, and is replayed', async () => {
      const { carrier, path, subscription, order, event } = await furnish('Lone Mesa Transport');
      // The page says what is when it is opened.
      await untilOff(carrier, subscription);
      const { page } = await signedIn({ token: carrier.token });
      await page.getByRole('link', { name: 'Missed', exact: true }).click();
      const created = rows(page).filter({ hasText: 'order.created' });
      await created.getByText('switched off').waitFor();
      await created.getByRole('link', { name: '1', exact: true }).click();
      await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor();
      await untilRows(page, 1);
      await untilReads(() => rows(page).innerText(), expect.stringContaining(order));
      receiver.answer(path, 200);
      await carrier.unsubscribe('order.created');
      await carrier.subscribe('order.created', receiver.url(path));
      await page.goBack();
      await page.getByRole('button', { name: 'Refresh' }).click();
      await created.getByText('active').waitFor();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('button', { name: 'Replay 1', exact: true }).click();
      await page.getByText('1 of 1 replayed').waitFor();
      await untilStatus(carrier, messageGuid(event, subscription), 'delivered');
    });
  });
}

const rows = (page: Page) => page.locator('tbody tr');

async function untilRows(page: Page, wanted: number): Promise<void> {
  let found = -1;
  const look = async () => {
    await untilLoaded(page);
    found = await rows(page).count();
    return found === wanted;
  };
  await until(`there are ${wanted} rows`, look, () => found);
}

type Box = { getBoundingClientRect: () => { left: number; width: number }; children: Iterable<Box> };

/** Both run in the page, where these are elements. */
const leftsOf = (all: unknown[]): number[] => (all as Box[]).map((each) => each.getBoundingClientRect().left);
const filledOf = (all: unknown[]): number[] =>
  (all as Box[]).map((bar) => {
    const widths = [...bar.children].map((each) => each.getBoundingClientRect().width);
    return widths.reduce((sum, width) => sum + width, 0) / bar.getBoundingClientRect().width;
  });

/** A delivery whose first attempt took a tenth of the one that was made by hand a day later. */
async function resentAfterADay(of: Omit<Parameters<typeof aDeliveredEvent>[0], 'at' | 'action'>): Promise<string> {
  await using log = await openLog();
  const now = wallClockMs();
  const at = now - DAY_MS - 2_000;
  await log.partitions.ensure([now, at]);
  const [routed, { event, delivery, subscription, action }] = aDeliveredEvent({ ...of, action: 'order.assigned', at });
  const attempt = { event, delivery, subscription, action };
  await log.write([
    routed,
    anExhausted({ ...attempt, at: at + 1_000, answer: { durationMs: 40, status: 500, reason: 'http_5xx' } }),
    aDelivered({ ...attempt, at: now, attempt: 2, byHand: 'resend', answer: { durationMs: 400, status: 200 } }),
  ]);
  return delivery;
}

/** Deliveries of the last hours, one after another. */
async function logMany(of: Omit<Parameters<typeof aDeliveredEvent>[0], 'at' | 'action'>, many: number): Promise<void> {
  await using log = await openLog();
  const now = wallClockMs();
  await log.partitions.ensure([now, now - 2 * HOUR_MS]);
  const at = (place: number) => now - HOUR_MS - place * 1_000;
  await log.write(
    Array.from({ length: many }, (_none, place) =>
      aDeliveredEvent({ ...of, action: 'order.assigned', at: at(place) }),
    ).flat(),
  );
}
