import type { StackFolder } from './stack-folder.ts';
import type { StackRecord } from './stack-record.ts';
import type { ProcessSpec } from './supervised-process.ts';

export type ServerSetup = { folder: StackFolder; record: StackRecord; binary: string } & ServerKind;

/** `report` hears what takes long. */
export type ContainerSetup = Omit<ServerSetup, 'binary'> & { report: (line: string) => void };

export type ServerKind = {
  /** Virtual hosts of RabbitMQ in addition to `/`, with the same users and rights. */
  vhosts?: readonly string[] | undefined;
  /** Lines for rabbitmq.conf in addition to those that every node has. */
  configuration?: readonly string[] | undefined;
  /** For tests: nothing of it is to survive the machine, and many share it. */
  isThrowaway?: boolean | undefined;
};

/** A server of one stack, from a local binary or in a container. `prepare` writes its settings and, the first time, its data folder. */
export type PrivateServer = {
  url: string;
  /** In the order in which they are started. */
  processes: ProcessSpec[];
  prepare: () => Promise<void>;
};
