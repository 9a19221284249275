import pg from 'pg';
import { microBatch } from '@waybell/runtime/micro-batch';

const CALLBACKS = {
  name: 'callbacks',
  text: `select wanted.key, callback_url
         from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) wanted(key, interface, action, account_guid)
         join waybell.subscriptions using (interface, action, account_guid) where ended_at is null and is_active`,
};

/** What comparators read of an event. */
export type BareEvent = {
  guid: string;
  interface: string;
  action: string;
  parties: Record<string, string>;
  payload: object;
};

/** One lookup, batched as the product's are: where the subscriber to this event is called; undefined without one. */
export function findCallbackIn(databaseUrl: string): (event: BareEvent) => Promise<string | undefined> {
  const postgres = new pg.Pool({ connectionString: databaseUrl, max: 5 });
  const find = microBatch<string>(async (keys) => {
    const parts = keys.map((key) => key.split(' '));
    const columns = [0, 1, 2].map((column) => parts.map((part) => part[column] ?? ''));
    const { rows } = await postgres.query<{ key: string; callback_url: string }>({
      ...CALLBACKS,
      values: [keys, ...columns],
    });
    return new Map(rows.map((row) => [row.key, row.callback_url]));
  });
  return ({ interface: interfaceName, action, parties }) =>
    find(`${interfaceName} ${action} ${parties[interfaceName] ?? ''}`);
}
