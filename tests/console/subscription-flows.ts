import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { ask } from '../testing/told.ts';
import { untilStatus } from './furnished.ts';
import { choose, dialog, rowOf, to, untilLive } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, receiver, subscribed } from './stand.ts';
import { isActive, switchedOff } from './switched-off.ts';
import { untilGone, untilReads } from './page-checks.ts';

export function subscriptionFlows(): void {
  describe('by the console, a client', () => {
    test('tests a subscription that is off, switches it on and replays what it missed: its token stays', async () => {
      const carrier = await anAccount('carrier');
      const { path, subscription, given, missed } = await switchedOff(carrier, 'order.created');
      const { page } = await signedIn({ token: carrier.token });
      await rowOf(page, 'order.created').getByRole('button', { name: 'Switch on' }).click();
      await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
      await dialog(page).getByText('The test failed.').waitFor();
      await dialog(page).getByText('HTTP 500').waitFor();
      expect(await isActive(carrier)).toBe(false);
      receiver.answer(path, 200);
      await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
      await dialog(page).getByText('2 of 2 replayed · All delivered').waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).last().click();
      await to(page, '/subscriptions');
      await rowOf(page, 'order.created').getByText('active').waitFor();
      const delivered = receiver.at(path).filter(({ answered }) => answered === 200);
      expect(delivered.map(({ headers }) => headers['webhook-id'])).toEqual(
        expect.arrayContaining([messageGuid(given, subscription), messageGuid(missed, subscription)]),
      );
      expect(new Set(receiver.at(path).map(tokenOf)).size).toBe(1);
      expect(await ask(carrier, '/v1/subscriptions')).toMatchObject({
        objects: [{ guid: subscription, is_active: true }],
      });
    });

    test('switches a subscription on knowingly though its test fails, and replays later', async () => {
      const carrier = await anAccount('carrier');
      const { path, missed, subscription } = await switchedOff(carrier, 'order.created');
      const { page } = await signedIn({ token: carrier.token });
      const created = rowOf(page, 'order.created');
      await created.getByRole('button', { name: 'Switch on' }).click();
      await dialog(page).getByLabel('Replay what was missed').uncheck();
      await dialog(page).getByRole('button', { name: 'Test and switch on' }).click();
      await dialog(page).getByRole('button', { name: 'Switch on anyway' }).click();
      await dialog(page).getByText('2 missed').waitFor();
      expect(await isActive(carrier)).toBe(true);
      await dialog(page).getByRole('button', { name: 'Close' }).last().click();
      receiver.answer(path, 200);
      await created.getByRole('button', { name: 'Replay missed' }).click();
      await dialog(page).getByRole('button', { name: 'Preview' }).click();
      await dialog(page).getByRole('button', { name: 'Replay 2' }).click();
      await dialog(page).getByText('All delivered').waitFor();
      await untilStatus(carrier, messageGuid(missed, subscription), 'delivered');
    });

    test('is shown the way to switch on where it wants to send again to what is off', async () => {
      const carrier = await anAccount('carrier');
      const { path, given, subscription } = await switchedOff(carrier, 'order.created');
      receiver.answer(path, 200);
      const { page, untilTrouble } = await signedIn({ token: carrier.token });
      const switchOn = page.getByRole('button', { name: 'Switch on', exact: true });
      await to(page, `/deliveries/${messageGuid(given, subscription)}`);
      await page.getByRole('button', { name: 'Resend' }).click();
      await page.getByRole('alert').getByText('Subscription switched off').waitFor();
      await switchOn.click();
      await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
      await dialog(page).getByText('All delivered').waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).last().click();
      await untilGone(page.getByRole('alert'));
      expect(await isActive(carrier)).toBe(true);
      await untilTrouble(/409/);
    });

    test('is told that what is sent again waits while its subscription is paused', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.created');
      const { guid } = await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      const delivery = messageGuid(guid, subscription);
      await untilStatus(carrier, delivery, 'delivered');
      await carrier.call('POST', `/v1/subscriptions/${subscription}/pause`);
      const { page } = await signedIn({ token: carrier.token });
      await to(page, `/deliveries/${delivery}`);
      await page.getByRole('button', { name: 'Resend' }).click();
      await page.getByText(/^Waits to be sent again, .* the subscription is paused\.$/).waitFor();
    });

    test('sees live that a rule has switched a subscription off', async () => {
      const carrier = await anAccount('carrier');
      await subscribed(carrier, 'order.created', 500);
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/live');
      await untilLive(page);
      await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      const off = page.locator('.feed-line').filter({ hasText: 'subscription.switched_off' });
      await off.getByText('exhausted').waitFor();
      await page.locator('li[data-index="0"][aria-posinset="1"]').waitFor();
      await untilReads(() => off.getByRole('link').getAttribute('href'), expect.stringContaining('#/deliveries/'));
    });

    test('changes where a subscription is sent to: its token stays', async () => {
      const carrier = await anAccount('carrier');
      const { path: before } = await subscribed(carrier, 'order.created');
      const after = `${before}/moved`;
      await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      await receiver.untilReceived(before, 1);
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/subscriptions');
      await choose(page, 'order.created', 'Edit');
      await dialog(page).getByLabel('URL').fill(receiver.url(after));
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await rowOf(page, 'order.created').getByText(after).waitFor();
      await carrier.hear('order.created', { payload: { id: 2, status: 'new' } });
      await receiver.untilReceived(after, 1);
      expect(receiver.at(after).map(tokenOf)).toEqual(receiver.at(before).map(tokenOf));
    });

    test('changes which fields are told old and new values of, and back to none', async () => {
      const shipper = await anAccount('shipper');
      const { subscription } = await subscribed(shipper, 'order.modified');
      const { page } = await signedIn({ token: shipper.token });
      await to(page, '/subscriptions');
      const save = async (isTold: boolean) => {
        await choose(page, 'order.modified', 'Edit');
        await dialog(page).getByLabel('Include old and new values of').setChecked(isTold);
        if (isTold) await dialog(page).getByLabel('price', { exact: true }).check();
        await dialog(page).getByRole('button', { name: 'Save' }).click();
        await dialog(page).waitFor({ state: 'detached' });
        return ask<{ audit_field_set?: string[] }>(shipper, `/v1/subscriptions/${subscription}`);
      };
      expect(await save(true)).toMatchObject({ object: { audit_field_set: ['price'] } });
      expect(await save(false)).not.toHaveProperty('object.audit_field_set');
    });

    test('pauses a subscription, sees until when, and resumes it: what waited is sent', async () => {
      const carrier = await anAccount('carrier');
      const { path, subscription } = await subscribed(carrier, 'order.created');
      const { page } = await signedIn({ token: carrier.token });
      const created = rowOf(page, 'order.created');
      await to(page, '/subscriptions');
      await choose(page, 'order.created', 'Pause');
      await dialog(page).getByLabel('Pause for').selectOption('4 hours');
      await dialog(page).getByRole('button', { name: 'Pause' }).click();
      await created.getByText(/^until .*: deliveries wait$/).waitFor();
      const { guid } = await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      const delivery = messageGuid(guid, subscription);
      await until('it waits', async () => {
        const { objects } = await ask<{ objects: Waiting[] }>(carrier, '/v1/deliveries');
        return objects.some((each) => each.guid === delivery && each.waiting?.why === 'paused');
      });
      expect(receiver.at(path)).toEqual([]);
      await created.getByRole('button', { name: 'Resume' }).click();
      await created.getByText('active').waitFor();
      await untilStatus(carrier, delivery, 'delivered');
    });

    test('subscribes to several actions at one URL: what there was is changed, and each token is shown', async () => {
      const carrier = await anAccount('carrier');
      const { subscription, path } = await subscribed(carrier, 'order.created');
      const { page } = await signedIn({ token: carrier.token });
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
      await dialog(page).getByLabel('Search actions').fill('order.c*');
      await dialog(page).getByRole('checkbox', { name: 'All 2' }).check();
      await dialog(page).getByText('1 of these exist already').waitFor();
      await dialog(page)
        .getByLabel('URL', { exact: true })
        .fill(receiver.url(`${path}/all`));
      await dialog(page).getByRole('button', { name: 'Subscribe to 2' }).click();
      await dialog(page).getByRole('listitem').filter({ hasText: 'order.created' }).getByText('changed').waitFor();
      await dialog(page).getByRole('listitem').filter({ hasText: 'order.cancelled' }).getByText('created').waitFor();
      const shown = await dialog(page).getByRole('listitem').locator('code').allTextContents();
      await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      await carrier.hear('order.cancelled', { payload: { id: 1 } });
      await receiver.untilReceived(`${path}/all`, 2);
      expect(new Set(receiver.at(`${path}/all`).map(tokenOf))).toEqual(new Set(shown));
      const { objects } = await ask<{ objects: { guid: string }[] }>(carrier, '/v1/subscriptions');
      expect(objects.map(({ guid }) => guid)).toContain(subscription);
    });
  });
}

type Waiting = { guid: string; waiting?: { why: string } };

const tokenOf = ({ headers }: { headers: Record<string, unknown> }) => headers['x-service-verification-token'];
