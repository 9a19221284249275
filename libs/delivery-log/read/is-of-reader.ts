import { ownerOf } from '../listener-client.ts';
import type { ClientReader, Reader } from './entries.ts';

/** Whether the reader may see a delivery: an API client sees its own, and its listeners' if it asks for them. */
export function isOfReader(
  { account, client, interface: interfaceName }: Pick<ClientReader, 'account' | 'client' | 'interface'>,
  reader: Reader,
): boolean {
  if (reader === 'operator') return true;
  const readable = reader.withListeners ? ownerOf(client) : client;
  return account === reader.account && readable === reader.client && interfaceName === reader.interface;
}
