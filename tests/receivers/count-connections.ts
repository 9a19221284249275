import { createHook } from 'node:async_hooks';

/**
 * Counts the connections that this process begins, to whatever address, answered or not: a listener only sees those that
 * lead to it.
 */
export function countConnections(): { begun(): number } & Disposable {
  let begun = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'TCPCONNECTWRAP') begun += 1;
    },
  }).enable();
  return { begun: () => begun, [Symbol.dispose]: () => void hook.disable() };
}
