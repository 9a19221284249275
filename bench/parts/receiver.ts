import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '@waybell/runtime/health';
import { serve } from '../lib/part.ts';
import { summarise, type Summary } from '../lib/statistics.ts';
import { readStamp } from '../lib/workload.ts';

/**
 * The receivers of all clients: a server that answers 200 at once and counts. The first part of a path says what else:
 *
 * | path | what it does |
 * |---|---|
 * | `/ok/…` | answers 200; its latency counts, from when the event was to be sent |
 * | `/hang/…` | never answers while it is to hang, else as /ok; its latency does not count |
 * | `/fail/<n>/…` | answers 500 to the first n attempts, then 200; how late each retry comes counts |
 */
export type ReceiverCommands = typeof commands;

/** Figures since timing began. Latency in ms. */
export type ReceiverFigures = { latency: Summary; longestSilenceMs: number };

/** Retries after one delay. Lateness in ms beyond it, below 0 if early; infinite for those that did not come. */
export type Retries = { delayMs: number; expected: number; came: number; lateness: Summary };

/** When attempts 2, 3 and 4 are due, after the attempt before. */
const RETRY_DELAYS_MS: Record<string, readonly number[]> = { carrier: [1_000, 2_000, 4_000], shipper: [60_000] };

let requests = 0;
let isTiming = false;
let isHanging = false;
const hung = new Set<ServerResponse>();
let latencies: number[] = [];
const lateness = new Map<number, number[]>();
let lastAtMs = 0;
let longestSilenceMs = 0;
const failedAt = new Map<string, number>();

const nowMs = () => performance.timeOrigin + performance.now();

const server = createServer((request, response) => {
  requests += 1;
  const [, kind, detail] = (request.url ?? '').split('/');
  if (isTiming) noteSilence();
  if (kind === 'hang' && isHanging) return leaveHanging(request, response);
  if (kind === 'fail') return answerFailing(request, response, Number(detail));
  if (kind === 'ok' && isTiming) noteLatency(request);
  else request.resume();
  response.writeHead(200).end();
});
server.keepAliveTimeout = 120_000;
server.requestTimeout = 0;

function leaveHanging(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  hung.add(response);
  response.on('close', () => hung.delete(response));
}

function noteLatency(request: IncomingMessage): void {
  const atMs = nowMs();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const sentAtMs = readStamp(Buffer.concat(chunks).toString());
    if (sentAtMs !== undefined) latencies.push(atMs - sentAtMs);
  });
}

/** The first attempts fail. A retry is due its delay after the answer to the attempt before. */
function answerFailing(request: IncomingMessage, response: ServerResponse, failures: number): void {
  const attempt = Number(request.headers['x-webhook-attempt']);
  const delivery = String(request.headers['webhook-id']);
  const interfaceName = request.url?.split('/')[3] ?? '';
  const before = failedAt.get(delivery);
  failedAt.delete(delivery);
  const delayMs = RETRY_DELAYS_MS[interfaceName]?.[attempt - 2];
  if (before !== undefined && delayMs !== undefined) {
    const late = lateness.get(delayMs) ?? [];
    late.push(nowMs() - before - delayMs);
    lateness.set(delayMs, late);
  }
  request.resume();
  // Retries of deliveries that began before timing did are not counted. The time is taken before the answer leaves.
  if (attempt <= failures && (attempt === 1 || before !== undefined)) failedAt.set(delivery, nowMs());
  response.writeHead(attempt <= failures ? 500 : 200).end();
}

function retriesAfter(delayMs: number, expected: number): Retries {
  const late = lateness.get(delayMs) ?? [];
  const missing = Array<number>(Math.max(0, expected - late.length)).fill(Infinity);
  return { delayMs, expected, came: late.length, lateness: summarise([...late, ...missing]) };
}

function noteSilence(): void {
  const atMs = performance.now();
  if (lastAtMs > 0) longestSilenceMs = Math.max(longestSilenceMs, atMs - lastAtMs);
  lastAtMs = atMs;
}

const commands = {
  /** Listens on all addresses of 127.0.0.0/8; resolves with the port. */
  async listen(): Promise<number> {
    return (await listen(server, { host: '0.0.0.0', port: 0 })).port;
  },
  requests: (): number => requests,
  /** Whether endpoints under /hang hang; those that do are answered when they no longer shall. */
  hang(isOn: boolean): void {
    isHanging = isOn;
    if (!isOn) for (const response of hung) response.writeHead(200).end();
  },
  /** Counts, and from now on also times: what was timed before is forgotten. */
  time(): void {
    isTiming = true;
    latencies = [];
    lateness.clear();
    failedAt.clear();
    longestSilenceMs = 0;
    lastAtMs = 0;
  },
  received(): ReceiverFigures {
    noteSilence();
    return { latency: summarise(latencies), longestSilenceMs };
  },
  /** How many retries came, by their delay in ms. */
  retriesCame: (): Map<number, number> => new Map([...lateness].map(([delayMs, { length }]) => [delayMs, length])),
  /** `expected`: how many were to come, by their delay in ms. */
  retries(expected: ReadonlyMap<number, number>): Retries[] {
    return [...expected].map(([delayMs, due]) => retriesAfter(delayMs, due));
  },
};

serve(commands);
