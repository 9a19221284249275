/**
 * Keeps a receiver subscribed: compares its subscriptions with the wanted ones every few minutes, or as soon as a request may be
 * signed with a secret that it does not know, and has those that are off switched on.
 */
import {
  ApiFailure,
  askWaybell,
  type AskWaybell,
  type PutEntry,
  type FetchedSubscription,
  type WantedSubscriptions,
} from './ask-waybell.ts';
import {
  contested,
  keepingTroubles,
  troubleOf,
  type KeepingChange,
  type KeepingTrouble,
  type KeepingTroubles,
  type KeptState,
  type KeptSubscription,
} from './kept-subscription.ts';
import type { Follow, LearnedChecks } from './read-notification.ts';
import { requireFunctions, requireNumbers, requireTimers } from './require-options.ts';
import { jittered, pause, switchingOn, type SwitchingTimes } from './switching-on.ts';

export type KeepSubscribedOptions = {
  /** The address of the API. */
  api: string | URL | undefined;
  /** An access token with the scopes `webhooks:read` and `webhooks:write`, or a function that is asked before each call. */
  token: string | (() => string | Promise<string>) | undefined;
  /** The address of this receiver; the same in all its replicas. */
  callbackUrl: string | URL | undefined;
  /** Names of actions, in which `*` is any text: `['order.*', 'damage.created']`. Subscriptions to other actions stay. */
  actions: string | readonly string[];
  /** Fields of the revision form, for the actions that have one. */
  auditFieldSet?: readonly string[];
  /** How often the subscriptions are compared with what is wanted, in milliseconds; 5 minutes unless given, a tenth more or less. */
  everyMs?: number;
  /** How many of those that were missed are sent again in a second; 50 unless given. */
  replaysPerSecond?: number;
  /** Called with each trouble, once while it lasts; without it troubles are printed. */
  onTrouble?: (trouble: KeepingTrouble) => unknown;
  /** Called with each change that was made. */
  onChange?: (change: KeepingChange) => unknown;
};

