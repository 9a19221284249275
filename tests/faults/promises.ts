/** Descriptions of the rows of the table in docs/guarantees.md. */
export const PROMISES = {
  L1: 'a service killed: its work comes again, requests in hand at most once more',
  L2: 'a service restarted: nothing is cut, nothing repeated',
  L3: 'RabbitMQ stopped or killed: services wait and go on by themselves',
  L4: 'Postgres away, read-only, locked or full: what is known goes on, the rest waits',
  L5: 'Redis away, emptied, full or slow: the line does not stop',
  L6: 'a memory or disk alarm: deliveries go on, a backlog drains',
  L7: 'nodes of a cluster killed, cut off, still, replaced, restarted, rebalanced: all goes on',
  L8: 'malformed and forged messages: rejected once, with the reason',
  L9: 'receivers that misbehave in every known way: no other endpoint notices',
  L10: 'a large backlog, everything restarted while it drains: memory stays flat',
  L11: 'RabbitMQ killed while retries wait in it',
  L12: 'the way to the broker cut, slow or narrow',
  L13: 'a message that breaks its handler or its process: its neighbors go on',
  L14: 'a binding, a queue or its arguments wrong: other actions go on',
  L15: 'subscriptions go off when the rules say, once, and no other does',
  L16: 'anything, one after the other, at random',
  L17: 'clocks of services set wrong: no attempt is early, and none is made by a clock that is far off',
  L18: 'a dead endpoint beside others that recover, and deliverers that die',
  L19: 'a stalled or missing queue, links cut, stops during an alarm',
  L20: 'three replicas of each service killed, added and stopped',
  L21: 'deliveries that travel together live apart',
  L22: 'as large, and for as many, as upstream may send: memory stays under 300 MB',
  L23: 'our own network or files run out: no receiver is blamed',
  L24: 'anything, up to three at once, at random',
  L25: 'Postgres restored to an earlier time; a key that is left out',
  L26: 'two neighbouring versions beside each other, upgraded and rolled back',
  G: 'positions: each change and each leg told, once, whatever dies or differs',
  D1: 'the delivery log tells each attempt and each end, once',
} as const;

/** A line of the table. */
export type Line = keyof typeof PROMISES;

export type Row = Exclude<Line, 'G'> | `G${number}`;

/** The rows of positions share a line. */
export const lineOf = (row: Row): Line => (isOfPositions(row) ? 'G' : row);

const isOfPositions = (row: Row): row is `G${number}` => row.startsWith('G');
