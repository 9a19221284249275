/** A process whose publisher has no log, and has long found no broker when it ends. */
import { createPublisher } from '../publisher.ts';

const url = 'amqp://127.0.0.1:1';
const silent = createPublisher({ url });
let tries = 0;
const count = (_facts: object, message: string) => void (tries += message === 'broker.connect-failed' ? 1 : 0);
const counting = createPublisher({ url, log: { info: () => undefined, warn: count } });
while (tries < 5) await new Promise((resolve) => setTimeout(resolve, 10));
await Promise.all([silent.close(), counting.close()]);
