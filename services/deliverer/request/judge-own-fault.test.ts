import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { closeServer, listen } from '@waybell/runtime/health';
import { UnresolvedHost } from '@waybell/runtime/names/name-servers';
import { until } from '@waybell/runtime/testing/until';
import { Egress, type FailedAttempt } from '../egress/egress.ts';
import { attempting } from '../testing/attempting.ts';
import { aDelivery } from '../testing/delivery.ts';
import { type EndpointOptions, judgeOwnFault, judgeTokenUrl, type JudgeOwnFaultOptions } from './call-endpoint.ts';
import { silentLog } from '@waybell/runtime/testing/patience';
import { openCaller } from '../testing/caller.ts';

const HOSTS = Array.from({ length: 10 }, (_, number) => `127.0.0.${number + 20}`);

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** A receiver that answers until it is shut, and again at the same port once it is opened. */
class Place {
  readonly server: Server = createServer((_, response) => response.setHeader('connection', 'close').end());
  readonly host: string;
  port = 0;

  constructor(host: string) {
    this.host = host;
  }

  get url(): string {
    return `http://${this.host}:${this.port}/hook`;
  }

  async open(): Promise<void> {
    this.port = (await listen(this.server, this)).port;
  }

  async shut(): Promise<void> {
    const closed = closeServer(this.server);
    this.server.closeAllConnections();
    await closed;
  }
}

async function places(hosts = HOSTS): Promise<Place[]> {
  const all = hosts.map((host) => new Place(host));
  await Promise.all(all.map((place) => place.open()));
  opened.defer(() => Promise.all(all.map((place) => place.shut())).then(() => undefined));
  return all;
}

function anEgress(what: Partial<EndpointOptions> = {}) {
  const endpoints = opened.use(openCaller(what));
  const options = { probes: [], recentlyWell: async () => [], clock: systemClock };
  const egress = opened.use(new Egress({ ...options, ...endpoints, log: silentLog }));
  const callEndpoint = attempting(judgeOwnFault({ ...endpoints, egress, clock: systemClock }));
  const call = (callbackUrl: string, isLast = true) =>
    callEndpoint({ delivery: aDelivery(), callbackUrl, verificationToken: '', signingSecrets: [], isLast });
  const callTokenUrl = judgeTokenUrl({ ...endpoints, egress, clock: systemClock });
  const ask = async (url: string) => (await callTokenUrl({ url, headers: {}, body: '', secrets: [] })).result;
  return { egress, call, ask };
}

describe('a last attempt that reaches no receiver', () => {
  test('is its receiver’s fault beside others that are there, however many share the dead host', async () => {
    const [dead, ...others] = await places();
    if (dead === undefined) throw new Error('there are some');
    const { egress, call } = anEgress();
    for (const { url } of [dead, ...others]) expect(await call(url)).toMatchObject({ isDelivered: true });
    await dead.shut();
    const failed = await Promise.all(Array.from({ length: 20 }, (_, number) => call(`${dead.url}/${number}`)));
    for (const each of failed) expect(each).toEqual(expect.not.objectContaining({ isOurs: true }));
    expect(failed.filter(({ isDelivered }) => isDelivered)).toEqual([]);
    expect(egress.isSuspected).toBe(false);
    await dead.open();
  });

  test('is ours when no other receiver is there either, until they are there again', async () => {
    const all = await places();
    const { egress, call } = anEgress();
    for (const { url } of all) await call(url);
    await Promise.all(all.map((place) => place.shut()));
    const calls = await Promise.all(all.map(({ url }) => call(url)));
    expect(calls).toEqual(all.map(() => expect.objectContaining({ isDelivered: false, isOurs: true })));
    expect(egress.isSuspected).toBe(true);
    await Promise.all(all.map((place) => place.open()));
    await until('it is back', () => !egress.isSuspected);
    for (const { url } of all) expect(await call(url)).toEqual(expect.objectContaining({ isDelivered: true }));
  });
});

test('a request for a token that reaches nothing is judged as a last attempt is', async () => {
  const [dead, ...others] = await places();
  if (dead === undefined) throw new Error('there are some');
  const { call, ask, egress } = anEgress();
  for (const { url } of [dead, ...others]) await call(url);
  await dead.shut();
  expect(await ask(dead.url)).toEqual(expect.not.objectContaining({ isOurs: true }));
  await Promise.all(others.map((place) => place.shut()));
  expect(await ask(dead.url)).toMatchObject({ isDelivered: false, isOurs: true });
  await Promise.all([dead, ...others].map((place) => place.open()));
  await until('it is back', () => !egress.isSuspected);
  expect(await ask(dead.url)).toMatchObject({ isDelivered: true });
});

