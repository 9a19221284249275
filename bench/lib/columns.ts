/** Explanations of the tables' columns, for `--help`. A table without a unit in its columns has one in its title. */
export const COLUMNS: Readonly<Record<string, string>> = {
  '': 'the first column, without a name: what was measured: Waybell, or what it is compared with',
  'deliveries/s': 'callbacks answered, per second',
  deliveries: 'deliveries that travel in one message, on the mean',
  all: 'the whole: CPU or wake-ups of all parts, each part beside it',
  'p50, p99': 'half, and 99 of 100, took no longer; of F2 and low in half of the windows of 2 s',
  'waybell, bare line, times': 'what each takes, and the first as a multiple of the second',
  'messages published, Redis commands':
    'messages that RabbitMQ took, and commands that Redis ran, those of scripts included',
  'commits, rows written': 'transactions and rows that Postgres wrote',
  'WAL bytes, WAL syncs': 'what Postgres writes ahead, and how often it waits until that is on disk',
  'least, longest, most': 'the shortest and the longest that was seen',
  'after, expected, came': 'the delay that the schedule says, retries due, and retries that came',
  service: 'the process that the row is about',
  CPU: 'time on a core, % of one',
  'CPU per request, µs': 'CPU that one request costs the process',
  'requests/s': 'requests answered, per second',
  'pass, whole handshakes, resumed':
    'each round over the same hosts, TLS handshakes in full, and those that were cut short',
  'resident, MiB': 'memory of the process at the end of the pass',
  'a second': 'attempts, or whole deliveries, written down, per second',
  'CPU of the process, µs, CPU of Postgres, µs': 'for each of these',
  'WAL, bytes': 'what Postgres writes ahead for each of these',
  'table, rows, GB': 'a table of the delivery log, and its size with its indexes',
  'of that indexes': 'the part of the column before it',
  'bytes per row, bytes on disk': 'with indexes',
  'put/s, sent/s': 'deliveries put aside for an endpoint that hangs, and sent once it answers, per second',
  'reports/s, CPU per report, µs': 'location reports read per second, and what one costs',
  'vehicles/s': 'states of vehicles kept, per second',
  'vehicles, silent, seconds': 'all, those that fell silent, and the time until all of these were announced',
  'Redis, bytes per vehicle, Postgres, bytes per vehicle': 'memory and disk that one vehicle takes',
  asked: 'how many questions the row is made of',
  'who, without: p99, while it is: p99': 'who waits, while no day is dropped and while one is',
  'committed/s, published/s': 'events of transactions that were committed, and events that the broker took, per second',
  'caller, relay, postgres, rabbitmq': 'CPU that one event costs each of these processes',
  taken: 'what one delivery takes; of files, how many of ours an event enters',
  'promise, bar, here, verdict': 'under "Bars": what is promised, the limit, what came out, and whether it is met',
};

/** Each with what it says, aligned. */
export function describeColumns(): string[] {
  return Object.entries(COLUMNS).map(([names, meaning]) => `  ${(names || '(none)').padEnd(WIDTH)}${meaning}`);
}

const WIDTH = 56;
