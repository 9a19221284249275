import type { StackFolder } from './stack-folder.ts';
import type { StackRecord } from './stack-record.ts';
import type { ProcessSpec } from './supervised-process.ts';

export type ServerSetup = { folder: StackFolder; record: StackRecord; binary: string };

/** A server run from a local binary. `prepare` writes its settings and, the first time, its data folder. */
export type PrivateServer = {
  url: string;
  /** In the order in which they are started. */
  processes: ProcessSpec[];
  prepare: () => Promise<void>;
};
