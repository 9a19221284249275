import { beforeAll, describe, test } from '@jest/globals';
import type { OpenPage } from '../testing/browser.ts';
import { deliveryPlaces, operatorDeliveryPlaces } from './delivery-places.ts';
import { furnish, type Furnished } from './furnished.ts';
import { expectReadable } from './page-checks.ts';
import { operatorPlaces } from './operator-places.ts';
import { clientPlaces, type Place } from './places.ts';
import { signedIn } from './signed-in.ts';
import { apiUrl, browser, operatorsUrl, operatorToken } from './stand.ts';

export function everyPage(): void {
  describe('every page of the console can be read by all, in light and in dark, however wide the window is:', () => {
    let known: Furnished;
    beforeAll(async () => {
      known = await furnish('Prairie Line Haulage');
    });

    const expectReadableThere = async (opened: OpenPage, go: Place[1]) => {
      await go(opened.page, known, opened);
      await expectReadable(opened.page);
    };

    test.each([...clientPlaces, ...deliveryPlaces])('%s of a client', async (_name, go) => {
      await expectReadableThere(await signedIn({ token: known.carrier.token }), go);
    });

    test.each([...operatorPlaces, ...operatorDeliveryPlaces])('%s of operators', async (_name, go) => {
      await expectReadableThere(await signedIn({ token: await operatorToken(), at: 'operator' }), go);
    });

    test.each([
      ['clients', apiUrl],
      ['operators', operatorsUrl],
    ])('the sign-in of %s', async (_name, origin) => {
      const { page } = await browser.newPage({ origin: origin(), timezone: 'Europe/Berlin' });
      await page.goto('/console');
      await page.getByLabel('Access token').waitFor();
      await expectReadable(page);
    });
  });
}
