import { whyOf, type Attempted, type Routed } from '@waybell/line/outcomes';
import { messageGuidOf } from '../actions/oracle/message-guid.ts';
import type { Row } from './memory-subscriptions.ts';
import { LINKS, type Happened, type Told } from './story.ts';

/** The expectation of an event for a subscription: a delivery, or the reason why there is none. */
export type Owed = { row: Row; delivery: string; body: string; suppressed?: string };

// Written by hand from the specifications, without asking the product.
const ATTEMPTS = { carrier: 4, shipper: 6 };
export const DELAYS_MS = { carrier: [1_000, 2_000, 4_000], shipper: [60_000, 60_000, 60_000, 60_000, 60_000] };

export function owedBy(told: Told, rows: readonly Row[]): Owed[] {
  const { interface: interfaceName, action, parties, guid } = told.event;
  const isTo = (row: Row) =>
    row.interface === interfaceName && row.action === action && row.account === parties[interfaceName];
  return (told.twist === 'not an event' ? [] : rows.filter(isTo)).map((row) => {
    const delivery = messageGuidOf(guid, row.guid);
    const isMissingLinks = told.twist === 'links missing' && action === 'order.picked_up_bol';
    const suppressed = row.isFeatureOn ? isMissingLinks && 'links_missing' : 'feature_off';
    return { row, delivery, body: bodyOf(told, delivery), ...(suppressed !== false && { suppressed }) };
  });
}

export const owedByAll = ({ events, line: { subscriptions } }: Happened): Owed[] =>
  events.flatMap((told) => owedBy(told, subscriptions.rows));

function bodyOf({ event: { interface: interfaceName, action, payload } }: Told, delivery: string): string {
  if (interfaceName === 'carrier') {
    return `{"action":"${action}","guid":"${delivery}","occurred_at":"2026-11-20T09:30:00.123456+0000","data":{"id":4711,"status":"new"}}`;
  }
  const links = `,"pdf_bol_url":"${LINKS.pdf_bol_url}","online_bol_url":"${LINKS.online_bol_url}"`;
  const own = `"order_guid":"${String(payload['order_guid'])}"${action === 'order.picked_up_bol' ? links : ''}`;
  return `{"action":"${action}","action_date":"2026-11-20T09:30:00.123+0000","error_message":null,${own}}`;
}

/** Returns the expected attempts for the answers of its receiver, a line for each. */
export function attemptsOwed({ row }: Owed, { answersOf }: Happened): string[] {
  const lines: string[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS[row.interface]; attempt += 1) {
    const status = answersOf.get(row.guid)?.(attempt).status ?? 200;
    if (status === 200 || status === 204) return [...lines, `delivered ${attempt} ${status}`];
    const kind = attempt === ATTEMPTS[row.interface] ? 'exhausted' : 'failed';
    lines.push(`${kind} ${attempt} ${status === 'none' ? 'response_timeout' : status}`);
  }
  return lines;
}

/** In the same words, what was recorded. */
export function attemptTold(record: Attempted): string {
  const status = 'answer' in record ? record.answer.status : undefined;
  return `${record.kind} ${record.attempt} ${status ?? whyOf(record)}`;
}

const isRepeat = ({ suppressed }: Routed) => suppressed.some(({ reason }) => reason === 'duplicate');

/** Returns the router's result for an event, and whether it recognised a repeat. */
export function verdictOn({ event }: Told, { routed }: Happened) {
  const records = routed.filter((record) => record.event === event.guid);
  const first = records.filter((record) => !isRepeat(record));
  const made = first.flatMap(({ deliveries }) =>
    deliveries.map(({ subscription }) => `${subscription} ${messageGuidOf(event.guid, subscription)}`),
  );
  const suppressed = first.flatMap((record) =>
    record.suppressed.map(({ account, subscription = account, reason }) => `${subscription} ${reason}`),
  );
  return { hasReached: made.length > 0, lines: [...made, ...suppressed], isRepeated: records.some(isRepeat) };
}
