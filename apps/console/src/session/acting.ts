import { useSyncExternalStore } from 'react';
import type { ActedFor } from '../api/create-api.ts';

const PLACE = /^#(\/clients\/([0-9a-f-]{36})\/([^/?]+))/;

/** Returns the address of a client's pages for operators, behind the `#`. */
export const placeOfClient = ({ account, client }: ActedFor): string =>
  `/clients/${account}/${encodeURIComponent(client)}`;

/** Returns the client whose pages the address names; undefined if it names others. */
export function useClientInAddress(): ActedFor | undefined {
  const [, , account, client] = useSyncExternalStore(subscribe, placeInAddress).match(PLACE) ?? [];
  const decoded = client === undefined ? undefined : textOf(client);
  return account === undefined || decoded === undefined ? undefined : { account, client: decoded };
}

function placeInAddress(): string {
  return PLACE.exec(location.hash)?.[0] ?? '';
}

/** Decodes a segment of a path; undefined if that is impossible. */
function textOf(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  addEventListener('popstate', listener);
  return () => {
    removeEventListener('hashchange', listener);
    removeEventListener('popstate', listener);
  };
}
