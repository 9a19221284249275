import { actionNames } from './action-names.ts';
import { requireChecks } from './checks.ts';
import { doOnce } from './do-once.ts';
import { guardStore } from './guard-store.ts';
import { inTime } from './in-time.ts';
import { memoryStore } from './memory-store.ts';
import { requireInterface, type Interface, type NotificationOf } from './parse-notification.ts';
import {
  readNotification,
  type About,
  type ReadOptions,
  type Received,
  type ReceivedRequest,
} from './read-notification.ts';
import { refuse, type Refusal } from './refusal.ts';
import { requireTimers } from './require-numbers.ts';
import type { Store } from './store.ts';

export type Handle<I extends Interface> = (notification: NotificationOf<I>, about: About) => unknown;

/** What to do about each action. */
export type Handlers<I extends Interface> = {
  [A in NotificationOf<I>['action']]: (
    notification: Extract<NotificationOf<I>, { action: A }>,
    about: About,
  ) => unknown;
};

/**
 * What to do about a notification. It is answered with 200 once that has resolved, and comes again if it throws. `on` has
 * all actions, or `otherwise` gets the rest. `enqueue` resolves when it has stored `received.body` for later.
 */
export type Work<I extends Interface> =
  | { handle: Handle<I>; on?: never; otherwise?: never; enqueue?: never }
  | { on: Handlers<I>; handle?: never; otherwise?: never; enqueue?: never }
  | { on: Partial<Handlers<I>>; otherwise: Handle<I>; handle?: never; enqueue?: never }
  | { enqueue: (received: Received<I>) => unknown; handle?: never; on?: never; otherwise?: never };

/** Something here failed, not the request. */
export type Failure = {
  kind: 'failed';
  in: 'checks' | 'store' | 'work' | 'time limit';
  error: unknown;
  id?: string;
  action?: string;
};

/** What went wrong in a request, for people to look at. */
export type Trouble = Refusal | Failure;

export type ReceiveOptions<I extends Interface> = ReadOptions<I> &
  Work<I> & {
    /** What was handled before, by `webhook-id`; in the memory of this process, unless given. */
    store?: Store | undefined;
    /**
     * Gets the tests that somebody asked for, which nothing else does; they are answered with 200 without it. `'handle'`: they are handled
     * like any other, as on the machine of a developer who tries things out.
     */
    onTest?: 'handle' | ((received: Received<I>) => unknown);
    /** Gets an action that this version does not know (`enqueue` gets it too); without it a warning is printed, once for each action. */
    onUnknownAction?: (received: Extract<Received<I>, { kind: 'unknown_action' }>) => unknown;
    /** Unless given, prints where an answer is 5xx, and the first refusal for each reason. */
    onTrouble?: (trouble: Trouble) => unknown;
    /**
     * How long all but reading the body may take until a request is answered with 503, in milliseconds; work goes on, and counts if it
     * ends well. 60 s unless given.
     */
    handleWithinMs?: number;
  };

export type Answer = { status: number; headers: Record<string, string>; body: string };
export type Receive = (request: ReceivedRequest & { method: string }) => Promise<Answer>;
/** Answers a request whose body could not even be read. */
export type Refuse = (refusal: Refusal) => Answer;

const HANDLE_WITHIN_MS = 60_000;

