import type { Callback, Forwarded } from './forward.ts';

/** A forwarded callback, as it is printed. */
export type ForwardedCallback = {
  at: string;
  action: string;
  delivery_guid: string;
  attempt: number;
  is_test: boolean;
  url: string;
  status: number;
  took_ms: number;
  trouble?: string;
};

export function toldOf({ headers, body }: Callback, url: URL, forwarded: Forwarded, now: Date): ForwardedCallback {
  const { status, tookMs, trouble } = forwarded;
  return {
    at: now.toISOString(),
    action: actionIn(body),
    delivery_guid: headers['webhook-id'] ?? '',
    attempt: Number(headers['x-webhook-attempt'] ?? 1),
    is_test: headers['x-webhook-test'] === 'true',
    url: url.href,
    status,
    took_ms: tookMs,
    ...(trouble !== undefined && { trouble }),
  };
}

/** One line: `09:30:00  order.created  3f1c…  → POST http://localhost:3000/hook  200 in 12 ms`. */
export function describeTold({
  at,
  action,
  delivery_guid,
  attempt,
  is_test,
  url,
  ...answer
}: ForwardedCallback): string {
  const marks = [...(is_test ? ['test'] : []), ...(attempt > 1 ? [`attempt ${attempt}`] : [])];
  const { status, took_ms, trouble } = answer;
  return [
    at.slice('2026-11-20T'.length, '2026-11-20T09:30:00'.length),
    action,
    delivery_guid,
    `→ POST ${url}`,
    trouble ?? `${status} in ${took_ms} ms`,
    ...(marks.length === 0 ? [] : [`(${marks.join(', ')})`]),
  ].join('  ');
}

function actionIn(body: Buffer): string {
  // Deliverers send JSON with an action.
  const { action } = JSON.parse(body.toString()) as { action?: unknown };
  return typeof action === 'string' ? action : 'unknown action';
}
