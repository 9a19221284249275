import type { KeptFor } from '@waybell/line/kept/kept-in-all';
import { services } from '@waybell/stack/services';
import { counted, sizeOf } from '../amounts.ts';

/** What each service keeps until the broker takes it, a line a service; empty where nothing is kept. */
export function describeKept(kept: readonly KeptFor[]): string {
  return [...Map.groupBy(kept, ({ keptBy }) => keptBy)].map(([role, all]) => describeOf(role, all)).join('\n');
}

function describeOf(role: string, all: readonly KeptFor[]): string {
  const publications = all.reduce((sum, each) => sum + each.publications, 0);
  const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
  const [oldest] = all;
  return [
    `kept by ${services.find(({ databaseRole }) => databaseRole === role)?.name ?? role} until RabbitMQ takes it: `,
    [
      counted(publications, 'publication'),
      sizeOf(bytes),
      `for ${counted(all.length, 'destination')}`,
      ...(oldest === undefined
        ? []
        : [`oldest since ${new Date(oldest.oldestAt).toISOString()} for ${nameOf(oldest)}`]),
    ].join(', '),
  ].join('');
}

function nameOf({ exchange, routingKey }: KeptFor): string {
  return routingKey === '' ? exchange : `${exchange} ${routingKey}`;
}
