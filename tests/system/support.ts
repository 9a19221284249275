import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { messageGuid } from '@waybell/notifications/message-guid';
import { connectRedis } from '@waybell/runtime/redis';
import { silentLog } from '@waybell/subscription-api/testing/database';
import { curl, wordsFor } from '../testing/curl.ts';
import { runWaybell } from '../testing/run-waybell.ts';
import type { Client } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';
import { receiver, stack } from './stand.ts';

/** What docs/support.md promises that each of its commands tells, in the order of its questions. */
const ANSWERS: RegExp[] = [
  /order\.created .*\n.*delivery \S+: given up after 4 attempts/,
  /"status":"exhausted".*"remedy":"Look in the receiver's log/,
  /the event was rejected: envelope_invalid|the event was rejected: payload_invalid/,
  /delivery \S+: given up after 4 attempts/,
  /"http_status":500.*"duration_ms":\d+.*"answer":"Out of order"/,
  /"curl":"curl .*"body":|"body":.*"curl":"curl /s,
  /"status":"retrying".*"next_attempt_at":"20/,
  /"status":"exhausted"/,
  /^\{"total":1\}$/,
  /"total":1,"published":\d,"delivered":\d/,
  /"total":1/,
  /"cancelled_at":"20/,
  /"attempt":6/,
  /this switched the subscription off \(rule: exhausted\)/,
  /"status":"delivered".*"by_hand":"test"/,
  /attempt 1 .*\n.*attempt 1 /,
  /"reason":"no_subscription"/,
  /"deactivation_rule":"exhausted"/,
  /https?:\/\/127\.0\.0\.1:\d+ {2}\d+ of \d+ attempts failed, mostly http_5xx[^]*oldest without an end:\n {2}20/,
  /1 events are about it: deleted \d+ bodies/,
];

type Question = { question: string; command: string; answer: RegExp };

