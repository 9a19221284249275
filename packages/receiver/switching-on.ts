import { ApiFailure, type AskWaybell, type TestAnswered } from './ask-waybell.ts';
import type { KeepingChange, KeepingTrouble, KeepingTroubles, KeptSubscription } from './kept-subscription.ts';

export type SwitchingTimes = {
  /** Before the second test; it doubles with each. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** From a replay to the check whether more was missed: the API may record missed deliveries later than the replay. */
  replayPauseMs: number;
};

type SwitchingOptions = {
  waybell: AskWaybell;
  troubles: KeepingTroubles;
  onChange: (change: KeepingChange) => void;
  /** Missed deliveries that are replayed in a second. */
  perSecond: number;
  times: SwitchingTimes;
  signal: AbortSignal;
};

type GuidAndAction = Pick<KeptSubscription, 'guid' | 'action'>;
/** Tests so far, and when the last of them switched the subscription on. */
type Tries = { tries: number; onAtMs: number };

/** Limit of tests under way. */
const AT_ONCE = 4;

/**
 * Switches on subscriptions that are off: tests at once, then with growing pauses, and switches on when a test is answered 2xx.
 * Pauses go on growing for a subscription that is switched off again soon after, so that a receiver that answers nothing but tests
 * is tested ever less often. `attend` begins to bring a subscription to its wanted state.
 *
 *     off → pause → test → on → replay what was missed
 *             ↑       │
 *             └───────┘ not 2xx
 */
export function switchingOn(options: SwitchingOptions): { attend: (subscription: KeptSubscription) => void } {
  const { waybell, troubles, onChange, perSecond, times, signal } = options;
  const triesOf = new Map<string, Tries>();
  const limited = atMost(AT_ONCE);
  const once = onceAtATime();

  const replay = async ({ guid, action }: GuidAndAction): Promise<void> => {
    try {
      for (let isMissed = true; isMissed;) {
        const { total: count } = await waybell.replayMissed(guid, perSecond);
        if (count > 0) onChange({ kind: 'replayed', action, guid, count });
        troubles.end(`replay ${action}`);
        await pause(times.replayPauseMs, signal);
        isMissed = (await waybell.subscription(guid)).missed !== undefined;
      }
    } catch (error) {
      // 409: another replica does it.
      if (signal.aborted || statusOf(error) === 409) return;
      troubles.raise(`replay ${action}`, failedTrouble(error, action, 'what was missed is not replayed'));
    }
  };

  /** Resolves with whether there is nothing more to do. */
  const testOnce = async ({ guid, action }: GuidAndAction, tried: Tries): Promise<boolean> => {
    const { is_active: isActive, stopped } = await waybell.subscription(guid);
    if (isActive || stopped) return true;
    const tested = await waybell.test(guid);
    if (tested.status !== 'delivered') {
      troubles.raise(`test ${action}`, { reason: 'test_failed', action, detail: `it stays off: ${whyOf(tested)}` });
      return false;
    }
    const { missed } = await waybell.switchOn(guid);
    tried.onAtMs = Date.now();
    for (const name of [action, `test ${action}`]) troubles.end(name);
    onChange({ kind: 'switched_on', action, guid });
    if (missed) once(`replay ${guid}`, () => replay({ guid, action }));
    return true;
  };

  const switchOn = async ({ guid, action }: GuidAndAction): Promise<void> => {
    const tried = triesOf.get(guid) ?? { tries: 0, onAtMs: Infinity };
    triesOf.set(guid, tried);
    for (let isDone = false; !isDone && !signal.aborted;) {
      await pause(jittered(pauseBefore(tried.tries, times)), signal);
      if (signal.aborted) return;
      tried.tries += 1;
      isDone = await limited(() => testOnce({ guid, action }, tried)).catch((error: unknown) => {
        const status = statusOf(error);
        // 404: it has ended. 409: a test of another replica is under way.
        if (status !== 404 && status !== 409 && !signal.aborted)
          troubles.raise(`test ${action}`, failedTrouble(error, action, 'it stays off, and cannot be tested'));
        return status === 404;
      });
    }
  };

  return {
    attend({ guid, action, is_active: isActive, stopped, missed }) {
      if (isActive) {
        troubles.end(`test ${action}`);
        const { onAtMs = Infinity } = triesOf.get(guid) ?? {};
        if (Date.now() - onAtMs > times.longestPauseMs) triesOf.delete(guid);
        if (missed) once(`replay ${guid}`, () => replay({ guid, action }));
      } else if (!stopped) once(`switch on ${guid}`, () => switchOn({ guid, action }));
    },
  };
}

/** The first at once, the second after the first pause; each further pause is twice the one before. */
export function pauseBefore(tries: number, { firstPauseMs, longestPauseMs }: SwitchingTimes): number {
  return tries === 0 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1));
}

function whyOf({ status, reason = status, meaning = '' }: TestAnswered): string {
  return `a test was not answered with 2xx (${reason}). ${meaning}`.trim();
}

function statusOf(error: unknown): number | undefined {
  return error instanceof ApiFailure ? error.status : undefined;
}

function failedTrouble(error: unknown, action: string, what: string): KeepingTrouble {
  const reason = error instanceof ApiFailure ? error.reason : 'not_taken';
  return { reason, action, detail: `${what}: ${error instanceof Error ? error.message : String(error)}` };
}

/** Does work of a name unless it is under way. It must not reject. */
function onceAtATime() {
  const underWay = new Set<string>();
  return (name: string, work: () => Promise<void>): void => {
    if (underWay.has(name)) return;
    underWay.add(name);
    void work().finally(() => underWay.delete(name));
  };
}

/** Does this much work at once; the rest queues. */
function atMost(count: number) {
  let free = count;
  const queue: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** Sleeps for this long, or until the signal, and keeps no process alive. In any runtime: not all have timers as Node has them. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    (timer as { unref?: () => unknown }).unref?.();
    signal.addEventListener('abort', end);
  });
}

/** Returns somewhat more or less, so that replicas that start together do not ask together. */
export function jittered(ms: number): number {
  return ms * (0.9 + Math.random() * 0.2);
}
