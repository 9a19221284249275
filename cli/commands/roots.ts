import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { json } from 'node:stream/consumers';
import { Command } from 'commander';
import { LEAST_TLS } from '@waybell/runtime/callback-terms';
import { isForbiddenPort } from '@waybell/runtime/callback-ports';
import { readEnvironment } from '@waybell/runtime/environment';
import { isForbiddenAddress, type CallbackNetworks } from '@waybell/runtime/forbidden-address';
import { withoutRootDot } from '@waybell/runtime/names/host-name';
import type { Queryable } from '@waybell/runtime/postgres';
import { callbackConfig } from '@waybell/runtime/process-config';
import { callbackSettings } from '@waybell/runtime/settings';
import { accountCalled, namesOf } from '../account-called.ts';
import { counted } from '../amounts.ts';
import { print } from '../print.ts';
import { report } from '../report.ts';
import { withDatabase } from '../with-database.ts';

export function rootsCommand(): Command {
  return new Command('roots')
    .description('say, before Node is upgraded, which receivers another Node would not trust')
    .requiredOption('--against <path>', 'the other Node')
    .addHelpText(
      'after',
      '\nBoth Nodes agree on TLS with the host of each current subscription, directly, and send nothing: start it where callbacks leave, with the CALLBACK_ settings and NODE_EXTRA_CA_CERTS of the deliverer.' +
        '\nExits with 1 if a receiver would fail, and with 2 if that is not known of one.' +
        '\nDATABASE_URL names the database; without it, the running stack is meant.' +
        '\n\nExample:\n  ./waybell roots --against ~/node-v26.12.1/bin/node\n',
    )
    .action(roots);
}

/** A host that callbacks go to by https, and the accounts that send them there. `host` is as certificates name it. */
type SecureReceiver = { host: string; port: number; accounts: string[] };

/** A Node's view of a receiver: where a chain ends that it trusts, else why it does not. `isAway`: it could not be connected. */
type Trusting = { root: string | null; refused: string | null; isAway: boolean };
type NodeSays = { version: string; roots: string[]; trusting: Trusting[] };

type ComparedRoots = { receiver: SecureReceiver; kind: 'good' | 'hit' | 'bad already' | 'not known'; says: string };

async function roots({ against }: { against: string }): Promise<void> {
  const { networks, deniedPorts } = callbackConfig(readEnvironment(callbackSettings, process.env));
  await withDatabase(process.env, async (postgres) => {
    const receivers = await secureReceivers(postgres);
    const { changes, compared } = await compareTrust(receivers, {
      nodes: [process.execPath, against],
      networks,
      deniedPorts,
    });
    print(...changes);
    const nameOf = await namesOf(
      postgres,
      receivers.flatMap(({ accounts }) => accounts),
    );
    for (const { receiver, kind, says } of compared) {
      if (kind === 'good') continue;
      for (const account of receiver.accounts)
        print(`${kind}: ${accountCalled(account, nameOf)}  ${receiver.host}:${receiver.port}  ${says}`);
    }
    const count = (kind: ComparedRoots['kind']) => compared.filter((each) => each.kind === kind).length;
    report(
      `${counted(compared.length, 'receiver')}: ${count('hit')} would be hit, of ${count('not known')} it is not known`,
    );
    if (count('hit') > 0) process.exitCode = 1;
    else if (count('not known') > 0) process.exitCode = 2;
  });
}

async function secureReceivers(postgres: Queryable): Promise<SecureReceiver[]> {
  const { rows } = await postgres.query<{ account: string; url: string }>(
    `select distinct account_guid as account, split_part(callback_url, '?', 1) as url from waybell.subscriptions
     where ended_at is null and callback_url like 'https:%' order by 2, 1`,
  );
  const receivers = new Map<string, SecureReceiver>();
  for (const { account, url } of rows) {
    const { hostname, port } = new URL(url);
    const receiver = {
      host: withoutRootDot(hostname.replaceAll(/[[\]]/g, '')),
      port: Number(port || 443),
      accounts: [],
    };
    const { accounts } = getOrInsert(receivers, `${receiver.host} ${receiver.port}`, receiver);
    if (!accounts.includes(account)) accounts.push(account);
  }
  return [...receivers.values()];
}

function getOrInsert<K, V>(map: Map<K, V>, key: K, value: V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  map.set(key, value);
  return value;
}

type RootTerms = {
  /** This Node, and the other. */
  nodes: [string, string];
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
};

