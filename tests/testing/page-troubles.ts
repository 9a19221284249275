import type { BrowserContext, ConsoleMessage, Request } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';

/** Addresses that are asked of nobody. */
const LOCAL = /^(?:data|blob|about):/;
/** Chromium logs each violation there too. */
const IN_CONSOLE = /Content Security Policy/;
/** Requests that the page itself, or its reader, aborted. */
const CALLED_OFF = 'net::ERR_ABORTED';

type Violation = { directive: string; blocked: string; sample: string };

/**
 * What goes wrong on the pages of a context, a line each, which begins with what it is:
 *
 * | console | an error in the console; an answer with a status of 400 or more is one too |
 * | error   | an error that nothing caught |
 * | policy  | what the Content-Security-Policy refused: the directive, and what it was about |
 * | foreign | a request to another origin, also one that the policy refused |
 * | failed  | a request without an answer |
 * | dialog  | an alert, a confirmation, a prompt |
 */
export class PageTroubles {
  readonly seen: string[] = [];
  readonly #context: BrowserContext;
  readonly #origins: readonly string[];
  readonly #expected: RegExp[] = [];
  #isOver = false;

  private constructor(context: BrowserContext, origins: readonly string[]) {
    this.#context = context;
    this.#origins = origins.map((origin) => new URL(origin).origin);
  }

  /** Listens from now on; the context must have no page yet. What is asked of other origins is foreign. */
  static async of(context: BrowserContext, origins: readonly string[]): Promise<PageTroubles> {
    const troubles = new PageTroubles(context, origins);
    await troubles.#listen();
    return troubles;
  }

  async untilSeen(like: RegExp): Promise<string> {
    this.#expected.push(like);
    return until(`${like.source} is among the troubles ${JSON.stringify(this.seen)}`, () =>
      this.seen.find((line) => like.test(line)),
    );
  }

  /** Waits until what has gone wrong is told, and hears no more: requests that closing a page ends have not failed. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#context.pages().map((page) => page.evaluate(() => undefined)));
    this.#isOver = true;
  }

  /** Begins with a page which nothing of its past can trouble. */
  forget(): void {
    this.seen.length = 0;
    this.#expected.length = 0;
  }

  unexpected(): string[] {
    return this.seen.filter((line) => !this.#expected.some((like) => like.test(line)));
  }

  /** Throws where there were any but the expected. */
  requireNone(): void {
    const left = this.unexpected();
    if (left.length > 0) throw new Error(`the page had troubles:\n${left.map((line) => `  ${line}`).join('\n')}`);
  }

  async #listen(): Promise<void> {
    const context = this.#context;
    context.on('console', (message) => this.#hearConsole(message));
    context.on('weberror', (webError) => this.#add('error', webError.error().message));
    context.on('dialog', (dialog) => {
      this.#add('dialog', `${dialog.type()} ${dialog.message()}`);
      void dialog.dismiss().catch(() => undefined);
    });
    context.on('request', (request) => this.#hearAddress(request.url()));
    context.on('requestfailed', (request) => this.#hearFailure(request));
    // The event `websocket` comes with the handshake: maybe only after the page is closed, or never.
    await context.routeWebSocket(/^/, (socket) => {
      this.#hearAddress(socket.url());
      socket.connectToServer();
    });
    await context.exposeFunction('tellViolation', ({ directive, blocked, sample }: Violation) =>
      this.#add('policy', [directive, blocked, sample].filter((part) => part !== '').join(' ')),
    );
    await context.addInitScript(tellViolations);
  }

  #add(kind: string, text: string): void {
    if (!this.#isOver) this.seen.push(`${kind} ${text}`);
  }

  #hearConsole(message: ConsoleMessage): void {
    if (message.type() !== 'error' || IN_CONSOLE.test(message.text())) return;
    const { url } = message.location();
    this.#add('console', `${message.text()}${url ? ` (${url})` : ''}`);
  }

  #hearAddress(address: string): void {
    if (LOCAL.test(address) || this.#origins.includes(originOf(address))) return;
    this.#add('foreign', address);
  }

  #hearFailure(request: Request): void {
    const reason = request.failure()?.errorText ?? '';
    // A violation is told as such.
    if (reason !== CALLED_OFF && reason !== 'csp') this.#add('failed', `${request.url()}: ${reason}`);
  }
}

/** A socket is of the origin whose page may open it. */
const originOf = (address: string): string => new URL(address.replace(/^ws/, 'http')).origin;

/** The part of a page that `tellViolations` uses. */
type Told = { effectiveDirective: string; blockedURI: string; sample: string };
type PageGlobal = {
  tellViolation: (violation: Violation) => void;
  addEventListener: (type: 'securitypolicyviolation', listener: (event: Told) => void) => void;
};

/** Runs in each page before its own scripts do. */
function tellViolations(): void {
  // It runs where there is another global than here.
  const page = globalThis as unknown as PageGlobal;
  page.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
    page.tellViolation({ directive: effectiveDirective, blocked: blockedURI, sample }),
  );
}
