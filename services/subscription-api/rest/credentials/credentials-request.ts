import { credentialsRequest } from '@waybell/contracts/openapi/credentials-paths';
import type { ClientCredentials, ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import { shownUrl } from '@waybell/notifications/callback';
import { readCallbackUrl, type CallbackRules } from '../../callback-url.ts';
import type { NewCredentials, ShownCredentials } from '../../receiver-credentials.ts';
import { bodyFaults, invalidBody, isObject, pointTo } from '../http/body.ts';
import type { Fault } from '../http/problem.ts';
import { headerFaults } from './header-faults.ts';
import { readCertificate } from './read-certificate.ts';

/** The body fits the schema. */
type CredentialsBody = Omit<ReceiverCredentials, 'oauth2'> & { oauth2?: OAuth2Body };
type OAuth2Body = {
  token_url: string;
  client_id: string;
  client_secret: string;
  scope?: string;
  audience?: string;
  secret_in: 'header' | 'body';
};

type ReadRequest = Omit<NewCredentials, 'host'>;
/** A part of it; empty where it was left out. */
type Part = { faults: Fault[]; credentials?: ReceiverCredentials; shown?: ShownCredentials };

const faultsOfSchema = bodyFaults(credentialsRequest);
const OF_HEADERS = `${pointTo('headers')}/`;

/**
 * Reads a client's credentials for a host, and their public part. Throws a Problem (422) that names every fault, without anything
 * that may be secret.
 */
export async function readCredentialsRequest(
  body: unknown,
  { rules, nowMs }: { rules: CallbackRules; nowMs: number },
): Promise<ReadRequest> {
  const { headers: given } = isObject(body) ? body : {};
  const ofHeaders = isObject(given) ? headerFaults(given) : [];
  // A pointer to a header has its name, which may be a secret that is in the wrong place.
  const ofSchema = faultsOfSchema(body).filter(({ pointer }) => !pointer.startsWith(OF_HEADERS));
  if (ofSchema.length > 0) throw invalidBody([...ofSchema, ...ofHeaders, ...kindFaults(body)]);
  // The body fits the schema.
  const asked = body as CredentialsBody;
  const { headers, basic, oauth2, certificate } = asked;
  const parts: Part[] = [
    headers === undefined
      ? NONE
      : { faults: ofHeaders, credentials: { headers }, shown: { headers: Object.keys(headers) } },
    basic === undefined ? NONE : readBasic(basic),
    oauth2 === undefined ? NONE : await readOAuth2(oauth2, rules),
    certificate === undefined ? NONE : partOfCertificate(certificate, nowMs),
    { faults: kindFaults(body) },
  ];
  const faults = parts.flatMap((part) => part.faults);
  if (faults.length > 0) throw invalidBody(faults);
  return {
    credentials: Object.assign({}, ...parts.map((part) => part.credentials)),
    shown: Object.assign({}, ...parts.map((part) => part.shown)),
  };
}

const NONE: Part = { faults: [] };

/** A request has one Authorization. */
function kindFaults(body: unknown): Fault[] {
  if (!isObject(body)) return [];
  const { headers, basic, oauth2, certificate } = body;
  if ([headers, basic, oauth2, certificate].every((kind) => kind === undefined))
    return [{ pointer: '#', detail: 'must have at least one of: headers, basic, oauth2, certificate' }];
  const authorization = Object.keys(isObject(headers) ? headers : {}).find((name) => /^authorization$/i.test(name));
  const others = [...(basic === undefined ? [] : ['basic']), ...(oauth2 === undefined ? [] : ['oauth2'])];
  if (authorization !== undefined && others.length > 0) {
    const detail = `is what ${others.join(' and ')} would be sent as: give one of them`;
    return [{ pointer: pointTo('headers', authorization), detail }];
  }
  return others.length < 2 ? [] : [{ pointer: pointTo('oauth2'), detail: 'cannot be beside basic: give one of them' }];
}

function readBasic(basic: NonNullable<ReceiverCredentials['basic']>): Part {
  const { username, password } = basic;
  const isEmpty = username + password === '';
  const broken = (['username', 'password'] as const).filter((part) => !basic[part].isWellFormed());
  return {
    faults: [
      ...(isEmpty ? [{ pointer: pointTo('basic'), detail: 'has neither a username nor a password' }] : []),
      ...broken.map((part) => ({
        pointer: pointTo('basic', part),
        detail: 'holds half a character (a lone surrogate)',
      })),
    ],
    credentials: { basic },
    shown: { basic: { username } },
  };
}

async function readOAuth2(oauth2: OAuth2Body, rules: CallbackRules): Promise<Part> {
  const { token_url, client_id: clientId, client_secret: clientSecret, secret_in: secretIn, ...more } = oauth2;
  const read = await readCallbackUrl(token_url, rules);
  if ('fault' in read) return { faults: [{ pointer: pointTo('oauth2', 'token_url'), detail: read.fault }] };
  const sealed: ClientCredentials = { tokenUrl: read.url, clientId, clientSecret, secretIn, ...more };
  const url = shownUrl(new URL(read.url));
  return {
    faults: [],
    credentials: { oauth2: sealed },
    shown: { oauth2: { token_url: url, client_id: clientId, secret_in: secretIn, ...more } },
  };
}

function partOfCertificate(given: NonNullable<ReceiverCredentials['certificate']>, nowMs: number): Part {
  const read = readCertificate(given, nowMs);
  if ('faults' in read) return read;
  const { certificate, shown } = read;
  return { faults: [], credentials: { certificate }, shown: { certificate: shown } };
}
