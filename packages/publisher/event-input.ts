import type { Event } from './events.ts';

type EventFields<E> = E extends Event
  ? { [Name in keyof E as Exclude<Name, 'guid' | 'occurred_at'>]: E[Name] } & {
      /** Identifies the event: a random one unless given. */
      guid?: string | undefined;
      /** When it happened: now, unless given. A text is RFC 3339 with up to nine fractional digits. */
      occurred_at?: string | Date | undefined;
    }
  : never;

/** An event as one hands it over to be published: any of the catalog. */
export type EventInput = EventFields<Event>;
