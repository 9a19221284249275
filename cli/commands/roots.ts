import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { LEAST_TLS } from '@waybell/runtime/callback-terms';
import { readEnvironment } from '@waybell/runtime/environment';
import { withoutRootDot } from '@waybell/runtime/names/resolve-host';
import { isForbiddenPort, isForbiddenAddress, type CallbackNetworks } from '@waybell/runtime/networks';
import type { Queryable } from '@waybell/runtime/postgres';
import { callbackConfig } from '@waybell/runtime/process-config';
import { callbackSettings } from '@waybell/runtime/settings';
import { accountCalled, namesOf } from '../accounts.ts';
import { counted } from '../in-words.ts';
import { print, report } from '../print.ts';
import { withDatabase } from '../with-database.ts';

/** A host that callbacks go to by https, as certificates name it, and the accounts that send them there. */
type SecureReceiver = { host: string; port: number; accounts: string[] };

/** A Node's view of a receiver: where a chain ends that it trusts, else why it does not. `isAway`: it could not be connected. */
type Trusting = { root: string | null; refused: string | null; isAway: boolean };
type NodeSays = { version: string; roots: string[]; trusting: Trusting[] };

type ComparedRoots = { receiver: SecureReceiver; kind: 'good' | 'hit' | 'bad already' | 'not known'; says: string };

type RootTerms = {
  /** This Node, and the other. */
  nodes: string[];
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
};

type ReceiverPlace = { host: string; port: number; address?: string; why?: string };

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

async function roots({ against }: { against: string }): Promise<void> {
  const terms = {
    nodes: [process.execPath, against],
    ...callbackConfig(readEnvironment(callbackSettings, process.env)),
  };
  await withDatabase(process.env, async (postgres) => {
    const { changes, compared } = await compareTrust(await secureReceivers(postgres), terms);
    print(...changes);
    const nameOf = await namesOf(
      postgres,
      compared.flatMap(({ receiver }) => receiver.accounts),
    );
    for (const { receiver, kind, says } of compared.filter((each) => each.kind !== 'good'))
      for (const account of receiver.accounts)
        print(`${kind}: ${accountCalled(account, nameOf)}  ${receiver.host}:${receiver.port}  ${says}`);
    const [hit, unknown] = ['hit', 'not known'].map((kind) => compared.filter((each) => each.kind === kind).length);
    report(`${counted(compared.length, 'receiver')}: ${hit} would be hit, of ${unknown} it is not known`);
    if (hit || unknown) process.exitCode = hit ? 1 : 2;
  });
}

async function secureReceivers(postgres: Queryable): Promise<SecureReceiver[]> {
  const { rows } = await postgres.query<{ account: string; url: string }>(
    `select distinct account_guid as account, substring(callback_url from '^https://[^/?]*') as url
     from waybell.subscriptions where ended_at is null and callback_url like 'https:%' order by 2, 1`,
  );
  return [...Map.groupBy(rows, ({ url }) => url)].map(([url, those]) => {
    const { hostname, port } = new URL(url);
    const host = withoutRootDot(hostname.replaceAll(/[[\]]/g, ''));
    return { host, port: Number(port || 443), accounts: those.map(({ account }) => account) };
  });
}

/** Has both Nodes connect to each receiver, at an address that callbacks may reach, and says how the other differs. */
export async function compareTrust(receivers: readonly SecureReceiver[], { nodes, ...terms }: RootTerms) {
  const places = await Promise.all(receivers.map((receiver) => placeOfReceiver(receiver, terms)));
  // In turn: together they could be more than a receiver accepts.
  const here = await trustOf(nodes[0] ?? '', places);
  const there = await trustOf(nodes[1] ?? '', places);
  const only = (one: NodeSays, other: NodeSays) => one.roots.filter((root) => !other.roots.includes(root));
  return {
    changes: [
      `Node ${here.version} to ${there.version}`,
      ...only(here, there).map((root) => `  trusted no more: ${root}`),
      ...only(there, here).map((root) => `  trusted from then on: ${root}`),
    ],
    compared: receivers.map((receiver, index) => compare(receiver, here.trusting[index], there.trusting[index])),
  };
}

function compare(receiver: SecureReceiver, now?: Trusting, then?: Trusting): ComparedRoots {
  const root = now?.root ?? then?.root;
  const says = `${root ? `ends at ${root}: ` : ''}${then?.refused ?? 'trusted'}`;
  if (then?.refused === null) return { receiver, kind: 'good', says };
  if (now?.refused === null) return { receiver, kind: 'hit', says };
  return { receiver, kind: now?.isAway === false && then?.isAway === false ? 'bad already' : 'not known', says };
}

async function placeOfReceiver(
  { host, port }: SecureReceiver,
  { networks, deniedPorts }: Omit<RootTerms, 'nodes'>,
): Promise<ReceiverPlace> {
  const place = { host, port };
  if (isForbiddenPort({ protocol: 'https:', port: String(port) }, deniedPorts))
    return { ...place, why: 'callbacks are not sent to this port' };
  try {
    const addresses = await lookup(host, { all: true });
    const allowed = addresses.find(({ address }) => !isForbiddenAddress(address, networks));
    if (allowed !== undefined) return { ...place, address: allowed.address };
    return { ...place, why: `is at ${addresses[0]?.address}, where callbacks are not sent` };
  } catch (error) {
    return { ...place, why: String(error) };
  }
}

async function trustOf(path: string, places: readonly ReceiverPlace[]): Promise<NodeSays> {
  try {
    const running = promisify(execFile)(path, ['--eval', TRUST_SCRIPT], { maxBuffer: 2 ** 26 });
    running.child.stdin?.on('error', () => undefined).end(JSON.stringify(places));
    // Its shape is that of MEET.
    return JSON.parse((await running).stdout) as NodeSays;
  } catch (cause) {
    throw new Error(`${path} is no Node that can say it`, { cause });
  }
}

/** Run by either Node, so that what it refuses beside unknown roots counts, too. */
const TRUST_SCRIPT = `
  const nameOf = (text) => text.replaceAll('\\n', ', ');
  const connect = ({ host, port, address, why }) => new Promise((resolve) => {
    if (why !== undefined) return resolve({ root: null, refused: why, isAway: true });
    const named = net.isIP(host) ? {} : { servername: host };
    const socket = tls.connect({ host: address, port, ...named, minVersion: '${LEAST_TLS}' });
    const end = (answer) => { resolve(answer); socket.destroy(); };
    socket.setTimeout(10_000, () => end({ root: null, refused: 'no answer in 10 s', isAway: true }));
    socket.on('error', ({ code, message, syscall }) => end({ root: null, refused: code ?? message, isAway: syscall !== undefined }));
    socket.once('secureConnect', () => {
      let last = socket.getPeerX509Certificate();
      while (last?.issuerCertificate && last.issuerCertificate !== last) last = last.issuerCertificate;
      end({ root: last ? nameOf(last.issuer) : null, refused: null, isAway: false });
    });
  });
  (async () => {
    const receivers = JSON.parse(fs.readFileSync(0, 'utf8'));
    const trusting = [];
    while (trusting.length < receivers.length)
      trusting.push(...(await Promise.all(receivers.slice(trusting.length, trusting.length + 64).map(connect))));
    const trusted = tls.getCACertificates?.('default') ?? tls.rootCertificates;
    const roots = trusted.map((pem) => nameOf(new crypto.X509Certificate(pem).subject));
    console.log(JSON.stringify({ version: process.versions.node, roots, trusting }));
  })();`;
