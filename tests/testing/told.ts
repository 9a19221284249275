import { isDeepStrictEqual } from 'node:util';
import type { Client } from './test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

type Attempt = { kind: string; reason?: string };
type Delivery = { guid: string; status: string; reason?: string; attempts: Attempt[]; deactivation?: { rule: string } };
type Verdict = { kind: string; reason?: string; detail?: string; remedy?: string; delivery?: Delivery };
export type Timeline = { objects: { verdicts: Verdict[] }[] };

/** Returns the API's answer, without the shippers' wrapping. Throws if it is not 200. */
export async function ask<T>(client: Client, path: string): Promise<T> {
  const { status, body } = await client.call('GET', path);
  if (status !== 200) throw new Error(`${path} was answered with ${status}: ${JSON.stringify(body)}`);
  // The shapes are the contract's, which other tests hold.
  return ((body as { data?: T }).data ?? body) as T;
}

/** Returns the timeline of an order, a line for each result, the newest first. */
export async function told(client: Client, order: string): Promise<string[]> {
  const { objects } = await ask<Timeline>(client, `/v1/timeline/${order}`);
  return objects.flatMap(({ verdicts }) => verdicts.map(lineOf));
}

function lineOf({ kind, reason, remedy, delivery }: Verdict): string {
  if (delivery === undefined) return `${kind} ${reason}${remedy ? '' : ', and no remedy'}`;
  const attempts = delivery.attempts.map((each) => [each.kind, each.reason].filter(Boolean).join(' '));
  const rule = delivery.deactivation && `; switched off: ${delivery.deactivation.rule}`;
  return `${delivery.status}: ${attempts.join(', ')}${rule ?? ''}`;
}

/** Waits until the timeline of an order tells exactly this. */
export async function untilTold(client: Client, order: string, lines: string[]): Promise<void> {
  let last: string[] = [];
  const isTold = async () => isDeepStrictEqual((last = await told(client, order)), lines);
  await until('the whole story is told', isTold).catch((cause: unknown) => {
    throw new Error(`${JSON.stringify(last)} is told instead of ${JSON.stringify(lines)}`, { cause });
  });
}
