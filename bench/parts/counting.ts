import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { GCProfiler, getHeapStatistics, promiseHooks } from 'node:v8';
import pg from 'pg';

/**
 * Counts inside a service, which loads this file before its own code (`--import`) and knows nothing of it. It listens on a
 * socket, named by the service's pid, in the folder that the query of its URL names. A question names the counters to begin;
 * the answer is what those counted that the question before began.
 */
const counters = { allocatedBytes, promises, statements, calls };

export type CounterName = keyof typeof counters;
export type CountedInside = { [N in CounterName]: Awaited<ReturnType<Awaited<ReturnType<(typeof counters)[N]>>>> };

/** Bytes by which V8's heap grew between its collections: all that was put there. Buffers lie beside it. */
function allocatedBytes() {
  const profiler = new GCProfiler();
  profiler.start();
  let afterLast = getHeapStatistics().used_heap_size;
  return (): number => {
    const atEnd = getHeapStatistics().used_heap_size;
    let allocated = 0;
    for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
      allocated += beforeGC.heapStatistics.usedHeapSize - afterLast;
      afterLast = afterGC.heapStatistics.usedHeapSize;
    }
    return allocated + atEnd - afterLast;
  };
}

/** Promises that were made, also by libraries. Each costs more while they are counted. */
function promises() {
  let made = 0;
  const stop = promiseHooks.onInit((_promise, parent) => {
    if (parent === undefined || isOfThen()) made += 1;
  });
  return (): number => {
    stop();
    return made;
  };
}

/** Whether a promise that follows another was asked for: while V8 is watched, each `await` makes one, which it does not else. */
function isOfThen(): boolean {
  const { stackTraceLimit } = Error;
  // This function, the hook, and what made the promise.
  Error.stackTraceLimit = 3;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack.includes('at Promise.then (');
}

let queries = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function counted(this: pg.Client, ...args: never[]) {
  queries += 1;
  return Reflect.apply(query, this, args);
};

/** Counts statements in Postgres, `begin` and `commit` included. */
function statements() {
  const before = queries;
  return (): number => queries - before;
}

/** Returns, by the URL of each file, the calls of its most called function. V8 recompiles everything to count them. */
async function calls() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async (): Promise<Record<string, number>> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    session.disconnect();
    const most = result.map(({ url, functions }): [string, number] => {
      return [url, Math.max(...functions.map(({ ranges }) => ranges[0]?.count ?? 0))];
    });
    return Object.fromEntries(most);
  };
}

let counting: Partial<Record<string, () => unknown>> = {};

async function answer(socket: Socket): Promise<void> {
  const [question] = (await once(socket, 'data')) as [Buffer];
  const ended: Record<string, unknown> = {};
  for (const [name, end] of Object.entries(counting)) ended[name] = await end?.();
  counting = {};
  // From `lib/count-inside.ts`, and so short that it comes at once.
  for (const name of JSON.parse(question.toString()) as CounterName[]) counting[name] = await counters[name]();
  socket.end(JSON.stringify(ended));
}

const folder = new URL(import.meta.url).searchParams.get('folder') ?? '';
const server = createServer((socket) => void answer(socket));
server.listen(join(folder, `${process.pid}.socket`)).unref();
