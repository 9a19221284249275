/**
 * Listeners: programs of clients that get their callbacks over a stream.
 *
 *     program ── begins ──> POST /v1/listeners, which subscribes it at a URL of this API
 *     deliverer ── calls ──> POST …/requests ── relay ──> GET …/requests, the program's stream
 *     program ── POST …/answers ── relay ──> the answer to the deliverer
 */
import { randomUUID } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import { listenerKeyParameter, listenerAnswer, listenerRequest } from '../../operations/listener-paths.ts';
import { listenerClient, ownerOf } from '@waybell/delivery-log/listener-client';
import type { EventLimits } from '@waybell/events/read-event';
import { largestNotification } from '@waybell/notifications/notification';
import type { Redis } from '@waybell/runtime/redis';
import type { KeyRing } from '@waybell/runtime/secrets';
import { readCallbackUrl, type CallbackRules } from '../../callback-url.ts';
import {
  verificationTokenOf,
  keepListeners,
  type Listener,
  type Listeners,
  type ListenerLimits,
  type ListenerOptions,
} from '../../listeners.ts';
import { requireScope, type Caller } from '../authentication/authenticate.ts';
import { invalidBody, jsonBytesReader, readJson, readNothing, bodyReader, pointTo } from '../http/body.ts';
import { boundByReading } from '../http/limits.ts';
import { Problem } from '../http/problem.ts';
import { queryReader, readNoQuery, requirePathGuid } from '../http/read-query.ts';
import { answerObject, addPath, type RouteOptions, type GuidParams } from '../http/routes.ts';
import { endWithToken, type KnowingAgain } from '../live/event-stream.ts';
import { chooseActions, listAllActions, requireFeature } from '../../operations/find-action.ts';
import {
  openListening,
  openRelay,
  openChannels,
  type Listening,
  type ListeningOptions,
  type ListenerRelay,
  type ListenerRelayOptions,
} from './relay.ts';

type ListenerSettings = {
  listeners: Listeners;
  listening: Listening;
  relay: ListenerRelay;
  keyRing: KeyRing;
  lifeMs: number;
  answerLimitMs: number;
  /** The largest callback. */
  requestBytes: number;
};

export type ListenerRouteOptions = Pick<RouteOptions, 'authenticate' | 'catalog' | 'callbackRules' | 'signingSecrets'> &
  KnowingAgain & { listenerSettings: ListenerSettings };

export type ServeListenersOptions = Pick<ListenerOptions, 'database' | 'keyRing'> &
  Pick<ListeningOptions, 'capacity' | 'log'> &
  Pick<ListenerRelayOptions, 'redis' | 'until'> & {
    /** A connection for its messages alone. */
    hearing: Redis;
    listenerLimits: ListenerLimits;
    listening: Pick<ListenerRelayOptions, 'waitingLimit' | 'answerLimitMs'> & { lifeMs: number };
    eventLimits: EventLimits;
  };

const SCOPE = 'webhooks:write';
const RETRY_LATER = { headers: { 'retry-after': '5' } };

type ListenerRequest = { url: string; actions?: string[]; name: string };
type ListenerAnswer = { request: string; status: number; body: string };

/** These throw a Problem (422) that names everything wrong with a body. */
const readListener = bodyReader<ListenerRequest>(listenerRequest);
const readAnswer = bodyReader<ListenerAnswer>(listenerAnswer);

