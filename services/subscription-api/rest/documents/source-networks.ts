import type { Interface } from '@waybell/catalog/action';
import { callbackHeaders } from '@waybell/notifications/callback';
import { largestNotification } from '@waybell/notifications/notification';
import type { ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import { LEAST_TLS, USER_AGENT } from '@waybell/runtime/callback-terms';
import type { CallbackTerms } from '../../source-network-settings.ts';

/** Source and properties of callbacks, in the form of `GET /v1/source-networks`. */
export type SourceNetworks = {
  /** In CIDR form; null if the operator has not set any. */
  networks: readonly string[] | null;
  user_agent: string;
  method: 'POST';
  schemes: string[];
  /** Ports and ranges of ports that callbacks never go to. */
  denied_ports: readonly string[];
  least_tls: string;
  largest_body_bytes: number;
  follows_redirects: false;
  /** In lower case. */
  headers: string[];
  signature: { standard: string; version: string; algorithm: string };
  /** Kinds of what clients may put in for a host. */
  authentication: string[];
  limits: Partial<Record<Interface, { handover_ms: number | null; response_ms: number }>>;
};

/** Names of the kinds of credentials, for the administrator of a gateway. */
export const AUTHENTICATION = {
  headers: 'headers such as an API key',
  basic: 'HTTP Basic',
  oauth2: 'an OAuth2 access token (client credentials)',
  certificate: 'a TLS client certificate',
} satisfies Record<keyof ReceiverCredentials, string>;

/** `interfaces`: those that are served. */
export function sourceNetworks(terms: CallbackTerms, interfaces: readonly Interface[]): SourceNetworks {
  const sent = callbackHeaders(EXAMPLE);
  return {
    networks: terms.networks.length === 0 ? null : terms.networks,
    user_agent: USER_AGENT,
    method: 'POST',
    schemes: terms.isHttpAllowed ? ['https', 'http'] : ['https'],
    denied_ports: terms.deniedPorts,
    least_tls: LEAST_TLS.replace('TLSv', ''),
    largest_body_bytes: largestNotification(terms.eventBytes),
    follows_redirects: false,
    headers: [...Object.keys(sent), 'User-Agent'].toSorted(),
    signature: {
      standard: 'https://www.standardwebhooks.com',
      version: sent['webhook-signature']?.split(',')[0] ?? '',
      algorithm: 'HMAC-SHA256',
    },
    authentication: Object.keys(AUTHENTICATION),
    limits: Object.fromEntries(
      interfaces.map((name) => {
        const { handoverMs = null, responseMs } = terms.limits[name];
        return [name, { handover_ms: handoverMs, response_ms: responseMs }];
      }),
    ),
  };
}

/** One with every header. */
const EXAMPLE = {
  id: '',
  timestampS: 0,
  body: Buffer.alloc(0),
  verificationToken: '',
  signingSecrets: ['whsec_'],
  attempt: 1,
  isTest: true,
};
