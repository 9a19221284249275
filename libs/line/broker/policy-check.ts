import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import { harmfulPolicies } from './policies.ts';
import { readPolicies, vhostOf, type PoliciesOptions } from './read-policies.ts';

const EVERY_MS = 15_000;

/** Checks every 15 s, until disposed, whether a policy makes queues of the line lose messages. */
export class PolicyCheck implements AsyncDisposable {
  readonly #looking: AsyncDisposable;
  /** Result of the last successful check; stays while the management API does not answer. */
  #harmful: readonly string[] = [];

  constructor(options: PoliciesOptions & { log: Log; clock: Clock; everyMs?: number }) {
    const { log, clock, everyMs = EVERY_MS } = options;
    const look = async () => {
      const found = harmfulPolicies(await readPolicies(options), vhostOf(options.address.url));
      const harmful = found.filter(({ loses }) => loses).map(({ text }) => text);
      for (const todo of harmful) if (!this.#harmful.includes(todo)) log.error({ todo }, 'policy.harmful');
      this.#harmful = harmful;
    };
    this.#looking = runEvery(look, {
      intervalMs: everyMs,
      beginsAtOnce: true,
      warning: 'policies.not-read',
      log,
      clock,
    });
  }

  waitingFor(): readonly string[] {
    return this.#harmful;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#looking[Symbol.asyncDispose]();
  }
}
