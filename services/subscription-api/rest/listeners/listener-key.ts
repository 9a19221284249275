import type { KeyRing } from '@waybell/runtime/secrets';

/** The content of a sealed key: only opening it counts. */
const WHAT = 'listener';

/** A key that only this installation can make: the deliverer has it from the callback URL. */
export function makeKey(keyRing: KeyRing, listener: string): string {
  const { sealed, keyId } = keyRing.seal(WHAT, listener);
  return `${keyId}.${sealed.toString('base64url')}`;
}

/** Known without a look at Postgres, which strangers could cause. */
export function isKeyOf(keyRing: KeyRing, listener: string, key: string): boolean {
  const at = key.lastIndexOf('.');
  const keyId = key.slice(0, at);
  if (!keyRing.keyIds.includes(keyId)) return false;
  try {
    return keyRing.open({ sealed: Buffer.from(key.slice(at + 1), 'base64url'), keyId }, listener) === WHAT;
  } catch {
    return false;
  }
}