/** Has both Nodes meet each receiver, at an address that callbacks may reach, and says how the other differs. */
export async function compareTrust(receivers: readonly SecureReceiver[], { nodes, ...terms }: RootTerms) {
  const places = await Promise.all(receivers.map((receiver) => placeOfReceiver(receiver, terms)));
  const reached = receivers.flatMap(({ host, port }, index) => {
    const place = places[index];
    return place === undefined || 'why' in place ? [] : [{ host, port, address: place.address }];
  });
  // In turn: together they could be more than a receiver takes.
  const here = await askNode(nodes[0], reached);
  const there = await askNode(nodes[1], reached);
  let next = 0;
  const compared = receivers.map((receiver, index): ComparedRoots => {
    const place = places[index];
    if (place === undefined || 'why' in place) return { receiver, kind: 'not known', says: place?.why ?? '' };
    const [now, then] = [here.trusting[next], there.trusting[next]];
    next += 1;
    return { receiver, ...compare(now, then) };
  });
  const only = (one: NodeSays, other: NodeSays) => one.roots.filter((root) => !other.roots.includes(root));
  return {
    changes: [
      `Node ${here.version} to ${there.version}`,
      ...only(here, there).map((root) => `  trusted no more: ${root}`),
      ...only(there, here).map((root) => `  trusted from then on: ${root}`),
    ],
    compared,
  };
}

function compare(now: Trusting | undefined, then: Trusting | undefined): Omit<ComparedRoots, 'receiver'> {
  if (now === undefined || then === undefined) return { kind: 'not known', says: 'that Node says nothing of it' };
  const root = now.root ?? then.root;
  const says = `${root === null ? '' : `ends at ${root}: `}${then.refused ?? 'trusted'}`;
  if (then.refused === null) return { kind: 'good', says };
  if (now.refused === null) return { kind: 'hit', says };
  return { kind: now.isAway || then.isAway ? 'not known' : 'bad already', says };
}

async function placeOfReceiver(
  { host, port }: SecureReceiver,
  { networks, deniedPorts }: Omit<RootTerms, 'nodes'>,
): Promise<{ address: string } | { why: string }> {
  if (isForbiddenPort({ protocol: 'https:', port: String(port) }, deniedPorts))
    return { why: 'callbacks are not sent to this port' };
  try {
    const addresses = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
    const allowed = addresses.find(({ address }) => !isForbiddenAddress(address, networks));
    return allowed ?? { why: `is at ${addresses[0]?.address}, where callbacks are not sent` };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** Run by either Node, so that what it refuses beside unknown roots counts, too. */
const MEET = `
  const { connect, getCACertificates = () => tls.rootCertificates } = tls;
  const limitMs = 10_000;
  const nameOf = (text) => text.replaceAll('\\n', ', ');
  const meet = ({ host, port, address }) => new Promise((resolve) => {
    const named = net.isIP(host) ? {} : { servername: host };
    const socket = connect({ host: address, port, ...named, minVersion: '${LEAST_TLS}' });
    const end = (answer) => { resolve(answer); socket.destroy(); };
    socket.setTimeout(limitMs, () => end({ root: null, refused: 'no answer in ' + limitMs + ' ms', isAway: true }));
    socket.on('error', ({ code, message, syscall }) => end({ root: null, refused: code ?? message, isAway: syscall !== undefined }));
    socket.once('secureConnect', () => {
      let last = socket.getPeerX509Certificate();
      while (last?.issuerCertificate && last.issuerCertificate !== last) last = last.issuerCertificate;
      end({ root: last ? nameOf(last.issuer) : null, refused: null, isAway: false });
    });
  });
  const receivers = JSON.parse(fs.readFileSync(0, 'utf8'));
  const trusting = [];
  while (trusting.length < receivers.length)
    trusting.push(...(await Promise.all(receivers.slice(trusting.length, trusting.length + 64).map(meet))));
  const roots = getCACertificates('default').map((pem) => nameOf(new crypto.X509Certificate(pem).subject));
  console.log(JSON.stringify({ version: process.versions.node, roots, trusting }));`;

async function askNode(path: string, receivers: object[]): Promise<NodeSays> {
  const child = execFile(path, ['--eval', `(async () => {${MEET}})()`]);
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Error(`${path} cannot be run: ${error.message}`)));
  });
  child.stdin?.on('error', () => undefined).end(JSON.stringify(receivers));
  if (child.stdout === null) throw new Error(`${path} cannot be run`);
  // Its shape is that of MEET.
  const said = json(child.stdout).catch(() => Promise.reject(new Error(`${path} is no Node that can say it`)));
  return (await Promise.race([said, failed])) as NodeSays;
}
