import { LRUCache } from 'lru-cache';
import type { KeyRing, Sealed } from '@waybell/runtime/secrets';
import {
  readCredentials,
  type ClientCredentials,
  type ReceiverCredentials,
} from '@waybell/notifications/receiver-credentials';
import type { ClientCertificate } from '../request/client-certificate.ts';

/** What callbacks of a client authenticate with at a host. The same object for the same guid, while it is remembered. */
export type Credentials = {
  /** Another with each change of them. */
  guid: string;
  /** Headers of each request, those of Basic included. */
  headers: Readonly<Record<string, string>>;
  /** What no record may show: values of these headers, and what they are made of. */
  secrets: readonly string[];
  /** Present if a request needs an access token. */
  oauth2?: ClientCredentials;
  /** Present if connections authenticate by a certificate. */
  certificate?: ClientCertificate;
};

/** Those with a certificate take about 10 KB, with the longest headers three times as much. */
const OPENED_CHARACTERS = 32 * 2 ** 20;

/** Credentials that this process has opened. */
export class OpenedCredentials {
  readonly #keyRing: Pick<KeyRing, 'openAfresh'>;
  readonly #opened = new LRUCache<string, Credentials>({ maxSize: OPENED_CHARACTERS });

  constructor(keyRing: Pick<KeyRing, 'openAfresh'>) {
    this.#keyRing = keyRing;
  }

  /** Returns what was opened under the guid, if it is remembered. */
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

/** A header's value, and what receivers take it apart into: what follows its scheme, and the password of Basic. */
function secretsOf(value: string): string[] {
  const [scheme = '', ...rest] = value.split(' ');
  const credential = rest.join(' ').trim();
  if (scheme.toLowerCase() !== 'basic') return [value, credential];
  const pair = Buffer.from(credential, 'base64').toString();
  // Some write base64 without the padding.
  return [value, credential.replaceAll('=', ''), pair.slice(pair.indexOf(':') + 1)];
}

function prepared(guid: string, { headers = {}, basic, oauth2, certificate }: ReceiverCredentials): Credentials {
  const sent = { ...headers };
  if (basic !== undefined) {
    const pair = Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
    sent['authorization'] = `Basic ${pair}`;
  }
  const secrets = Object.values(sent).flatMap(secretsOf);
  return {
    guid,
    headers: sent,
    secrets,
    ...(oauth2 && { oauth2 }),
    ...(certificate && { certificate: { guid, ...certificate } }),
  };
}
