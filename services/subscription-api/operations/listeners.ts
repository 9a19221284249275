/**
 * Listeners: programs of clients that get their callbacks over a stream.
 *
 *     program ── begins ──> POST /v1/listeners, which subscribes it at a URL of this API
 *     deliverer ── calls ──> POST …/requests ── relay ──> GET …/requests, the program's stream
 *     program ── POST …/answers ── relay ──> the answer to the deliverer
 */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { listenerClient, ownerOf } from '@waybell/delivery-log/listener-client';
import type { KeyRing } from '@waybell/runtime/secrets';
import { readCallbackUrl, type CallbackRules } from '../callback-url.ts';
import { verificationTokenOf, type Listener } from '../listeners.ts';
import type { Caller } from '../rest/authentication/authenticate.ts';
import { invalidBody, pointTo } from '../rest/http/body.ts';
import { boundByReading } from '../rest/http/limits.ts';
import { Problem } from '../rest/http/problem.ts';
import type { ListenerSettings } from '../rest/listeners/relay.ts';
import { endWithToken } from '../rest/live/event-stream.ts';
import { chooseActions, requireFeature } from './find-action.ts';
import { parameter, byGuid, guidInPath, noBody, noQuery, nothing, one, operationsOf, sent } from './operation.ts';
import { actionPattern, closed, component, defaulted, guid, list, object, optional, text, whole } from './schema.ts';
import type { ClientServices } from './services.ts';

const milliseconds = (description: string) => whole({ minimum: 1, description });

const Begun = component(
  'Listener',
  object({
    guid: guid(),
    actions: list(text()),
    signing_secret: text('Of its callbacks: not that of the client of the token.'),
    verification_token: text('As `X-Service-Verification-Token` in each of its callbacks.'),
    life_ms: milliseconds('So long it lives without its stream.'),
    answer_limit_ms: milliseconds('So long a callback waits for its answer, unless its deliverer waits for less.'),
  }),
);

const ListenerRequest = component(
  'ListenerRequest',
  object({
    id: text(),
    headers: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: text() }),
    body: text({ contentEncoding: 'base64', description: 'The bytes that were sent.' }),
  }),
);

const stream = {
  'text/event-stream': {
    schema: text(
      '`event: listening` says that callbacks come from now on. Of `event: request` the `data` is a ListenerRequest, of `event: over` the `id` of a request whose answer nobody waits for any more: as JSON on one line. A comment comes every 15 seconds at least.',
    ),
    examples: {
      request: {
        value:
          'event: request\ndata: {"id":"…","headers":{"webhook-id":"a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11", …},"body":"eyJhY3Rpb24iOiJv…"}\n\n',
      },
    },
  },
};

const operation =
  operationsOf<
    Pick<
      ClientServices,
      'actionsOf' | 'callbackRules' | 'signingSecrets' | 'listenerSettings' | 'knowAgain' | 'knownAgainMs'
    >
  >();

const SCOPE = 'webhooks:write';
const RETRY_LATER = { headers: { 'retry-after': '5' } };
const common = { tag: 'Listeners', scope: SCOPE } as const;
const ofOne = {
  ...common,
  parameters: { guid: guidInPath() },
  problems: ['unknown-listener', 'listener-ended'],
} as const;

