import { counted } from '../amounts.ts';

/** The credentials for a host as the API answers them: no secret. A kind that they do not have is null. */
export type CredentialsAnswer = {
  host: string;
  headers: string[] | null;
  basic: { username: string } | null;
  oauth2: {
    token_url: string;
    client_id: string;
    scope?: string;
    audience?: string;
    secret_in: string;
  } | null;
  certificate: { subject: string; issuer: string; not_before: string; not_after: string; fingerprint: string } | null;
  changed_at: string;
  subscriptions: number;
};

/** On one line: the host, what callbacks authenticate with there, and how many subscriptions call it. */
export function describeCredentials(credentials: CredentialsAnswer, nowMs: number): string {
  const { host, headers, basic, oauth2, certificate, subscriptions } = credentials;
  const kinds = [
    ...(headers?.length ? [`headers ${headers.join(', ')}`] : []),
    ...(basic === null ? [] : [`basic ${basic.username}`]),
    ...(oauth2 === null ? [] : [`oauth2 ${oauth2.client_id}`]),
    ...(certificate === null ? [] : [`certificate ${endOf(certificate.not_after, nowMs)}`]),
  ];
  return [host, ...kinds, counted(subscriptions, 'subscription')].join('  ');
}

/** The same with all that is known, on a line each. */
export function describeInFull(credentials: CredentialsAnswer, nowMs: number): string[] {
  const { headers, basic, oauth2, certificate, subscriptions } = credentials;
  return [
    ...(headers?.length ? [`headers: ${headers.join(', ')}`] : []),
    ...(basic === null ? [] : [`basic: ${basic.username}`]),
    ...(oauth2 === null ? [] : [`oauth2: ${describeOAuth2(oauth2)}`]),
    ...(certificate === null ? [] : [`certificate: ${describeCertificate(certificate, nowMs)}`]),
    `changed: ${credentials.changed_at}`,
    `called by: ${counted(subscriptions, 'subscription')}`,
  ];
}

type Kind<Name extends 'oauth2' | 'certificate'> = NonNullable<CredentialsAnswer[Name]>;

function describeOAuth2({ token_url: url, client_id: id, scope, audience, secret_in: place }: Kind<'oauth2'>): string {
  const asked = [...(scope ? [`scope ${scope}`] : []), ...(audience ? [`audience ${audience}`] : [])];
  return [url, `client ${id}`, ...asked, `secret in the ${place}`].join('  ');
}

function describeCertificate(certificate: Kind<'certificate'>, nowMs: number): string {
  const { subject, issuer, not_before: from, not_after: to, fingerprint } = certificate;
  return [subject, `issued by ${issuer}`, `valid from ${from} to ${to}`, endOf(to, nowMs), fingerprint].join('  ');
}

const DAY_MS = 86_400_000;

function endOf(notAfter: string, nowMs: number): string {
  const leftMs = Date.parse(notAfter) - nowMs;
  if (leftMs <= 0) return 'over';
  return leftMs < DAY_MS ? 'ends within a day' : `ends in ${counted(Math.floor(leftMs / DAY_MS), 'day')}`;
}
