import { createHmac } from 'node:crypto';

/**
 * Derives a user's password, on servers of the local stack and of tests, from the administrator's: so it need not be stored, and
 * no other password can be derived from it.
 */
export function passwordOf(user: string, administratorPassword: string): string {
  return createHmac('sha256', administratorPassword).update(user).digest('base64url');
}

/** Returns such a server's address for that user, from its administrator's. */
export function asUser(user: string, administratorUrl: string): string {
  const address = new URL(administratorUrl);
  address.password = passwordOf(user, decodeURIComponent(address.password));
  address.username = user;
  return address.href;
}