/** The operations of listeners' programs, on either interface, and the one that deliverers call. */
export const listenerOperations = [
  operation({
    ...common,
    method: 'post',
    path: '/v1/listeners',
    id: 'createListener',
    summary: 'Listen without an address of your own',
    description:
      'Subscribes a client of its own, beside that of the token, to these actions: its callbacks come over a stream, and are retried and logged as any. `./waybell listen` does all of this. It ends with `DELETE`, or when it has had no stream for a while; its signing secret stays for the next of its name.',
    body: {
      schema: closed({
        url: text({
          format: 'uri',
          maxLength: 1_024,
          examples: ['https://waybell.example.com'],
          description: 'Where this API is, as its deliverers reach it: mostly the address that you have of it.',
        }),
        actions: optional(
          list(actionPattern(), {
            minItems: 1,
            maxItems: 100,
            description:
              'Names of actions, in which `*` is any text. All that the account can have, where it is left out.',
          }),
        ),
        name: defaulted(
          text({
            pattern: '^[A-Za-z0-9._-]{0,50}$',
            default: '',
            description: 'at most 50 letters, digits and . _ -: tells several listeners of a client apart',
          }),
        ),
      }),
    },
    answers: {
      201: one(
        'The listener. Read its stream now.',
        Begun,
        byGuid('/guid', 'streamRequests', 'answerRequest', 'endListener'),
      ),
    },
    problems: ['feature-off', 'already-listening'],
    async handle({ caller, body, response, services }) {
      const { listeners, keyRing, lifeMs, answerLimitMs } = services.listenerSettings;
      const offered = services.actionsOf[caller.interface];
      const { chosen, faults } = chooseActions({ patterns: body.actions, actions: offered, caller, response });
      if (faults.length > 0) throw invalidBody(faults);
      for (const action of chosen) requireFeature(action, caller);
      const actions = chosen.map((action) => action.name);
      const id = randomUUID();
      const callbackUrl = await callbackUrlOf({
        url: body.url,
        listener: id,
        key: makeKey(keyRing, id),
        rules: services.callbackRules,
      });
      const client = { ...caller, clientId: listenerClient(caller.clientId, body.name) };
      const [first] = await services.signingSecrets.list(client);
      if (first === undefined) throw new Error('a client without a signing secret');
      const verificationToken = verificationTokenOf(first.secret);
      const begun = await listeners.begin(client, { guid: id, actions, callbackUrl, verificationToken });
      if (begun !== 'begun') throw notBegun(begun, lifeMs);
      return { guid: id, actions, signingSecret: first.secret, verificationToken, lifeMs, answerLimitMs };
    },
  }),

  operation({
    ...ofOne,
    method: 'delete',
    path: '/v1/listeners/{guid}',
    id: 'endListener',
    summary: 'Listen no longer',
    description: 'Ends its subscriptions.',
    body: noBody,
    answers: { 204: nothing('It has ended.') },
    async handle({ caller, path, services: { listenerSettings } }) {
      await requireListener(path.guid, caller, listenerSettings);
      await listenerSettings.listeners.end(caller.actor, path.guid);
    },
  }),

  operation({
    ...ofOne,
    method: 'get',
    path: '/v1/listeners/{guid}/requests',
    id: 'streamRequests',
    summary: 'Read the callbacks of a listener',
    description:
      'Server-sent events, until the client closes the connection or the listener ends. Connect again where it is cut.',
    query: noQuery,
    answers: { 200: sent('The stream.', stream) },
    also: [ListenerRequest],
    async handle({ caller, path, request, response, services: { listenerSettings, ...again } }) {
      const listener = await requireListener(path.guid, caller, listenerSettings);
      if (request.method === 'HEAD') return void response.type('text/event-stream').end();
      boundByReading(response);
      const owner = { account: caller.accountGuid, client: caller.clientId };
      const opened = listenerSettings.listening.open(listener, owner, response);
      endWithToken(opened, { ...again, request, caller, scope: SCOPE });
    },
  }),

  operation({
    ...ofOne,
    method: 'post',
    path: '/v1/listeners/{guid}/requests',
    id: 'callListener',
    summary: 'For deliverers: the callback URL of a listener',
    description: 'Answers as the program behind the listener does.',
    scope: null,
    query: { key: parameter('As in the callback URL.', text({ maxLength: 300 })) },
    body: { schema: Type.Unsafe({ type: 'object' }), isUnread: true },
    answers: {
      200: sent(
        'What the program answered, with its status, whichever that is.',
        { 'text/plain': { schema: text() } },
        {},
      ),
    },
    problems: [...ofOne.problems, 'body-too-large', 'unsupported-media-type', 'unavailable', 'no-answer'],
    async handle({ path, query: { key = '' }, request, response, services: { listenerSettings } }) {
      const { listeners, relay, keyRing, readRequest, answerLimitMs } = listenerSettings;
      if (!isKeyOf(keyRing, path.guid, key)) throw unknownListener();
      const body = (await readRequest(request, response)).toString('base64');
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const relayed = await relay.ask(path.guid, { headers: passedOn(request.headers), body }, gone.signal);
      switch (relayed.kind) {
        case 'answered':
          return void response.status(relayed.answer.status).type('text/plain').end(relayed.answer.body);
        case 'nobody':
          requireCurrent(await listeners.find(path.guid));
          throw new Problem('unavailable', 'The listener has no stream at the moment.', RETRY_LATER);
        case 'busy':
          throw new Problem('unavailable', 'As many requests as may wait for the listener do.', RETRY_LATER);
        case 'unanswered':
          throw new Problem('no-answer', `The listener did not answer within ${answerLimitMs / 1_000} s.`);
      }
    },
  }),

  operation({
    ...ofOne,
    method: 'post',
    path: '/v1/listeners/{guid}/answers',
    id: 'answerRequest',
    summary: 'Answer a callback',
    body: {
      schema: closed({
        request: text({ pattern: '^[0-9a-f.-]{1,100}$', description: 'the `id` of a request' }),
        status: whole({ minimum: 200, maximum: 599 }),
        body: defaulted(
          text({
            maxLength: 16_384,
            pattern: String.raw`^[^\u0000]*$`,
            default: '',
            description: 'as much of the answer, without NUL, as the delivery log is to have',
          }),
        ),
      }),
    },
    answers: { 204: nothing('It is on its way to the deliverer.') },
    problems: [...ofOne.problems, 'answered-too-late'],
    async handle({ caller, path, body: { request: id, ...answer }, services: { listenerSettings } }) {
      await requireListener(path.guid, caller, listenerSettings);
      if (!(await listenerSettings.relay.answer(path.guid, id, answer)))
        throw new Problem('answered-too-late', 'Nobody waits for the answer to it any more.');
    },
  }),
];

