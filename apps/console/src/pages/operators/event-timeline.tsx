import { Link } from '@tanstack/react-router';
import { useAnswer } from '../../api/use-answer.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { LongList } from '../../parts/long-list.tsx';
import { Empty, Failed, troubleOf } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Guid, Moment, Status } from '../../parts/values.tsx';
import { counted } from '../../parts/words.ts';
import { AttemptAxis, AttemptList } from '../find/attempts.tsx';
import { DeliveryReasons } from '../find/delivery-page.tsx';
import { isUnderWay, standingOf } from '../find/delivery.ts';
import { RejectedVerdict, Suppressed } from '../find/timeline-page.tsx';
import { AccountLink, ClientLink, WhyLink } from './links.tsx';
import type { OperatorDelivery, OperatorEvent, OperatorVerdict } from './types.ts';

const POLL_EVERY_MS = 3_000;

/** Events of all accounts, newest first, each with what became of it. */
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
          {() => <DeliveryDetails delivery={verdict.delivery} />}
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

/** A delivery on one line. */
function DeliverySummary({ delivery }: { delivery: OperatorDelivery }) {
  const { guid, attempts, reason, account } = delivery;
  return (
    <>
      <Status of={standingOf(delivery)} />
      <span>{account.name === null ? <Guid guid={account.guid} /> : <Foreign text={account.name} />}</span>
      <Guid guid={guid} />
      <span>{counted(attempts.length, 'attempt')}</span>
      {reason !== undefined && <code>{reason}</code>}
    </>
  );
}

/** Everything about a delivery, polled until it has ended; with the answers, which a list does not contain. */
export function DeliveryDetails({ delivery: known }: { delivery: OperatorDelivery }) {
  const { guid } = known;
  const answer = useAnswer(
    ['why', guid, 'delivery'],
    ({ operator }) => operator.GET('/v1/admin/why', { params: { query: { anything: guid, as: 'delivery' } } }),
    {
      refetchInterval: ({ state: { data } }) =>
        data?.kind === 'delivery' && isUnderWay(data.delivery) ? POLL_EVERY_MS : false,
    },
  );
  const trouble = troubleOf(answer);
  const delivery = answer.data?.kind === 'delivery' ? answer.data.delivery : known;
  return (
    <article className="delivery" aria-label={`Delivery ${guid}`}>
      {trouble !== null && <Failed error={trouble} retry={() => void answer.refetch()} />}
      <div className="line">
        <Status of={standingOf(delivery)} />
        <strong>{delivery.action}</strong>
        <span className="tag">{delivery.interface}</span>
        <code>{guid}</code>
        <Moment at={delivery.at} />
      </div>
      <p className="small line">
        <span>Account</span> <AccountLink account={delivery.account} />
        <span>Client</span> <ClientLink account={delivery.account.guid} client={delivery.client_id} />
        <span>Event</span> <WhyLink guid={delivery.event_guid} />
        <span>Subscription</span> <WhyLink guid={delivery.subscription_guid} />
        <ClientLink account={delivery.account.guid} client={delivery.client_id} page={`/deliveries/${guid}`}>
          Open as the client, to resend it
        </ClientLink>
      </p>
      <DeliveryReasons delivery={delivery} seeAlso={<WhyLink guid={delivery.subscription_guid} />} />
      <AttemptAxis delivery={delivery} />
      <h2>Attempts</h2>
      {delivery.attempts.length === 0 ? <p>No attempts yet.</p> : <AttemptList attempts={delivery.attempts} />}
    </article>
  );
}
