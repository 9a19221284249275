import {
  askWaybell,
  type WantedSubscriptions,
  ApiFailure,
  type AskWaybell,
  type PutEntry,
  type ToldSubscription,
} from './ask-waybell.ts';
import {
  keepingTroubles,
  type KeepingChange,
  type KeepingTrouble,
  type KeptState,
  contested,
  troubleOf,
  type KeepingTroubles,
  type KeptSubscription,
} from './kept-subscription.ts';
import type { Follow, LearnedChecks } from './read-notification.ts';
import { jittered, pause, switchingOn, type SwitchingTimes } from './switching-on.ts';
import { requireFunctions, requireNumbers, requireTimers } from './require-options.ts';

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
  /** How often it is looked whether all is as it should be, in milliseconds; 5 minutes unless given, a tenth more or less. */
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
  const { everyMs, perSecond, wanted, where, tell } = readOptions(options);
  const closing = new AbortController();
  const { signal } = closing;
  const waybell = askWaybell({ ...where, signal });
  const troubles = keepingTroubles(tell.trouble);
  const { attend } = switchingOn({ waybell, troubles, onChange: tell.change, perSecond, times, signal });
  const { look, checks, state } = looking({ waybell, wanted, troubles, onChange: tell.change, attend, signal });
  receiver.follow(checks);

  const ready = look();
  const looks = async (): Promise<void> => {
    let waitMs = await ready;
    for (let failures = 0; !signal.aborted; waitMs = await look()) {
      failures = waitMs === 0 ? 0 : failures + 1;
      const soonMs = Math.min(everyMs, FIRST_AGAIN_MS * 2 ** (failures - 1));
      await pause(jittered(failures === 0 ? everyMs : Math.max(soonMs, waitMs)), signal);
    }
  };
  const over = looks();
  const close = async (): Promise<void> => {
    closing.abort();
    await over;
  };
  return { ready: ready.then(() => undefined), state, close, [Symbol.asyncDispose]: close };
}

const FIRST_AGAIN_MS = 5_000;

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
  const tell = { trouble: safely('onTrouble', onTrouble), change: safely('onChange', onChange) };
  return { everyMs, perSecond, wanted, tell, where: { api: String(api), token: token ?? '' } };
}

/** Calls the integrator's hook, whose faults must not end the process. */
function safely<T>(name: string, hook: (about: T) => unknown = () => undefined): (about: T) => void {
  return (about) => {
    const told = async (): Promise<unknown> => hook(about);
    told().catch((error: unknown) => console.error(`waybell receiver: ${name}`, error));
  };
}

function printed({ reason, action = '', detail }: KeepingTrouble): void {
  console.error('waybell receiver:', reason, action, detail);
}

type LookingOptions = {
  waybell: AskWaybell;
  wanted: WantedSubscriptions;
  troubles: KeepingTroubles;
  onChange: (change: KeepingChange) => void;
  /** Brings a subscription to its wanted state. */
  attend: (subscription: KeptSubscription) => void;
  signal: AbortSignal;
};

type Looks = {
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
