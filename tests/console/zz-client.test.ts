import { describe, test, beforeAll } from '@jest/globals';
import { furnish, type Furnished } from './furnished.ts';
import { signedIn } from './signed-in.ts';
import { stack, subscribed, receiver } from './stand.ts';
import { button, dialog, to } from './places.ts';
import { untilLoaded, overhang } from './page-checks.ts';
import { axeViolations } from '../testing/axe-violations.ts';

describe('look', () => {
  let known: Furnished;
  beforeAll(async () => {
    known = await furnish('Prairie Line Haulage');
    await subscribed(known.carrier, 'order.updated', 500);
    await subscribed(known.carrier, 'damage.created', 200);
    await subscribed(known.carrier, 'order.cancelled', 200);
    await known.carrier.hear('order.cancelled', { payload: { id: 9 } });
  });
  test('shots', async () => {
    const { page } = await signedIn({ token: known.carrier.token });
    const shot = async (name: string) => {
      for (const width of [1280, 390])
        for (const colorScheme of ['light', 'dark'] as const) {
          if (width === 390 && colorScheme === 'dark') continue;
          const over = await overhang(page, width);
          await page.emulateMedia({ colorScheme });
          await page.screenshot({
            path: `/tmp/s55/shots-client/${name}-${width}-${colorScheme}.png`,
            fullPage: width === 390,
          });
          console.log(name, width, over, (await axeViolations(page)).join('\n'));
        }
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: 'light' });
    };
    await page
      .getByLabel(/^The last 24 hours/)
      .first()
      .waitFor();
    await page.getByRole('table', { name: 'Not delivered' }).waitFor();
    await untilLoaded(page);
    await shot('overview');
    await to(page, '/subscriptions');
    await page.getByRole('table', { name: 'Subscriptions', exact: true }).waitFor();
    await untilLoaded(page);
    await shot('subscriptions');
    await button(page, 'Actions for order.created').click();
    await page.screenshot({ path: '/tmp/s55/shots-client/menu.png' });
    await page.keyboard.press('Escape');
    await button(page, /^Switch on/)
      .first()
      .click();
    await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
    await dialog(page).getByText('The test failed.').waitFor();
    await shot('switch-on-failed');
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    receiver.answer(known.path, 200);
    await button(page, /^Switch on/)
      .first()
      .click();
    await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
    await dialog(page).getByText('All delivered').waitFor();
    await shot('switch-on');
    await dialog(page).getByRole('button', { name: 'Close' }).last().click();
    await button(page, /^Subscribe/)
      .first()
      .click();
    await dialog(page).getByLabel('order.*').check();
    await shot('subscribe');
    await dialog(page)
      .getByRole('button', { name: /^Subscribe to/ })
      .click();
    await dialog(page)
      .getByRole('button', { name: /^Send a test/ })
      .click();
    await dialog(page).getByText('HTTP 200').first().waitFor();
    await untilLoaded(page);
    await shot('subscribed');
  });
});
void stack;
