import { types } from 'node:util';
import { systemClock, type Clock } from './clock.ts';
import type { ServerAddress } from './server-address.ts';
import { hasSameTls, isLoginRefused, messageOf, troubleWith, type AskedServer } from './server-trouble.ts';

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;

type RefusedLogin = { error: unknown; delayMs: number; dueAt: number };

/**
 * How connections of one kind log in at a server. After a failure its address is read again: passwords are rotated in files, and so are
 * certificates. What was refused is not tried again at once, because some servers lock users out:
 *
 *   address() ── succeeded
 *      ▲    └─── failed ──▶ the files hold something else: at once with that
 *      └── isDue ──────────── they hold what was refused: after 1 s, 2 s, … 30 s
 */
export class Login {
  readonly #server: AskedServer['server'];
  readonly #clock: Pick<Clock, 'now'>;
  #address: ServerAddress;
  #hasFailed = false;
  #refusal: RefusedLogin | undefined;
  /** Several connections that fail together may share an error. */
  readonly #explained = new WeakSet<Error>();

  constructor(server: AskedServer['server'], address: ServerAddress, clock: Pick<Clock, 'now'> = systemClock) {
    this.#server = server;
    this.#address = address;
    this.#clock = clock;
  }

  /** Returns what to connect with: the same object until it changes. */
  address(): ServerAddress {
    if (!this.#hasFailed) return this.#address;
    const now = asItIsNow(this.#address);
    if (now.url === this.#address.url && hasSameTls(now, this.#address)) return this.#address;
    this.#refusal = undefined;
    this.#hasFailed = false;
    return (this.#address = now);
  }

  /** Whether it may be tried now. */
  isDue(): boolean {
    this.address();
    return this.#refusal === undefined || this.#clock.now() >= this.#refusal.dueAt;
  }

  /** Throws the error of the last attempt while it is not due. */
  requireDue(): void {
    if (!this.isDue()) throw this.#refusal?.error;
  }

  succeeded(tried: ServerAddress): void {
    if (tried !== this.#address) return;
    this.#hasFailed = false;
    this.#refusal = undefined;
  }

  /** Returns the error, which says what to do from then on. `url`: the one that was tried, if the address has several. */
  failed(tried: ServerAddress, error: unknown, url = tried.url): unknown {
    if (types.isNativeError(error)) {
      if (this.#explained.has(error)) return error;
      this.#explained.add(error);
    }
    const isRefused = isLoginRefused(error);
    const said = troubleWith({ server: this.#server, ...tried, url }, error);
    const explained = types.isNativeError(error) ? Object.assign(error, { message: said }) : new Error(said);
    if (tried !== this.#address) return explained;
    this.#hasFailed = true;
    if (isRefused) this.#refuse(explained);
    else this.#refusal = undefined;
    return explained;
  }

  /** Attempts that began together are one. */
  #refuse(error: unknown): void {
    const [now, last] = [this.#clock.now(), this.#refusal];
    if (last !== undefined && now < last.dueAt) return;
    const delayMs = last === undefined ? FIRST_DELAY_MS : Math.min(2 * last.delayMs, LONGEST_DELAY_MS);
    this.#refusal = { error, delayMs, dueAt: now + delayMs };
  }

  /** Says that the login is refused, and why; empty while it is not. */
  waitingFor(): string[] {
    this.address();
    if (this.#refusal === undefined) return [];
    return [`${this.#server.toLowerCase()}: ${messageOf(this.#refusal.error)}`];
  }
}

/** Reads an address again. The last one that could be read holds, where the files are being written. */
export function asItIsNow(last: ServerAddress): ServerAddress {
  try {
    return last.again?.read() ?? last;
  } catch {
    return last;
  }
}