describe('a last attempt whose name leads nowhere it may go', () => {
  /** Receivers that answered by name, each at its own address, until a test changes that. */
  async function named() {
    const all = await places();
    const led = new Map(all.map(({ host }, number) => [`receiver-${number}.test`, host]));
    const resolveHost = async (host: string) => {
      const address = led.get(host);
      if (address === undefined) throw new UnresolvedHost(host, undefined);
      return [{ address, family: 4 }];
    };
    const urls = all.map(({ port }, number) => `http://receiver-${number}.test:${port}/hook`);
    const { egress, call } = anEgress({ resolveHost });
    for (const url of urls) expect(await call(url)).toMatchObject({ isDelivered: true });
    return { egress, call, urls, led };
  }

  const lies: [string, (led: Map<string, string>) => void, string][] = [
    ['where callbacks never go', (led) => led.forEach((_, name) => led.set(name, '0.0.0.0')), 'blocked_address'],
    [
      'to as many places inside',
      (led) => [...led.keys()].forEach((name, n) => led.set(name, `10.0.0.${n}`)),
      'blocked_address',
    ],
    ['nowhere', (led) => led.clear(), 'dns'],
  ];

  test.each(lies)('is ours when all of those that were well are led %s', async (_, lie, reason) => {
    const { egress, call, urls, led } = await named();
    const before = new Map(led);
    lie(led);
    const calls = await Promise.all(urls.map((url) => call(url)));
    for (const each of calls) expect(each).toMatchObject({ isDelivered: false, isOurs: true, reason });
    expect(egress.isSuspected).toBe(true);
    before.forEach((host, name) => led.set(name, host));
    await until('it is back', () => !egress.isSuspected);
    for (const url of urls) expect(await call(url)).toMatchObject({ isDelivered: true });
  });

  test.each([
    ['blocked_address', '0.0.0.0', undefined],
    ['dns', undefined, undefined],
    ['connect_refused', '203.0.113.9', '203.0.113.9'],
  ] as const)(
    'is judged by where it led, which is nowhere if it must not go there: %s',
    async (reason, ip, address) => {
      const judged: (string | undefined)[] = [];
      const egress = {
        answered: () => undefined,
        isOurs: async (lost: FailedAttempt) => Boolean(judged.push(lost.address)),
      };
      const called = { isDelivered: false, reason, durationMs: 1, lostAt: 'connecting' as const, ...(ip && { ip }) };
      const made: JudgeOwnFaultOptions['callEndpoint'] = (_, onEnd) => onEnd(called);
      const callEndpoint = attempting(judgeOwnFault({ callEndpoint: made, egress, clock: systemClock }));
      const call = { callbackUrl: 'https://receiver.test/', verificationToken: '', signingSecrets: [], isLast: true };
      await callEndpoint({ delivery: aDelivery(), ...call });
      expect(judged).toEqual([address]);
    },
  );

  test.each(lies.slice(1))('is its receiver’s fault when that alone is led %s', async (_, lie, reason) => {
    const { egress, call, urls, led } = await named();
    const [url = ''] = urls;
    const alone = new Map([...led].slice(0, 1));
    lie(alone);
    led.delete('receiver-0.test');
    alone.forEach((host, name) => led.set(name, host));
    const answer = await call(url);
    expect(answer).toMatchObject({ isDelivered: false, reason });
    expect(answer).not.toHaveProperty('isOurs');
    expect(egress.isSuspected).toBe(false);
  });
});

describe('an attempt that this machine could not make', () => {
  const failing = (code: string, address = '127.0.0.1') =>
    Object.assign(new Error(`connect ${code}`), { code, address });
  const fails = (fault: Error) =>
    anEgress({ resolveHost: () => Promise.reject(fault) }).call('http://receiver.test/', false);
  const ours = expect.objectContaining({ isOurs: true, isDelivered: false });

  test.each(['ENETDOWN', 'EPERM', 'EACCES', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])('is ours: %s', async (code) => {
    // This machine is known to have IPv4 now.
    const { call } = anEgress({ resolveHost: () => Promise.reject(failing(code)) });
    await until('it is ours', async () => (await call('http://receiver.test/', false)).isOurs === true);
  });

  test.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ETIMEDOUT', 'ECONNRESET'])(
    'is not, by its code alone: %s',
    async (code) => {
      expect(await fails(failing(code))).not.toEqual(ours);
    },
  );

  test('is not where this machine has a route, and a router on the way has none', async () => {
    expect(await fails(failing('ENETUNREACH'))).not.toEqual(ours);
  });

  test('is ours only where each address of the host failed so', async () => {
    const own = failing('EPERM');
    expect(await fails(new AggregateError([own, failing('ECONNREFUSED')]))).not.toEqual(ours);
    expect(await fails(new AggregateError([own, own]))).toEqual(ours);
  });

  test('is not where callbacks never go', async () => {
    expect(await anEgress().call('http://10.0.0.1/')).toEqual(expect.not.objectContaining({ isOurs: true }));
  });
});
