import { existsSync } from 'node:fs';
import { ownerOf } from './free-port.ts';
import { stackFolder, type StackFolder } from './stack-folder.ts';
import { readRecord } from './stack-record.ts';

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
