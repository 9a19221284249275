import { randomUUID } from 'node:crypto';

export type PublishedEvent = {
  guid: string;
  interface: 'shipper' | 'carrier';
  action: string;
  occurred_at: string;
  parties: Record<string, string>;
  payload: Record<string, unknown>;
};

/** An event as upstream would publish it. */
export function anEvent(
  what: Partial<PublishedEvent> & Pick<PublishedEvent, 'interface' | 'action' | 'parties'>,
): PublishedEvent {
  return {
    guid: randomUUID(),
    occurred_at: '2026-11-20T09:30:00.123456Z',
    payload: what.interface === 'carrier' ? { id: 4711, status: 'new' } : { order_guid: randomUUID() },
    ...what,
  };
}
