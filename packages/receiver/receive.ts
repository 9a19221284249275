/**
 * From a request to its answer: verifies, reads, recognises repeats and hands over.
 *
 *     4xx               the request is refused, with a reason; 500 if something read its body before
 *     200 handled       the work has ended; `queued` if it was stored for later
 *     200 repeated      it was handled before
 *     200 test          a test, which causes nothing else
 *     503 in_progress   another process handles it: it may fail yet
 *     500, 503 failed   the work, the store, a check or the time limit: Waybell sends it again
 */
import { actionNames } from './action-names.ts';
import { requireUsable, type LaterChecks } from './checks.ts';
import { requireInterface, type Interface, type NotificationOf } from './parse-notification.ts';
import {
  learningReader,
  type About,
  type Follow,
  type ReadOptions,
  type Received,
  type ReceivedRequest,
} from './read-notification.ts';
import { refuse, type Refusal } from './refusal.ts';
import { requireFunctions, requireTimers } from './require-options.ts';
import { guardStore, memoryStore, type Store } from './store.ts';

export type ReceiveOptions<I extends Interface> = (ReadOptions<I> | ({ interface: I } & LaterChecks)) &
  WorkOptions<I> & {
    /** Remembers handled notifications by `webhook-id`; by default in the memory of this process. */
    store?: Store | undefined;
    /**
     * Gets tests, which nothing else does; they are answered with 200 without it. `'handle'`: they are handled
     * like any other, as on the machine of a developer who tries things out.
     */
    onTest?: 'handle' | ((received: Received<I>) => unknown);
    /** Unless given, prints where an answer is 5xx, and the first refusal for each reason. */
    onTrouble?: (trouble: Trouble) => unknown;
    /**
     * How long all but reading the body may take until a request is answered with 503, in milliseconds; work goes on, and counts if it
     * ends well. 60 s unless given.
     */
    handleWithinMs?: number;
  };

/**
 * The work for a notification. It is answered with 200 once that has resolved, and comes again if it throws. `on` has all
 * actions, or `otherwise` gets the rest. `enqueue` resolves when it has stored `received.body` for later.
 */
export type Work<I extends Interface> =
  | { handle: Handle<I>; on?: never; otherwise?: never; enqueue?: never }
  | { on: Handlers<I>; handle?: never; otherwise?: never; enqueue?: never }
  | { on: Partial<Handlers<I>>; otherwise: Handle<I>; handle?: never; enqueue?: never }
  | { enqueue: (received: Received<I>) => unknown; handle?: never; on?: never; otherwise?: never };

/** Handlers by action. */
export type Handlers<I extends Interface> = {
  [A in NotificationOf<I>['action']]: (
    notification: Extract<NotificationOf<I>, { action: A }>,
    about: About,
  ) => unknown;
};

export type Handle<I extends Interface> = (notification: NotificationOf<I>, about: About) => unknown;

type WorkOptions<I extends Interface> = { interface: I } & Work<I> & {
    /** Gets an action that this version does not know (`enqueue` gets it too); without it a warning is printed, once for each action. */
    onUnknownAction?: (received: Extract<Received<I>, { kind: 'unknown_action' }>) => unknown;
  };

/** A problem with a request, for people to read. */
export type Trouble = Refusal | Failure;

/** Something here failed, not the request. */
export type Failure = {
  kind: 'failed';
  in: 'checks' | 'store' | 'work' | 'time limit';
  error: unknown;
  id?: string;
  action?: string;
};

export type Answer = { status: number; headers: Record<string, string>; body: string };

export type Receive = (request: ReceivedRequest & { method: string }) => Promise<Answer>;

/** Answers a request whose body could not even be read. */
export type Refuse = (refusal: Refusal) => Answer;

const HANDLE_WITHIN_MS = 60_000;

