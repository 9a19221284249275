import { Gauge } from 'prom-client';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { runEvery } from '@waybell/runtime/run-every';

/** A notice is published this long before a certificate ends: an authority may take weeks for the next one. */
const SOON = "interval '30 days'";

const TELL = { name: 'tell-ending-certificates', text: `select waybell.tell_ending_certificates(${SOON})` };
const COUNT = {
  name: 'count-certificates',
  text: `select valid, ending, over from waybell.count_certificates(${SOON})`,
};

export type TellCertificatesOptions = { intervalMs: number; log: Log; metrics: Metrics };

/** Writes notices of receivers' certificates that end, and counts them, at each interval. */
export function startTellingCertificates(
  postgres: Postgres,
  { intervalMs, log, metrics }: TellCertificatesOptions,
): AsyncDisposable {
  const gauge = gaugeCertificates(metrics);
  async function tell(): Promise<void> {
    await whenAvailable(postgres, () => postgres.query(TELL));
    const { rows } = await whenAvailable(postgres, () => postgres.query<Record<string, number>>(COUNT));
    for (const [state, certificates] of Object.entries(rows[0] ?? {})) gauge.set({ state }, certificates);
  }
  return runEvery(tell, { intervalMs, beginsAtOnce: true, warning: 'certificates.not-told', log });
}

export function gaugeCertificates(metrics: Metrics): Gauge<'state'> {
  return new Gauge({
    name: 'waybell_receiver_certificates',
    help: 'Client certificates for receivers: valid, ending (within 30 days), over',
    labelNames: ['state'],
    registers: [metrics],
  });
}
