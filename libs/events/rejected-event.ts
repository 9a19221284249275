import { decodeBody } from './decode-body.ts';
import { isGuid } from './guid.ts';
import type { EventMessage } from './read-event.ts';
import { keysIn, type Key } from './keys.ts';

/** What is put on record of an event that was rejected: enough to find it again by what it was about. */
export type RejectedEvent = {
  kind: 'rejected';
  event: string;
  interface: 'shipper' | 'carrier';
  action: string;
  at: number;
  /** What its text names. */
  keys: Key[];
  receivers: string[];
  reason: string;
  detail: string;
};

const KEY = /^(shipper|carrier)\.([a-z0-9_.]{1,100})$/;
const MOST_RECEIVERS = 8;

/** Reads what it can of an event that breaks the contract; undefined where its guid or its interface cannot be told. */
export function recordRejectedEvent({ maxBytes }: { maxBytes: number }, now: () => number) {
  return (message: EventMessage, { reason, detail }: { reason: string; detail: string }): RejectedEvent | undefined => {
    const [, interfaceName, action = ''] = KEY.exec(message.routingKey ?? '') ?? [];
    const decoded = decodeBody(message, maxBytes);
    const text = decoded.kind === 'bytes' ? decoded.bytes.toString() : '';
    const members = membersOf(text);
    const event = [members['guid'], members['id'], message.messageId].find(isGuid)?.toLowerCase();
    if (event === undefined || (interfaceName !== 'shipper' && interfaceName !== 'carrier')) return undefined;
    const receivers = receiversIn(members);
    const keys = keysIn(text, new Set([event, ...receivers]));
    return {
      kind: 'rejected',
      event,
      interface: interfaceName,
      action,
      at: now(),
      keys,
      receivers,
      reason,
      detail,
    };
  };
}

function membersOf(text: string): Record<string, unknown> {
  try {
    return asMembers(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Of the envelope, in either of its forms. */
function receiversIn(members: Record<string, unknown>): string[] {
  const parties = asMembers(members['parties'] ?? asMembers(members['data'])['parties']);
  const guids = Object.values(parties)
    .filter(isGuid)
    .map((guid) => guid.toLowerCase());
  return [...new Set(guids)].slice(0, MOST_RECEIVERS);
}

function asMembers(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
