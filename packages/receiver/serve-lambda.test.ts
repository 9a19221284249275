import { describe, expect, test } from '@jest/globals';
import { largestNotification } from '@waybell/notifications/largest-notification';
import { createReceiver } from './create-receiver.ts';
import type { LambdaEvent } from './serve-lambda.ts';
import { signedRequest, type SignedRequest } from './signed-request.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const about = { interface: 'carrier', action: 'order.created', secret, token: 'token' } as const;

function aReceiver() {
  const heard: unknown[] = [];
  const { lambda } = createReceiver({
    interface: 'carrier',
    secrets: secret,
    tokens: 'token',
    onTrouble: () => undefined,
    handle: (notification) => void heard.push(notification.data),
  });
  return { lambda, heard };
}

const capitalised = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
const severalOf = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [capitalised(name), [value]]));

/** Events of Lambda, by their source: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html and the like. */
const EVENTS: Record<string, (request: Pick<SignedRequest, 'headers' | 'body'>, isBase64Encoded: boolean) => object> = {
  'API Gateway, format 1.0': ({ headers, body }, isBase64Encoded) => ({
    httpMethod: 'POST',
    path: '/waybell',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [capitalised(name), value])),
    multiValueHeaders: severalOf(headers),
    requestContext: { httpMethod: 'POST', stage: 'prod' },
    body,
    isBase64Encoded,
  }),
  'API Gateway, format 2.0': ({ headers, body }, isBase64Encoded) => ({
    version: '2.0',
    headers,
    requestContext: { http: { method: 'POST', path: '/waybell' } },
    body,
    isBase64Encoded,
  }),
  'a load balancer': ({ headers, body }, isBase64Encoded) => ({
    requestContext: { elb: { targetGroupArn: 'arn' } },
    httpMethod: 'POST',
    headers,
    body,
    isBase64Encoded,
  }),
  'a load balancer that gives several values': ({ headers, body }, isBase64Encoded) => ({
    requestContext: { elb: { targetGroupArn: 'arn' } },
    httpMethod: 'POST',
    multiValueHeaders: severalOf(headers),
    body,
    isBase64Encoded,
  }),
};

describe.each(Object.entries(EVENTS))('behind %s, a receiver', (_name, eventOf) => {
  const inBase64 = ({ headers, body }: SignedRequest) => ({ headers, body: Buffer.from(body).toString('base64') });

  test.each([
    ['as text', (request: SignedRequest): LambdaEvent => eventOf(request, false)],
    ['in base64', (request: SignedRequest): LambdaEvent => eventOf(inBase64(request), true)],
  ])('verifies and handles what comes %s', async (_how, given) => {
    const { lambda, heard } = aReceiver();
    const data = { id: 12_345_678_901_234_567_890n, status: 'Łódź 🚚' };
    const answer = await lambda(given(signedRequest({ ...about, change: { data } })));
    expect(answer).toMatchObject({ statusCode: 200, body: '{"status":"handled"}', isBase64Encoded: false });
    expect(heard).toEqual([data]);
    const forged = { ...signedRequest(about), body: signedRequest({ ...about, change: { data } }).body };
    expect(await lambda(given(forged))).toMatchObject({ statusCode: 401 });
    expect(heard).toHaveLength(1);
  });

  test('answers with headers in the form in which they came', async () => {
    const event = eventOf(signedRequest(about), false);
    const { headers, multiValueHeaders } = await aReceiver().lambda(event);
    expect(headers).toEqual({ 'content-type': 'application/json' });
    expect(multiValueHeaders).toEqual(
      'multiValueHeaders' in event ? { 'content-type': ['application/json'] } : undefined,
    );
  });

  test('takes the largest callback', async () => {
    const data = { id: 1, status: 'x'.repeat(largestNotification(2 ** 20)) };
    const { statusCode } = await aReceiver().lambda(
      eventOf(inBase64(signedRequest({ ...about, change: { data } })), true),
    );
    expect(statusCode).toBe(200);
  });
});

test('a receiver in Lambda answers what is no notification', async () => {
  const { lambda } = aReceiver();
  expect(await lambda({ httpMethod: 'GET', headers: null, body: null })).toMatchObject({ statusCode: 405 });
  expect(await lambda({})).toMatchObject({ statusCode: 405 });
});
