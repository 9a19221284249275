import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import { forgettingCache } from './forgetting-cache.ts';
import { Unavailable } from './unavailable.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A token for each of 100,000 subscriptions, and the signing secrets of as many clients: about 400 bytes each. */
const MAX_OPENED = 200_000;
const UNUSED_MS = 600_000;

/** A decrypted secret, and what it was decrypted from. */
type Opened = { secret: string; sealed: string; key: Buffer };

/** An encrypted secret: `sealed` is nonce, tag and ciphertext, or their base64; `keyId` names its key. */
export type Sealed<S = Buffer> = { sealed: S; keyId: string };

/** The ring lacks the key of a secret, and gets it only by a restart. */
export class KeyMissing extends Unavailable {
  readonly keyId: string;

  constructor(keyId: string) {
    super(keyOf(keyId), waitForRestart);
    this.name = 'KeyMissing';
    this.keyId = keyId;
  }
}

/** Names a key for the operator who has to provide it. */
export const keyOf = (keyId: string): string => `key "${keyId}" of SECRET_KEYS`;

/** Encrypts with the newest key and decrypts with the key that the secret names (AES-256-GCM). */
export type KeyRing = {
  /** The ids of all keys, the newest first, which encrypts. */
  keyIds: readonly [newest: string, ...older: string[]];
  seal(secret: string, boundTo: string): Sealed;
  /**
   * Decrypts a secret. Throws KeyMissing if the ring lacks the key: a matter for the operator, not for the secret's owner. Throws
   * another error if the secret was made for something else, or with another key of that id.
   */
  open(secret: Sealed<Buffer | string>, boundTo: string): string;
  /** Like `open`, but remembers nothing: for large secrets, or ones that are opened once. */
  openAfresh(secret: Sealed<Buffer | string>, boundTo: string): string;
};

/**
 * Reads `<id>:<32 bytes in base64>[,…]`; the first key encrypts. Throws, naming the entry, on anything else. `boundTo` (the row's
 * guid) is authenticated too, so that a ciphertext copied to another row cannot be decrypted there. Remembers a decrypted secret
 * for each row, in this process only, until it is not used for ten minutes or the row has another key or ciphertext.
 */
export function readKeyRing(setting: string, clock?: Pick<Clock, 'now' | 'after'>): KeyRing {
  const keys = new Map(setting.split(',').map(readKey));
  const [newest] = keys;
  if (newest === undefined) throw new Error('no key given');
  const [newestId, newestKey] = newest;
  const opened = forgettingCache<Opened>({ max: MAX_OPENED, unusedMs: UNUSED_MS, ...(clock && { clock }) });
  const [, ...olderIds] = keys.keys();
  const keyNamed = (keyId: string): Buffer => {
    const key = keys.get(keyId);
    if (key === undefined) throw new KeyMissing(keyId);
    return key;
  };
  return {
    keyIds: [newestId, ...olderIds],
    seal(secret, boundTo) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newestKey, nonce).setAAD(Buffer.from(boundTo));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]), keyId: newestId };
    },
    open({ sealed, keyId }, boundTo) {
      const key = keyNamed(keyId);
      const known = opened.get(boundTo);
      // A buffer would keep all of Postgres' answer that it is a part of.
      const text = typeof sealed === 'string' ? sealed : sealed.toString('base64');
      if (known?.key === key && known.sealed === text) return known.secret;
      const secret = decrypt(sealed, key, boundTo);
      opened.set(boundTo, { secret, sealed: text, key });
      return secret;
    },
    openAfresh: ({ sealed, keyId }, boundTo) => decrypt(sealed, keyNamed(keyId), boundTo),
  };
}

function decrypt(sealed: Buffer | string, key: Buffer, boundTo: string): string {
  const bytes = typeof sealed === 'string' ? Buffer.from(sealed, 'base64') : sealed;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
  // Not as text by the decipher, which makes a decoder for that.
  const secret = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  decipher.final();
  return secret.toString();
}

function readKey(entry: string): [string, Buffer] {
  const [, id, encoded] = /^\s*([\w.-]+):([A-Za-z0-9+/_-]+={0,2})\s*$/.exec(entry) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64');
  if (id === undefined || key.length !== 32) {
    throw new Error(`a key of SECRET_KEYS is not <id>:<32 bytes in base64>${id === undefined ? '' : `: "${id}"`}`);
  }
  return [id, key];
}

async function waitForRestart(): Promise<never> {
  throw new Error('the key comes with a restart');
}
