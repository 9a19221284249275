import { randomUUID } from 'node:crypto';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { signUp, startApi, type TestApi } from './api.ts';
import type { Attempted } from '@waybell/line/outcomes';
import { readLive, type LiveReader } from './live-reader.ts';
import { aRouted, LogStand } from '@waybell/delivery-log/testing/log-stand';

export type Us = { token: string; account: string; client: string; subscription: string };

/** An API and its delivery log, which are written to as they happen. */
export class LiveStand implements AsyncDisposable {
  readonly api: TestApi;
  readonly log: LogStand;

  protected constructor(api: TestApi) {
    this.api = api;
    this.log = LogStand.on(api.store);
    this.log.now = wallClockMs();
  }

  static async start(options: Parameters<typeof startApi>[0] = {}): Promise<LiveStand> {
    return new LiveStand(await startApi({ timeoutMs: 60_000, checkEveryMs: 50, ...options }));
  }

  /** A carrier that is subscribed to `order.created`. */
  async someone(): Promise<Us> {
    const { guid: account, token } = await signUp(this.api, { interface: 'carrier' });
    return { token, account, client: 'default', subscription: await this.log.subscribe(account, 'order.created') };
  }

  /** Logs a delivery that is made `agoMs` ago; returns its first row unless it is a repeat. */
  async happens(us: Us, attempts: readonly Attempted[], agoMs = 0) {
    const at = wallClockMs() - agoMs;
    const { token: _, ...whose } = us;
    return this.log.log(
      attempts.map((each) => ({ ...each, at })),
      { ...whose, at },
    );
  }

  /** An event that the account gets nothing of; resolves with its guid. */
  async isSuppressed({ account }: Us, what: Partial<Parameters<typeof aRouted>[0]> = {}): Promise<string> {
    const event = randomUUID();
    const kept = { accounts: [account], body: Buffer.from('{}') };
    const routed = aRouted({ event, at: wallClockMs(), receivers: [account], kept, action: 'order.updated', ...what });
    await this.log.write([routed]);
    return event;
  }

  read(us: Pick<Us, 'token'>, more: { query?: string; lastId?: string } = {}): Promise<LiveReader> {
    return readLive(this.api.port, { token: us.token, ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.log[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
  }
}
