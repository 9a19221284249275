import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser as Chromium, type BrowserServer, type Page } from 'playwright-core';
import { CHROMIUM } from '@waybell/stack/find-chromium';
import { signalQuietly } from '@waybell/stack/process-identity';
import { nothingLeftBehind } from './left-behind.ts';
import { PAGE_PATIENCE_MS } from './patience.ts';
import { PageTroubles } from './page-troubles.ts';

export type NewPage = {
  /** Scheme, host and port: paths are opened there, and what is asked of any other is foreign. */
  origin: string;
  /** The reader's, such as Europe/Berlin. */
  timezone: string;
  /** An origin of the test's own beside it, which is not foreign, and whose certificate no browser knows. */
  issuer?: string;
};

/** A page with storage, cookies and cache of its own. Closing it throws where it had troubles that were not expected. */
export type OpenPage = AsyncDisposable & {
  page: Page;
  /** Errors so far, a line each: see PageTroubles. */
  troubles: readonly string[];
  /** Waits until something like that goes wrong, and resolves with the line; it is expected then. */
  untilTrouble(like: RegExp): Promise<string>;
};

/** A Chromium without a window. */
export type Browser = AsyncDisposable & {
  newPage(options: NewPage): Promise<OpenPage>;
  /** Closes all pages. Throws where any had troubles that were not expected. */
  closePages(): Promise<void>;
};

/** Starts the Chromium that `./waybell test` has found; closing it leaves no process and no folder behind. */
export async function openBrowser(): Promise<Browser> {
  const home = mkdtempSync(join(tmpdir(), 'waybell-browser-'));
  const server = await launch(home).catch((error: unknown) => {
    removeAll([home]);
    throw error;
  });
  const folders = [home, profileOf(server)];
  const end = () => endAtOnce(server, folders);
  process.once('exit', end);
  const browser = await chromium.connect(server.wsEndpoint(), { timeout: PAGE_PATIENCE_MS });
  const pages = new Set<OpenPage>();
  const closePages = async () => {
    const closed = await Promise.allSettled([...pages].map((page) => page[Symbol.asyncDispose]()));
    const reasons: unknown[] = closed.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (reasons.length > 0) throw new Error(reasons.map((each) => (each as Error).message).join('\n'));
  };
  return {
    async newPage(options) {
      const opened = await openPage(browser, options, () => pages.delete(opened));
      pages.add(opened);
      return opened;
    },
    closePages,
    async [Symbol.asyncDispose]() {
      try {
        await closePages();
      } finally {
        await browser.close();
        await server.close();
        process.off('exit', end);
        await nothingLeftBehind(folders);
        removeAll(folders);
      }
    },
  };
}

async function launch(home: string): Promise<BrowserServer> {
  const executablePath = process.env[CHROMIUM];
  if (!executablePath)
    throw new Error(`this test needs a browser: ./waybell test finds one, or name it in ${CHROMIUM}`);
  return chromium.launchServer({
    executablePath,
    // Nothing of it gets among the files of who runs the tests.
    env: { ...process.env, HOME: home, TMPDIR: home },
    artifactsDir: home,
    // Its own sandbox is refused to root, and to root alone.
    chromiumSandbox: process.getuid?.() !== 0,
    timeout: PAGE_PATIENCE_MS,
    // A signal ends the run, which ends the browser.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

async function openPage(
  browser: Chromium,
  { origin, timezone, issuer }: NewPage,
  onClose: () => void,
): Promise<OpenPage> {
  const context = await browser.newContext({
    baseURL: origin,
    locale: 'en-GB',
    timezoneId: timezone,
    // It would make requests that are not seen here.
    serviceWorkers: 'block',
    ignoreHTTPSErrors: issuer !== undefined,
  });
  context.setDefaultTimeout(PAGE_PATIENCE_MS);
  const troubles = await PageTroubles.of(context, issuer === undefined ? [origin] : [origin, issuer]);
  const page = await context.newPage();
  return {
    page,
    troubles: troubles.seen,
    untilTrouble: (like) => troubles.untilSeen(like),
    async [Symbol.asyncDispose]() {
      onClose();
      await troubles.settle();
      await context.close();
      troubles.requireNone();
    },
  };
}

function profileOf(server: BrowserServer): string {
  const flag = '--user-data-dir=';
  const profile = server.process().spawnargs.find((each) => each.startsWith(flag));
  if (profile === undefined) throw new Error('Chromium was started without a profile of its own');
  return profile.slice(flag.length);
}

/** Ends the browser when the test process ends, however that happens. */
function endAtOnce(server: BrowserServer, folders: string[]): void {
  const { pid } = server.process();
  if (pid !== undefined) signalQuietly(-pid, 'SIGKILL');
  removeAll(folders);
}

function removeAll(folders: string[]): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
