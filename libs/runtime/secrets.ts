import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A secret at rest: `sealed` is nonce, tag and ciphertext; `keyId` names the key that opens it. */
export type Sealed = { sealed: Buffer; keyId: string };

/** Encrypts with the newest key and decrypts with whichever key the secret names (AES-256-GCM). */
export type KeyRing = {
  seal(secret: string, boundTo: string): Sealed;
  has(keyId: string): boolean;
  /** Throws when the key is not in the ring, or when the secret was made for something else. */
  open(secret: Sealed, boundTo: string): string;
};

/**
 * Reads `<id>:<32 bytes in base64>[,…]`; the first key encrypts. Throws, naming the entry, on anything else.
 * `boundTo` (the row's guid) is authenticated too, so that a ciphertext copied to another row does not open there.
 */
export function readKeyRing(setting: string): KeyRing {
  const keys = new Map(setting.split(',').map(readKey));
  const [newest] = keys;
  if (newest === undefined) throw new Error('no key given');
  const [newestId, newestKey] = newest;
  return {
    has: (keyId) => keys.has(keyId),
    seal(secret, boundTo) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newestKey, nonce).setAAD(Buffer.from(boundTo));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]), keyId: newestId };
    },
    open({ sealed, keyId }, boundTo) {
      const key = keys.get(keyId);
      if (key === undefined) throw new Error(`SECRET_KEYS has no key "${keyId}"`);
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString();
    },
  };
}

function readKey(entry: string): [string, Buffer] {
  const [, id, encoded] = /^\s*([\w.-]+):([A-Za-z0-9+/_-]+={0,2})\s*$/.exec(entry) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64');
  if (id === undefined || key.length !== 32) {
    throw new Error(`a key of SECRET_KEYS is not <id>:<32 bytes in base64>${id === undefined ? '' : `: "${id}"`}`);
  }
  return [id, key];
}