/** Makes the functions that answer requests. Throws if the options cannot be used. */
export function receiving<I extends Interface>(
  options: ReceiveOptions<I>,
): { receive: Receive; refuseRequest: Refuse; follow: Follow } {
  requireUsable(options);
  requireInterface(options.interface);
  const { onTest, handleWithinMs: withinMs = HANDLE_WITHIN_MS } = options;
  if (onTest !== 'handle') requireFunctions({ onTest });
  requireTimers({ handleWithinMs: withinMs });
  const store = guardStore(options.store ?? memoryStore());
  const [work, report] = [workOf(options), troubleReporter(options.onTrouble)];
  const { read, follow } = learningReader<I>(options);
  const isQueued = options.enqueue !== undefined;

  const failed = (about: Omit<Failure, 'kind'>, status: 500 | 503): Answer => {
    report({ kind: 'failed', ...about });
    return answer(status, { status: 'failed', in: about.in });
  };

  const refuseRequest: Refuse = (refusal) => {
    report(refusal);
    const { kind, status, ...why } = refusal;
    return answer(status, { status: kind, ...why });
  };

  const receiveOnce = async (received: Received<I>): Promise<Answer> => {
    const { id, action } = received;
    const onUnrecorded = (error: unknown) => report({ kind: 'failed', in: 'store', error, id, action });
    const outcome = await doOnce(id, () => work(received), { store, onUnrecorded });
    switch (outcome.kind) {
      case 'done':
        return answer(200, { status: isQueued ? 'queued' : 'handled' });
      case 'repeated':
        return answer(200, { status: 'repeated' });
      case 'in_progress':
        // The first may yet fail: then the repeat is needed.
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

  /** Failures after the answer are reported too. */
  const receivePosted = async (request: ReceivedRequest, about: Pick<Failure, 'id' | 'action'>): Promise<Answer> => {
    let reading;
    try {
      reading = await read(request);
    } catch (error) {
      return failed({ in: 'checks', error }, 503);
    }
    if (reading.kind === 'refused') return refuseRequest(reading);
    Object.assign(about, { id: reading.id, action: reading.action });
    return reading.isTest ? receiveTest(reading) : receiveOnce(reading);
  };

  return {
    follow,
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

function answer(status: number, body: Record<string, string>, headers: Record<string, string> = {}): Answer {
  const allow = status === 405 ? { allow: 'POST' } : {};
  return { status, headers: { 'content-type': 'application/json', ...allow, ...headers }, body: JSON.stringify(body) };
}

/** Returns the work of the options. Throws if they leave a notification without work, or name an unknown action. */
function workOf<I extends Interface>(options: WorkOptions<I>): (received: Received<I>) => unknown {
  const { handle, on, otherwise, enqueue, onUnknownAction = warnOnce() } = options;
  if ([handle, on, enqueue].filter((each) => each !== undefined).length !== 1)
    throw new TypeError('give one of "handle", "on" and "enqueue"');
  requireFunctions({ handle, otherwise, enqueue, onUnknownAction });
  if (enqueue !== undefined) return enqueue;
  // A handler of an action takes the notifications of that action, which the compiler cannot follow.
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

type DoOnceResult =
  | { kind: 'done' | 'repeated' | 'in_progress' }
  | { kind: 'failed'; in: 'store' | 'work'; error: unknown };

/**
 * Does something unless it was done before, or is being done. The lease is renewed until the work ends, however long that takes.
 * `onUnrecorded` gets why the store does not know how work ended, so that it may be done twice.
 */
async function doOnce(
  id: string,
  work: () => unknown,
  { store, onUnrecorded }: { store: Store; onUnrecorded: (error: unknown) => void },
): Promise<DoOnceResult> {
  let begun;
  try {
    begun = await store.begin(id);
  } catch (error) {
    return { kind: 'failed', in: 'store', error };
  }
  if (begun.kind === 'done') return { kind: 'repeated' };
  if (begun.kind === 'in_progress') return begun;
  const { lease } = begun;
  const renewing = renew(store, id, lease);
  try {
    await work();
  } catch (error) {
    clearInterval(renewing);
    await record(store.fail(id, lease), onUnrecorded);
    return { kind: 'failed', in: 'work', error };
  }
  clearInterval(renewing);
  await record(store.finish(id, lease), onUnrecorded);
  return { kind: 'done' };
}

const RECORDED_WITHIN_MS = 1_000;

/** Waits for the store, but not for long: the deliverer waits as well. */
async function record(recording: Promise<void>, onUnrecorded: (error: unknown) => void): Promise<void> {
  const recorded = await inTime(recording.catch(onUnrecorded), RECORDED_WITHIN_MS);
  if (recorded === 'late') onUnrecorded(new Error(`not recorded after ${RECORDED_WITHIN_MS} ms`));
}

function renew(store: Store, id: string, lease: string): NodeJS.Timeout {
  let isUnderWay = false;
  const renewOnce = async (): Promise<void> => {
    // A store that hangs must not gather renewals, each with a connection of its own.
    if (isUnderWay) return;
    isUnderWay = true;
    await store.renew(id, lease).catch(() => undefined);
    isUnderWay = false;
  };
  // Not renewed once, it has two more chances before it is over.
  return setInterval(() => void renewOnce(), store.leaseMs / 3).unref();
}

/** Calls the integrator's hook, whose faults must leave no request without an answer, and must not end the process. */
function troubleReporter(onTrouble: (trouble: Trouble) => unknown = printer()): (trouble: Trouble) => void {
  requireFunctions({ onTrouble });
  return (trouble) => {
    const call = async (): Promise<unknown> => onTrouble(trouble);
    call().catch((error: unknown) => console.error('waybell receiver: onTrouble', error));
  };
}

/** Strangers cause 4xx all the time; but the first may be one's own fault: a wrong secret. */
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

/**
 * Resolves with the promise's value, or with `late` if that takes longer: the work goes on, but its result is no longer awaited.
 */
export async function inTime<T>(promise: Promise<T>, withinMs: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, withinMs, 'late').unref();
  });
  try {
    return await Promise.race([promise, isLate]);
  } finally {
    clearTimeout(timer);
  }
}
