import { until } from '@waybell/runtime/testing/until';

/** One event of a stream; a comment has no name. */
export type Told = { name?: string; id?: string; comment?: string; data?: Record<string, unknown> };

export type LiveReader = AsyncDisposable & {
  status: number;
  /** All that came so far. */
  told: Told[];
  /** Returns the events so far with this name. */
  of(name: string): Record<string, unknown>[];
  lastId(): string;
  /** Whether the server has ended it as an answer ends, or cut its connection. */
  state(): 'open' | 'ended' | 'cut';
};

/** Reads a stream of server-sent events, on a connection of its own, until disposed of. Resolves once the answer has begun. */
export async function readLive(
  port: number,
  { token, path = '/v1/live', query = '', lastId }: { token: string; path?: string; query?: string; lastId?: string },
): Promise<LiveReader> {
  const closing = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}${path}${query}`, {
    headers: { authorization: `Bearer ${token}`, ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal: closing.signal,
  });
  const told: Told[] = [];
  let state: 'open' | 'ended' | 'cut' = 'open';
  const reading = collect(response, told).then(
    () => (state = 'ended'),
    () => (state = 'cut'),
  );
  if (response.ok) await until('the stream has begun', () => told.length > 0);
  return {
    status: response.status,
    told,
    of: (name) => told.flatMap((each) => (each.name === name && each.data !== undefined ? [each.data] : [])),
    lastId: () => told.findLast(({ id }) => id !== undefined)?.id ?? '',
    state: () => state,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await reading;
    },
  };
}

async function collect(response: Response, told: Told[]): Promise<void> {
  let rest = '';
  for await (const chunk of (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) told.push(read(block));
  }
}

function read(block: string): Told {
  const told: Told = {};
  for (const line of block.split('\n')) {
    const [field = '', ...value] = line.split(': ');
    const text = value.join(': ');
    if (field === 'event') told.name = text;
    if (field === 'id') told.id = text;
    if (field === '') told.comment = text;
    // The data is an object.
    if (field === 'data') told.data = JSON.parse(text) as Record<string, unknown>;
  }
  return told;
}
