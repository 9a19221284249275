import { createHmac } from 'node:crypto';

/**
 * On servers of the local stack and of tests, the password of a user, which follows from that of its administrator and leads to no other's: nobody has to
 * keep it.
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
