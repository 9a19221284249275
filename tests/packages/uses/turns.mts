import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createPublisher } from '@waybell/publisher';

/** Asks at each of many turns whether it may publish, with one signal, as a relay does for weeks. Prints how much the heap grew. */
const TURNS = 100_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heapBytes = async () => {
  await new Promise(setImmediate);
  collect();
  return process.memoryUsage().heapUsed;
};

const publisher = createPublisher({ url: process.env['AMQP_URL'] ?? '' });
const { signal } = new AbortController();
const turn = async (count: number) => {
  for (let index = 0; index < count; index += 1) {
    await publisher.ready({ signal });
    // Without a turn of the loop nothing is collected.
    if (index % 1_000 === 0) await new Promise(setImmediate);
  }
};
await turn(10_000);
const before = await heapBytes();
await turn(TURNS);
console.log('grew', (await heapBytes()) - before);
await publisher.close();
