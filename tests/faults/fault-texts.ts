/** The fault of each row of the table in docs/guarantees.md. */
export const FAULT_TEXTS = {
  L1: 'service killed',
  L2: 'service restarted',
  L3: 'RabbitMQ stopped, killed',
  L4: 'Postgres away, read-only, locked, full, failed over',
  L5: 'Redis away, emptied, full, slow, failed over',
  L6: 'memory or disk alarm',
  L7: 'node of three killed, cut off, frozen, replaced',
  L8: 'malformed, forged messages',
  L9: 'misbehaving receivers',
  L10: 'backlog, everything restarted',
  L11: 'RabbitMQ killed while retries wait',
  L12: 'network to RabbitMQ cut, slow',
  L13: 'message that kills its process',
  L14: 'queue or binding wrong',
  L15: 'subscriptions switched off',
  L16: 'random faults in turn',
  L17: 'wrong clocks',
  L18: 'dead endpoint, deliverers killed',
  L19: 'queue stalled or missing; stops in alarms',
  L20: 'replicas killed, added, stopped',
  L21: 'hanging member in each batch',
  L22: 'largest events, most subscriptions',
  L23: 'our network or files run out',
  L24: 'random faults, three at once',
  L25: 'Postgres restored; key missing',
  L26: 'neighbouring versions side by side',
  G: 'vehicle positions, tracker killed',
  D1: 'delivery log killed',
} as const;

/** A line of the table. */
export type Line = keyof typeof FAULT_TEXTS;

export type Row = Exclude<Line, 'G'> | `G${number}`;

/** The rows of positions share a line. */
export const lineOf = (row: Row): Line => (isOfPositions(row) ? 'G' : row);

const isOfPositions = (row: Row): row is `G${number}` => row.startsWith('G');
