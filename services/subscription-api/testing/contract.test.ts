import { describe, expect, test } from '@jest/globals';
import { actions } from '@waybell/catalog/actions';
import { openApiDocument } from '../operations/openapi-documents.ts';
import { contractOf, type Exchange } from './contract.ts';

const id = '1f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11';
const document = JSON.stringify(
  openApiDocument({ catalog: actions, interfaces: ['shipper', 'carrier'], sentExamples: {}, version: '1.0.0' }),
);

const made = { is_active: true, action: 'order.created', verification_token: 'x', callback_url: 'https://hooks.test/' };

/** A carrier subscribes, and all is well; `what` says what else happened. */
function anExchange(what: {
  method?: string;
  path?: string;
  query?: string;
  status?: number;
  ask?: unknown;
  answer?: unknown;
  headers?: Record<string, string>;
  token?: string;
}): Exchange {
  const { method = 'POST', path = '/v1/webhooks/order.created/subscriptions', status = 201 } = what;
  return {
    method,
    path,
    query: new URLSearchParams(what.query),
    status,
    requestHeaders: new Headers({ authorization: what.token ?? 'Bearer x' }),
    requestBody: Buffer.from(JSON.stringify(what.ask ?? { callback_url: 'https://hooks.test/' })),
    headers: new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': id, ...what.headers }),
    text: JSON.stringify(what.answer ?? made),
  };
}

const aProblem = (kind: string, status: number) => ({
  type: `urn:waybell:problem:${kind}`,
  title: 'x',
  status,
  detail: 'x',
  instance: id,
});
const problem = { 'content-type': 'application/problem+json' };

describe('a contract', () => {
  test('lets pass what is documented, and keeps what it saw', () => {
    const { check, seen, documented } = contractOf(document);
    check(anExchange({}));
    check(anExchange({ status: 409, answer: aProblem('already-subscribed', 409), headers: problem }));
    check(anExchange({ path: '/nope', status: 404, answer: aProblem('unknown-path', 404), headers: problem }));
    expect([...seen].filter((answer) => documented.has(answer))).toEqual([
      'subscribeCarrier 201',
      'subscribeCarrier 409 urn:waybell:problem:already-subscribed',
    ]);
  });

  test.each<[what: string, exchange: Parameters<typeof anExchange>[0], fault: RegExp]>([
    ['a status', { status: 200 }, /status is not documented/],
    ['a member', { answer: { ...made, guid: id } }, /unevaluated/],
    ['the lack of a member', { answer: { ...made, is_active: undefined } }, /is_active/],
    ['an action', { answer: { ...made, action: 'order.nope' } }, /allowed values/],
    ['a type of body', { headers: { 'content-type': 'text/html' } }, /"text\/html" with 201 is not documented/],
    ['a header that is no request id', { headers: { 'x-request-id': 'x' } }, /format "uuid"/],
    ['a kind of problem', { status: 409, answer: aProblem('feature-off', 409), headers: problem }, /allowed values/],
    [
      'a 401 without a challenge',
      { status: 401, answer: aProblem('invalid-token', 401), headers: problem },
      /www-authenticate/,
    ],
    ['a path that is not there', { path: '/nope' }, /status is not documented/],
    ['a method that is not there', { method: 'PATCH' }, /status is not documented/],
    [
      'an accepted request that breaks a rule',
      { ask: { callback_url: 'https://hooks.test/', x: 1 } },
      /additional properties/,
    ],
    ['an accepted request to an unknown action', { path: '/v1/webhooks/order.nope/subscriptions/' }, /parameters/],
    [
      'an accepted parameter beyond its bounds',
      { method: 'GET', path: '/v1/deliveries', query: 'limit=201', status: 200 },
      /<= 200/,
    ],
    [
      'an accepted parameter',
      { method: 'GET', path: '/v1/deliveries', query: 'order=x', status: 200 },
      /"order" in its query/,
    ],
    ['an accepted request without a token', { token: 'Basic x' }, /without a token/],
  ])('refuses %s that is not documented', (_what, exchange, fault) => {
    expect(() => contractOf(document).check(anExchange(exchange))).toThrow(fault);
  });
});
