import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { readNetworks } from '@waybell/runtime/forbidden-address';
import { closeServer, listen } from '@waybell/runtime/health';
import { createLog } from '@waybell/runtime/log';
import { until } from '@waybell/runtime/testing/until';
import { openEndpoints, type EndpointOptions } from '../request/call-endpoint.ts';
import { aDelivery } from '../testing/delivery.ts';
import { blaming } from './blame.ts';
import { Egress } from './egress.ts';

const LONG_MS = 60_000;
const HOSTS = Array.from({ length: 10 }, (_, number) => `127.0.0.${number + 20}`);

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** A receiver that answers, until it is shut, and again at the same place once it is opened. */
class Place {
  readonly server: Server = createServer((_, response) => response.end());
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
  const endpoints = opened.use(
    openEndpoints({
      limits: { shipper: { handoverMs: LONG_MS, responseMs: LONG_MS }, carrier: { responseMs: LONG_MS } },
      networks: readNetworks(['127.0.0.0/8']),
      connectTimeoutMs: LONG_MS,
      keepAliveMs: LONG_MS,
      userAgent: 'test',
      ...what,
    }),
  );
  const options = { probes: [], recentlyWell: async () => [], clock: systemClock };
  const egress = opened.use(
    new Egress({ ...options, ...endpoints, log: createLog({ service: 'test', level: 'silent' }) }),
  );
  const callEndpoint = blaming({ ...endpoints, egress, clock: systemClock });
  const call = (callbackUrl: string, isLast = true) =>
    callEndpoint({ delivery: aDelivery(), callbackUrl, verificationToken: '', signingSecrets: [], isLast });
  return { egress, call };
}

describe('a last attempt that reaches no receiver', () => {
  test('is its receiver’s affair beside others that are there, however many share the dead host', async () => {
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

describe('an attempt that this machine could not make', () => {
  const failing = (code: string, address = '127.0.0.1') =>
    Object.assign(new Error(`connect ${code}`), { code, address });
  const fails = (fault: Error) =>
    anEgress({ resolveHost: () => Promise.reject(fault) }).call('http://receiver.test/', false);
  const ours = expect.objectContaining({ isOurs: true, isDelivered: false });

  test.each(['ENETDOWN', 'EPERM', 'EACCES', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])('is ours: %s', async (code) => {
    // That this machine has IPv4 is learned by then.
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
