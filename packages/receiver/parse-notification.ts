import { readExact, writeExact, type ExactObject, type ExactValue } from '@waybell/events/exact-json';
import { actionNames } from './action-names.ts';
import type { CarrierNotification, ShipperNotification } from './notifications.ts';
import { refuse, type Refusal } from './refusal.ts';

export type Interface = 'shipper' | 'carrier';

/** Any notification of an interface; `switch` over its `action` narrows it. */
export type NotificationOf<I extends Interface> = I extends 'shipper' ? ShipperNotification : CarrierNotification;

/** `unknown_action`: newer than this version of the package, which does not know its members. */
export type Parsed<I extends Interface> =
  | { kind: 'notification'; action: NotificationOf<I>['action']; notification: NotificationOf<I> }
  | { kind: 'unknown_action'; action: string; content: ExactObject };

// Events nest 32 levels at most; a notification adds a few.
const MAX_READ_DEPTH = 64;

/**
 * Reads the body of a notification that was verified before: one that comes from a queue of your own. Numbers are kept exact.
 * Checks only the members that identify the interface: a signed body has the members of its type.
 */
export function parseNotification<I extends Interface>(
  interfaceName: I,
  body: string | Uint8Array,
): Parsed<I> | Refusal {
  requireInterface(interfaceName);
  const reading = readExact(bytesOf(body), MAX_READ_DEPTH);
  if (reading.kind === 'invalid') return refuse('not_json', reading.detail);
  const { value } = reading;
  if (!isRecord(value) || typeof value['action'] !== 'string')
    return refuse('not_a_notification', 'the body is not an object with an "action"');
  const { action } = value;
  const mark = MARKS[interfaceName];
  if (!Object.hasOwn(value, mark))
    return refuse('not_a_notification', `the body has no "${mark}": is it of the ${OTHER[interfaceName]} interface?`);
  const names: readonly string[] = actionNames[interfaceName];
  if (!names.includes(action)) return { kind: 'unknown_action', action, content: value };
  // The types are made from the same catalog as what Waybell sends.
  const notification = value as unknown as NotificationOf<I>;
  return { kind: 'notification', action: notification.action, notification };
}

/** A member that every notification of the interface has, and none of the other. */
const MARKS = { shipper: 'action_date', carrier: 'occurred_at' } as const;
const OTHER = { shipper: 'carrier', carrier: 'shipper' } as const;

/** The run-time check for code that is not compiled. */
export function requireInterface(name: string): void {
  if (!Object.hasOwn(MARKS, name)) throw new TypeError(`"interface" is "shipper" or "carrier", not ${name}`);
}

export function bytesOf(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function isRecord(value: ExactValue): value is ExactObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Deeper than anything but a circle. */
const MAX_WRITTEN_DEPTH = 1_000;

/**
 * Writes JSON with every digit as received, which `JSON.stringify` does not do in each runtime: it throws for a `bigint`. Throws
 * a `TypeError` for values that JSON does not have.
 */
export function stringify(value: unknown): string {
  const written = writeExact(value, MAX_WRITTEN_DEPTH);
  if (written.kind === 'invalid') throw new TypeError(written.detail);
  return written.text;
}
