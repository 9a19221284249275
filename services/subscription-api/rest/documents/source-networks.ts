/** Source networks and properties of callbacks, for administrators of firewalls: as JSON, as a page, and for the documentation. */
import type { Interface } from '@waybell/catalog/action';
import { callbackHeaders } from '@waybell/notifications/callback';
import { largestNotification } from '@waybell/notifications/notification';
import type { ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import { LEAST_TLS, USER_AGENT, ANSWER_LIMIT_BYTES, LONGEST_CONNECTION_MS } from '@waybell/runtime/callback-terms';
import { formatDuration } from '@waybell/runtime/duration';
import type { Static } from 'typebox';
import type { CallbackTerms } from '../../config.ts';
import { choice, component, list, object, only, optional, orNull, text, whole } from '../../operations/schema.ts';

const names = (description: string, example: string) => list(text({ examples: [example] }), description);
const atLeastOne = (description?: string) => whole({ minimum: 1, ...(description && { description }) });

const limits = optional(
  object({
    handover_ms: orNull(atLeastOne(), 'From the start until connected and handed over; null: as for the status line.'),
    response_ms: atLeastOne('From the start until the status line.'),
  }),
);

const KINDS = ['headers', 'basic', 'oauth2', 'certificate'] as const;

const sourceNetworksSchema = object({
  networks: orNull(
    names('Addresses from which callbacks come, in CIDR form. Null: the operator tells none, ask.', '203.0.113.0/28'),
  ),
  user_agent: text({ description: 'Its number changes with each version.', examples: ['Waybell/0.3.0'] }),
  method: only('POST'),
  schemes: list(choice(['https', 'http']), 'Of callback URLs.'),
  denied_ports: names('Ports, and ranges of ports, that callbacks never go to. The usual one is 443.', '1-79'),
  least_tls: text({ description: 'The oldest version of TLS that is spoken.', examples: ['1.2'] }),
  largest_body_bytes: atLeastOne('No body of a callback has more.'),
  follows_redirects: only(false),
  headers: names('Headers of a callback, in lower case; some are on some alone.', 'webhook-signature'),
  signature: object({
    standard: text({ format: 'uri' }),
    version: text({ examples: ['v1'] }),
    algorithm: text({ examples: ['HMAC-SHA256'] }),
  }),
  authentication: list(choice(KINDS), 'What clients may put in for a host that asks for it.'),
  limits: object({ shipper: limits, carrier: limits }, 'Of requests to receivers, for each interface served.'),
});

export type SourceNetworks = Static<typeof sourceNetworksSchema>;

/** Source and properties of callbacks, as `GET /v1/source-networks` answers. */
export const SourceNetworks = component('SourceNetworks', sourceNetworksSchema);

/** Names of the kinds of credentials, for the administrator of a gateway. */
const AUTHENTICATION = {
  headers: 'headers such as an API key',
  basic: 'HTTP Basic',
  oauth2: 'an OAuth2 access token (client credentials)',
  certificate: 'a TLS client certificate',
} satisfies Record<(typeof KINDS)[number] & keyof ReceiverCredentials, string>;

/** `interfaces`: those that are served. */
export function sourceNetworks(terms: CallbackTerms, interfaces: readonly Interface[]): SourceNetworks {
  const sent = callbackHeaders(EXAMPLE);
  return {
    networks: terms.networks.length === 0 ? null : [...terms.networks],
    user_agent: USER_AGENT,
    method: 'POST',
    schemes: terms.isHttpAllowed ? ['https', 'http'] : ['https'],
    denied_ports: [...terms.deniedPorts],
    least_tls: LEAST_TLS.replace('TLSv', ''),
    largest_body_bytes: largestNotification(terms.eventBytes),
    follows_redirects: false,
    headers: [...Object.keys(sent), 'User-Agent'].toSorted(),
    signature: {
      standard: 'https://www.standardwebhooks.com',
      version: sent['webhook-signature']?.split(',')[0] ?? '',
      algorithm: 'HMAC-SHA256',
    },
    authentication: [...KINDS],
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

const TITLE = 'Callbacks, for those who keep a firewall';
const LEAD = 'What a firewall or gateway in front of a receiver has to know of the requests of Waybell.';

const named = (name: string): string => `\`${name}\``;

/** Groups facts by their subject, in plain words with names between backticks. */
function factsOf(terms: SourceNetworks): [what: string, fact: string][] {
  const { networks, schemes, least_tls: leastTls, signature } = terms;
  const mebibytes = Math.ceil(terms.largest_body_bytes / 2 ** 20);
  return [
    [
      'They come from',
      networks?.map(named).join(', ') ?? 'not told here: ask the operator before you admit by address.',
    ],
    [
      'They go to',
      `your callback URLs, by ${schemes.map(named).join(' or ')}: port 443${schemes.includes('http') ? ' or 80' : ''}, unless the URL names another. Ports of other servers are refused (${named('denied_ports')}).`,
    ],
    [
      'TLS',
      `${leastTls} or newer, with SNI, and HTTP/1.1 inside. Your server's certificate and name are checked: send the intermediate certificates too.`,
    ],
    [
      'Requests',
      `${named(terms.method)} with JSON in UTF-8, of up to ${mebibytes} MiB. ${named('user-agent')} is ${named(terms.user_agent)}.`,
    ],
    [
      'Headers',
      `${terms.headers.map(named).join(', ')}; ${named('traceparent')} may come too. Let them through unchanged.`,
    ],
    [
      'Signatures',
      `Standard Webhooks (${signature.standard}), ${named(signature.version)}: ${signature.algorithm} of id, time and body. Check it: an address does not tell who sent a request.`,
    ],
    [
      'A gateway may ask for',
      `${Object.values(AUTHENTICATION).join('; ')}. Your integrators put it in, for each host (${named('PUT /v1/credentials/{host}')}). Requests for tokens come from the same addresses.`,
    ],
    ['Time limits', limitsOf(terms)],
    [
      'Connections',
      `are kept while requests follow one another, for ${LONGEST_CONNECTION_MS / 1_000}s at most: then a name that leads elsewhere is followed.`,
    ],
    ['Answers', `2xx: it was taken. Of the body ${ANSWER_LIMIT_BYTES / 2 ** 10} KiB are read at most.`],
    [
      'Never done',
      'redirects followed, cookies kept, bodies compressed, requests to loopback, link-local or private addresses (unless the operator allows them).',
    ],
  ];
}

function limitsOf(terms: SourceNetworks): string {
  const each = Object.entries(terms.limits).map(([name, { handover_ms: handoverMs, response_ms: responseMs }]) => {
    const handover = handoverMs === null ? '' : `connected and handed over within ${formatDuration(handoverMs)}, `;
    return `${name}: ${handover}the status line within ${formatDuration(responseMs)}`;
  });
  return `${each.join('; ')}. What takes longer is sent again: hold nothing back to inspect it.`;
}

/** The page of an installation, without a script. */
export function sourceNetworksHtml(terms: SourceNetworks): string {
  const facts = factsOf(terms).map(([what, fact]) => `      <dt>${what}</dt>\n      <dd>${marked(fact)}</dd>`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${TITLE}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="source-networks.css" />
  </head>
  <body>
    <h1>${TITLE}</h1>
    <p>${LEAD}</p>
    <dl>
${facts.join('\n')}
    </dl>
    <p>The same for programs: <a href="../v1/source-networks">v1/source-networks</a>. For integrators: <a href="../docs">endpoints and notifications</a>.</p>
  </body>
</html>
`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function marked(fact: string): string {
  const escaped = fact.replaceAll(/[&<>]/g, (sign) => ENTITIES[sign] ?? '');
  return escaped.replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}

/** The page of the documentation, for every version. */
export function sourceNetworksMarkdown(terms: SourceNetworks): string {
  const ofAnyVersion = { ...terms, user_agent: terms.user_agent.replace(/\/.*/, '/<version>') };
  return [
    `# ${TITLE}`,
    '',
    `${LEAD} This is the default; an API tells its own, without`,
    'a token: `/docs/source-networks` for people, `GET /v1/source-networks` for programs. For integrators: [receiving.md](receiving.md).',
    'Operators: `CALLBACK_SOURCE_NETWORKS` ([settings](settings.md)). `./waybell docs` writes this page.',
    '',
    ...factsOf(ofAnyVersion).map(([what, fact]) => `- **${what}**: ${fact}`),
    '',
  ].join('\n');
}
