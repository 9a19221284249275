import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Status } from '../../parts/status.tsx';
import { counted } from '../../parts/counted.ts';
import type { Overview } from '../operators/types.ts';

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
  const troubles: Trouble[] = services.objects
    .filter(({ processes }) => processes === 0)
    .map(({ service }) => ({ key: service, text: `No ${service} runs.` }));
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
  if (queues !== null && queues.unattended > 0)
    troubles.push({
      key: 'queues',
      text: (
        <>
          <Link to="/queues">{counted(queues.unattended, 'queue')}</Link> without a consumer.
        </>
      ),
    });
  if (queues === null)
    troubles.push({ key: 'broker', text: 'RabbitMQ does not answer, or ADMIN_AMQP_URL is not set.' });
  if (lastHour === null) troubles.push({ key: 'hour', text: 'The last hour could not be counted in time.' });
  return troubles;
}
