import { Resolver } from 'node:dns/promises';
import type { Clock } from '../clock.ts';
import { Unavailable } from '../unavailable.ts';
import { codeOf } from '../error-codes.ts';

/** What c-ares says where a name server said nothing, or that it could not find out; all else is an answer. */
const UNANSWERED = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ESERVFAIL', 'EREFUSED']);
/** The zone whose servers every working name server knows. */
const ROOT = '.';
const LEARN_INTERVAL_MS = 60_000;

/** Throws `Unavailable` where the name servers of this machine are away, and with them every receiver. */
export type AssertAnswering = () => Promise<void>;

type Watching = { clock: Clock; servers?: readonly string[] | undefined; tryMs: number };

/**
 * A name that is not answered for may be to blame itself: its own servers are away. So the name servers are asked for
 * something that has nothing to do with it. Where they have never answered that, nothing follows from their silence: a
 * network may be closed, or have no name servers.
 */
export function watchNameServers({ clock, servers, tryMs }: Watching): AssertAnswering {
  const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries: 1 });
  if (servers !== undefined) resolver.setServers(servers);
  let haveAnswered = false;
  let asked: Promise<boolean> | undefined;

  async function ask(): Promise<boolean> {
    const isAnswered = await resolver.resolveNs(ROOT).then(
      () => true,
      (error: unknown) => isAnswer(error),
    );
    haveAnswered ||= isAnswered;
    asked = undefined;
    return isAnswered;
  }

  /** Asks once for all callers at the same time. */
  const isAnswering = () => (asked ??= ask());

  async function assertAnswering(): Promise<void> {
    if (!(await isAnswering()) && haveAnswered) throw new Unavailable('name servers', assertAnswering);
  }

  // They are to be known before they are missed.
  async function learn(): Promise<void> {
    if (!(await isAnswering())) clock.after(LEARN_INTERVAL_MS, () => void learn()).unref();
  }
  void learn();
  return assertAnswering;
}

/** Whether it says something about the name. */
export function isAnswer(error: unknown): boolean {
  return !UNANSWERED.has(codeOf(error));
}
