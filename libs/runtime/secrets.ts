import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Unavailable } from './unavailable.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_OPENED = 50_000;

/** An encrypted secret: `sealed` is nonce, tag and ciphertext; `keyId` names its key. */
export type Sealed = { sealed: Buffer; keyId: string };

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
  open(secret: Sealed, boundTo: string): string;
};

/**
 * Reads `<id>:<32 bytes in base64>[,…]`; the first key encrypts. Throws, naming the entry, on anything else. `boundTo` (the row's
 * guid) is authenticated too, so that a ciphertext copied to another row cannot be decrypted there. Remembers decrypted secrets
 * in this process only, by key, row and ciphertext.
 */
export function readKeyRing(setting: string): KeyRing {
  const keys = new Map(setting.split(',').map(readKey));
  const [newest] = keys;
  if (newest === undefined) throw new Error('no key given');
  const [newestId, newestKey] = newest;
  const opened = new LRUCache<string, string>({ max: MAX_OPENED });
  const [, ...olderIds] = keys.keys();
  return {
    keyIds: [newestId, ...olderIds],
    seal(secret, boundTo) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newestKey, nonce).setAAD(Buffer.from(boundTo));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]), keyId: newestId };
    },
    open({ sealed, keyId }, boundTo) {
      const key = keys.get(keyId);
      if (key === undefined) throw new KeyMissing(keyId);
      const which = `${keyId} ${boundTo} ${sealed.toString('latin1')}`;
      const known = opened.get(which);
      if (known !== undefined) return known;
      const secret = decrypt(sealed, key, boundTo);
      opened.set(which, secret);
      return secret;
    },
  };
}

function decrypt(sealed: Buffer, key: Buffer, boundTo: string): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
  const secret = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8');
  return secret + decipher.final('utf8');
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
