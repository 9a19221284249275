import { randomBytes } from 'node:crypto';
import { readConfig } from '@waybell/subscription-api/config';
import { sourceNetworks } from '@waybell/subscription-api/rest/documents/source-networks';
import { sourceNetworksMarkdown } from '@waybell/subscription-api/rest/documents/source-networks-page';

/** Networks that are not set by default, and documented nowhere. */
const NEEDED = {
  DATABASE_URL: 'postgres://postgres/waybell',
  REDIS_URL: 'redis://redis',
  SECRET_KEYS: `docs:${randomBytes(32).toString('base64')}`,
};

/** docs/firewalls.md: the properties of callbacks, with default settings. */
export function firewallsPage(): string {
  return sourceNetworksMarkdown(sourceNetworks(readConfig(NEEDED).callbackTerms, ['shipper', 'carrier']));
}
