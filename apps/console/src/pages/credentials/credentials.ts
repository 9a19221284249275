import type { components, paths } from '../../api/client-api.d.ts';

/** The public part of the credentials for a host. */
export type Credentials = components['schemas']['Credentials'];
/** Credentials to store for a host. */
export type GivenCredentials = paths['/v1/credentials/{host}']['put']['requestBody']['content']['application/json'];

export const KINDS = ['headers', 'basic', 'oauth2', 'certificate'] as const;
export type CredentialsKind = (typeof KINDS)[number];

export const KIND_NAMES: Readonly<Record<CredentialsKind, string>> = {
  headers: 'headers',
  basic: 'Basic',
  oauth2: 'OAuth2',
  certificate: 'certificate',
};

export const kindsOf = (credentials: Credentials): readonly CredentialsKind[] =>
  KINDS.filter((kind) => credentials[kind] !== null);

/** Such as `used by 3 subscriptions`. */
export function callsOf({ subscriptions }: Credentials): string {
  if (subscriptions === 0) return 'not used by any subscription';
  return `used by ${subscriptions.toLocaleString()} subscription${subscriptions === 1 ? '' : 's'}`;
}

const DAY_MS = 86_400_000;
/** The platform gets a notice this many days before the end. */
const SOON_DAYS = 30;

/** How long a certificate is still valid, in words; marked once it has to be replaced. */
export function certificateEnd(leftMs: number): { isMarked: boolean; words: string; more: string } {
  if (leftMs <= 0) return { isMarked: true, words: `Expired ${inDays(-leftMs)} ago`, more: ': receivers refuse it' };
  const isMarked = leftMs < SOON_DAYS * DAY_MS;
  return { isMarked, words: `Expires in ${inDays(leftMs)}`, more: isMarked ? ': replace it before then' : '' };
}

function inDays(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (days === 0) return 'less than a day';
  return days === 1 ? '1 day' : `${days.toLocaleString()} days`;
}

/** The host that was typed, or that of a URL, with its port unless that is 443. Any other text stays as it is. */
export function hostOf(typed: string): string {
  const text = typed.trim();
  const url = text.includes('://') ? text : `https://${text}`;
  return URL.canParse(url) ? new URL(url).host : text;
}
