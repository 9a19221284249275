import { requireUsable, type LaterChecks } from './checks.ts';
import { doOnce } from './do-once.ts';
import { guardStore } from './guard-store.ts';
import { inTime } from './in-time.ts';
import { learningReader, type Follow } from './learned-checks.ts';
import { memoryStore } from './memory-store.ts';
import { requireInterface, type Interface } from './parse-notification.ts';
import type { ReadOptions, Received, ReceivedRequest } from './read-notification.ts';
import { refuse, type Refusal } from './refusal.ts';
import { requireFunctions, requireTimers } from './require-options.ts';
import type { Store } from './store.ts';
import { tellTrouble, type Failure, type Trouble } from './tell-trouble.ts';
import { workOf, type WorkOptions } from './work-of.ts';

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

export type Answer = { status: number; headers: Record<string, string>; body: string };
export type Receive = (request: ReceivedRequest & { method: string }) => Promise<Answer>;
/** Answers a request whose body could not even be read. */
export type Refuse = (refusal: Refusal) => Answer;

const HANDLE_WITHIN_MS = 60_000;

/** Verifies, reads, recognises repeats and hands over: from a request to its answer. */
export function receiving<I extends Interface>(
  options: ReceiveOptions<I>,
): { receive: Receive; refuseRequest: Refuse; follow: Follow } {
  requireUsable(options);
  requireInterface(options.interface);
  const { onTest, handleWithinMs: withinMs = HANDLE_WITHIN_MS } = options;
  if (onTest !== 'handle') requireFunctions({ onTest });
  requireTimers({ handleWithinMs: withinMs });
  const store = guardStore(options.store ?? memoryStore());
  const [work, tell] = [workOf(options), tellTrouble(options.onTrouble)];
  const { read, follow } = learningReader<I>(options);
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
