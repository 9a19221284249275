import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll } from '@jest/globals';

/** Disposed of from the last to the first. */
const running: Partial<AsyncDisposable>[] = [];

/**
 * What `start` makes, for all tests of a file or of the `describe` that this is called in: started before the first of them
 * and disposed of, if it can be, after the last. Nothing can be read of it where the file is loaded.
 */
export function shared<T extends object>(start: () => T | Promise<T>): T {
  let started: T | undefined;
  beforeAll(async () => {
    const place = running.push({}) - 1;
    running[place] = started = await start();
  });
  // Jest calls these in their order: each disposes of another one's.
  afterAll(async () => running.pop()?.[Symbol.asyncDispose]?.());
  const read = (): T => {
    if (started === undefined) throw new Error('it is started before the first test, not where the file is loaded');
    return started;
  };
  // Methods see what was started, not the proxy: private fields are its own.
  return new Proxy({} as T, {
    get(_, name) {
      const target = read();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' && !Object.hasOwn(target, name) ? value.bind(target) : value;
    },
    set: (_, name, value) => Reflect.set(read(), name, value),
    deleteProperty: (_, name) => Reflect.deleteProperty(read(), name),
    has: (_, name) => Reflect.has(read(), name),
    ownKeys: () => Reflect.ownKeys(read()),
    getOwnPropertyDescriptor(_, name) {
      const own = Reflect.getOwnPropertyDescriptor(read(), name);
      return own && { ...own, configurable: true };
    },
    getPrototypeOf: () => Reflect.getPrototypeOf(read()),
  });
}

/** A folder with this in its name, from now until the last test; what was started after it ends before. */
export function sharedFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `waybell-${name}-`));
  shared(() => ({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) }));
  return folder;
}

/** Gets what the tests of a file open, which is disposed of after each: what was opened last is first. */
export function openedByEach() {
  const opened: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
  });
  return Object.assign(opened, {
    async use<T extends AsyncDisposable>(opening: Promise<T>): Promise<T> {
      const made = await opening;
      opened.push(made);
      return made;
    },
  });
}

/** The tests of a file trust these certificates as well. */
export function trusted(...certificates: string[]): void {
  const before = tls.getCACertificates('default');
  beforeAll(() => tls.setDefaultCACertificates([...before, ...certificates]));
  afterAll(() => tls.setDefaultCACertificates(before));
}
