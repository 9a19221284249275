import { useTold } from '../../../api/use-told.ts';
import { Guid } from '../../../parts/guid.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Failed, troubleOf } from '../../../parts/states.tsx';
import { Status } from '../../../parts/status.tsx';
import { Foreign } from '../../../parts/text-block.tsx';
import { AttemptAxis } from '../../find/attempt-axis.tsx';
import { AttemptList } from '../../find/attempt-list.tsx';
import { DeliveryReasons } from '../../find/delivery-reasons.tsx';
import { isUnderWay, standingOf } from '../../find/types.ts';
import { counted } from '../../../parts/counted.ts';
import { AccountLink, ClientLink, WhyLink } from '../links.tsx';
import type { OperatorDelivery } from '../types.ts';

const LOOK_EVERY_MS = 3_000;

/** A delivery in a line. */
export function DeliverySummary({ delivery }: { delivery: OperatorDelivery }) {
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

/** All that is known of a delivery, kept current while more is to come; of answers too, which a list leaves out. */
export function DeliveryTold({ delivery: known }: { delivery: OperatorDelivery }) {
  const { guid } = known;
  const asked = useTold(
    ['why', guid, 'delivery'],
    ({ operator }) => operator.GET('/v1/admin/why', { params: { query: { anything: guid, as: 'delivery' } } }),
    {
      refetchInterval: ({ state: { data } }) =>
        data?.kind === 'delivery' && isUnderWay(data.delivery) ? LOOK_EVERY_MS : false,
    },
  );
  const trouble = troubleOf(asked);
  const delivery = asked.data?.kind === 'delivery' ? asked.data.delivery : known;
  return (
    <article className="delivery" aria-label={`Delivery ${guid}`}>
      {trouble !== null && <Failed error={trouble} retry={() => void asked.refetch()} />}
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
