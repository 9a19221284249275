import { isGuid } from '@waybell/events/guid';
import { LONGEST_KEY, normalizedKey } from '@waybell/events/keys';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import type { Request } from 'express';
import { Refusal } from '../../refusal.ts';
import { Problem, type ParameterFault } from './problem.ts';

/** Reads a parameter. Throws Refusal where it breaks a rule. */
export type ReadParameter<T> = (text: string) => T;

type Read<R> = { [Name in keyof R]: R[Name] extends ReadParameter<infer T> ? T | undefined : never };

/** The query of a request; undefined for what is not there. Throws a Problem (422) that names everything wrong with it. */
export function readQuery<R extends Record<string, ReadParameter<unknown>>>({ url }: Request, readers: R): Read<R> {
  const query = new URLSearchParams(url.split('?').slice(1).join('?'));
  const names = Object.keys(readers);
  const faults: ParameterFault[] = [...new Set(query.keys())]
    .filter((name) => !names.includes(name))
    .map((parameter) => ({ parameter, detail: `is not known here; known are: ${names.join(', ') || 'none'}` }));
  const entries = names.map((name) => {
    try {
      const [text, ...more] = query.getAll(name);
      if (more.length > 0) throw new Refusal('is there twice');
      return [name, text === undefined ? undefined : readers[name]?.(text)];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      faults.push({ parameter: name, detail: error.message });
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw invalidParameters(faults);
  // Without faults, every reader has returned its value.
  return Object.fromEntries(entries) as Read<R>;
}

/** The guid in a parameter of the path, in lower case. Throws a Problem (422) where it is none. */
export function requirePathGuid(parameter: string, text: string): string {
  if (!isGuid(text)) throw invalidParameters([{ parameter, detail: 'must be a guid' }]);
  return text.toLowerCase();
}

/** What an event is about, as people name it, in a parameter of the path. Throws a Problem (422) where it can be none. */
export function requirePathKey(text: string): string {
  try {
    return aboutKey(text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw invalidParameters([{ parameter: 'key', detail: error.message }]);
  }
}

/** A guid, a number, a VIN …, however it is spelled. */
export function aboutKey(text: string): string {
  const key = normalizedKey(text);
  if (key === '' || key.length > LONGEST_KEY || /\p{Cc}/u.test(key)) {
    throw new Refusal(`must be a guid, a number, a VIN or a subject of an event, at most ${LONGEST_KEY} characters`);
  }
  return key;
}

/** Of which kind a key is, such as `order_id`. */
export function keyKind(text: string): string {
  if (!/^[a-z_]{1,100}$/.test(text)) throw new Refusal('must be the kind of a key, such as order_id');
  return text;
}

export function oneOf<T extends string>(allowed: readonly T[]): ReadParameter<T> {
  return (text) => {
    const found = allowed.find((each) => each === text);
    if (found === undefined) throw new Refusal(`must be one of: ${allowed.join(', ')}`);
    return found;
  };
}

/** A time as RFC 3339 has it, in milliseconds since the epoch. */
export function moment(text: string): number {
  if (readTimestamp(text) === null) {
    throw new Refusal('must be a time such as 2026-11-20T09:30:00Z; the + of an offset is written %2B');
  }
  return momentOf(text);
}

export function wholeNumber({ most }: { most: number }): ReadParameter<number> {
  return (text) => {
    const value = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= most)) throw new Refusal(`must be a whole number from 1 to ${most}`);
    return value;
  };
}

const MOST_FAULTS = 20;

function invalidParameters(faults: ParameterFault[]): Problem {
  const named = faults.slice(0, MOST_FAULTS);
  const details = named.map(({ parameter, detail }) => `${parameter} ${detail}`);
  return new Problem('invalid-parameter', details.join('; '), { faults: named });
}