export type Kept = {
  /** Resolves, and never rejects, when the API was asked for the first time: from then on the receiver knows its secrets, unless `state()` has a trouble. */
  ready: Promise<void>;
  state: () => KeptState;
  /** Ends requests under way. The receiver continues with the secrets and tokens that it knows. */
  close: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

const EVERY_MS = 5 * 60_000;
/** After a failure; doubles with each, up to the time between two comparisons. */
const FIRST_AGAIN_MS = 5_000;
const PER_SECOND = 50;
const TIMES: SwitchingTimes = { firstPauseMs: 10_000, longestPauseMs: 10 * 60_000, replayPauseMs: 65_000 };

/**
 * Keeps a receiver subscribed, from now on until it is closed: subscribes to missing actions, changes subscriptions that differ,
 * tests those that are off and switches them on again, has missed deliveries replayed, and passes changed secrets and tokens to
 * the receiver. Several replicas may do so at once. Throws if the options cannot be used; later failures go to `onTrouble`, and
 * the receiver goes on receiving.
 */
export function keepSubscribed(receiver: { follow: Follow }, options: KeepSubscribedOptions): Kept {
  return keeping(receiver, options, TIMES);
}

/** The same with other pauses, for tests. */
export function keeping(receiver: { follow: Follow }, options: KeepSubscribedOptions, times: SwitchingTimes): Kept {
  const { everyMs, perSecond, wanted, access, report } = readOptions(options);
  const closing = new AbortController();
  const { signal } = closing;
  const waybell = askWaybell({ ...access, signal });
  const troubles = keepingTroubles(report.trouble);
  const shared = { waybell, troubles, onChange: report.change, signal };
  const { attend } = switchingOn({ ...shared, perSecond, times });
  const { reconcile, checks, state } = reconciling({ ...shared, wanted, attend });
  receiver.follow(checks);

  const ready = reconcile();
  const reconcileUntilClosed = async (): Promise<void> => {
    let waitMs = await ready;
    for (let failures = 0; !signal.aborted; waitMs = await reconcile()) {
      failures = waitMs === 0 ? 0 : failures + 1;
      const soonMs = Math.min(everyMs, FIRST_AGAIN_MS * 2 ** (failures - 1));
      await pause(jittered(failures === 0 ? everyMs : Math.max(soonMs, waitMs)), signal);
    }
  };
  const over = reconcileUntilClosed();
  const close = async (): Promise<void> => {
    closing.abort();
    await over;
  };
  return { ready: ready.then(() => undefined), state, close, [Symbol.asyncDispose]: close };
}

type ReconcilingOptions = {
  waybell: AskWaybell;
  wanted: WantedSubscriptions;
  troubles: KeepingTroubles;
  onChange: (change: KeepingChange) => void;
  /** Brings a subscription to its wanted state. */
  attend: (subscription: KeptSubscription) => void;
  signal: AbortSignal;
};

type Reconciling = {
  /** Resolves with 0 if the API answered, else with how long it wants to be left alone at least. Never rejects. */
  reconcile: () => Promise<number>;
  checks: LearnedChecks;
  state: () => KeptState;
};

/** Names the trouble of the API, which belongs to no action. */
const API = 'api';

/** Strangers may send requests that nobody signed: as long as nothing new is learned, the API is asked ever more seldom. */
const LEAST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 60_000;

/**
 * Compares the subscriptions that the API has with those that are wanted, and has the API change what differs: once at a time. The
 * receiver has it done as well, when a request may be signed with a secret that it does not know yet.
 */
export function reconciling(options: ReconcilingOptions): Reconciling {
  const { waybell, wanted, troubles, onChange, attend, signal } = options;
  let secrets: readonly string[] = [];
  let tokens: readonly string[] = [];
  let subscriptions: readonly KeptSubscription[] = [];
  let lookedAt: Date | undefined;
  let underWay: Promise<number> | undefined;

  const note = ({ action, result, subscription, problem }: PutEntry, before: readonly KeptSubscription[]): void => {
    if (subscription === undefined)
      return troubles.raise(action, { reason: 'refused', action, detail: problem?.detail ?? 'it is refused' });
    if (result === 'created') onChange({ kind: 'subscribed', action, guid: subscription.guid });
    if (result === 'changed') onChange({ kind: 'changed', action, guid: subscription.guid });
    const isContested = result === 'changed' && before.some(({ guid }) => guid === subscription.guid);
    const trouble = isContested ? contested(action) : troubleOf(subscription);
    if (trouble === undefined) troubles.end(action);
    else troubles.raise(action, trouble);
    attend(subscription);
  };

  const reconcileOnce = async (): Promise<number> => {
    try {
      // First: a client that never asked for secrets gets none of its notifications signed.
      secrets = await waybell.secrets();
      const entries = await waybell.put(wanted);
      tokens = entries.flatMap(({ subscription }) => subscription?.verification_token ?? []);
      const before = subscriptions;
      subscriptions = entries.flatMap(({ subscription = [] }) => subscription).map(withoutToken);
      lookedAt = new Date();
      troubles.end(API);
      for (const entry of entries) note(entry, before);
      return 0;
    } catch (error) {
      const { reason, message, waitMs } =
        error instanceof ApiFailure ? error : new ApiFailure('not_taken', String(error));
      if (!signal.aborted) troubles.raise(API, { reason, detail: message });
      return Math.max(1, waitMs);
    }
  };

  const reconcile = (): Promise<number> => {
    underWay ??= reconcileOnce().finally(() => (underWay = undefined));
    return underWay;
  };

  let gapMs = LEAST_GAP_MS;
  let learnsAfterMs = 0;
  const learn = async (): Promise<boolean> => {
    if (signal.aborted || (underWay === undefined && Date.now() < learnsAfterMs)) return false;
    const known = [...secrets, ...tokens].join(' ');
    await reconcile();
    const hasLearned = [...secrets, ...tokens].join(' ') !== known;
    gapMs = hasLearned ? LEAST_GAP_MS : Math.min(LONGEST_GAP_MS, gapMs * 2);
    learnsAfterMs = Date.now() + gapMs;
    return hasLearned;
  };

  const checks: LearnedChecks = { secrets: () => secrets, tokens: () => tokens, learn };
  return { reconcile, checks, state: () => ({ lookedAt, subscriptions, troubles: troubles.standing() }) };
}

/** States are printed and logged. */
function withoutToken({ verification_token: _token, ...shown }: FetchedSubscription): KeptSubscription {
  return shown;
}

function readOptions(options: KeepSubscribedOptions) {
  const { api, token, callbackUrl, actions, auditFieldSet, onTrouble = printed, onChange } = options;
  const { everyMs = EVERY_MS, replaysPerSecond: perSecond = PER_SECOND } = options;
  const given = { api, token, callbackUrl };
  for (const [name, value] of Object.entries(given))
    if (value === undefined || value === '')
      throw new TypeError(`"${name}" is ${value === '' ? 'empty' : 'undefined'}: is the environment variable set?`);
  for (const [name, url] of Object.entries({ api, callbackUrl }))
    if (!URL.canParse(String(url))) throw new TypeError(`"${name}" is no URL`);
  if ([actions].flat().length === 0) throw new TypeError('"actions" names none');
  requireTimers({ everyMs });
  requireNumbers({ replaysPerSecond: perSecond });
  requireFunctions({ onTrouble, onChange });
  const wanted: WantedSubscriptions = {
    callback_url: String(callbackUrl),
    actions: [actions].flat(),
    ...(auditFieldSet !== undefined && { audit_field_set: auditFieldSet }),
  };
  const report = { trouble: safely('onTrouble', onTrouble), change: safely('onChange', onChange) };
  return { everyMs, perSecond, wanted, report, access: { api: String(api), token: token ?? '' } };
}

/** Calls the integrator's hook, whose faults must not end the process. */
function safely<T>(name: string, hook: (about: T) => unknown = () => undefined): (about: T) => void {
  return (about) => {
    const call = async (): Promise<unknown> => hook(about);
    call().catch((error: unknown) => console.error(`waybell receiver: ${name}`, error));
  };
}

function printed({ reason, action = '', detail }: KeepingTrouble): void {
  console.error('waybell receiver:', reason, action, detail);
}
