import { systemClock } from '@waybell/runtime/clock';
import { Claiming, type ClaimedRows } from '../outbox/claimed-rows.ts';
import { publishAgain, type Publication, type Source } from '../messages.ts';

/** Publishes all due rows by a function instead of the line. If it rejects, the row is given back. */
export async function publishClaimedBy<Row>(
  rows: ClaimedRows<Row>,
  publish: (publication: Publication) => Promise<void>,
): Promise<boolean> {
  const claiming = new Claiming({ ...rows, name: 'test', clock: systemClock });
  const take = async ({ messages, acknowledge, giveBack }: Source) => {
    const published = Promise.all(
      messages.map((message) => publish(claiming.publicationOf(message) ?? publishAgain(message, message))),
    );
    await published.then(acknowledge, giveBack);
  };
  claiming.takingFor({ onTaken: (source) => void take(source), onCut: () => undefined });
  return claiming.publishDue();
}
