import pg from 'pg';
import { microBatch } from '@waybell/runtime/micro-batch';

const CALLBACKS = {
  name: 'callbacks',
  text: `select place::int, callback_url
         from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality wanted(interface, action, account_guid, place)
         join waybell.subscriptions using (interface, action, account_guid) where ended_at is null and is_active`,
};

/** The members of an event that comparators read. */
export type BareEvent = {
  guid: string;
  interface: string;
  action: string;
  parties: Record<string, string>;
  payload: object;
};

type CallbackQuery = { interface: string; action: string; account: string };

/** One lookup, batched as the product's are: where the subscriber to this event is called; undefined without one. */
export function findCallbackIn(databaseUrl: string): (event: BareEvent) => Promise<string | undefined> {
  const postgres = new pg.Pool({ connectionString: databaseUrl, max: 5 });
  const find = microBatch<CallbackQuery, string | undefined>(
    async (wanted) => {
      const values = [
        wanted.map((each) => each.interface),
        wanted.map(({ action }) => action),
        wanted.map(({ account }) => account),
      ];
      const { rows } = await postgres.query<{ place: number; callback_url: string }>({ ...CALLBACKS, values });
      const found = new Map(rows.map((row) => [row.place, row.callback_url]));
      return wanted.map((_, index) => found.get(index + 1));
    },
    { nameOf: (wanted) => `${wanted.interface} ${wanted.action} ${wanted.account}` },
  );
  return ({ interface: interfaceName, action, parties }) =>
    find({ interface: interfaceName, action, account: parties[interfaceName] ?? '' });
}
