import { anAuthority } from '@waybell/runtime/testing/certificate';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { Client } from '../testing/test-stack.ts';

const DAY_MS = 86_400_000;

/** Puts credentials in for a host by the API. Throws where they are refused. */
export async function putCredentials(client: Client, host: string, given: object): Promise<void> {
  const { status, body } = await client.call('PUT', `/v1/credentials/${host}`, given);
  if (status >= 300) throw new Error(`they were refused with ${status}: ${JSON.stringify(body)}`);
}

/** A client's certificate in PEM that ends so many days from now, and its key. */
export function aClientCertificate(name: string, days: number): { chain: string; key: string } {
  const notAfter = new Date(wallClockMs() + days * DAY_MS);
  const { cert, key } = anAuthority('Gateways').issue({ name, notAfter });
  return { chain: cert, key };
}
