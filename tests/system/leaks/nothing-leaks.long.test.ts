import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@waybell/stack/ports';
import { connectProxy } from '@waybell/deliverer/testing/proxy';
import { lineTopology } from '@waybell/line/line-topology';
import { readOutcomes } from '@waybell/line/outcome-batch';
import { isAttempted, whyOf, type Outcome } from '@waybell/line/outcomes';
import { PATIENT } from '../../testing/patience.ts';
import { TestStack } from '../../testing/test-stack.ts';
import { SpanCollector } from '@waybell/runtime/testing/span-collector';
import { until } from '@waybell/runtime/testing/until';
import { isAllowed } from './allowed.ts';
import { breakServices } from './break-services.ts';
import type { Ended } from './broken-service.ts';
import { putCredentials, startTokenEndpoints } from './credentials.ts';
import { Planted, plantSettings } from './planted.ts';
import { startReceivers } from './receivers.ts';
import { runCommands } from './run-commands.ts';
import { findSecrets } from './secret-forms.ts';
import { readLogs, readMetrics, spyOn, type MessageSpy, type Saw } from './sightings.ts';
import { readRedis, readTables } from './stored.ts';
import { startIssuer } from './tokens.ts';
import { Witness, type Subscribed } from './witness.ts';

const DELAYS_MS = [100];

const planted = new Planted();
const saw: Saw[] = [];
let endings: Record<string, string | undefined>;
let broken: Map<string, Ended>;

function outcomesIn({ messages }: MessageSpy): Outcome[] {
  const batches = messages.filter(({ fields }) => fields.exchange === 'waybell.outcomes');
  return batches.flatMap(({ content }) => readOutcomes(content));
}

/** How the delivery of each subscription ended, by the subscription. */
function endingsIn(spy: MessageSpy): Map<string, string> {
  return new Map(
    outcomesIn(spy).flatMap((each): [string, string][] => {
      if (each.kind === 'delivered' || each.kind === 'dropped') return [[each.subscription, each.kind]];
      return each.kind === 'exhausted' ? [[each.subscription, whyOf(each) ?? '']] : [];
    }),
  );
}

/** A subscription for every way in which a delivery can end, by the name of the way. */
async function subscribeAll(witness: Witness, stack: TestStack, urls: Record<string, string>) {
  const { delivered = '', hung = '' } = urls;
  const subscribed = new Map<string, Subscribed>();
  const more = { blocked: delivered, unresolved: delivered, unsealed: delivered, dropped: hung };
  for (const [name, url] of Object.entries({ ...urls, ...more })) {
    subscribed.set(name, await witness.subscribe(url));
  }
  const change = (name: string, what: string) =>
    stack.postgres.query(`update waybell.subscriptions set ${what} where guid = $1`, [
      subscribed.get(name)?.subscription,
    ]);
  await change('blocked', `callback_url = replace(callback_url, 'localhost', '10.0.0.1')`);
  await change('unresolved', `callback_url = replace(callback_url, 'localhost', 'nowhere.invalid')`);
  await change('unsealed', 'verification_token_sealed = sha256(verification_token_sealed)');
  return subscribed;
}

function deliveriesOf({ subscription }: Subscribed, spy: MessageSpy): string[] {
  const attempted = outcomesIn(spy).filter(isAttempted);
  return [...new Set(attempted.filter((each) => each.subscription === subscription).map(({ delivery }) => delivery))];
}

/** Counts the subscriptions of which the delivery log has a delivery that ended. */
async function countEnded({ postgres }: TestStack): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>(
    `select count(distinct subscription)::int from delivery_log.attempts where kind <> 'failed'`,
  );
  return rows[0]?.count ?? 0;
}

/** Takes the servers away, and asks for something then. */
async function loseServers({ stack }: TestStack, witness: Witness): Promise<void> {
  await Promise.all(stack.servers.processes.map((server) => server.stop()));
  await until('every service misses them', async () => {
    const waits = await Promise.all(stack.services.map(({ spec }) => spec.waitsFor()));
    return waits.every((what) => what !== undefined);
  });
  await witness.ask('GET', '/v1/webhooks', { token: 'wbl_any' });
}

beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), 'waybell-leaks-'));
  await using _folder = { [Symbol.asyncDispose]: () => rm(home, { recursive: true }) };
  await using issuer = await startIssuer(planted, join(home, 'ca.pem'));
  await using receivers = await startReceivers(planted, issuer.authority);
  await using tokenUrls = await startTokenEndpoints(planted);
  await using proxy = await connectProxy((to) => ({ port: Number(to.split(':').at(-1)) }));
  await using collector = await SpanCollector.start();
  const adminPort = await freePort({ taken: new Set() });
  await using stack = await TestStack.startAlone({
    ...PATIENT,
    ...issuer.settings,
    LOG_LEVEL: 'debug',
    CALLBACK_PROXY: proxy.url.replace('//', `//me:${planted.plant('password of CALLBACK_PROXY')}@`),
    CARRIER_RETRY_DELAYS: DELAYS_MS.map((delayMs) => `${delayMs}ms`).join(),
    // Longer than receivers that answer stand still, where this process does.
    CARRIER_RESPONSE_LIMIT: '15s',
    ADMIN_PORT: String(adminPort),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${planted.plant('header for the collector')}`,
    PASS_TRACEPARENT: 'true',
  });
  plantSettings(planted, stack.stack.services);
  const schedule = { shipper: [60_000], carrier: DELAYS_MS };
  await using spy = await spyOn(stack.brokerUrl, lineTopology({ schedule, eventsLimitBytes: 1, quorumSize: 1 }));
  const witness = new Witness(stack, planted);
  const subscribed = await subscribeAll(witness, stack, receivers.urls);
  const named = (name: string) => {
    const found = subscribed.get(name);
    if (found === undefined) throw new Error(`nobody is called ${name}`);
    return found;
  };
  const [first, dropped] = [named('delivered'), named('dropped')];
  const clients = Object.fromEntries(
    Object.entries(receivers.urls).map(([name, url]) => [name, { subscribed: named(name), url }]),
  );
  await putCredentials(witness, planted, { clients, tokenUrls, authority: issuer.authority });
  await witness.rotate(first);
  await witness.readSubscription(first);
  await witness.askWrongly(first, await Promise.all([1, -1].map((hours) => issuer.issue(first.account, hours))));
  await witness.operate(`http://127.0.0.1:${adminPort}`, first);
  const breaking = breakServices(planted, stack.stack);
  const event = await witness.publish(first);
  for (const each of subscribed.values()) await witness.publish(each);
  await until('the delivery is made that is to be dropped', () =>
    outcomesIn(spy).some(
      (each) =>
        each.kind === 'routed' && each.deliveries.some(({ subscription }) => subscription === dropped.subscription),
    ),
  );
  await witness.unsubscribe(dropped);
  const nonsense = await witness.publishNonsense();
  const rejected = () => spy.messages.filter(({ fields }) => fields.exchange === 'waybell.rejected').length;
  await until('everything ended', () => endingsIn(spy).size === subscribed.size - 1 && rejected() === nonsense + 1);
  endings = Object.fromEntries(
    [...subscribed].map(([name, { subscription }]) => [name, endingsIn(spy).get(subscription)]),
  );
  await until('the delivery log knows it', async () => (await countEnded(stack)) === endingsIn(spy).size);
  for (const each of subscribed.values()) await witness.readDeliveries(each, deliveriesOf(each, spy));
  saw.push(...(await runCommands(stack, planted, { account: first.account, event, token: first.token })));
  saw.push(...(await readTables(stack.postgres)), ...(await readRedis(stack.stack.servers.url('redis'))));
  saw.push(...spy.saw());
  broken = await breaking;
  for (const [place, { output }] of broken) saw.push({ channel: 'output', place, text: output });
  await loseServers(stack, witness);
  saw.push(...(await readMetrics(stack.stack.services)));
  await Promise.all(stack.stack.services.map((service) => service.stop()));
  saw.push(...readLogs(join(stack.home, 'logs')), ...witness.answers);
  saw.push({ channel: 'span', place: 'the collector', text: Buffer.concat(collector.bodies).toString('latin1') });
});

describe('a secret', () => {
  test.each(['log', 'metrics', 'answer', 'message', 'store', 'output', 'command', 'span'])(
    'is seen in no %s where it may not be',
    (channel) => {
      const found = saw
        .filter((each) => each.channel === channel)
        .flatMap((each) =>
          findSecrets(each.text, planted.secrets)
            .filter((one) => !isAllowed(one, each))
            .map((one) => ({ place: each.place, ...one })),
        );
      expect(found).toEqual([]);
    },
  );
});

describe('what was looked through', () => {
  test.each([
    ['log', /"delivery":"/],
    ['metrics', /^waybell_outcomes_total/m],
    ['answer', /"verification_token"/],
    ['answer', /"status":"exhausted"/],
    ['answer', /"fingerprint":"/],
    ['answer', /invalid_client/],
    ['message', /"outcomes":/],
    ['store', /"verification_token_sealed"/],
    ['store', /"certificate_ends_at":"/],
    ['output', /"message":"broken on purpose/],
    ['command', /"subscription"/],
    ['command', /"username":"me"/],
    ['span', /http\.response\.status_code/],
  ])('is every %s', (channel, sign) => {
    expect(saw.filter((each) => each.channel === channel && sign.test(each.text))).not.toEqual([]);
  });

  test('has a delivery of every ending', () => {
    expect(endings).toEqual({
      delivered: 'delivered',
      refused: 'http_5xx',
      hung: 'response_timeout',
      redirected: 'redirect',
      garbled: 'invalid_response',
      unauthorized: 'credentials_unavailable',
      misunderstood: 'credentials_unavailable',
      certified: 'delivered',
      untrusted: 'tls_untrusted',
      unsecured: 'tls_failed',
      unresolved: 'dns',
      blocked: 'blocked_address',
      unsealed: undefined,
      dropped: 'dropped',
    });
  });

  test('has services that ended, and said why', () => {
    const said = [...broken].map(([name, { code, output }]) => [name, code, output.length > 0]);
    expect(said).toEqual([
      ['an error thrown', 1, true],
      ['a promise rejected', 1, true],
      ['passwords that are wrong', null, true],
      ['passwords that are wrong for the line', null, true],
      ['addresses that are no URLs', 2, true],
      ['addresses of another kind', 2, true],
      ['certificates that are none', 2, true],
      ['keys that are none', 2, true],
    ]);
  });
});
