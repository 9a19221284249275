import { createHmac } from 'node:crypto';
import type { Interface } from '@waybell/catalog/action';
import { isOfOwner, ownerOf } from '@waybell/delivery-log/listener-client';
import type { Queryable } from '@waybell/runtime/postgres';
import type { KeyRing } from '@waybell/runtime/secrets';
import type { Actor } from './actor.ts';
import type { Database } from './database.ts';
import { ENDED, LOCK_ACCOUNT, subscribeIn, type ChangingClient } from './subscriptions.ts';

/** A program of a client's to which callbacks go over a stream. It is a client too: its subscriptions are that one's. */
export type Listener = { guid: string; interface: Interface; accountGuid: string; clientId: string; isEnded: boolean };

export type NewListener = { guid: string; callbackUrl: string; actions: readonly string[]; verificationToken: string };

/** How many there may be: of one client, and in all. */
export type ListenerLimits = { listenersPerClient: number; listeners: number };

export type ListenerOptions = {
  database: Database;
  keyRing: KeyRing;
  /** How long a listener lives without being kept alive. */
  lifeMs: number;
  limits: ListenerLimits;
};

export type Listeners = {
  /** Begins a listener, as this client; `taken` while another one of the client lives. One that lives no more is ended. */
  begin(client: ChangingClient, listener: NewListener): Promise<'begun' | 'taken' | 'too many of it' | 'too many'>;
  /** Undefined where there was none, or it ended long ago. */
  find(guid: string): Promise<Listener | undefined>;
  /** Ends it with its subscriptions. */
  end(actor: Actor, guid: string): Promise<void>;
  /** Keeps these alive. Resolves with those that have not ended. */
  keep(guids: readonly string[]): Promise<string[]>;
  /** Ends those that live no more, with their subscriptions. */
  sweep(): Promise<void>;
};

/** A listener is shown as ended until then. */
const FORGOTTEN_AFTER = "interval '1 day'";

/** Ends those of which this is so, with their subscriptions. */
const endWhere = (condition: string): string => `
  with ended as (
    update waybell.listeners set ended_at = now() where ended_at is null and ${condition}
    returning account_guid, interface, client_id)
  update waybell.subscriptions s set ${ENDED} from ended
  where (s.account_guid, s.interface, s.client_id) = (ended.account_guid, ended.interface, ended.client_id)
    and s.ended_at is null`;

const IS_SILENT = 'alive_until < now()';

const COUNT = `
  select count(*)::int as all, count(*) filter (where account_guid = $1 and ${isOfOwner('client_id', '$2')})::int as own
  from waybell.listeners where ended_at is null`;

const INSERT = `
  insert into waybell.listeners (guid, interface, account_guid, client_id, alive_until)
  values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond')
  on conflict (account_guid, client_id) where ended_at is null do nothing`;

const KEEP = `
  update waybell.listeners set alive_until = now() + $2 * interval '1 millisecond'
  where guid = any ($1::uuid[]) and ended_at is null returning guid`;

/** The author of changes that nobody requested. */
const BY_ITSELF: Actor = { who: 'listeners', origin: 'subscription-api', requestId: null };

export function keepListeners({ database, keyRing, lifeMs, limits }: ListenerOptions): Listeners {
  const change = <T>(work: (postgres: Queryable) => Promise<T>) => database.change(BY_ITSELF, work);
  return {
    begin: (client, { guid, actions, callbackUrl, verificationToken }) =>
      database.change(client.actor, async (postgres) => {
        const { accountGuid, clientId } = client;
        const which = [accountGuid, clientId];
        await postgres.query(LOCK_ACCOUNT, [accountGuid]);
        await postgres.query(endWhere(`${IS_SILENT} and (account_guid, client_id) = ($1, $2)`), which);
        const { rows } = await postgres.query<{ all: number; own: number }>(COUNT, [accountGuid, ownerOf(clientId)]);
        if ((rows[0]?.own ?? 0) >= limits.listenersPerClient) return 'too many of it';
        if ((rows[0]?.all ?? 0) >= limits.listeners) return 'too many';
        const made = await postgres.query(INSERT, [guid, client.interface, ...which, lifeMs]);
        if (made.rowCount === 0) return 'taken';
        for (const action of actions) {
          const wanted = { action, callbackUrl, auditFieldSet: null, verificationToken };
          await subscribeIn(postgres, client, wanted, keyRing);
        }
        return 'begun';
      }),
    async find(guid) {
      const found = await database.run((source) =>
        source.query<Listener[]>(
          `select guid, interface, account_guid as "accountGuid", client_id as "clientId", ended_at is not null as "isEnded"
           from waybell.listeners where guid = $1`,
          [guid],
        ),
      );
      return found[0];
    },
    end: (actor, guid) =>
      database.change(actor, async (postgres) => void (await postgres.query(endWhere('guid = $1'), [guid]))),
    keep: (guids) =>
      change(async (postgres) => {
        const { rows } = await postgres.query<{ guid: string }>(KEEP, [guids, lifeMs]);
        return rows.map(({ guid }) => guid);
      }),
    sweep: () =>
      change(async (postgres) => {
        await postgres.query(endWhere(IS_SILENT));
        await postgres.query(`delete from waybell.listeners where ended_at < now() - ${FORGOTTEN_AFTER}`);
      }),
  };
}

/** The token in a listener's callbacks: the same for each session, as long as its signing secret is the same. */
export function verificationTokenOf(signingSecret: string): string {
  return createHmac('sha256', signingSecret).update('verification token').digest('base64url');
}