/** Opens what the routes of listeners need. After disposal it renews no listener. */
export function serveListeners(options: ServeListenersOptions): ListenerSettings & AsyncDisposable {
  const { keyRing, eventLimits, listenerLimits: limits } = options;
  const { lifeMs, answerLimitMs } = options.listening;
  const listeners = keepListeners({ ...options, lifeMs, limits });
  const channels = openChannels(options);
  const relay = openRelay({ ...options, ...options.listening, channels });
  const listening = openListening({ ...options, listeners, relay, channels, lifeMs });
  return {
    listeners,
    listening,
    relay,
    keyRing,
    lifeMs,
    answerLimitMs,
    requestBytes: largestNotification(eventLimits.maxBytes),
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

/** The routes of listeners' programs, on either interface, and the one that deliverers call. */
export function listenerRoutes(options: ListenerRouteOptions): Router {
  const router = Router({ caseSensitive: true });
  addListeners(router, options);
  addRequests(router, options);
  return router;
}

function addListeners(router: Router, options: ListenerRouteOptions): void {
  const { catalog, callbackRules: rules, signingSecrets, listenerSettings } = options;
  const { listeners, relay, keyRing, lifeMs, answerLimitMs } = listenerSettings;
  const actionsOf = listAllActions(catalog);

  addPath(router, ['/v1/listeners'], {
    async post(request, response) {
      const caller = await admit(request, options);
      const { url, actions: patterns, name } = readListener(await readJson(request, response));
      const { chosen, faults } = chooseActions({ patterns, actions: actionsOf[caller.interface], caller, response });
      if (faults.length > 0) throw invalidBody(faults);
      for (const action of chosen) requireFeature(action, caller);
      const actions = chosen.map((action) => action.name);
      const guid = randomUUID();
      const callbackUrl = await callbackUrlOf({ url, guid, key: makeKey(keyRing, guid), rules });
      const client = { ...caller, clientId: listenerClient(caller.clientId, name) };
      const [signingSecret] = await signingSecrets.list(client);
      if (signingSecret === undefined) throw new Error('a client without a signing secret');
      const verificationToken = verificationTokenOf(signingSecret.secret);
      const begun = await listeners.begin(client, { guid, actions, callbackUrl, verificationToken });
      if (begun !== 'begun') throw notBegun(begun, lifeMs);
      answerObject(caller, response.status(201), {
        guid,
        actions,
        signing_secret: signingSecret.secret,
        verification_token: verificationToken,
        life_ms: lifeMs,
        answer_limit_ms: answerLimitMs,
      });
    },
  });

  addPath<GuidParams>(router, ['/v1/listeners/:guid'], {
    async delete(request, response) {
      const caller = await admit(request, options);
      await readNothing(request, response);
      const { guid } = await requireListener(request, caller, listeners);
      await listeners.end(caller.actor, guid);
      response.status(204).end();
    },
  });

  addPath<GuidParams>(router, ['/v1/listeners/:guid/answers'], {
    async post(request, response) {
      const caller = await admit(request, options);
      const { request: id, ...answer } = readAnswer(await readJson(request, response));
      const { guid } = await requireListener(request, caller, listeners);
      if (!(await relay.answer(guid, id, answer)))
        throw new Problem('answered-too-late', 'Nobody waits for the answer to it any more.');
      response.status(204).end();
    },
  });
}

function addRequests(router: Router, options: ListenerRouteOptions): void {
  const { listeners, listening, relay, keyRing, requestBytes, answerLimitMs } = options.listenerSettings;
  const readKey = queryReader<{ key?: string }>([listenerKeyParameter]);
  const readBody = jsonBytesReader(requestBytes);

  async function ask(request: Request<GuidParams>, response: Response): Promise<void> {
    const guid = requirePathGuid('guid', request.params.guid);
    const { key = '' } = readKey(request);
    if (!isKeyOf(keyRing, guid, key)) throw unknownListener();
    const body = (await readBody(request, response)).toString('base64');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const asked = await relay.ask(guid, { headers: passedOn(request.headers), body }, gone.signal);
    switch (asked.kind) {
      case 'answered':
        return void response.status(asked.answer.status).type('text/plain').end(asked.answer.body);
      case 'nobody':
        requireCurrent(await listeners.find(guid));
        throw new Problem('unavailable', 'The listener has no stream at the moment.', RETRY_LATER);
      case 'busy':
        throw new Problem('unavailable', 'As many requests as may wait for the listener do.', RETRY_LATER);
      case 'unanswered':
        throw new Problem('no-answer', `The listener did not answer within ${answerLimitMs / 1_000} s.`);
    }
  }

  addPath<GuidParams>(router, ['/v1/listeners/:guid/requests'], {
    post: ask,
    async get(request, response) {
      const caller = await admit(request, options);
      const listener = await requireListener(request, caller, listeners);
      readNoQuery(request);
      if (request.method === 'HEAD') return void response.type('text/event-stream').end();
      boundByReading(response);
      const owner = { account: caller.accountGuid, client: caller.clientId };
      const stream = listening.open(listener, owner, response);
      endWithToken(stream, { ...options, request, caller, scope: SCOPE });
    },
  });
}

async function admit(request: Request, { authenticate }: Pick<RouteOptions, 'authenticate'>): Promise<Caller> {
  const caller = await authenticate(request);
  requireScope(caller, SCOPE);
  return caller;
}

/** Finds the caller's listener. Throws a Problem if there is none, or it is another client's (404), or if it has ended (410). */
async function requireListener(request: Request<GuidParams>, caller: Caller, listeners: Listeners): Promise<Listener> {
  const found = await listeners.find(requirePathGuid('guid', request.params.guid));
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

type ListenerPlace = { url: string; guid: string; key: string; rules: CallbackRules };

/** Makes the URL that deliverers call, from the API's address as its client has it. Throws a Problem (422) for a forbidden one. */
async function callbackUrlOf({ url, guid, key, rules }: ListenerPlace): Promise<string> {
  const path = `/v1/listeners/${guid}/requests?key=${key}`;
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