/** Finds the caller's listener. Throws a Problem if there is none, or it is another client's (404), or if it has ended (410). */
async function requireListener(
  named: string,
  caller: Caller,
  { listeners }: Pick<ListenerSettings, 'listeners'>,
): Promise<Listener> {
  const found = await listeners.find(named);
  const isCallers = found?.accountGuid === caller.accountGuid && ownerOf(found.clientId) === caller.clientId;
  return requireCurrent(isCallers ? found : undefined);
}

function requireCurrent(found: Listener | undefined): Listener {
  if (found === undefined) throw unknownListener();
  if (found.isEnded) throw new Problem('listener-ended', 'The listener has ended: begin another.');
  return found;
}

const unknownListener = () =>
  new Problem('unknown-listener', 'There is no listener of this guid that belongs to this client.');

function notBegun(why: 'taken' | 'too many of it' | 'too many', lifeMs: number): Problem {
  switch (why) {
    case 'taken': {
      const detail = `Another listener of this name lives: choose another name, or end it; without its program it ends within ${lifeMs / 500} s.`;
      return new Problem('already-listening', detail);
    }
    case 'too many of it':
      return new Problem(
        'too-many-requests',
        'The client has as many listeners as one may have: end one.',
        RETRY_LATER,
      );
    case 'too many':
      return new Problem('unavailable', 'There are as many listeners as there may be: ask later.', RETRY_LATER);
  }
}

/** The content of a sealed key: only opening it counts. */
const WHAT = 'listener';

/** A key that only this installation can make: the deliverer has it from the callback URL. */
function makeKey(keyRing: KeyRing, listener: string): string {
  const { sealed, keyId } = keyRing.seal(WHAT, listener);
  return `${keyId}.${sealed.toString('base64url')}`;
}

/** Whether the key is of this listener: known without Postgres, which strangers could make busy. */
function isKeyOf(keyRing: KeyRing, listener: string, key: string): boolean {
  const at = key.lastIndexOf('.');
  const keyId = key.slice(0, at);
  if (!keyRing.keyIds.includes(keyId)) return false;
  try {
    return keyRing.open({ sealed: Buffer.from(key.slice(at + 1), 'base64url'), keyId }, listener) === WHAT;
  } catch {
    return false;
  }
}

type ListenerPlace = { url: string; listener: string; key: string; rules: CallbackRules };

/** Makes the URL that deliverers call, from the API's address as its client has it. Throws a Problem (422) for a forbidden one. */
async function callbackUrlOf({ url, listener, key, rules }: ListenerPlace): Promise<string> {
  const path = `/v1/listeners/${listener}/requests?key=${key}`;
  const read = /[?#]/.test(url)
    ? { fault: 'has a query or a fragment: take it out' }
    : await readCallbackUrl(`${url.replace(/\/$/, '')}${path}`, rules);
  if ('url' in read) return read.url;
  const detail = `${read.fault}; callbacks have to reach this API there, so name an address at which they may`;
  throw invalidBody([{ pointer: pointTo('url'), detail }]);
}

const PASSED_ON = ['content-type', 'user-agent', 'accept-encoding', 'traceparent', 'x-service-verification-token'];
const isPassedOn = (name: string): boolean => PASSED_ON.includes(name) || /^(?:x-)?webhook-./.test(name);

/** Returns the headers that the deliverer sent, without those that proxies have added. */
function passedOn(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && isPassedOn(name) ? [[name, value]] : [],
    ),
  );
}
