import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import type { Stage } from './stage.ts';

/** The broker closes every connection of a service; its process lives. */
export async function cutConnections({ stack }: Stage, service: string): Promise<void> {
  const { spec } = stack.stack.servers.process('rabbitmq');
  const rows = (await rabbitmqctl(spec, 'list_connections', '--no-table-headers', 'pid', 'client_properties')).split(
    '\n',
  );
  const own = rows.filter((row) => row.includes(`{"connection_name","${service}`));
  for (const row of own) {
    // One may have gone since.
    await rabbitmqctl(spec, 'close_connection', row.split('\t')[0] ?? '', 'cut by hand').catch(() => undefined);
  }
}
