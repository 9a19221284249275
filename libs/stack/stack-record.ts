import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { freePort, noteOwner, ownerOf } from './ports.ts';
import { writePrivately, stackFolder, type StackFolder } from './stack-folder.ts';

/** The state that a stack keeps from one `up` to the next: its secrets, and where its servers listen and store. */
export type StackRecord = {
  secretKeys: string;
  /** Passwords of the administrator of RabbitMQ, the owner of the database, and all users of Redis. */
  brokerPassword: string;
  databasePassword: string;
  cachePassword: string;
  erlangCookie: string;
  ports: Record<string, number>;
  /** In the names of its containers and their volumes, where any of its servers has run in one. */
  containedAs?: string;
  /** Folder of Postgres' files, where it is not in the stack's own (see postgres-folder.ts). */
  postgresFolder?: string;
};

/** Reads the record, or makes one with new secrets. */
export function readRecord(folder: StackFolder): StackRecord {
  if (existsSync(folder.recordFile)) {
    // Written by writeRecord and by nothing else.
    return JSON.parse(readFileSync(folder.recordFile, 'utf8')) as StackRecord;
  }
  const record: StackRecord = {
    secretKeys: `local:${randomBytes(32).toString('base64')}`,
    brokerPassword: aPassword(),
    databasePassword: aPassword(),
    cachePassword: aPassword(),
    erlangCookie: aPassword(),
    ports: {},
  };
  writeRecord(folder, record);
  return record;
}

const aPassword = (): string => randomBytes(16).toString('hex');

export function writeRecord(folder: StackFolder, record: StackRecord): void {
  writePrivately(folder.recordFile, `${JSON.stringify(record, null, 2)}\n`);
}

/** A port for each name, the same as last time where it is still free. Kept in the record. */
export async function claimPorts(folder: StackFolder, record: StackRecord, names: string[]): Promise<void> {
  const others = Object.entries(record.ports).filter(([name]) => !names.includes(name));
  const taken = new Set(others.map(([, port]) => port));
  for (const name of names) {
    const preferred = record.ports[name];
    const port = await freePort({ taken, ...(preferred === undefined ? {} : { preferred }) });
    noteOwner(port, folder.home);
    record.ports[name] = port;
  }
  writeRecord(folder, record);
}

/**
 * Returns the part of the names of the stack's containers and volumes: unique for this record, because a volume keeps its first
 * passwords.
 */
export function containedAs(folder: StackFolder, record: StackRecord): string {
  record.containedAs ??= randomBytes(4).toString('hex');
  writeRecord(folder, record);
  return record.containedAs;
}

/** The port claimed for `name`. */
export function portOf(record: StackRecord, name: string): number {
  const port = record.ports[name];
  if (port === undefined) throw new Error(`no port was claimed for ${name}`);
  return port;
}

/**
 * The stack of this user that has a private server of its own at this address, whether it runs or not: no other server has
 * its password. Undefined where the server is of no such stack.
 */
export function stackAt(address: string): StackFolder | undefined {
  if (!URL.canParse(address)) return undefined;
  const { port, password } = new URL(address);
  const home = ownerOf(Number(port));
  if (home === undefined) return undefined;
  const folder = stackFolder(home);
  if (!existsSync(folder.recordFile)) return undefined;
  const { brokerPassword, databasePassword, cachePassword } = readRecord(folder);
  return [brokerPassword, databasePassword, cachePassword].includes(password) ? folder : undefined;
}
