import { openCaller } from '@waybell/deliverer/testing/caller';

/** A program of its own, for Node's own settings: makes one attempt at the address that it is given, and prints how it ended. */

const [, , callbackUrl = ''] = process.argv;

await using caller = openCaller();
const { reason = 'delivered' } = await caller.call(callbackUrl);
console.log(reason);
