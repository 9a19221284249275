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

/** The host of what was typed, with its port where that is not the usual one: of a URL too. What is neither stays as it is. */
export function hostOf(typed: string): string {
  const text = typed.trim();
  const url = text.includes('://') ? text : `https://${text}`;
  return URL.canParse(url) ? new URL(url).host : text;
}