/** Verifies, reads, recognises repeats and hands over: from a request to its answer. */
export function receiving<I extends Interface>(
  options: ReceiveOptions<I>,
): { receive: Receive; refuseRequest: Refuse } {
  requireChecks(options);
  requireInterface(options.interface);
  const { onTrouble = printer(), onTest, handleWithinMs: withinMs = HANDLE_WITHIN_MS } = options;
  requireFunctions({ onTrouble, ...(onTest === 'handle' ? {} : { onTest }) });
  requireTimers({ handleWithinMs: withinMs });
  const store = guardStore(options.store ?? memoryStore());
  const work = workOf(options);
  const tell = (trouble: Trouble): void => {
    const told = async (): Promise<unknown> => onTrouble(trouble);
    // A fault of the hook must leave no request without an answer, and must not end the process.
    told().catch((error: unknown) => console.error('waybell receiver: onTrouble', error));
  };
  const isQueued = options.enqueue !== undefined;

  const failed = (about: Omit<Failure, 'kind'>, status: 500 | 503): Answer => {
    tell({ kind: 'failed', ...about });
    return answer(status, { status: 'failed', in: about.in });
  };

  const refuseRequest: Refuse = (refusal) => {
    tell(refusal);
    const { kind, status, ...why } = refusal;
    return answer(status, { status: kind, ...why });
  };

  const receiveOnce = async (received: Received<I>): Promise<Answer> => {
    const { id, action } = received;
    const onUnrecorded = (error: unknown) => tell({ kind: 'failed', in: 'store', error, id, action });
    const outcome = await doOnce(id, () => work(received), { store, onUnrecorded });
    switch (outcome.kind) {
      case 'done':
        return answer(200, { status: isQueued ? 'queued' : 'handled' });
      case 'repeated':
        return answer(200, { status: 'repeated' });
      case 'in_progress':
        // The first may yet fail: its repeat must come again.
        return answer(503, { status: 'in_progress' }, { 'retry-after': '1' });
      case 'failed':
        return failed({ ...outcome, id, action }, outcome.in === 'work' && !isQueued ? 500 : 503);
    }
  };

  const receiveTest = async (received: Received<I>): Promise<Answer> => {
    if (onTest === 'handle') return receiveOnce(received);
    const { id, action } = received;
    try {
      await onTest?.(received);
    } catch (error) {
      return failed({ in: 'work', error, id, action }, 500);
    }
    return answer(200, { status: 'test' });
  };

  /** What fails after nobody waits any more is told all the same. */
  const receivePosted = async (request: ReceivedRequest, about: Pick<Failure, 'id' | 'action'>): Promise<Answer> => {
    let reading;
    try {
      reading = await readNotification(request, options);
    } catch (error) {
      return failed({ in: 'checks', error }, 503);
    }
    if (reading.kind === 'refused') return refuseRequest(reading);
    Object.assign(about, { id: reading.id, action: reading.action });
    return reading.isTest ? receiveTest(reading) : receiveOnce(reading);
  };

  return {
    refuseRequest,
    async receive({ method, ...request }) {
      if (method !== 'POST') return refuseRequest(refuse('wrong_method', 'notifications come by POST'));
      const about = {};
      const answered = await inTime(receivePosted(request, about), withinMs);
      if (answered !== 'late') return answered;
      const error = new Error(`not done after ${withinMs} ms: see "enqueue"`);
      return failed({ in: 'time limit', error, ...about }, 503);
    },
  };
}

function workOf<I extends Interface>(options: ReceiveOptions<I>): (received: Received<I>) => unknown {
  const { handle, on, otherwise, enqueue, onUnknownAction = warnOnce() } = options;
  if ([handle, on, enqueue].filter((each) => each !== undefined).length !== 1)
    throw new TypeError('give one of "handle", "on" and "enqueue"');
  requireFunctions({ handle, otherwise, enqueue, onUnknownAction });
  if (enqueue !== undefined) return enqueue;
  // A handler of an action takes its notifications, which its name says and the compiler cannot follow.
  const handlers = on as Partial<Record<string, Handle<I>>> | undefined;
  const handlerOf = (action: string) => handle ?? handlers?.[action] ?? otherwise;
  const names: readonly string[] = actionNames[options.interface];
  const unknown = Object.keys(handlers ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`"on" has ${unknown}, which is no action of this interface`);
  const missing = names.find((name) => typeof handlerOf(name) !== 'function');
  if (missing !== undefined) throw new TypeError(`"on" has no function for ${missing}, and there is no "otherwise"`);
  return (received) => {
    if (received.kind === 'unknown_action') return onUnknownAction(received);
    const { notification, kind: _kind, ...about } = received;
    return handlerOf(notification.action)?.(notification, about);
  };
}

function requireFunctions(functions: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(functions))
    if (value !== undefined && typeof value !== 'function') throw new TypeError(`"${name}" must be a function`);
}

function answer(status: number, body: Record<string, string>, headers: Record<string, string> = {}): Answer {
  const allow = status === 405 ? { allow: 'POST' } : {};
  return { status, headers: { 'content-type': 'application/json', ...allow, ...headers }, body: JSON.stringify(body) };
}

function warnOnce(): (received: { action: string }) => void {
  const warned = new Set<string>();
  return ({ action }) => {
    if (warned.has(action)) return;
    warned.add(action);
    process.emitWarning(
      `@waybell/receiver does not know ${action}, which was answered with 200: update it, or give "onUnknownAction"`,
    );
  };
}

/** Strangers get 4xx all the time; the first may be one's own: a secret that is wrong. */
function printer(): (trouble: Trouble) => void {
  const printed = new Set<string>();
  return (trouble) => {
    if (trouble.kind === 'failed')
      return console.error('waybell receiver:', trouble.in, trouble.id ?? '', trouble.error);
    const { reason, status, detail } = trouble;
    if (status < 500 && printed.has(reason)) return;
    printed.add(reason);
    console.error(`waybell receiver: ${reason}: ${detail}${status < 500 ? ' (further ones are not printed)' : ''}`);
  };
}
