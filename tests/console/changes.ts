import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import { aCountedCarrier, COUNTS, type Counted } from './counted.ts';
import { card, hostField } from './credentials-dialog.ts';
import { reject } from './furnished.ts';
import { untilGone, untilLoaded, untilReads } from './page-checks.ts';
import { asks, button, choose, dialog, to } from './places.ts';
import { putCredentials } from './put-credentials.ts';
import { signedIn } from './signed-in.ts';
import { operatorsUrl, operatorToken, stack } from './stand.ts';

const { exhausted, dropped, suppressed, exhaustedOfOff, waiting } = COUNTS;
const retrying = COUNTS.retried.length;
/** An address that the API refuses. */
const REFUSED = 'https://10.0.0.1/hooks';

/** Each input is changed after each thing that was shown: what is shown is of what is set now. */
export function changes(): void {
  describe('what a page shows is of what is set now:', () => {
    let known: Counted;
    beforeAll(async () => {
      known = await aCountedCarrier();
    });

    test('the preview of a replay, and what the API said against it', async () => {
      const { carrier, failing } = known;
      const { page, untilTrouble } = await signedIn({ token: carrier.token });
      await to(page, '/subscriptions');
      await choose(page, 'order.created', 'Replay');
      const all = exhausted + dropped + suppressed;
      const set: [what: (page: Page) => Promise<unknown>, count: number][] = [
        [async () => page.getByLabel('Rate').fill('7'), all],
        [async () => page.getByLabel('Time range').selectOption('Last 6 hours'), all],
        [async () => page.getByLabel('Include events').uncheck(), exhausted + dropped],
        [async () => page.getByLabel('Include events').check(), all],
      ];
      const preview = async (count: number) => {
        await button(page, 'Preview').click();
        await page.getByText(`${count} to replay`).waitFor();
        await button(page, `Replay ${count}`).waitFor();
      };
      const expectNothing = async () => {
        await untilGone(button(page, /^Replay \d/));
        await untilGone(page.getByText(/to replay/));
        await untilGone(page.getByRole('alert'));
      };
      await preview(all);
      for (const [change, count] of set) {
        await change(page);
        await expectNothing();
        await preview(count);
      }
      await switchTo(failing, false);
      const refused = page.getByRole('alert').filter({ hasText: 'Subscription switched off' });
      await button(page, `Replay ${all}`).click();
      await refused.waitFor();
      await button(page, 'Preview').click();
      await button(page, `Replay ${all}`).waitFor();
      await untilGone(refused);
      await button(page, `Replay ${all}`).click();
      await refused.waitFor();
      await page.getByLabel('Rate').fill('8');
      await expectNothing();
      await switchTo(failing, true);
      await to(page, '/missed');
      await preview(all);
      await button(page, 'Last hour').click();
      await page.getByText(`${exhausted + dropped + suppressed + exhaustedOfOff} missed`).waitFor();
      await expectNothing();
      await preview(all);
      await button(page, 'Yesterday').click();
      await page.getByText('Nothing was missed in this period.').waitFor();
      await expectNothing();
      await untilTrouble(/409/);
    });

    test('what is chosen to subscribe to, and what the API said against a URL or a time', async () => {
      const { page, untilTrouble } = await signedIn({ token: known.carrier.token });
      const url = dialog(page).getByLabel('URL', { exact: true });
      const refused = dialog(page).getByRole('alert');
      await asks('/subscriptions', 'Subscribe')(page);
      const choice = (action: string) => dialog(page).getByRole('checkbox', { name: action });
      const told = async () => ({
        does: await dialog(page).locator('button[type=submit]').innerText(),
        count: await dialog(page).getByRole('status').innerText(),
        exist: await dialog(page).getByText('exist already').count(),
      });
      await choice('order.created').check();
      await untilReads(told, { does: 'Subscribe', count: '1 selected', exist: 1 });
      await choice('damage.created').check();
      await untilReads(told, { does: 'Subscribe to 2', count: '2 selected', exist: 1 });
      await choice('order.created').uncheck();
      await untilReads(told, { does: 'Subscribe', count: '1 selected', exist: 0 });
      await url.fill(REFUSED);
      await button(page, 'Subscribe').last().click();
      await refused.waitFor();
      await url.fill('https://receiver.example.com');
      await untilGone(refused);
      await button(page, 'Cancel').click();
      await choose(page, 'order.created', 'Edit');
      await url.fill(REFUSED);
      await button(page, 'Save').click();
      await refused.waitFor();
      await url.fill('https://receiver.example.com');
      await untilGone(refused);
      await button(page, 'Cancel').click();
      await choose(page, 'order.created', 'Pause');
      const until_ = dialog(page).getByLabel('Until (within a day)');
      await dialog(page).getByLabel('Pause for').selectOption('Until …');
      await until_.fill('2126-11-20T09:30');
      await dialog(page).getByRole('button', { name: 'Pause' }).click();
      await refused.waitFor();
      await dialog(page).getByLabel('Pause for').selectOption('1 hour');
      await untilGone(refused.or(until_));
      await button(page, 'Cancel').click();
      await choose(page, 'order.created', 'Unsubscribe');
      await dialog(page).getByRole('heading', { name: 'Unsubscribe from order.created?' }).waitFor();
      await button(page, 'Cancel').click();
      await untilTrouble(/422/);
    });

    test('the list of deliveries, its filters and its address', async () => {
      const { page } = await signedIn({ token: known.carrier.token });
      await to(page, '/deliveries');
      const chosen = page.getByRole('group', { name: 'Status' }).locator('[aria-pressed=true]');
      const untilShown = async (count: number, statuses: string[]) => {
        await untilLoaded(page);
        await until(`${count} are listed`, async () => (await page.locator('tbody tr').count()) === count);
        await untilReads(() => chosen.allInnerTexts(), statuses);
      };
      await button(page, 'Retrying').click();
      await untilShown(retrying, ['Retrying']);
      await button(page, 'Waiting').click();
      await untilShown(retrying + waiting, ['Retrying', 'Waiting']);
      await page.getByLabel('Action').selectOption('order.assigned');
      await untilShown(waiting, ['Retrying', 'Waiting']);
      await button(page, 'Waiting').click();
      await page.getByText('No delivery matches all of these filters.').waitFor();
      await button(page, 'Remove Status').click();
      await untilShown(waiting, []);
      await page.getByLabel('Key').fill('nothing-is-called-so');
      await page.keyboard.press('Enter');
      await page.getByText('No delivery matches all of these filters.').waitFor();
      await button(page, 'Clear filters').click();
      await button(page, 'Given up').click();
      await untilShown(exhausted + COUNTS.gone + exhaustedOfOff, ['Given up']);
      await untilReads(() => page.getByLabel('Key').inputValue(), '');
      await untilReads(() => page.getByLabel('Action').inputValue(), '');
      await page.goBack();
      await page.goBack();
      await page.getByText('No delivery matches all of these filters.').waitFor();
      await untilReads(() => page.getByLabel('Key').inputValue(), 'nothing-is-called-so');
    });

    test('the delivery, the action, the secret and the host', async () => {
      const { carrier, ofOff, ofFailing } = known;
      const { page, untilTrouble } = await signedIn({ token: carrier.token });
      const article = (guid: string) => page.getByRole('article', { name: `Delivery ${guid}` });
      await to(page, `/deliveries/${ofFailing}`);
      await article(ofFailing).waitFor();
      await to(page, `/deliveries/${ofOff}`);
      await article(ofOff).getByRole('button', { name: 'Resend' }).click();
      await page.getByRole('alert').filter({ hasText: 'Subscription switched off' }).waitFor();
      await to(page, `/deliveries/${ofFailing}`);
      await article(ofFailing).waitFor();
      await untilGone(page.getByRole('alert'));
      await untilTrouble(/409/);

      await to(page, '/catalog?action=order.created');
      await page.getByRole('tab', { name: 'Example' }).click();
      await page.getByText('"order.created"').first().waitFor();
      await page.getByRole('link', { name: /^order.assigned/ }).click();
      await page.getByRole('heading', { name: 'order.assigned', exact: true }).waitFor();
      await untilReads(() => page.getByRole('tab', { selected: true }).innerText(), 'Fields');
      await page.getByRole('tab', { name: 'Example' }).click();
      await page.getByText('"order.assigned"').first().waitFor();

      await to(page, '/secrets');
      await button(page, 'Show').click();
      const [secret = ''] = await carrier.signingSecrets();
      await page.getByText(secret, { exact: true }).waitFor();
      await button(page, 'Rotate').click();
      await dialog(page).getByRole('button', { name: 'Rotate', exact: true }).click();
      const [next = '', before] = await until('there are two', async () => {
        const secrets = await carrier.signingSecrets();
        return secrets.length === 2 && secrets;
      });
      expect(before).toBe(secret);
      await button(page, 'Show').waitFor();
      await untilReads(
        () => page.locator('.card').allInnerTexts(),
        [
          expect.stringMatching(new RegExp(`^${next.slice(0, 6)}•+[^]*Show[^]*, current$`)),
          expect.stringMatching(new RegExp(`^${secret.replaceAll(/\W/g, String.raw`\$&`)}[^]*Hide[^]*, works until `)),
        ],
      );

      await putCredentials(carrier, 'one.example.com', { headers: { 'X-Api-Key': 'a' } });
      await asks('/credentials', 'Add credentials')(page);
      await button(page, 'Add headers').click();
      const replaces = dialog(page).getByText('Replaces the credentials for one.example.com');
      const does = dialog(page).locator('button[type=submit]');
      await hostField(page).fill('https://one.example.com/hooks');
      await replaces.waitFor();
      await untilReads(() => does.innerText(), 'Replace');
      await hostField(page).fill('two.example.com');
      await untilReads(() => does.innerText(), 'Add');
      await untilGone(replaces);
      await button(page, 'Remove headers').click();
      await untilReads(() => does.isDisabled(), true);
      await button(page, 'Cancel').click();
      await untilGone(card(page, 'two.example.com'));
    });

    test('what is rejected, its count, and what was done about it', async () => {
      const { carrier, name } = known;
      const order = 71_000_017;
      const [first, second] = [
        await reject(carrier, { id: `${order}-a`, status: 'new' }),
        await reject(carrier, { id: `${order}-b`, status: 'new' }),
      ];
      const token = await operatorToken();
      await until('both are rejected', async () => (await rejectedAbout(String(order), token)) === 2);
      const { page, untilTrouble } = await signedIn({ token, at: 'operator' });
      await to(page, `/rejected?about=${order}`);
      const count = page.getByRole('region', { name: 'Rejected events' });
      await count.getByText('2 messages', { exact: true }).waitFor();
      await page.getByLabel('Mentions').fill(first.guid);
      await button(page, 'Filter').click();
      await count.getByText('1 message', { exact: true }).waitFor();
      await untilReads(() => page.locator('tbody tr').count(), 1);
      await button(page, 'Purge …').click();
      await dialog(page).getByText('1 rejected message', { exact: true }).waitFor();
      await button(page, 'Cancel').click();
      await page.getByLabel('Mentions').fill(String(order));
      await button(page, 'Filter').click();
      await count.getByText('2 messages', { exact: true }).waitFor();
      await button(page, 'Purge …').click();
      await button(page, 'Delete 2').waitFor();
      await button(page, 'Cancel').click();

      await page
        .getByRole('row')
        .filter({ hasText: first.guid.slice(0, 8) })
        .or(page.locator('tbody tr').first())
        .first()
        .getByRole('link', { name: /^Correct/ })
        .click();
      const editor = page.getByLabel('Event to publish');
      const publish = button(page, 'Publish');
      const wrong = await editor.inputValue();
      await page.locator('.mark-line').first().waitFor();
      await editor.fill(wrong.replace(/"71000017-[ab]"/, '7'));
      await untilReads(async () => [await publish.isDisabled(), await page.locator('.mark-line').count()], [true, 0]);
      await page.getByText('Valid: it is published').waitFor();
      await editor.fill(wrong);
      await untilGone(page.getByText('Valid: it is published'));
      await untilReads(() => publish.isDisabled(), true);
      await page.locator('.mark-line').first().waitFor();
      await button(page, 'Reset').waitFor();

      await to(page, `/rejected?about=${second.guid}`);
      await button(page, 'Retry …').click();
      await button(page, 'Retry 1').click();
      await dialog(page).getByText('1 message retried.').waitFor();
      // Meanwhile the list has none, or the same one again.
      await untilLoaded(page);
      await dialog(page).getByText('1 message retried.').waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).click();
      await button(page, 'Show all').click();
      await untilReads(() => page.getByLabel('Mentions').inputValue(), '');
      expect(name).not.toBe('');
      await untilTrouble(/422/);
    });

    test('an account, its name and features, a token, and what is stopped', async () => {
      const { carrier, failing, name } = known;
      const { page, untilTrouble } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, '/accounts');
      const shown = page.getByRole('region', { name: 'Accounts' }).getByRole('status');
      await page.getByLabel('Search', { exact: true }).fill(name);
      await untilReads(() => shown.innerText(), expect.stringMatching(/^1 of \d+ accounts/));
      await page.getByLabel('Search', { exact: true }).fill('nobody-is-called-so');
      await page.getByText('No account matches.').waitFor();
      await untilReads(() => shown.innerText(), expect.stringMatching(/^0 of \d+ accounts/));
      await page.getByLabel('Search', { exact: true }).fill('');
      await untilReads(() => shown.innerText(), expect.stringMatching(/^\d+ accounts/));

      await to(page, `/accounts/${carrier.account}`);
      const facts = page.getByRole('region', { name: 'Name and features' });
      const save = facts.getByRole('button', { name: 'Save' });
      const off = facts.getByText('Subscriptions stay.');
      await facts.getByLabel('Name').fill(`${name} & Sons`);
      await untilReads(() => save.isEnabled(), true);
      await facts.getByLabel('Name').fill(name);
      await untilReads(() => save.isEnabled(), false);
      await facts.getByLabel('insurance').check();
      await save.click();
      await page.getByText('Account saved.').first().waitFor();
      await until('it is of what was saved', () => save.isDisabled());
      await facts.getByLabel('insurance').uncheck();
      await off.waitFor();
      await facts.getByLabel('insurance').check();
      await untilReads(async () => [await off.count(), await save.isEnabled()], [0, false]);

      await button(page, 'Create token').click();
      const create = dialog(page).getByRole('button', { name: 'Create', exact: true });
      await dialog(page).getByLabel('Expires after').fill('soon');
      await create.click();
      await dialog(page).locator('[aria-invalid=true]').waitFor();
      await dialog(page).getByLabel('Expires after').fill('24h');
      await untilGone(dialog(page).locator('[aria-invalid=true], [role=alert]'));
      for (const { scope, isOn } of [
        { scope: 'webhooks:read', isOn: false },
        { scope: 'webhooks:write', isOn: false },
        { scope: 'webhooks:read', isOn: true },
      ]) {
        await dialog(page).getByRole('checkbox', { name: scope }).setChecked(isOn);
      }
      await create.click();
      const token = await dialog(page).getByText(/^wbl_/).innerText();
      await button(page, 'Done').click();
      await button(page, 'Create token').click();
      await create.waitFor();
      await untilGone(dialog(page).getByText(token));
      await button(page, 'Cancel').click();
      await page
        .getByRole('table', { name: 'Access tokens' })
        .getByRole('row')
        .filter({ hasText: /active.*webhooks:read(?!,)/s })
        .first()
        .waitFor();

      const place = `subscription ${failing.slice(0, 8)} to order.created`;
      await button(page, `Stop ${place}`).click();
      await post(await operatorToken(), `subscriptions/${failing}/stop`, { reason: 'by another' });
      await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
      await page.getByRole('button', { name: `Start ${place}`, includeHidden: true }).waitFor({ state: 'attached' });
      await dialog(page)
        .getByRole('heading', { name: `Stop ${place}?` })
        .waitFor();
      await button(page, 'Cancel').click();
      await button(page, `Start ${place}`).click();
      await dialog(page).getByRole('button', { name: 'Start', exact: true }).click();
      await button(page, `Stop ${place}`).waitFor();
      await untilTrouble(/422/);
    });

    test('what fails in a stretch of time, what was switched off since one, and whose changes', async () => {
      const { carrier, name, off } = known;
      const { page, untilTrouble } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, '/failing');
      const row = page.getByRole('table', { name: 'Endpoints that fail' }).getByRole('row').filter({ hasText: name });
      const pressed = page.getByRole('group', { name: 'In the last' }).locator('[aria-pressed=true]');
      await row.waitFor();
      await untilReads(() => pressed.innerText(), '1 hour');
      await button(page, '15 minutes').click();
      await until('it is of a quarter of an hour', async () => (await row.count()) === 0);
      await untilReads(() => pressed.innerText(), '15 minutes');
      await button(page, '24 hours').click();
      await row.waitFor();

      const offRow = page
        .getByRole('table', { name: 'Switched-off subscriptions' })
        .getByRole('row')
        .filter({ hasText: name });
      const { rows: times } = await stack.postgres.query<{ yesterday: Date }>(
        `select now() - interval '1 day' as yesterday`,
      );
      await to(page, `/switched-off?since=${times[0]?.yesterday.toISOString()}`);
      await page.getByText(/^Switched off since/).waitFor();
      await untilGone(offRow);
      await page.getByRole('link', { name: 'All that are off' }).click();
      await offRow.waitFor();
      await untilGone(page.getByText(/^Switched off since/));

      await to(page, `/audit?account=${carrier.account}&subscription=${off}`);
      const subscription = page.getByLabel('Subscription');
      await page.getByRole('row').filter({ hasText: 'Created subscription' }).waitFor();
      await untilReads(() => subscription.inputValue(), off);
      const before = await page.locator('tbody tr').count();
      await subscription.fill('');
      await button(page, 'Filter').click();
      await until('those of others are there too', async () => (await page.locator('tbody tr').count()) > before);
      expect(page.url()).not.toContain('subscription=');
      await button(page, 'Clear').click();
      await until(
        'the field is empty',
        async () => (await page.getByLabel('Account', { exact: true }).inputValue()) === '',
      );
      await to(page, `/why?text=${off}`);
      await page.getByRole('region', { name: `Subscription ${off}` }).waitFor();
      await to(page, `/why?text=${randomUUID().slice(0, 8)}-nothing`);
      await page.getByText('Nothing found for').waitFor();
      await untilTrouble(/404/);
      await untilGone(page.getByRole('region', { name: `Subscription ${off}` }));
    });
  });
}

/** Switches a subscription off, as a rule does, or on. */
const switchTo = (guid: string, isOn: boolean) =>
  stack.postgres.query(
    `update waybell.subscriptions set is_active = $2, deactivated_at = case when $2 then null else now() end,
       deactivation_rule = case when $2 then null else 'window' end where guid = $1`,
    [guid, isOn],
  );

async function post(token: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const { status } = await fetch(`${operatorsUrl()}/v1/admin/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  expect(status).toBe(200);
}

async function rejectedAbout(text: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${operatorsUrl()}/v1/admin/rejected?about=${text}`, { headers });
  // The shape is the contract's; while others look at what is rejected, there is another answer.
  return answer.ok ? ((await answer.json()) as { objects: unknown[] }).objects.length : 0;
}
