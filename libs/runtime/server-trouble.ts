import { types } from 'node:util';
import { addressesIn, placeOf } from './addresses.ts';
import { codeOf } from './error-codes.ts';
import type { ServerAddress } from './server-address.ts';

const SETTINGS = { RabbitMQ: 'AMQP_URL', Postgres: 'DATABASE_URL', Redis: 'REDIS_URL' } as const;

/** A server, by the address that was tried. */
export type AskedServer = ServerAddress & { server: keyof typeof SETTINGS };

type TroubleKind = 'rights' | 'line' | 'login' | 'database' | 'pooler' | 'authority' | 'away';

/** Errors of servers and clients, by code if they have one, that mean a wrong user or a wrong part of an address. */
const SAID: readonly [kind: TroubleKind, said: RegExp][] = [
  // RabbitMQ let the user in but refused an operation.
  ['rights', /^Operation failed: \w+; 403 /],
  ['line', /^Operation failed: \w+; 404 /],
  ['login', /^(28P01|28000)$|ACCESS_REFUSED|\b(WRONGPASS|NOAUTH|NOPERM)\b/],
  // The latter is pgbouncer's answer to a connection's limits, unless it is configured to ignore them.
  ['pooler', /a pooler answers for it|unsupported startup parameter/],
  [
    'authority',
    /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?))$/,
  ],
  // RabbitMQ does not distinguish a missing virtual host from another user's.
  ['database', /^(3D000|42501)$|got <ConnectionClose|DB index is out of range/],
];

/** Returns a sentence that says why the server cannot be used and what to do about it. It shows no secret. */
export function troubleWith({ server, url, ...asked }: AskedServer, error: unknown): string {
  const { isOfStack = false } = asked;
  const setting = SETTINGS[server];
  const named = isOfStack ? 'of the running stack' : `which ${setting} names`;
  const advice = isOfStack ? 'see "./waybell status"' : (adviceOnFile({ url, ...asked }) ?? `correct ${setting}`);
  const wrong = whatIsWrong({ server, url }, error, advice);
  return `${server} at ${placeOf(url) ?? 'an address that is none'}, ${named}, ${wrong}`;
}

/** Says whether the file that an address was read from still holds it. */
function adviceOnFile({ again, ...tried }: ServerAddress): string | undefined {
  if (again?.file === undefined) return undefined;
  try {
    const now = again.read();
    const isSame = addressesIn(now.url).some((each) => addressesIn(tried.url).includes(each)) && hasSameTls(now, tried);
    return isSame
      ? `${again.file} holds what was tried: correct one of the two`
      : `${again.file} differs from what was tried, and is tried next`;
  } catch (error) {
    return `${again.file} differs from what was tried, and cannot be used: ${messageOf(error)}`;
  }
}

/** Not by their keys' names: the client of Postgres hides one of them. */
export const hasSameTls = ({ tls: one }: ServerAddress, { tls: other }: ServerAddress): boolean =>
  one?.ca === other?.ca && one?.cert === other?.cert && one?.key === other?.key;

/** RabbitMQ refuses both alike, and its client does not pass on the text. */
const LIMIT = {
  RabbitMQ:
    '; or raise the limit of connections, where it is reached (rabbitmqctl list_vhost_limits, list_user_limits)',
  Postgres: '',
  Redis: '',
};

const kindOf = (error: unknown): TroubleKind =>
  SAID.find(([, said]) => said.test(codeOf(error)) || said.test(messageOf(error)))?.[0] ?? 'away';

/** Whether the server refuses the user or its password. */
export const isLoginRefused = (error: unknown): boolean => kindOf(error) === 'login';

function whatIsWrong({ server, url }: Pick<AskedServer, 'server' | 'url'>, error: unknown, advice: string): string {
  const why = messageOf(error);
  const [address] = addressesIn(url);
  const { username, pathname } = URL.canParse(address) ? new URL(address) : { username: '', pathname: '' };
  const kind = kindOf(error);
  if (kind === 'rights')
    return `does not let the user "${username}" do what it is for (${why}): give it what "./waybell permissions" prints`;
  if (kind === 'line') return `lacks a part of the line (${why}): create it with "./waybell declare"`;
  if (kind === 'login') return `refuses the user "${username}" or its password (${why}): ${advice}`;
  if (kind === 'database')
    return `has no "${pathname.slice(1)}" that the user "${username}" may use (${why}): ${advice}, or create it there${LIMIT[server]}`;
  if (kind === 'pooler')
    return `is reached through a pooler, which keeps no settings and no prepared statements of a connection (${why}): name Postgres itself, or have the pooler keep sessions`;
  if (kind === 'authority')
    return `shows a certificate of an authority that is not known here (${why}): name it by TLS_CA_FILE`;
  return `cannot be reached (${why}): start it, or ${advice}`;
}

/** Returns the message of an error; its code if it has none, as when several addresses failed. */
export function messageOf(error: unknown): string {
  if (!types.isNativeError(error)) return String(error);
  return error.message || codeOf(error) || 'no answer';
}
