import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageGuidOf } from '../../actions/oracle/message-guid.ts';
import { whyOf, type Attempted } from '@waybell/line/outcomes';
import type { End, HostileReceiver } from '../../receivers/hostile-receiver.ts';
import { hostileReceivers } from '../../receivers/hostile-receivers.ts';
import { trustedCertificate } from '../../receivers/secure-receivers.ts';
import { anEvent, type PublishedEvent } from '../../testing/event.ts';
import type { Ledger } from '../../testing/ledger.ts';
import { subscribed } from '../../testing/subscribers.ts';
import type { Fault } from '../fault.ts';
import { buildPlainStage, type BuiltStage, type Scale, type Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

/** Every receiver of tests/receivers, all at once, beside receivers that behave. */
export const hostileReceiversAmongOthers: Fault[] = [
  {
    row: 'L9',
    name: 'receivers that misbehave in every known way',
    buildStage: buildTrustingStage,
    settings: {
      // Connections to the broadcast address are tried, and fail.
      CALLBACK_ALLOW_NETWORKS: '127.0.0.0/8,::1/128,255.255.255.255/32',
      CARRIER_RESPONSE_LIMIT: '2s',
      SHIPPER_HANDOVER_LIMIT: '2500ms',
      // Many of them hang, and those have a tenth of the slots together.
      DELIVER_SLOTS: '256',
      // Some are asked to take more than the buffers of the kernel do.
      EVENT_MAX_SIZE: '9MiB',
      // So many failures at so many hosts would count as a fault of ours.
      DEACTIVATION_SURGE_FEW: '0',
      DEACTIVATION_SURGE_MANY: '0',
    },
    bars: { duplicates: 0, movingAgainSeconds: 5, megabytes: 400 },
    run: underLoad(amongHostile),
  },
];

async function amongHostile(stage: Stage, ledger: Ledger): Promise<string[]> {
  await using servers = new AsyncDisposableStack();
  const hostile = await Promise.all(
    Object.entries(hostileReceivers).map(async ([name, receiver]) =>
      subscribedAt(stage, { name, receiver, url: servers.use(await receiver.start()).url }),
    ),
  );
  const first = await published(
    stage,
    hostile.map((each) => ({ ...each, end: each.receiver.end })),
  );
  const problems = await wrongEnds(ledger, first);
  const second = await published(
    stage,
    hostile.flatMap((each) =>
      each.receiver.secondEnd === undefined ? [] : [{ ...each, end: each.receiver.secondEnd }],
    ),
  );
  return [...problems, ...(await wrongEnds(ledger, second))];
}

type Hostile = { name: string; receiver: HostileReceiver; url: string };
type Subscribed = Hostile & { account: string; subscription: string };
type Expected = { name: string; end: End };

/** Subscribes with an address that the API takes, and moves it: a name may lead anywhere later. */
async function subscribedAt(stage: Stage, hostile: Hostile): Promise<Subscribed> {
  const side = interfaceOf(hostile);
  const wanted = { interface: side, action: ACTIONS[side], folder: '/hostile', answers: [] };
  const { account, addresses } = await subscribed(stage, wanted);
  const subscription = addresses[0]?.subscription ?? '';
  await stage.stack.postgres.query('update waybell.subscriptions set callback_url = $1 where guid = $2', [
    hostile.url,
    subscription,
  ]);
  return { ...hostile, account, subscription };
}

const interfaceOf = ({ receiver }: Hostile) => receiver.request?.interface ?? 'carrier';

// None that the load has: the large among these may hold up no other.
const ACTIONS = { shipper: 'escalation.submitted', carrier: 'order.updated' };

/** Publishes an event for each; resolves with how each delivery is to end, by its guid. */
async function published(
  { stack }: Stage,
  all: readonly (Subscribed & { end: End })[],
): Promise<Map<string, Expected>> {
  const expected = new Map<string, Expected>();
  for (const each of all) {
    const event = eventFor(each);
    await stack.upstream.publishUntilConfirmed(event);
    expected.set(messageGuidOf(event.guid, each.subscription), each);
  }
  return expected;
}

/** Waits for the ends, and says which are not as documented. */
async function wrongEnds(ledger: Ledger, expected: ReadonlyMap<string, Expected>): Promise<string[]> {
  const records = Map.groupBy(await ledger.untilEnded([...expected.keys()]), ({ delivery }) => delivery);
  return [...expected].flatMap(([delivery, { name, end }]) => {
    const was = howItWent(records.get(delivery) ?? []);
    return was === end ? [] : [`a receiver that ${name}: ${was} instead of ${end}`];
  });
}

/** An event of the size that the receiver's misbehaviour takes. */
function eventFor(hostile: Subscribed): PublishedEvent {
  const interfaceName = interfaceOf(hostile);
  return anEvent({
    interface: interfaceName,
    action: ACTIONS[interfaceName],
    parties: { [interfaceName]: hostile.account },
    payload: {
      order_guid: randomUUID(),
      escalation_guid: randomUUID(),
      comment: 'x'.repeat(hostile.receiver.request?.body?.length ?? 0),
    },
  });
}

/** Why its attempts failed, each reason once; where none did, its end. */
function howItWent(records: readonly Attempted[]): string {
  const reasons = records.flatMap((record) =>
    record.kind === 'failed' || record.kind === 'exhausted' ? [whyOf(record)] : [],
  );
  return [...new Set(reasons.length > 0 ? reasons : records.map(({ kind }) => kind))].join(' and ') || 'rejected';
}

/** Its services trust the authority whose certificates are at fault in one point only. */
async function buildTrustingStage(settings: Record<string, string>, scale: Scale): Promise<BuiltStage> {
  const beneath = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'waybell-trust-'));
  beneath.defer(() => rm(folder, { recursive: true }));
  const file = join(folder, 'authority.pem');
  await writeFile(file, trustedCertificate);
  return buildPlainStage({ ...settings, NODE_EXTRA_CA_CERTS: file }, scale, { beneath });
}
