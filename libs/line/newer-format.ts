import { reject, type Rejection } from './messages.ts';

/**
 * Rejection reason of a message from a later version that this one cannot read: an operator sends it again once that version
 * runs.
 */
export const NEWER_FORMAT = 'newer_format';

/** `what`: describes the message, such as `a delivery of format 2`. */
export function rejectNewer(what: string): Rejection {
  return reject(NEWER_FORMAT, `${what}, which only a later version reads: send it again once that version runs`);
}

/** Returns the format number of a note if it is greater than `known`; undefined otherwise. */
export function laterVersionOf(note: string | undefined, known: number): number | undefined {
  const [, version] = /^([1-9]\d{0,3}) /.exec(note ?? '') ?? [];
  return Number(version ?? 0) > known ? Number(version) : undefined;
}
