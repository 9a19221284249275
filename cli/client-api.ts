import { isNativeError } from 'node:util/types';
import type { Command } from 'commander';
import { stackOf } from '@waybell/stack/stack-folder';
import { requireRunning } from '@waybell/stack/stack-state';
import { callFailure, trustAlso } from './http/certificates.ts';
import { proxyHint, useProxy } from './http/use-proxy.ts';

/** Options that name the API and its caller. */
export type ApiCommandOptions = { api?: string; token?: string; ca?: string };

/** Their help, but for the token's, as commander takes it. */
export const CA_OPTION = [
  '--ca <file>',
  'certificates (PEM) to trust as well, such as one that its server has signed itself',
] as const;

/** A test is answered within 75 s. */
const ANSWER_LIMIT_MS = 80_000;

/** The REST interface as a client of either interface has it: an address and a token are all it takes. */
export type ClientApi = {
  address: string;
  /** Asks with a body of JSON, as its text. Resolves with the object, or the list, answered; throws ApiProblem, or an Error where the API cannot be reached. */
  ask(method: string, path: string, body?: string, signal?: AbortSignal): Promise<unknown>;
  /** The same of an answer that does not end. */
  stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
};

/** `others`: other addresses that this process calls. From then on it uses the proxies and certificates of the options. */
export function clientApi(options: ApiCommandOptions, env: NodeJS.ProcessEnv, others: readonly URL[] = []): ClientApi {
  const address = addressOf(options, env);
  const authorization = `Bearer ${tokenOf(options, env)}`;
  const url = new URL(address);
  if (options.ca !== undefined) trustAlso(options.ca);
  useProxy(env, [url, ...others]);

  async function fetched(path: string, init: RequestInit): Promise<Response> {
    const headers = { authorization, ...(init.body !== undefined && { 'content-type': 'application/json' }) };
    const response = await fetch(`${address}${path}`, { ...init, headers, redirect: 'manual' }).catch(
      (error: unknown) => {
        const reason = reasonOf(error) + proxyHint(url, env);
        throw new Error(`the API cannot be reached at ${address}: ${reason}`, { cause: error });
      },
    );
    if (!response.ok) throw await problemOf(response, address, proxyHint(url, env));
    return response;
  }

  return {
    address,
    async ask(method, path, body, signal) {
      const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
      const until = signal === undefined ? limit : AbortSignal.any([limit, signal]);
      const response = await fetched(path, { method, signal: until, ...(body !== undefined && { body }) });
      const text = await response.text();
      return text === '' ? undefined : unwrapped(JSON.parse(text));
    },
    async stream(path, signal) {
      const { body } = await fetched(path, { signal });
      if (body === null) throw new Error('the stream has no body');
      return body;
    },
  };
}

/** An answer of the API other than the one hoped for. */
export class ApiProblem extends Error {
  readonly status: number;
  /** The last part of its type; undefined where it has none. */
  readonly kind: string | undefined;

  constructor(status: number, message: string, kind?: string) {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
    this.kind = kind;
  }
}

/** Returns the address of the clients' API, without a last slash. Throws if nothing names it. */
export function addressOf({ api }: { api?: string | undefined }, env: NodeJS.ProcessEnv): string {
  const url = URL.parse(api ?? env['API_URL'] ?? addressHere(env));
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new Error('say where the API is: --api https://waybell.example.com, or API_URL');
  return url.href.replace(/\/$/, '');
}

function addressHere(env: NodeJS.ProcessEnv): string {
  try {
    return requireRunning(stackOf(env)).addresses['API_URL'] ?? '';
  } catch {
    return '';
  }
}

function tokenOf({ token }: ApiCommandOptions, env: NodeJS.ProcessEnv): string {
  const given = token ?? env['WAYBELL_TOKEN'];
  if (given !== undefined && given !== '') return given;
  throw new Error(
    'give an access token: WAYBELL_TOKEN, or --token. Of a stack on this machine you make one yourself:\n' +
      '  export WAYBELL_TOKEN=$(./waybell token create --account $ACCOUNT)',
  );
}

/** A shipper gets an object or a list wrapped, a carrier bare. */
function unwrapped(answer: unknown): unknown {
  const { status, data } = answer as { status?: unknown; data?: { object?: unknown } };
  return status === 'success' && data !== undefined ? (data.object ?? data) : answer;
}

async function problemOf(response: Response, address: string, hint: string): Promise<ApiProblem> {
  const text = await response.text();
  const isProblem = response.headers.get('content-type') === 'application/problem+json';
  // A problem of the API has a detail for people.
  const { detail, type } = isProblem ? (JSON.parse(text) as { detail: string; type: string }) : {};
  return new ApiProblem(
    response.status,
    detail ?? `${address} answered ${response.status}: is this Waybell's API?${hint}`,
    type?.split(':').at(-1),
  );
}

/** Node.js hides it in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return (isNativeError(cause) && callFailure(cause)) || message;
}

/** The command with the options that say where the API is, and which client asks it. */
export const asClient = (command: Command): Command =>
  command
    .option('--api <url>', 'where the API is (default: API_URL, or that of the running stack)')
    .option('--token <token>', 'an access token (default: WAYBELL_TOKEN)')
    .option(...CA_OPTION);
