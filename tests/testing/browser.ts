import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser as Chromium, type BrowserServer, type Page } from 'playwright-core';
import { CHROMIUM } from '@waybell/stack/programs';
import { signalQuietly } from '@waybell/stack/process-identity';
import { nothingLeftBehind } from './left-behind.ts';
import { PAGE_PATIENCE_MS } from './patience.ts';
import { PageTroubles } from './page-troubles.ts';

const VIEWPORT = { width: 1_280, height: 720 };

export type NewPage = {
  /** Scheme, host and port: paths are opened there, and what is asked of any other is foreign. */
  origin: string;
  /** The reader's, such as Europe/Berlin. */
  timezone: string;
  /** Origins of the test's own beside it, which are not foreign, and whose certificates no browser knows. */
  others?: readonly string[];
};

/** `path`: of the page, at the origin. */
export type WipedPage = NewPage & { path: string };

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
  /**
   * A page at that path that `closePages` has wiped and loaded again, or a new one, which costs most of what a test takes. What
   * cannot be wiped is for new pages: what the cache has, a clock of the page's own.
   */
  wipedPage(options: WipedPage): Promise<OpenPage>;
  /** Closes all pages, or wipes them. Throws where any had troubles that were not expected. */
  closePages(): Promise<void>;
};

/** `wipe`: see wipedPage; says whether it had no unexpected troubles until then. */
type WipeablePage = OpenPage & { wipe(path: string): Promise<boolean> };

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
  const pages = new Map<OpenPage, () => Promise<void>>();
  const wiped: { page: WipeablePage; like: string }[] = [];
  const open = async (options: NewPage) => {
    const page: WipeablePage = await openPage(browser, options, () => pages.delete(page));
    pages.set(page, async () => page[Symbol.asyncDispose]());
    return page;
  };
  const closePages = async () => {
    const closed = await Promise.allSettled([...pages.values()].map(async (close) => close()));
    const reasons: unknown[] = closed.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (reasons.length > 0) throw new Error(reasons.map((each) => (each as Error).message).join('\n'));
  };
  return {
    newPage: open,
    async wipedPage(options) {
      const like = JSON.stringify(options);
      const place = wiped.findIndex((each) => each.like === like);
      const [found] = place < 0 ? [] : wiped.splice(place, 1);
      const page = found?.page ?? (await open(options));
      if (found === undefined) await page.page.goto(options.path);
      pages.set(page, async () => {
        const isClean = await page.wipe(options.path).catch(() => false);
        if (!isClean) return page[Symbol.asyncDispose]();
        pages.delete(page);
        wiped.push({ page, like });
      });
      return page;
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
    // Without a graphics card, what it would draw is drawn by the CPU, at the cost of a core.
    args: ['--disable-gpu', '--disable-gpu-rasterization', '--disable-gpu-compositing', '--in-process-gpu'],
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
  { origin, timezone, others = [] }: NewPage,
  onClose: () => void,
): Promise<WipeablePage> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: VIEWPORT,
    locale: 'en-GB',
    timezoneId: timezone,
    // It would make requests that are not seen here.
    serviceWorkers: 'block',
    // Drawing what moves takes a core, and tests look at what is there when it has moved.
    reducedMotion: 'reduce',
    ignoreHTTPSErrors: others.length > 0,
  });
  context.setDefaultTimeout(PAGE_PATIENCE_MS);
  const troubles = await PageTroubles.of(context, [origin, ...others]);
  const page = await context.newPage();
  return {
    page,
    troubles: troubles.seen,
    untilTrouble: (like) => troubles.untilSeen(like),
    async wipe(path) {
      await wipe(page, path);
      const isClean = troubles.unexpected().length === 0;
      if (isClean) troubles.forget();
      return isClean;
    },
    async [Symbol.asyncDispose]() {
      onClose();
      await troubles.settle();
      await context.close();
      troubles.requireNone();
    },
  };
}

/** Leaves nothing in a page of what was in it, or of how it was shown; what it has asked for is called off. */
async function wipe(page: Page, path: string): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const others = page
    .context()
    .pages()
    .filter((each) => each !== page);
  await Promise.all(others.map(async (each) => each.close()));
  // Behind its # is a place in the page: to go from one to another is not to load it.
  await page.evaluate(
    "sessionStorage.clear(); localStorage.clear(); history.replaceState(null, '', location.pathname)",
  );
  await page.goto(path);
  await page.setViewportSize(VIEWPORT);
  await page.emulateMedia({ colorScheme: null });
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
