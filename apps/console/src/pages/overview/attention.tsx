import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Status } from '../../parts/status.tsx';
import { counted } from '../../parts/counted.ts';
import { Moment } from '../../parts/moment.tsx';
import type { Overview, RunningService } from '../operators/types.ts';

/** Problems that need a person at once, or that there are none. */
export function Attention({ overview }: { overview: Overview }) {
  const troubles = troublesOf(overview);
  if (troubles.length === 0) {
    return (
      <p className="calm line">
        <Status of="running" /> Every service runs, and every queue has a consumer.
      </p>
    );
  }
  return (
    <ul className="attention" aria-label="Needs a person">
      {troubles.map(({ key, text }) => (
        <li key={key}>{text}</li>
      ))}
    </ul>
  );
}

type Trouble = { key: string; text: ReactNode };

function troublesOf({ services, switched_off: { held }, queues, last_hour: lastHour }: Overview): Trouble[] {
  // A cause is told in place of its effect.
  const away = services.objects.filter(({ processes, silent }) => processes === 0 || silent > 0);
  const unattended = (queues?.unattended ?? 0) - away.reduce((sum, each) => sum + (each.unattended ?? 0), 0);
  const troubles: Trouble[] = away.map((each) => ({ key: each.service, text: <Away service={each} /> }));
  if (held > 0)
    troubles.push({
      key: 'held',
      text: (
        <>
          <Link to="/switched-off">{counted(held, 'subscription')}</Link> would be switched off, so many at once that
          the fault may be ours: held.
        </>
      ),
    });
  if (unattended > 0)
    troubles.push({
      key: 'queues',
      text: (
        <>
          <Link to="/queues">{counted(unattended, 'queue')}</Link> without a consumer.
        </>
      ),
    });
  if (queues === null)
    troubles.push({ key: 'broker', text: 'RabbitMQ does not answer, or ADMIN_AMQP_URL is not set.' });
  if (lastHour === null) troubles.push({ key: 'hour', text: 'The last hour could not be counted in time.' });
  return troubles;
}

function Away({
  service: { service, processes, silent, silent_since: since, unattended },
}: {
  service: RunningService;
}) {
  return (
    <>
      {processes === 0 ? (
        `No ${service} runs`
      ) : (
        <>
          {silent < processes && `${silent} of ${processes}: `}
          {service} does not answer since {since !== null && <Moment at={since} />}
        </>
      )}
      {(unattended ?? 0) > 0 && (
        <>
          : its <Link to="/queues">{counted(unattended ?? 0, 'queue')}</Link>{' '}
          {unattended === 1 ? 'has no consumer' : 'have no consumer'}
        </>
      )}
      .
    </>
  );
}
