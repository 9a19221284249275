import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { Receiver } from '../testing/receiver.ts';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { shared } from '@waybell/runtime/testing/shared';
import { ask } from '../testing/told.ts';
import { untilStatus } from './furnished.ts';
import { button, dialog, rowOf, to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, operatorToken, receiver, stack, subscribed, type Account } from './stand.ts';
import { untilGone } from './page-checks.ts';

/** An address of this machine at which no other test has a receiver. */
const HOST = '127.0.0.53';
const REASON = 'the receiver is being moved';

export function stops(): void {
  describe('by the console, an operator', () => {
    const elsewhere = shared(() => Receiver.start([HOST]));
    test('closes an account after a look at what ends: what waits is dropped, nothing goes out, and it can be opened', async () => {
      const carrier = await anAccount('carrier');
      const { path, subscription } = await subscribed(carrier, 'order.created');
      await carrier.call('POST', `/v1/subscriptions/${subscription}/pause`);
      const { guid } = await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      const delivery = messageGuid(guid, subscription);
      const waiting = 'select from waybell.deliverer_waiting where subscription = $1';
      await until('it waits', async () => (await stack.postgres.query(waiting, [subscription])).rowCount === 1);
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/accounts/${carrier.account}`);
      await button(page, 'Close account').click();
      await dialog(page).getByText('Subscriptions: 1').waitFor();
      await dialog(page).getByText('Waiting deliveries, dropped: 1').waitFor();
      await dialog(page).getByRole('button', { name: 'Close account' }).click();
      await page.getByRole('heading', { name: 'Closed' }).waitFor();
      await until('it is dropped', async () => {
        const ended = `select from delivery_log.attempts where delivery = $1 and kind = 'dropped' and reason = 'closed'`;
        return (await stack.postgres.query(ended, [delivery])).rowCount === 1;
      });
      await to(page, `/why?text=${delivery}`);
      await page.getByText('The account had been closed when the attempt was due.').waitFor();
      expect(receiver.at(path)).toEqual([]);
      await to(page, `/accounts/${carrier.account}`);
      await button(page, 'Open account').click();
      await button(page, 'Close account').waitFor();
      const { stdout } = await runWaybell(stack, ['account', 'close', carrier.account, '--yes']);
      expect(stdout).toMatch(/^subscriptions {2}0$/m);
      const { stdout: listed } = await runWaybell(stack, ['account', 'list']);
      expect(listed).toMatch(new RegExp(`^${carrier.account} .* closed \\d`, 'm'));
    });

    test('stops a subscription, which its client sees and cannot lift, and starts it: what waited is sent', async () => {
      const carrier = await anAccount('carrier');
      const { path, subscription } = await subscribed(carrier, 'order.created');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/accounts/${carrier.account}`);
      await stop(page, `Stop subscription ${subscription.slice(0, 8)} to order.created`);
      const client = await signedIn({ token: carrier.token });
      await to(client.page, '/subscriptions');
      const created = rowOf(client.page, 'order.created');
      await created.getByText(REASON).waitFor();
      await created.getByRole('button', { name: 'Actions for order.created' }).click();
      await created.getByRole('button', { name: 'Replay' }).waitFor();
      await untilGone(created.getByRole('button', { name: 'Send a test' }));
      const delivery = await untilWaiting(carrier, subscription);
      expect(receiver.at(path)).toEqual([]);
      await to(page, '/stopped');
      await start(page, `Start subscription ${subscription.slice(0, 8)} to order.created`);
      await page.getByText('No subscription is stopped.').waitFor();
      await untilStatus(carrier, delivery, 'delivered');
      await to(page, `/audit?subscription=${subscription}`);
      await page
        .getByRole('row')
        .filter({ hasText: `Stopped: ${REASON}` })
        .filter({ hasText: 'operators' })
        .waitFor();
    });

    test('stops a host where its attempts fail, and starts it', async () => {
      const carrier = await anAccount('carrier');
      const url = elsewhere.url('/hooks');
      elsewhere.answer('/hooks', 503);
      await carrier.subscribe('order.created', url);
      const subscription = await stack.subscriptionAt(url);
      await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      // Otherwise earlier failures may switch it off while the host is stopped.
      await until('it is switched off', async () => {
        const { is_active: isActive } = await ask<{ is_active: boolean }>(carrier, `/v1/subscriptions/${subscription}`);
        return !isActive;
      });
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, '/failing');
      await stop(page, `Stop host ${HOST}`);
      elsewhere.answer('/hooks', 200);
      await carrier.call('PUT', '/v1/subscriptions', {
        callback_url: url,
        actions: ['order.created'],
        is_active: true,
      });
      const asked = elsewhere.at('/hooks').length;
      const delivery = await untilWaiting(carrier, subscription);
      expect(elsewhere.at('/hooks')).toHaveLength(asked);
      await to(page, '/stopped');
      await start(page, `Start host ${HOST}`);
      await page.getByText('No host is stopped.').waitFor();
      await untilStatus(carrier, delivery, 'delivered');
    });
  });
}

async function stop(page: Page, name: string): Promise<void> {
  await button(page, name).first().click();
  await dialog(page).getByLabel('Reason (shown to the client)').fill(REASON);
  await dialog(page).getByRole('button', { name: 'Stop', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
}

async function start(page: Page, name: string): Promise<void> {
  // The page before may have a button by that name, whose dialog leaves with it.
  await page.getByRole('heading', { name: 'Stopped', exact: true }).waitFor();
  await button(page, name).click();
  await dialog(page).getByRole('button', { name: 'Start', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
}

/** Has an event come, and waits until its delivery waits because of the stop. */
async function untilWaiting(carrier: Account, subscription: string): Promise<string> {
  const { guid } = await carrier.hear('order.created', { payload: { id: 7, status: 'new' } });
  const delivery = messageGuid(guid, subscription);
  await until('it waits', async () => {
    const { objects } = await ask<{ objects: { guid: string; waiting?: { why: string } }[] }>(
      carrier,
      '/v1/deliveries',
    );
    return objects.some((each) => each.guid === delivery && each.waiting?.why === 'stopped');
  });
  return delivery;
}
