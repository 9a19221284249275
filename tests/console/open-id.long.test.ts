import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import { HOUR_MS, setClocks } from '../testing/clocks.ts';
import { TOKEN_LIFE_S } from '../testing/open-id-rules.ts';
import { kept } from './kept.ts';
import { expectReadable } from './page-checks.ts';
import {
  apiUrl,
  askedWith,
  BRAND,
  goOn,
  history,
  issuer,
  lead,
  receiver,
  signedIn,
  signInPage,
  aPerson,
  tokensOf,
  toldWhy,
} from './open-id-stand.ts';

/** Matches the page's own keys, a JWT, or a piece of one. */
const OURS = /waybell|eyJ/;

describe('signing in to the console at an issuer', () => {
  test('shows a person the subscriptions of their client', async () => {
    const { page } = await signedIn(await aPerson());
    await page.getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByText('order.created').first().waitFor();
    expect(issuer.granted.at(-1)).toBe('authorization_code 200');
  });

  test('leaves no code and no token in an address, in the history, or in what the browser keeps, where one asked for that', async () => {
    const { page } = await signedIn(await aPerson({ isRenewed: true }), { isForgotten: true });
    expect(page.url()).toMatch(new RegExp(`^${apiUrl()}/console/(#|$)`));
    const visited = await history(page);
    expect(visited).toContainEqual(expect.stringContaining('/sign-in/'));
    expect(visited.filter((url) => url.startsWith(apiUrl())).join(' ')).not.toMatch(/code|state|token|eyJ/);
    const stored = await kept(page);
    expect(Object.values(stored).join(' ')).not.toMatch(OURS);
    await page.reload();
    await page.getByRole('button', { name: /^Sign in with/ }).waitFor();
  });

  test('lasts over a reload, by what the tab keeps and nothing else does, until one signs out', async () => {
    const { page } = await signedIn(await aPerson({ isRenewed: true }));
    const { local, session, cookie } = await kept(page);
    expect([local, cookie]).toEqual(['{}', '']);
    const ours = Object.entries(JSON.parse(session) as Record<string, string>).filter((each) => OURS.test(each.join()));
    expect(ours.map(([name]) => name)).toEqual(['waybell.signed-in /console/']);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: /^Sign in with/ }).waitFor();
    expect((await kept(page)).session).not.toMatch(OURS);
  });

  test('leads back to the page that a link named', async () => {
    const { name } = await aPerson();
    const { page } = await signInPage('/console/#/catalog?action=order.created');
    await lead(page);
    await goOn(page, name);
    await page.getByRole('heading', { name: 'order.created' }).first().waitFor();
    expect(page.url()).toBe(`${apiUrl()}/console/#/catalog?action=order.created`);
  });
});

describe('the page on which one signs in says', () => {
  test('that the issuer refused the sign-in, in its words', async () => {
    const { page } = await signInPage();
    await lead(page);
    await page.getByRole('button', { name: 'Call it off' }).click();
    expect(await toldWhy(page)).toMatch(/^localhost:\d+ did not sign you in: access_denied \(You called it off\)\.$/);
    expect(page.url()).toBe(`${apiUrl()}/console/`);
  });

  test('that an answer has another state, and asks for no token by it', async () => {
    const { name } = await aPerson();
    const { page } = await signInPage();
    await askedWith(page, 'state', 'of-another-person');
    const before = issuer.granted.length;
    await lead(page);
    await goOn(page, name);
    expect(await toldWhy(page)).toMatch(/is not accepted: unexpected "state" response parameter value/);
    expect(issuer.granted).toHaveLength(before);
    expect(page.url()).toBe(`${apiUrl()}/console/`);
  });

  test('that the issuer gives nothing for a code with another verifier', async () => {
    const { name } = await aPerson();
    const opened = await signInPage();
    const { page } = opened;
    await askedWith(page, 'code_challenge', createHash('sha256').update(randomBytes(32)).digest('base64url'));
    await lead(page);
    await goOn(page, name);
    expect(await toldWhy(page)).toMatch(/gave no access token: invalid_grant/);
    expect(issuer.granted.at(-1)).toBe('authorization_code 400');
    await opened.untilTrouble(/^console .*400/);
  });

  test.each(['code=stolen&state=x', 'error=access_denied&error_description=Call+us'])(
    'that this tab has not asked for an answer of %s, and nothing that stands in it',
    async (answer) => {
      const { page } = await signInPage();
      await page.goto(`/console/?${answer}`);
      expect(await toldWhy(page)).toBe('This sign-in was not begun in this tab. Begin it here.');
      expect(page.url()).toBe(`${apiUrl()}/console/`);
    },
  );

  test('that the issuer does not answer, and leads there once it does', async () => {
    const opened = await signInPage();
    const { page } = opened;
    {
      await using _away = await issuer.away();
      await page.getByRole('button', { name: /^Sign in with/ }).click();
      expect(await toldWhy(page)).toMatch(/^localhost:\d+ did not answer/);
      await opened.untilTrouble(/^failed .*ERR_CONNECTION_REFUSED/);
      await opened.untilTrouble(/^console .*ERR_CONNECTION_REFUSED/);
    }
    await lead(page);
  });

  test('that a token has expired while the page was open, and how to go on', async () => {
    const person = await aPerson();
    const opened = await signedIn(person);
    const { page } = opened;
    setClocks(2 * HOUR_MS);
    await page.getByRole('link', { name: 'Secrets' }).click();
    expect(await toldWhy(page)).toBe('The access token expired.');
    await opened.untilTrouble(/^console .*401/);
    setClocks(0);
    // The issuer still knows who that is.
    await page.getByRole('button', { name: /^Sign in with/ }).click();
    await page.getByRole('heading', { name: 'Signing secrets' }).waitFor();
  });
});

