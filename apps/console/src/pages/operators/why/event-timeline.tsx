import { Link } from '@tanstack/react-router';
import { Disclosure } from '../../../parts/disclosure.tsx';
import { Guid } from '../../../parts/guid.tsx';
import { LongList } from '../../../parts/long-list.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Empty } from '../../../parts/states.tsx';
import { Foreign } from '../../../parts/text-block.tsx';
import { RejectedVerdict, Suppressed } from '../../find/no-delivery.tsx';
import { AccountLink, WhyLink } from '../links.tsx';
import type { OperatorEvent, OperatorVerdict } from '../types.ts';
import { DeliveryTold, DeliverySummary } from './delivery-told.tsx';

/** Events of all accounts, newest first, each with what it came to. */
export function EventTimeline({ events, more }: { events: readonly OperatorEvent[]; more: () => void }) {
  if (events.length === 0) return <Empty>No events.</Empty>;
  return (
    <LongList label="Events, newest first" items={events} keyOf={keyOf} onEnd={more} estimatedPx={120}>
      {(event) => <EventEntry event={event} />}
    </LongList>
  );
}

const keyOf = ({ event_guid, at, action }: OperatorEvent) => `${event_guid} ${at} ${action}`;

function EventEntry({ event }: { event: OperatorEvent }) {
  const { action, event_guid, at, keys, receivers, verdicts } = event;
  return (
    <section className="event" aria-label={`${action} ${event_guid}`}>
      <div className="line">
        <strong>{action}</strong>
        {event.interface !== null && <span className="tag">{event.interface}</span>}
        <WhyLink guid={event_guid} />
        <Moment at={at} />
      </div>
      <p className="small line">
        <span>For</span>
        {receivers.length === 0
          ? 'no account'
          : receivers.map((account) => <AccountLink key={account.guid} account={account} />)}
        {keys.length > 0 && <span>Mentions</span>}
        {keys.map(({ key, kind }) => (
          <Link key={`${kind} ${key}`} to="/why" search={{ text: key, as: 'key', kind }} title={kind}>
            <Foreign text={key} />
          </Link>
        ))}
      </p>
      {verdicts.map((verdict, place) => (
        <VerdictEntry
          key={verdict.kind === 'delivery' ? verdict.delivery.guid : place}
          verdict={verdict}
          about={event_guid}
        />
      ))}
    </section>
  );
}

function VerdictEntry({ verdict, about }: { verdict: OperatorVerdict; about: string }) {
  switch (verdict.kind) {
    case 'delivery':
      return (
        <Disclosure summary={<DeliverySummary delivery={verdict.delivery} />}>
          {() => <DeliveryTold delivery={verdict.delivery} />}
        </Disclosure>
      );
    case 'suppressed':
      return <Suppressed verdict={verdict} recipient={verdict.account && <Recipient verdict={verdict} />} />;
    case 'rejected':
      return (
        <RejectedVerdict
          verdict={verdict}
          next={
            <Link to="/rejected" search={{ about }}>
              Find it among the rejected events
            </Link>
          }
        />
      );
  }
}

function Recipient({
  verdict: { account, client_id, subscription_guid },
}: {
  verdict: Extract<OperatorVerdict, { kind: 'suppressed' }>;
}) {
  return (
    <>
      {account !== undefined && <AccountLink account={account} />}{' '}
      {client_id !== undefined && <Foreign text={client_id} />}{' '}
      {subscription_guid !== undefined && (
        <Link to="/why" search={{ text: subscription_guid }}>
          subscription <Guid guid={subscription_guid} />
        </Link>
      )}
    </>
  );
}
