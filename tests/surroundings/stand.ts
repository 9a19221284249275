import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { anAuthority, type Authority } from '@waybell/runtime/testing/certificate';
import { dnsServer, type DnsServer, type Said } from '@waybell/runtime/testing/dns-server';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { integrator, type Integrator } from '../testing/integrator.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { ownSurroundings, replaceFile } from './own-surroundings.ts';

/** The one system, all of it in a network of its own, with the settings that operators have: no address inside is allowed. */
export let stack: TestStack;
/** At every address of the network, on `PORT`. */
export let receiver: Receiver;
/** The one name server, at first; `names` is what it says, of all else that there is no such name. */
export let nameServer: DnsServer;
export const names = new Map<string, Said>();
/** Services trust it. */
export const authority: Authority = anAuthority('surroundings');

export const PORT = 8080;
export const NAME_SERVER = '127.0.0.53';
export const OTHER_NAME_SERVER = '127.0.0.54';

/** Public addresses, one for each receiver; `publicAddress(0)` is the first. */
export const publicAddress = (number: number): string => `11.22.33.${number + 1}`;
/** The same one as a NAT64 with the well-known prefix (RFC 6052) shows it. */
export const translated = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `64:ff9b::${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
};
/** The prefix of an operator's own NAT64, /64: the address inside lies around the octet that is zero (RFC 6052, 2.2). */
export const OWN_PREFIX = '2a00:64:64:64::/64';
export const OWN_PUBLIC = '2a00:64:64:64:b:1621:b00:0';
export const OWN_INSIDE = '2a00:64:64:64:a:102:300:0';
export const PUBLIC_IPV6 = '2a00:1450::11';
export const INSIDE = '10.1.2.3';
export const INSIDE_IPV6 = 'fd00::1:2:3';
/** Networks of all addresses above. */
const NETWORKS = ['11.22.33.0/24', '10.1.2.0/24', '64:ff9b::/96', '2a00::/16', 'fd00::/64'];

/** The smallest TTL that has an effect. */
const TTL_MS = 1_000;

const UNTIL_OFF = publicAddress(39);

const home = mkdtempSync(join(tmpdir(), 'waybell-surroundings-'));

beforeAll(async () => {
  ownSurroundings({ networks: NETWORKS });
  resolveBy({ servers: [NAME_SERVER] });
  const ca = join(home, 'ca.pem');
  writeFileSync(ca, authority.cert);
  nameServer = await dnsServer(saying, { host: NAME_SERVER, port: 53 });
  receiver = await Receiver.start(['::'], PORT);
  stack = await TestStack.startAlone({
    CALLBACK_ALLOW_NETWORKS: '',
    REQUESTS_PER_MINUTE: '100000',
    NODE_EXTRA_CA_CERTS: ca,
    // The last guard would hide what those before it miss: faults-of-all.ts has it on.
    DEACTIVATION_SURGE_FEW: '0',
    DEACTIVATION_SURGE_MANY: '0',
  });
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  await nameServer?.[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});

/** Returns the answers of the name server here. */
export const saying = (name: string): Said =>
  names.get(name) ?? (name === '' ? { addresses: [], ttlSeconds: 0 } : 'absent');

/** Replaces resolv.conf(5). */
export function resolveBy({ servers, more = [] }: { servers: readonly string[]; more?: readonly string[] }): void {
  replaceFile('/etc/resolv.conf', [...servers.map((server) => `nameserver ${server}`), ...more]);
}

export type Carrier = Integrator & { host: string };

/** A carrier that is subscribed at this origin. */
export const carrierAt = (origin: string): Promise<Integrator> =>
  integrator({ stack, receiver, interfaceName: 'carrier', origin });

/** A carrier whose host has a name, of these addresses. */
export async function carrierOf(...addresses: string[]): Promise<Carrier> {
  const host = `hooks.${randomUUID()}.test`;
  moveTo(host, ...addresses);
  const carrier = await carrierAt(`http://${host}:${PORT}`);
  // The next request resolves the name again, which a kept connection would not.
  carrier.answer((response) => response.writeHead(200, { connection: 'close' }).end());
  return { ...carrier, host };
}

/** Makes carriers, each with a host and an address of its own. */
export async function carriers(count: number): Promise<Carrier[]> {
  const all: Carrier[] = [];
  for (let number = 0; number < count; number += 1) all.push(await carrierOf(publicAddress(number)));
  return all;
}

export const moveTo = (host: string, ...addresses: string[]): unknown =>
  names.set(host, { addresses, ttlSeconds: TTL_MS / 1_000 });

/** Waits until what the name server said before is forgotten. */
export async function untilForgotten(): Promise<void> {
  const since = wallClockMs();
  await until('what was said of names is forgotten', () => wallClockMs() - since > 2 * TTL_MS);
}

/** Publishes an event for each. */
export async function hear(all: readonly Integrator[]): Promise<void> {
  await Promise.all(all.map((each) => each.hear()));
}

/** Waits until each of them has taken so many different notifications in all. */
export async function untilServed(all: readonly Integrator[], count: number): Promise<void> {
  const counts = () => all.map(({ path }) => taken(path).size);
  const isServed = () => counts().every((each) => each >= count);
  // Not while there is more and more.
  await until(`each of ${all.length} has ${count}`, isServed, () => counts().join());
}

/** The ids of what was answered with success at that path. */
export function taken(path: string): Set<unknown> {
  const answered = receiver.at(path).filter(({ answered: status = 0 }) => status >= 200 && status < 300);
  return new Set(answered.map(({ headers }) => headers['webhook-id']));
}

/** Fails where one of them was switched off. */
export async function expectOn(all: readonly Integrator[]): Promise<void> {
  const standings = await Promise.all(all.map((each) => each.standing()));
  expect(standings.map(({ is_active: isActive }) => isActive)).toEqual(all.map(() => true));
}

/** Resolves when a carrier would be off whose attempts have all failed from now on: one whose receiver is at fault is. */
export async function untilOthersWouldBeOff(): Promise<void> {
  const failing = await carrierAt(`http://${UNTIL_OFF}:${PORT}`);
  failing.answer(500);
  await failing.hear();
  await failing.untilOff();
}

/** The services that look names up, with these settings beside their own, until the end of that. */
export async function looking(settings: Record<string, string> = {}): Promise<AsyncDisposable> {
  const changed = await Promise.all(
    ['subscription-api', 'deliverer'].map((name) => stack.withSettings(name, settings)),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(changed.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** Returns what a service waits for, in its own words; undefined once it is ready. */
export const waitsFor = (service: string): Promise<string | undefined> => stack.stack.service(service).spec.waitsFor();

/** Starts that service again: it knows of no receiver that was well, and nothing that it was told before. */
export async function startAgain(service: string): Promise<void> {
  await stack.postgres.query('update waybell.subscriptions set last_success_at = null');
  await stack.stack.service(service).restart();
}
