/** Parts the name of a client from what it is the listener of: no client's own name has a space (`isClientName`). */
const SEPARATOR = ' ';
const LISTEN = 'listen';

/** The client that a listener of another is, with subscriptions and secrets of its own. */
export function listenerClient(client: string, name: string): string {
  return [client, LISTEN, ...(name === '' ? [] : [name])].join(SEPARATOR);
}

/** The client itself, or the one whose listener it is. */
export function ownerOf(client: string): string {
  const [owner = client] = client.split(SEPARATOR);
  return owner;
}

/** Whether a column names the client of this parameter, or a listener of it. */
export const isOfOwner = (column: string, parameter: string): string =>
  `split_part(${column}, '${SEPARATOR}', 1) = ${parameter}`;
