import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import type { OpenPage } from '../testing/browser.ts';
import type { Behaviour } from '../testing/receiver.ts';
import { anOrder, namedCarrier, untilStatus } from './furnished.ts';
import { overhang, untilGone, untilLoaded, untilReads } from './page-checks.ts';
import { to, untilLive } from './places.ts';
import { aClientCertificate, putCredentials } from './put-credentials.ts';
import { signedIn } from './signed-in.ts';
import {
  anAccount,
  HOSTILE_BODY,
  operatorsUrl,
  operatorToken,
  receiver,
  stack,
  subscribed,
  type Account,
} from './stand.ts';

const LONG = 1_000_000;
/** Turns the direction of reading, and is not seen. */
const TURNED = 'invoice\u202Egnp.exe\u2066\u200F';
const TURNED_SHOWN = 'invoice⟨U+202E⟩gnp.exe⟨U+2066⟩⟨U+200F⟩';

/** Elements that only foreign markup could have put into a page. */
const FOREIGN_ELEMENTS =
  'img, iframe, object, embed, base, meta[http-equiv=refresh], form[action], [onerror], a[href^="javascript:"], #main :is(script, style, link)';

export function hostileContent(): void {
  describe('whatever people write,', () => {
    let carrier: Account;
    let order: number;
    beforeAll(async () => {
      carrier = await namedCarrier(`<b onclick=alert(1)>Ünïcode & Sons</b>${'<img/src=x/onerror=alert(2)>'.repeat(5)}`);
      order = anOrder();
      await subscribed(carrier, 'order.created', answers('short'));
      await carrier.hear('order.created', { payload: { id: order, status: 'new' } });
    });

    /** Nothing of it has become a part of the page, which is no wider for it, and goes on to be of use. */
    const expectHarmless = async ({ page }: OpenPage, other: string) => {
      await untilLoaded(page);
      await untilGone(page.locator(FOREIGN_ELEMENTS));
      expect([await overhang(page, 390), await overhang(page, 1280)]).toEqual([0, 0]);
      await page.getByRole('searchbox').first().fill(String(order));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: String(order) }).waitFor();
      await page.getByRole('region', { name: 'Events, newest first' }).waitFor();
      await page.getByRole('link', { name: other, exact: true }).click();
      await page.getByRole('heading', { name: other, exact: true }).waitFor();
    };

    test.each([
      ['HTML', HOSTILE_BODY, HOSTILE_BODY],
      ['a megabyte without a space', `<script>${'A'.repeat(LONG)}`, `<script>${'A'.repeat(1_000)}`],
      ['signs that turn the direction of reading', `<b>${TURNED}</b>`, `<b>${TURNED_SHOWN}</b>`],
      ['signs that are not seen', 'ring\u0007 back\u0008 mark\uFEFF', 'ring⟨U+0007⟩ back⟨U+0008⟩ mark⟨U+FEFF⟩'],
      ['a sign that ends texts elsewhere', 'before\u0000after', 'before'],
    ])('an answer of %s is shown as text', async (_name, answer, shown) => {
      const receiving = await anAccount('carrier');
      const { subscription } = await subscribed(receiving, 'order.assigned', answers(answer));
      const { guid } = await receiving.hear('order.assigned', { payload: { id: order } });
      const delivery = messageGuid(guid, subscription);
      await untilStatus(receiving, delivery, 'exhausted');
      const opened = await signedIn({ token: receiving.token });
      await to(opened.page, `/deliveries/${delivery}`);
      await opened.page.getByLabel('Response to attempt 4').getByText(shown).waitFor();
      await expectHarmless(opened, 'Catalog');
    });

    test('an event of markup, turned signs and a string without end is shown as text, all of it where that is asked for', async () => {
      const long = 'W'.repeat(200_000);
      const { subscription } = await subscribed(carrier, 'order.updated');
      const payload = { id: order, markup: HOSTILE_BODY, turned: TURNED, long };
      const { guid } = await carrier.hear('order.updated', { payload });
      const delivery = messageGuid(guid, subscription);
      await untilStatus(carrier, delivery, 'delivered');
      const opened = await signedIn({ token: carrier.token });
      const { page } = opened;
      await to(page, `/deliveries/${delivery}`);
      const body = page.getByLabel('Request body', { exact: true });
      await body.getByText('onerror=').waitFor();
      await body.getByText(TURNED_SHOWN).waitFor();
      await page
        .getByRole('button', { name: /^Show all 20\d,\d+ characters/ })
        .first()
        .click();
      await until('all of it is shown', async () => (await body.textContent())?.includes(long));
      await expectHarmless(opened, 'Catalog');
    });

    test('an order is found by a number that is markup, and turns the direction of reading', async () => {
      const number = `</h1><img src=x onerror=alert(1)>/%2e%2e/?a#b "${TURNED}"`;
      const { subscription } = await subscribed(carrier, 'order.cancelled');
      const { guid } = await carrier.hear('order.cancelled', { payload: { id: anOrder(), number } });
      await untilStatus(carrier, messageGuid(guid, subscription), 'delivered');
      for (const at of ['client', 'operator'] as const) {
        const opened = await signedIn({ token: at === 'client' ? carrier.token : await operatorToken(), at });
        await opened.page.getByRole('searchbox').first().fill(number);
        await opened.page.keyboard.press('Enter');
        await opened.page.locator(`section[aria-label="order.cancelled ${guid}"]`).waitFor();
        await untilReads(
          () => opened.page.getByRole('heading', { level: 1 }).textContent(),
          expect.stringContaining(TURNED_SHOWN),
        );
        await expectHarmless(opened, at === 'client' ? 'Catalog' : 'Queues');
      }
    });

    test.each(['/', '/subscriptions'])(
      'the URL of a subscription, and why it is stopped, are shown as text by %s',
      async (address) => {
        const reason = '<img src=x onerror=alert(1)><script>alert(2)</script>';
        const owner = await namedCarrier('<i>Prairie</i>');
        const url = receiver.url(`/'onclick='alert(3)/${'W'.repeat(1_800)}/${owner.account}`);
        await owner.subscribe('order.created', url);
        await subscribed(owner, 'order.updated', answers('short'));
        const number = `</td><img src=x onerror=alert(4)>"${TURNED}"`;
        await owner.hear('order.created', { payload: { id: order, status: 'new' } });
        await owner.hear('order.updated', { payload: { id: order, number } });
        const stop = await fetch(`${operatorsUrl()}/v1/admin/subscriptions/${await stack.subscriptionAt(url)}/stop`, {
          method: 'POST',
          headers: { authorization: `Bearer ${await operatorToken()}`, 'content-type': 'application/json' },
          body: JSON.stringify({ reason }),
        });
        expect(stop.status).toBe(200);
        const opened = await signedIn({ token: owner.token });
        await to(opened.page, address);
        await opened.page.getByText(reason).first().waitFor();
        await opened.page.getByText("/'onclick='alert(3)/WWW").first().waitFor();
        if (address === '/') await opened.page.getByText(TURNED_SHOWN).first().waitFor();
        await expectHarmless(opened, 'Catalog');
      },
    );

    test('the number of an order is shown as text where deliveries are listed', async () => {
      await subscribed(carrier, 'order.picked_up');
      const number = `<img src=x onerror=alert(1)>${TURNED}`;
      const opened = await signedIn({ token: carrier.token });
      const { page } = opened;
      await to(page, '/live');
      await untilLive(page);
      await carrier.hear('order.picked_up', { payload: { id: order, number } });
      const shown = `<img src=x onerror=alert(1)>${TURNED_SHOWN}`;
      await page.locator('.feed-line').getByText(shown).waitFor();
      await expectHarmless(opened, 'Catalog');
      for (const narrowed of [
        '',
        `?key=${encodeURIComponent(number)}`,
        `?status=waiting&key=${encodeURIComponent(number)}`,
      ]) {
        await to(page, `/deliveries${narrowed}`);
        await page.locator('#main').getByText(shown).first().waitFor();
        await expectHarmless(opened, 'Catalog');
      }
    });

    test('what is told of credentials is shown as text', async () => {
      const [host, id] = ['gateway.example.com', '<script>alert(1)</script>'];
      const basic = { username: `<img src=x onerror=alert(2)>${TURNED}`, password: 'a' };
      const certificate = aClientCertificate('<iframe srcdoc=x>', 40);
      const oauth2 = {
        token_url: receiver.url('/<img>'),
        client_id: id,
        client_secret: 'a',
        audience: 'W'.repeat(2_000),
      };
      await putCredentials(carrier, host, { basic, certificate });
      await putCredentials(carrier, `${host}:8443`, { oauth2 });
      const opened = await signedIn({ token: carrier.token });
      await to(opened.page, '/credentials');
      for (const shown of [`user <img src=x onerror=alert(2)>${TURNED_SHOWN}`, `client ${id}`, 'iframe srcdoc'])
        await opened.page.getByText(shown).waitFor();
      await expectHarmless(opened, 'Catalog');
    });

    test.each([
      ['the accounts', '/accounts'],
      ['the account', '/accounts/<account>'],
      ['the deliveries', '/deliveries'],
      ['what fails', '/failing'],
      ['what is switched off', '/switched-off'],
      ['the audit log', '/audit?account=<account>'],
      ['deliveries of all accounts', '/deliveries?account=<account>'],
      ['why', '/why?text=<order>'],
    ])('the name of an account is shown as text by %s', async (_name, address) => {
      const opened = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(opened.page, address.replace('<account>', carrier.account).replace('<order>', String(order)));
      await opened.page.getByText('<b onclick=alert(1)>Ünïcode').first().waitFor();
      await expectHarmless(opened, 'Queues');
    });

    test('a rejected body of a megabyte without a space is shown as text, and can be edited', async () => {
      const body = `{"guid":"${HOSTILE_BODY}${TURNED}${'<i>'.repeat(LONG / 3)}`;
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from(body), 'a-megabyte');
      const opened = await signedIn({ token: await operatorToken(), at: 'operator' });
      const { page } = opened;
      const link = await untilListed(page, body.length);
      await link.click();
      const field = page.getByLabel('Event to publish');
      await untilReads(() => field.inputValue(), body);
      await page.getByText('signs that cannot be seen').waitFor();
      await opened.untilTrouble(/422/);
      await page.getByRole('button', { name: 'Line 1' }).first().waitFor();
      await field.press('End');
      await field.press('x');
      await untilReads(async () => (await field.inputValue()).length, body.length + 1);
      await expectHarmless(opened, 'Queues');
    });
  });
}

const answers =
  (body: string): Behaviour =>
  (response) =>
    response.writeHead(500, { 'content-type': 'text/html; charset=utf-8' }).end(body);

/** Looks again and again, until the list of what was rejected has a message of about so many bytes. */
async function untilListed(page: Page, length: number) {
  await to(page, '/rejected');
  const row = page.getByRole('row').filter({ hasText: new RegExp(`1,0\\d\\d,\\d{3}`) });
  await until(`a message of ${length} bytes is listed`, async () => {
    await untilLoaded(page);
    if ((await row.count()) > 0) return true;
    await page.getByRole('button', { name: 'Refresh' }).click();
    return false;
  });
  return row.getByRole('link', { name: /^Correct/ });
}
