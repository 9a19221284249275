import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { problemsWithText } from '../../apps/console/src/parts/problem-texts.ts';
import { marked } from './credentials-dialog.ts';
import { expectReadable, untilGone, untilReads } from './page-checks.ts';
import { asks, button, dialog, to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, operatorToken } from './stand.ts';

/** Problems that the page cannot cause: its client is made from the document, and it follows no listener. */
const NOT_CAUSED = [
  'invalid-json',
  'malformed-request',
  'unknown-listener',
  'already-listening',
  'answered-too-late',
  'listener-ended',
  'no-answer',
  'method-not-allowed',
  'unsupported-media-type',
  'headers-too-large',
];

/** Problems that only the page knows. */
const OWN = ['unreachable'];

const publishedKinds = (): string[] =>
  ['openapi.json', 'admin-openapi.json'].flatMap((name) => {
    const document = readFileSync(join(repository, 'docs', name), 'utf8');
    return [...document.matchAll(/urn:waybell:problem:(?<kind>[a-z-]+)/g)].map(({ groups }) => groups?.['kind'] ?? '');
  });

export function problems(): void {
  test('the console has words for every problem that it can be answered with, and for no other', () => {
    const told = [...new Set(publishedKinds())].filter((kind) => !NOT_CAUSED.includes(kind));
    expect([...problemsWithText].toSorted()).toEqual([...told, ...OWN].toSorted());
  });

  describe('the console says of a problem', () => {
    test('what helps, in its own words, with the way there; what the API said is behind Details', async () => {
      const { token } = await anAccount('shipper');
      const { page, untilTrouble } = await signedIn({ token });
      await to(page, `/deliveries/${randomUUID()}`);
      const alert = page.getByRole('alert');
      await alert.getByText('Delivery not found').waitFor();
      const said = alert.getByText('This client has no delivery of that guid');
      await untilReads(() => said.isVisible(), false);
      await alert.getByText('Details').click();
      await said.waitFor();
      await alert.getByText('unknown-delivery').waitFor();
      await expectReadable(page);
      await alert.getByRole('link', { name: 'Open deliveries' }).click();
      await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
      await untilTrouble(/404/);
    });

    test('of a second rotation until when the old secret works, and ends it on request', async () => {
      const carrier = await anAccount('carrier');
      const { page, untilTrouble } = await signedIn({ token: carrier.token });
      const rotate = async (name: string) => dialog(page).getByRole('button', { name, exact: true }).click();
      await asks('/secrets', 'Rotate')(page);
      await rotate('Rotate');
      await page.getByText('Old secret works until').first().waitFor();
      await dialog(page).waitFor({ state: 'detached' });
      await button(page, 'Rotate').click();
      await rotate('Rotate');
      await dialog(page)
        .getByText(/the old secret works until .*\d\d:\d\d/)
        .waitFor();
      await untilGone(dialog(page).getByText('force'));
      await rotate('End the old secret and rotate');
      await dialog(page).waitFor({ state: 'detached' });
      expect(await carrier.signingSecrets()).toHaveLength(2);
      await untilTrouble(/409/);
    });

    test('at its field, what an operator typed that is refused, and keeps the rest', async () => {
      const { account } = await anAccount('carrier');
      const { page, untilTrouble } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await asks('/accounts', /^Create/)(page);
      const create = dialog(page).getByRole('button', { name: 'Create', exact: true });
      await dialog(page).getByLabel('Name').fill('Lakeside Drayage');
      await dialog(page).getByLabel('Guid').fill('4711');
      await create.click();
      await dialog(page).getByText('Nothing saved: check the marked fields.').waitFor();
      expect(await marked(page)).toEqual(['#/guid']);
      await dialog(page).getByLabel('Guid').fill(account);
      await create.click();
      await dialog(page).getByText('Account exists').waitFor();
      expect(await marked(page)).toEqual([]);
      await untilReads(() => dialog(page).getByLabel('Name').inputValue(), 'Lakeside Drayage');
      await dialog(page).getByLabel('Guid').fill('');
      await create.click();
      await page.getByRole('heading', { name: /Lakeside Drayage/ }).waitFor();
      await untilTrouble(/422/);
      await untilTrouble(/409/);
    });
  });
}