const page = readFileSync(join(repository, 'docs', 'support.md'), 'utf8');
const questions: Question[] = [...page.matchAll(/^### (.*?)\n.*?```sh\n(.*?)\n```/gms)].map(
  ([, question = '', command = ''], place) => ({ question, command, answer: ANSWERS[place] ?? /^$/ }),
);

const env: Record<string, string> = {};

/** Until all questions are asked, so that one delivery is still being retried. */
const { promise: areAnswered, resolve: answered } = Promise.withResolvers<void>();

/** A day of a carrier whose receiver is out of order for a while, and of a shipper who waits for a retry. */
async function happen(): Promise<void> {
  const carrier = await stack.client('carrier');
  const order = randomUUID();
  const payloadOf = (guid: string) => ({ id: 1, status: 'new', order_guid: guid });
  Object.assign(env, { API_URL: stack.stack.addresses['API_URL'], ACCOUNT: carrier.account, ORDER: order });
  Object.assign(env, { TOKEN: carrier.token, LAST_ORDER: order });
  env['OTHER_TOKEN'] = (await stack.clientOf(carrier.account, 'carrier', 'other')).token;

  receiver.answer('/broken', (response) => response.writeHead(500).end('Out of order'));
  await carrier.subscribe('order.created', receiver.url('/broken'));
  env['SUBSCRIPTION'] = await stack.subscriptionAt(receiver.url('/broken'));
  const event = await carrier.hear('order.created', { payload: payloadOf(order) });
  env['DELIVERY'] = messageGuid(event.guid, env['SUBSCRIPTION']);
  await untilIs(carrier, env['DELIVERY'], 'exhausted');
  // One that is ended before that is never switched off.
  await until('the subscription is off', async () => {
    const { body } = await carrier.call('GET', '/v1/webhooks/order.created/subscriptions/');
    return (body as { is_active: boolean }[])[0]?.is_active === false;
  });
  const invalid = { payload: payloadOf(randomUUID()), occurred_at: 'yesterday' };
  env['REJECTED_EVENT'] = (await carrier.hear('order.created', invalid)).guid;

  // Mended, and subscribed anew.
  await carrier.call('DELETE', '/v1/webhooks/order.created/subscriptions/');
  await carrier.subscribe('order.created', receiver.url('/mended'));
  env['CURRENT_SUBSCRIPTION'] = await stack.subscriptionAt(receiver.url('/mended'));
  const twice = await carrier.hear('order.created', { payload: payloadOf(randomUUID()) });
  env['DELIVERED_TWICE'] = messageGuid(twice.guid, env['CURRENT_SUBSCRIPTION']);
  await untilIs(carrier, env['DELIVERED_TWICE'], 'delivered');
  // Redis has lost what it remembered, those who did it were restarted, and upstream is not sure that it published this.
  await using redis = connectRedis({ url: stack.stack.servers.url('redis'), timeoutMs: 60_000, log: silentLog });
  // Each is remembered after it was passed on.
  await until('the event and its delivery are remembered', async () => {
    const remembered = (await redis.keys('*').catch(() => [])).join();
    return [twice.guid, env['DELIVERED_TWICE'] ?? ''].every((guid) => remembered.includes(guid));
  });
  for (const service of ['event-router', 'deliverer']) await stack.stack.service(service).stop();
  await until('Redis has forgotten', () => redis.flushdb().catch(() => false));
  for (const service of ['event-router', 'deliverer']) await stack.stack.service(service).start();
  await stack.upstream.publish(twice);
  await receiver.untilReceived('/mended', 2);

  const shipper = await stack.client('shipper');
  receiver.answer('/slow', (response, { headers }) => {
    const isFirst = headers['x-webhook-attempt'] === '1';
    void (isFirst ? Promise.resolve() : areAnswered).then(() => response.writeHead(isFirst ? 503 : 200).end());
  });
  await shipper.subscribe('order.paid', receiver.url('/slow'));
  await shipper.hear('order.paid');
  env['SHIPPER_TOKEN'] = shipper.token;
}

async function untilIs(client: Client, delivery: string, status: string): Promise<void> {
  await until(`${delivery} is ${status}`, async () => {
    const { body } = await client.call('GET', `/v1/deliveries/${delivery}`);
    return (body as { status?: string }).status === status;
  });
}

/** What the command prints: requests are made by its words, as curl would make them. */
async function run(command: string): Promise<string> {
  const [, program = ''] = /^(?:\.\/)?(\w+)/.exec(command) ?? [];
  const [words = []] = wordsFor(program, command.replace(/^\.\//, ''), env);
  if (program === 'curl') return (await curl(words)).text();
  const { stdout, stderr } = await runWaybell(stack, words);
  return stdout + stderr;
}

/** What has to be done before a question can be asked. */
const before: Record<number, () => Promise<unknown>> = {
  // What is stopped sooner does not get through.
  12: () =>
    until('the replay is published', async () => (await run(questions[10]?.command ?? '')).includes('"published":1')),
  13: () =>
    until('the replay got through', async () =>
      (await run(questions[4]?.command ?? '')).includes('"status":"delivered"'),
    ),
};

export function support(): void {
  describe('docs/support.md', () => {
    beforeAll(happen);
    afterAll(() => answered());

    test('has an answer to twenty questions', () => {
      expect(questions).toHaveLength(20);
      expect(ANSWERS).toHaveLength(20);
    });

    test.each(questions.map((each, place) => [place + 1, each] as const))(
      'answers question %d',
      async (number, { command, answer }) => {
        await before[number]?.();
        // What changes something is asked for once; what is asked can be asked again until it is written down.
        const isAsking = !/-X|--yes/.test(command);
        let told = await run(command);
        if (isAsking) {
          await until('it is told', async () => answer.test((told = await run(command)))).catch(() => undefined);
        }
        expect(told).toMatch(answer);
        if (number === 10) env['REPLAY'] = (JSON.parse(told) as { guid: string }).guid;
      },
    );
  });
}