describe('a page whose issuer renews tokens', () => {
  test('goes on beyond the end of each, by refresh tokens that are good for one use', async () => {
    const { page } = await signedIn(await aPerson({ isRenewed: true }), { isForgotten: true });
    const tokens = tokensOf(page);
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('heading', { name: 'Signing secrets' }).waitFor();
    const before = issuer.granted.length;
    for (const [turn, link] of ['Subscriptions', 'Secrets'].entries()) {
      await laterBy(page, (turn + 1) * TOKEN_LIFE_S);
      await page.getByRole('link', { name: link }).click();
      await until('another token is used', () => tokens.size === turn + 2);
    }
    expect(issuer.granted.slice(before)).toEqual(['refresh_token 200', 'refresh_token 200']);
    expect(Object.values(await kept(page)).join(' ')).not.toMatch(OURS);
  });

  test('goes on after a reload, and in all tabs by one renewal', async () => {
    const { page } = await signedIn(await aPerson({ isRenewed: true }));
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${apiUrl()}/console/`);
    await tab.getByRole('button', { name: 'Sign out' }).waitFor();
    const before = issuer.granted.length;
    for (const turn of [1, 2]) {
      await laterBy(page, turn * TOKEN_LIFE_S);
      const link = turn === 1 ? 'Secrets' : 'Catalog';
      await Promise.all([page, tab].map((each) => each.getByRole('link', { name: link }).click()));
      for (const each of [page, tab])
        await each.getByRole('heading', { name: link === 'Secrets' ? 'Signing secrets' : link }).waitFor();
      await until('it was renewed', () => issuer.granted.length >= before + turn);
    }
    expect(issuer.granted.slice(before)).toEqual(['refresh_token 200', 'refresh_token 200']);
    // The other tab keeps its token, too.
    await tab.reload();
    await tab.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  });

  test('uses a token until its end where the issuer does not answer', async () => {
    const opened = await signedIn(await aPerson({ isRenewed: true }));
    const { page } = opened;
    await using _away = await issuer.away();
    // The page's clock may stand still together with the test.
    await laterBy(page, TOKEN_LIFE_S - 30);
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page
      .getByText(/^whsec_|Show|Reveal/)
      .first()
      .waitFor();
    await opened.untilTrouble(/^failed .*ERR_CONNECTION_REFUSED/);
    await opened.untilTrouble(/^console .*ERR_CONNECTION_REFUSED/);
  });

  test('says so where the issuer refuses, and leads there', async () => {
    const opened = await signedIn(await aPerson({ isRenewed: true }));
    const { page } = opened;
    await issuer.forget();
    await laterBy(page, TOKEN_LIFE_S);
    await page.getByRole('link', { name: 'Secrets' }).click();
    expect(await toldWhy(page)).toMatch(/^Your sign-in has ended\. localhost:\d+ gave no access token: invalid_grant/);
    await opened.untilTrouble(/^console .*400/);
    expect((await kept(page)).session).not.toMatch(OURS);
  });
});

test('the page may ask its issuer, and nobody else', async () => {
  const opened = await signInPage();
  const ask = (address: string) =>
    opened.page.evaluate((url) => fetch(url).then(({ status }) => String(status), String), address);
  expect(await ask(`${issuer.origin}/.well-known/openid-configuration`)).toBe('200');
  const path = '/asked-by-a-page';
  receiver.answer(path, (response) => response.writeHead(200, { 'access-control-allow-origin': '*' }).end());
  expect(await ask(receiver.url(path))).toMatch(/Failed to fetch/);
  await opened.untilTrouble(/^policy connect-src/);
  expect(receiver.at(path)).toEqual([]);
});

/** Has the page's clock stand so much later than it is. */
const laterBy = (page: Page, seconds: number) => page.clock.setFixedTime(Date.now() + seconds * 1_000);

test('the page goes by the name and in the colour of its settings, as far as that can be read', async () => {
  const { page } = await signInPage();
  await page.getByRole('heading', { name: BRAND.CONSOLE_NAME }).waitFor();
  expect(await page.title()).toBe(`Sign in – ${BRAND.CONSOLE_NAME}`);
  await expectReadable(page);
  await lead(page);
  const { name } = await aPerson();
  await goOn(page, name);
  await page.getByText(BRAND.CONSOLE_NAME).first().waitFor();
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await page.evaluate(accentOf)).toBe(`rgb(255, 212, 0)`);
  await expectReadable(page);
});

/** The colour of a link. */
function accentOf(): string {
  const { document, getComputedStyle } = globalThis as unknown as Styled;
  const link = document.createElement('a');
  document.body.append(link);
  return getComputedStyle(link).color;
}

type Styled = {
  document: { createElement(name: string): object; body: { append(element: object): void } };
  getComputedStyle(element: object): { color: string };
};
