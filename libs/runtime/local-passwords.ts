import { createHmac } from 'node:crypto';

/**
 * The password of a user, on servers of the local stack and of tests. It follows from the administrator's, so it need not be
 * kept, and no other password follows from it.
 */
export function passwordOf(user: string, administratorPassword: string): string {
  return createHmac('sha256', administratorPassword).update(user).digest('base64url');
}

/** The address of such a server for that user, from its administrator's. */
export function asUser(user: string, administratorUrl: string): string {
  const address = new URL(administratorUrl);
  address.password = passwordOf(user, decodeURIComponent(address.password));
  address.username = user;
  return address.href;
}
