import {
  ApiFailure,
  type AskWaybell,
  type PutEntry,
  type ToldSubscription,
  type WantedSubscriptions,
} from './ask-waybell.ts';
import { contested, troubleOf, type KeepingTroubles } from './keeping-troubles.ts';
import type { KeepingChange, KeptState, KeptSubscription } from './kept-subscription.ts';
import type { LearnedChecks } from './learned-checks.ts';

export type LookingOptions = {
  waybell: AskWaybell;
  wanted: WantedSubscriptions;
  troubles: KeepingTroubles;
  onChange: (change: KeepingChange) => void;
  /** Brings a subscription to its wanted state. */
  attend: (subscription: KeptSubscription) => void;
  signal: AbortSignal;
};

export type Looks = {
  /** Resolves with 0 where the API answered, else with how long it wants to be left alone at least. Never rejects. */
  look: () => Promise<number>;
  checks: LearnedChecks;
  state: () => KeptState;
};

/** The trouble that is of the API, not of an action. */
const API = 'api';
/** Strangers may send requests that nobody signed: what teaches nothing is asked for ever more seldom. */
const LEAST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 60_000;

/** Asks the API how all is, and has it as it should be: one look at a time. */
export function looking({ waybell, wanted, troubles, onChange, attend, signal }: LookingOptions): Looks {
  let secrets: readonly string[] = [];
  let tokens: readonly string[] = [];
  let subscriptions: readonly KeptSubscription[] = [];
  let lookedAt: Date | undefined;
  let underWay: Promise<number> | undefined;

  const see = ({ action, result, subscription, problem }: PutEntry, before: readonly KeptSubscription[]): void => {
    if (subscription === undefined)
      return troubles.raise(action, { reason: 'refused', action, detail: problem?.detail ?? 'it is refused' });
    if (result === 'created') onChange({ kind: 'subscribed', action, guid: subscription.guid });
    if (result === 'changed') onChange({ kind: 'changed', action, guid: subscription.guid });
    const isContested = result === 'changed' && before.some(({ guid }) => guid === subscription.guid);
    const trouble = isContested ? contested(action) : troubleOf(subscription);
    if (trouble === undefined) troubles.settle(action);
    else troubles.raise(action, trouble);
    attend(subscription);
  };

  const lookOnce = async (): Promise<number> => {
    try {
      // First: a client that never asked for secrets gets none of its notifications signed.
      secrets = await waybell.secrets();
      const entries = await waybell.put(wanted);
      tokens = entries.flatMap(({ subscription }) => subscription?.verification_token ?? []);
      const before = subscriptions;
      subscriptions = entries.flatMap(({ subscription = [] }) => subscription).map(withoutToken);
      lookedAt = new Date();
      troubles.settle(API);
      for (const entry of entries) see(entry, before);
      return 0;
    } catch (error) {
      const { reason, message, waitMs } =
        error instanceof ApiFailure ? error : new ApiFailure('not_taken', String(error));
      if (!signal.aborted) troubles.raise(API, { reason, detail: message });
      return Math.max(1, waitMs);
    }
  };

  const look = (): Promise<number> => {
    underWay ??= lookOnce().finally(() => (underWay = undefined));
    return underWay;
  };

  let gapMs = LEAST_GAP_MS;
  let learnsAfterMs = 0;
  const learn = async (): Promise<boolean> => {
    if (signal.aborted || (underWay === undefined && Date.now() < learnsAfterMs)) return false;
    const known = [...secrets, ...tokens].join(' ');
    await look();
    const hasLearned = [...secrets, ...tokens].join(' ') !== known;
    gapMs = hasLearned ? LEAST_GAP_MS : Math.min(LONGEST_GAP_MS, gapMs * 2);
    learnsAfterMs = Date.now() + gapMs;
    return hasLearned;
  };

  const checks: LearnedChecks = { secrets: () => secrets, tokens: () => tokens, learn };
  return { look, checks, state: () => ({ lookedAt, subscriptions, troubles: troubles.standing() }) };
}

/** States are printed and logged. */
function withoutToken({ verification_token: _token, ...shown }: ToldSubscription): KeptSubscription {
  return shown;
}
