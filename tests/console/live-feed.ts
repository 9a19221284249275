import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import { deliveriesOf } from './deliveries-of.ts';
import { to, untilLive } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, receiver, stack, subscribed, type Account } from './stand.ts';

/** The number of lines that the list has room for. */
const SOME = 6;

export function liveFeed(): void {
  describe('the feed', () => {
    const opened = async () => {
      const carrier = await anAccount('carrier');
      await subscribed(carrier, 'order.assigned');
      const page = await signedIn({ token: carrier.token });
      await to(page.page, '/live');
      await untilLive(page.page);
      return { ...page, carrier };
    };

    test('shows what happens, by action and by result', async () => {
      const { page, carrier } = await opened();
      const { path } = await subscribed(carrier, 'order.updated', 503);
      await happens(carrier, 'order.updated');
      await receiver.untilReceived(path, 1);
      receiver.answer(path, 200);
      await happens(carrier, 'order.assigned');
      await happens(carrier, 'order.cancelled');
      await page.locator('.feed-line').filter({ hasText: 'order.updated' }).filter({ hasText: 'delivered' }).waitFor();
      await until('all of it is shown', async () => (await shown(page)).length >= 4);
      await page.getByLabel('Filter by status').selectOption('failed');
      expect((await lines(page)).every((line) => line.includes('order.updated') && line.includes('503'))).toBe(true);
      await page.getByLabel('Filter by status').selectOption('suppressed');
      expect(await lines(page)).toEqual([expect.stringContaining('order.cancelled')]);
      await page.getByLabel('Filter by status').selectOption('');
      await page.getByLabel('Filter by action').fill('assigned');
      expect(await lines(page)).toEqual([expect.stringContaining('order.assigned')]);
    });

    test('stands still while it is paused, and shows what happened meanwhile after', async () => {
      const { page, carrier } = await opened();
      const other = await signedIn({ token: carrier.token });
      await to(other.page, '/live');
      await untilLive(other.page);
      const first = await happens(carrier, 'order.assigned');
      await until('it is shown', async () => (await shown(page)).length === 1);
      await page.keyboard.press('p');
      await page.getByText(/^Paused/).waitFor();
      const later = await happensTimes(carrier, SOME - 1);
      // This page has everything that another page of the client shows.
      await until('the other shows all', async () => (await shown(other.page)).length === SOME);
      expect(await shown(page)).toHaveLength(1);
      await page.keyboard.press('p');
      await untilShown(page, [first, ...later], carrier);
    });

    test('goes on after its connection was cut, without losing one', async () => {
      const { page, carrier, untilTrouble } = await opened();
      const first = await happens(carrier, 'order.assigned');
      await until('it is shown', async () => (await shown(page)).length === 1);
      const api = stack.stack.service('subscription-api');
      await api.stop();
      await page
        .getByText(/Interrupted|Connecting/)
        .first()
        .waitFor();
      const meanwhile = await happensTimes(carrier, SOME - 2);
      await api.start();
      const last = await happens(carrier, 'order.assigned');
      await untilShown(page, [first, ...meanwhile, last], carrier);
      await untilLive(page);
      await untilTrouble(/live/);
    });
  });
}

const happens = async (carrier: Account, action: string): Promise<string> =>
  (await carrier.hear(action, { payload: { id: 4_711 } })).guid;

async function happensTimes(carrier: Account, times: number): Promise<string[]> {
  const guids: string[] = [];
  for (let made = 0; made < times; made += 1) guids.push(await happens(carrier, 'order.assigned'));
  return guids;
}

const lines = async (page: Page): Promise<string[]> => page.locator('.feed-line').allInnerTexts();

/** The deliveries, or events, that the lines lead to. */
const shown = async (page: Page): Promise<string[]> =>
  page.locator('.feed-line').evaluateAll((all) => all.map((each) => each.getAttribute('data-guid') ?? ''));

/** Waits until the deliveries of exactly these events are shown, each once. */
async function untilShown(page: Page, events: readonly string[], account: Account): Promise<void> {
  await until('each is shown', async () => (await shown(page)).length >= events.length);
  const made = (await deliveriesOf(account)).filter(({ event }) => events.includes(event));
  expect((await shown(page)).toSorted()).toEqual(made.map(({ delivery }) => delivery).toSorted());
  expect(made).toHaveLength(events.length);
}
