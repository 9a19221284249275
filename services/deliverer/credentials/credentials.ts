import type { LRUCache } from 'lru-cache';
import {
  readCredentials,
  type ClientCredentials,
  type ReceiverCredentials,
} from '@waybell/notifications/receiver-credentials';
import type { Clock } from '@waybell/runtime/clock';
import { forgettingCache } from '@waybell/runtime/forgetting-cache';
import type { KeyRing, Sealed } from '@waybell/runtime/secrets';
import type { ClientCertificate } from '../request/connection.ts';

/** Credentials of a client's callbacks at a host. The same object for the same guid, while it is remembered. */
export type Credentials = {
  /** Another with each change of them. */
  guid: string;
  /** Headers of each request, those of Basic included. */
  headers: Readonly<Record<string, string>>;
  /** Values that no record may show: these headers, and the parts they are made of. */
  secrets: readonly string[];
  /** Present if a request needs an access token. */
  oauth2?: ClientCredentials;
  /** Present if connections authenticate by a certificate. */
  certificate?: ClientCertificate;
};

/** Credentials with a certificate take about 10 KB, with the longest headers three times as much. */
const OPENED_CHARACTERS = 32 * 2 ** 20;
const UNUSED_MS = 600_000;

/** Credentials that this process has opened, until they are not used for ten minutes. */
export class OpenedCredentials {
  readonly #keyRing: Pick<KeyRing, 'openAfresh'>;
  readonly #opened: LRUCache<string, Credentials>;

  constructor(keyRing: Pick<KeyRing, 'openAfresh'>, clock?: Pick<Clock, 'now' | 'after'>) {
    this.#keyRing = keyRing;
    this.#opened = forgettingCache({ max: OPENED_CHARACTERS, unusedMs: UNUSED_MS, ...(clock && { clock }) });
  }

  /** Returns the opened credentials of the guid, if they are remembered. */
  get(guid: string): Credentials | undefined {
    return this.#opened.get(guid);
  }

  /** Opens credentials. Throws as the key ring does. */
  open(guid: string, sealed: Sealed<string>): Credentials {
    const written = this.#keyRing.openAfresh(sealed, guid);
    const credentials = prepared(guid, readCredentials(written));
    this.#opened.set(guid, credentials, { size: written.length });
    return credentials;
  }
}

function prepared(guid: string, { headers = {}, basic, oauth2, certificate }: ReceiverCredentials): Credentials {
  const sent = { ...headers };
  if (basic !== undefined) {
    const pair = Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
    sent['Authorization'] = `Basic ${pair}`;
  }
  const secrets = Object.values(sent).flatMap(secretsOfHeader);
  // Not sent to the receiver, which may be its own authorization server.
  if (oauth2 !== undefined) secrets.push(oauth2.clientSecret);
  return {
    guid,
    headers: sent,
    secrets,
    ...(oauth2 && { oauth2 }),
    ...(certificate && { certificate: { guid, ...certificate } }),
  };
}

/** A shorter part is rather a word than a secret. */
const LEAST_PART = 8;
/** Each is looked for in each answer. */
const MOST_PARTS = 5;

/**
 * The value, and what receivers show of it by itself: of `Basic …` the pair, without its padding, and the password in it, of `Bearer …` and
 * the like what follows, and each value of a cookie.
 */
function secretsOfHeader(value: string): string[] {
  const pair = /^basic +(\S+)/i.exec(value)?.[1];
  if (pair !== undefined) return [value, pair.replaceAll('=', ''), passwordIn(pair)];
  const words = value.split(/[\s,;"]+/).map((word) => (/=[^=]/.test(word) ? word.slice(word.indexOf('=') + 1) : word));
  const parts = words.map((word) => word.replace(/={1,2}$/, '')).filter((part) => part.length >= LEAST_PART);
  return [value, ...parts.slice(0, MOST_PARTS)];
}

function passwordIn(pair: string): string {
  const written = Buffer.from(pair, 'base64').toString();
  return written.slice(written.indexOf(':') + 1);
}
