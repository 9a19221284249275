import type { ParkedEndpoint, ParkedInAll } from '@waybell/subscription-api/parked-endpoints';
import { accountCalled, type NameOf } from '../account-called.ts';
import { counted, sizeOf } from '../amounts.ts';

/** An endpoint and what waits for it, as a line for a terminal. */
export function describeEndpoint(endpoint: ParkedEndpoint, nameOf: NameOf): string {
  const { account, url, subscriptions, isHung, isOwned } = endpoint;
  return [
    accountCalled(account, nameOf),
    url,
    partsOf(endpoint).join(', '),
    isHung ? 'hung' : 'full',
    isOwned ? 'a deliverer takes care of it' : 'no deliverer takes care of it',
    `${subscriptions.length === 1 ? 'subscription' : 'subscriptions'} ${subscriptions.join(', ')}`,
  ].join('  ');
}

/** All of it, as one line. */
export function describeInAll({ endpoints, ...amount }: ParkedInAll): string {
  return partsOf(amount).toSpliced(2, 0, counted(endpoints, 'endpoint')).join(', ');
}

type Amount = Pick<ParkedInAll, 'deliveries' | 'bytes' | 'oldestAt'>;

function partsOf({ deliveries, bytes, oldestAt }: Amount): string[] {
  const oldest = oldestAt === undefined ? [] : [`oldest since ${new Date(oldestAt).toISOString()}`];
  return [counted(deliveries, 'delivery', 'deliveries'), sizeOf(bytes), ...oldest];
}
