/** A process whose publisher has no log, and has long found no broker when it ends. */
import { until } from '@waybell/runtime/testing/until';
import { createPublisher } from '../publisher.ts';

const url = 'amqp://127.0.0.1:1';
const silent = createPublisher({ url });
let tries = 0;
const count = (_facts: object, message: string) => void (tries += message === 'broker.connect-failed' ? 1 : 0);
const counting = createPublisher({ url, log: { info: () => undefined, warn: count } });
await until('it has tried several times', () => tries >= 5);
await Promise.all([silent.close(), counting.close()]);
