import { parseDurationMs } from '@waybell/runtime/duration';
import { readFeatures, readGuid, readInterface } from '../../accounts.ts';
import { Refusal } from '../../refusal.ts';
import { readClientName, readScopes } from '../../tokens.ts';
import { invalidBody, isObject, notAnObject, pointTo, unknownMembers } from '../http/body.ts';

/** The body of a request to make an account. As the others, throws a Problem (422) that names everything wrong with it. */
export function readNewAccount(body: unknown) {
  return readMembers(body, {
    interface: text(readInterface),
    guid: optional(text(readGuid)),
    features: optional(texts(readFeatures)),
  });
}

/** The body of a request to switch features. */
export function readAccountChange(body: unknown) {
  const features = optional(texts(readFeatures));
  const change = readMembers(body, { add_features: features, remove_features: features });
  return { addFeatures: change.add_features, removeFeatures: change.remove_features };
}

/** The body of a request to make a token. */
export function readNewToken(body: unknown) {
  const token = readMembers(body, {
    client_id: optional(text(readClientName)),
    scopes: optional(texts(readScopes)),
    expires_in: optional(text(readDuration)),
  });
  return { clientId: token.client_id, scopes: token.scopes, expiresInMs: token.expires_in };
}

/** Reads a member, undefined where it is not there. Throws Refusal where it breaks a rule. */
type Reader<T> = (value: unknown) => T;

function readMembers<R extends Record<string, Reader<unknown>>>(body: unknown, readers: R) {
  if (!isObject(body)) throw invalidBody([notAnObject]);
  const faults = unknownMembers(body, Object.keys(readers));
  const entries = Object.entries(readers).map(([name, read]) => {
    try {
      return [name, read(body[name])];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      faults.push({ pointer: pointTo(name), detail: error.message });
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw invalidBody(faults);
  // Without faults, every reader has returned its member.
  return Object.fromEntries(entries) as { [Name in keyof R]: ReturnType<R[Name]> };
}

function text<T>(read: (text: string) => T): Reader<T> {
  return (value) => {
    if (value === undefined) throw new Refusal('is required');
    if (typeof value !== 'string') throw new Refusal('must be a string');
    return read(value);
  };
}

function texts<T>(read: (texts: string[]) => T): Reader<T> {
  return (value) => {
    const isTexts = Array.isArray(value) && value.every((each): each is string => typeof each === 'string');
    if (!isTexts) throw new Refusal('must be an array of strings');
    return read(value);
  };
}

function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value) => (value === undefined ? undefined : read(value));
}

function readDuration(duration: string): number {
  try {
    return parseDurationMs(duration);
  } catch (error) {
    throw new Refusal(error instanceof Error ? error.message : 'is not a duration');
  }
}
